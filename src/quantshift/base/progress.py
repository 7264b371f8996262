"""Progress reports, for callers that display them."""

from collections.abc import Callable
from typing import TypeAlias

OnProgress: TypeAlias = Callable[[str, int, int], None]
"""Called with the current step, how much of it is done, and the total (0: unknown)."""


def silent(step: str, done: int, total: int) -> None:
    """Ignore progress reports."""
