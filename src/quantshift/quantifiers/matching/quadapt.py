"""QuaDapt: matching a model of scores that is chosen to suit the sample.

Scores of a sample may be more or less separated than those of the training items. In MoSS, a model
of scores with one parameter, positive scores are distributed as u^m and negative ones as 1 - u^m,
with u uniform on [0, 1]: m near 0 is a perfect classifier, m = 1 an uninformative one. Among
several m, the one whose best mixture is closest to the sample (DyS) is chosen, with its mixture
weight.

The distribution function of u^m is s^(1/m), so that the model's histograms are known exactly:
nothing is drawn at random, and training items are needed only for the classifier.

References: A. Maletzke et al., "Accurately quantifying under score variability", ICDM 2021 (MoSS);
J. Ortega et al., "QuaDapt: drift-resilient quantification via parameters adaptation", LQ 2025.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quantshift.base.domains import Several, Share
from quantshift.base.types import Codes, Indices, Posteriors, Prevalences, Reals
from quantshift.classify.classifier import Classifier
from quantshift.errors import UserError
from quantshift.optimise.divergences import Divergence, DivergenceName
from quantshift.prevalence.weights import Weights
from quantshift.quantifiers.base.estimator import AbstractAggregative, Diagnostics
from quantshift.quantifiers.base.one_against_rest import normalised_shares
from quantshift.quantifiers.base.tags import SAMPLE_ONLY, Reading, Tags
from quantshift.quantifiers.matching.histogram_options import divergence_called
from quantshift.quantifiers.matching.matching import (
    bin_numbers,
    match,
    matched_rows,
    sample_histograms,
)

MERGING_FACTORS = (0.1, 0.3, 0.5, 0.7, 0.9)


class QuaDapt(AbstractAggregative):
    """Quantification by Parameter Adaptation: DyS with the score model that fits the sample best.

    `merging_factor` is the one chosen and `distance` its divergence; more than two classes: one
    against the rest, and means over the classes.

    Parameters
    ----------
    classifier : scikit-learn classifier, optional
        By default logistic regression.
    merging_factors : sequence of float
        The m to choose from, each between 0 and 1.
    n_bins : int
        As for DyS.
    divergence : {"hellinger", "topsoe", "squared_euclidean"} or callable
        As for DyS.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels of the classes, in the order of the estimates.
    prior_ : array of shape (n_classes,)
        Their shares in training.
    classifier_ : classifier
        Fitted on all training items.

    Examples
    --------
    >>> import numpy as np
    >>> from quantshift.quantifiers import QuaDapt
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> fitted = QuaDapt().fit(X, y)
    >>> fitted.predict(X[100:250]).round(1)  # 100 of ham, 50 of spam
    array([0.7, 0.3])
    >>> fitted.predict(X, [range(100, 250), range(200)]).round(1) + 0.0  # two samples
    array([[0.7, 0.3],
           [1. , 0. ]])
    >>> sorted(fitted.estimate(X[100:250]).diagnostics)
    ['distance', 'merging_factor']
    """

    tags: ClassVar[Tags] = Tags(
        assumption="positive and negative scores are distributed as u^m and 1 - u^m, for some m",
        plain_assumption="the scores of each class pile up near its end of the scale",
        reads=Reading.ONE_AGAINST_REST,
        smooth=True,
        adjusts=False,
        interval_note=SAMPLE_ONLY,
    )
    diagnostics: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"distance": "float", "merging_factor": "float"}
    )

    def __init__(
        self,
        classifier: Classifier | None = None,
        *,
        merging_factors: Sequence[Share] = MERGING_FACTORS,
        n_bins: Several = 10,
        divergence: DivergenceName | Divergence = "topsoe",
    ) -> None:
        self.classifier = classifier
        self.merging_factors = merging_factors
        self.n_bins = n_bins
        self.divergence = divergence

    def _fit_aggregation(
        self, posteriors: Posteriors, codes: Codes, weights: Weights | None = None
    ) -> None:
        if not len(self.merging_factors):
            raise UserError("merging_factors is empty: give at least one number between 0 and 1")

    def _represent(self, posteriors: Posteriors) -> NDArray[Any]:
        return bin_numbers(matched_rows(posteriors), self.n_bins)

    def _solve(
        self, representation: NDArray[Any], index: Indices, weights: Weights | None = None
    ) -> tuple[Prevalences, Diagnostics]:
        divergence = divergence_called(self.divergence)
        samples = sample_histograms(representation, index, self.n_bins, weights)
        matches = []
        for m in self.merging_factors:
            model = np.repeat(score_histograms(m, self.n_bins), samples.shape[1], axis=1)
            matches.append(match(samples, model, divergence))
        shares, distances = (np.stack(column) for column in zip(*matches, strict=True))
        best = distances.argmin(axis=0)[np.newaxis]
        chosen = np.take_along_axis(shares, best, axis=0)[0]
        # A sample in the middle bin alone, if there is one, looks the same under all mixtures.
        prior = self.prior_[1:] if len(self.prior_) == 2 else self.prior_
        chosen = np.where(np.isnan(chosen), prior, chosen)
        return normalised_shares(chosen, self.prior_), {
            "distance": np.take_along_axis(distances, best, axis=0)[0].mean(axis=1),
            "merging_factor": np.asarray(self.merging_factors)[best[0]].mean(axis=1),
        }


def score_histograms(merging_factor: float, n_bins: int) -> Reals:
    """Exact histograms of negative and of positive scores, (2, 1, n_bins)."""
    positive = np.diff(np.linspace(0.0, 1.0, n_bins + 1) ** (1 / merging_factor))
    return np.stack([positive[::-1], positive])[:, np.newaxis]
