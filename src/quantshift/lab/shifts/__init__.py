"""Protocols, which yield index arrays, coordinates and the degree of shift."""

from quantshift.lab.shifts.concept import ConceptShift
from quantshift.lab.shifts.covariate import CovariateShift
from quantshift.lab.shifts.given import GivenSamples
from quantshift.lab.shifts.groups import GroupShift
from quantshift.lab.shifts.knock_out import KnockOutShift
from quantshift.lab.shifts.local import LocalCovariateShift
from quantshift.lab.shifts.natural import NaturalPrevalence
from quantshift.lab.shifts.noise import NoiseShift
from quantshift.lab.shifts.parts.coordinate import Coordinate, Coordinates, Value
from quantshift.lab.shifts.parts.coordinates import number
from quantshift.lab.shifts.parts.given_items import Given
from quantshift.lab.shifts.parts.grids import grid_values, nominal, rounded, whole_number
from quantshift.lab.shifts.parts.pools import split_pools
from quantshift.lab.shifts.parts.strata import Recipe, Strata, class_strata
from quantshift.lab.shifts.prior import PriorShift
from quantshift.lab.shifts.protocol import AbstractProtocol, Draw, TrainTest, Words
from quantshift.lab.shifts.shift import AbstractShift
from quantshift.lab.shifts.tweak_one import TweakOneShift
from quantshift.lab.shifts.uniform import UniformPrevalence

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
