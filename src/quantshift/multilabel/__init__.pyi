from .label_samples import (
    natural_samples as natural_samples,
    samples_of_each_label as samples_of_each_label,
)
from .label_table import LabelTable as LabelTable, label_table as label_table
from .multilabel_quantifier import (
    AbstractLabelAggregative as AbstractLabelAggregative,
    AbstractMultilabel as AbstractMultilabel,
    LabelShares as LabelShares,
)
from .tilted_label_sets import TiltedLabelSets as TiltedLabelSets
