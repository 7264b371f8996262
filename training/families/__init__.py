"""Families of shifts: add a file with a subclass of `Family`, and name it in `FAMILIES`."""

from training.families.covariate import Covariate
from training.families.environment import Environment
from training.families.family import Family
from training.families.local import Local
from training.families.none import NoShift
from training.families.prior import Prior
from training.families.score import Score
from training.families.selection import SelectedEnvironment, Selection
from training.families.time import Time

FAMILIES: tuple[Family, ...] = (
    Selection(share=0.28),
    SelectedEnvironment(share=0.10),
    Environment(share=0.10),
    Time(share=0.08),
    Prior(share=0.13),
    Covariate(share=0.10),
    Score(share=0.12),
    Local(share=0.05),
    NoShift(share=0.04),
)
"""What the network is trained on. The shares are a prior, and a user may have another one."""
