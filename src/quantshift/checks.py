"""Checks every quantifier must pass, public so that users' own methods can be held to them.

    for name, check in yield_checks(MyQuantifier()):
        check()

or, all at once, `check_quantifier(MyQuantifier())`. A check that fails raises AssertionError with
the reason.
"""

import pickle
from collections.abc import Callable, Collection, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from quantshift.quantifiers.estimator import AbstractQuantifier
from quantshift.seeding import generator
from quantshift.types import Posteriors, Prevalences

SAME = 1e-9
"""Estimates nearer than this are the same: sums in another order differ in the last digits."""

SEARCHED = 1e-5
"""The same for estimates found by a search, whose path may be mirrored."""

LABEL_TYPES: dict[str, Callable[[NDArray[np.int64]], Any]] = {
    "integers 0 and 1": lambda y: y,
    "integers 1 and 2": lambda y: y + 1,
    "integers -1 and 1": lambda y: 2 * y - 1,
    "booleans": lambda y: y == 1,
    "floats": lambda y: y.astype(float),
    "strings": lambda y: np.array(["ham", "spam"])[y],
    "objects": lambda y: np.array(["ham", "spam"], dtype=object)[y],
    "list": lambda y: y.tolist(),
}


def yield_checks(quantifier: AbstractQuantifier) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yields (name, check) for an unfitted quantifier; each check is a call without arguments."""
    for check in CHECKS:
        yield check.__name__.removeprefix("check_"), partial(check, quantifier)


def check_quantifier(quantifier: AbstractQuantifier, *, skip: Collection[str] = ()) -> None:
    """Run all checks but those named in `skip`; raises at the first that fails."""
    for name, check in yield_checks(quantifier):
        if name not in skip:
            check()


def check_simplex_output(quantifier: AbstractQuantifier) -> None:
    """Estimates are non-negative and sum to one, for two and for three classes."""
    for n_classes in (2, 3):
        X, y, X_new, _ = _problem(n_classes)
        p_hat = clone(quantifier).fit(X, y).predict(X_new)
        _expect(p_hat.shape == (n_classes,), f"shape {p_hat.shape} for {n_classes} classes")
        _expect(bool((p_hat >= 0).all()), f"negative prevalence in {p_hat}")
        _expect(abs(p_hat.sum() - 1) < SAME, f"prevalences {p_hat} do not sum to 1")


def check_item_permutation(quantifier: AbstractQuantifier) -> None:
    """The order of the items of a sample does not matter."""
    fitted, posteriors = _fitted_on_posteriors(quantifier)
    shuffled = generator(0, purpose="permutation").permutation(posteriors)
    _same(fitted.aggregate(posteriors), fitted.aggregate(shuffled), "items in another order")


def check_class_relabelling(quantifier: AbstractQuantifier) -> None:
    """Exchanging the classes exchanges their prevalences."""
    for n_classes in (2, 3):
        posteriors, y, sample = _posteriors(n_classes)
        order = np.roll(np.arange(n_classes), 1)
        renamed = np.argsort(order)[y]
        here = clone(quantifier).fit_posteriors(posteriors, y).aggregate(sample)
        there = (
            clone(quantifier)
            .fit_posteriors(posteriors[:, order], renamed)
            .aggregate(sample[:, order])
        )
        _same(here[order], there, f"{n_classes} classes in another order", tolerance=SEARCHED)


def check_label_types(quantifier: AbstractQuantifier) -> None:
    """Whatever the labels are called, the estimate is the same."""
    X, y, X_new, _ = _problem(2)
    reference = clone(quantifier).fit(X, y).predict(X_new)
    for kind, convert in LABEL_TYPES.items():
        fitted = clone(quantifier).fit(X, convert(y))
        _same(reference, fitted.predict(X_new), f"labels as {kind}")
        expected = np.unique(np.asarray(convert(y)))
        _expect(
            list(fitted.classes_) == list(expected), f"classes_ is {fitted.classes_} for {kind}"
        )


def check_batch_equals_loop(quantifier: AbstractQuantifier) -> None:
    """Samples aggregated together get the estimates they get alone."""
    fitted, posteriors = _fitted_on_posteriors(quantifier)
    index = generator(0, purpose="batch").integers(len(posteriors), size=(2, 3, 50))
    together = fitted.aggregate(posteriors[index])
    _expect(together.shape[:2] == (2, 3), f"leading axes lost: shape {together.shape}")
    for place in np.ndindex(2, 3):
        _same(together[place], fitted.aggregate(posteriors[index[place]]), "a sample in a batch")


def check_pool_equals_loop(quantifier: AbstractQuantifier) -> None:
    """Samples given as index arrays of unequal size get the estimates they get alone."""
    fitted, posteriors = _fitted_on_posteriors(quantifier)
    rng = generator(0, purpose="pool")
    rows = [rng.integers(len(posteriors), size=size) for size in (40, 1, 40, 7, 100)]
    padded = np.full((5, 100), -1)
    for i, row in enumerate(rows):
        padded[i, : row.size] = row
    for samples in (rows, padded):
        together = fitted.aggregate(posteriors, samples)
        for i, row in enumerate(rows):
            _same(together[i], fitted.aggregate(posteriors[row]), "a sample of a pool")


def check_duplicated_sample(quantifier: AbstractQuantifier) -> None:
    """Twice the same items are the same sample."""
    fitted, posteriors = _fitted_on_posteriors(quantifier)
    twice = np.concatenate([posteriors, posteriors])
    _same(fitted.aggregate(posteriors), fitted.aggregate(twice), "the sample given twice")


def check_one_item_sample(quantifier: AbstractQuantifier) -> None:
    """One item is a sample."""
    fitted, posteriors = _fitted_on_posteriors(quantifier)
    for item in range(5):
        _on_simplex(fitted.aggregate(posteriors[item : item + 1]))


def check_extreme_posteriors(quantifier: AbstractQuantifier) -> None:
    """Posteriors of exactly 0 and 1 work, in training and in samples of one class."""
    y = np.array([0, 1] * 20)
    sharp = np.eye(2)[y]
    fitted = clone(quantifier).fit_posteriors(sharp, y)
    for sample in (sharp, np.eye(2)[[0] * 10], np.eye(2)[[1] * 10]):
        p_hat = fitted.aggregate(sample)
        _on_simplex(p_hat)
        if fitted.uses_classifier:
            _same(p_hat, sample.mean(axis=0), "a perfect classifier", tolerance=0.03)


def check_single_class_sample(quantifier: AbstractQuantifier) -> None:
    """A sample of one class only is a sample."""
    X, y, X_new, y_new = _problem(2)
    fitted = clone(quantifier).fit(X, y)
    for code in (0, 1):
        _on_simplex(fitted.predict(X_new[y_new == code]))


def check_clone_and_parameters(quantifier: AbstractQuantifier) -> None:
    """Cloning keeps the parameters, and setting them to themselves changes nothing."""
    copy = clone(quantifier)
    here, there = quantifier.get_params(deep=False), copy.get_params(deep=False)
    _expect(here.keys() == there.keys(), "clone has other parameters")
    _expect(copy.set_params(**there) is copy, "set_params does not return self")
    X, y, X_new, _ = _problem(2)
    _same(clone(quantifier).fit(X, y).predict(X_new), copy.fit(X, y).predict(X_new), "a clone")


def check_pickle_round_trip(quantifier: AbstractQuantifier) -> None:
    """A pickled quantifier gives the same estimate, to the last bit."""
    X, y, X_new, _ = _problem(2)
    fitted = clone(quantifier).fit(X, y)
    back = pickle.loads(pickle.dumps(fitted))  # noqa: S301 -- our own bytes
    _same(fitted.predict(X_new), back.predict(X_new), "a pickled quantifier", tolerance=0)


def check_fit_is_repeatable(quantifier: AbstractQuantifier) -> None:
    """Fitting twice with the same seed gives the same estimate, whatever numpy's global state."""
    X, y, X_new, _ = _problem(2)
    first = clone(quantifier).fit(X, y).predict(X_new)
    again = clone(quantifier).fit(X, y)
    _same(first, again.predict(X_new), "a second fit", tolerance=0)
    _same(first, again.fit(X, y).predict(X_new), "a refit of the same object", tolerance=0)


def check_sparse_input(quantifier: AbstractQuantifier) -> None:
    """Sparse features are features."""
    X, y, X_new, _ = _problem(2)
    dense = clone(quantifier).fit(X, y).predict(X_new)
    sparse = clone(quantifier).fit(csr_array(X), y).predict(csr_array(X_new))
    # The classifier's own optimiser may end elsewhere within its tolerance.
    _same(dense, sparse, "sparse input", tolerance=1e-2)


def check_unfitted_is_refused(quantifier: AbstractQuantifier) -> None:
    """An unfitted quantifier says so."""
    try:
        clone(quantifier).aggregate(np.full((3, 2), 0.5))
    except NotFittedError:
        return
    raise AssertionError("an unfitted quantifier gave an estimate")


def check_bad_input_is_refused(quantifier: AbstractQuantifier) -> None:
    """What cannot be right is a ValueError, never an estimate."""
    posteriors, y, _ = _posteriors(2)
    fitted = clone(quantifier).fit_posteriors(posteriors, y)
    good = posteriors[:4]
    _refuses(lambda: fitted.aggregate(good * np.nan), "NaN posteriors")
    _refuses(lambda: fitted.aggregate(good + np.inf), "infinite posteriors")
    _refuses(lambda: fitted.aggregate(good * 0.5), "rows that sum to 0.5")
    _refuses(lambda: fitted.aggregate(good[:0]), "an empty sample")
    _refuses(lambda: fitted.aggregate(good[:, :1]), "a single column")
    _refuses(lambda: fitted.aggregate(np.full((4, 3), 1 / 3)), "a column too many")
    _refuses(lambda: fitted.aggregate(good, [[0, 9]]), "an item outside the pool")
    _refuses(lambda: fitted.aggregate(good, [[0], []]), "an empty sample in a batch")
    _refuses(lambda: clone(quantifier).fit_posteriors(good, [1, 1, 1, 1]), "a single class")
    _refuses(lambda: clone(quantifier).fit_posteriors(good, [0, 1]), "fewer labels than rows")
    _refuses(lambda: clone(quantifier).fit(np.zeros((4, 1)), [0, 0, 0, 0]), "a single class")
    _refuses(lambda: clone(quantifier).fit(np.zeros((4, 1)), [0, 1]), "fewer labels than items")


CHECKS = (
    check_simplex_output,
    check_item_permutation,
    check_class_relabelling,
    check_label_types,
    check_batch_equals_loop,
    check_pool_equals_loop,
    check_duplicated_sample,
    check_one_item_sample,
    check_extreme_posteriors,
    check_single_class_sample,
    check_clone_and_parameters,
    check_pickle_round_trip,
    check_fit_is_repeatable,
    check_sparse_input,
    check_unfitted_is_refused,
    check_bad_input_is_refused,
)


def _problem(
    n_classes: int,
) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[Any], NDArray[np.int64]]:
    """Overlapping Gaussians: (X, y, X_new, y_new), the new sample at another prevalence."""
    rng = generator(0, purpose="checks", n_classes=n_classes)
    centres = 2.5 * np.eye(n_classes)
    y = np.repeat(np.arange(n_classes), 60)
    y_new = np.repeat(np.arange(n_classes), np.arange(n_classes, 0, -1) * 20)
    X = centres[y] + rng.normal(size=(len(y), n_classes))
    return X, y, centres[y_new] + rng.normal(size=(len(y_new), n_classes)), y_new


def _posteriors(n_classes: int) -> tuple[Posteriors, NDArray[np.int64], Posteriors]:
    """Posteriors of labelled items, the labels, and posteriors of a new sample."""
    X, y, X_new, _ = _problem(n_classes)
    scores = [np.exp(1.2 * features) for features in (X, X_new)]
    known, new = (s / s.sum(axis=1, keepdims=True) for s in scores)
    return known, y, new


def _fitted_on_posteriors(quantifier: AbstractQuantifier) -> tuple[AbstractQuantifier, Posteriors]:
    posteriors, y, sample = _posteriors(2)
    return clone(quantifier).fit_posteriors(posteriors, y), sample


def _expect(condition: bool, complaint: str) -> None:
    if not condition:
        raise AssertionError(complaint)


def _same(expected: Prevalences, got: Prevalences, what: str, tolerance: float = SAME) -> None:
    difference = float(np.abs(expected - got).max())
    _expect(difference <= tolerance, f"{what} gives {got} instead of {expected}")


def _on_simplex(p_hat: Prevalences) -> None:
    inside = (p_hat >= 0).all() and abs(p_hat.sum() - 1) < SAME
    _expect(bool(inside), f"{p_hat} is not a prevalence")


def _refuses(call: Callable[[], object], what: str) -> None:
    try:
        result = call()
    except ValueError as error:
        _expect(len(str(error).splitlines()) == 1, f"the error for {what} is not one line")
        return
    raise AssertionError(f"{what} gave {result} instead of an error")
