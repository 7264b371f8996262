"""`quantshift report`: from a store of results to a page, tables and figures."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from quantshift.base.nouns import counted
from quantshift.base.options import as_keywords
from quantshift.cli.machine import n_cores
from quantshift.cli.progress import line_reporter, say
from quantshift.lab.experiments.planning import planned
from quantshift.lab.report.options import ReportOptions
from quantshift.lab.results.description import REPORT
from quantshift.lab.results.predictions import write_predictions
from quantshift.lab.results.store import ResultStore


def report(
    results: Annotated[
        Path, typer.Argument(metavar="RUNS", help="A folder of results.", show_default=False)
    ],
    *,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            help="Where to write the report (default: RUNS/report).",
            show_default=False,
        ),
    ] = None,
    options: ReportOptions,
    predictions: Annotated[
        Path | None,
        typer.Option(
            "--predictions",
            metavar="DIR",
            help="Instead of a report: write the estimates for the samples of the data set into "
            "this folder in the format of the LeQua challenges, a file per method (id, then a "
            "column per class).",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Turn results into a web page, tables, figures and a summary; nothing is run again.

    Unfinished results give a report with gaps; failed methods and unfinished data sets are named.

    Examples:

        quantshift report runs/first

        quantshift report runs/paper --against paper

        quantshift report runs/paper --out paper/tables --formats tex --formats pdf

        quantshift report runs/mine --measure rae --methods SLD,PACC,Mine

        quantshift report runs/lequa --predictions predictions --methods SLD
    """
    console = Console()
    store = ResultStore.open(results)
    if predictions is not None:
        written_files = write_predictions(store, predictions, methods=options.methods)
        say(console, f"{counted(len(written_files), 'file')} of predictions in {predictions}")
        return
    # Imported here because reports need packages that take a second to import.
    from quantshift.lab.report.build import build_report

    with _report_progress(console) as progress:
        written = build_report(
            store,
            out,
            **as_keywords(options),
            planned=planned(store.description),
            workers=n_cores(),
            progress=progress,
        )
    folder = (out or results / REPORT).resolve()
    page = folder / "report.html"
    for gap in written.gaps:
        say(console, f"incomplete: {gap}")
    say(console, f"{counted(len(written.files), 'file')} in {folder}")
    if folder / page.name in [path.resolve() for path in written.files]:
        size = page.stat().st_size / 1e6
        say(console, f"open {page.as_uri()} in a browser ({size:.1f} MB, needs no network)")


@contextmanager
def _report_progress(console: Console) -> Iterator[Callable[[str], None]]:
    """A function that shows the current step: a live line on a terminal, otherwise plain lines."""
    if not console.is_terminal:
        report_line = line_reporter(console)
        yield lambda item: report_line(f"working on {item}")
        return
    with console.status("reading") as status:
        yield lambda item: status.update(f"working on {escape(item)}")
