"""`quantshift demo`: a first look, with data that comes with the package."""

from pathlib import Path
from typing import Annotated

import polars as pl
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from quantshift.cli.cell_progress import cell_progress
from quantshift.cli.commands.research.report import report
from quantshift.cli.declared import Only
from quantshift.cli.demonstration import DEFAULT_METHOD, errors_by_shift, run_demo
from quantshift.cli.machine import n_cores
from quantshift.cli.outputs import ResultsFolder
from quantshift.lab.experiments.options import RunOptions
from quantshift.lab.report.options import ReportOptions
from quantshift.lab.report.style.wording import UNSEEN
from quantshift.quantifiers.baselines import BASELINE


def demo(
    *,
    out: ResultsFolder = Path("runs/demo"),
    options: Annotated[RunOptions, Only("n_workers")],
) -> None:
    """A small-scale run of all the paper's experiments, on embedded synthetic reviews.

    Prints the mean absolute error of every method under every kind of shift and writes a web page.
    The best method is in bold, except under concept shift, where all methods fail. MLPE, which
    always predicts the training prevalence, is a baseline and not ranked.

    Takes a minute or two and needs no data; later runs show the existing results.
    """
    console = Console()
    with cell_progress(console) as progress:
        store = run_demo(out, n_workers=options.n_workers or n_cores(), progress=progress)
    console.print(_rendered(errors_by_shift(store.read().collect())))
    console.print(
        "Synthetic reviews, small samples. No method is best under every shift, and under concept "
        "shift all of them fail, so none is in bold there. With two classes "
        "SMM and PACC are the same method, so their errors are equal. "
        f"`quantshift quantify` uses {DEFAULT_METHOD} unless the sample refutes its assumption.",
        style="dim",
    )
    report(out, options=ReportOptions(formats=("html",)))


def _rendered(frame: pl.DataFrame) -> Table:
    title = "Mean absolute error by method and kind of shift"
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column(
        "method", style="bold cyan", no_wrap=True, min_width=max(map(len, frame["method"]))
    )
    kinds = frame.columns[1:]
    for kind in kinds:
        words = kind.split("-")
        table.add_column(" ".join(words), justify="right", min_width=max(map(len, words)))
    best = {
        kind: None
        if kind.split("-")[0] in UNSEEN
        else frame.filter(pl.col("method") != BASELINE)[kind].min()
        for kind in kinds
    }
    for row in frame.iter_rows(named=True):
        cells = [
            "–"
            if row[kind] is None
            else f"[bold green]{row[kind]:.3f}[/]"
            if row[kind] == best[kind]
            else f"{row[kind]:.3f}"
            for kind in kinds
        ]
        table.add_row(row["method"], *cells)
    return table
