"""Room 5: posteriors -> prevalences. One method, one file; arrays in, arrays out."""

from quantshift.quantifiers.adjusted import ACC, PACC, adjust
from quantshift.quantifiers.counting import CC, PCC
from quantshift.quantifiers.estimator import (
    AbstractAggregative,
    AbstractClassifying,
    AbstractQuantifier,
    Estimate,
    class_means,
    sample_means,
)
from quantshift.quantifiers.expectation import SLD
from quantshift.quantifiers.foreign import ForeignQuantifier, is_quantifier, wrap
from quantshift.quantifiers.guarded_sld import GuardedSLD
from quantshift.quantifiers.hdx import HDx
from quantshift.quantifiers.items import Items
from quantshift.quantifiers.matching import SMM, DyS, HDy
from quantshift.quantifiers.subclass_sld import SubclassSLD
from quantshift.quantifiers.trivial import MLPE

__all__ = [
    "ACC",
    "CC",
    "MLPE",
    "PACC",
    "PCC",
    "SLD",
    "SMM",
    "AbstractAggregative",
    "AbstractClassifying",
    "AbstractQuantifier",
    "DyS",
    "Estimate",
    "ForeignQuantifier",
    "GuardedSLD",
    "HDx",
    "HDy",
    "Items",
    "SubclassSLD",
    "adjust",
    "class_means",
    "is_quantifier",
    "sample_means",
    "wrap",
]
