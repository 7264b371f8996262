"""Protocols, which yield index arrays, coordinates and the degree of shift."""

from quantshift.shifts.concept import ConceptShift
from quantshift.shifts.covariate import CovariateShift
from quantshift.shifts.given import Given, GivenSamples
from quantshift.shifts.groups import GroupShift
from quantshift.shifts.knock_out import KnockOutShift
from quantshift.shifts.local import LocalCovariateShift
from quantshift.shifts.natural import NaturalPrevalence
from quantshift.shifts.noise import NoiseShift
from quantshift.shifts.parts.coordinates import number
from quantshift.shifts.parts.grids import grid_values, nominal, rounded, whole_number
from quantshift.shifts.parts.pools import split_pools
from quantshift.shifts.parts.strata import Recipe, Strata, class_strata
from quantshift.shifts.prior import PriorShift
from quantshift.shifts.protocol import (
    AbstractProtocol,
    Coordinate,
    Coordinates,
    Draw,
    TrainTest,
    Value,
    Words,
)
from quantshift.shifts.shift import AbstractShift
from quantshift.shifts.tweak_one import TweakOneShift
from quantshift.shifts.uniform import UniformPrevalence

__all__ = [
    "AbstractProtocol",
    "AbstractShift",
    "ConceptShift",
    "Coordinate",
    "Coordinates",
    "CovariateShift",
    "Draw",
    "Given",
    "GivenSamples",
    "GroupShift",
    "KnockOutShift",
    "LocalCovariateShift",
    "NaturalPrevalence",
    "NoiseShift",
    "PriorShift",
    "Recipe",
    "Strata",
    "TrainTest",
    "TweakOneShift",
    "UniformPrevalence",
    "Value",
    "Words",
    "class_strata",
    "grid_values",
    "nominal",
    "number",
    "rounded",
    "split_pools",
    "whole_number",
]
