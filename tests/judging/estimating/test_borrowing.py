"""Rates of small groups that borrow from the others: closer to the truth, limits on average."""

import numpy as np
import polars as pl
import pytest

from quantshift.judging import judge
from quantshift.judging.estimating.borrowing import borrowed, counts_of_groups

ASKED = {"level": 0.95, "of_items": True, "seed": 0}


def groups(n_groups, n, k, moves, rng):
    """Group, truth, verdict and label of every item: k random labels of each group."""
    g = np.repeat(np.arange(n_groups), n)
    share, right, wrong = (
        1 / (1 + np.exp(-(centre + spread * rng.normal(size=n_groups))))
        for centre, spread in ((0.6, 1.0), (2.2, moves), (-1.6, moves))
    )
    y = (rng.random(len(g)) < share[g]).astype(int)
    v = (rng.random(len(g)) < np.where(y == 1, right[g], wrong[g])).astype(int)
    labels = np.full(len(g), -1)
    for group in range(n_groups):
        rows = rng.permutation(np.flatnonzero(g == group))[:k]
        labels[rows] = y[rows]
    return g, y, v, labels


@pytest.mark.parametrize(("moves", "seed"), [(0.0, 31), (0.4, 32), (0.8, 33)])
def test_thirty_groups_of_ten_labels(moves, seed):
    rng, errors, counting, held = np.random.default_rng(seed), [], [], []
    for _ in range(25):
        g, y, v, labels = groups(30, 150, 10, moves, rng)
        found = borrowed(*counts_of_groups(g, v, labels, 2), **ASKED)
        truth = np.bincount(g, weights=y) / 150
        own = [labels[(g == i) & (labels >= 0)].mean() for i in range(30)]
        errors.append(np.abs(found.estimate[:, 1] - truth).mean())
        counting.append(np.abs(own - truth).mean())
        held.append(((found.low[:, 1] <= truth) & (truth <= found.high[:, 1])).mean())
    assert np.mean(errors) < 2 / 3 * np.mean(counting)
    assert np.mean(held) >= 0.93 - 2 * np.std(held) / np.sqrt(25)


def test_many_labels_of_a_group_leave_it_alone_and_none_leave_it_to_the_others():
    rng = np.random.default_rng(4)
    g, y, v, labels = groups(10, 400, 10, 0.3, rng)
    labels[g == 0] = y[g == 0]
    labels[g == 1] = -1
    found = borrowed(*counts_of_groups(g, v, labels, 2), **ASKED)
    assert found.estimate[0, 1] == pytest.approx(y[g == 0].mean(), abs=1e-3)
    assert found.high[0, 1] - found.low[0, 1] < 0.01
    widths = (found.high - found.low)[1:, 1]
    assert widths[0] == max(widths)
    assert found.low[1, 1] <= y[g == 1].mean() <= found.high[1, 1]
    np.testing.assert_allclose(found.estimate.sum(axis=1), 1)


def test_they_stand_beside_the_own_rates_of_groups_with_random_labels():
    g, _, v, labels = groups(8, 100, 10, 0.2, np.random.default_rng(6))
    names = np.array(["bad", "good"])
    table = pl.DataFrame(
        {
            "team": [f"t{i}" for i in g],
            "judge": names[v],
            "human": [None if y < 0 else names[y] for y in labels],
        }
    )
    asked = {"verdict": "judge", "label": "human", "by": "team"}
    found = judge(table, **asked, labels="random")
    for batch in found.batches:
        own, with_others = batch.shares[1], batch.with_others[1]
        assert with_others.label == own.label
        assert with_others.high - with_others.low < own.high - own.low
        assert with_others.low <= with_others.estimate <= with_others.high
    assert "with the other groups*" in found.to_text(details=True)
    assert "with the other groups*" in found.page()
    assert all(b.with_others == () for b in judge(table, **asked, labels="by-verdict").batches)
    few = table.filter(pl.col("team").is_in(["t0", "t1", "t2"]))
    assert all(b.with_others == () for b in judge(few, **asked, labels="random").batches)
