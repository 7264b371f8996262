"""Progress of long work: a bar on a terminal, a line now and then elsewhere.

Work reports with a function of three: what is being done, how much of it is done, and how much
there is in all, 0 if unknown.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
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
"""Off a terminal nothing is said of work that is done sooner."""

LINE_EVERY_SECONDS = 10.0

Advance: TypeAlias = Callable[[str, int, int], None]
"""Takes what is being worked on, how much is done and how much there is in all (0: unknown)."""


def byte_progress(console: Console) -> AbstractContextManager[Advance]:
    """Progress of work that is counted in bytes."""
    return _reporting(console, (DownloadColumn(), TransferSpeedColumn()), byte_line)


@contextmanager
def item_progress(console: Console) -> Iterator[Advance]:
    """Progress of work that is counted in rows, replicates, documents.

    Compiled loops that are not on disk yet are announced: nothing moves while they are compiled.
    """
    from quantshift.compiled import announced

    def say(line: str) -> None:
        console.print(line, markup=False, highlight=False, soft_wrap=True)

    with announced(say), _reporting(console, (_CountColumn(),), item_line) as advance:
        yield advance


def share_progress(console: Console) -> AbstractContextManager[Advance]:
    """Progress of work of any unit, or of several."""
    return _reporting(console, (TaskProgressColumn(),), share_line)


def byte_line(what: str, done: int, total: int, rate: float) -> str:
    """One line of progress; `rate` in bytes per second.

    >>> byte_line("Books.json.gz", 25_000_000, 100_000_000, 2.5e6)
    'Books.json.gz: 25%, 2.5 MB/s, 0:30 left'
    """
    share = round(100 * done / total) if total else 100
    return f"{what}: {share}%, {rate / 1e6:.1f} MB/s, {_left(done, total, rate)} left"


def item_line(what: str, done: int, total: int, rate: float) -> str:
    """One line of progress; `rate` in items per second.

    >>> item_line("resampling", 250, 1000, 25.0)
    'resampling: 250 of 1,000, 0:30 left'
    >>> item_line("reading new.csv", 40_960, 0, 8000.0)
    'reading new.csv: 40,960'
    """
    if not total:
        return f"{what}: {done:,}" if done else what
    left = f", {_left(done, total, rate)} left" if rate > 0 else ""
    return f"{what}: {done:,} of {total:,}{left}"


def share_line(what: str, done: int, total: int, rate: float) -> str:
    """One line of progress; `rate` in anything per second.

    >>> share_line("reading churn.csv", 1, 4, 0.1)
    'reading churn.csv: 25%, 0:30 left'
    """
    left = f", {_left(done, total, rate)} left" if rate > 0 else ""
    return f"{what}: {round(100 * done / max(total, 1))}%{left}"


class _CountColumn(ProgressColumn):
    """How many are done, and of how many if that is known."""

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
        doing = ""

        def advance(what: str, done: int, total: int) -> None:
            nonlocal doing
            if what != doing:
                doing = what
                bar.reset(task, description=what)
            bar.update(task, completed=done, total=total or None)

        yield advance


def _line_reporter(console: Console, line: Callable[[str, int, int, float], str]) -> Advance:
    begun = now = time.monotonic()
    due = now + QUIET_SECONDS
    first, previous = 0, ("", 0)

    def advance(what: str, done: int, total: int) -> None:
        nonlocal begun, due, first, previous
        now = time.monotonic()
        if what != previous[0] or done < previous[1] or previous[1] == 0:
            # Another piece of work, or one that was begun before: its rate counts from here.
            begun, first = now, done
        previous = what, done
        if now >= due:
            due = now + LINE_EVERY_SECONDS
            rate = (done - first) / max(now - begun, 1e-9)
            said = line(what, done, total, rate)
            console.print(said, markup=False, highlight=False, soft_wrap=True)

    return advance


def _left(done: int, total: int, rate: float) -> str:
    left = round((total - done) / rate) if rate > 0 else 0
    return f"{left // 60}:{left % 60:02d}"
