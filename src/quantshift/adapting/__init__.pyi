from .adaptation import (
    Adaptation as Adaptation,
    NotAdaptedWarning as NotAdaptedWarning,
)
from .correction import Correction as Correction
from .decisions import (
    Decisions as Decisions,
    precision_threshold as precision_threshold,
    recall_threshold as recall_threshold,
)
from .shifted_classifier import ShiftedClassifier as ShiftedClassifier
