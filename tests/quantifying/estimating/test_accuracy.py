"""The accuracy of the classifier on a batch: what is said, and when nothing is."""

import json

import numpy as np
import polars as pl
import pytest

from quantshift import quantify
from quantshift.claims import Kind
from quantshift.quantifying.estimating.accuracy import accuracy_of
from quantshift.quantifying.result import ClassifierPerformance, MeasureValue


def table(n: int, p: float, seed: int, *, moved: float = 0.0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) < n * p)
    a = rng.normal(2.0 * y, np.where(y, 0.6, 1.4), n) + moved
    return pl.DataFrame({"a": a, "b": rng.normal(size=n), "label": np.where(y, "yes", "no")})


@pytest.fixture(scope="module")
def answer():
    sample = table(400, 0.3, 1)
    found = quantify(
        sample.drop("label"),
        train=table(1200, 0.7, 0),
        label="label",
        method="SLD",
        classifier="logistic",
        replicates=100,
    )
    return found, sample


def test_the_truth_is_within_the_limits(answer) -> None:
    found, sample = answer
    (batch,) = found.batches
    accuracy = batch.accuracy
    assert accuracy.training == pytest.approx(found.training.accuracy, abs=0.02)
    # The best cut of one column is about what logistic regression does.
    cut = (sample["a"].to_numpy() > 0.9) == (sample["label"] == "yes").to_numpy()
    assert accuracy.low - 0.03 < cut.mean() < accuracy.high + 0.03
    assert accuracy.estimate < accuracy.training


def test_it_is_said_in_text_and_json(answer) -> None:
    found, _ = answer
    sentence = found.batches[0].accuracy.sentence
    assert sentence.startswith("The accuracy of the classifier on this sample is about ")
    assert sentence.endswith("in training).")
    assert sentence in found.to_text(details=True)
    assert json.loads(found.to_json())["batches"][0]["accuracy"]["sentence"] == sentence


def test_it_is_that_of_all_measures(answer) -> None:
    found, _ = answer
    (batch,) = found.batches
    value = batch.performance.as_trained[0]
    assert (value.measure, value.label) == ("accuracy", None)
    assert (batch.accuracy.estimate, batch.accuracy.low) == (value.estimate, value.low)


def performance_of(estimate: float | None, low: float, high: float, kind: str):
    values = (
        MeasureValue("accuracy", None, estimate, low, high, 0.911),
        MeasureValue("recall", "yes", 0.5, 0.4, 0.6, 0.5),
    )
    return ClassifierPerformance(kind, 0.0, values, (), ())


def test_sentences() -> None:
    supported = performance_of(0.841, 0.8, 0.88, Kind.INTERVAL)
    assert accuracy_of(supported, 0.95, by_confidence=False).sentence == (
        "The accuracy of the classifier on this sample is about 84% (95% interval 80 to 88%; "
        "91% in training)."
    )
    assert accuracy_of(supported, 0.9, by_confidence=True).sentence.endswith(
        "(90% interval 80 to 88%; 91% in training), judging by its own confidence."
    )
    refuted = performance_of(0.8, 0.7, 0.9, Kind.RANGE)
    assert "(range 70 to 90%, not a confidence interval; 91% in" in (
        accuracy_of(refuted, 0.95, by_confidence=False).sentence
    )
    unknown = accuracy_of(performance_of(None, 0.41, 0.93, Kind.RANGE), 0.95, by_confidence=False)
    assert unknown.estimate is None
    assert unknown.sentence == (
        "The accuracy of the classifier on this sample cannot be estimated without labels: the "
        "assumptions allow 41 to 93% (91% in training)."
    )


@pytest.mark.parametrize("method", ["PACC", "PCC"])
def test_every_method_has_it(method) -> None:
    sample = table(400, 0.7, 1)
    found = quantify(
        sample.drop("label"),
        train=table(1200, 0.7, 0),
        label="label",
        method=method,
        classifier="logistic",
        replicates=40,
    )
    accuracy = found.batches[0].accuracy
    assert accuracy.estimate == pytest.approx(accuracy.training, abs=0.04)
    # PCC declares that the probabilities are right.
    assert ("judging by its own confidence" in accuracy.sentence) == (method == "PCC")


def test_nothing_is_said_without_labelled_rows() -> None:
    posteriors = pl.DataFrame({"p": np.linspace(0.1, 0.9, 50)})
    found = quantify(posteriors, posteriors=["p"], replicates=10)
    assert found.batches[0].accuracy is None
