"""JSON from untrusted files: every problem with it is a ValueError."""

import json
from typing import Any

DEEPEST = 50
"""The most levels of lists and objects; no file of quantshift has half as many."""


def parse_json(text: str | bytes) -> Any:
    """The value; a ValueError if the text is not JSON, not UTF-8 or nested too deep.

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
    # It was parsed, but code that walks through it could reach the recursion limit.
    raise ValueError("nested too deep")


def _inside(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
