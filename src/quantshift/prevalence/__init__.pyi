from .binarisation import binarise as binarise
from .labels import encode_labels as encode_labels
from .simplex import grid as grid, of_positive as of_positive, whole_counts as whole_counts
from .weights import Weights as Weights, checked_weights as checked_weights
