"""`quantshift bench`: every method on suites of experiments, and the leaderboard."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from quantshift.base.nouns import counted
from quantshift.base.text_tables import text_table
from quantshift.cli.commands.research.run import carry_out
from quantshift.cli.label_suite import run_label_suite, without_label_suite
from quantshift.cli.machine import load_average, n_cores
from quantshift.cli.outputs import DryRun, ResultsFolder
from quantshift.cli.progress import say
from quantshift.lab.experiments.executors import executor
from quantshift.lab.experiments.options import ExperimentOptions, RunOptions
from quantshift.lab.experiments.planning import plan_table
from quantshift.lab.leaderboard.benchmark import Benchmark, planned_benchmark
from quantshift.lab.leaderboard.duration import expected_duration
from quantshift.lab.leaderboard.options import EntrantOptions
from quantshift.lab.results.store import ResultStore


def bench(
    suites: Annotated[
        list[str],
        typer.Argument(
            metavar="SUITE...",
            help="Suites to run (see `quantshift list experiments`), or all (but multilabel, which "
            "needs other data: name it).",
            show_default=False,
        ),
    ],
    *,
    out: ResultsFolder = Path("runs/bench"),
    who: EntrantOptions,
    experiment_options: ExperimentOptions,
    options: RunOptions,
    dry_run: DryRun = False,
) -> None:
    """Run all methods on suites of experiments, and write the leaderboard.

    Methods that do not suit a data set (such as methods for ordered classes if the classes have no
    order) are skipped, and the reason is printed. Existing results are not computed again. If the
    command was killed or stopped with Ctrl-C, run it again to resume. The leaderboard, in
    DIR/leaderboard.html, .csv, -pairs.csv and .tex, covers all results in DIR, whatever command
    created them.

    Exit code 0: complete; 1: some methods failed, or a suite could not be run; 2: invalid input;
    130: stopped by Ctrl-C.

    Examples:

        quantshift bench all

        quantshift bench paper --methods SLD,PACC,KDEyML --dry-run

        quantshift bench natural --data churn --add my.py:Mine

        quantshift bench tables-prior --classifier sklearn.naive_bayes:GaussianNB

        quantshift bench multilabel --data emotions --data yeast
    """
    console = Console()
    others, is_label_suite = without_label_suite(suites)
    if is_label_suite:
        run_label_suite(out, experiment_options, options, who, dry_run=dry_run)
        if not others:
            if not dry_run:
                _tell_leaderboard(out, console)
            return
    planned = planned_benchmark(others, out, experiment_options, who)
    n_workers = options.n_workers or n_cores()
    _tell_left_out(planned, console)
    if dry_run:
        _tell_plan(planned, n_workers, console)
        return
    chosen = executor(n_workers, options.cluster, apart=bool(who.added))
    summary = carry_out(planned.run, chosen, options.redo, console)
    if summary.failures and not _has_results(out):
        say(console, "no method has results, so there is no leaderboard")
        raise typer.Exit(1)
    _tell_leaderboard(out, console)
    if planned.missing_suites:
        say(console, f"not run at all: {', '.join(planned.missing_suites)} (the reason is above)")
    if summary.failures or summary.failed_before or planned.missing_suites:
        raise typer.Exit(1)


def _tell_leaderboard(out: Path, console: Console) -> None:
    # Imported here because the page needs packages that take a second to import.
    from quantshift.lab.leaderboard.build import build_leaderboard

    board = build_leaderboard(out)
    size = board.page.stat().st_size / 1e6
    say(console, f"open {board.page.resolve().as_uri()} in a browser ({size:.1f} MB)")


def _has_results(out: Path) -> bool:
    return not ResultStore.open(out).read().head(1).collect().is_empty()


def _tell_left_out(planned: Benchmark, console: Console) -> None:
    for skipped in planned.skipped:
        option = " (--set)" if "overrides" in skipped.reason.arguments else ""
        say(console, f"skipped: {skipped}{option}")
    for line in planned.left_out():
        say(console, f"left out {line}")


def _tell_plan(planned: Benchmark, n_workers: int, console: Console) -> None:
    out = planned.run.out
    store = ResultStore.open(out) if (out / "store.json").exists() else None
    plan = planned.run.plan(store)
    say(console, text_table(plan_table(plan)))
    duration = expected_duration(plan, store)
    seconds = duration.wall(n_workers)
    time = f"about {counted(round(seconds / 60), 'minute')}" if seconds >= 60 else "under a minute"
    source = (
        f"{round(100 * duration.known)}% of it based on times in the log of {out}"
        if duration.known
        else "a rough guess from runs on the small data sets of the package; tables with more "
        "items or classes can take many times as long"
    )
    cores, busy = n_cores(), load_average()
    if busy + n_workers > cores + 0.5:
        load_now = f"load {busy:.1f}, {counted(cores, 'core')}"
        source += f"; longer, because other programs are busy: {load_now}"
    workers = counted(n_workers, "worker")
    say(console, f"{time} with {workers} ({source})")
