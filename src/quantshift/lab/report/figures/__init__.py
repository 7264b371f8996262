"""Figures of results: functions that turn raw outcomes into matplotlib figures."""

from quantshift.lab.report.figures.bias import bias_boxes, class_bias
from quantshift.lab.report.figures.canvas import save_figure
from quantshift.lab.report.figures.collection import gallery
from quantshift.lab.report.figures.critical import critical_difference_diagram
from quantshift.lab.report.figures.diagonal import class_diagonals, diagonal_bands
from quantshift.lab.report.figures.lines import error_lines
from quantshift.lab.report.figures.outcomes import Outcomes, outcomes_of
from quantshift.lab.report.figures.sheets import error_boxes

__all__ = [
    "Outcomes",
    "bias_boxes",
    "class_bias",
    "class_diagonals",
    "critical_difference_diagram",
    "diagonal_bands",
    "error_boxes",
    "error_lines",
    "gallery",
    "outcomes_of",
    "save_figure",
]
