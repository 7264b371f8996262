"""The kinds of answers: what the limits of a share are, and when they are wide."""

INTERVAL = "confidence interval"

SEQUENCE = "confidence interval that holds at every look"

RANGE = "range"
"""What remains possible where no assumption can be relied on; its coverage is not known."""

CANNOT = "cannot be estimated"
"""The limits then are a range that is too wide to act upon, or 0 and 1."""

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
