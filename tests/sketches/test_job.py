import json

import numpy as np
import polars as pl
import pytest

from quantshift import catalogue, quantify_sketch, sketch
from quantshift.errors import DataError, UserError
from quantshift.own_data import render_csv, render_text
from quantshift.quantifiers.estimator import AbstractClassifying
from quantshift.sketches.counted import estimates
from tests.sketches.made import batches, labelled

SHARES = {"mon": 0.1, "tue": 0.1, "wed": 0.5}


@pytest.fixture(scope="module")
def training():
    return sketch(labelled(4000), score="p", label="y")


@pytest.fixture(scope="module")
def week():
    return sketch(batches(SHARES), score="p", batch="day")


@pytest.fixture(scope="module")
def answer(week, training):
    return quantify_sketch(week, training, n_bootstrap=100)


def test_shares_are_found_with_intervals_and_changes(answer):
    for batch in answer.batches:
        spam = batch.shares[1]
        assert (spam.label, batch.n_items) == ("spam", 5000)
        # Seven standard errors of 5,000 items and 4,000 training items.
        assert spam.estimate == pytest.approx(SHARES[batch.name], abs=0.06)
        assert spam.low < spam.estimate < spam.high
        assert 0.01 < spam.high - spam.low < 0.12
    assert [bool(batch.change) for batch in answer.batches] == [False, False, True]


def test_the_answer_is_text_json_and_csv(answer):
    assert "spam" in render_text(answer)
    assert len(json.loads(answer.to_json())["batches"]) == 3
    assert render_csv(answer).count("\n") == 7


def test_a_batch_has_the_same_answer_alone(answer, training):
    alone = sketch(batches(SHARES).filter(pl.col("day") == "wed"), score="p", batch="day")
    found = quantify_sketch(alone, training, n_bootstrap=100).batches[0]
    for one, other in zip(found.shares, answer.batches[2].shares, strict=True):
        # Sums of the same numbers with zeros between them.
        assert [one.estimate, one.low, one.high] == pytest.approx(
            [other.estimate, other.low, other.high], abs=1e-9
        )
    assert found.shift == answer.batches[2].shift


def test_scores_that_no_mixture_explains_are_told(training):
    frame = batches({"mon": 0.3}).with_columns(pl.col("p") ** 2)
    batch = quantify_sketch(
        sketch(frame, score="p", batch="day"), training, n_bootstrap=50
    ).batches[0]
    assert batch.shift.rejected
    held = [a.prevalence["spam"] for a in batch.assumptions]
    assert batch.shares[1].low <= min(held)
    assert batch.shares[1].high >= max(held)


@pytest.mark.slow
def test_the_mix_of_a_further_column_is_tested():
    rng = np.random.default_rng(0)
    train = labelled(6000).with_columns(site=rng.choice(["x", "y"], 6000))
    same = batches({"a": 0.3}).with_columns(site=rng.choice(["x", "y"], 5000))
    other = batches({"b": 0.3}).with_columns(site=rng.choice(["x", "y"], 5000, p=[0.9, 0.1]))
    options = {"score": "p", "by": ["site"]}
    trained = sketch(train, label="y", **options)
    made = sketch(pl.concat([same, other]), batch="day", **options)
    found = quantify_sketch(made, trained, n_bootstrap=50).batches
    assert [batch.shift.rejected for batch in found] == [False, True]


def test_an_audit_corrects_the_estimate(week, training):
    rng = np.random.default_rng(5)
    # Labels that nothing in the scores explains: half of the items are spam.
    drawn = batches(SHARES).filter(pl.col("day") == "mon").sample(80, seed=0)
    labels = pl.Series("label", rng.choice(["ham", "spam"], 80))
    audit = drawn.rename({"day": "batch"}).with_columns(labels)
    found = quantify_sketch(week, training, n_bootstrap=50, audit=audit).batches
    assert found[0].audit.n_labelled == 80
    assert found[0].audit.contradicts
    assert found[0].shares[1].low > 0.3
    assert found[1].audit is None


def test_without_training_the_scores_are_taken_at_their_word(week):
    batch = quantify_sketch(week, n_bootstrap=50).batches[2]
    mean = batches(SHARES).filter(pl.col("day") == "wed")["p"].mean()
    assert batch.shares[1].estimate == pytest.approx(mean, abs=1e-5)
    assert batch.shares[1].low < mean < batch.shares[1].high


def test_rows_left_out_widen_the_limits(training):
    frame = batches({"mon": 0.1}).with_columns(
        pl.when(pl.int_range(pl.len()) % 5 != 0).then(pl.col("p")).alias("p")
    )
    batch = quantify_sketch(
        sketch(frame, score="p", batch="day"), training, n_bootstrap=50
    ).batches[0]
    assert (batch.n_items, batch.left_out) == (4000, 1000)
    assert batch.shares[1].high > 0.25


def test_sketches_that_do_not_fit_are_refused(week, training):
    with pytest.raises(UserError, match="no labels"):
        quantify_sketch(week, week)
    with pytest.raises(UserError, match="a sketch with labels"):
        quantify_sketch(training, training)
    renamed = sketch(batches(SHARES, 50).rename({"p": "q"}), score="q")
    with pytest.raises(DataError, match="the same names"):
        quantify_sketch(renamed, training)
    with pytest.raises(UserError, match="looks at"):
        quantify_sketch(week, training, method="HDx")


SMOOTH = {"DMy": 0.0, "PACC": 1e-4, "PCC": 1e-4, "SLD": 1e-4, "EDy": 1e-4}


@pytest.mark.parametrize("method", SMOOTH)
def test_cells_hardly_change_an_estimate(method):
    binning_error(method, 20_000, SMOOTH[method])


STEPS = 5e-3
"""Methods that count items beyond thresholds of their own jump where one of 2,000 training items
of a class is on the other side of it; the method's own standard error is several times this."""

SLOW = {"BayesianKDEy", "LEIP"}
STEPPED = {
    *("CDE", "DyS", "Friedman", "HDy", "IBU", "MAX", "MethodX", "MS", "MS2", "PQ", "RUN", "T50")
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "method",
    [
        name
        for name, cls in catalogue.quantifiers().items()
        if issubclass(cls, AbstractClassifying) and not cls.sees - {"posteriors"}
        if name not in SLOW
    ],
)
def test_cells_hardly_change_any_estimate(method):
    binning_error(method, 50_000, STEPS if method in STEPPED else 1e-3)


def binning_error(method: str, n: int, bound: float) -> None:
    """Compare the estimate from cells with that from all rows, in the same order."""
    train = labelled(4000).sort("y", "p")
    y = (train["y"] == "spam").cast(pl.Int64).to_numpy()
    sample = batches({"a": 0.1}, n)
    cls = catalogue.quantifiers()[method]

    def rows(frame: pl.DataFrame) -> np.ndarray:
        return np.column_stack([1 - frame["p"], frame["p"]])

    exact = cls().fit_posteriors(rows(train), y).aggregate(rows(sample))
    trained = sketch(train, score="p", label="y", bins=True).to_items()
    binned = np.repeat(trained.posteriors, trained.weights.astype(int), axis=0)
    items = sketch(sample, score="p", bins=True).to_items()
    fitted = cls().fit_posteriors(binned, y)
    found = estimates(fitted, items.posteriors, items.weights[np.newaxis])[0]
    assert np.abs(found - exact).max() <= bound
