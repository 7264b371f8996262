"""How far the work is, for callers that show it."""

from collections.abc import Callable
from typing import TypeAlias

OnProgress: TypeAlias = Callable[[str, int, int], None]
"""Takes what is being done, how much of it is done and how much there is in all (0: unknown)."""


def silent(what: str, done: int, total: int) -> None:
    """Progress that is not shown."""
