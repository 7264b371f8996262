"""Plain words for practitioners: verdicts, warnings, and what to do next."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from quantshift.audit import FEWEST_LABELS
from quantshift.intervals import SMALL
from quantshift.own_data.result import Assumption, Audited, Share, Shift

APART = 0.05
"""Assumptions whose estimates differ by more are worth a person's labels."""

WIDE = 0.2
"""An interval wider than this says little."""

CHANGES: Mapping[str, str] = MappingProxyType(
    {
        "prior": "Nothing but the prevalence seems to have changed",
        "covariate": "The mix of topics has changed",
        "local": "Topics have changed within a class",
        "outside": "The items are unlike those of training",
    }
)
"""What each kind of shift means."""


def percent(share: float) -> str:
    """A share as a percentage with one decimal.

    >>> percent(0.4167)
    '41.7 %'
    """
    return f"{100 * share:.1f} %"


def limits(low: float, high: float) -> str:
    """Two limits as percentages.

    >>> limits(0.381, 0.45)
    '38.1 to 45.0 %'
    """
    return f"{100 * low:.1f} to {100 * high:.1f} %"


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


def headline(labels: Sequence[str]) -> str:
    """The class whose share stands for all: the second of two, else the first."""
    return labels[1] if len(labels) == 2 else labels[0]


def verdict(
    shift: Shift | None,
    assumptions: Sequence[Assumption],
    labels: Sequence[str],
    *,
    untrained: bool,
) -> str:
    """Has something changed that the estimate does not allow for? And the estimates if so."""
    if untrained:
        return "Without labelled rows it cannot be told whether your posteriors fit these items."
    estimates = _estimates(assumptions, labels)
    if shift is None:
        return f"Not tested for changes other than of prevalence: {estimates}."
    change = f"{CHANGES[shift.kind]} (p = {shift.p_value:.2g})"
    if not shift.rejected:
        return f"{change}: {estimates}."
    return f"{change}; estimates that assume prior shift may be off: {estimates}."


def batch_warnings(
    *, n_items: int, n_labelled: int, asked: bool, audited: bool, confused: Sequence[str] = ()
) -> Iterator[str]:
    """What the reader should know about a batch.

    asked: whether there is an audit at all; confused: classes that the classifier does not tell
    from another.
    """
    if confused:
        yield (
            f"on unseen rows the classifier tells {listed(confused)} apart no better than chance: "
            "the items say nothing about their shares"
        )
    if n_items < SMALL:
        yield f"only {n_items} item{'s' * (n_items != 1)}: the interval is wide"
    if asked and not audited:
        yield f"{n_labelled} items are labelled, an audit needs {FEWEST_LABELS}: not audited"


def advice(
    shares: Sequence[Share],
    assumptions: Sequence[Assumption],
    shift: Shift | None,
    audit: Audited | None,
    *,
    untrained: bool,
) -> Iterator[str]:
    """What to do next."""
    if audit is not None:
        if audit.contradicts:
            yield (
                "The audit contradicts the method: use the audited estimate, and add newly "
                "labelled items of this source to the training table."
            )
        else:
            yield "The audit agrees with the method. Audit again when the source changes."
        return
    reason = _doubt(assumptions, shift, untrained=untrained)
    if reason:
        yield (
            f"Label some random items, because {reason}: `quantshift audit-plan` draws them, and "
            "`quantshift quantify --audit` then gives an estimate that holds under any shift."
        )
    elif max(share.high - share.low for share in shares) > WIDE:
        yield "For a narrower interval give more items, or label some: `quantshift audit-plan`."
    else:
        yield "Nothing to do. An audit (`quantshift audit-plan`) would confirm the estimate."


def _doubt(
    assumptions: Sequence[Assumption], shift: Shift | None, *, untrained: bool
) -> str | None:
    if untrained:
        return "nothing has been checked against labels"
    if shift is not None:
        return "more than the prevalence has changed" if shift.rejected else None
    apart = _spread(assumptions) > APART
    return "the estimates under different assumptions are far apart" if apart else None


def _estimates(assumptions: Sequence[Assumption], labels: Sequence[str]) -> str:
    label = headline(labels)
    listed = ", ".join(f"{a.name} {percent(a.prevalence[label])}" for a in assumptions)
    return f"share of {label!r} under {listed}"


def _spread(assumptions: Sequence[Assumption]) -> float:
    ranges = [[a.prevalence[label] for a in assumptions] for label in assumptions[0].prevalence]
    return max(max(values) - min(values) for values in ranges)
