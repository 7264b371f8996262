"""Maximum likelihood prevalence: the fixed point of Saerens' expectation maximisation.

Under prior shift the sample's likelihood as a function of its prevalence q is
prod_i sum_k q_k r_ik with r_ik = P(k | x_i) / P_train(k). The EM of Saerens et al. re-weights the
posteriors by new/old prior, averages them into a new prior, and repeats; its fixed point is the
maximum of this concave likelihood. `solvers` goes to the same maximum by Newton's method: about
four passes over the items (two classes) to ten instead of tens to thousands, and exact where EM
crawls (prevalences near 0 or 1).

References: M. Saerens et al., "Adjusting the outputs of a classifier to new a priori
probabilities: a simple procedure", Neural Computation 14 (2002); A. Alexandari et al., "Maximum
likelihood with bias-corrected calibration is hard-to-beat at label shift adaptation", ICML 2020.
"""

from collections.abc import Callable, Mapping
from copy import copy
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from quantshift.classify.calibration import AUTO, CALIBRATIONS, Calibrator
from quantshift.errors import unknown_name
from quantshift.quantifiers.estimator import AbstractAggregative, Diagnostics
from quantshift.quantifiers.items import drawn_weights
from quantshift.quantifiers.solvers import maximise_mixtures
from quantshift.types import Codes, Indices, Posteriors, Prevalences
from quantshift.weights import Weights


class SLD(AbstractAggregative):
    """Saerens-Latinne-Decaestecker: the prevalence of maximum likelihood, by EM.

    calibration: how the classifier's posteriors are calibrated on out-of-fold ones (`cv` folds)
        before use: "sigmoid", "temperature", "beta", "smooth", "isotonic", "none", or "auto"
        (default), which compares all but "temperature" and "none" by their cross-entropy on items
        held out from them and takes the best, or a simpler one that is about as good.
    tol: largest error of a prevalence at which the estimate counts as converged; the conditions of
        a maximum hold to 1e-7 besides.
    max_iter: after so many passes over the items the estimate is given as it is, with `converged`
        False.
    """

    assumption: ClassVar[str] = (
        "P(X|Y) is the same in the sample (prior shift), posteriors calibrated"
    )
    diagnostics: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"iterations": "int", "converged": "bool"}
    )

    calibrator_: Calibrator

    def __init__(
        self,
        classifier: BaseEstimator | None = None,
        *,
        calibration: str = AUTO,
        tol: float = 1e-6,
        max_iter: int = 1000,
        cv: int = 5,
        seed: int = 0,
    ) -> None:
        self.classifier = classifier
        self.calibration = calibration
        self.tol = tol
        self.max_iter = max_iter
        self.cv = cv
        self.seed = seed

    def needs_held_out_posteriors(self) -> bool:
        """Only calibration does."""
        return self.calibration != "none"

    def _fit_aggregation(
        self, posteriors: Posteriors, codes: Codes, weights: Weights | None = None
    ) -> None:
        if self.calibration not in CALIBRATIONS:
            raise unknown_name("calibration", self.calibration, CALIBRATIONS)
        self.calibrator_ = CALIBRATIONS[self.calibration](posteriors, codes, weights)

    def refitter(self) -> Callable[[Indices], Self]:
        """The calibration keeps its kind and is fitted again from where it is."""
        check_is_fitted(self, "classes_")
        items, codes = self.held_out_, self.held_out_codes_
        recalibrate = self.calibrator_.refitter(self.held_out_posteriors_, codes, items.weights)

        def refit(rows: Indices) -> Any:
            again = copy(self)
            again._set_training(items.take(rows), codes[rows], self.classes_)
            again.calibrator_ = recalibrate(drawn_weights(rows, items.weights, len(codes)))
            return again

        return refit

    def _represent(self, posteriors: Posteriors) -> NDArray[Any]:
        ratios = self.calibrator_(posteriors) / self.prior_
        # Only the proportions between the classes of an item matter.
        return np.ascontiguousarray((ratios / ratios.sum(axis=1, keepdims=True)).T)

    def _solve(
        self, representation: NDArray[Any], index: Indices, weights: Weights | None = None
    ) -> tuple[Prevalences, Diagnostics]:
        p_hat, passes, converged = maximise_mixtures(
            representation,
            index,
            self.prior_,
            tol=self.tol,
            max_iter=self.max_iter,
            weights=weights,
        )
        return p_hat, {"iterations": passes, "converged": converged}
