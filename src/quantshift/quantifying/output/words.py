"""Plain words for practitioners: verdicts, warnings, and what to do next."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import NormalDist
from types import MappingProxyType

from quantshift.base.nouns import counted
from quantshift.intervals.prediction import SMALL
from quantshift.labelling.audit import FEWEST_LABELS
from quantshift.quantifying.estimating.after_refutation import ASSUMED, IN_DOUBT, UNEXPLAINED
from quantshift.quantifying.output.result import (
    INTERVAL,
    RANGE,
    SEQUENCE,
    Assumption,
    Audited,
    Share,
    Shift,
)
from quantshift.quantifying.training.group_errors import FORWARD, NOTHING, GroupErrors

APART = 0.05
"""If estimates under different assumptions differ by more, labels are worth the effort."""

WIDE = 0.2
"""An interval wider than this leads to the advice to narrow it."""

GUARDED = frozenset({UNEXPLAINED, IN_DOUBT, ASSUMED})
"""Kinds of shift for which the limits are a range of what the assumptions allow."""

FAR = 0.4
"""A range wider than this is not reported as an estimate without labels."""

GIVEN_POSTERIORS = "given posteriors"
"""The name of the classifier where posteriors of the user's own model are given."""

FEW_LABELS = 50
"""How many random labels to ask for first."""

METHOD_NAMES: Mapping[str, str] = MappingProxyType({"MLPE": "training prevalence"})
"""Displayed names of methods whose acronyms say nothing to most readers."""

CONFUSED = (
    "in cross-validation the classifier cannot tell this class from another better than chance"
)
NOTHING_TO_DO = "No action needed. An audit (`quantshift audit-plan`) would confirm the estimate."

BIASED = "the audit is biased"
"""How warnings end of labels that may not be those of random items."""

RARE = 0.01
"""Shares below this get a second decimal."""

TRUTH_VALUES = frozenset({"true", "false", "yes", "no", "t", "f", "y", "n"})
ELLIPSIS = "…"
LONGEST_NAME = 40
"""Longer names are shortened in the middle for display."""


def percent(share: float) -> str:
    """A share as a percentage with one decimal, or two where it is below one percent.

    >>> percent(0.4167), percent(0.0052)
    ('41.7%', '0.52%')
    """
    return f"{100 * share:.{2 if 0 < share < RARE else 1}f}%"


def limits(low: float, high: float) -> str:
    """Two limits as percentages, with enough decimals to distinguish them.

    >>> limits(0.381, 0.45), limits(0.0007, 0.0131)
    ('38.1 to 45.0%', '0.07 to 1.31%')
    """
    decimals = 2 if 0 < high < 2 * RARE else 1
    return f"{100 * low:.{decimals}f} to {100 * high:.{decimals}f}%"


def decimals(shares: Iterable[float | None], rare: float = RARE) -> int:
    """Decimals of percentages in one column: more than one if shares are rare, or all tiny.

    >>> decimals([0.0, 0.25, None]), decimals([0.0, 0.0015, 0.25]), decimals([0.0, 0.00004])
    (1, 2, 4)
    """
    known = [share for share in shares if share is not None]
    largest = max(known, default=0.0)
    if 0 < largest < 5e-4:
        return 3 if largest >= 5e-5 else 4
    # Smaller shares are no more than zero, with one decimal or with two.
    return 2 if any(5e-5 <= share < rare for share in known) else 1


def percents(shares: Sequence[float | None]) -> list[str]:
    """A column of percentages with the same number of decimals; a question mark for None.

    >>> percents([0.0, 0.0015, None])
    ['0.00%', '0.15%', '?']
    """
    places = decimals(shares)
    return ["?" if share is None else f"{100 * share:.{places}f}%" for share in shares]


def estimates_and_limits(shares: Sequence[Share]) -> list[tuple[str, str]]:
    """Two columns of a table, estimates and limits, each with the same number of decimals.

    >>> estimates_and_limits([Share("a", 0.002, 0.0, 0.3), Share("b", 0.5, 0.4, 0.6)])
    [('0.20%', '0.0 to 30.0%'), ('50.00%', '40.0 to 60.0%')]
    """
    places = decimals((share.high for share in shares), 2 * RARE)
    bounds = [f"{100 * s.low:.{places}f} to {100 * s.high:.{places}f}%" for s in shares]
    return list(zip(percents([share.estimate for share in shares]), bounds, strict=True))


def listed(labels: Sequence[str]) -> str:
    """Labels in a sentence.

    >>> listed(["a", "b", "c"])
    "'a', 'b' and 'c'"
    """
    *others, last = map(repr, labels)
    return f"{', '.join(others)} and {last}" if others else last


def held_by(classes: Sequence[str], *, simultaneous: bool) -> str:
    """What intervals of more than two classes hold for."""
    if len(classes) == 2:
        return ""
    return "for all classes at once" if simultaneous else "for each class on its own"


def headline(labels: Sequence[str], positive: str | None = None) -> str:
    """The headline class: the positive one, or the second of two, or the first.

    positive: what the user calls the positive class.
    """
    if positive is not None:
        return positive
    return labels[1] if len(labels) == 2 else labels[0]


def class_names(label: str | None, classes: Sequence[str]) -> dict[str, str]:
    """Displayed names of classes: with the label column if the names alone say nothing.

    >>> class_names("Exited", ["0", "1"])
    {'0': 'Exited = 0', '1': 'Exited = 1'}
    >>> class_names("sentiment", ["negative", "positive"])
    {'negative': 'negative', 'positive': 'positive'}
    """
    if label is None or not all(_says_nothing(name) for name in classes):
        return {name: name for name in classes}
    return {name: f"{label} = {name}" for name in classes}


def parts(*, topics: bool) -> str:
    """What a class is made of: topics of texts, or subgroups of other items."""
    return "topics" if topics else "subgroups"


def one_line(text: str) -> str:
    """The text without line breaks and control characters, for terminals and charts.

    >>> one_line("a\\u2028b")
    'a b'
    """
    return "".join(character if character.isprintable() else " " for character in text)


def shortened(name: str, longest: int = LONGEST_NAME) -> str:
    """A name on one line, cut in the middle if it is long.

    >>> shortened("2026-01-05 to 2026-01-11, region north", 21)
    '2026-01-05…gion north'
    """
    line = one_line(name)
    if len(line) <= longest:
        return line
    end = (longest - 1) // 2
    return f"{line[: longest - 1 - end]}{ELLIPSIS}{line[len(line) - end :]}"


def limits_are(shift: Shift | None, audit: Audited | None) -> str:
    """What the limits of the shares are."""
    if audit is not None:
        return INTERVAL if audit.looked is None else SEQUENCE
    return RANGE if shift is not None and shift.kind in GUARDED else INTERVAL


def limits_head(kind: str, level: float) -> str:
    """The column header for limits.

    >>> limits_head(INTERVAL, 0.95), limits_head(RANGE, 0.95)
    ('95% interval', 'range allowed')
    """
    return "range allowed" if kind == RANGE else f"{100 * level:g}% interval"


def reach_of_labels(n_labels: int, shares: Sequence[Share], level: float) -> float:
    """The half-width of the interval from this many random labels alone, for the class that is
    hardest to estimate.

    >>> round(reach_of_labels(50, [Share("a", 0.4, 0.2, 0.9)], 0.95), 2)
    0.14
    """
    z = NormalDist().inv_cdf(0.5 + level / 2)
    hardest = (min(max(0.5, share.low), share.high) for share in shares)
    return max(z * math.sqrt(p * (1 - p) / n_labels) for p in hardest)


def labels_text(shares: Sequence[Share], level: float, n_items: int) -> str:
    """What precision a few random labels give."""
    n_labels = min(FEW_LABELS, n_items)
    if n_labels == n_items:
        return f"labels of all {n_items} items give the share itself"
    points = 100 * reach_of_labels(n_labels, shares, level)
    return f"{n_labels} random labels narrow this to about plus or minus {points:.0f} points"


def groups_text(groups: GroupErrors) -> str:
    """How far off each method would have been on the user's own groups, in a sentence."""
    others = sorted(
        (m for m in groups.errors if m not in (groups.method, NOTHING)),
        key=lambda method: groups.errors[method],
    )
    method_used = f"{groups.method}, the method used here, would have been off by {_points(groups)}"
    other_methods = ", ".join(f"{m} by {100 * groups.errors[m]:.1f}" for m in others)
    n_groups = f"{len(groups.groups)} groups"
    if groups.design == FORWARD:
        n_groups = f"{len(groups.groups)} {groups.every or 'year'}s"
        how = "each estimated from those before it"
    else:
        how = "each left out in turn"
    baseline = f"assuming the training prevalence by {100 * groups.errors[NOTHING]:.1f}"
    return (
        f"On your own {groups.column!r} ({n_groups}, {how}) {method_used}, {other_methods}; "
        f"{baseline}."
    )


def _points(groups: GroupErrors) -> str:
    return f"{100 * groups.errors[groups.method]:.1f} points on average"


def accuracy_text(classifier: str, accuracy: float) -> str:
    """How accurate the classifier is on labelled rows that it was not trained on.

    >>> accuracy_text("logistic", 0.8475)
    'logistic: cross-validated accuracy 84.8%'
    """
    how = "accuracy" if classifier == GIVEN_POSTERIORS else "cross-validated accuracy"
    return f"{classifier}: {how} {percent(accuracy)}"


def batch_warnings(
    *, n_items: int, n_labelled: int, asked: bool, audited: bool, confused: Sequence[str] = ()
) -> Iterator[str]:
    """Warnings about a batch.

    asked: whether there is an audit at all; confused: classes that the classifier does not separate
    from another.
    """
    if confused:
        yield (
            f"in cross-validation the classifier cannot tell {listed(confused)} apart better "
            "than chance: the items say nothing about their shares"
        )
    if n_items < SMALL:
        yield f"only {counted(n_items, 'item')}: the interval is wide"
    if asked and not audited:
        yield f"{n_labelled} items are labelled and an audit needs {FEWEST_LABELS}: not audited"


def advice(
    shares: Sequence[Share],
    assumptions: Sequence[Assumption],
    shift: Shift | None,
    audit: Audited | None,
    *,
    untrained: bool,
    can_be_estimated: bool = True,
    cure: str = "",
    n_items: int,
    level: float,
) -> Iterator[str]:
    """What to do next. cure: what would make it possible to estimate, if anything is known."""
    if audit is not None:
        if audit.looked is not None:
            yield _whether_to_stop(audit)
        if audit.contradicts:
            yield (
                "The audit contradicts the method: use the audited estimate, and add newly "
                "labelled items of this source to the training table."
            )
        else:
            yield "The audit agrees with the method. Audit again when the source changes."
        return
    next_commands = (
        "`quantshift audit-plan` draws them, and `quantshift quantify --audit` estimates the share "
        "from them."
    )
    labels_advice = labels_text(shares, level, n_items)
    if not can_be_estimated:
        yield (
            f"{cure or 'Add columns that say something about the label'}, or label some items: "
            f"{labels_advice}. {next_commands}"
        )
        return
    reason = _doubt(assumptions, shift, untrained=untrained)
    if reason:
        yield (
            f"Label some items, because {reason}: {labels_advice}, whatever has shifted. "
            f"{next_commands}"
        )
    elif max(share.high - share.low for share in shares) > WIDE:
        yield (
            f"For a narrower interval give more items, or label some: {labels_advice}. "
            f"{next_commands}"
        )
    else:
        yield NOTHING_TO_DO


def _whether_to_stop(audit: Audited) -> str:
    """Whether an audit with many looks can stop, or how many more labels it needs."""
    looked = audit.looked
    assert looked is not None
    now, wanted = f"{100 * looked.half_width:.1f}", f"{100 * looked.precision:.1f}"
    if looked.reached:
        return (
            f"You can stop: the interval is plus or minus {now} points, and {wanted} were asked "
            "for."
        )
    more = looked.n_needed - audit.n_labelled
    return (
        f"The interval is plus or minus {now} points. For {wanted} label about {more:,} more, from "
        "the top of the sheet; check as often as you like."
    )


def _doubt(
    assumptions: Sequence[Assumption], shift: Shift | None, *, untrained: bool
) -> str | None:
    if untrained:
        return "nothing has been checked against labels"
    if shift is not None:
        return "more has changed than the shares of the classes" if shift.stands_out else None
    apart = _spread(assumptions) > APART
    return "the estimates under different assumptions are far apart" if apart else None


def _says_nothing(name: str) -> bool:
    """Whether a label is a bare number or truth value.

    >>> [_says_nothing(name) for name in ("1", "-0.5", "True", "spam")]
    [True, True, True, False]
    """
    return name.lower() in TRUTH_VALUES or name.lstrip("+-").replace(".", "", 1).isdecimal()


def _spread(assumptions: Sequence[Assumption]) -> float:
    ranges = [[a.prevalence[label] for a in assumptions] for label in assumptions[0].prevalence]
    return max(max(values) - min(values) for values in ranges)
