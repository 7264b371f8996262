"""The answer to a call of `judge`: what it found, and the ways to show it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from quantshift.answers.conditions import DECLARED, declared_in
from quantshift.answers.show.answer import json_schema_of
from quantshift.answers.show.batches import Fact
from quantshift.answers.show.notebook import Summary
from quantshift.base.imports import extra_needed
from quantshift.errors import UserError
from quantshift.judging.output.text import facts_of, found_in_newest, render_text, summary_of
from quantshift.judging.result import AbstractJudgement

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, repr=False)
class Judgement(AbstractJudgement):
    """The answer to one call of `judge`: printed, drawn, or taken apart.

    Attributes
    ----------
    overall : JudgedBatch
        All items.
    batches : tuple of JudgedBatch
        The same, or the groups of `by`, one by one.
    classes : tuple of str
        The classes.
    headline : str
        The class whose share stands for all.
    names : dict
        How classes are shown.
    level : float
        Confidence level of the limits.
    label, score, by : str or None
        The columns of the call.
    judges : tuple of str
        The columns of verdicts.
    ordered : bool
        Whether the classes are levels of a scale; kappa then depends on how far apart two are.
    differences : tuple of SystemDifference
        Those between two groups, or the pairs of several, one for each class.
    mean_differences : tuple of SystemDifference
        Those of their means, if classes are ordered.
    findings : tuple of Finding
        Warnings and notes.
    rows : tuple of Rows
        How many rows were read, used and left out.
    people : PeopleAgreement or None
        How far the people who gave the labels agree, if several did.
    position_bias : tuple
        That of each judge, if the table says which answer came first.
    judge_comparisons : tuple
        For each pair of judges, which of them agrees better with people.
    error_patterns : tuple
        Where judges err by the columns that were named, the smallest p-values first.
    misjudged : tuple
        Labelled items on which a judge and people disagree.
    threshold : ChosenThreshold or None
        The cut of the score, if asked for.

    Examples
    --------
    >>> from quantshift import judge
    >>> verdict = ["pass"] * 160 + ["fail"] * 40
    >>> label = ["pass"] * 35 + ["fail"] * 5 + [None] * 120 + ["fail"] * 10 + [None] * 30
    >>> answer = judge(verdict=verdict, label=label, labels="by-verdict")
    >>> answer.headline, round(answer.overall.shares[1].estimate, 3)
    ('pass', 0.7)
    >>> answer.to_frame()[["class", "estimate", "naive", "kind"]]
      class  estimate  naive      kind
    0  fail       0.3    0.2  interval
    1  pass       0.7    0.8  interval
    """

    def facts(self) -> Iterator[Fact]:
        """How the judges do, and what the shares rest on."""
        return facts_of(self)

    page_module = "quantshift.judging.output.page"

    def held(self, events: Sequence[str]) -> list[str]:
        """The batches that rest on what is declared, if that is asked."""
        others = [event for event in events if event != DECLARED]
        if others:
            raise UserError(
                f"a call of `judge` can fail on 'alarm' or {DECLARED!r}, not on {others[0]!r}",
                arguments=["fail_on"],
            )
        return declared_in(self) if events else []

    def in_a_line(self) -> list[str]:
        """What is found in the newest group, for one line."""
        return found_in_newest(self)

    def to_text(self, *, details: bool = False) -> str:
        """What a terminal shows. details: with what is assumed, and which rows were used."""
        return render_text(self, details=details)

    def plot(self, label: str | None = None, *, ax: "Axes | None" = None) -> "Axes":
        """Shares with their intervals and the naive rates, of all classes or batch by batch.

        label: the class, if there are several batches (default: the headline).
        """
        with extra_needed("plots"):
            from quantshift.judging.output.plotting import plot_judgement

        return plot_judgement(self, label, ax)

    def summary(self) -> Summary:
        """A few lines for the interactive shell."""
        return summary_of(self)


def json_schema() -> dict[str, Any]:
    """The JSON schema (draft 2020-12) of the output of `Judgement.to_json`."""
    return json_schema_of(Judgement)
