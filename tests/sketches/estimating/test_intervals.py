"""Intervals from counts: of the population, and of the items that were counted."""

import numpy as np
import polars as pl
import pytest

from quantshift import PACC, PCC, SLD
from quantshift.sketches import sketch
from quantshift.sketches.estimating.batches import batches_of, grouped
from quantshift.sketches.estimating.intervals import CountIntervals, _alike_cells


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
    rows = fitted.aggregate_interval(posteriors, n_bootstrap=200, of="items")
    np.testing.assert_allclose(items.prevalence, rows.prevalence, atol=2e-3)
    width, by_rows = items.high - items.low, rows.high - rows.low
    np.testing.assert_allclose(width, by_rows, rtol=0.25)
    assert (width < 0.95 * (population.high - population.low)).all()
    assert (items.low >= population.low).all()
    assert (items.high <= population.high).all()
    np.testing.assert_array_equal(items.prevalence, population.prevalence)


def test_limits_for_all_classes_of_a_batch_do_not_depend_on_the_others():
    fitted = SLD().fit_posteriors(*scored(900, (0.4, 0.3, 0.3), 0))
    names, order = ["p0", "p1", "p2"], [0, 1, 2]
    days = [
        pl.DataFrame(dict(zip(names, scored(300, shares, seed)[0].T, strict=True))).with_columns(
            day=pl.lit(str(seed))
        )
        for seed, shares in enumerate([(0.6, 0.3, 0.1), (0.1, 0.1, 0.8), (0.2, 0.6, 0.2)])
    ]
    maker = CountIntervals(fitted, level=0.9, n_bootstrap=100, seed=0, simultaneous=True)

    def limits(frame):
        made = sketch(frame, posteriors=names, batch="day")
        batches = batches_of(made, order)
        found, _ = maker.of(list(batches), grouped(made, batches, list(batches), order))
        return {name: (one.low, one.high) for name, one in zip(batches, found, strict=True)}

    together = limits(pl.concat(days))
    assert len(together) == 3
    for day in days[:2]:
        ((name, (low, high)),) = limits(day).items()
        np.testing.assert_allclose(together[name][0], low)
        np.testing.assert_allclose(together[name][1], high)


@pytest.mark.parametrize(
    ("method", "shares", "n_refits"),
    [(SLD, (0.5, 0.5), 200), (PACC, (0.3, 0.3, 0.4), 100), (PCC, (0.5, 0.5), 20)],
)
def test_methods_have_as_many_replicates_of_training_as_they_need(method, shares, n_refits):
    fitted = method().fit_posteriors(*scored(300, shares, 0))
    names = [f"p{k}" for k in range(len(shares))]
    steps = []
    maker = CountIntervals(
        fitted,
        level=0.95,
        n_bootstrap=300,
        seed=0,
        progress=lambda what, done, whole: steps.append((done, whole)),
    )
    made = sketch(pl.DataFrame(scored(100, shares, 1)[0], schema=names), posteriors=names)
    order = list(range(len(names)))
    batches = batches_of(made, order)
    maker.of(list(batches), grouped(made, batches, list(batches), order))
    assert steps[-1] == (n_refits, n_refits)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_posteriors_in_the_cell_of_an_item_are_alike(n_classes):
    item = np.array([[0.211, 0.327, 0.462][-n_classes:]])
    item /= item.sum()
    other = item[:, ::-1]
    beside = item + np.array([1e-9, *[0.0] * (n_classes - 2), -1e-9])
    alike = _alike_cells(np.concatenate([item, other, beside]), item)
    assert alike.tolist() == [True, False, True]


def test_items_that_all_look_the_same_leave_the_share_open():
    """Of training items no class would be in one cell."""
    fitted = SLD().fit_posteriors(*scored(900, (0.5, 0.5), 0))
    same = from_counts(fitted, np.tile([0.4, 0.6], (40, 1)), "items")
    assert (same.low.tolist(), same.high.tolist()) == ([0.0, 0.0], [1.0, 1.0])
    two_cells = from_counts(fitted, np.repeat([[0.4, 0.6], [0.7, 0.3]], 20, axis=0), "items")
    assert (two_cells.high - two_cells.low < 1).all()
