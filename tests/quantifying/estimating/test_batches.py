"""Batches of one call, and what changed from one to the next."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.stats import norm

from quantshift.answers.conditions import EVENTS
from quantshift.intervals.engine import SMALL
from quantshift.intervals.prediction import PrevalenceInterval
from quantshift.quantifying import quantify
from quantshift.quantifying.estimating.batches import (
    CHANGE_LEVEL,
    Compared,
    changed_classes,
    heeding_warnings,
)
from quantshift.quantifying.estimating.sample import ScoredBatch
from quantshift.quantifying.findings import Advice, TrainingFindings
from tests.quantifying.made import BATCH, Made


def compared(share: float, n: float = 1e9) -> Compared:
    """A batch of so many items whose posteriors are their labels."""
    p = np.array([1 - share, share])
    interval = PrevalenceInterval(
        prevalence=p,
        low=p,
        high=p,
        level=0.95,
        classes=np.array(["no", "yes"]),
        replicates=np.array([p]),
        simultaneous=False,
        informative=np.array([True, True]),
        bias=np.zeros(2),
    )
    return Compared(interval, p, p * (1 - p) / n)


def test_a_change_too_small_to_matter_is_not_reported():
    def changed(before: float, now: float) -> bool:
        return bool(changed_classes(compared(before), compared(now), ["no", "yes"]))

    assert not changed(0.26, 0.269)
    assert changed(0.26, 0.271)
    # For rare classes less than a point matters, in both directions.
    assert changed(0.002, 0.006)
    assert changed(0.998, 0.994)
    assert not changed(0.02, 0.024)


APART = {0.95: 2.326, 0.84: 1.406}
"""The distance of two normal classes by the area under the ROC curve."""


def scored(n, share, rng, apart=APART[0.95]):
    """Items of which this share is positive, with posteriors of a model trained on two fifths."""
    y = rng.random(n) < share
    logit = apart * (rng.normal(size=n) + apart * (y - 0.5)) + np.log(0.4 / 0.6)
    q = 1 / (1 + np.exp(-logit))
    return ScoredBatch("b", np.column_stack([1 - q, q]), n)


@pytest.mark.parametrize(("fall", "least", "most"), [(0.15, 0.8, 1.0), (0.0, 0.0, 0.05)])
def test_a_fall_of_15_points_in_samples_of_300_is_marked_and_chance_is_not(fall, least, most):
    """The mean posterior is compared with its own error, however far the estimates are apart."""
    rng, marked = np.random.default_rng(0), []
    far = compared(0.3).interval, compared(0.5).interval
    for share in np.tile(np.linspace(0.3, 0.9, 20), 20):
        batches = [
            Compared(interval, *scored(300, p, rng).mean_posterior)
            for interval, p in zip(far, (share, share - fall), strict=True)
        ]
        marked.append(bool(changed_classes(*batches, ["no", "yes"])))
    error = np.sqrt(0.05 * 0.95 / len(marked))
    assert least <= np.mean(marked) <= most + 2 * error


@pytest.mark.parametrize("auc", APART)
def test_no_test_that_knows_the_classes_would_mark_much_more(auc):
    """The variance of a share is at least 1 / (n I), where I is the Fisher information."""
    rng, n, apart, shares = np.random.default_rng(3), 300, APART[auc], (0.55, 0.40)

    def least_variance(p):
        x = apart * (rng.random(200_000) < p) + rng.normal(size=200_000) - apart / 2
        ratio = np.exp(apart * x)  # of the densities of the classes
        return 1 / np.mean(((ratio - 1) / (1 - p + p * ratio)) ** 2) / n

    expected = (shares[0] - shares[1]) / np.sqrt(sum(map(least_variance, shares)))
    best = float(norm.sf(norm.ppf(0.5 + CHANGE_LEVEL / 2) - expected))
    marked = []
    for _ in range(600):
        interval = compared(shares[0]).interval, compared(shares[1]).interval
        batches = (
            Compared(each, *scored(n, p, rng, apart).mean_posterior)
            for each, p in zip(interval, shares, strict=True)
        )
        marked.append(bool(changed_classes(*batches, ["no", "yes"])))
    # Three standard errors, and .02 for the approximation by a normal distribution.
    error = 3 * np.sqrt(best * (1 - best) / len(marked)) + 0.02
    assert np.mean(marked) == pytest.approx(best, abs=error)


def test_the_mean_posterior_of_counts_and_weights():
    q = np.array([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]])
    counted = ScoredBatch("b", q, 7, counts=np.array([4.0, 2.0, 1.0])).mean_posterior
    repeated = ScoredBatch("b", np.repeat(q, [4, 2, 1], axis=0), 7).mean_posterior
    for mine, its in zip(counted, repeated, strict=True):
        np.testing.assert_allclose(mine, its)
    weighted = ScoredBatch("b", q, 3, weights=np.array([1.0, 1.0, 0.0])).mean_posterior
    for mine, its in zip(weighted, ScoredBatch("b", q[:2], 2).mean_posterior, strict=True):
        np.testing.assert_allclose(mine, its)


def test_regions_are_not_compared_with_their_alphabetical_neighbours(folder, plain_model):
    sample = pl.read_csv(folder / "truth.csv")
    other = pl.col("sentiment") == "positive"
    regions = sample.with_columns(region=pl.when(other).then(pl.lit("b")).otherwise(pl.lit("a")))
    found = quantify(regions, model=plain_model, by="region", replicates=50)
    assert not found.in_sequence
    assert [batch.change for batch in found.batches] == [(), ()]
    days = sample.with_columns(day=pl.when(other).then(2).otherwise(1))
    found = quantify(days, model=plain_model, by="day", replicates=50)
    assert found.in_sequence
    assert found.batches[1].change == ("negative", "positive")


def test_advice_sends_to_the_warnings_if_there_are_any():
    note = TrainingFindings.TRAINED_ON_A_PART.found(n=1, n_rows=2)
    calm = replace(
        BATCH, findings=(Advice.AUDIT_WOULD_CONFIRM.found(batch="b"), note), command="draw"
    )
    assert heeding_warnings(calm, [note]) == calm
    assert heeding_warnings(calm, []).command == ""
    half_empty = replace(calm, findings=(*calm.findings, Made.ODD.found()))
    for warned in (
        heeding_warnings(calm, [Made.OF_TABLE.found()]),
        heeding_warnings(half_empty, []),
    ):
        assert warned.findings[0] == Advice.SEE_WARNINGS.found(batch="b")
        assert warned.command == "draw"
    other = replace(calm, findings=(Made.DO.found(),))
    assert heeding_warnings(other, [Made.ODD.found()]) is other


def test_batches_of_a_few_items_are_not_compared(folder, plain_model):
    """Of single items 94% were called changed where nothing had changed, of five items 25%."""
    sample = pl.read_csv(folder / "truth.csv")
    is_positive = pl.col("sentiment") == "positive"

    def day(number: int, rows: pl.DataFrame) -> pl.DataFrame:
        return rows.with_columns(day=pl.lit(number))

    few = [day(2, sample.filter(is_positive).head(1)), day(3, sample.filter(~is_positive).head(5))]
    days = pl.concat([day(1, sample), *few, day(4, sample), day(5, sample.filter(is_positive))])
    found = quantify(days, model=plain_model, by="day", replicates=50)
    assert [bool(batch.change) for batch in found.batches] == [False] * 4 + [True]
    assert f"{SMALL} items or more" in EVENTS["changed"]
