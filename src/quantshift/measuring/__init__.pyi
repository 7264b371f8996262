from .adapting.adaptation import (
    Adaptation as Adaptation,
    NotAdaptedWarning as NotAdaptedWarning,
)
from .adapting.correction import Correction as Correction
from .adapting.decisions import (
    Decisions as Decisions,
    precision_threshold as precision_threshold,
    recall_threshold as recall_threshold,
)
from .adapting.shifted_classifier import ShiftedClassifier as ShiftedClassifier
from .estimate import Measured as Measured
from .measures.label_chances import LabelledScores as LabelledScores
from .measures.measure import PerformanceMeasure as PerformanceMeasure
from .measures.registry import (
    MEASURES as MEASURES,
    register_performance_measure as register_performance_measure,
)
from .performances import Performance as Performance, performance as performance
