"""`quantshift demo`: a first look, on data that come with the package."""

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from quantshift.demo import run_demo


def demo() -> None:
    """Nine quantifiers under every kind of shift, on the embedded synthetic reviews.

    Prints the mean absolute error of each method under each shift; the best of a column is bold
    (MLPE, which always answers the training prevalence, is the yardstick and not in the race).
    Takes less than a minute and needs no data.
    """
    console = Console()
    with Progress(
        TextColumn("fitting and estimating"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    ) as progress:
        task = progress.add_task("", total=None)
        frame = run_demo(lambda done, total: progress.update(task, completed=done, total=total))
    table = Table(title="Mean absolute error by method and kind of shift", title_justify="left")
    table.add_column("method", style="bold cyan")
    kinds = frame.columns[1:]
    for kind in kinds:
        table.add_column(kind, justify="right")
    # The yardstick is not in the race: where the prevalence has not moved it is right by design.
    best = {kind: frame.filter(frame["method"] != "MLPE")[kind].min() for kind in kinds}
    for row in frame.iter_rows(named=True):
        cells = [
            f"[bold green]{row[kind]:.3f}[/]" if row[kind] == best[kind] else f"{row[kind]:.3f}"
            for kind in kinds
        ]
        table.add_row(row["method"], *cells)
    console.print(table)
    console.print(
        "Synthetic reviews of two categories; no method is best under every shift.", style="dim"
    )
