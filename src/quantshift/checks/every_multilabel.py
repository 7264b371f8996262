"""Checks every quantifier of several labels must pass, public like those of `every_quantifier`.

    for name, check in yield_multilabel_checks(MyQuantifier()):
        check()

or, all at once, `check_multilabel_quantifier(MyQuantifier())`. A check that fails raises
AssertionError with the reason.
"""

import pickle
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from quantshift.base.seeding import generator
from quantshift.errors import DataError
from quantshift.multilabel.label_tables import label_table
from quantshift.multilabel.multilabel_quantifier import (
    AbstractLabelAggregative,
    AbstractMultilabel,
)

SAME = 1e-6
"""Estimates closer than this are the same, although found by a search."""

CLOSE = 0.08
"""How far from the truth estimates of a large sample may be, on average over the labels."""


def yield_multilabel_checks(
    quantifier: AbstractMultilabel,
) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yields (name, check) for an unfitted quantifier; each check is a call without arguments."""
    checks: tuple[Callable[[Any], None], ...] = ALL
    if isinstance(quantifier, AbstractLabelAggregative):
        checks = (*checks, check_training_weights, check_label_permutation)
    for check in checks:
        yield check.__name__.removeprefix("check_"), partial(check, quantifier)


def check_multilabel_quantifier(quantifier: AbstractMultilabel) -> None:
    """Run all checks; raises at the first that fails."""
    for _, check in yield_multilabel_checks(quantifier):
        check()


def check_shares(quantifier: AbstractMultilabel) -> None:
    """Estimates are shares, one per label; they need not sum to one."""
    fitted, X = _fitted(quantifier)
    shares = fitted.predict(X)
    _expect(shares.shape == (3,), f"shape {shares.shape} for 3 labels")
    _expect(bool(((shares >= 0) & (shares <= 1)).all()), f"{shares} are not shares")
    for item in range(3):
        _expect(fitted.predict(X[item : item + 1]).shape == (3,), "a sample of one item")


def check_correctness(quantifier: AbstractMultilabel) -> None:
    """Shares of a large sample are close to the truth, without a shift and after one."""
    X, Y = _problem(1500, purpose="training")
    fitted = clone(quantifier).fit(X, Y)
    X_new, Y_new = _problem(3000, purpose="sample")
    rare = np.flatnonzero(~Y_new[:, 0])
    for rows in (np.arange(len(X_new)), np.concatenate([rare, np.flatnonzero(Y_new[:, 0])[:100]])):
        error = np.abs(fitted.predict(X_new[rows]) - Y_new[rows].mean(axis=0)).mean()
        _expect(error < CLOSE, f"the mean error of a large sample is {error:.3f}")


def check_item_permutation(quantifier: AbstractMultilabel) -> None:
    """The order of the items of a sample does not matter."""
    fitted, X = _fitted(quantifier)
    shuffled = generator(0, purpose="permutation").permutation(len(X))
    _same(fitted.predict(X), fitted.predict(X[shuffled]), "items in another order")


def check_samples_equal_loop(quantifier: AbstractMultilabel) -> None:
    """Samples given as index arrays of unequal size get the estimates they get alone."""
    fitted, X = _fitted(quantifier)
    rng = generator(0, purpose="pool")
    rows = [rng.integers(len(X), size=size) for size in (30, 1, 30, 7)]
    together = fitted.predict(X, rows)
    for i, row in enumerate(rows):
        _same(together[i], fitted.predict(X[row]), "a sample of a pool")


def check_weights_are_counts(quantifier: AbstractMultilabel) -> None:
    """An item of weight 2 is two items, one of weight 0 is none."""
    fitted, X = _fitted(quantifier)
    counts = generator(0, purpose="weights").integers(0, 3, size=len(X))
    weighted = fitted.predict(X, sample_weight=counts)
    _same(weighted, fitted.predict(np.repeat(X, counts, axis=0)), "repeated items")


def check_kinds_of_labels(quantifier: AbstractMultilabel) -> None:
    """All ways to give the labels are the same."""
    X, Y = _problem(120)
    expected = clone(quantifier).fit(X, Y).predict(X)
    names = np.array(["a", "b", "c"])
    for words, labels in (
        ("integers", Y.astype(int)),
        ("floats", Y.astype(float)),
        ("a sparse matrix", csr_array(Y.astype(int))),
        ("sets", [set(names[row]) for row in Y]),
    ):
        _same(clone(quantifier).fit(X, labels).predict(X), expected, f"labels as {words}")
    _expect(label_table([set(names[row]) for row in Y]).names.tolist() == names.tolist(), "names")


def check_clone_and_pickle(quantifier: AbstractMultilabel) -> None:
    """A fitted copy gives the same, and fitting again too."""
    fitted, X = _fitted(quantifier)
    expected = fitted.predict(X)
    copied = pickle.loads(pickle.dumps(fitted))  # noqa: S301 - made here
    _same(copied.predict(X), expected, "a pickled copy", tolerance=0)
    again, _ = _fitted(quantifier)
    _same(again.predict(X), expected, "the same fit again", tolerance=0)


def check_bad_input(quantifier: AbstractMultilabel) -> None:
    """What cannot be estimated is refused in one line."""
    X, Y = _problem(60)
    never, always = Y.copy(), Y.copy()
    never[:, 1], always[:, 1] = False, True
    for words, arguments in (
        ("a label that never occurs", (X, never)),
        ("a label on every item", (X, always)),
        ("fewer labels than items", (X, Y[:-1])),
        ("indicators other than 0 and 1", (X, Y * 2)),
    ):
        _refused(partial(clone(quantifier).fit, *arguments), DataError, words)
    _refused(lambda: clone(quantifier).predict(X), NotFittedError, "a quantifier without a fit")
    _refused(lambda: clone(quantifier).fit(X, Y).predict(X[:0]), DataError, "an empty sample")


def check_training_weights(quantifier: AbstractLabelAggregative) -> None:
    """Training items of weight 2 are two items each, in what is learnt from their posteriors."""
    posteriors, Y = _posteriors()
    counts = generator(0, purpose="training weights").integers(1, 3, size=len(Y))
    weighted = clone(quantifier).fit_posteriors(posteriors, Y, sample_weight=counts)
    repeated = clone(quantifier).fit_posteriors(
        np.repeat(posteriors, counts, axis=0), np.repeat(Y, counts, axis=0)
    )
    difference = np.abs(weighted.aggregate(posteriors) - repeated.aggregate(posteriors)).max()
    # What is chosen on samples drawn from training may differ, since other samples are drawn.
    _expect(difference < CLOSE, f"weighted and repeated training items differ by {difference}")


def check_label_permutation(quantifier: AbstractLabelAggregative) -> None:
    """The order of the labels does not matter."""
    posteriors, Y = _posteriors()
    expected = clone(quantifier).fit_posteriors(posteriors, Y).aggregate(posteriors)
    order = np.array([2, 0, 1])
    turned = clone(quantifier).fit_posteriors(posteriors[:, order], Y[:, order])
    difference = np.abs(turned.aggregate(posteriors[:, order]) - expected[order]).max()
    _expect(difference < CLOSE / 4, f"labels in another order differ by {difference}")


ALL = (
    check_shares,
    check_correctness,
    check_item_permutation,
    check_samples_equal_loop,
    check_weights_are_counts,
    check_kinds_of_labels,
    check_clone_and_pickle,
    check_bad_input,
)


def _problem(
    n_items: int, *, purpose: str = "training"
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Items with three labels, of which the second mostly comes with the first."""
    rng = generator(0, purpose=purpose, n_items=n_items)
    first = rng.random(n_items) < 0.4
    second = rng.random(n_items) < np.where(first, 0.7, 0.1)
    third = rng.random(n_items) < 0.3
    Y = np.column_stack([first, second, third])
    return 2.0 * Y + rng.normal(size=(n_items, 3)), Y


def _posteriors() -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    X, Y = _problem(300)
    return 1 / (1 + np.exp(-1.5 * (X - 1.0))), Y


def _fitted(quantifier: Any) -> tuple[Any, NDArray[np.float64]]:
    X, Y = _problem(150)
    return clone(quantifier).fit(X, Y), _problem(60, purpose="sample")[0]


def _refused(call: Callable[[], Any], kind: type[Exception], words: str) -> None:
    try:
        call()
    except kind as error:
        _expect("\n" not in str(error), f"the message about {words} has more than one line")
        return
    raise AssertionError(f"{words}: expected {kind.__name__}")


def _same(left: Any, right: Any, words: str, *, tolerance: float = SAME) -> None:
    difference = float(np.abs(left - right).max())
    _expect(difference <= tolerance, f"{words}: estimates differ by {difference}")


def _expect(condition: bool, message: str) -> None:
    if not condition:
        raise AssertionError(message)
