"""Which methods the quick tests of all methods go through.

That is the paper's, the defaults and one or two of each other family; the slow tests have them all.
"""

from collections.abc import Iterable
from typing import Any

import pytest

QUICK = {
    *("CC", "ACC", "PCC", "PACC", "HDy", "DyS", "SMM", "SLD", "MLPE", "SubclassSLD", "GuardedSLD"),
    *("HDx", "EDx", "KDEyML", "EDy", "DMy", "SORD", "Friedman", "MS", "BBSESoft", "MAPLS"),
    *("BayesianCC", "OrdinalPACC", "IBU", "Median"),
}


def speed_of(name: str) -> list[Any]:
    """Marks of a test of this method."""
    return [] if name in QUICK else [pytest.mark.slow]


def each(names: Iterable[str]) -> list[Any]:
    """The names as parameters; the tests of most are slow ones."""
    return [pytest.param(name, marks=speed_of(name)) for name in names]
