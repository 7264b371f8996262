"""Progress reports, for callers that display them."""

from collections.abc import Callable
from typing import TypeAlias

OnProgress: TypeAlias = Callable[[str, int, int], None]
"""Called with the current step, how much of it is done, and the total (0: unknown)."""


def silent(step: str, done: int, total: int) -> None:
    """Ignore progress reports."""


def within(task: str, progress: OnProgress) -> OnProgress:
    """Progress reports whose steps are named after the task that they are a part of.

    >>> within("label 2 of 6 (spam)", lambda step, done, total: print(step, done, total))("x", 1, 3)
    label 2 of 6 (spam): x 1 3
    """

    def report(step: str, done: int, total: int) -> None:
        progress(f"{task}: {step}", done, total)

    return report
