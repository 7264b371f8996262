"""JSON from files that may hold anything: whatever is wrong with it is one kind of error."""

import json
from typing import Any

DEEPEST = 50
"""Levels of lists and objects; no file of ours has half as many."""


def parse_json(text: str | bytes) -> Any:
    """The value; a ValueError if the text is no JSON, no UTF-8 or nested too deep to be handled.

    >>> parse_json("[" * 100_000)
    Traceback (most recent call last):
    ValueError: nested too deep
    """
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError("nested too deep") from None
    level = [value]
    for _ in range(DEEPEST):
        level = [inner for outer in level for inner in _inside(outer)]
        if not level:
            return value
    # It was read, but whatever walks through it may fail, wherever that is.
    raise ValueError("nested too deep")


def _inside(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
