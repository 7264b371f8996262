"""What to run: experiments as data, their cells, and which of them remain to be done."""

from quantshift.experiments.documents.document import parse_overrides
from quantshift.experiments.documents.loading import (
    experiments_of,
    library,
    library_names,
    load_experiment,
    suites,
)
from quantshift.experiments.executors import (
    AbstractExecutor,
    DaskExecutor,
    ProcessExecutor,
    SerialExecutor,
    executor,
)
from quantshift.experiments.experiment import Experiment, MethodSpec
from quantshift.experiments.label_results import (
    LabelProblem,
    LabelProtocols,
    run_label_experiments,
)
from quantshift.experiments.planning import Cell, Plan, plan, plan_table, planned
from quantshift.experiments.runner import Run, RunProgress, RunSummary, run_experiments
from quantshift.experiments.sources import sources_of

__all__ = [
    "AbstractExecutor",
    "Cell",
    "DaskExecutor",
    "Experiment",
    "LabelProblem",
    "LabelProtocols",
    "MethodSpec",
    "Plan",
    "ProcessExecutor",
    "Run",
    "RunProgress",
    "RunSummary",
    "SerialExecutor",
    "executor",
    "experiments_of",
    "library",
    "library_names",
    "load_experiment",
    "parse_overrides",
    "plan",
    "plan_table",
    "planned",
    "run_experiments",
    "run_label_experiments",
    "sources_of",
    "suites",
]
