"""Ordered classes: penalties and smoothing by their definitions, and what they become without."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from quantshift import ACC, PACC, SLD, OrdinalSLD
from quantshift.checks.every_quantifier import yield_checks
from quantshift.errors import DataError, UserError
from quantshift.optimise.smoothness import first_differences, second_differences, smoother
from quantshift.quantifiers import IBU, RUN, OrdinalACC, OrdinalLikelihood, OrdinalPACC

ORDINAL = (OrdinalACC, OrdinalPACC, OrdinalSLD, OrdinalLikelihood, IBU, RUN)
PLAIN = {
    "OrdinalACC": (OrdinalACC(tau=0.0), ACC()),
    "OrdinalPACC": (OrdinalPACC(tau=0.0), PACC()),
    "OrdinalSLD": (
        OrdinalSLD(smoothing=0.0, calibration="none", tol=1e-6),
        SLD(calibration="none"),
    ),
    "OrdinalLikelihood": (
        OrdinalLikelihood(tau_1=0.0, calibration="sigmoid"),
        SLD(calibration="sigmoid"),
    ),
}


def problem(n_classes: int, n: int = 1000, seed: int = 0) -> tuple[np.ndarray, ...]:
    """Posteriors of labelled items in a row of overlapping classes, codes, a pool's posteriors."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.arange(n) % n_classes)
    centres = np.arange(n_classes)

    def posteriors(y: np.ndarray) -> np.ndarray:
        x = rng.normal(y, 0.9)
        density = np.exp(-0.5 * ((x[:, None] - centres) / 0.9) ** 2)
        return density / density.sum(axis=1, keepdims=True)

    return posteriors(codes), codes, posteriors(rng.integers(n_classes, size=400))


def softmax_minimum(objective, n_classes: int) -> np.ndarray:
    """The minimum on the simplex as qunfold finds it: over logits, the first of them 0."""

    def of_logits(logits: np.ndarray) -> float:
        exponentials = np.exp(np.append(0.0, logits))
        return objective(exponentials / exponentials.sum())

    found = minimize(of_logits, np.zeros(n_classes - 1), method="BFGS", options={"gtol": 1e-9})
    exponentials = np.exp(np.append(0.0, found.x))
    return exponentials / exponentials.sum()


@pytest.mark.parametrize("cls", ORDINAL)
@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_batch_is_loop_and_on_the_simplex(cls, n_classes: int) -> None:
    known, codes, pool = problem(n_classes)
    quantifier = cls().fit_posteriors(known, codes)
    index = np.random.default_rng(1).integers(len(pool), size=(20, 60))
    together = quantifier.aggregate(pool, index)
    assert_allclose(together.sum(axis=1), 1, atol=1e-12)
    assert (together >= 0).all()
    alone = [quantifier.aggregate(pool[rows]) for rows in index]
    # Steps of expectation and maximisation end when no share changes by more than 1e-8; rounding
    # may cost one of them a step more.
    assert_allclose(together, alone, atol=1e-7)


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_without_penalty_it_is_the_plain_method(name: str, n_classes: int) -> None:
    known, codes, pool = problem(n_classes)
    ordinal, plain = PLAIN[name]
    index = np.arange(400).reshape(8, 50)
    here = ordinal.fit_posteriors(known, codes).aggregate(pool, index)
    # Posteriors are normalised once more on their way, in the last digits.
    assert_allclose(here, plain.fit_posteriors(known, codes).aggregate(pool, index), atol=1e-9)


@pytest.mark.parametrize("name", ["OrdinalACC", "OrdinalPACC", "OrdinalSLD", "OrdinalLikelihood"])
def test_a_vanishing_penalty_tends_to_the_plain_method(name: str) -> None:
    """1e-9: beside curvatures of the problem of 1e-2 at least it moves estimates by 1e-6."""
    known, codes, pool = problem(5)
    option = {"OrdinalSLD": "smoothing", "OrdinalLikelihood": "tau_1"}.get(name, "tau")
    ordinal, plain = PLAIN[name]
    tiny = type(ordinal)(**{**ordinal.get_params(), option: 1e-9})
    if name == "OrdinalSLD":
        tiny.set_params(tol=1e-10, max_iter=100_000)
    here = tiny.fit_posteriors(known, codes).aggregate(pool)
    assert_allclose(here, plain.fit_posteriors(known, codes).aggregate(pool), atol=1e-4)


@pytest.mark.parametrize("cls", [OrdinalACC, OrdinalPACC])
@pytest.mark.parametrize("tau", [1e-1, 1e-3])
def test_least_squares_by_definition(cls, tau: float) -> None:
    known, codes, pool = problem(5)
    quantifier = cls(tau=tau).fit_posteriors(known, codes)
    own = np.eye(5)[pool.argmax(axis=1)] if cls is OrdinalACC else pool
    q, M = own.mean(axis=0), quantifier.rates_

    def objective(p: np.ndarray) -> float:
        jumps = p[1:-1] * 2 - p[:-2] - p[2:]
        return float(((q - M @ p) ** 2).sum() + tau * (jumps**2).sum())

    # Both minima are exact to the 1e-9 in the gradient at which BFGS ends.
    assert_allclose(quantifier.aggregate(pool), softmax_minimum(objective, 5), atol=1e-5)


@pytest.mark.parametrize(("tau_0", "tau_1"), [(0.05, 0.0), (0.0, 0.05), (0.01, 0.02)])
def test_likelihood_by_definition(tau_0: float, tau_1: float) -> None:
    known, codes, pool = problem(5)
    quantifier = OrdinalLikelihood(tau_0=tau_0, tau_1=tau_1, calibration="none")
    quantifier.fit_posteriors(known, codes)
    ratios = pool / quantifier.prior_

    def objective(p: np.ndarray) -> float:
        slopes, jumps = p[1:] - p[:-1], p[1:-1] * 2 - p[:-2] - p[2:]
        penalty = tau_0 * (slopes**2).sum() + tau_1 * (jumps**2).sum()
        return float(-np.log(ratios @ p).mean() + penalty)

    assert_allclose(quantifier.aggregate(pool), softmax_minimum(objective, 5), atol=1e-5)


@pytest.mark.parametrize("tau", [1e-1, 1e-3])
def test_run_is_blobel_s_likelihood(tau: float) -> None:
    known, codes, pool = problem(4)
    quantifier = RUN(tau=tau, n_cells=15).fit_posteriors(known, codes)

    def cells(posteriors: np.ndarray) -> np.ndarray:
        return np.rint(posteriors @ np.arange(4) / 3 * 14).astype(int)

    M = np.stack([np.bincount(cells(known[codes == k]), minlength=15) for k in range(4)], axis=1)
    M = M / M.sum(axis=0)
    q = np.bincount(cells(pool), minlength=15) / len(pool)
    seen = q > 0

    def objective(p: np.ndarray) -> float:
        expected, jumps = M @ p, p[1:-1] * 2 - p[:-2] - p[2:]
        return float((expected.sum() - q[seen] @ np.log(expected[seen])) + tau * (jumps**2).sum())

    assert_allclose(quantifier.transfer_, M)
    assert_allclose(quantifier.aggregate(pool), softmax_minimum(objective, 4), atol=1e-5)


@pytest.mark.parametrize("order", [0, 1, 2])
def test_smoothed_steps_by_definition(order: int) -> None:
    known, codes, pool = problem(5)
    options = {"order": order, "smoothing": 0.1, "tol": 0.0, "max_iter": 30}
    sld = OrdinalSLD(calibration="none", **options).fit_posteriors(known, codes)
    ibu = IBU(n_cells=20, **options).fit_posteriors(known, codes)
    cells = np.rint(pool @ np.arange(5) / 4 * 19).astype(int)
    for quantifier, likelihood in ((sld, pool / sld.prior_), (ibu, ibu.transfer_[cells])):
        p = quantifier.prior_
        for _ in range(30):
            responsible = likelihood * p
            p = (responsible / responsible.sum(axis=1, keepdims=True)).mean(axis=0)
            line = np.polyval(np.polyfit(np.arange(5), p, order), np.arange(5))
            p = np.maximum(0.9 * p + 0.1 * line, 0)
            p = p / p.sum()
        estimate = quantifier.estimate_posteriors(pool)
        assert_allclose(estimate.prevalence, p, atol=1e-12)
        assert estimate.diagnostics["iterations"] == 30
        assert not estimate.diagnostics["converged"]


@pytest.mark.parametrize("cls", ORDINAL)
def test_a_large_sample_of_a_smooth_prevalence_is_found(cls) -> None:
    """A prevalence on a line costs no penalty and is left alone by smoothing of order 1.

    100,000 items: the share of a class is known to about .005 where neighbours overlap so much.
    """
    known, codes, _ = problem(5, n=200_000)
    p = np.array([0.1, 0.15, 0.2, 0.25, 0.3])
    rng = np.random.default_rng(0)
    members = [np.flatnonzero(codes == k)[20_000:] for k in range(5)]
    sample = np.concatenate([m[: int(s * 60_000)] for m, s in zip(members, p, strict=True)])
    train = np.concatenate([np.flatnonzero(codes == k)[:20_000] for k in range(5)])
    options = {"calibration": "none"} if cls in (OrdinalSLD, OrdinalLikelihood) else {}
    quantifier = cls(**options).fit_posteriors(known[train], codes[train])
    assert_allclose(quantifier.aggregate(known[rng.permutation(sample)]), p, atol=0.02)


@pytest.mark.parametrize("cls", ORDINAL)
def test_data_that_say_nothing(cls) -> None:
    flat = np.full((90, 3), 1 / 3)
    codes = np.repeat([0, 1, 2], 30)
    options = {"calibration": "sigmoid"} if cls in (OrdinalSLD, OrdinalLikelihood) else {}
    for sample in (flat, flat[:1]):
        p_hat = cls(**options).fit_posteriors(flat, codes).aggregate(sample)
        assert_allclose(p_hat, np.full(3, 1 / 3), atol=1e-6)
    # The middle class is never predicted, and one item is a sample.
    known = np.eye(3)[np.where(codes == 1, 2, codes)] * 0.8 + 0.2 / 3
    p_hat = cls(**options).fit_posteriors(known, codes).aggregate(known[:1])
    assert np.isfinite(p_hat).all()
    assert p_hat.sum() == pytest.approx(1)


def test_cells_that_training_does_not_know() -> None:
    codes = np.repeat([0, 1, 2], 30)
    known = np.eye(3)[codes]
    for cls in (IBU, RUN):
        estimate = (
            cls(n_cells=9).fit_posteriors(known, codes).estimate_posteriors([[0.5, 0.5, 0.0]] * 4)
        )
        assert_allclose(estimate.prevalence, np.full(3, 1 / 3))
        assert estimate.diagnostics["fallback"]


def test_matrices() -> None:
    p = np.array([0.1, 0.4, 0.2, 0.3])
    assert_allclose(first_differences(4) @ p, [0.3, -0.2, 0.1])
    assert_allclose(second_differences(4) @ p, [0.5, -0.3])
    assert second_differences(2).shape == (0, 2)
    assert_allclose(smoother(4, 0, 1.0) @ p, np.full(4, 0.25))
    assert_allclose(smoother(4, 3, 0.7) @ p, p)
    assert_allclose(smoother(4, 1, 0.2) @ np.arange(4.0), np.arange(4.0), atol=1e-12)


@pytest.mark.parametrize(
    ("quantifier", "message"),
    [
        (OrdinalACC(tau=-1), "tau of OrdinalACC must be a number of at least 0"),
        (RUN(tau=np.nan), "tau of RUN must be a number of at least 0, got nan"),
        (RUN(n_cells=1), "n_cells of RUN must be a whole number of at least 2 or None"),
        (OrdinalSLD(smoothing=2.0), "smoothing of OrdinalSLD must be a number from 0 to 1"),
        (IBU(order=-1), "order of IBU must be a whole number of at least 0"),
    ],
)
def test_wrong_options_are_refused(quantifier, message: str) -> None:
    known, codes, pool = problem(3, n=90)
    with pytest.raises(UserError, match=message):
        quantifier.fit_posteriors(known, codes).aggregate(pool)


def test_another_order_of_the_classes_is_another_problem() -> None:
    """The checks know: classes from behind are the same problem, others are not."""
    for name, check in yield_checks(OrdinalPACC(tau=0.1)):
        if name == "columns_in_another_order":
            check()
    known, codes, pool = problem(4)
    order = np.array([2, 0, 3, 1])
    here = OrdinalPACC(tau=1.0).fit_posteriors(known, codes).aggregate(pool)
    moved = OrdinalPACC(tau=1.0).fit_posteriors(known[:, order], np.argsort(order)[codes])
    assert np.abs(moved.aggregate(pool[:, order]) - here[order]).max() > 0.01


GRADES = ("bad", "fair", "best")
"""In an order that is not sorted."""

DECLARED = {
    "pandas": lambda names: pd.Categorical(names, GRADES, ordered=True),
    "pandas column": lambda names: pd.Series(pd.Categorical(names, GRADES, ordered=True)),
    "polars": lambda names: pl.Series(names, dtype=pl.Enum(GRADES)),
}


@pytest.mark.parametrize("kind", DECLARED)
def test_the_declared_order_of_labels_is_used(kind: str) -> None:
    rng = np.random.default_rng(3)
    codes = rng.integers(3, size=300)
    X = (codes + rng.normal(size=300))[:, np.newaxis]
    names = np.array(GRADES)[codes]
    by_number = OrdinalACC(tau=1.0).fit(X, codes)
    declared = OrdinalACC(tau=1.0).fit(X, DECLARED[kind](names))
    assert declared.classes_.tolist() == list(GRADES)
    assert_allclose(declared.predict(X), by_number.predict(X), rtol=0, atol=1e-12)
    # Neighbours differ in sorted order, and so does the penalty.
    by_name = OrdinalACC(tau=1.0).fit(X, names)
    assert by_name.classes_.tolist() == sorted(GRADES)
    assert np.abs(by_name.predict(X)[[0, 2, 1]] - by_number.predict(X)).max() > 1e-3


@pytest.mark.parametrize("kind", DECLARED)
def test_posteriors_of_ordered_labels_need_the_order_of_their_columns(kind: str) -> None:
    posteriors, codes, sample = problem(3)
    labels = DECLARED[kind](np.array(GRADES)[codes])
    with pytest.raises(DataError, match="ordered bad, fair, best, which is not sorted"):
        OrdinalACC().fit_posteriors(posteriors, labels)
    given = OrdinalACC().fit_posteriors(posteriors, labels, classes=GRADES).aggregate(sample)
    by_number = OrdinalACC().fit_posteriors(posteriors, codes).aggregate(sample)
    assert_allclose(given, by_number, rtol=0, atol=1e-12)


def test_an_order_that_is_not_declared_changes_nothing() -> None:
    posteriors, codes, sample = problem(3)
    names = np.array(["a", "b", "c"])[codes]
    unordered = pd.Categorical(names, ["c", "b", "a"])
    first, second = (
        OrdinalACC().fit_posteriors(posteriors, y).aggregate(sample) for y in (names, unordered)
    )
    assert_allclose(first, second, rtol=0, atol=0)
    # A method to which neighbours mean nothing sorts the classes, as scikit-learn does.
    ordered = pd.Categorical(names, ["c", "b", "a"], ordered=True)
    assert ACC().fit_posteriors(posteriors, ordered).classes_.tolist() == ["a", "b", "c"]


def test_smoothing_moves_what_is_no_polynomial_by_its_part():
    """A quarter of the way to the closest line, which is the one of least squares."""
    p = np.array([0.5, 0.1, 0.05, 0.35])
    line = np.polyval(np.polyfit(np.arange(4), p, 1), np.arange(4))
    assert_allclose(smoother(4, 1, 0.25) @ p, 0.75 * p + 0.25 * line, atol=1e-12)
