"""Progress of long tasks: a bar on a terminal, otherwise a line every 10 seconds.

A task reports its progress by calling a function with its name, how much is done, and the total (0
if unknown).
"""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from threading import Event, Lock, Thread

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

from quantshift.base.progress import OnProgress

QUIET_SECONDS = 5.0
"""Without a terminal, nothing is printed about tasks that take less time than this."""

LINE_EVERY_SECONDS = 10.0
BEAT_SECONDS = 1.0
"""How often it is checked whether a line is due."""

FIRST_SHARE = 0.02
"""The share of a task after which it is said how much time is left."""


def byte_progress(console: Console) -> AbstractContextManager[OnProgress]:
    """Progress of work that is counted in bytes."""
    return _reporting(console, (DownloadColumn(), TransferSpeedColumn()), byte_line)


@contextmanager
def item_progress(console: Console) -> Iterator[OnProgress]:
    """Progress of work that is counted in rows, replicates or documents.

    The compilation of loops that are not cached yet is announced: the bar stands still meanwhile.
    """
    from quantshift.base.compiled import announced

    reporting = _reporting(console, (_CountColumn(),), item_line, beats=True)
    with announced(partial(say, console)), reporting as advance:
        yield advance


def share_progress(console: Console) -> AbstractContextManager[OnProgress]:
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


def line_reporter(console: Console) -> Callable[..., None]:
    """A function that prints a line, or nothing if the last one is less than 10 seconds ago.

    With `at_once=True` the line is printed in any case.
    """
    last = time.monotonic()

    def report(text: str, *, at_once: bool = False) -> None:
        nonlocal last
        now = time.monotonic()
        if at_once or now - last >= LINE_EVERY_SECONDS:
            last = now
            say(console, text)

    return report


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
    *,
    beats: bool = False,
) -> Iterator[OnProgress]:
    """Show progress as a bar or in lines.

    beats: without a terminal, lines are also printed while a step of the task takes long.
    """
    if not console.is_terminal:
        lines = _Lines(console, line, from_zero=beats)
        with lines.beating() if beats else nullcontext():
            yield lines.advance
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


class _Lines:
    """A line of progress every now and then.

    from_zero: whether a task that reports zero has begun its work then; a download that is
    continued jumps from zero to what is there already.
    """

    def __init__(
        self, console: Console, line: Callable[[str, int, int, float], str], *, from_zero: bool
    ) -> None:
        self.console, self.line, self.from_zero = console, line, from_zero
        self.started = self.reported = time.monotonic()
        self.due = self.started + QUIET_SECONDS
        self.task_name, self.first, self.done, self.total = "", 0, 0, 0
        self.lock = Lock()

    def advance(self, task_name: str, done: int, total: int) -> None:
        """What a task reports."""
        with self.lock:
            continued = self.done == 0 and not self.from_zero
            if task_name != self.task_name or done < self.done or continued:
                # A new task, or one that was partly done already: its rate counts from here.
                self.started, self.first = time.monotonic(), done
            self.task_name, self.done, self.total = task_name, done, total
            self.reported = time.monotonic()
            self._say_if_due()

    def _say_if_due(self) -> None:
        now = time.monotonic()
        if now < self.due or not self.task_name:
            return
        self.due = now + LINE_EVERY_SECONDS
        passed = max(now - self.started, 1e-9)
        done = self.done - self.first
        # The step under way is taken to be as fast as those before it.
        rate = done / max(self.reported - self.started, 1e-9)
        under_way = min((now - self.reported) * rate, 1.0)
        if self.from_zero and done < FIRST_SHARE * self.total:
            # The first steps may have compiled their loops: they say little about the others.
            done, under_way = 0, 0.0
        text = self.line(self.task_name, self.done, self.total, (done + under_way) / passed)
        if not done and passed >= QUIET_SECONDS:
            text += f", {_clock(passed)} so far"
        say(self.console, text)

    @contextmanager
    def beating(self) -> Iterator[None]:
        """Print lines between the reports of a task, too."""
        stopped = Event()

        def beat() -> None:
            while not stopped.wait(BEAT_SECONDS):
                with self.lock:
                    self._say_if_due()

        thread = Thread(target=beat, daemon=True)
        thread.start()
        try:
            yield
        finally:
            stopped.set()
            thread.join()


def _left(done: int, total: int, rate: float) -> str:
    return _clock((total - done) / rate if rate > 0 else 0.0)


def _clock(seconds: float) -> str:
    """Minutes and seconds.

    >>> _clock(90.4)
    '1:30'
    """
    return f"{round(seconds) // 60}:{round(seconds) % 60:02d}"
