"""The kinds of answers: what the limits of a share are, and what may be done with them."""

from typing import Self

from quantshift.claims.worded import Worded

WIDEST = 0.4
"""Limits that are wider are no estimate to act upon: only labels can tell the share."""


class Kind(Worded):
    """What the limits of an answer are.

    words: in a sentence and in the header of a table. summary: the first word of the line of a
    call. page: where it is explained.
    """

    summary: str
    page: str

    def __new__(
        cls, value: str, words: str = "", summary: str = "ok", page: str = "guides/assumptions.md"
    ) -> Self:
        """A member with its words."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.words, member.summary, member.page = words, summary, page
        return member

    INTERVAL = "interval", "confidence interval"
    SEQUENCE = (
        "sequence",
        "confidence interval that holds at every look",
        "ok",
        "guides/audit.md",
    )
    CONDITIONAL = (
        "conditional",
        "interval if what was declared or guessed is right",
        "DECLARED",
        "guides/assumptions.md",
    )
    """An interval that rests on what somebody said, or on a guess; the answer begins with *if*."""

    EITHER = "either", "either of two intervals", "EITHER"
    """Two intervals, each with its condition; nothing in the items can tell which holds."""

    RANGE = "range", "range", "RANGE"
    """What remains possible where no assumption can be relied on; its coverage is not known."""

    CANNOT = "cannot", "cannot be estimated", "UNKNOWN"
    """The limits then are a range that is too wide to act upon, or 0 and 1."""

    @property
    def is_range(self) -> bool:
        """Whether the limits are not those of a confidence interval."""
        return self in (Kind.EITHER, Kind.RANGE, Kind.CANNOT)
