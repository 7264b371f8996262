from .estimate import Measured as Measured
from .label_chances import LabelledScores as LabelledScores
from .measures.measure import PerformanceMeasure as PerformanceMeasure
from .measures.registry import (
    MEASURES as MEASURES,
    register_performance_measure as register_performance_measure,
)
from .performances import Performance as Performance, performance as performance
