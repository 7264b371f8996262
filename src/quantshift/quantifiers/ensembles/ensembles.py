"""Ensembles of quantifiers whose members were trained at different prevalences.

Each member is trained on items drawn from the training set at its own prevalence, uniform on the
simplex but with some items of every class. Members whose training set resembles the sample have
smaller errors, so only some of them may be used for each sample (EoQ). If the members are SLD, no
vote is needed: their likelihoods of the sample are multiplied, and one prevalence maximises the
product (fusion).

Items that are drawn several times become weighted items, so that no fold of a member's
cross-validation contains copies of items in other folds.

References: P. Perez-Gallego, J. R. Quevedo and J. J. del Coz, "Using ensembles for problems with
characterizable changes in data distribution", Information Fusion 34 (2017); P. Perez-Gallego et
al., "Dynamic ensemble selection for quantification tasks", Information Fusion 45 (2019).
"""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from quantshift import metrics
from quantshift.base.domains import Count, NotNegative, Seed
from quantshift.base.seeding import generator
from quantshift.base.types import Codes, Indices, Posteriors, Prevalences, Reals
from quantshift.classify.calibration.calibration import AUTO, Calibration
from quantshift.classify.classifier import Classifier, cross_fit, fit_classifier, predict_posteriors
from quantshift.classify.folds import Folds, folds_of, folds_of_rows
from quantshift.errors import UserError
from quantshift.items.items import Items, drawn_weights, take_rows
from quantshift.optimise.divergences import hellinger
from quantshift.optimise.mixture_likelihood import maximise_mixtures
from quantshift.prevalence import simplex
from quantshift.prevalence.weights import Weights
from quantshift.quantifiers.base.estimator import AbstractQuantifier, Diagnostics, Quantifier
from quantshift.quantifiers.base.tags import CALIBRATED_PRIOR_SHIFT, FEATURES, Tags
from quantshift.quantifiers.ensembles.medians import DIAGNOSTICS, member_spread
from quantshift.quantifiers.likelihood.sld import SLD
from quantshift.quantifiers.matching.matching import bin_numbers, sample_histograms

Selection: TypeAlias = Literal["average", "training-prevalence", "distribution", "accuracy"]

FEWEST = 5
"""The fewest items of every class that a member is trained on."""

BINS = 8
"""Bins of the histograms of posteriors by which distributions are compared."""

NO_INTERVAL = (
    "every replicate would fit all members again; use the interval of one quantifier of the same "
    "kind, which is a little wider than an ensemble's would be"
)


class EoQ(AbstractQuantifier):
    """Ensemble of Quantifiers: the mean of members trained at random prevalences.

    `spread` is the mean over classes of the standard deviation of the members' estimates.

    Parameters
    ----------
    quantifier : quantifier, optional
        The type of the members; default: SLD. Members are trained at extreme prevalences, where
        posteriors are least calibrated: a method that trusts them, such as SLD without calibration,
        is biased for most members, and so is the mean.
    n_members : int
        How many there are.
    keep : int
        How many members are averaged, unless all are.
    selection : {"average", "training-prevalence", "distribution", "accuracy"}
        Which estimates are averaged. "average": all; "training-prevalence": the `keep` members
        whose training prevalence is closest to the mean of all; "distribution": those whose
        training items have histograms of posteriors closest to the sample's (8 bins, Hellinger);
        "accuracy": the `keep` members with the smallest absolute error on the training sets of the
        others.
    classifier : scikit-learn classifier, optional
        For members that have none.
    calibration : str, optional
        Of the default members, as in SLD.
    cv : int, array or splitter
        Folds for "distribution", and the seed of all draws.
    random_state : int
        Folds for "distribution", and the seed of all draws.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels of the classes, in the order of the estimates.
    prior_ : array of shape (n_classes,)
        Their shares in training.

    Examples
    --------
    >>> import numpy as np
    >>> from quantshift.quantifiers import EoQ
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> fitted = EoQ(n_members=4, keep=2).fit(X, y)
    >>> fitted.predict(X[100:250]).round(1)  # 100 of ham, 50 of spam
    array([0.7, 0.3])
    >>> fitted.predict(X, [range(100, 250), range(200)]).round(1) + 0.0  # two samples
    array([[0.7, 0.3],
           [1. , 0. ]])
    >>> sorted(fitted.estimate(X[100:250]).diagnostics)
    ['spread']
    """

    tags: ClassVar[Tags] = Tags(
        assumption="that of its members",
        sees=FEATURES,
        own_classifier=True,
        no_interval=NO_INTERVAL,
    )
    diagnostics: ClassVar[Mapping[str, str]] = DIAGNOSTICS

    members_: tuple[AbstractQuantifier, ...]
    member_priors_: Prevalences
    """Training prevalence of each member, (n_members, n_classes)."""

    best_: Indices
    common_: Any
    histograms_: Reals

    def __init__(
        self,
        quantifier: Quantifier | None = None,
        *,
        n_members: Count = 50,
        keep: Count = 25,
        selection: Selection = "average",
        classifier: Classifier | None = None,
        calibration: Calibration = AUTO,
        cv: Folds = 5,
        random_state: Seed = 0,
    ) -> None:
        self.quantifier = quantifier
        self.n_members = n_members
        self.keep = keep
        self.selection = selection
        self.classifier = classifier
        self.calibration = calibration
        self.cv = cv
        self.random_state = random_state

    @property
    def takes_weights(self) -> bool:
        """Whether items may have weights, which is the case if the members take them."""
        return bool(self._member().takes_weights)

    def _member(self) -> Any:
        default = SLD(calibration=self.calibration)
        chosen = default if self.quantifier is None else clone(self.quantifier)
        options = chosen.get_params(deep=False)
        if self.classifier is not None and options.get("classifier", 0) is None:
            chosen.set_params(classifier=self.classifier)
        return chosen

    def _learn(self, items: Items, codes: Codes) -> None:
        if self.selection != "average" and self.keep > self.n_members:
            raise UserError(
                f"keep of EoQ must be at most n_members={self.n_members}, got {self.keep}"
            )
        X, n_classes = items.features, len(self.classes_)
        draws = random_draws(
            codes, n_classes, self.n_members, _fewest(self._member()), self.random_state
        )
        self.members_ = fitted_members(self._member(), X, codes, draws, items.weights)
        self.member_priors_ = np.stack([member.prior_ for member in self.members_])
        if self.selection == "accuracy":
            truth = np.eye(n_classes)[codes[draws]].mean(axis=1)
            errors = np.stack(
                [metrics.ae(truth, member.predict(X, draws)) for member in self.members_]
            )
            others = ~np.eye(len(draws), dtype=bool)
            mean = np.where(others, errors, 0.0).sum(axis=1) / max(len(draws) - 1, 1)
            self.best_ = np.sort(np.argsort(mean, kind="stable")[: self.keep])
        if self.selection == "distribution":
            classes = np.arange(n_classes)
            self.common_ = fit_classifier(self.classifier, X, codes, items.weights)
            folds = folds_of(self.cv, codes, seed=self.random_state)
            held_out, _ = cross_fit(
                self.classifier, X, codes, classes, folds, weights=items.weights
            )
            self.histograms_ = sample_histograms(_bins(held_out), draws, BINS, items.weights)

    def _represent_items(self, items: Items) -> Any:
        rows = member_rows(self.members_, items)
        if self.selection != "distribution":
            return rows, None
        classes = np.arange(len(self.classes_))
        return rows, _bins(predict_posteriors(self.common_, items.features, classes))

    def _solve(
        self, representation: Any, index: Indices, weights: Weights | None = None
    ) -> tuple[Prevalences, Diagnostics]:
        rows, bins = representation
        weights_if_any = () if weights is None else (weights,)
        estimates = np.stack(
            [
                member._solve(member_items, index, *weights_if_any)[0]
                for member, member_items in zip(self.members_, rows, strict=True)
            ]
        )
        if self.selection == "accuracy":
            estimates = estimates[self.best_]
        elif self.selection != "average":
            if self.selection == "training-prevalence":
                mean_estimate = estimates.mean(axis=0)[:, np.newaxis]
                distance = ((self.member_priors_ - mean_estimate) ** 2).sum(axis=2)
            else:
                samples = sample_histograms(bins, index, BINS, weights)
                distance = hellinger(self.histograms_, samples[:, np.newaxis]).mean(axis=2)
            nearest = np.argsort(distance, axis=1, kind="stable")[:, : self.keep]
            estimates = estimates[nearest.T, np.arange(len(index))]
        p_hat = estimates.mean(axis=0)
        p_hat /= p_hat.sum(axis=1, keepdims=True)
        return p_hat, {"spread": member_spread(estimates)}


class FusedSLD(AbstractQuantifier):
    """Fused SLD: the prevalence of maximum likelihood under several classifiers at once.

    Every member is an SLD with the same kind of classifier, trained at its own prevalence. The
    likelihoods of the sample under all members are multiplied, and one prevalence maximises the
    product. With one member it is SLD trained at that prevalence.

    Parameters
    ----------
    classifier : scikit-learn classifier, optional
        By default logistic regression.
    n_members : int
        The number of fits is n_members times that of SLD; without calibration, one per member.
    calibration : str, optional
        See `n_members`.
    cv : int, array or splitter
        See `n_members`.
    tol : float
        As in SLD.
    max_iter : int
        As in SLD.
    random_state : int
        Of the draws and folds.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels of the classes, in the order of the estimates.
    prior_ : array of shape (n_classes,)
        Their shares in training.

    Examples
    --------
    >>> import numpy as np
    >>> from quantshift.quantifiers import FusedSLD
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> fitted = FusedSLD().fit(X, y)
    >>> fitted.predict(X[100:250]).round(1)  # 100 of ham, 50 of spam
    array([0.7, 0.3])
    >>> fitted.predict(X, [range(100, 250), range(200)]).round(1) + 0.0  # two samples
    array([[0.7, 0.3],
           [1. , 0. ]])
    >>> sorted(fitted.estimate(X[100:250]).diagnostics)
    ['converged', 'iterations']
    """

    tags: ClassVar[Tags] = replace(
        CALIBRATED_PRIOR_SHIFT, sees=FEATURES, own_classifier=True, no_interval=NO_INTERVAL
    )
    diagnostics: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"iterations": "int", "converged": "bool"}
    )

    members_: tuple[SLD, ...]

    def __init__(
        self,
        classifier: Classifier | None = None,
        *,
        n_members: Count = 10,
        calibration: Calibration = AUTO,
        tol: NotNegative = 1e-6,
        max_iter: Count = 1000,
        cv: Folds = 5,
        random_state: Seed = 0,
    ) -> None:
        self.classifier = classifier
        self.n_members = n_members
        self.calibration = calibration
        self.tol = tol
        self.max_iter = max_iter
        self.cv = cv
        self.random_state = random_state

    def _learn(self, items: Items, codes: Codes) -> None:
        member = SLD(
            self.classifier,
            calibration=self.calibration,
            cv=self.cv,
            random_state=self.random_state,
        )
        draws = random_draws(
            codes, len(self.classes_), self.n_members, _fewest(member), self.random_state
        )
        self.members_ = fitted_members(member, items.features, codes, draws, items.weights)

    def _represent_items(self, items: Items) -> Any:
        return np.concatenate(member_rows(self.members_, items), axis=1)

    def _solve(
        self, representation: Any, index: Indices, weights: Weights | None = None
    ) -> tuple[Prevalences, Diagnostics]:
        n_members = len(self.members_)
        n_items = representation.shape[1] // n_members
        # Each item counts once per member; the rows of member m begin at n_items * m.
        everywhere = np.concatenate([index + n_items * m for m in range(n_members)], axis=1)
        p_hat, passes, converged = maximise_mixtures(
            representation,
            everywhere,
            self.prior_,
            tol=self.tol,
            max_iter=self.max_iter,
            weights=None if weights is None else np.tile(weights, n_members),
        )
        return p_hat, {"iterations": passes, "converged": converged}


def random_draws(
    codes: Codes, n_classes: int, n_members: int, fewest: int, seed: int
) -> NDArray[np.int64]:
    """Positions of the training items of each member, (n_members, n_items), at random prevalences.

    Each member gets as many items as there are: at least `fewest` of every class (or as many as an
    equal division gives), the rest uniform on the simplex. If a class has too few items, all of
    them are taken and the rest are drawn from them with replacement. Classes are drawn in the order
    in which they occur, so that their names do not matter.
    """
    n_items = len(codes)
    least = min(fewest, n_items // n_classes)
    order = np.argsort([int(np.argmax(codes == k)) for k in range(n_classes)])
    members = [np.flatnonzero(codes == k) for k in order]
    draws = np.empty((n_members, n_items), dtype=np.int64)
    for number in range(n_members):
        rng = generator(seed, purpose="ensemble", member=number)
        shares = simplex.uniform(1, n_classes, rng)[0]
        counts = least + simplex.whole_counts(shares, n_items - least * n_classes)
        draws[number] = np.concatenate(
            [
                items[rng.permutation(len(items))[:count]]
                if count <= len(items)
                else np.append(items, items[rng.integers(len(items), size=count - len(items))])
                for items, count in zip(members, counts, strict=True)
            ]
        )
    return draws


def fitted_members(
    quantifier: Any, X: Any, codes: Codes, draws: Indices, weights: Weights | None
) -> tuple[Any, ...]:
    """The quantifier fitted on each of the draws; items drawn several times are weighted."""
    members = []
    cv = quantifier.get_params(deep=False).get("cv")
    for drawn in draws:
        item_weights = drawn_weights(drawn, None, len(codes))
        rows = np.flatnonzero(item_weights)
        if weights is not None:
            item_weights = item_weights * weights
        member = clone(quantifier)
        if cv is not None:
            member.set_params(cv=folds_of_rows(cv, len(codes), rows))
        members.append(member.fit(take_rows(X, rows), codes[rows], item_weights[rows]))
    return tuple(members)


def member_rows(members: tuple[Any, ...], items: Items) -> list[Any]:
    """The representation of the items by each member."""
    return [member._represent_items(member.items(items.features)) for member in members]


def _bins(posteriors: Posteriors) -> NDArray[Any]:
    return bin_numbers(np.ascontiguousarray(posteriors.T), BINS)


def _fewest(quantifier: BaseEstimator) -> int:
    """The items of a class that a member needs: one for each of its folds, but at least five."""
    cv = quantifier.get_params(deep=False).get("cv", FEWEST)
    return max(FEWEST, cv if isinstance(cv, int) else FEWEST)
