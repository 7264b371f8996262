"""Marks of a batch: what stands out about it, in a word each."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from quantshift.claims import Kind

MARKS: Mapping[str, str] = MappingProxyType(
    {
        "changed": "the share differs from the previous batch by more than chance (96%) and, "
        "unless it is rare, by a point or more",
        "shift": "more has changed than the shares of the classes (by chance in about 1 of 20 "
        "batches)",
        "range": "the limits are a range of what remains possible, not a confidence interval",
        "either": "one of two intervals, the first if items of a class look as they did in "
        "training, the second if items that look alike have the label as often as in training",
        "unknown": "cannot be estimated",
        "audited": "estimated with the help of labels, and they agree with the method",
        "audit contradicts": "estimated with the help of labels, which contradict the method",
        "new model": "another model than for the batch before",
        "alarm": "the moving average is beyond its limits",
        "again": "measured more than once; the last estimate counts",
    }
)
"""The marks that a batch can have, in the order in which they are shown, and what they mean."""


def marks_of_answer(
    *, changed: bool, shift: bool, kind: Kind, contradicted: bool | None
) -> list[str]:
    """The marks of an answer about a batch. contradicted: by an audit; None without one.

    >>> marks_of_answer(
    ...     changed=True, shift=False, kind=Kind.RANGE, contradicted=False
    ... )
    ['changed', 'range', 'audited']
    """
    audit = "" if contradicted is None else "audit contradicts" if contradicted else "audited"
    holds = {
        "unknown": kind is Kind.CANNOT,
        "changed": changed,
        "shift": shift,
        "range": kind is Kind.RANGE,
        "either": kind is Kind.EITHER,
        audit: bool(audit),
    }
    return [mark for mark, held in holds.items() if held]


def legend(marks: Iterable[str]) -> list[tuple[str, str]]:
    """What the marks mean, each once.

    >>> legend(["range", "unknown", "range"])[1]
    ('unknown', 'cannot be estimated')
    """
    used = set(marks)
    return [(mark, meaning) for mark, meaning in MARKS.items() if mark in used]
