"""`quantshift status` and `verify`: the progress of a run, and whether its files are intact."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from quantshift.base.nouns import counted
from quantshift.base.text_tables import Table, text_table
from quantshift.errors import UserError
from quantshift.lab.experiments.planning import planned
from quantshift.lab.results.completeness import status as status_frame
from quantshift.lab.results.store import ResultStore
from quantshift.lab.results.verification import repair
from quantshift.lab.results.verification import verify as verify_store

SHOWN_FAILURES = 10

Results = Annotated[
    Path, typer.Argument(metavar="DIR", help="A folder of results.", show_default=False)
]


def status(results: Results) -> None:
    """Show what is done, failed and pending in each experiment and data set, and how fast it ran.

    If the results use a custom shift, its Python class is imported; nothing else is.
    """
    console = Console()
    store = ResultStore.open(results)
    frame = status_frame(store, planned(store.description))
    header = ("experiment", "data set", "cells", "done", "failed", "to do", "results", "missing")
    rows = tuple(
        (
            row["experiment"],
            row["dataset"],
            *(f"{row[name]:,}" for name in ("cells", "cells_done", "cells_failed", "cells_to_do")),
            f"{row['done']:,}",
            f"{row['failed'] + row['to_do']:,}",
        )
        for row in frame.iter_rows(named=True)
    )
    table = text_table(Table(f"Results in {results}", header, rows))
    console.print(table, markup=False, highlight=False, soft_wrap=True)
    runs = [record for record in store.log.records() if record.get("cells")]
    if runs:
        last = runs[-1]
        seconds = last.get("seconds", 0.0)
        rate = last["cells"] / seconds if seconds else 0.0
        left = sum(frame["cells_to_do"])
        time_left = (
            f"; about {left / rate / 60:.1f} minutes left at that rate" if left and rate else ""
        )
        console.print(
            f"last run: {counted(last['cells'], 'cell')} in {seconds:.0f} s with "
            f"{counted(last.get('workers', 1), 'worker')} ({rate:.2f} cells/s){time_left}",
            highlight=False,
            soft_wrap=True,
        )
    failures = _failures(store)
    for line in failures[:SHOWN_FAILURES]:
        console.print(f"failed: {line}", markup=False, highlight=False, soft_wrap=True, style="red")
    if len(failures) > SHOWN_FAILURES:
        more = counted(len(failures) - SHOWN_FAILURES, "more failure")
        console.print(f"... and {more}", style="red")


def verify(
    results: Results,
    remove: Annotated[
        bool,
        typer.Option(
            "--repair",
            help="Remove damaged files, so that the next run computes them again; a damaged "
            "store.json is rebuilt from its parts.",
        ),
    ] = False,
) -> None:
    """Check every result file against its checksum, and that nothing planned is missing.

    Exit code 0: intact and complete; 1: damaged or incomplete.
    """
    console = Console()
    store = ResultStore.rebuild(results) if remove else ResultStore.open(results)
    problems = verify_store(store)
    for problem in problems:
        console.print(str(problem), markup=False, highlight=False, soft_wrap=True)
    if remove:
        removed = sum(repair(store, problem) for problem in problems if problem.repairable)
        console.print(
            f"{counted(removed, 'damaged file')} removed or rebuilt; run the experiments again"
        )
    frame = status_frame(store, planned(store.description))
    missing = sum(frame["to_do"]) + sum(frame["failed"])
    done = sum(frame["done"])
    console.print(
        f"{counted(done, 'result')}, {len(problems)} damaged, {missing:,} missing or failed",
        highlight=False,
    )
    if problems or missing:
        raise typer.Exit(1)


def _failures(store: ResultStore) -> list[str]:
    lines = []
    for experiment, dataset, cell in store.places():
        try:
            failures = store.failures(experiment, dataset, cell)
        except UserError as error:
            lines.append(str(error))
            continue
        for failure in failures:
            methods = ", ".join(failure.methods)
            message = " ".join(failure.message.split())
            lines.append(f"{experiment} {dataset} {cell} {methods}: {failure.error}: {message}")
    return lines
