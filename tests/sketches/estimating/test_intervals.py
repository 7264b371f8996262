"""Intervals from counts: of the population, and of the items that were counted."""

import numpy as np
import polars as pl
import pytest

from quantshift import PACC, PCC, SLD
from quantshift.intervals import aggregate_interval
from quantshift.sketches import sketch
from quantshift.sketches.estimating.batches import batches_of, grouped
from quantshift.sketches.estimating.intervals import CountIntervals


def scored(n, shares, seed):
    """Posteriors of n items, and their classes."""
    rng = np.random.default_rng(seed)
    codes = rng.choice(len(shares), n, p=shares)
    logits = rng.normal(size=(n, len(shares))) + 2.5 * np.eye(len(shares))[codes]
    posteriors = np.exp(logits - logits.max(axis=1, keepdims=True))
    return posteriors / posteriors.sum(axis=1, keepdims=True), codes


def from_counts(quantifier, posteriors, of):
    names = [f"p{k}" for k in range(posteriors.shape[1])]
    frame = pl.DataFrame(dict(zip(names, posteriors.T, strict=True)))
    made = sketch(frame.with_columns(day=pl.lit("1")), posteriors=names, batch="day")
    order = list(range(len(names)))
    batches = batches_of(made, order)
    maker = CountIntervals(quantifier, level=0.95, n_bootstrap=200, seed=0, of=of)
    ((found,), _) = maker.of(list(batches), grouped(made, batches, list(batches), order))
    return found


@pytest.mark.parametrize(
    ("method", "shares"), [(SLD, (0.7, 0.3)), (PCC, (0.7, 0.3)), (PACC, (0.5, 0.3, 0.2))]
)
def test_the_share_among_counted_items_is_known_as_well_as_from_their_rows(method, shares):
    balanced = np.full(len(shares), 1 / len(shares))
    fitted = method().fit_posteriors(*scored(1500, balanced, 0))
    posteriors, _ = scored(600, shares, 1)
    items, population = (from_counts(fitted, posteriors, of) for of in ("items", "population"))
    rows = aggregate_interval(fitted, posteriors, n_bootstrap=200, of="items")
    np.testing.assert_allclose(items.prevalence, rows.prevalence, atol=2e-3)
    width, by_rows = items.high - items.low, rows.high - rows.low
    np.testing.assert_allclose(width, by_rows, rtol=0.25)
    assert (width < 0.95 * (population.high - population.low)).all()
    assert (items.low >= population.low).all()
    assert (items.high <= population.high).all()
    np.testing.assert_array_equal(items.prevalence, population.prevalence)
