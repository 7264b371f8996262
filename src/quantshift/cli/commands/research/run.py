"""`quantshift run`: run experiments, given by name or as TOML files, into a store of results."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from quantshift.base.nouns import counted
from quantshift.base.shell import command_line
from quantshift.base.text_tables import text_table
from quantshift.cli.cell_progress import cell_progress
from quantshift.cli.label_suite import run_label_suite, without_label_suite
from quantshift.cli.machine import n_cores
from quantshift.cli.outputs import DryRun, ResultsFolder
from quantshift.cli.progress import say
from quantshift.lab.experiments.documents.loading import experiments_of
from quantshift.lab.experiments.executors import AbstractExecutor, executor
from quantshift.lab.experiments.options import ExperimentOptions, RunOptions
from quantshift.lab.experiments.planning import plan_table
from quantshift.lab.experiments.runner import REDO_FAILED, Run, RunSummary, run_experiments
from quantshift.lab.leaderboard.options import EntrantOptions
from quantshift.lab.results.store import ResultStore


def run(
    experiments: Annotated[
        list[str],
        typer.Argument(
            metavar="EXPERIMENT...",
            help="Names of experiments or suites (see `quantshift list experiments`), or TOML "
            "files.",
            show_default=False,
        ),
    ],
    out: ResultsFolder,
    experiment_options: ExperimentOptions,
    options: RunOptions,
    dry_run: DryRun = False,
) -> None:
    """Run experiments; results that exist are not computed again.

    A TOML file may name Python classes, which are imported, also with --dry-run: an experiment file
    is code, so run only those you trust.

    If the command was killed or stopped with Ctrl-C, run it again to resume. Exit code 0: complete;
    1: some cells failed (see `quantshift status`); 2: invalid input; 130: stopped by Ctrl-C.

    Examples:

        quantshift run prior local --out runs/first

        quantshift run multiclass knock-out --out runs/suites

        quantshift run prior covariate --data reviews --out runs/paper --jobs 2

        quantshift run prior --data churn --data adult --out runs/tables

        quantshift run natural --data mixed-table --out runs/natural --profile quick

        quantshift run multilabel --data emotions --out runs/labels

        quantshift run my.toml --data reviews --out runs/mine --set shift.test_repeats=10
    """
    console = Console()
    others, is_label_suite = without_label_suite(experiments)
    if is_label_suite:
        entrants = EntrantOptions()
        run_label_suite(out, experiment_options, options, entrants, dry_run=dry_run)
        if not others:
            return
    loaded = tuple(experiment_options.load(name) for name in experiments_of(others))
    sources = {e.name: experiment_options.sources(e) for e in loaded}
    prepared = Run(loaded, sources, out)
    if dry_run:
        store = ResultStore.open(out) if (out / "store.json").exists() else None
        say(console, text_table(plan_table(prepared.plan(store))))
        return
    chosen = executor(options.n_workers or n_cores(), options.cluster)
    summary = carry_out(prepared, chosen, options.redo, console)
    if summary.failures or summary.failed_before:
        raise typer.Exit(1)


def carry_out(
    prepared: Run, chosen: AbstractExecutor, redo: str | None, console: Console
) -> RunSummary:
    """Run experiments and print what was done or, after Ctrl-C, how to resume."""
    command = command_line(["quantshift", *sys.argv[1:]])
    try:
        with cell_progress(console) as progress:
            summary = run_experiments(
                prepared, chosen, redo=redo, progress=progress, command=command
            )
    except KeyboardInterrupt:
        resume = resume_command(sys.argv[1:], redo)
        say(console, f"\nstopped; nothing is lost. To resume: {resume}")
        raise typer.Exit(130) from None
    _tell_summary(summary, prepared.out, console)
    return summary


def resume_command(arguments: Sequence[str], redo: str | None) -> str:
    """The command that resumes a run: without --redo all or METHOD, which would start over.

    >>> resume_command(["run", "prior", "--redo", "all", "--out", "runs/a b"], "all")
    "quantshift run prior --out 'runs/a b'"
    """
    remaining = list(arguments)
    if redo not in (None, REDO_FAILED) and f"--redo={redo}" in remaining:
        remaining.remove(f"--redo={redo}")
    elif redo not in (None, REDO_FAILED) and "--redo" in remaining:
        position = remaining.index("--redo")
        del remaining[position : position + 2]
    return command_line(["quantshift", *remaining])


def _tell_summary(summary: RunSummary, out: Path, console: Console) -> None:
    """Print what a run did, and how to run again what failed."""
    for problem in summary.repaired:
        say(console, f"damaged and computed again: {problem}")
    minutes, seconds = divmod(round(summary.seconds), 60)
    say(console, f"{counted(summary.done, 'cell')} in {minutes}:{seconds:02d}; results in {out}")
    for line in summary.failures[:10]:
        say(console, f"failed: {line}", style="red")
    if len(summary.failures) > 10:
        more = counted(len(summary.failures) - 10, "more failure")
        say(console, f"... and {more}", style="red")
    if summary.failed_before:
        failed = counted(summary.failed_before, "result")
        say(console, f"{failed} failed in an earlier run", style="red")
    if summary.failures or summary.failed_before:
        say(console, "to try them again, run the same command with --redo failed")
