"""A training set -> posteriors, out of fold on the training set, direct on a pool."""

from typing import TYPE_CHECKING

from quantshift.classify.calibration import CALIBRATIONS, Calibrator
from quantshift.classify.classifier import cross_fit, fit_classifier, predict_posteriors
from quantshift.classify.folds import stratified_folds, stratified_split
from quantshift.classify.posteriors import check_posteriors
from quantshift.lazy import lazy_exports

if TYPE_CHECKING:
    from quantshift.classify.learners import (
        AbstractLearner,
        AbstractModels,
        GivenPosteriors,
        LogisticLearner,
        SklearnLearner,
    )
    from quantshift.classify.logistic import LogisticModels, fit_logistic
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "quantshift.classify.learners": (
                "AbstractLearner",
                "AbstractModels",
                "GivenPosteriors",
                "LogisticLearner",
                "SklearnLearner",
            ),
            "quantshift.classify.logistic": ("LogisticModels", "fit_logistic"),
        },
    )

__all__ = [
    "CALIBRATIONS",
    "AbstractLearner",
    "AbstractModels",
    "Calibrator",
    "GivenPosteriors",
    "LogisticLearner",
    "LogisticModels",
    "SklearnLearner",
    "check_posteriors",
    "cross_fit",
    "fit_classifier",
    "fit_logistic",
    "predict_posteriors",
    "stratified_folds",
    "stratified_split",
]
