"""The maximum of a mixture likelihood, over all that items can be: KKT, and EM run to its end."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from quantshift.optimise.mixture_likelihood import maximise_mixtures


@st.composite
def problems(draw: st.DrawFn, most_items: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of posteriors, from 1e-300 to 1 - 1e-16, of 2 to 6 classes, and a start."""
    n_classes = draw(st.sampled_from([2, 2, 2, 3, 4, 6]))
    n_items = draw(st.integers(1, draw(st.sampled_from([3, 30, 300, most_items]))))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    shape = (n_items, n_classes)
    kind = draw(st.sampled_from(["smooth", "steps", "few values", "zeros", "twins", "one class"]))
    if kind == "smooth":
        log = rng.normal(0, 10 ** draw(st.floats(-9, 2.4)), shape)
    elif kind == "steps":
        log = -np.log(10) * rng.choice([0, 0, 1e-16, 1e-7, 1, 7, 16, 100, 300], shape)
    elif kind == "few values":
        values = rng.normal(0, 10 ** draw(st.floats(-2, 2.4)), (3, n_classes))
        log = values[rng.integers(3, size=n_items)]
    else:
        log = rng.normal(0, 3, shape)
    if kind == "zeros":
        log[rng.random(shape) < 0.5] = -np.inf
        log[np.arange(n_items), rng.integers(n_classes, size=n_items)] = 0
    elif kind == "twins":
        log[:, 1] = log[:, 0]
    elif kind == "one class":
        log[:, 0] += draw(st.floats(-600, 600))
    rows = np.exp(log - log.max(axis=1, keepdims=True))
    start = np.maximum(rng.dirichlet(np.full(n_classes, draw(st.sampled_from([0.2, 5])))), 1e-6)
    return rows / rows.sum(axis=1, keepdims=True), start / start.sum()


def solved(rows: np.ndarray, start: np.ndarray) -> np.ndarray:
    everyone = np.arange(len(rows))[np.newaxis]
    p, _, converged = maximise_mixtures(rows.T, everyone, start, tol=1e-6, max_iter=1000)
    assert converged.all()
    return p[0]


@settings(max_examples=300)
@given(problems(10_000))
def test_converged_means_karush_kuhn_tucker(problem: tuple[np.ndarray, np.ndarray]) -> None:
    rows, start = problem
    p = solved(rows, start)
    assert p.min() >= 0
    assert abs(p.sum() - 1) < 1e-12
    gain = (rows / (rows @ p)[:, np.newaxis]).mean(axis=0)
    assert gain.max() <= 1 + 1e-7
    assert np.abs(gain[p > 0] - 1).max() <= 1e-7


@settings(max_examples=60)
@given(problems(300))
def test_em_arrives_at_the_same_place(problem: tuple[np.ndarray, np.ndarray]) -> None:
    rows, start = problem
    p, q = solved(rows, start), start
    for _ in range(3000):
        weighted = q * rows
        following = (weighted / weighted.sum(axis=1, keepdims=True)).mean(axis=0)
        step, q = np.abs(following - q).max(), following
        if step < 1e-14:
            break
    # Never below what EM has reached, and the same mixture once EM stands still.
    assert np.log(rows @ p).mean() >= np.log(rows @ q).mean() - 1e-10
    gain = (rows / (rows @ q)[:, np.newaxis]).mean(axis=0)
    if gain.max() <= 1 + 1e-13:
        np.testing.assert_allclose(rows @ p, rows @ q, rtol=0, atol=1e-5)
