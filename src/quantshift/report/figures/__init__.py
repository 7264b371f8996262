"""Figures of results, each a function of raw outcomes returning a matplotlib Figure."""

from quantshift.report.figures.bias import bias_boxes
from quantshift.report.figures.boxes import boxes_by_degree
from quantshift.report.figures.canvas import save_figure
from quantshift.report.figures.concept import concept_boxes
from quantshift.report.figures.covariate import covariate_pages
from quantshift.report.figures.critical import critical_difference_diagram
from quantshift.report.figures.diagonal import diagonal_bands
from quantshift.report.figures.forced import forced_boxes
from quantshift.report.figures.gallery import gallery
from quantshift.report.figures.lines import error_lines
from quantshift.report.figures.local import local_boxes
from quantshift.report.figures.prior import prior_boxes

__all__ = [
    "bias_boxes",
    "boxes_by_degree",
    "concept_boxes",
    "covariate_pages",
    "critical_difference_diagram",
    "diagonal_bands",
    "error_lines",
    "forced_boxes",
    "gallery",
    "local_boxes",
    "prior_boxes",
    "save_figure",
]
