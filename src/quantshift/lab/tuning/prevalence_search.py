"""Hyper-parameters with the smallest quantification error on samples of held-out items.

A quantifier is tuned by what it is for: estimates of samples whose prevalence is known, drawn from
items that it was not fitted on. The experiments choose by the same samples and errors
(`quantshift.lab.tuning.validation`).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Self, TypeAlias

import joblib
import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.model_selection import ParameterGrid
from sklearn.utils.validation import check_is_fitted

from quantshift import metrics
from quantshift.base.domains import Seed, Such, check_options
from quantshift.base.seeding import seed_of
from quantshift.base.types import Codes, Indices, Prevalences
from quantshift.classify.classifier import item_rows, n_rows
from quantshift.classify.folds import Folds, folds_of
from quantshift.errors import DataError, UserError
from quantshift.intervals.prediction import PrevalenceInterval
from quantshift.intervals.regions import Region
from quantshift.items.estimate import Estimate
from quantshift.items.items import Items, take_rows
from quantshift.items.samples import Samples
from quantshift.lab.shifts.protocol import AbstractProtocol
from quantshift.lab.tuning.validation import (
    ValidationSamples,
    draw_validation,
    drawn_by,
    estimation_error,
    validation_errors,
)
from quantshift.prevalence.labels import encode_labels
from quantshift.quantifiers.base.estimator import (
    AbstractClassifying,
    AbstractQuantifier,
    Quantifier,
)
from quantshift.quantifiers.base.given import given_quantifier, refuse_pipeline

SIZE, N_PREVALENCES, REPEATS = 100, 11, 10
"""Of the samples that candidates are compared by, if no protocol draws them."""

ESTIMATOR = "estimator"
"""The name of a grid for the quantifiers themselves."""

ErrorMeasure: TypeAlias = Annotated[
    str,
    Such(
        "the name of an error measure such as 'ae' (quantshift.metrics)",
        lambda name: isinstance(name, str) and name in metrics.MEASURES,
    ),
]
Protocol: TypeAlias = Annotated[
    AbstractProtocol,
    Such("a protocol such as PriorShift()", lambda value: isinstance(value, AbstractProtocol)),
]
Grid: TypeAlias = Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]]


class PrevalenceSearchCV(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Search for the options of a quantifier with the smallest error on held-out samples.

    Parameters
    ----------
    estimator : quantifier
        Cloned for every candidate.
    param_grid : dict or list of dict
        Lists of values by the names of options, as in scikit-learn: `calibration`, `classifier`,
        `classifier__C`. The name `estimator` stands for the quantifiers themselves.
    protocol : protocol, optional
        Draws the samples from the held-out items, such as `PriorShift(test_size=100)`. By default
        they have 100 items, at prevalences of a grid (two classes) or uniform on the simplex.
    error : str
        A measure of `quantshift.metrics`, whose mean over the samples is made small.
    cv : int, array or splitter
        Folds that are held out in turns; `StratifiedShuffleSplit(1)` holds out one part.
    refit : bool
        Whether the best candidate is fitted on all items.
    random_state : int
        Seed of folds and samples.

    Attributes
    ----------
    best_params_, best_index_, best_error_
        The candidate with the smallest mean error; of equals, the first.
    best_estimator_ : quantifier
        Fitted on all items, which `predict` and the other methods use.
    cv_results_ : polars.DataFrame
        A row for each candidate: its options, mean and standard deviation of its error over the
        folds, its rank, and the error in each fold.

    Notes
    -----
    Candidates that share a classifier share its posteriors, so that it is fitted once.

    Examples
    --------
    >>> import numpy as np
    >>> from quantshift import SLD, PrevalenceSearchCV
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> search = PrevalenceSearchCV(SLD(), {"calibration": ["sigmoid", "none"]}).fit(X, y)
    >>> sorted(search.best_params_), search.cv_results_.height
    (['calibration'], 2)
    >>> search.predict(X[100:250]).round(1)  # 100 of ham, 50 of spam
    array([0.7, 0.3])
    """

    best_params_: dict[str, Any]
    best_index_: int
    best_error_: float
    best_estimator_: AbstractQuantifier
    cv_results_: pl.DataFrame

    def __init__(
        self,
        estimator: Quantifier,
        param_grid: Grid,
        *,
        protocol: Protocol | None = None,
        error: ErrorMeasure = "ae",
        cv: Folds = 3,
        refit: bool = True,
        random_state: Seed = 0,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.protocol = protocol
        self.error = error
        self.cv = cv
        self.refit = refit
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Compare the candidates on samples of held-out items, and fit the best on all items.

        Parameters
        ----------
        X : items, as the quantifier takes them
        y : array of shape (n_items,)
            Their labels.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.linear_model import LogisticRegression
        >>> from quantshift import SLD, PACC, PrevalenceSearchCV
        >>> y = np.repeat(["ham", "spam"], 200)
        >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
        >>> grid = {"estimator": [SLD(), PACC()], "classifier": [LogisticRegression()]}
        >>> PrevalenceSearchCV(SLD(), grid, cv=2).fit(X, y).cv_results_["param_estimator"].to_list()
        ['SLD()', 'PACC()']
        """
        refuse_pipeline(self.estimator, "PrevalenceSearchCV")
        check_options(self)
        X = item_rows(X)
        classes, codes = encode_labels(y)
        if n_rows(X) != len(codes):
            raise DataError(f"X has {n_rows(X)} items but y has {len(codes)} labels")
        params = _points(self.param_grid)
        candidates = [_candidate(self.estimator, point) for point in params]
        errors = np.stack(
            [
                self._errors(candidates, X, codes, classes, part, held, number)
                for number, (part, held) in enumerate(self._splits(X, codes))
            ],
            axis=1,
        )
        mean = errors.mean(axis=1)
        self.best_index_ = int(mean.argmin())
        self.best_params_, self.best_error_ = params[self.best_index_], float(mean.min())
        self.cv_results_ = _results(params, errors)
        if self.refit:
            self.best_estimator_ = clone(candidates[self.best_index_]).fit(X, classes[codes])
        return self

    def predict(
        self, X: Any, samples: Samples | None = None, *, sample_weight: ArrayLike | None = None
    ) -> Prevalences:
        """Prevalences by the best candidate.

        Examples
        --------
        >>> import numpy as np
        >>> from quantshift import SLD, PrevalenceSearchCV
        >>> y = np.repeat(["ham", "spam"], 200)
        >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
        >>> search = PrevalenceSearchCV(SLD(), {"calibration": ["sigmoid", "none"]}).fit(X, y)
        >>> search.predict(X, [range(100, 250), range(200)]).round(1) + 0.0
        array([[0.7, 0.3],
               [1. , 0. ]])
        """
        return self._best().predict(X, samples, sample_weight=sample_weight)

    def estimate(
        self, X: Any, samples: Samples | None = None, *, sample_weight: ArrayLike | None = None
    ) -> Estimate:
        """Like `predict`, with the diagnostics."""
        return self._best().estimate(X, samples, sample_weight=sample_weight)

    def predict_frame(
        self, X: Any, samples: Samples | None = None, *, sample_weight: ArrayLike | None = None
    ) -> pl.DataFrame:
        """Like `predict`, as a polars frame: a row for each sample, a column for each class."""
        return self._best().predict_frame(X, samples, sample_weight=sample_weight)

    def predict_interval(
        self, X: Any, samples: Samples | None = None, **options: Any
    ) -> PrevalenceInterval:
        """Like `predict`, with limits; options as in the method of the best candidate.

        Examples
        --------
        >>> import numpy as np
        >>> from quantshift import SLD, PrevalenceSearchCV
        >>> y = np.repeat(["ham", "spam"], 200)
        >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
        >>> search = PrevalenceSearchCV(SLD(), {"calibration": ["sigmoid", "none"]}).fit(X, y)
        >>> search.predict_interval(X[100:250], n_bootstrap=200).level
        0.95
        """
        return self._best().predict_interval(X, samples, **options)

    def predict_region(
        self, X: Any, samples: Samples | None = None, **options: Any
    ) -> Region | list[Region]:
        """Where all prevalences are at once; options as in the method of the best candidate."""
        return self._best().predict_region(X, samples, **options)

    @property
    def classes_(self) -> NDArray[Any]:
        """The class labels."""
        return self._best().classes_

    def _best(self) -> AbstractQuantifier:
        check_is_fitted(self, "best_params_")
        if not self.refit:
            raise UserError("with refit=False no candidate is fitted on all items: set refit=True")
        return self.best_estimator_

    def _splits(self, X: Any, codes: Codes) -> Iterator[tuple[Indices, Indices]]:
        """Positions of the items to fit on, and of those held out."""
        splitter: Any = self.cv
        if hasattr(splitter, "split"):
            for part, held in splitter.split(np.zeros((len(codes), 1)), codes):
                yield np.asarray(part), np.asarray(held)
            return
        folds = folds_of(self.cv, codes, seed=self.random_state)
        for fold in range(int(folds.max()) + 1):
            yield np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)

    def _errors(
        self,
        candidates: Sequence[AbstractQuantifier],
        X: Any,
        codes: Codes,
        classes: NDArray[Any],
        part: Indices,
        held: Indices,
        number: int,
    ) -> NDArray[np.float64]:
        """The mean error of each candidate in one split."""
        samples = self._samples(codes[held], classes, number)
        X_part, y_part, X_held = take_rows(X, part), classes[codes[part]], take_rows(X, held)
        errors, shown = np.empty(len(candidates)), dict[str, tuple[Items, Items]]()
        for i, candidate in enumerate(candidates):
            key = _shared_posteriors(candidate)
            if key in shown:
                training, new = shown[key]
                errors[i] = validation_errors(
                    candidate,
                    [training],
                    codes[part],
                    [new],
                    samples,
                    measure=self.error,
                )[0]
                continue
            fitted = clone(candidate).fit(X_part, y_part)
            new = fitted.items(X_held)
            if key:
                shown[key] = fitted.held_out_, new
            errors[i] = estimation_error(fitted, new, samples, measure=self.error)
        return errors

    def _samples(self, codes: Codes, classes: NDArray[Any], number: int) -> ValidationSamples:
        if self.protocol is not None:
            return drawn_by(self.protocol, classes[codes], classes)
        missing = np.setdiff1d(np.arange(len(classes)), codes)
        if missing.size:
            raise UserError(
                f"no held-out item is of class {str(classes[missing[0]])!r}: give "
                "cv=StratifiedKFold(5), because scikit-learn's folds of a quantifier have "
                "whatever classes come next"
            )
        return draw_validation(
            codes,
            n_prevalences=N_PREVALENCES,
            repeats=REPEATS,
            size=SIZE,
            seed=seed_of(self.random_state, purpose="search", split=number),
            n_classes=len(classes),
        )


class PrevalenceScorer:
    """Minus the mean quantification error on samples of the given items, for `GridSearchCV`.

    Parameters
    ----------
    error : str
        A measure of `quantshift.metrics`.
    protocol : protocol, optional
        Draws the samples; by default as in `PrevalenceSearchCV`.
    random_state : int
        Seed of the samples.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import GridSearchCV, StratifiedKFold
    >>> from quantshift import PACC, PrevalenceScorer
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> search = GridSearchCV(
    ...     PACC(), {"cv": [2, 5]}, scoring=PrevalenceScorer("ae"), cv=StratifiedKFold(3)
    ... )
    >>> search.fit(X, y).best_score_.round(1) + 0.0
    np.float64(0.0)
    """

    def __init__(
        self,
        error: ErrorMeasure = "ae",
        *,
        protocol: Protocol | None = None,
        random_state: Seed = 0,
    ) -> None:
        self.error = error
        self.protocol = protocol
        self.random_state = random_state
        check_options(self)

    def __repr__(self) -> str:
        protocol = "" if self.protocol is None else f", protocol={self.protocol!r}"
        return f"PrevalenceScorer({self.error!r}{protocol})"

    def __call__(self, estimator: AbstractQuantifier, X: Any, y: Any) -> float:
        """The score of a fitted quantifier on labelled items."""
        estimator = given_quantifier(estimator, "PrevalenceScorer")
        search = PrevalenceSearchCV(
            estimator,
            {},
            protocol=self.protocol,
            error=self.error,
            random_state=self.random_state,
        )
        classes, codes = encode_labels(y, classes=estimator.classes_)
        samples = search._samples(codes, classes, 0)
        return -estimation_error(estimator, estimator.items(X), samples, measure=self.error)


def _points(grid: Grid) -> list[dict[str, Any]]:
    try:
        points = list(ParameterGrid(grid))
    except (TypeError, ValueError) as error:
        raise UserError(f"param_grid of PrevalenceSearchCV: {error}") from None
    if not points:
        raise UserError("param_grid of PrevalenceSearchCV is empty: give at least one value")
    return points


def _candidate(estimator: AbstractQuantifier, point: Mapping[str, Any]) -> AbstractQuantifier:
    """The quantifier with these options, which are clones, as those of scikit-learn's searches."""
    base = clone(point.get(ESTIMATOR, estimator))
    options = {name: clone(v, safe=False) for name, v in point.items() if name != ESTIMATOR}
    try:
        quantifier: AbstractQuantifier = base.set_params(**options)
    except ValueError as error:
        raise UserError(f"param_grid of PrevalenceSearchCV: {error}") from None
    return quantifier


def _shared_posteriors(candidate: AbstractQuantifier) -> str:
    """Equal for candidates that see the same posteriors of the items; empty if they see more."""
    if not isinstance(candidate, AbstractClassifying) or not candidate.tags.sees_posteriors_only:
        return ""
    options = candidate.get_params(deep=False)
    seen = {name: options.get(name) for name in ("classifier", "cv", "random_state")}
    needs = candidate.needs_held_out_posteriors()
    return f"{joblib.hash(seen)} {candidate.tags.crisp} {needs}"


def _results(params: Sequence[Mapping[str, Any]], errors: NDArray[np.float64]) -> pl.DataFrame:
    names = sorted({name for point in params for name in point})
    mean = errors.mean(axis=1)
    return pl.DataFrame(
        {
            **{f"param_{name}": [_plain(p.get(name)) for p in params] for name in names},
            "mean_test_error": mean,
            "std_test_error": errors.std(axis=1),
            "rank_test_error": 1 + (mean < mean[:, np.newaxis]).sum(axis=1),
            **{f"split{k}_test_error": column for k, column in enumerate(errors.T)},
        },
        strict=False,
    )


def _plain(value: Any) -> Any:
    """A value that a column can hold: a number, a text or None, otherwise its repr."""
    if isinstance(value, np.generic):
        value = value.item()
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)
