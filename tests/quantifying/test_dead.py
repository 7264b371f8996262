"""Columns that say nothing in a sample: left out of a fit, and missed by a saved model."""

import numpy as np
import polars as pl
import pytest

from quantshift.claims import Kind, Reason
from quantshift.quantifying import quantify, train
from quantshift.quantifying.dead import dead_in_samples
from quantshift.quantifying.findings import Advice, TrainingFindings
from quantshift.tables.columns.kinds import choose
from quantshift.tables.reading import open_table
from tests.found import codes_of, numbers_of

FAST = {"label": "left", "classifier": "logistic", "replicates": 100}


def customers(n, seed, share=0.4):
    rng = np.random.default_rng(seed)
    left = rng.random(n) < share
    return pl.DataFrame(
        {
            "income": np.where(left, 1.5, 0.0) + rng.normal(size=n),
            "age": np.where(left, 0.7, 0.0) + rng.normal(size=n),
            "town": rng.choice(["Ulm", "Bonn"], n),
            "vip": (rng.random(n) < 0.004).astype(int),
            "day": pl.Series(np.datetime64("2025-01-01") + rng.integers(0, 365, n), dtype=pl.Date),
            "left": np.where(left, "yes", "no"),
        }
    )


LABELLED, SAMPLE = customers(600, 0), customers(300, 1).drop("left")
DAMAGES = {
    "empty": pl.lit(None, dtype=pl.Float64).alias("income"),
    "constant": pl.lit(0.3).alias("income"),
}
"""What becomes of the best column."""


@pytest.fixture(scope="module")
def model():
    return train(LABELLED, label="left", classifier="logistic")


@pytest.mark.parametrize("death", DAMAGES)
def test_a_fit_does_without_a_dead_column_and_says_so(death):
    damaged = SAMPLE.with_columns(DAMAGES[death])
    found = quantify(damaged, train=LABELLED, **FAST)
    assert {column.name: column.reason for column in found.left_out_columns}.keys() == {"income"}
    numbers = numbers_of(found.findings, TrainingFindings.DEAD_COLUMN)
    assert numbers["death"] == death
    without = quantify(SAMPLE, train=LABELLED, drop=["income"], **FAST)
    assert found.batches[0].shares == without.batches[0].shares
    assert found.batches[0].kind is without.batches[0].kind


def test_a_healthy_sample_is_estimated_with_all_columns(model):
    found = quantify(SAMPLE, train=LABELLED, **FAST)
    model = train(LABELLED, label="left", classifier="logistic")
    assert found.left_out_columns == ()
    assert (
        found.batches[0].shares == quantify(SAMPLE, model=model, replicates=100).batches[0].shares
    )


def test_a_rare_flag_that_is_never_set_is_alive():
    calm = SAMPLE.with_columns(vip=pl.lit(0))
    found = quantify(calm, train=LABELLED, **FAST)
    assert found.left_out_columns == ()
    few = SAMPLE[:5].with_columns(town=pl.lit("Ulm"))
    assert quantify(few, train=LABELLED, **FAST).left_out_columns == ()


def test_a_named_column_is_used_all_the_same():
    damaged = SAMPLE.with_columns(DAMAGES["constant"])
    found = quantify(damaged, train=LABELLED, features=["income", "age"], **FAST)
    assert {column.name for column in found.used} == {"income", "age"}
    assert found.batches[0].reason is Reason.GONE


def test_dates_after_training_are_no_features():
    later = SAMPLE.with_columns(pl.col("day").dt.offset_by("1y"))
    found = quantify(later, train=LABELLED, **FAST)
    assert [column.name for column in found.left_out_columns] == ["day"]
    assert TrainingFindings.LATER_DATES in codes_of(found.findings)
    half = pl.concat([SAMPLE[:150], later[150:]])
    assert quantify(half, train=LABELLED, **FAST).left_out_columns == ()


@pytest.mark.parametrize("death", DAMAGES)
def test_a_saved_model_whose_main_column_is_gone_gives_no_range(model, death):
    (batch,) = quantify(SAMPLE.with_columns(DAMAGES[death]), model=model, replicates=100).batches
    assert (batch.kind, batch.reason) == (Kind.CANNOT, Reason.GONE)
    assert {(share.low, share.high) for share in batch.shares} == {(0.0, 1.0)}
    assert numbers_of(batch.findings, Advice.REPAIR_OR_LABEL)["columns"] == ("income",)


def test_a_saved_model_does_without_a_column_that_says_little(model):
    damaged = SAMPLE.with_columns(town=pl.lit("Ulm"))
    (batch,) = quantify(damaged, model=model, replicates=100).batches
    assert batch.reason is not Reason.GONE


def test_in_one_batch_of_several_only_its_answer_is_lost(model):
    parts = [SAMPLE[:150], SAMPLE[150:].with_columns(DAMAGES["constant"])]
    rows = pl.concat([p.with_columns(part=pl.lit(str(i))) for i, p in enumerate(parts)])
    found = quantify(rows, model=model, by="part", replicates=100)
    assert [batch.reason is Reason.GONE for batch in found.batches] == [False, True]


def test_a_column_that_divides_the_batches_is_not_gone(model):
    parts = [
        part.with_columns(income=pl.lit(v)) for part, v in ((SAMPLE[:150], 0.1), (SAMPLE, 1.0))
    ]
    found = quantify(
        pl.concat([p.with_columns(part=pl.lit(str(i))) for i, p in enumerate(parts)]),
        model=model,
        by="part",
        replicates=100,
    )
    assert not any(batch.reason is Reason.GONE for batch in found.batches)


def test_nothing_is_left_out_where_nothing_would_be_left():
    copied = pl.concat([SAMPLE[:1]] * 100)
    features = choose(LABELLED.drop("left"))[0]
    codes = (LABELLED["left"] == "yes").to_numpy().astype(int)
    for sample in (copied, SAMPLE[:0]):
        assert dead_in_samples([open_table(sample)], features, LABELLED, codes) == []


def test_reading_ends_with_the_first_rows_of_a_healthy_sample(tmp_path):
    SAMPLE.write_csv(tmp_path / "new.csv")
    table = open_table(tmp_path / "new.csv")
    features = choose(LABELLED.drop("left", "vip"))[0]
    codes = (LABELLED["left"] == "yes").to_numpy().astype(int)
    assert dead_in_samples([table, table], features, LABELLED, codes) == []
    empty = SAMPLE.with_columns(income=pl.lit(None, dtype=pl.Float64))
    both = [open_table(empty), open_table(empty[:3])]
    (found,) = dead_in_samples(both, features, LABELLED, codes)
    assert (found.name, found.share) == ("income", 0.0)
    assert dead_in_samples([*both, table], features, LABELLED, codes) == []
