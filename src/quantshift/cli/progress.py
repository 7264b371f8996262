"""Progress of long tasks: a bar on a terminal, otherwise a line every 10 seconds.

A task reports its progress by calling a function with its name, how much is done, and the total (0
if unknown).
"""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import TypeAlias

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.text import Text

QUIET_SECONDS = 5.0
"""Without a terminal, nothing is printed about tasks that take less time than this."""

LINE_EVERY_SECONDS = 10.0

Advance: TypeAlias = Callable[[str, int, int], None]
"""Takes the name of the task, how much is done and the total (0: unknown)."""


def byte_progress(console: Console) -> AbstractContextManager[Advance]:
    """Progress of work that is counted in bytes."""
    return _reporting(console, (DownloadColumn(), TransferSpeedColumn()), byte_line)


@contextmanager
def item_progress(console: Console) -> Iterator[Advance]:
    """Progress of work that is counted in rows, replicates or documents.

    The compilation of loops that are not cached yet is announced: the bar stands still meanwhile.
    """
    from quantshift.compiled import announced

    reporting = _reporting(console, (_CountColumn(),), item_line)
    with announced(partial(say, console)), reporting as advance:
        yield advance


def share_progress(console: Console) -> AbstractContextManager[Advance]:
    """Progress of work in any unit, shown as a percentage."""
    return _reporting(console, (TaskProgressColumn(),), share_line)


def byte_line(task_name: str, done: int, total: int, rate: float) -> str:
    """One line of progress; `rate` in bytes per second.

    >>> byte_line("Books.json.gz", 25_000_000, 100_000_000, 2.5e6)
    'Books.json.gz: 25%, 2.5 MB/s, 0:30 left'
    """
    share = round(100 * done / total) if total else 100
    return f"{task_name}: {share}%, {rate / 1e6:.1f} MB/s, {_left(done, total, rate)} left"


def item_line(task_name: str, done: int, total: int, rate: float) -> str:
    """One line of progress; `rate` in items per second.

    >>> item_line("resampling", 250, 1000, 25.0)
    'resampling: 250 of 1,000, 0:30 left'
    >>> item_line("reading new.csv", 40_960, 0, 8000.0)
    'reading new.csv: 40,960'
    """
    if not total:
        return f"{task_name}: {done:,}" if done else task_name
    left = f", {_left(done, total, rate)} left" if rate > 0 else ""
    return f"{task_name}: {done:,} of {total:,}{left}"


def share_line(task_name: str, done: int, total: int, rate: float) -> str:
    """One line of progress; `rate` in units per second.

    >>> share_line("reading churn.csv", 1, 4, 0.1)
    'reading churn.csv: 25%, 0:30 left'
    """
    left = f", {_left(done, total, rate)} left" if rate > 0 else ""
    return f"{task_name}: {round(100 * done / max(total, 1))}%{left}"


def say(console: Console, text: str, style: str | None = None) -> None:
    """Print the text as it is."""
    # Without wrapping, whatever the width: commands are copied, outputs are searched.
    console.print(text, markup=False, highlight=False, soft_wrap=True, style=style)


class _CountColumn(ProgressColumn):
    """The number done, and the total if it is known."""

    def render(self, task: Task) -> Text:
        done = f"{int(task.completed):,}" if task.completed else ""
        return Text(f"{int(task.completed):,} of {int(task.total):,}" if task.total else done)


@contextmanager
def _reporting(
    console: Console,
    counts: tuple[ProgressColumn, ...],
    line: Callable[[str, int, int, float], str],
) -> Iterator[Advance]:
    if not console.is_terminal:
        yield _line_reporter(console, line)
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), *counts)
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as bar:
        task = bar.add_task("", total=None)
        current = ""

        def advance(task_name: str, done: int, total: int) -> None:
            nonlocal current
            if task_name != current:
                current = task_name
                bar.reset(task, description=task_name)
            bar.update(task, completed=done, total=total or None)

        yield advance


def _line_reporter(console: Console, line: Callable[[str, int, int, float], str]) -> Advance:
    started = now = time.monotonic()
    due = now + QUIET_SECONDS
    first, previous = 0, ("", 0)

    def advance(task_name: str, done: int, total: int) -> None:
        nonlocal started, due, first, previous
        now = time.monotonic()
        if task_name != previous[0] or done < previous[1] or previous[1] == 0:
            # A new task, or one that was partly done already: its rate counts from here.
            started, first = now, done
        previous = task_name, done
        if now >= due:
            due = now + LINE_EVERY_SECONDS
            rate = (done - first) / max(now - started, 1e-9)
            say(console, line(task_name, done, total, rate))

    return advance


def _left(done: int, total: int, rate: float) -> str:
    left = round((total - done) / rate) if rate > 0 else 0
    return f"{left // 60}:{left % 60:02d}"
