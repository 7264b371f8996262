"""Regions: what they hold, how much of the simplex, and that they are what predict_region gives."""

from typing import get_args

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from quantshift import SLD, BayesianCC
from quantshift.errors import DataError, UserError
from quantshift.intervals.regions import (
    RegionKind,
    region,
    region_of,
    with_bias,
)


def replicates(n: int = 2000, n_classes: int = 3) -> np.ndarray:
    return np.random.default_rng(0).dirichlet(20 * np.arange(1, n_classes + 1), n)


@pytest.mark.parametrize("kind", get_args(RegionKind))
@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_about_the_level_of_the_replicates_is_inside(kind: str, n_classes: int) -> None:
    values = replicates(n_classes=n_classes)
    inside = region(values, kind=kind, level=0.9).contains(values).mean()
    # Bonferroni's box holds at least the level; replicates are not quite normal.
    assert 0.88 < inside < (0.97 if kind == "box" else 0.925)


def test_an_ellipse_is_a_distance_from_the_mean() -> None:
    values = replicates()
    found = region(values, kind="ellipse", level=0.95)
    plane = values[:, :2]
    middle, bread = plane.mean(axis=0), np.linalg.inv(np.cov(plane, rowvar=False))
    points = np.random.default_rng(1).dirichlet(np.ones(3), 500)
    away = points[:, :2] - middle
    distance = np.einsum("ij,jk,ik->i", away, bread, away)
    np.testing.assert_array_equal(found.contains(points), distance <= stats.chi2.ppf(0.95, 2))


def test_two_classes_have_an_interval() -> None:
    values = replicates(n_classes=2)
    box = region(values, kind="box")
    assert_allclose(box.low, np.quantile(values, 0.025, axis=0))
    assert box.contains([box.low[0], 1 - box.low[0]])


def test_share_of_the_simplex() -> None:
    wide = np.random.default_rng(0).dirichlet(np.ones(3), 5000)
    box = region(wide, kind="box", level=0.95)
    # The box holds as much of the replicates as of the simplex, of which they are uniform draws.
    assert box.simplex_share() == pytest.approx(box.contains(wide).mean(), abs=0.015)
    narrow = region(replicates(), kind="ellipse")
    area = np.pi * stats.chi2.ppf(0.95, 2)
    area *= np.sqrt(np.linalg.det(np.cov(replicates()[:, :2], rowvar=False))) / 0.5
    # 10,000 points: a standard error of sqrt(share / 10,000).
    assert narrow.simplex_share() == pytest.approx(area, abs=4 * np.sqrt(area / 10_000))
    assert narrow.simplex_share() == narrow.simplex_share()


def test_regions_of_samples_are_of_their_replicates() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=300)
    X = rng.normal(size=(300, 3)) + 2 * np.eye(3)[y]
    for quantifier in (SLD(), BayesianCC()):
        quantifier.fit(X, y)
        one = quantifier.predict_region(X[:100], n_bootstrap=60)
        two = quantifier.predict_region(X, [np.arange(100), np.arange(300)], n_bootstrap=60)
        assert one.contains(np.bincount(y[:100]) / 100)
        assert_allclose(two[0].centre, one.centre, atol=1e-12)


def test_the_estimate_is_in_the_middle_and_bias_widens_to_either_side() -> None:
    values, p_hat = replicates(), np.array([0.15, 0.35, 0.5])
    bias = np.array([0.1, -0.1, 0.0])
    moved = with_bias(values, p_hat, bias)
    assert_allclose(moved.mean(axis=0), p_hat, atol=1e-12)
    # Replicates in turns are not quite uncorrelated with the sign of the bias: 2,000 of them.
    assert_allclose(
        np.cov(moved, rowvar=False),
        np.cov(values, rowvar=False) + np.outer(bias, bias),
        atol=4 * 0.1 * 0.04 / np.sqrt(2000),
    )
    plain, wide = region(values - values.mean(axis=0) + p_hat), region(moved)
    for sign in (-1, 1):
        assert not plain.contains(p_hat + 1.5 * sign * bias)
        assert wide.contains(p_hat + 1.5 * sign * bias)


def test_the_region_of_an_interval_is_that_of_predict_region() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=300)
    X = rng.normal(size=(300, 3)) + 2 * np.eye(3)[y]
    quantifier = SLD().fit(X, y)
    found = quantifier.predict_interval(X[:100], n_bootstrap=60)
    assert_allclose(found.bias.sum(), 0.0, atol=1e-12)
    own, same = region_of(found), quantifier.predict_region(X[:100], n_bootstrap=60)
    assert_allclose(own.centre, found.prevalence, atol=1e-12)
    assert_allclose(own.precision, same.precision)
    assert_allclose(region_of(found, kind="clr").centre, found.replicates.mean(axis=0))


def test_constant_replicates_hold_their_point_alone() -> None:
    for kind in get_args(RegionKind):
        found = region(np.tile([0.2, 0.3, 0.5], (50, 1)), kind=kind)
        assert found.contains([0.2, 0.3, 0.5])
        assert not found.contains([0.21, 0.29, 0.5])
        assert found.simplex_share() == 0


def test_a_share_that_is_always_zero_is_zero_in_the_region() -> None:
    first = np.random.default_rng(0).normal(0.4, 0.02, 200)
    for kind in get_args(RegionKind):
        found = region(np.column_stack([first, 1 - first, np.zeros(200)]), kind=kind)
        assert found.contains([0.4, 0.6, 0.0])
        assert not found.contains([0.39, 0.59, 0.02])
        assert not found.contains([0.5, 0.5, 0.0])


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(UserError, match=r"elipse.*ellipse"):
        region(replicates(), kind="elipse")
    with pytest.raises(UserError, match="between 0 and 1"):
        region(replicates(), level=95)
    with pytest.raises(DataError, match="at least 2 replicates"):
        region(np.ones(3))
    with pytest.raises(DataError, match="do not fit 3 classes"):
        region(replicates()).contains([0.5, 0.5])


def test_a_notebook_shows_a_table_of_the_region():
    replicates = np.random.default_rng(0).dirichlet([4.0, 3.0, 2.0], size=200)
    box, ellipse = (region(replicates, kind=kind)._repr_html_() for kind in ("box", "ellipse"))
    assert box.count("<tr>") == ellipse.count("<tr>") == 4
    assert ("<th>low</th>" in box, "<th>low</th>" in ellipse) == (True, False)
    assert f"<td>{100 * replicates[:, 0].mean():.1f}%</td>" in ellipse
