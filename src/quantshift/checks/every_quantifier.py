"""Checks every quantifier must pass, public so that users' own methods can be held to them.

    for name, check in yield_checks(MyQuantifier()):
        check()

or, all at once, `check_quantifier(MyQuantifier())`. A check that fails raises AssertionError with
the reason. Which checks apply to a quantifier depends on what it can do: all use features or
posteriors; most can be computed from posteriors alone, accept weights and have intervals.

Any class with fit(X, y) and predict(X), or an object of one, can be checked too; it is wrapped.
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

from quantshift.base.seeding import generator
from quantshift.base.types import Posteriors, Prevalences
from quantshift.errors import UserError
from quantshift.quantifiers.base.estimator import AbstractClassifying, AbstractQuantifier
from quantshift.quantifiers.base.foreign import ForeignQuantifier, is_quantifier
from quantshift.quantifiers.base.given import refuse_pipeline

SAME = 1e-9
"""Estimates closer than this are the same: sums in another order differ in the last digits."""

SEARCHED = 1e-5
"""The same for estimates found by a search, whose path may be mirrored."""

SOLVED = 1e-6
"""The same for estimates that depend on an iteration, such as a calibration."""

DRAWN = 0.2
"""How far a prior may shrink the estimate of 10 items away from their true prevalence."""

MANY = 10
"""Numbers of classes are two, three and this many."""

LARGE = 6000
"""Items of a large sample, and of its training set; a third of it if a classifier is fitted."""

OVERLAP = 1.5
"""Distance of the classes' centres from the origin there: a third of the items is misclassified."""

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


def yield_checks(quantifier: Any) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yields (name, check) for an unfitted quantifier; each check is a call without arguments.

    quantifier: one of quantshift or derived from one, or any class or object with fit(X, y) and
        predict(X) or quantify(X), which is wrapped (`quantshift.quantifiers.wrap`).
    """
    checked = _as_quantifier(quantifier)
    for applies, checks in GROUPS:
        for check in checks if applies(checked) else ():
            yield check.__name__.removeprefix("check_"), partial(check, checked)


def check_quantifier(quantifier: Any, *, skip: Collection[str] = ()) -> None:
    """Run all checks but those named in `skip`; raises at the first that fails.

    Parameters
    ----------
    quantifier : quantifier
        As in `yield_checks`.
    skip : sequence of str
        Names of checks to leave out.

    Examples
    --------
    >>> from quantshift import CC
    >>> from quantshift.checks import check_quantifier
    >>> check_quantifier(CC(), skip=["pickling"])
    """
    for name, check in yield_checks(quantifier):
        if name not in skip:
            check()


def check_simplex_output(quantifier: AbstractQuantifier) -> None:
    """Estimates are non-negative and sum to one, for two and three classes.

    Also for ten, if no classifier has to be fitted; `check_posteriors_as_items` has ten classes for
    methods that use posteriors.
    """
    needs_classifier = quantifier.tags.own_classifier or isinstance(quantifier, AbstractClassifying)
    for n_classes in (2, 3) if needs_classifier else (2, 3, MANY):
        X, y, X_new, _ = _problem(n_classes)
        p_hat = clone(quantifier).fit(X, y).predict(X_new)
        _expect(p_hat.shape == (n_classes,), f"shape {p_hat.shape} for {n_classes} classes")
        _expect(bool((p_hat >= 0).all()), f"negative prevalence in {p_hat}")
        _expect(abs(p_hat.sum() - 1) < SAME, f"prevalences {p_hat} do not sum to 1")


def check_item_permutation(quantifier: AbstractQuantifier) -> None:
    """The order of the items of a sample does not matter."""
    fitted, X = _fitted(quantifier)
    shuffled = generator(0, purpose="permutation").permutation(len(X))
    _same(fitted.predict(X), fitted.predict(X[shuffled]), "items in another order")


def check_samples_equal_loop(quantifier: AbstractQuantifier) -> None:
    """Samples given as index arrays of unequal size get the estimates they get alone."""
    fitted, X = _fitted(quantifier)
    rng = generator(0, purpose="pool")
    rows = [rng.integers(len(X), size=size) for size in (30, 1, 30, 7)]
    together = fitted.predict(X, rows)
    for i, row in enumerate(rows):
        _same(together[i], fitted.predict(X[row]), "a sample of a pool")
    items = fitted.items(X)
    _same(together, fitted.estimate_items(items, rows).prevalence, "items", tolerance=0)


def check_duplicated_sample(quantifier: AbstractQuantifier) -> None:
    """Giving every item twice does not change the estimate."""
    fitted, X = _fitted(quantifier)
    _same(fitted.predict(X), fitted.predict(np.concatenate([X, X])), "the sample given twice")


def check_one_item_sample(quantifier: AbstractQuantifier) -> None:
    """A sample of one item gets an estimate."""
    fitted, X = _fitted(quantifier)
    for item in range(5):
        _on_simplex(fitted.predict(X[item : item + 1]))


def check_declared_diagnostics(quantifier: AbstractQuantifier) -> None:
    """The diagnostics reported for every sample are the declared ones, in name and type."""
    fitted, X = _fitted(quantifier)
    reported = fitted.estimate(X, [[0, 1, 2], [3, 4]]).diagnostics
    kinds = {name: values.dtype.kind for name, values in reported.items() if values.ndim == 1}
    dtype_kinds = {"bool": "b", "int": "i", "float": "f"}
    declared = {name: dtype_kinds[kind] for name, kind in quantifier.diagnostics.items()}
    _expect(kinds == declared, f"declares {dict(quantifier.diagnostics)} but reports {kinds}")


def check_class_relabelling(quantifier: AbstractQuantifier) -> None:
    """Exchanging the classes exchanges their prevalences.

    Methods with a positive class are checked with three classes only.
    """
    for n_classes in (3,) if quantifier.tags.positive_class else (2, 3):
        X, y, X_new, _ = _problem(n_classes)
        order = _another_order(quantifier, n_classes)
        original = clone(quantifier).fit(X, y).predict(X_new)
        reordered = clone(quantifier).fit(X, np.argsort(order)[y]).predict(X_new)
        # The classifier's optimiser may stop at another point within its tolerance.
        _same(original[order], reordered, f"{n_classes} classes in another order", tolerance=1e-2)


def check_columns_in_another_order(quantifier: AbstractClassifying) -> None:
    """Exchanging the columns of posteriors, and the labels, exchanges the prevalences.

    Methods with a positive class are checked with more than two classes only.
    """
    for n_classes in (3, MANY) if quantifier.tags.positive_class else (2, 3, MANY):
        posteriors, y, sample = _posteriors(n_classes)
        order = _another_order(quantifier, n_classes)
        renamed = np.argsort(order)[y]
        original = clone(quantifier).fit_posteriors(posteriors, y).aggregate(sample)
        reordered = (
            clone(quantifier)
            .fit_posteriors(posteriors[:, order], renamed)
            .aggregate(sample[:, order])
        )
        _same(
            original[order], reordered, f"{n_classes} classes in another order", tolerance=SEARCHED
        )


def check_label_types(quantifier: AbstractQuantifier) -> None:
    """The type and the names of the labels do not change the estimate."""
    X, y, X_new, _ = _problem(2)
    reference = clone(quantifier).fit(X, y).predict(X_new)
    for kind, convert in LABEL_TYPES.items():
        fitted = clone(quantifier).fit(X, convert(y))
        _same(reference, fitted.predict(X_new), f"labels as {kind}")
        expected = np.unique(np.asarray(convert(y)))
        _expect(
            list(fitted.classes_) == list(expected), f"classes_ is {fitted.classes_} for {kind}"
        )


def check_batch_equals_loop(quantifier: AbstractClassifying) -> None:
    """Samples aggregated together get the estimates they get alone."""
    for n_classes in (2, 3, MANY):
        fitted, posteriors = _fitted_on_posteriors(quantifier, n_classes)
        index = generator(0, purpose="batch").integers(len(posteriors), size=(2, 3, 50))
        together = fitted.aggregate(posteriors[index])
        _expect(together.shape[:2] == (2, 3), f"leading axes lost: shape {together.shape}")
        for position in np.ndindex(2, 3):
            alone = fitted.aggregate(posteriors[index[position]])
            _same(together[position], alone, f"a sample of {n_classes} classes in a batch")


def check_pool_equals_loop(quantifier: AbstractClassifying) -> None:
    """Samples of one pool of posteriors get the estimates they get alone."""
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


def check_posteriors_as_items(quantifier: AbstractClassifying) -> None:
    """The order of items does not matter, and single items get an estimate."""
    for n_classes in (2, 3, MANY):
        fitted, posteriors = _fitted_on_posteriors(quantifier, n_classes)
        shuffled = generator(0, purpose="permutation").permutation(posteriors)
        case = f"items of {n_classes} classes in another order"
        p_hat = fitted.aggregate(posteriors)
        _on_simplex(p_hat)
        # With many classes a search may end a little earlier or later, by rounding errors.
        tolerance = SOLVED if n_classes == MANY else SAME
        _same(p_hat, fitted.aggregate(shuffled), case, tolerance)
        for item in range(5):
            _on_simplex(fitted.aggregate(posteriors[item : item + 1]))


def check_posteriors_given_twice(quantifier: AbstractClassifying) -> None:
    """Giving every item's posteriors twice does not change the estimate."""
    fitted, posteriors = _fitted_on_posteriors(quantifier)
    twice = np.concatenate([posteriors, posteriors])
    _same(fitted.aggregate(posteriors), fitted.aggregate(twice), "the sample given twice")


def check_extreme_posteriors(quantifier: AbstractClassifying) -> None:
    """Posteriors of exactly 0 and 1 work, in training and in samples of one class."""
    y = np.array([0, 1] * 20)
    sharp = np.eye(2)[y]
    fitted = clone(quantifier).fit_posteriors(sharp, y)
    for sample in (sharp, np.eye(2)[[0] * 10], np.eye(2)[[1] * 10]):
        p_hat = fitted.aggregate(sample)
        _on_simplex(p_hat)
        if fitted.tags.sees:
            near = DRAWN if fitted.shrinks else 0.03
            _same(p_hat, sample.mean(axis=0), "a perfect classifier", tolerance=near)


def check_single_class_sample(quantifier: AbstractQuantifier) -> None:
    """A sample with items of one class only gets an estimate."""
    X, y, X_new, y_new = _problem(2)
    fitted = clone(quantifier).fit(X, y)
    for code in (0, 1):
        _on_simplex(fitted.predict(X_new[y_new == code]))


def check_clone_and_parameters(quantifier: AbstractQuantifier) -> None:
    """Cloning keeps the parameters, and setting them to themselves changes nothing."""
    copy = clone(quantifier)
    parameters, cloned = quantifier.get_params(deep=False), copy.get_params(deep=False)
    _expect(parameters.keys() == cloned.keys(), "clone has other parameters")
    _expect(copy.set_params(**cloned) is copy, "set_params does not return self")
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
    """Sparse features give the same estimate as dense ones."""
    X, y, X_new, _ = _problem(2)
    dense = clone(quantifier).fit(X, y).predict(X_new)
    sparse = clone(quantifier).fit(csr_array(X), y).predict(csr_array(X_new))
    # The classifier's optimiser may stop at another point within its tolerance.
    _same(dense, sparse, "sparse input", tolerance=1e-2)


def check_unfitted_is_refused(quantifier: AbstractQuantifier) -> None:
    """An unfitted quantifier raises NotFittedError."""
    try:
        clone(quantifier).predict(np.full((3, 2), 0.5))
    except NotFittedError:
        return
    raise AssertionError("an unfitted quantifier gave an estimate")


def check_bad_input_is_refused(quantifier: AbstractQuantifier) -> None:
    """Invalid input is a ValueError, never an estimate."""
    fitted, X = _fitted(quantifier)
    _refuses(lambda: fitted.predict(X[:0]), "an empty sample")
    _refuses(lambda: fitted.predict(X, [[0, len(X)]]), "an item outside the pool")
    _refuses(lambda: fitted.predict(X, [[0], []]), "an empty sample in a batch")
    _refuses(lambda: clone(quantifier).fit(np.zeros((4, 1)), [0, 0, 0, 0]), "a single class")
    _refuses(lambda: clone(quantifier).fit(np.zeros((4, 1)), [0, 1]), "fewer labels than items")


def check_bad_posteriors_are_refused(quantifier: AbstractClassifying) -> None:
    """Invalid posteriors are a ValueError, never an estimate.

    Methods that do not see posteriors check their shape only.
    """
    posteriors, y, _ = _posteriors(2)
    fitted = clone(quantifier).fit_posteriors(posteriors, y)
    good = posteriors[:4]
    if fitted.tags.sees:
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


def check_other_features_are_refused(quantifier: AbstractQuantifier) -> None:
    """A sample with fewer features than the training items is a ValueError."""
    fitted, X = _fitted(quantifier)
    _refuses(lambda: fitted.predict(X[:, :1]), "a feature missing")


def check_equal_weights_are_none(quantifier: AbstractQuantifier) -> None:
    """Weights that are all equal change nothing, to the last bit."""
    X, y, X_new, _ = _problem(2)
    plain = clone(quantifier).fit(X, y)
    same = clone(quantifier).fit(X, y, np.full(len(y), 3.0))
    _same(plain.predict(X_new), same.predict(X_new), "equal weights in training", tolerance=0)
    heavy = plain.predict(X_new, sample_weight=np.full(len(X_new), 0.5))
    _same(plain.predict(X_new), heavy, "equal weights in the sample", tolerance=0)


def check_whole_weights_are_repeated_items(quantifier: AbstractQuantifier) -> None:
    """An item of weight 3 in a sample counts as three such items, one of weight 0 as none."""
    fitted, X = _fitted(quantifier)
    weights = np.arange(len(X)) % 4
    repeated = np.repeat(np.arange(len(X)), weights)
    weighted, unweighted = fitted.predict(X, sample_weight=weights), fitted.predict(X[repeated])
    _same(unweighted, weighted, "a weighted sample")


def check_weighted_training_items(quantifier: AbstractQuantifier) -> None:
    """Whole weights are repeated items in training too, if nothing is drawn at random before."""
    weights = np.arange(120) % 3 + (np.arange(120) % 60 == 0)
    repeated = np.repeat(np.arange(120), weights)
    if isinstance(quantifier, AbstractClassifying):
        posteriors, y, new = _posteriors(2)
        weighted = clone(quantifier).fit_posteriors(posteriors, y, sample_weight=weights)
        unweighted = clone(quantifier).fit_posteriors(posteriors[repeated], y[repeated])
        _same(unweighted.aggregate(new), weighted.aggregate(new), "weighted training items", SOLVED)
    elif not quantifier.tags.own_classifier and "cv" not in quantifier.get_params(deep=False):
        X, y, X_new, _ = _problem(2)
        plain = clone(quantifier).fit(X[repeated], y[repeated])
        _same(
            plain.predict(X_new),
            clone(quantifier).fit(X, y, weights).predict(X_new),
            "weighted training items",
        )


def check_bad_weights_are_refused(quantifier: AbstractQuantifier) -> None:
    """Invalid weights are a ValueError of one line."""
    X, y, X_new, _ = _problem(2)
    fitted, weights_by_position = clone(quantifier).fit(X, y), np.arange(len(X_new), dtype=float)
    bad_weights = {
        "a negative weight": weights_by_position - 1,
        "a weight that is not a number": np.where(
            weights_by_position == 3, np.nan, weights_by_position
        ),
        "an infinite weight": np.where(weights_by_position == 3, np.inf, weights_by_position),
        "a weight too few": weights_by_position[1:],
        "weights that are all zero": 0 * weights_by_position,
    }
    for case, weights in bad_weights.items():
        _refuses(partial(fitted.predict, X_new, sample_weight=weights), case)
    first = np.arange(len(X_new)) > 0
    _refuses(
        lambda: fitted.predict(X_new, [[0], [1, 2]], sample_weight=first), "a sample of weight zero"
    )
    _refuses(lambda: clone(quantifier).fit(X, y, 1.0 * (y == 0)), "a class of weight zero")
    _refuses(lambda: clone(quantifier).fit(X, y, y - 0.5), "a negative weight in training")


def check_interval_around_estimate(quantifier: AbstractQuantifier) -> None:
    """An interval contains the estimate and lies within 0 and 1, also with weights."""
    fitted, X = _fitted(quantifier)
    weights = np.arange(len(X)) % 3 if fitted.takes_weights else None
    interval = fitted.predict_interval(X, n_bootstrap=4, sample_weight=weights)
    _same(
        interval.prevalence, fitted.predict(X, sample_weight=weights), "the middle of an interval"
    )
    inside = (interval.low <= interval.prevalence) & (interval.prevalence <= interval.high)
    _expect(bool(inside.all()), "the estimate is outside its own interval")
    _expect(bool((interval.low >= 0).all() and (interval.high <= 1).all()), "limits beyond 0 or 1")


def check_right_for_two_classes(quantifier: AbstractQuantifier) -> None:
    """Under prior shift, the error on a large sample is at most half that of counting.

    The classifier errs more on some classes than on others, so that estimates are wrong if rates of
    classes are confused. Applies to methods that adjust, and to wrapped ones. A method that does
    not, or that is made for another shift, is right to fail: name the check in `skip`.
    """
    _check_right(quantifier, 2)


def check_right_for_three_classes(quantifier: AbstractQuantifier) -> None:
    """The same for three classes."""
    _check_right(quantifier, 3)


def check_right_for_many_classes(quantifier: AbstractQuantifier) -> None:
    """The same for ten classes."""
    _check_right(quantifier, MANY)


def _check_right(quantifier: AbstractQuantifier, n_classes: int) -> None:
    size = LARGE // 3 if quantifier.tags.own_classifier else LARGE
    X, y, X_new, y_new = _shifted_problem(n_classes, size)
    posteriors, sample = (_honest_posteriors(features, y) for features in (X, X_new))
    if isinstance(quantifier, AbstractClassifying):
        p_hat = clone(quantifier).fit_posteriors(posteriors, y).aggregate(sample)
    else:
        p_hat = clone(quantifier).fit(X, y).predict(X_new)
    p_true = np.bincount(y_new) / len(y_new)
    counted = np.bincount(sample.argmax(axis=1), minlength=n_classes) / len(y_new)
    allowed = float(np.abs(counted - p_true).max()) / 2
    error = float(np.abs(p_hat - p_true).max())
    _expect(
        error <= allowed,
        f"with {n_classes} classes, the estimate of {len(y_new):,} items under prior shift is "
        f"{_rounded(p_hat)}, and {_rounded(p_true)} is right",
    )


Check = Callable[[Any], None]

GROUPS: tuple[tuple[Callable[[AbstractQuantifier], bool], tuple[Check, ...]], ...] = (
    (
        lambda quantifier: True,
        (
            check_simplex_output,
            check_item_permutation,
            check_class_relabelling,
            check_label_types,
            check_samples_equal_loop,
            check_one_item_sample,
            check_single_class_sample,
            check_declared_diagnostics,
            check_clone_and_parameters,
            check_pickle_round_trip,
            check_fit_is_repeatable,
            check_sparse_input,
            check_unfitted_is_refused,
            check_bad_input_is_refused,
        ),
    ),
    (
        lambda quantifier: isinstance(quantifier, AbstractClassifying),
        (
            check_posteriors_as_items,
            check_columns_in_another_order,
            check_batch_equals_loop,
            check_pool_equals_loop,
            check_extreme_posteriors,
            check_bad_posteriors_are_refused,
        ),
    ),
    (
        lambda quantifier: (
            (quantifier.tags.adjusts and bool(quantifier.tags.sees))
            or isinstance(quantifier, ForeignQuantifier)
        ),
        (check_right_for_two_classes, check_right_for_three_classes),
    ),
    (
        # A classifier of ten classes is fitted by the method itself, which may take long.
        lambda quantifier: (
            quantifier.tags.adjusts
            and bool(quantifier.tags.sees)
            and not quantifier.tags.own_classifier
        ),
        (check_right_for_many_classes,),
    ),
    (lambda quantifier: not quantifier.shrinks, (check_duplicated_sample,)),
    (
        lambda quantifier: isinstance(quantifier, AbstractClassifying) and not quantifier.shrinks,
        (check_posteriors_given_twice,),
    ),
    (lambda quantifier: "features" in quantifier.tags.sees, (check_other_features_are_refused,)),
    (
        lambda quantifier: quantifier.takes_weights,
        (
            check_equal_weights_are_none,
            check_whole_weights_are_repeated_items,
            check_weighted_training_items,
            check_bad_weights_are_refused,
        ),
    ),
    (lambda quantifier: not quantifier.tags.no_interval, (check_interval_around_estimate,)),
)
"""Groups of checks, each with a condition for the quantifiers it applies to."""


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


def _shifted_problem(
    n_classes: int, size: int
) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[Any], NDArray[np.int64]]:
    """Overlapping Gaussians: (X, y, X_new, y_new), the first class common, and then the last."""
    rng = generator(0, purpose="checks of large samples", n_classes=n_classes)
    shares = np.linspace(4, 1, n_classes)
    counts = np.round(size * shares / shares.sum()).astype(np.int64)
    y, y_new = (np.repeat(np.arange(n_classes), of_class) for of_class in (counts, counts[::-1]))
    X, X_new = (
        OVERLAP * np.eye(n_classes)[labels] + rng.normal(size=(len(labels), n_classes))
        for labels in (y, y_new)
    )
    return X, y, X_new, y_new


def _honest_posteriors(X: NDArray[Any], y: NDArray[np.int64]) -> Posteriors:
    """P(class | features) of `_shifted_problem` at the training prevalence."""
    prior = np.bincount(y) / len(y)
    scores = prior * np.exp(OVERLAP * (X - X.max(axis=1, keepdims=True)))
    return np.asarray(scores / scores.sum(axis=1, keepdims=True))


def _as_quantifier(quantifier: Any) -> AbstractQuantifier:
    if isinstance(quantifier, AbstractQuantifier):
        return quantifier
    refuse_pipeline(quantifier, "check_quantifier")
    cls = quantifier if isinstance(quantifier, type) else type(quantifier)
    if issubclass(cls, AbstractQuantifier):
        return quantifier()  # type: ignore[no-any-return]
    if not is_quantifier(cls):
        raise UserError(
            f"{cls.__name__} is not a quantifier; give it fit(X, y) and predict(X), or derive it "
            "from quantshift.quantifiers.AbstractQuantifier"
        )
    return ForeignQuantifier(quantifier)


def _rounded(p: Prevalences) -> list[float]:
    return [round(float(share), 3) for share in p]


def _posteriors(n_classes: int) -> tuple[Posteriors, NDArray[np.int64], Posteriors]:
    """Posteriors of labelled items, the labels, and posteriors of a new sample."""
    X, y, X_new, _ = _problem(n_classes)
    scores = [np.exp(1.2 * features) for features in (X, X_new)]
    labelled, new = (s / s.sum(axis=1, keepdims=True) for s in scores)
    return labelled, y, new


def _another_order(quantifier: AbstractQuantifier, n_classes: int) -> NDArray[np.int64]:
    """The classes in another order: reversed, if it matters to the method which are neighbours."""
    classes = np.arange(n_classes)
    return classes[::-1] if quantifier.tags.ordered else np.roll(classes, 1)


def _fitted(quantifier: AbstractQuantifier) -> tuple[AbstractQuantifier, NDArray[Any]]:
    """The quantifier fitted on features, and the features of a sample."""
    X, y, X_new, _ = _problem(2)
    return clone(quantifier).fit(X, y), X_new


def _fitted_on_posteriors(
    quantifier: AbstractClassifying, n_classes: int = 2
) -> tuple[AbstractClassifying, Posteriors]:
    posteriors, y, sample = _posteriors(n_classes)
    return clone(quantifier).fit_posteriors(posteriors, y), sample


def _expect(condition: bool, message: str) -> None:
    if not condition:
        raise AssertionError(message)


def _same(expected: Prevalences, got: Prevalences, case: str, tolerance: float = SAME) -> None:
    difference = float(np.abs(expected - got).max())
    _expect(difference <= tolerance, f"{case} gives {got} instead of {expected}")


def _on_simplex(p_hat: Prevalences) -> None:
    inside = (p_hat >= 0).all() and abs(p_hat.sum() - 1) < SAME
    _expect(bool(inside), f"{p_hat} is not a prevalence")


def _refuses(call: Callable[[], object], case: str) -> None:
    try:
        result = call()
    except ValueError as error:
        _expect(len(str(error).splitlines()) == 1, f"the error for {case} is not one line")
        return
    raise AssertionError(f"{case} gave {result} instead of an error")
