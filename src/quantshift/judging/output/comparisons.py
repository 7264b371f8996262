"""Which system or answer is better, as lines of text."""

from collections.abc import Iterator, Sequence

from quantshift.answers.text import aligned, shown
from quantshift.answers.words import limits, shortened
from quantshift.base.nouns import percent
from quantshift.judging.result import (
    EVEN,
    AbstractJudgement,
    JudgeComparison,
    JudgedBatch,
    SystemDifference,
    WinRate,
)

ALMOST_SURE = 0.999
"""Larger probabilities are not told apart."""


def difference_lines(result: AbstractJudgement) -> Iterator[str]:
    """The differences of systems, if there are any, and which is better."""
    if not result.differences:
        return
    pairs = dict.fromkeys((d.system, d.other) for d in result.differences)
    yield from _pair(result) if len(pairs) == 1 else _pairs(result, len(pairs))
    yield ""


def _pair(result: AbstractJudgement) -> Iterator[str]:
    """The difference of two systems, class by class."""
    first = result.differences[0]
    yield f"Compared {pair_text(first)}, {_how_compared(first)}:"
    compared = [
        d for d in result.differences if len(result.classes) > 2 or d.label == result.headline
    ]
    rows = [
        [
            shown(result, d.label),
            *points(d, of_means=False),
            "more than chance" if d.more_than_chance else "",
        ]
        for d in compared
    ]
    yield from (f"         {line}" for line in aligned(rows))
    for of_means in result.mean_differences:
        yield f"         {mean_difference_text(of_means)}"
    yield f"         {which_is_better(result)}"


def _pairs(result: AbstractJudgement, n_pairs: int) -> Iterator[str]:
    """The differences of several systems in pairs, of the class that stands for all or of means."""
    what = "means" if result.mean_differences else f"shares of {shown(result, result.headline)}"
    yield f"Compared {what} in {n_pairs} pairs, p-values adjusted for their number (Holm):"
    of_means, rows = bool(result.mean_differences), []
    for d in leading_differences(result):
        rows.append(
            [
                pair_text(d),
                *points(d, of_means=of_means),
                f"p = {d.p_adjusted:.2g}",
                "more than chance" if d.more_than_chance else decided_by(d),
            ]
        )
    yield from (f"         {line}" for line in aligned(rows))


def leading_differences(result: AbstractJudgement) -> Sequence[SystemDifference]:
    """The ones that lead: those of means if classes are ordered, else of the headline's class."""
    if result.mean_differences:
        return result.mean_differences
    return [d for d in result.differences if d.label == result.headline]


def pair_text(d: SystemDifference) -> str:
    """The names of both systems."""
    return f"{shortened(d.system)} minus {shortened(d.other)}"


def points(d: SystemDifference, *, of_means: bool) -> tuple[str, str]:
    """A difference and its limits: of means as it is, of shares in points of percent."""
    if of_means:
        return f"{d.estimate:+.2f}", f"({d.low:+.2f} to {d.high:+.2f})"
    return f"{100 * d.estimate:+.1f} points", f"({100 * d.low:+.1f} to {100 * d.high:+.1f})"


def _how_compared(d: SystemDifference) -> str:
    n, m = d.n_items, d.n_other
    return f"the same {n:,} items" if d.paired else f"{n:,} and {m:,} different items"


def mean_difference_text(difference: SystemDifference) -> str:
    """The difference of two means in a line."""
    naive = "" if difference.naive is None else f"; by the verdicts alone {difference.naive:+.2f}"
    chance = ", more than chance" if difference.more_than_chance else ""
    return f"mean {' '.join(points(difference, of_means=True))}{chance}{naive}"


def which_is_better(result: AbstractJudgement) -> str:
    """Which of two systems has more, and with what probability."""
    d = leading_differences(result)[0]
    what = "mean" if result.mean_differences else f"share of {shown(result, d.label)}"
    more = d.system if d.estimate >= 0 else d.other
    likely = likely_text(max(d.probability, 1 - d.probability))
    sentence = f"probability that {shortened(more)} has the larger {what}: {likely}"
    return sentence if d.more_than_chance else f"{sentence}; {decided_by(d)}"


def likely_text(probability: float) -> str:
    """A probability, which is never certain.

    >>> likely_text(0.93), likely_text(0.99997)
    ('93.0%', 'more than 99.9%')
    """
    return (
        percent(probability) if probability <= ALMOST_SURE else f"more than {percent(ALMOST_SURE)}"
    )


def decided_by(d: SystemDifference | WinRate | JudgeComparison) -> str:
    """What would decide what could be chance so far."""
    if not isinstance(d, WinRate) and not d.low <= 0 <= d.high:
        # Its own limits are on one side of 0; those of all pairs at once would not be.
        return "more than chance by itself, but not among so many pairs"
    if d.labels_to_decide is None:
        return "could be chance"
    return f"could be chance; about {d.labels_to_decide:,} labels in all would decide"


def win_rate_lines(result: AbstractJudgement, batch: JudgedBatch) -> Iterator[str]:
    """The win rate, and how likely it is above 50%."""
    rate = batch.win_rate
    if rate is None:
        return
    interval = f"{100 * result.level:g}% interval {limits(rate.low, rate.high)}"
    naive = "" if rate.naive is None else f"; by the verdicts alone {percent(rate.naive)}"
    yield f"win rate of {shown(result, rate.label)}: {percent(rate.estimate)} ({interval}){naive}"
    above = rate.estimate >= EVEN
    likely = likely_text(rate.probability if above else 1 - rate.probability)
    side = "above" if above else "below"
    undecided = "" if not rate.low <= EVEN <= rate.high else f"; {decided_by(rate)}"
    yield f"probability that it is {side} 50%: {likely}{undecided}"
