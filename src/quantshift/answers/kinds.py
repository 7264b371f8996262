"""How the kinds of answers are named in the headers of tables, and when limits are wide."""

from collections.abc import Iterable

from quantshift.claims import Kind

WIDE = 0.2
"""An interval wider than this leads to the advice to narrow it."""


def limits_head(kind: Kind, level: float) -> str:
    """The column header for limits.

    >>> limits_head(Kind.INTERVAL, 0.95), limits_head(Kind.EITHER, 0.95)
    ('95% interval', 'one of two 95% intervals')
    """
    interval = f"{100 * level:g}% interval"
    if kind is Kind.EITHER:
        return f"one of two {interval}s"
    return Kind.RANGE.words if kind.is_range else interval


def common_head(kinds: Iterable[Kind], level: float) -> str:
    """The column header for limits of several kinds.

    >>> common_head([Kind.INTERVAL, Kind.CANNOT], 0.95), common_head([Kind.RANGE], 0.95)
    ('95% interval or range', 'range')
    """
    found = set(kinds)
    interval, heads = limits_head(Kind.INTERVAL, level), {limits_head(k, level) for k in found}
    if len(heads) < 2:
        return next(iter(heads), interval)
    has_range = any(kind.is_range and kind is not Kind.EITHER for kind in found)
    return f"{interval} or {Kind.RANGE.words}" if has_range else interval
