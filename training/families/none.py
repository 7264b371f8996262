"""Nothing changes."""

from training.families.family import Family


class NoShift(Family):
    """Training items and sample are drawn alike."""
