"""Protocols: each yields index arrays, coordinates and the degree of shift."""

from quantshift.shifts.concept import ConceptShift
from quantshift.shifts.covariate import CovariateShift
from quantshift.shifts.local import LocalCovariateShift
from quantshift.shifts.natural import NaturalPrevalence
from quantshift.shifts.prior import PriorShift
from quantshift.shifts.sampling import AbstractShift, Draw, TrainTest, split_pools
from quantshift.shifts.uniform import UniformPrevalence

__all__ = [
    "AbstractShift",
    "ConceptShift",
    "CovariateShift",
    "Draw",
    "LocalCovariateShift",
    "NaturalPrevalence",
    "PriorShift",
    "TrainTest",
    "UniformPrevalence",
    "split_pools",
]
