"""Differences of two systems, on the same items or on others."""

import numpy as np
import pytest

from quantshift.errors import DataError
from quantshift.judging.estimating.differences import difference
from quantshift.judging.estimating.estimation import estimate
from quantshift.judging.items.judged_items import ExternalLabels, Settings
from tests.judging.made import coded


def test_pairs_are_known_better_than_items_apart(judging):
    other = np.where(judging.rng.random(2000) < 0.1, 1 - judging.y, judging.y)
    rows = judging.rng.choice(2000, 200, replace=False)
    second = np.full(2000, -1)
    second[rows] = other[rows]
    a = estimate(coded(judging.verdicts, judging.labels(rows)), "random")
    said = np.where(other == judging.y, judging.verdicts, 1 - judging.verdicts)
    b = estimate(coded(said, second), "random")
    paired, apart = difference(a, b, paired=True), difference(a, b)
    assert paired.difference == pytest.approx(a.shares.prevalence - b.shares.prevalence)
    assert (paired.high - paired.low)[1] < (apart.high - apart.low)[1]
    assert paired.low[0] == pytest.approx(-paired.high[1])
    back = difference(b, a, paired=True)
    assert back.low == pytest.approx(-paired.high)
    same = difference(a, a, paired=True)
    assert (same.high - same.low).max() < (apart.high - apart.low).max()
    few = coded(judging.verdicts[:500], judging.labels(np.arange(50))[:500])
    small = estimate(few, settings=Settings(insist=True))
    with pytest.raises(DataError, match="same items"):
        difference(a, small, paired=True)


def test_labels_from_elsewhere_that_two_systems_share(judging):
    none = np.full(1000, -1)
    rows = judging.rng.choice(2000, 150, replace=False)
    other = ExternalLabels(judging.y[rows], judging.verdicts[rows])
    a = estimate(coded(judging.verdicts[:1000], none, external=other))
    b = estimate(coded(judging.verdicts[1000:], none, external=other))
    shared, apart = difference(a, b, shared=True), difference(a, b)
    assert (shared.high - shared.low)[1] < 0.8 * (apart.high - apart.low)[1]
