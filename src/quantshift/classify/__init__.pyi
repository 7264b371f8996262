from .calibration.calibration import CALIBRATIONS as CALIBRATIONS, Calibrator as Calibrator
from .classifier import (
    cross_fit as cross_fit,
    fit_classifier as fit_classifier,
    predict_posteriors as predict_posteriors,
)
from .folds import stratified_folds as stratified_folds, stratified_split as stratified_split
from .learners import (
    AbstractLearner as AbstractLearner,
    AbstractModels as AbstractModels,
    GivenPosteriors as GivenPosteriors,
    LogisticLearner as LogisticLearner,
    SklearnLearner as SklearnLearner,
)
from .logistic.models import LogisticModels as LogisticModels, fit_logistic as fit_logistic
from .posteriors import check_posteriors as check_posteriors
