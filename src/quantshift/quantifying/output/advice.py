"""What to do next, and what to be careful about in a batch."""

import math
from collections.abc import Iterator, Sequence
from statistics import NormalDist

from quantshift.answers.kinds import WIDE
from quantshift.answers.shares import Share
from quantshift.answers.words import shortened
from quantshift.claims import NOTHING_KNOWN, Assumption, Reason, spread
from quantshift.claims.findings import Finding
from quantshift.claims.sentences import Value, filled
from quantshift.intervals.engine import SMALL
from quantshift.labelling.audit import FEWEST_LABELS
from quantshift.labelling.deciding import NEITHER, OPEN
from quantshift.quantifying.findings import LABELS, Advice, BatchFindings
from quantshift.quantifying.output.verdicts import Explained
from quantshift.quantifying.result import (
    Audited,
    SequentialProgress,
    Settled,
)

NEARLY_ALL = 0.99
"""If so many items look like no class in training, they are nearly all."""

APART = 0.05
"""If estimates under different assumptions differ by more, labels are worth the effort."""


FEW_LABELS = 50
"""How many random labels to ask for first."""

CONFUSED = (
    "in cross-validation the classifier cannot tell this class from another better than chance"
)


def reach_of_labels(n_labels: int, shares: Sequence[Share], level: float) -> float:
    """The half-width of the interval from this many random labels alone, for the class that is
    hardest to estimate.

    >>> round(reach_of_labels(50, [Share("a", 0.4, 0.2, 0.9)], 0.95), 2)
    0.14
    """
    z = NormalDist().inv_cdf(0.5 + level / 2)
    hardest = (min(max(0.5, share.low), share.high) for share in shares)
    return max(z * math.sqrt(p * (1 - p) / n_labels) for p in hardest)


def labels_needed(shares: Sequence[Share], level: float, n_items: int) -> dict[str, Value]:
    """What precision a few random labels give, as the numbers of advice."""
    n_labels = min(FEW_LABELS, n_items)
    which = "some" if n_labels < n_items else "only" if n_items == 1 else "all"
    half_width = reach_of_labels(n_labels, shares, level) if n_labels else 1.0
    return {
        "which_labels": which,
        "n_labels": n_labels,
        "half_width": half_width,
    }


def labels_text(shares: Sequence[Share], level: float, n_items: int) -> str:
    """What precision a few random labels give."""
    return filled(LABELS, labels_needed(shares, level, n_items))


def batch_findings(
    *,
    n_items: int,
    n_labelled: int,
    audit_given: bool,
    audited: bool,
    confused: Sequence[str] = (),
    none_of_these: float | None = None,
    closed: bool = False,
) -> Iterator[Finding]:
    """Warnings about a batch.

    audit_given: whether there is an audit at all; confused: classes that the classifier does not
    separate from another. none_of_these: the share of items like those of no class.
    closed: whether there can be no other class.
    """
    if none_of_these is not None:
        yield BatchFindings.NONE_OF_THESE.found(
            share=none_of_these,
            all=none_of_these >= NEARLY_ALL,
            classes="closed" if closed else "open",
        )
    if confused:
        yield BatchFindings.CONFUSED_CLASSES.found(classes=tuple(confused))
    if n_items < SMALL:
        yield BatchFindings.FEW_ITEMS.found(n=n_items)
    if audit_given and not audited:
        yield BatchFindings.TOO_FEW_LABELS.found(n=n_labelled, fewest=FEWEST_LABELS)


def advice(
    shares: Sequence[Share],
    about: Explained,
    *,
    can_be_estimated: bool,
    gone: tuple[str, ...],
    n_items: int,
    level: float,
) -> Iterator[Finding]:
    """What to do next: labels first, a declaration second.

    gone: the columns that say nothing about the items, if nothing can be estimated for it.
    """
    if about.audit is not None:
        yield from _of_audit(about.audit)
        return
    labels = labels_needed(shares, level, n_items)
    if not can_be_estimated and about.grounds.reason in NOTHING_KNOWN:
        if gone:
            yield Advice.REPAIR_OR_LABEL.found(columns=gone).with_numbers(**labels)
        else:
            yield Advice.ADD_COLUMNS_OR_LABEL.found().with_numbers(**labels)
        return
    why = _doubt(about)
    if about.deciding is not None:
        yield about.deciding
    elif why:
        yield Advice.LABEL_SOME.found(why=why).with_numbers(**labels)
    elif max(share.width for share in shares) > WIDE:
        yield Advice.NARROWER.found().with_numbers(**labels)
    else:
        yield Advice.AUDIT_WOULD_CONFIRM.found()
    if about.grounds.reason is Reason.NO_EVIDENCE:
        declare = Advice.DECLARE_POSTERIORS if about.untrained else Advice.DECLARE_COLUMNS
        yield declare.found()


def _of_audit(audit: Audited) -> Iterator[Finding]:
    if audit.settled is not None:
        yield settled_advice(audit.settled, audit.n_labelled)
    if audit.progress is not None:
        yield _whether_to_stop(audit.progress, audit.n_labelled)
    yield (Advice.AUDIT_CONTRADICTS if audit.contradicts else Advice.AUDIT_AGREES).found()


def settled_advice(settled: Settled, n_labelled: int) -> Finding:
    """Which of two shares the labels settle."""
    first, second = settled.shares.values()
    label = shortened(settled.label)
    if settled.outcome == OPEN:
        n_more = max(settled.n_needed - n_labelled, 10)
        return Advice.LABELS_UNDECIDED.found(first=first, second=second, label=label, n_more=n_more)
    if settled.outcome == NEITHER:
        return Advice.LABELS_FIT_NEITHER.found(first=first, second=second, label=label)
    settled_by = Assumption(settled.outcome)
    (other,) = (share for name, share in settled.shares.items() if name is not settled_by)
    return Advice.LABELS_SETTLE_IT.found(
        n_labels=settled.n_labels,
        share=settled.shares[settled_by],
        other=other,
        label=label,
        assume=settled_by.value,
    )


def _whether_to_stop(progress: SequentialProgress, n_labelled: int) -> Finding:
    """Whether an audit with many looks can stop, or how many more labels it needs."""
    reach = {"half_width": progress.half_width, "precision": progress.precision}
    if progress.reached:
        return Advice.AUDIT_CAN_STOP.found().with_numbers(**reach)
    n_more = progress.n_needed - n_labelled
    return Advice.AUDIT_GOES_ON.found(n_more=n_more).with_numbers(**reach)


def _doubt(about: Explained) -> str:
    """Why labels are worth the effort; empty if they are not."""
    if about.untrained:
        return "unchecked"
    if about.grounds.reason is Reason.REFUTED:
        return "refuted"
    if about.grounds.reason is Reason.NO_EVIDENCE:
        return "cannot_tell"
    apart = about.shift is None and spread(about.alternatives) > APART
    return "apart" if apart else ""
