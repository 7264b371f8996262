from .guarded import (
    GuardedIntervals as GuardedIntervals,
    guarded_intervals as guarded_intervals,
)
from .prediction import (
    PrevalenceInterval as PrevalenceInterval,
    aggregate_interval as aggregate_interval,
    predict_interval as predict_interval,
)
from .regions import predict_region as predict_region
