"""The suite `multilabel` on the command line: what `run` and `bench` do with it."""

import warnings
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from quantshift.base.nouns import counted
from quantshift.base.text_tables import Table, text_table
from quantshift.cli.progress import item_progress, say
from quantshift.errors import UserError
from quantshift.lab.experiments.label_results import SUITE, LabelProblem, run_label_experiments
from quantshift.lab.experiments.label_running import label_methods, label_problems, label_protocols
from quantshift.lab.experiments.options import ExperimentOptions, RunOptions
from quantshift.lab.leaderboard.options import EntrantOptions


def without_label_suite(names: Sequence[str]) -> tuple[list[str], bool]:
    """The other suites or experiments, and whether this one is among them."""
    return [name for name in names if name != SUITE], SUITE in names


def run_label_suite(
    out: Path,
    options: ExperimentOptions,
    running: RunOptions,
    who: EntrantOptions,
    *,
    dry_run: bool,
) -> None:
    """Run the suite, or print what it would run."""
    _check(options, running, who)
    methods = label_methods(who.methods)
    problems = label_problems(options.data)
    protocols = label_protocols(options.profile)
    console = Console()
    if dry_run:
        say(console, text_table(_plan(problems, len(methods))))
        return
    with (
        warnings.catch_warnings(record=True, action="always", category=UserWarning) as caught,
        item_progress(Console(stderr=True)) as progress,
    ):
        run_label_experiments(problems, methods, out, protocols, progress)
    for warning in caught:
        if warning.category is UserWarning:
            say(Console(stderr=True), f"warning: {warning.message}")
    summary = f"{counted(len(methods), 'method')} on {counted(len(problems), 'data set')}"
    say(console, f"{SUITE}: {summary}; results in {out}")


def _check(options: ExperimentOptions, running: RunOptions, who: EntrantOptions) -> None:
    """Refuse options that this suite does not have."""
    for value, argument in (
        (options.classifier, "classifier"),
        (options.overrides, "overrides"),
        (running.cluster, "cluster"),
        (running.redo, "redo"),
        (who.added, "added"),
    ):
        if value:
            raise UserError(
                f"the suite {SUITE} cannot do that; in Python, `run_label_experiments` takes "
                "methods and classifiers of your own",
                arguments=[argument],
            )


def _plan(problems: Sequence[LabelProblem], n_methods: int) -> Table:
    rows = [
        (
            problem.name,
            f"{len(problem.labels):,}",
            f"{len(problem.labels_test):,}",
            f"{len(problem.labels.names):,}",
            str(n_methods),
        )
        for problem in problems
    ]
    return Table("", ("data set", "training items", "test items", "labels", "methods"), tuple(rows))
