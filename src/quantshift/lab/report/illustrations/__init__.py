"""Illustrations of the kinds of shift on synthetic data, each a function returning a Figure."""

from quantshift.lab.report.illustrations.concept import concept_illustration
from quantshift.lab.report.illustrations.covariate import covariate_illustration
from quantshift.lab.report.illustrations.local import local_illustration
from quantshift.lab.report.illustrations.overlap import overlap_illustration
from quantshift.lab.report.illustrations.prior import prior_illustration

__all__ = [
    "concept_illustration",
    "covariate_illustration",
    "local_illustration",
    "overlap_illustration",
    "prior_illustration",
]
