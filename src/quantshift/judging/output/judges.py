"""More about judges: comparisons, their gain, where they err, cuts, positions."""

from collections.abc import Iterator

from quantshift.answers.text import shown
from quantshift.answers.words import limits, shortened
from quantshift.base.nouns import counted, percent
from quantshift.judging.output.comparisons import decided_by
from quantshift.judging.result import AbstractJudgement, JudgedBatch

WORTH_SAYING = 0.02
"""Part by which a judge must make an interval narrower to add something to the labels."""


GAIN = "Gain"
"""The heading of what the judges add to the labels."""


def about_judges(result: AbstractJudgement) -> Iterator[tuple[str, Iterator[str]]]:
    """The lines under each heading."""
    yield "Judges", judge_comparison_lines(result)
    yield GAIN, gain_lines(result.overall)
    yield "Errors", error_pattern_lines(result)
    yield "Cut", cut_lines(result)
    yield "Position", position_lines(result)


def judge_comparison_lines(result: AbstractJudgement) -> Iterator[str]:
    """Which of several judges agrees better with people."""
    for comparison in result.judge_comparisons:
        better, worse = comparison.judge, comparison.other
        rates = comparison.agreement, comparison.other_agreement
        points = [comparison.estimate, comparison.low, comparison.high]
        if comparison.estimate < 0:
            better, worse, rates = worse, better, rates[::-1]
            points = [-comparison.estimate, -comparison.high, -comparison.low]
        what = "labelled items" if comparison.of_labelled_alone else "items"
        agrees = f"agrees with people on {percent(rates[0])} of the {what}"
        other = percent(rates[1])
        apart, low, high = (f"{100 * p:+.1f}" for p in points)
        unit = " points"
        if result.ordered:
            agrees, other = (
                f"agrees better ({comparison.label} {rates[0]:.2f})",
                f"{rates[1]:.2f}",
            )
            apart, low, high = (f"{p:+.2f}" for p in points)
            unit = ""
        several = len(result.judge_comparisons) > 1
        p_value = f", p = {comparison.p_adjusted:.2g}" if several else ""
        chance = "more than chance" if comparison.more_than_chance else decided_by(comparison)
        if (comparison.labels_to_decide or 0) > result.overall.n_items:
            chance = "could be chance, and labels of all items would hardly decide"
        yield (
            f"{shortened(better)} {agrees}, {shortened(worse)} {other}: {apart}{unit} "
            f"({low} to {high}{p_value}), {chance}"
        )


def gain_lines(batch: JudgedBatch) -> Iterator[str]:
    """What the judges add to the labels, or that they add nothing."""
    alone = batch.labels_alone
    if alone is None:
        return
    several = len(batch.judges) > 1
    judges = "judges" if several else "judge" if batch.judges else "score"
    as_many = f"{batch.n_labelled:,} random labels alone: {limits(alone.low, alone.high)}"
    if alone.narrower < WORTH_SAYING:
        adds = "add" if several else "adds"
        yield f"the {judges} {adds} nothing to the labels ({as_many})"
        return
    more = "" if alone.worth is None else f", as with {counted(alone.worth, 'more label')}"
    yield f"with the {judges} the interval is {percent(alone.narrower)} narrower{more} ({as_many})"


def error_pattern_lines(result: AbstractJudgement) -> Iterator[str]:
    """Where the judges err more often, by the columns that the user names."""
    unlike = [pattern for pattern in result.error_patterns if pattern.more_than_chance]
    for pattern in unlike:
        judge = f"{shortened(pattern.judge)}, " if len(result.judges) > 1 else ""
        yield (
            f"{judge}by {shortened(pattern.column)} (p = {pattern.p_adjusted:.2g}): of "
            f"{pattern.among}, {pattern.wrong:,} of {pattern.n:,} are wrong if "
            f"{shortened(pattern.where, 60)}, and {pattern.wrong_elsewhere:,} of the other "
            f"{pattern.n_elsewhere:,}"
        )
    rest = [pattern for pattern in result.error_patterns if not pattern.more_than_chance]
    if rest:
        names = ", ".join(dict.fromkeys(shortened(pattern.column, 24) for pattern in rest))
        yield (
            f"no pattern that is more than chance by {names} (smallest p = "
            f"{min(pattern.p_adjusted for pattern in rest):.2g}, adjusted for "
            f"{counted(len(result.error_patterns), 'comparison')})"
        )


def cut_lines(result: AbstractJudgement) -> Iterator[str]:
    """The threshold of the score, and how good it is on labels that did not choose it."""
    threshold = result.threshold
    if threshold is None:
        return
    score, goal = shortened(result.score or ""), "the cut that agrees best with people"
    if threshold.target is not None:
        other = "recall" if threshold.goal == "precision" else "precision"
        goal = f"{threshold.goal} of {percent(threshold.target)} or more with the largest {other}"
    if threshold.cut is None or threshold.on_labels is None or threshold.share is None:
        yield f"{goal}: no cut of {score} reaches it among the labels"
        return
    side = "or more" if threshold.at_least else "or less"
    yield (
        f"{shown(result, threshold.label)} if {score} is {threshold.cut:.4g} {side} ({goal}): "
        f"{percent(threshold.share)} of the items"
    )
    tried = [
        f"{p.label} {percent(p.estimate)} ({limits(p.low, p.high)})"
        for p in threshold.out_of_sample
    ]
    yield f"out of sample: {', '.join(tried)}"
    chosen = [f"{name} {percent(value)}" for name, value in threshold.on_labels.items()]
    yield f"on the labels that chose it: {', '.join(chosen)}"


def position_lines(result: AbstractJudgement) -> Iterator[str]:
    """Whether the place of an answer moves the judges."""
    for bias in result.position_bias:
        moved = (
            f"{100 * bias.estimate:+.1f} points, {100 * bias.low:+.1f} to {100 * bias.high:+.1f}"
        )
        preference = (
            "it prefers the answer that comes first"
            if bias.low > 0
            else "it prefers the answer that comes second"
            if bias.high < 0
            else "no preference that is more than chance"
        )
        yield (
            f"{shortened(bias.label)}: win rate by its verdicts {percent(bias.if_first)} if first, "
            f"{percent(bias.if_second)} if second ({moved}); {preference}, if the order was random"
        )
