"""A neural quantifier: a network over sets, trained on samples drawn from the training items.

As in the literature on neural quantification, samples of known prevalence are drawn from labelled
items, and a network learns to estimate the prevalence from all items of a sample at once, with the
error measure of interest as its loss. Ours starts from what is known (`network`): items have
calibrated likelihoods of the classes, which a layer may correct by their features; the layers after
it see a likelihood estimate and a soft histogram of the items and learn to correct the estimate. An
untrained network returns the likelihood estimate. How strong a Dirichlet prior that estimate has is
learnt from the same samples.

Few training items are easily learnt by heart, so the items are in five parts: five networks learn
from samples of three parts each, stop by those of the fourth and are judged by those of the fifth
(`learning`). If they are better than the likelihood estimate, by more than chance, the estimate is
their mean; otherwise it stays as it was.

PyTorch is only needed to fit and to estimate; what has been learnt are arrays.

References: O. Perez-Mon et al., "Quantification using permutation-invariant networks based on
histograms", Neural Computing and Applications 37 (2025); M. Zaheer et al., "Deep sets", NeurIPS
2017; L. Qi et al., "A framework for deep quantification learning", ECML-PKDD 2020.
"""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from importlib import import_module
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from quantshift.base.extras import missing_package
from quantshift.base.seeding import generator
from quantshift.base.types import Codes, Indices, Posteriors, Prevalences, Reals
from quantshift.errors import DataError, UserError, unknown_name
from quantshift.prevalence.weights import Weights
from quantshift.quantifiers.base.estimator import AbstractClassifying, Diagnostics, Reduction
from quantshift.quantifiers.base.items import Items, drawn_weights
from quantshift.quantifiers.base.tags import PRIOR_SHIFT, Tags
from quantshift.quantifiers.neural.inputs import Likelihoods, ScaledFeatures, learning_items

NetworkWeights: TypeAlias = dict[str, NDArray[np.float64]]

MEASURES = ("ae", "rae", "se", "nkld")

CERTAIN = 2.0
"""Networks are used if their relative improvement is at least so many standard errors."""


class SetNetwork(AbstractClassifying):
    """Set Network: a neural network that corrects the likelihood estimate of SLD.

    measure: the loss: "ae", "rae", "se" or "nkld". Relative errors are smoothed by 1 / (2 *
        sample_size).
    features: whether to learn from the features of the items, too, and not only from their
        posteriors. They must be at most 1,000 numbers, such as the embeddings of a network.
    monotone: an increasing function of the likelihood estimate, the same for all classes, instead
        of a network that sees the histograms of the items.
    sample_size: items in a sample for training; best about the size of the samples to come.
    n_samples: samples in an epoch. epochs: the most of them.
    concentration: of the Dirichlet distribution that prevalences are drawn from; 1: uniform on the
        simplex.
    width: units in a layer.
    device: "cpu", "cuda" or "auto" (CUDA where there is one). The same seed gives the same network
        on a CPU; on CUDA, sums in another order change the last digits.

    Fitted state: `alpha_`, the Dirichlet prior of the likelihood estimate; `networks_`, the arrays
    of each network, none if they are not used; `validation_errors_`, the mean loss on samples of
    each part, of the likelihood estimate and of the network that has not seen the part.
    """

    tags: ClassVar[Tags] = replace(PRIOR_SHIFT, sees=frozenset({"posteriors", "features"}))

    order_: Indices
    alpha_: float
    likelihoods_: Likelihoods
    networks_: tuple[NetworkWeights, ...]
    validation_errors_: NDArray[np.float64]

    def __init__(
        self,
        classifier: BaseEstimator | None = None,
        *,
        measure: str = "ae",
        features: bool = False,
        monotone: bool = False,
        sample_size: int = 500,
        n_samples: int = 512,
        epochs: int = 40,
        concentration: float = 1.0,
        width: int = 32,
        device: str = "auto",
        cv: int = 5,
        seed: int = 0,
    ) -> None:
        self.classifier = classifier
        self.measure = measure
        self.features = features
        self.monotone = monotone
        self.sample_size = sample_size
        self.n_samples = n_samples
        self.epochs = epochs
        self.concentration = concentration
        self.width = width
        self.device = device
        self.cv = cv
        self.seed = seed

    @property
    def shrinks(self) -> bool:
        """True: the likelihood estimate may have a prior."""
        return True

    def reduction(self, features: Any, codes: Codes, weights: Weights | None = None) -> Reduction:
        """The features in units of their spread, if they are used."""
        if self.features:
            return ScaledFeatures.learnt(features, weights)
        return ScaledFeatures.unused(features)

    def refitter(self) -> Callable[[Indices], Self]:
        """Calibration and histograms are refitted; the networks stay as they are."""
        self._check_fitted()
        items, codes = self.held_out_, self.held_out_codes_
        posteriors, own_codes = self._in_order(self.held_out_posteriors_, codes)
        recalibrated = self.likelihoods_.refitter(posteriors, own_codes, items.weights)

        def refit(rows: Indices) -> Any:
            replicate = copy(self)
            replicate._set_training(items.take(rows), codes[rows], self.classes_)
            drawn = drawn_weights(rows, items.weights, len(codes))
            replicate.likelihoods_ = recalibrated(drawn)
            replicate.networks_ = replicate._with_histograms(
                self.networks_, items, own_codes, drawn
            )
            return replicate

        return refit

    def _learn(self, items: Items, codes: Codes) -> None:
        self._check_options()
        self.order_ = _by_first_item(codes, items.weights)
        posteriors, own_codes = self._in_order(self.held_out_posteriors_, codes)
        self.likelihoods_ = Likelihoods.learnt(posteriors, own_codes, items.weights)
        rng = generator(self.seed, purpose="set network", n_classes=posteriors.shape[1])
        learning_from = learning_items(posteriors, _features(items), own_codes, items.weights, rng)
        self.alpha_, self.networks_, self.validation_errors_ = 1.0, (), np.empty((0, 2))
        if not learning_from.parts.any():
            return
        learning = _with_torch("learning")
        names = learning.LearningOptions.__dataclass_fields__
        options = learning.LearningOptions(**{name: getattr(self, name) for name in names})
        learnt = learning.learn_networks(learning_from, options, rng, self.device)
        self.alpha_, self.validation_errors_ = learnt.alpha, learnt.errors
        if _is_better(learnt.errors):
            self.networks_ = self._with_histograms(learnt.networks, items, own_codes, items.weights)

    def _represent_items(self, items: Items) -> Reals:
        """Scores by each network, (n_networks, n_items, n_classes), or by the calibration alone."""
        if items.posteriors is None:
            raise UserError("SetNetwork needs posteriors: give those of the items")
        return self._scores(self.networks_, items.posteriors[:, self.order_], _features(items))

    def _solve(
        self, representation: Reals, index: Indices, weights: Weights | None = None
    ) -> tuple[Prevalences, Diagnostics]:
        estimated = _with_torch("evaluation").sample_estimates
        p_hats = [
            estimated(network, scores, index, weights, alpha=self.alpha_, device=self.device)
            for network, scores in zip(self.networks_ or ({},), representation, strict=True)
        ]
        return np.mean(p_hats, axis=0)[:, np.argsort(self.order_)], {}

    def _scores(
        self, networks: Sequence[NetworkWeights], posteriors: Posteriors, features: Reals
    ) -> Reals:
        scores = self.likelihoods_.scores(posteriors)
        if not networks:
            return scores[np.newaxis]
        n_known = len(networks[0].get("features", ()))
        if n_known and features.shape[1] != n_known:
            raise DataError(
                f"this SetNetwork has learnt from {n_known} features, and the items have "
                f"{features.shape[1]}: give X, or fit it without features"
            )
        corrected = _with_torch("evaluation").corrected_scores
        return np.asarray(corrected(networks, scores, features, self.device))

    def _with_histograms(
        self,
        networks: Sequence[NetworkWeights],
        items: Items,
        own_codes: Codes,
        weights: Weights | None,
    ) -> tuple[NetworkWeights, ...]:
        """The networks with the histograms of the training items that they compare with."""
        if not networks:
            return ()
        assert items.posteriors is not None
        scores = self._scores(networks, items.posteriors[:, self.order_], _features(items))
        counts = np.ones(len(own_codes)) if weights is None else weights
        histograms_of = _with_torch("evaluation").histograms_of
        return tuple(
            {**network, "histograms": histograms_of(own, own_codes, counts, self.device)}
            for network, own in zip(networks, scores, strict=True)
        )

    def _in_order(self, posteriors: Posteriors, codes: Codes) -> tuple[Posteriors, Codes]:
        """The same with the classes in the order of their first items, whatever their names."""
        return np.ascontiguousarray(posteriors[:, self.order_]), np.argsort(self.order_)[codes]

    def _check_options(self) -> None:
        if self.measure not in MEASURES:
            raise unknown_name("loss", self.measure, MEASURES)
        for name in ("sample_size", "n_samples", "epochs", "width"):
            if not getattr(self, name) >= 1:
                raise UserError(f"{name} must be at least 1, got {getattr(self, name)!r}")
        if not self.concentration > 0:
            raise UserError(f"concentration must be above 0, got {self.concentration!r}")


def _with_torch(module: str) -> Any:
    """A module of this package that needs PyTorch, which methods can be listed without."""
    try:
        return import_module(f"{__package__}.{module}")
    except ModuleNotFoundError as error:
        raise missing_package(error, "SetNetwork needs") or error from error


def _is_better(errors: NDArray[np.float64]) -> bool:
    """Whether the relative improvement over the parts is larger than chance would make it."""
    if len(errors) < 2:
        return False
    gains = 1 - errors[:, 1] / np.maximum(errors[:, 0], np.finfo(float).tiny)
    return bool(gains.mean() > CERTAIN * gains.std(ddof=1) / np.sqrt(len(gains)))


def _features(items: Items) -> Reals:
    return np.empty((len(items), 0)) if items.features is None else np.asarray(items.features)


def _by_first_item(codes: Codes, weights: Weights | None) -> Indices:
    """The classes in the order of their first items."""
    counted = codes if weights is None else codes[weights > 0]
    return np.argsort(np.unique(counted, return_index=True)[1])
