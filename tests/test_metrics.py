import inspect

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from quantshift import metrics
from quantshift.errors import DataError, UserError


def test_closed_forms() -> None:
    p, q = [0.2, 0.8], [0.5, 0.5]
    assert metrics.ae(p, q) == pytest.approx(0.3)
    assert metrics.se(p, q) == pytest.approx(0.09)
    assert metrics.nae(p, q) == pytest.approx(0.3 / 0.8)
    assert metrics.rae(p, q, smoothing=0) == pytest.approx((0.3 / 0.2 + 0.3 / 0.8) / 2)
    assert metrics.kld(p, q, smoothing=0) == pytest.approx(0.2 * np.log(0.4) + 0.8 * np.log(1.6))


@given(st.integers(0, 10_000), st.integers(2, 6))
def test_properties(seed: int, n_classes: int) -> None:
    p, q = np.random.default_rng(seed).dirichlet(np.ones(n_classes), (2, 7))
    for name in metrics.MEASURES:
        values = metrics.measure(name, p, q, smoothing=0.001)
        assert values.shape == (7,)
        assert (values >= 0).all()
        assert_allclose(metrics.measure(name, p, p, smoothing=0.001), 0, atol=1e-12)
        assert values[3] == pytest.approx(float(metrics.measure(name, p[3], q[3], smoothing=0.001)))


@pytest.mark.parametrize("name", ["nae", "nrae"])
def test_normalised_measures_reach_one_at_the_worst_estimate(name: str) -> None:
    p = np.array([0.2, 0.3, 0.5])
    assert metrics.measure(name, p, np.eye(3)[0], smoothing=0) == pytest.approx(1)


def test_measures_of_ordered_classes_know_how_far_an_estimate_is_off() -> None:
    p = np.array([1.0, 0.0, 0.0, 0.0])
    for name in ("nmd", "rnod"):
        near, middle, far = (
            float(metrics.measure(name, p, np.eye(4)[k], smoothing=0)) for k in (1, 2, 3)
        )
        assert 0 < near < middle < far == pytest.approx(1)
    assert metrics.nmd(p, np.eye(4)[1]) == pytest.approx(1 / 3)


def test_macro_nmd_counts_every_bin_alike() -> None:
    p = np.array([[1.0, 0, 0, 0, 0]] * 3 + [[0, 0, 0, 0, 1.0], [0.0, 0, 1.0, 0, 0]])
    q = np.array([[0, 1.0, 0, 0, 0]] * 3 + [[0, 0, 0, 0, 1.0], [0.0, 0, 0, 0, 1.0]])
    # Mean classes 0, 0, 0, 4 and 2 lie in the bins 0, 3 and 2; errors .25 thrice, 0 and .5.
    assert metrics.macro_nmd(p, q) == pytest.approx((0.25 + 0.0 + 0.5) / 3)
    assert metrics.macro_nmd(p[0], q[0]) == pytest.approx(0.25)


def test_rnod_by_its_definition() -> None:
    p, q = np.array([0.5, 0.0, 0.3, 0.2]), np.array([0.1, 0.4, 0.1, 0.4])
    present = [i for i in range(4) if p[i] > 0]
    total = sum(abs(i - j) * (q[j] - p[j]) ** 2 for i in present for j in range(4))
    assert metrics.rnod(p, q) == pytest.approx(np.sqrt(total / (3 * 3)))


def test_an_unknown_measure_names_the_nearest() -> None:
    with pytest.raises(UserError, match="unknown error measure 'rea'; did you mean 'rae'"):
        metrics.measure_called("rea")


def test_every_measure_has_its_own_title_and_knows_whether_it_is_smoothed() -> None:
    assert len({one.title for one in metrics.MEASURES.values()}) == len(metrics.MEASURES)
    for name, one in metrics.MEASURES.items():
        assert one.name == name
        assert one.smoothed == ("smoothing" in inspect.signature(one.function).parameters)


def test_nkld_does_not_overflow() -> None:
    assert metrics.nkld([1, 0], [0, 1], smoothing=1e-300) == pytest.approx(1)


def test_smoothing_may_differ_from_sample_to_sample() -> None:
    p, q = np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([[0.9, 0.1], [0.9, 0.1]])
    both = metrics.rae(p, q, smoothing=[0.001, 0.01])
    assert_allclose(both, [metrics.rae(p[0], q[0], smoothing=s) for s in (0.001, 0.01)])


def test_bad_input() -> None:
    with pytest.raises(DataError, match="agree on their number"):
        metrics.ae([0.5, 0.5], [1.0])
    with pytest.raises(DataError, match="smoothing must not be negative"):
        metrics.kld([1.0, 0.0], [1.0, 0.0], smoothing=-1)
    with pytest.raises(TypeError):
        metrics.rae([1.0, 0.0], [1.0, 0.0])  # type: ignore[call-arg]
