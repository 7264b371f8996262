"""Replicates of large samples are drawn from a part of their items."""

import sys

import numpy as np
import pytest

from quantshift import PCC, SLD
from quantshift.intervals import large_samples, replicates
from quantshift.intervals.large_samples import LARGE, PART, shares
from quantshift.intervals.prediction import item_interval
from quantshift.intervals.replicates import Replicates
from quantshift.items.items import Items


def classified(n: int, p: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Exact posteriors at equal shares of two normal classes, and the classes."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < p
    positive = 1 / (1 + np.exp(-2 * (rng.normal(2.0 * y) - 1)))
    return np.stack([1 - positive, positive], axis=1), y.astype(int)


@pytest.fixture(scope="module")
def training() -> tuple[np.ndarray, np.ndarray]:
    return classified(1000, 0.5, 0)


def test_shares_that_were_moved_below_zero_are_zero():
    moved = shares(np.array([[-0.1, 0.4, 0.8], [0.2, 0.3, 0.5]]))
    assert moved == pytest.approx(np.array([[0, 1 / 3, 2 / 3], [0.2, 0.3, 0.5]]))


def test_the_replicates_of_a_mean_spread_as_those_of_all_items_do(training):
    """The variance of a mean is known: that of the posteriors, divided by their number."""
    quantifier = PCC().fit_posteriors(*training)
    n = 40 * PART
    posteriors, _ = classified(n, 0.3, 1)
    drawn = Replicates(
        quantifier, Items(posteriors), [np.arange(n)], level=0.95, n_bootstrap=2000, seed=0
    )
    drawn.draw_all()
    values = drawn.values[0, :, 1]
    expected = posteriors[:, 1].std() / np.sqrt(n)
    # The relative error of a standard deviation of 2,000 values is .016.
    assert values.std() == pytest.approx(expected, rel=0.06)
    assert values.mean() == pytest.approx(posteriors[:, 1].mean(), abs=4 * expected / np.sqrt(2000))


@pytest.mark.parametrize("weighted", [False, True])
def test_limits_are_those_of_replicates_of_all_items(training, monkeypatch, weighted):
    """As near as limits with another seed, which differ by about .07 of the interval's width."""
    weights = np.random.default_rng(5).choice([1.0, 2.0], 1000) if weighted else None
    quantifier = SLD().fit_posteriors(*training, sample_weight=weights)
    sizes = LARGE + 2000, 300
    posteriors = np.concatenate([classified(n, 0.2, i)[0] for i, n in enumerate(sizes)])
    samples = [np.arange(sizes[0]), np.arange(sizes[0], sum(sizes))]
    by_part = item_interval(quantifier, Items(posteriors), samples)
    for module in (large_samples, replicates):
        monkeypatch.setattr(module, "LARGE", sys.maxsize)
    whole = item_interval(quantifier, Items(posteriors), samples)
    widths = whole.high - whole.low
    assert np.abs(by_part.low - whole.low)[0] == pytest.approx(0, abs=0.15 * widths[0].min())
    assert np.abs(by_part.high - whole.high)[0] == pytest.approx(0, abs=0.15 * widths[0].min())
    # The small sample is drawn as ever.
    assert by_part.low[1] == pytest.approx(whole.low[1], abs=1e-9)
    assert by_part.high[1] == pytest.approx(whole.high[1], abs=1e-9)


def test_a_sample_of_which_nothing_is_large_is_drawn_as_a_whole(training):
    quantifier = SLD().fit_posteriors(*training)
    posteriors, _ = classified(LARGE, 0.2, 3)
    drawn = Replicates(
        quantifier, Items(posteriors), [np.arange(LARGE)], level=0.95, n_bootstrap=10, seed=0
    )
    assert drawn.rows.large.pool is drawn.rows.items
    assert len(drawn.rows.large.samples[0]) == LARGE
