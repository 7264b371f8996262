"""Quadratics on the simplex: the conditions of Karush, Kuhn and Tucker, and every support tried."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from quantshift.optimise import quadratic
from quantshift.optimise.quadratic import minimise_on_simplex

Problem = tuple[np.ndarray, np.ndarray, np.ndarray]


@st.composite
def problems(draw: st.DrawFn, most_classes: int, *, flat: bool = False) -> Problem:
    """A matrix, 20 vectors and a start; squares of differences, or minus a matrix of distances."""
    n_classes = draw(st.integers(2, most_classes))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n_rows = draw(st.integers(1, n_classes - 1)) if flat else n_classes + 3
    means = rng.normal(size=(n_rows, n_classes)) * 10 ** draw(st.floats(-3, 1))
    spread = draw(st.sampled_from([0.1, 1.0, 10.0]))
    sample = means @ rng.dirichlet(np.ones(n_classes), 20).T + spread * rng.normal(
        size=(n_rows, 20)
    )
    gram, linear = means.T @ means, sample.T @ means
    if draw(st.booleans()):  # the same on the simplex, but no longer positive semidefinite
        size = np.diag(gram)
        gram = -(size[:, None] + size - 2 * gram) / 2
        linear = linear - size / 2
    start = np.maximum(rng.dirichlet(np.ones(n_classes)), 1e-3)
    return gram, linear, start / start.sum()


def slopes(problem: Problem, p: np.ndarray) -> tuple[np.ndarray, float]:
    """Half the gradient less its mean under p, and its scale."""
    gram, linear, _ = problem
    gradient = p @ gram - linear
    scale = np.abs(linear).max() + np.abs(gram).max()
    return gradient - (gradient * p).sum(axis=1, keepdims=True), scale


@settings(max_examples=60)
@given(problems(12), problems(6, flat=True))
def test_karush_kuhn_tucker(problem: Problem, flat: Problem) -> None:
    for each in (problem, flat):
        p = minimise_on_simplex(*each)
        assert p.min() >= 0
        assert_allclose(p.sum(axis=1), 1, atol=1e-12)
        slope, scale = slopes(each, p)
        assert slope.min() >= -1e-9 * scale
        assert np.abs(slope[p > 0]).max() <= 1e-9 * scale


@settings(max_examples=30)
@given(problems(4))
def test_no_support_has_a_lower_point(problem: Problem) -> None:
    gram, linear, start = problem
    n_classes = len(start)
    found = minimise_on_simplex(*problem)

    def value(p: np.ndarray, b: np.ndarray) -> float:
        return float(p @ gram @ p - 2 * b @ p)

    for b, p_hat in zip(linear, found, strict=True):
        values = []
        for size in range(1, n_classes + 1):
            for support in map(list, combinations(range(n_classes), size)):
                system = np.ones((size + 1, size + 1))
                system[:size, :size], system[size, size] = gram[np.ix_(support, support)], 0
                p = np.zeros(n_classes)
                p[support] = np.linalg.lstsq(system, np.append(b[support], 1), rcond=None)[0][:size]
                if p.min() >= 0 and abs(p.sum() - 1) < 1e-9:
                    values.append(value(p, b))
        scale = np.abs(b).max() + np.abs(gram).max()
        assert value(p_hat, b) <= min(values) + 1e-10 * scale


@settings(max_examples=30)
@given(problems(5, flat=True), st.integers(0, 2**32))
def test_of_many_minima_the_nearest_to_the_start(problem: Problem, seed: int) -> None:
    """No other point of the simplex with the same value is nearer, in any flat direction."""
    gram, _, start = problem
    p = minimise_on_simplex(*problem)
    n_classes = len(start)
    centre = np.eye(n_classes) - 1 / n_classes
    values, vectors = np.linalg.eigh(centre @ gram @ centre)
    flat = vectors[:, np.abs(values) <= 1e-9 * np.abs(values).max()]
    flat = centre @ flat
    flat = flat[:, np.linalg.norm(flat, axis=0) > 1e-3]  # all but the step out of the simplex
    rng = np.random.default_rng(seed)
    for step in (flat @ rng.normal(size=(flat.shape[1], 50))).T:
        other = p + 1e-3 * step
        inside = other.min(axis=1) >= 0
        away = np.linalg.norm(other - start, axis=1) - np.linalg.norm(p - start, axis=1)
        assert (away[inside] >= -1e-5).all()


@settings(max_examples=20)
@given(problems(8))
def test_a_sample_is_solved_as_if_alone(problem: Problem) -> None:
    gram, linear, start = problem
    together = minimise_on_simplex(*problem)
    alone = [minimise_on_simplex(gram, b[np.newaxis], start)[0] for b in linear]
    assert_array_equal(together, alone)


def test_nothing_known_leaves_the_start() -> None:
    start = np.array([0.2, 0.3, 0.5])
    constant = np.full((3, 3), 7.0)
    found = minimise_on_simplex(constant, np.full((2, 3), 7.0) + 1e-14 * np.eye(2, 3), start)
    assert_allclose(found, [start, start], atol=1e-12)


def test_two_equal_classes_share_as_at_the_start() -> None:
    means = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    start = np.array([0.3, 0.1, 0.6])
    found = minimise_on_simplex(means.T @ means, np.array([[0.5, 0.5]]) @ means, start)
    assert_allclose(found, [[0.35, 0.15, 0.5]], atol=1e-6)


def test_a_linear_function_has_its_minimum_in_a_corner() -> None:
    found = minimise_on_simplex(np.zeros((3, 3)), np.array([[0.1, 0.3, 0.2]]), np.full(3, 1 / 3))
    assert_allclose(found, [[0, 1, 0]], atol=1e-12)


@pytest.mark.parametrize("n_classes", [3, 12, 40])
def test_many_classes_have_the_same_minimum(n_classes, monkeypatch):
    """The two ways end at the same point, which is exact for few classes."""
    rng = np.random.default_rng(n_classes)
    root = rng.normal(size=(n_classes, 3 * n_classes))
    gram, start = root @ root.T / n_classes, np.full(n_classes, 1 / n_classes)
    linear = np.stack([gram @ rng.dirichlet(np.full(n_classes, a)) for a in (0.1, 1.0, 10.0)])
    linear += rng.normal(scale=0.3, size=linear.shape)
    exact = minimise_on_simplex(gram, linear, start)
    monkeypatch.setattr(quadratic, "MANY", 2)
    assert minimise_on_simplex(gram, linear, start) == pytest.approx(exact, abs=1e-8)
    assert not quadratic.is_flat(gram)
    twice = gram.copy()
    twice[1], twice[:, 1] = twice[0], twice[:, 0]
    twice[1, 1] = twice[0, 0]
    assert quadratic.is_flat(twice)


def test_hundreds_of_classes_meet_the_conditions_of_a_minimum():
    """No share that is not zero could be exchanged for another at a gain."""
    n_classes = quadratic.MANY + 20
    rng = np.random.default_rng(0)
    gram = np.eye(n_classes) + 0.5 * rng.random((n_classes, n_classes)) / n_classes
    gram = (gram + gram.T) / 2
    linear = gram @ rng.dirichlet(np.full(n_classes, 0.2)) + rng.normal(scale=0.01, size=n_classes)
    p = minimise_on_simplex(gram, linear[np.newaxis], np.full(n_classes, 1 / n_classes))[0]
    slope = gram @ p - linear
    assert p.sum() == pytest.approx(1)
    assert (p == 0).any()
    assert np.ptp(slope[p > 0]) < 1e-8
    assert slope[p == 0].min() > slope[p > 0].max() - 1e-8
