"""How many labels halve the width of the limits: by the parts of the variance."""

import numpy as np
import pytest
from scipy.optimize import brentq

from quantshift.intervals.targets import ITEMS, POPULATION
from quantshift.judging.designs.parts.share_estimate import ShareEstimate
from quantshift.judging.designs.registry import design_named
from quantshift.judging.estimating.judged import _ClusteredWidth, _labels_for_half_width
from quantshift.judging.items.clusters import LabelledClusters
from quantshift.judging.items.judged_items import ExternalLabels, Settings
from tests.judging.made import coded


def needed(k, n, by_labels, by_items, of=POPULATION, **changed):
    """Labels that halve the width, with k labels of n items."""
    labels = np.where(np.arange(n) < k, np.arange(n) % 2, -1)
    shares = ShareEstimate(
        prevalence=np.array([0.5, 0.5]),
        low=np.array([0.4, 0.4]),
        high=np.array([0.6, 0.6]),
        by_labels=np.full(2, by_labels),
        by_items=np.full(2, by_items),
        influence=np.zeros((n, 2)),
        **changed,
    )
    items = coded(np.zeros(n, dtype=int), labels)
    return _labels_for_half_width(shares, items, design_named("random"), Settings(of=of))


def test_of_a_population_labels_reduce_their_part_of_the_variance():
    """A quarter of the whole is left: by_labels k / K + by_items = (by_labels + by_items) / 4."""
    assert needed(40, 400, 0.003, 0.0005) == 320
    assert needed(40, 300, 0.003, 0.0005) is None
    assert needed(40, 400, 0.003, 0.0) == 160
    assert needed(40, 400, 0.003, 0.001) is None
    assert needed(40, 400, 0.003, 0.002) is None
    assert needed(40, 400, 0.0, 0.002) == 80


def test_of_these_items_labels_of_all_leave_no_width():
    """1 / K - 1 / n is a quarter of 1 / k - 1 / n."""
    assert needed(40, 400, 0.003, 0.0, ITEMS) == int(np.ceil(4 / (1 / 40 + 3 / 400)))
    assert needed(300, 400, 0.003, 0.0, ITEMS) < 400
    assert needed(40, 400, 0.0, 0.0, ITEMS) == 80
    assert needed(300, 400, 0.0, 0.0, ITEMS) == 400


def test_what_cannot_be_halved_needs_no_labels():
    assert needed(40, 400, 0.003, 0.0, can_be_halved=False) is None
    assert needed(40, 400, 0.003, 0.0, no_estimate_reason="confused") is None


@pytest.mark.parametrize("n_items", [None, 2000])
def test_in_clusters_the_fewest_labels_that_halve_the_width_are_found(n_items):
    width = _ClusteredWidth(LabelledClusters(12, 5.0), 60, 0.003, 0.0001, 0.95, n_items)
    found = width.labels_for_half(2000)
    half = width._width(60) / 2
    assert 120 < found < 2000
    assert width._width(found) <= half < width._width(found - 1)
    assert width.labels_for_half(found - 1) is None
    assert width.labels_for_half(60) is None


def test_once_all_items_are_labelled_only_the_clusters_are_unsure():
    width = _ClusteredWidth(LabelledClusters(80, 5.0), 400, 0.003, 0.0, 0.95, 400)
    assert width._width(400) == 0
    assert width.labels_for_half(400) is None


def test_of_clustered_labels_from_elsewhere_at_most_a_thousand_times_as_many_are_asked_for():
    external = ExternalLabels(np.arange(20) % 2, np.arange(20) % 2)
    items = coded(np.arange(100) % 2, np.full(100, -1), external=external)
    by_labels = 0.003

    def needed_elsewhere(by_items):
        shares = ShareEstimate(
            prevalence=np.array([0.5, 0.5]),
            low=np.array([0.4, 0.4]),
            high=np.array([0.6, 0.6]),
            by_labels=np.full(2, by_labels),
            by_items=np.full(2, by_items),
            influence=np.zeros((100, 2)),
            clusters=LabelledClusters(20, 1.0),
        )
        return _labels_for_half_width(shares, items, design_named("elsewhere"), Settings())

    def of_width(n):
        """The variance of the items with which n labels halve the width."""

        def left(by_items):
            width = _ClusteredWidth(
                LabelledClusters(20, 1.0), 20, by_labels, by_items, Settings().level, None
            )
            return width._width(n) - width._width(20) / 2

        return float(brentq(left, 0.0, by_labels))

    assert needed_elsewhere(of_width(5_000)) == pytest.approx(5_000, abs=2)
    assert needed_elsewhere(of_width(19_000)) == pytest.approx(19_000, abs=5)
    assert needed_elsewhere(of_width(22_000)) is None
