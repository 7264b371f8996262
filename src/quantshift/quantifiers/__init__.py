"""Items -> prevalences. A method or a family in one file; arrays in, arrays out."""

from typing import TYPE_CHECKING

from quantshift.lazy import lazy_exports

if TYPE_CHECKING:
    from quantshift.quantifiers.adjusted import ACC, PACC, adjust
    from quantshift.quantifiers.bayesian import PQ, BayesianCC, BayesianKDEy
    from quantshift.quantifiers.continuous_sweep import ContinuousSweep
    from quantshift.quantifiers.counting import CC, PCC
    from quantshift.quantifiers.energy import CvMy, EDx, EDy
    from quantshift.quantifiers.ensembles import EoQ, FusedSLD
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
    from quantshift.quantifiers.friedman import DeBias, Friedman
    from quantshift.quantifiers.guarded_sld import GuardedSLD
    from quantshift.quantifiers.hdx import HDx
    from quantshift.quantifiers.histograms import DMx, DMy
    from quantshift.quantifiers.incremental_prior import LEIP
    from quantshift.quantifiers.items import Items
    from quantshift.quantifiers.iterated_threshold import CDE
    from quantshift.quantifiers.kdey import KDEyCS, KDEyHD, KDEyML
    from quantshift.quantifiers.kernel_means import MMDx, MMDy
    from quantshift.quantifiers.label_shift_weights import RLLS, BBSEHard, BBSESoft
    from quantshift.quantifiers.mapls import MAPLS
    from quantshift.quantifiers.matching import SMM, DyS, HDy
    from quantshift.quantifiers.medians import ClassifierMedian, Median
    from quantshift.quantifiers.ordinal import (
        OrdinalACC,
        OrdinalLikelihood,
        OrdinalPACC,
        OrdinalSLD,
    )
    from quantshift.quantifiers.quadapt import QuaDapt
    from quantshift.quantifiers.sord import SORD
    from quantshift.quantifiers.subclass_sld import SubclassSLD
    from quantshift.quantifiers.thresholds import MAX, MS, MS2, T50, MethodX
    from quantshift.quantifiers.trivial import MLPE
    from quantshift.quantifiers.unfolding import IBU, RUN
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "quantshift.quantifiers.adjusted": ("ACC", "PACC", "adjust"),
            "quantshift.quantifiers.bayesian": ("PQ", "BayesianCC", "BayesianKDEy"),
            "quantshift.quantifiers.continuous_sweep": ("ContinuousSweep",),
            "quantshift.quantifiers.counting": ("CC", "PCC"),
            "quantshift.quantifiers.energy": ("CvMy", "EDx", "EDy"),
            "quantshift.quantifiers.ensembles": ("EoQ", "FusedSLD"),
            "quantshift.quantifiers.estimator": (
                "AbstractAggregative",
                "AbstractClassifying",
                "AbstractQuantifier",
                "Estimate",
                "class_means",
                "sample_means",
            ),
            "quantshift.quantifiers.expectation": ("SLD",),
            "quantshift.quantifiers.foreign": ("ForeignQuantifier", "is_quantifier", "wrap"),
            "quantshift.quantifiers.friedman": ("DeBias", "Friedman"),
            "quantshift.quantifiers.guarded_sld": ("GuardedSLD",),
            "quantshift.quantifiers.hdx": ("HDx",),
            "quantshift.quantifiers.histograms": ("DMx", "DMy"),
            "quantshift.quantifiers.incremental_prior": ("LEIP",),
            "quantshift.quantifiers.items": ("Items",),
            "quantshift.quantifiers.iterated_threshold": ("CDE",),
            "quantshift.quantifiers.kdey": ("KDEyCS", "KDEyHD", "KDEyML"),
            "quantshift.quantifiers.kernel_means": ("MMDx", "MMDy"),
            "quantshift.quantifiers.label_shift_weights": ("RLLS", "BBSEHard", "BBSESoft"),
            "quantshift.quantifiers.mapls": ("MAPLS",),
            "quantshift.quantifiers.matching": ("SMM", "DyS", "HDy"),
            "quantshift.quantifiers.medians": ("ClassifierMedian", "Median"),
            "quantshift.quantifiers.ordinal": (
                "OrdinalACC",
                "OrdinalLikelihood",
                "OrdinalPACC",
                "OrdinalSLD",
            ),
            "quantshift.quantifiers.quadapt": ("QuaDapt",),
            "quantshift.quantifiers.sord": ("SORD",),
            "quantshift.quantifiers.subclass_sld": ("SubclassSLD",),
            "quantshift.quantifiers.thresholds": ("MAX", "MS", "MS2", "T50", "MethodX"),
            "quantshift.quantifiers.trivial": ("MLPE",),
            "quantshift.quantifiers.unfolding": ("IBU", "RUN"),
        },
    )

__all__ = [
    "ACC",
    "CC",
    "CDE",
    "IBU",
    "LEIP",
    "MAPLS",
    "MAX",
    "MLPE",
    "MS",
    "MS2",
    "PACC",
    "PCC",
    "PQ",
    "RLLS",
    "RUN",
    "SLD",
    "SMM",
    "SORD",
    "T50",
    "AbstractAggregative",
    "AbstractClassifying",
    "AbstractQuantifier",
    "BBSEHard",
    "BBSESoft",
    "BayesianCC",
    "BayesianKDEy",
    "ClassifierMedian",
    "ContinuousSweep",
    "CvMy",
    "DMx",
    "DMy",
    "DeBias",
    "DyS",
    "EDx",
    "EDy",
    "EoQ",
    "Estimate",
    "ForeignQuantifier",
    "Friedman",
    "FusedSLD",
    "GuardedSLD",
    "HDx",
    "HDy",
    "Items",
    "KDEyCS",
    "KDEyHD",
    "KDEyML",
    "MMDx",
    "MMDy",
    "Median",
    "MethodX",
    "OrdinalACC",
    "OrdinalLikelihood",
    "OrdinalPACC",
    "OrdinalSLD",
    "QuaDapt",
    "SubclassSLD",
    "adjust",
    "class_means",
    "is_quantifier",
    "sample_means",
    "wrap",
]
