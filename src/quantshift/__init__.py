"""Quantification under dataset shift: quantifiers, protocols of shift, evaluation.

>>> from quantshift import SLD
>>> quantifier = SLD().fit([[0.0], [1.0], [2.0], [3.0]] * 5, ["no", "no", "yes", "yes"] * 5)
>>> quantifier.classes_.tolist()
['no', 'yes']
"""

from quantshift.corpora.binarise import binarise
from quantshift.evaluation import evaluate
from quantshift.quantifiers.adjusted import ACC, PACC
from quantshift.quantifiers.counting import CC, PCC
from quantshift.quantifiers.estimator import AbstractQuantifier, Estimate
from quantshift.quantifiers.expectation import SLD
from quantshift.quantifiers.matching import SMM, DyS, HDy
from quantshift.quantifiers.subclass import SubclassSLD
from quantshift.quantifiers.trivial import MLPE
from quantshift.shifts.concept import ConceptShift
from quantshift.shifts.covariate import CovariateShift
from quantshift.shifts.local import LocalCovariateShift
from quantshift.shifts.natural import NaturalPrevalence
from quantshift.shifts.prior import PriorShift
from quantshift.shifts.sampling import AbstractShift, Draw, TrainTest
from quantshift.shifts.uniform import UniformPrevalence

__version__ = "0.1.0"

__all__ = [
    "ACC",
    "CC",
    "MLPE",
    "PACC",
    "PCC",
    "SLD",
    "SMM",
    "AbstractQuantifier",
    "AbstractShift",
    "ConceptShift",
    "CovariateShift",
    "Draw",
    "DyS",
    "Estimate",
    "HDy",
    "LocalCovariateShift",
    "NaturalPrevalence",
    "PriorShift",
    "SubclassSLD",
    "TrainTest",
    "UniformPrevalence",
    "binarise",
    "evaluate",
]
