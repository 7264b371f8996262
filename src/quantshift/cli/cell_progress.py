"""Progress of a run in cells: a live line on a terminal, otherwise a line every 10 seconds."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from quantshift.base.nouns import counted
from quantshift.cli.progress import line_reporter
from quantshift.lab.experiments.runner import RunProgress

STARTING = "starting workers; the first run on a machine also compiles, about 15 s"


@contextmanager
def cell_progress(console: Console) -> Iterator[Callable[[RunProgress], None]]:
    """A function that reports the progress of a run."""
    if not console.is_terminal:
        report_line = line_reporter(console)
        yield lambda progress: report_line(
            f"{progress.done}/{counted(progress.total, 'cell')}, {progress_note(progress)}",
            at_once=progress.done == progress.total,
        )
        return
    columns = (
        TextColumn("cells"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[note]}", markup=False),
    )
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=None, note=STARTING)

        def report(progress: RunProgress) -> None:
            bar.update(
                task, completed=progress.done, total=progress.total, note=progress_note(progress)
            )

        yield report


def progress_note(progress: RunProgress) -> str:
    """Rate, time left, workers and failures, in words.

    >>> progress_note(RunProgress(30, 90, (), 60.0, 2))
    '0.50 cells/s, 2:00 left, 2 workers'
    """
    left = progress.seconds_left
    clock = "" if left is None else f", {int(left) // 60}:{int(left) % 60:02d} left"
    failed = f", {len(progress.failures)} failed" if progress.failures else ""
    return f"{progress.rate:.2f} cells/s{clock}, {counted(progress.n_workers, 'worker')}{failed}"
