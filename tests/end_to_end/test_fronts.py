"""Functions with keywords have the options that their dataclasses declare, with their defaults."""

import inspect
from dataclasses import fields

import pytest

from quantshift.base.options import option_texts
from quantshift.history import watch
from quantshift.history.watching.options import AlarmOptions, WatchOptions
from quantshift.judging import judge, plan_judge
from quantshift.judging.reading.options import (
    ComparisonOptions,
    JudgeOptions,
    LabelOptions,
    LevelOptions,
    PlanOptions,
    RateOptions,
)
from quantshift.lab.data import import_reviews, import_table
from quantshift.lab.data.importing.options import ImportedColumns, ReadingOptions, ReviewLimits
from quantshift.lab.experiments.options import QUICK, ExperimentOptions
from quantshift.lab.leaderboard import plan_benchmark
from quantshift.lab.leaderboard.options import EntrantOptions
from quantshift.lab.report import build_report
from quantshift.lab.report.options import ReportOptions
from quantshift.quantifying import plan_quantify, quantify, train
from quantshift.quantifying.declaration import Declaration
from quantshift.quantifying.options import (
    AuditOptions,
    BatchOptions,
    ColumnOptions,
    EstimationOptions,
    SheetOptions,
    Sources,
    TrainingOptions,
)
from quantshift.sketches import sketch
from quantshift.sketches.options import CountedColumns, CountingOptions

FRONTS = {
    quantify: (
        ColumnOptions,
        TrainingOptions,
        BatchOptions,
        AuditOptions,
        EstimationOptions,
        Declaration,
    ),
    train: (ColumnOptions, TrainingOptions, Declaration),
    plan_quantify: (SheetOptions,),
    watch: (WatchOptions, AlarmOptions),
    judge: (JudgeOptions, LabelOptions, ComparisonOptions, RateOptions, LevelOptions),
    plan_judge: (PlanOptions, LevelOptions),
    sketch: (CountedColumns, CountingOptions),
    import_table: (ImportedColumns, ReadingOptions),
    import_reviews: (ReviewLimits, ReadingOptions),
    plan_benchmark: (ExperimentOptions, EntrantOptions),
    build_report: (ReportOptions,),
}


@pytest.mark.parametrize("front", FRONTS, ids=lambda front: front.__name__)
def test_keywords_and_defaults_are_those_that_are_declared(front):
    parameters = inspect.signature(front).parameters
    declared = {
        field.name: field.default
        for options in FRONTS[front]
        for field in fields(options)
        if field.name in option_texts(options)
    }
    taken = {name: parameters[name].default for name in declared}
    if front in (train, import_table):
        # Without a label there is nothing to learn from.
        assert taken.pop("label") is inspect.Parameter.empty
        del declared["label"]
    if front is plan_benchmark:
        # An experiment alone has a profile that depends on its data.
        assert taken.pop("profile") == QUICK
        del declared["profile"]
    if front is judge:
        # Verdicts may be values, and then there is no table.
        assert taken.pop("verdict") is None
        del declared["verdict"]
    assert taken == declared


def test_tables_of_a_call_are_keywords_too():
    assert {field.name for field in fields(Sources)} <= set(inspect.signature(quantify).parameters)
