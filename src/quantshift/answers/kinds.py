"""What the limits of a share are, and when they are wide."""

INTERVAL = "confidence interval"

RANGE = "range of what the assumptions allow"

SEQUENCE = "confidence interval that holds at every look"
"""What the limits of shares are. A range contains the estimates under all assumptions that were not
refuted or, where covariate shift is assumed, the estimates of all classifiers, widened by standard
errors; it has no known coverage."""

WIDE = 0.2
"""An interval wider than this leads to the advice to narrow it."""


def limits_head(kind: str, level: float) -> str:
    """The column header for limits.

    >>> limits_head(INTERVAL, 0.95), limits_head(RANGE, 0.95)
    ('95% interval', 'range allowed')
    """
    return "range allowed" if kind == RANGE else f"{100 * level:g}% interval"
