"""The kinds of answers: what the limits of a share are, and when they are wide."""

from collections.abc import Iterable

from quantshift.quantifiers.base.answer_kinds import CANNOT as CANNOT
from quantshift.quantifiers.base.answer_kinds import CONFIDENCE_INTERVAL
from quantshift.quantifiers.base.answer_kinds import RANGE as RANGE

INTERVAL = CONFIDENCE_INTERVAL

SEQUENCE = f"{INTERVAL} that holds at every look"

WIDE = 0.2
"""An interval wider than this leads to the advice to narrow it."""


def is_range(kind: str) -> bool:
    """Whether limits of this kind are not those of a confidence interval."""
    return kind in (RANGE, CANNOT)


def limits_head(kind: str, level: float) -> str:
    """The column header for limits.

    >>> limits_head(INTERVAL, 0.95), limits_head(RANGE, 0.95)
    ('95% interval', 'range')
    """
    return RANGE if is_range(kind) else f"{100 * level:g}% interval"


def common_head(kinds: Iterable[str], level: float) -> str:
    """The column header for limits of several kinds.

    >>> common_head([INTERVAL, CANNOT], 0.95), common_head([RANGE, CANNOT], 0.95)
    ('95% interval or range', 'range')
    """
    heads = {limits_head(kind, level) for kind in kinds}
    interval = limits_head(INTERVAL, level)
    return f"{interval} or {RANGE}" if len(heads) > 1 else next(iter(heads), interval)
