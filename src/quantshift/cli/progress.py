"""Progress of long work: a bar on a terminal, a line now and then elsewhere."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

LINE_EVERY_SECONDS = 5.0

Advance: TypeAlias = Callable[[str, int, int], None]
"""Takes what is being worked on, the bytes done and the bytes in all."""


@contextmanager
def byte_progress(console: Console) -> Iterator[Advance]:
    """A function to report progress with, for the time of the work."""
    if not console.is_terminal:
        yield _line_reporter(console)
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=None)

        def advance(what: str, done: int, total: int) -> None:
            bar.update(task, description=what, completed=done, total=total)

        yield advance


@contextmanager
def item_progress(console: Console, what: str) -> Iterator[Callable[[int, int], None]]:
    """A function that takes the items done and the items in all; silent off a terminal."""
    columns = (
        TextColumn(what, markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _line_reporter(console: Console) -> Advance:
    begun = last = time.monotonic()
    first = previous = 0

    def advance(what: str, done: int, total: int) -> None:
        nonlocal begun, last, first, previous
        now = time.monotonic()
        if done < previous or previous == 0:
            # Another piece of work, or one that was begun before: its rate counts from here.
            begun, first = now, done
        previous = done
        if now - last >= LINE_EVERY_SECONDS:
            last = now
            rate = (done - first) / max(now - begun, 1e-9)
            line = progress_line(what, done, total, rate)
            console.print(line, markup=False, highlight=False, soft_wrap=True)

    return advance


def progress_line(what: str, done: int, total: int, rate: float) -> str:
    """One line of progress; `rate` in bytes per second.

    >>> progress_line("Books.json.gz", 25_000_000, 100_000_000, 2.5e6)
    'Books.json.gz: 25 %, 2.5 MB/s, 0:30 left'
    """
    share = round(100 * done / total) if total else 100
    left = round((total - done) / rate) if rate > 0 else 0
    return f"{what}: {share} %, {rate / 1e6:.1f} MB/s, {left // 60}:{left % 60:02d} left"
