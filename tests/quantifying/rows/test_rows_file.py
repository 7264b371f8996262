"""`quantify --rows` and `score`: a line for every row, safe and complete."""

import csv
import datetime

import numpy as np
import polars as pl
import pytest

from quantshift import probabilities, quantify, train
from quantshift.claims import Assumption
from quantshift.errors import UserError
from quantshift.quantifying import load_model, save_model


def table(n, p, seed, *, labelled=True):
    """Two classes that differ in two columns; ids, one of which a spreadsheet would run."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < p
    frame = pl.DataFrame(
        {
            "id": ["=cmd()", *(f"c{i}" for i in range(1, n))],
            "x": rng.normal(size=n) + 2.0 * y,
            "z": rng.normal(size=n) - 1.0 * y,
            "site": np.where(np.arange(n) % 2, "south", "north"),
        }
    )
    return frame.with_columns(churned=pl.Series(np.where(y, "yes", "no"))) if labelled else frame


@pytest.fixture(scope="module")
def model():
    return train(table(600, 0.3, 0), label="churned", id="id", drop="site", classifier="logistic")


@pytest.fixture(scope="module")
def written(model, tmp_path_factory):
    out = tmp_path_factory.mktemp("rows") / "rows.csv"
    sample = table(500, 0.8, 1, labelled=False)
    answer = quantify(
        sample, model=model, id="id", by="site", rows=out, assume="prior", replicates=100
    )
    with out.open() as file:
        return answer, sample, list(csv.DictReader(file))


@pytest.mark.slow
def test_every_row_has_a_line_with_its_id_and_formulas_are_escaped(written):
    _, sample, lines = written
    assert [line["id"] for line in lines] == ["'=cmd()", *sample["id"].to_list()[1:]]
    assert [int(line["row"]) for line in lines] == list(range(1, 501))
    assert {line["batch"] for line in lines} == {"north", "south"}


def test_probabilities_are_those_of_the_model_and_corrected_by_bayes_rule(written, model):
    answer, sample, lines = written
    raw = model.posteriors(model.items(sample.select("x", "z")))[:, 1]
    as_trained = np.array([float(line["probability yes"]) for line in lines])
    np.testing.assert_allclose(as_trained, raw, atol=1e-6)
    calibrated = model.base.calibrator_(np.column_stack([1 - raw, raw]))[:, 1]
    for batch in answer.batches:
        rows = [i for i, line in enumerate(lines) if line["batch"] == batch.name]
        share = next(a for a in batch.alternatives if a.assumption is Assumption.PRIOR).prevalence[
            "yes"
        ]
        share = (len(rows) * share + 1) / (len(rows) + 2)
        prior = model.base.prior_[1]
        q = calibrated[rows]
        odds = q / (1 - q) * share / (1 - share) * (1 - prior) / prior
        corrected = np.array([float(lines[i]["corrected yes"]) for i in rows])
        np.testing.assert_allclose(corrected, odds / (1 + odds), atol=2e-6)
        predicted = [lines[i]["predicted"] for i in rows]
        assert predicted == np.where(corrected > 0.5, "yes", "no").tolist()
        assert {float(lines[i]["correction"]) for i in rows} == {1.0}


def test_a_refuted_batch_keeps_its_probabilities(model, tmp_path):
    sample = table(400, 0.3, 2, labelled=False).with_columns(pl.col("z") + 8)
    answer = quantify(sample, model=model, rows=tmp_path / "rows.csv", replicates=100)
    assert answer.batches[0].reason == "refuted"
    rows = pl.read_csv(tmp_path / "rows.csv")
    assert rows["correction"].to_list() == [0.0] * 400
    assert rows["corrected yes"].equals(rows["probability yes"].rename("corrected yes"))
    assert (rows["flag"] == "unlike training").sum() > 60


def test_scores_of_a_saved_model_copy_the_columns_that_are_kept(model, tmp_path):
    save_model(model, tmp_path / "model")
    sample = table(300, 0.5, 3, labelled=False)
    sample.write_csv(tmp_path / "new.csv")
    scored = probabilities(
        tmp_path / "new.csv", tmp_path / "s.csv", model=tmp_path / "model", keep="site"
    )
    assert [rows.used for rows in scored.rows] == [300]
    rows = pl.read_csv(tmp_path / "s.csv")
    assert rows["site"].to_list() == sample["site"].to_list()
    reloaded = load_model(tmp_path / "model")
    raw = reloaded.posteriors(reloaded.items(sample.select("x", "z")))
    for k, label in enumerate(["no", "yes"]):
        np.testing.assert_allclose(rows[f"probability {label}"], raw[:, k], atol=1e-6)
    assert "correction" not in rows.columns
    assert rows["flag"].null_count() > 280
    again = probabilities(tmp_path / "new.csv", tmp_path / "s.csv", model=model)
    assert again.rows == scored.rows


def test_columns_of_the_table_with_names_of_ours_are_kept_beside_them(model, tmp_path):
    sample = table(60, 0.5, 3, labelled=False)
    own = [f"a{i}" for i in range(60)]
    names = ["probability yes", "row", "row (table)"]
    sample = sample.with_columns(pl.Series(name, own) for name in names)
    probabilities(sample, tmp_path / "s.csv", model=model, keep=[*names, "row"])
    rows = pl.read_csv(tmp_path / "s.csv")
    renamed = ["probability yes (table)", "row (table)", "row (table) (table)"]
    assert rows.columns[:5] == ["batch", "row", *renamed]
    assert all(rows[name].to_list() == own for name in renamed)
    raw = model.posteriors(model.items(sample.select("x", "z")))
    np.testing.assert_allclose(rows["probability yes"], raw[:, 1], atol=1e-6)


def test_no_file_of_the_user_is_replaced(model, tmp_path):
    sample = table(60, 0.5, 4, labelled=False)
    mine = tmp_path / "mine.csv"
    mine.write_text("batch,row,predicted\n")
    for call in (
        lambda **options: quantify(sample, model=model, rows=mine, **options),
        lambda **options: probabilities(sample, mine, model=model, **options),
    ):
        with pytest.raises(UserError, match="was not made by quantshift"):
            call()
    assert mine.read_text() == "batch,row,predicted\n"
    probabilities(sample, mine, model=model, overwrite=True)
    assert mine.read_text().startswith("batch,row,probability no")
    sample.write_csv(tmp_path / "new.csv")
    with pytest.raises(UserError, match="read by the same command"):
        probabilities(tmp_path / "new.csv", tmp_path / "new.csv", model=model, overwrite=True)
    with pytest.raises(UserError, match="the name says parquet"):
        probabilities(sample, tmp_path / "rows.parquet", model=model)


def test_a_failure_leaves_no_file(model, tmp_path):
    with pytest.raises(UserError, match="nonsense"):
        probabilities(table(60, 0.5, 4), tmp_path / "s.csv", model=model, keep="nonsense")
    assert list(tmp_path.iterdir()) == []


def test_rows_without_content_are_left_out_and_counted(model, tmp_path):
    sample = table(50, 0.5, 5, labelled=False).with_columns(
        x=pl.when(pl.int_range(50) == 7).then(None).otherwise(pl.col("x")),
        z=pl.when(pl.int_range(50) == 7).then(None).otherwise(pl.col("z")),
    )
    scored = probabilities(sample, tmp_path / "s.csv", model=model)
    assert pl.read_csv(tmp_path / "s.csv")["row"].to_list() == [i for i in range(1, 51) if i != 8]
    assert (scored.rows[0].read, scored.rows[0].used) == (50, 49)


def test_categories_are_escaped_like_texts_and_dates_are_written_as_days(model, tmp_path):
    sample = table(40, 0.3, 3, labelled=False).with_columns(
        kind=pl.Series(["=1+1", "plain"] * 20, dtype=pl.Categorical),
        day=pl.Series([datetime.date(2026, 3, 4)] * 40),
        time=pl.Series([datetime.datetime(2026, 3, 4, 5, 6, 7)] * 40),
    )
    probabilities(sample, tmp_path / "rows.csv", model=model, keep=["kind", "day", "time"])
    rows = pl.read_csv(tmp_path / "rows.csv", infer_schema=False)
    assert rows["kind"].to_list() == ["'=1+1", "plain"] * 20
    assert rows["day"].unique().to_list() == ["2026-03-04"]
    assert rows["time"].unique().to_list() == ["2026-03-04 05:06:07.000000"]
