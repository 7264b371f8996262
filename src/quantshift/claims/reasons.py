"""Why an answer is of its kind."""

from typing import Self

from quantshift.claims.worded import Worded


class Reason(Worded):
    """Why an answer is of its kind.

    words: as the end of "because ...". cure: what to do about it, if anything.
    """

    cure: str

    def __new__(cls, value: str, words: str = "", cure: str = "") -> Self:
        """A member with its words."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.words, member.cure = words, cure
        return member

    EVIDENCE = (
        "evidence",
        "the items support that only the shares of the classes changed",
    )
    AGREEMENT = "agreement", "the assumptions give similar shares"
    DECLARED = "declared", "the user has declared an assumption or chosen a method"
    LABELS = "labels", "labels of a stated design show it"
    GUESSED = (
        "guessed",
        "nobody has said how the labelled items were chosen",
        "say how the labelled items were chosen",
    )
    REFUTED = (
        "refuted",
        "more has changed than the shares of the classes",
        "label some items",
    )
    NO_EVIDENCE = (
        "no_evidence",
        "nothing shows which assumption holds",
        "label some items, or declare an assumption",
    )
    UNINFORMATIVE = (
        "uninformative",
        "the items say nothing about the classes",
        "add columns that say something about the label, or label some items",
    )
    GONE = (
        "gone",
        "columns that the model rests on say nothing about these items",
        "train without these columns or repair them, or label some items",
    )
    NO_ITEMS = "no_items", "there are no items", "give a sample with items"


NOTHING_KNOWN = frozenset({Reason.UNINFORMATIVE, Reason.GONE})
"""Reasons for which every share is possible."""
