"""What to run: experiments as data, their cells, and which of them remain to be done."""

from quantshift.lab.experiments.documents.document import parse_overrides
from quantshift.lab.experiments.documents.experiment import Experiment, MethodSpec
from quantshift.lab.experiments.documents.loading import (
    experiments_of,
    library,
    library_names,
    load_experiment,
    suites,
)
from quantshift.lab.experiments.executors import (
    AbstractExecutor,
    DaskExecutor,
    ProcessExecutor,
    SerialExecutor,
    executor,
)
from quantshift.lab.experiments.label_results import (
    LabelProblem,
    LabelProtocols,
    run_label_experiments,
)
from quantshift.lab.experiments.planning import Cell, Plan, plan, plan_table, planned
from quantshift.lab.experiments.runner import Run, RunProgress, RunSummary, run_experiments
from quantshift.lab.experiments.sources import sources_of

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
