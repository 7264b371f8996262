"""Regions of QuaPy on the same replicates."""

import numpy as np
import pytest
import quapy.method.confidence as theirs

from quantshift.intervals.regions import region

NAMES = {"box": "intervals", "ellipse": "ellipse", "clr": "ellipse-clr", "ilr": "ellipse-clr"}
"""Isometric log-ratios are a rotation of the centred ones. Theirs ("ellipse-ilr") have one degree
of freedom too few, none with two classes: they count coordinates where they mean classes."""


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_the_same_points_are_inside(kind: str, n_classes: int) -> None:
    """Every one of 1,000 points about the replicates: no point is at a border by chance."""
    rng = np.random.default_rng(n_classes)
    replicates = rng.dirichlet(10 * np.arange(1, n_classes + 1), 500)
    points = rng.dirichlet(6 * np.arange(1, n_classes + 1), 1000)
    reference = theirs.WithConfidenceABC.construct_region(
        replicates, confidence_level=0.9, method=NAMES[kind], bonferroni=True
    )
    ours = region(replicates, kind=kind, level=0.9)
    expected = np.array([reference.coverage(p) == 1.0 for p in points])
    np.testing.assert_array_equal(ours.contains(points), expected)
    assert 50 < expected.sum() < 950
    # Other points of the simplex: 10,000 each, so four standard errors of the difference.
    share = reference.simplex_portion()
    tolerance = 4 * np.sqrt(2 * share * (1 - share) / 10_000) + 1e-9
    assert ours.simplex_share() == pytest.approx(share, abs=tolerance)
