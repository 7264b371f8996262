"""The classifier's measures in `quantify`: right under label shift, a range without evidence."""

import json

import numpy as np
import polars as pl
import pytest

from quantshift import quantify, train
from quantshift.quantifying import json_schema
from tests.quantifying.rows.test_rows_file import table


@pytest.fixture(scope="module")
def model():
    return train(table(800, 0.4, 0), label="churned", id="id", drop="site", classifier="logistic")


@pytest.fixture(scope="module")
def answer(model):
    sample = table(1500, 0.9, 1)
    return sample, quantify(
        sample.drop("churned"), model=model, id="id", assume="prior", replicates=100
    )


@pytest.mark.slow
def test_the_measures_are_about_those_on_the_rows(answer, model):
    sample, found = answer
    raw = model.posteriors(model.items(sample.select("x", "z")))
    predicted, truth = raw.argmax(axis=1) == 1, (sample["churned"] == "yes").to_numpy()
    performance = found.batches[0].performance
    expected = {
        ("accuracy", None): (predicted == truth).mean(),
        ("precision", "yes"): truth[predicted].mean(),
        ("recall", "yes"): predicted[truth].mean(),
        ("specificity", "yes"): (~predicted)[~truth].mean(),
    }
    for (measure, label), value in expected.items():
        each = performance.value(measure, label)
        assert each.estimate == pytest.approx(value, abs=0.05), measure
        assert each.low <= value <= each.high, measure
    assert performance.kind == "conditional"
    assert performance.strength == 1
    np.testing.assert_allclose(np.sum(performance.confusion), 1)
    better = performance.value("accuracy", corrected=True).estimate
    assert better > performance.value("accuracy").estimate + 0.02


def test_the_text_says_what_a_correction_would_do(answer):
    _, found = answer
    lines = found.to_text(details=True).splitlines()
    (said,) = [line for line in lines if "raise the accuracy to about" in line]
    assert said.strip().startswith("Probabilities that are corrected to these shares")
    assert any(
        "For churned = yes: precision about" in line and "recall about" in line for line in lines
    )


def test_the_page_has_a_chart_and_a_table_of_it(answer):
    _, found = answer
    page = found.page()
    assert 'id="plot-performance"' in page
    assert "accuracy, corrected" in page


def test_the_json_fits_its_schema(answer):
    _, found = answer
    content = json.loads(found.to_json())["batches"][0]["performance"]
    assert content["strength"] == 1
    known = json_schema()["$defs"]["ClassifierPerformance"]["properties"]
    assert set(content) == set(known)


def test_a_changed_feature_gives_a_range_and_no_correction(model):
    sample = table(600, 0.4, 2, labelled=False).with_columns(pl.col("z") + 6)
    performance = quantify(sample, model=model, replicates=100).batches[0].performance
    assert performance.kind == "range"
    assert performance.strength == 0
    assert performance.corrected == ()
