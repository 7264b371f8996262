"""The mixture likelihood's maximum: closed forms, borders, ties, groups; samples on their own."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from quantshift.optimise.mixture_likelihood import (
    log_likelihood,
    maximise_factors,
    maximise_mixtures,
    room_for_classes,
)
from quantshift.optimise.mixture_newton import STATIONARY
from quantshift.optimise.total_weights import array_of_weights

UNWEIGHTED = array_of_weights(None)


def solved(rows: object, start: object, *, tol: float = 1e-6, max_iter: int = 1000) -> np.ndarray:
    """The maximum of one sample, (n_items, n_classes), which must have converged."""
    likelihoods = np.array(rows, dtype=np.float64).T
    everyone = np.arange(likelihoods.shape[1])[np.newaxis]
    p, passes, converged = maximise_mixtures(
        likelihoods, everyone, np.array(start, dtype=np.float64), tol=tol, max_iter=max_iter
    )
    assert converged.all()
    assert 1 <= passes[0] <= max_iter
    return p[0]


def violation(rows: np.ndarray, p: np.ndarray) -> float:
    """By how much the conditions of Karush, Kuhn and Tucker fail."""
    excess = (rows / (rows @ p)[:, np.newaxis]).mean(axis=0) - 1
    return float(max(excess.max(), np.abs(excess[p > 0]).max()))


@pytest.mark.parametrize("doubt", [1e-2, 1e-7, 1e-12, 1e-16, 1e-100, 1e-300])
@pytest.mark.parametrize("n_positive", [1, 50, 90, 99])
@pytest.mark.parametrize("start", [0.001, 0.2, 0.999])
def test_nearly_impossible_items_do_not_hold_the_search_at_a_border(
    doubt: float, n_positive: int, start: float
) -> None:
    rows = [[doubt, 1 - doubt]] * n_positive + [[1 - doubt, doubt]] * (100 - n_positive)
    # Closed form: of the score, n_1 s / (doubt + q s) = n_0 s / (1 - doubt - q s), s = 1 - 2 doubt.
    exact = np.clip((n_positive / 100 - doubt) / (1 - 2 * doubt), 0, 1)
    assert solved(rows, [1 - start, start])[1] == pytest.approx(exact, abs=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_certain_items_are_counted(n_classes: int) -> None:
    counts = np.arange(n_classes)  # none of the first class
    rows = np.repeat(np.eye(n_classes), counts, axis=0)
    p = solved(rows, np.full(n_classes, 1 / n_classes))
    assert_allclose(p, counts / counts.sum(), atol=1e-9)
    assert p[0] == 0


def test_one_item_is_of_its_likeliest_class() -> None:
    assert_allclose(solved([[0.2, 0.5, 0.3]], [0.4, 0.1, 0.5]), [0, 1, 0], atol=1e-9)
    assert solved([[0.6, 0.4]], [0.4, 0.6]).tolist() == [1, 0]


def test_an_optimum_in_the_last_digits_before_a_border() -> None:
    # One item against n of the other kind: 1 - q = 1 / n - 1 / (r - 1), if r is that far.
    for n, r in [(1000, 1001.5), (1000, 1 + 1000 * (1 + 1e-9)), (10, 1e15)]:
        rows = [[0.0, 1.0]] * n + [[1.0, 1 / r]]
        expected = 1 / n - 1 / (r - 1)
        expected *= n / (n + 1)
        p = solved(rows, [0.5, 0.5])
        assert p[0] == pytest.approx(expected, abs=1e-10)


def test_equal_likelihoods_leave_the_start() -> None:
    assert_allclose(solved([[0.3, 0.3]] * 5, [0.8, 0.2]), [0.8, 0.2], rtol=0)
    # Equal but for rounding.
    noisy = 0.3 * (1 + np.array([[1, -1], [-1, 1], [1, -1]]) * 1e-16)
    assert_allclose(solved(noisy, [0.8, 0.2]), [0.8, 0.2], rtol=0)
    assert_allclose(solved([[1, 1, 1]] * 5, [0.7, 0.2, 0.1]), [0.7, 0.2, 0.1], atol=1e-9)


def test_of_equal_maxima_the_nearest_to_the_start() -> None:
    # Classes 0 and 1 look the same: of their common share the start decides, nearest point.
    rows = np.array([[1.0, 1.0, 0.0]] * 60 + [[0.0, 0.0, 1.0]] * 40)
    assert_allclose(solved(rows, [0.5, 0.2, 0.3]), [0.45, 0.15, 0.4], atol=1e-6)
    assert_allclose(solved(rows, [0.1, 0.7, 0.2]), [0, 0.6, 0.4], atol=1e-6)
    # Fewer items than classes: the first item is explained by 0 and 3, the second by 1 and 3.
    rows = np.array([[1.0, 0.0, 0.2, 1.0], [0.0, 1.0, 0.2, 1.0]])
    assert_allclose(solved(rows, [0.25] * 4), [0, 0, 0, 1], atol=1e-6)


def test_a_class_under_which_every_item_is_impossible_is_absent() -> None:
    rng = np.random.default_rng(0)
    rows = rng.dirichlet([1, 1, 1, 1], 50)
    rows[:, 2] = 0
    p = solved(rows, [0.25] * 4)
    assert p[2] == 0
    assert violation(rows, p) < STATIONARY
    assert_allclose(np.delete(p, 2), solved(np.delete(rows, 2, axis=1), [1 / 3] * 3), atol=1e-8)


def test_items_that_no_class_explains_are_left_out() -> None:
    rows = np.array([[0.2, 0.5, 0.3], [0.9, 0.05, 0.05], [0.1, 0.2, 0.7]])
    nothing = np.zeros((4, 3))
    p = solved(rows, [0.4, 0.3, 0.3])
    assert (solved(np.concatenate([nothing, rows, nothing]), [0.4, 0.3, 0.3]) == p).all()
    none_left, _, converged = maximise_mixtures(
        nothing.T, np.arange(4)[np.newaxis], np.array([0.4, 0.3, 0.3]), tol=1e-6, max_iter=10
    )
    assert_allclose(none_left, [[0.4, 0.3, 0.3]])
    assert converged.all()


@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_a_sample_alone_is_a_sample_in_a_batch(n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    likelihoods = rng.dirichlet(np.full(n_classes, 0.4), 200).T
    index, start = rng.integers(200, size=(50, 70)), rng.dirichlet(np.full(n_classes, 5))
    together = maximise_mixtures(likelihoods, index, start, tol=1e-6, max_iter=1000)
    for i in range(50):
        alone = maximise_mixtures(likelihoods, index[i : i + 1], start, tol=1e-6, max_iter=1000)
        for one, all_of_them in zip(alone, together, strict=True):
            assert (one[0] == all_of_them[i]).all()
    index.flags.writeable = likelihoods.flags.writeable = False
    frozen = maximise_mixtures(likelihoods, index[:, ::-1], start, tol=1e-6, max_iter=1000)
    assert_allclose(frozen[0], together[0], atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_too_few_passes_are_no_convergence(n_classes: int) -> None:
    rng = np.random.default_rng(0)
    likelihoods = rng.dirichlet(np.full(n_classes, 0.3), 80).T
    start = np.array([0.9] + [0.1 / (n_classes - 1)] * (n_classes - 1))
    p, passes, converged = maximise_mixtures(
        likelihoods, np.arange(80)[np.newaxis], start, tol=1e-6, max_iter=2
    )
    assert not converged[0]
    assert passes[0] == 2
    assert p.sum() == pytest.approx(1)


def test_the_answer_does_not_depend_on_the_start() -> None:
    rng = np.random.default_rng(1)
    for n_classes in (2, 5):
        rows = rng.dirichlet(np.full(n_classes, 0.2), 300)
        best = solved(rows, np.full(n_classes, 1 / n_classes))
        for _ in range(20):
            start = np.maximum(rng.dirichlet(np.full(n_classes, 0.1)), 1e-9)
            assert_allclose(solved(rows, start / start.sum()), best, atol=1e-6)


def maximum_in_groups(
    rows: np.ndarray, groups: np.ndarray, counts: np.ndarray, start: np.ndarray
) -> np.ndarray:
    p = start.copy()
    space = room_for_classes(len(p))
    assert maximise_factors(rows, groups, counts, p, 1e-9, 1000, UNWEIGHTED, space)[1]
    return p


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_one_group_is_the_plain_mixture(n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    start = rng.dirichlet(np.full(n_classes, 5))
    for concentration in (0.1, 1, 10):
        rows = rng.dirichlet(np.full(n_classes, concentration), 150)
        p = maximum_in_groups(rows, np.ones((1, n_classes)), np.array([150.0]), start)
        assert_allclose(p, solved(rows, start, tol=1e-9), atol=1e-7)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_with_groups_nothing_nearby_is_likelier(n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    for _ in range(20):
        groups = rng.dirichlet(np.full(n_classes, 3), 4)
        members = rng.integers(4, size=120)
        rows = groups[members] * rng.dirichlet(np.full(n_classes, 1), 120)
        counts = np.bincount(members, minlength=4).astype(float)

        def value(p: np.ndarray, rows=rows, groups=groups, counts=counts) -> float:
            return log_likelihood(rows, p, UNWEIGHTED) - float(counts @ np.log(groups @ p))

        start = np.full(n_classes, 1 / n_classes)
        p = maximum_in_groups(rows, groups, counts, start)
        assert value(p) >= value(start)
        for size in (1e-4, 1e-2):
            for step in rng.normal(0, size, (50, n_classes)):
                other = np.maximum(p + step, 1e-12)
                assert value(other / other.sum()) <= value(p) + 1e-9


@pytest.mark.parametrize("rare", [1e-5, 1e-20, 1e-100])
def test_factors_of_any_size(rare: float) -> None:
    # A class of share `rare` in every group makes up 3 of 10 items: odds 3 / 7 over rare.
    rows = np.array([[0.0, 1 / rare]] * 3 + [[1.0, 0.0]] * 7)
    groups = np.array([[1.0, 1.0], [1.0, 0.9]])
    p = maximum_in_groups(rows, groups, np.array([10.0, 0.0]), np.array([1 - rare, rare]))
    assert p[1] == pytest.approx(0.3, abs=1e-9)


def test_a_border_of_the_odds_is_reached_exactly_or_not_at_all() -> None:
    groups, counts = np.array([[1.2, 0.8], [0.7, 1.3]]), np.array([30.0, 20.0])
    members = np.repeat([0, 1], [30, 20])
    certain = groups[members] * [1.0, 1e-9]
    p = maximum_in_groups(certain, groups, counts, np.array([0.5, 0.5]))
    assert p.tolist() == [1, 0]
    # One item of the other kind, and it is 1 of 50.
    certain[7] = [1e-9, 1.0]
    p = maximum_in_groups(certain, groups, counts, np.array([0.5, 0.5]))
    share = p * groups / (groups @ p)[:, np.newaxis]
    assert counts @ share[:, 1] == pytest.approx(1, abs=1e-6)
