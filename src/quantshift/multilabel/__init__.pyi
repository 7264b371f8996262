from .label_by_label import LabelByLabel as LabelByLabel
from .label_intervals import (
    LabelIntervals as LabelIntervals,
    aggregate_label_intervals as aggregate_label_intervals,
    predict_label_intervals as predict_label_intervals,
)
from .label_samples import (
    natural_samples as natural_samples,
    samples_of_each_label as samples_of_each_label,
)
from .label_tables import LabelTable as LabelTable, label_table as label_table
from .multilabel_quantifier import (
    AbstractLabelAggregative as AbstractLabelAggregative,
    AbstractMultilabel as AbstractMultilabel,
)
from .regressed_shares import RegressedShares as RegressedShares
from .sets_as_classes import SetsAsClasses as SetsAsClasses
from .tilted_label_sets import TiltedLabelSets as TiltedLabelSets
