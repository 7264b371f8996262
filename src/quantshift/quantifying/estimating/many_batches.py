"""What several batches of one call are to each other: their order, and tests of all of them."""

import re
from collections.abc import Sequence
from dataclasses import replace

from quantshift.quantifying.columns import NO_GROUP
from quantshift.quantifying.estimating.evidence import Evidence
from quantshift.statistics.multiple_tests import holm

_DIGITS = re.compile(r"\d+")


def in_sequence(names: Sequence[str]) -> bool:
    """Whether batches follow one another: their names are alike except for numbers or dates.

    >>> in_sequence(["2026-W09", "2026-W10"]), in_sequence(["week-9.csv", "week-10.csv"])
    (True, True)
    >>> in_sequence(["north", "south"]), in_sequence(["1", "north"])
    (False, False)
    """
    patterns = {_DIGITS.sub("0", name) for name in names if name != NO_GROUP}
    return len(names) < 2 or (len(patterns) == 1 and "0" in patterns.pop())


def compared_batches(names: Sequence[str]) -> frozenset[str]:
    """The batches that are compared with the one before: those of a sequence.

    Rows without a batch are not part of it.
    """
    return frozenset(names) - {NO_GROUP} if in_sequence(names) else frozenset()


def with_adjusted_p_values(found: Sequence[Evidence]) -> list[Evidence]:
    """The evidence on all batches, with p-values of the shift test adjusted for their number."""
    tested = [i for i, evidence in enumerate(found) if evidence.shift is not None]
    p_values = [evidence.shift.p_value for evidence in found if evidence.shift is not None]
    evidence_of = list(found)
    for i, p_adjusted in zip(tested, holm(p_values), strict=True):
        shift = evidence_of[i].shift
        assert shift is not None
        evidence_of[i] = replace(
            evidence_of[i], shift=replace(shift, p_adjusted=p_adjusted, n_tested=len(tested))
        )
    return evidence_of
