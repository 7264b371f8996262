"""Quantification under dataset shift: quantifiers, protocols of shift, evaluation.

>>> from quantshift import SLD
>>> quantifier = SLD().fit([[0.0], [1.0], [2.0], [3.0]] * 5, ["no", "no", "yes", "yes"] * 5)
>>> quantifier.classes_.tolist()
['no', 'yes']
"""

from typing import TYPE_CHECKING

from quantshift.lazy import lazy_exports

if TYPE_CHECKING:
    from quantshift import metrics
    from quantshift.binarisation import binarise
    from quantshift.checks import check_quantifier
    from quantshift.diagnosis.which_shift import shift_test
    from quantshift.evaluation import evaluate
    from quantshift.experiments import load_experiment, run_experiments
    from quantshift.intervals import aggregate_interval, predict_interval
    from quantshift.judging import judge
    from quantshift.own_data import load_model, quantify, save_model, train
    from quantshift.quantifiers import (
        ACC,
        CC,
        MLPE,
        PACC,
        PCC,
        SLD,
        SMM,
        AbstractAggregative,
        AbstractQuantifier,
        DyS,
        Estimate,
        GuardedSLD,
        HDx,
        HDy,
        Items,
        SubclassSLD,
        wrap,
    )
    from quantshift.results import ResultStore
    from quantshift.shifts import (
        AbstractProtocol,
        AbstractShift,
        ConceptShift,
        CovariateShift,
        Draw,
        GivenSamples,
        GroupShift,
        LocalCovariateShift,
        NaturalPrevalence,
        PriorShift,
        TrainTest,
        UniformPrevalence,
    )
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "quantshift.binarisation": ("binarise",),
            "quantshift.checks": ("check_quantifier",),
            "quantshift.diagnosis.which_shift": ("shift_test",),
            "quantshift.evaluation": ("evaluate",),
            "quantshift.experiments": ("load_experiment", "run_experiments"),
            "quantshift.intervals": ("aggregate_interval", "predict_interval"),
            "quantshift.metrics": ("metrics",),
            "quantshift.judging": ("judge",),
            "quantshift.own_data": ("load_model", "quantify", "save_model", "train"),
            "quantshift.quantifiers": (
                "ACC",
                "CC",
                "MLPE",
                "PACC",
                "PCC",
                "SLD",
                "SMM",
                "AbstractAggregative",
                "AbstractQuantifier",
                "DyS",
                "Estimate",
                "GuardedSLD",
                "HDx",
                "HDy",
                "Items",
                "SubclassSLD",
                "wrap",
            ),
            "quantshift.results": ("ResultStore",),
            "quantshift.shifts": (
                "AbstractProtocol",
                "AbstractShift",
                "ConceptShift",
                "CovariateShift",
                "Draw",
                "GivenSamples",
                "GroupShift",
                "LocalCovariateShift",
                "NaturalPrevalence",
                "PriorShift",
                "TrainTest",
                "UniformPrevalence",
            ),
        },
    )

__version__ = "0.1.0"

__all__ = [
    "ACC",
    "CC",
    "MLPE",
    "PACC",
    "PCC",
    "SLD",
    "SMM",
    "AbstractAggregative",
    "AbstractProtocol",
    "AbstractQuantifier",
    "AbstractShift",
    "ConceptShift",
    "CovariateShift",
    "Draw",
    "DyS",
    "Estimate",
    "GivenSamples",
    "GroupShift",
    "GuardedSLD",
    "HDx",
    "HDy",
    "Items",
    "LocalCovariateShift",
    "NaturalPrevalence",
    "PriorShift",
    "ResultStore",
    "SubclassSLD",
    "TrainTest",
    "UniformPrevalence",
    "aggregate_interval",
    "binarise",
    "check_quantifier",
    "evaluate",
    "judge",
    "load_experiment",
    "load_model",
    "metrics",
    "predict_interval",
    "quantify",
    "run_experiments",
    "save_model",
    "shift_test",
    "train",
    "wrap",
]
