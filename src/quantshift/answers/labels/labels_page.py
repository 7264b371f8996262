"""The page of an answer about several labels: in every batch a row for each."""

from collections.abc import Sequence
from typing import Any

from quantshift.answers.conditions import Condition, failures_of
from quantshift.answers.page import render_answer
from quantshift.answers.shares import Answer, Share
from quantshift.answers.shell.shell import Charts
from quantshift.answers.words import about_limits
from quantshift.claims import Kind


def render_labels(result: Answer, conditions: Sequence[Condition], **content: Any) -> str:
    """The page as one string of HTML. content: what only one of the answers can say."""
    return render_answer(
        __package__,
        charts=Charts.NONE,
        lead=about_limits(result.level),
        numbers=[],
        data={},
        crossed=failures_of(conditions, result),
        **content,
    )


def bar_of(share: Share, kind: Kind, reference: float | None) -> dict[str, Any]:
    """A share and its limits as a bar, in percent. reference: where its grey line is, if anywhere.

    >>> bar_of(Share("spam", 0.25, 0.125, 0.5), Kind.RANGE, None)["bars"]
    [(12.5, 37.5)]
    """
    return {
        "is_range": kind.is_range and not share.either,
        "bars": [(100 * part.low, 100 * part.width) for part in share.parts],
        "middle": None if share.estimate is None else 100 * share.estimate,
        "grey": None if reference is None else 100 * reference,
    }
