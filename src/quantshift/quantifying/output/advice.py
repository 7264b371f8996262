"""Plain words for practitioners: verdicts, warnings, and what to do next."""

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import NormalDist
from types import MappingProxyType

from quantshift.answers.kinds import WIDE
from quantshift.answers.shares import Share
from quantshift.answers.words import percent, shortened
from quantshift.base.nouns import counted, listed
from quantshift.intervals.engine import SMALL
from quantshift.labelling.audit import FEWEST_LABELS
from quantshift.labelling.deciding import NEITHER, OPEN
from quantshift.quantifiers.base.guarding import NO_EVIDENCE, REFUTED
from quantshift.quantifiers.baselines import BASELINE
from quantshift.quantifying.estimating.decision import spread
from quantshift.quantifying.output.result import COVARIATE_SHIFT, PRIOR_SHIFT, Audited, Settled
from quantshift.quantifying.output.verdicts import ASSUMPTION_NAMES, Explained
from quantshift.quantifying.training.group_errors import GroupErrors

APART = 0.05
"""If estimates under different assumptions differ by more, labels are worth the effort."""


GIVEN_POSTERIORS = "given posteriors"
"""The name of the classifier where posteriors of the user's own model are given."""

FEW_LABELS = 50
"""How many random labels to ask for first."""

METHOD_NAMES: Mapping[str, str] = MappingProxyType({BASELINE: "training prevalence"})
"""Displayed names of methods whose acronyms say nothing to most readers."""

CONFUSED = (
    "in cross-validation the classifier cannot tell this class from another better than chance"
)
NOTHING_TO_DO = "No action needed. An audit (`quantshift audit-plan`) would confirm the estimate."

WARNED = "See the warnings first; an audit (`quantshift audit-plan`) would confirm the estimate."

QUESTION = (
    "Are the columns effects of the label (symptoms of a disease, words of an opinion), or causes "
    "of it (age and income before a default)? Declare it: `quantshift quantify --columns effects` "
    "or `quantshift quantify --columns causes`. Columns of both kinds: did the thing itself become "
    "more or less common (the assumption prior), or were other rows selected (covariate)?"
)
"""What decides between two numbers."""

QUESTION_WITHOUT_LABELS = (
    "Do you know, from labelled items like these, that your posteriors are right? Declare it: "
    "`quantshift quantify --method PCC`."
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


def labels_text(shares: Sequence[Share], level: float, n_items: int) -> str:
    """What precision a few random labels give."""
    n_labels = min(FEW_LABELS, n_items)
    if n_labels == n_items:
        if n_items == 1:
            return "the label of the only item gives the share itself"
        return f"labels of all {n_items} items give the share itself"
    points = 100 * reach_of_labels(n_labels, shares, level)
    return f"{n_labels} random labels are enough for about plus or minus {points:.0f} points"


def groups_text(groups: GroupErrors) -> str:
    """How far off each method would have been on the user's own groups, in a sentence."""
    others = sorted(
        (m for m in groups.errors if m not in (groups.method, BASELINE)),
        key=lambda method: groups.errors[method],
    )
    method_used = f"{groups.method}, the method used here, would have been off by {_points(groups)}"
    other_methods = ", ".join(f"{m} by {100 * groups.errors[m]:.1f}" for m in others)
    n_groups = counted(len(groups.groups), groups.noun)
    how = "each estimated from those before it" if groups.in_time else "each left out in turn"
    baseline = f"assuming the training prevalence by {100 * groups.errors[BASELINE]:.1f}"
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
    *, n_items: int, n_labelled: int, audit_given: bool, audited: bool, confused: Sequence[str] = ()
) -> Iterator[str]:
    """Warnings about a batch.

    audit_given: whether there is an audit at all; confused: classes that the classifier does not
    separate from another.
    """
    if confused:
        names = listed([repr(label) for label in confused])
        yield (
            f"in cross-validation the classifier cannot tell {names} apart better than chance: the "
            "items say nothing about their shares"
        )
    if n_items < SMALL:
        yield f"only {counted(n_items, 'item')}: the interval is wide"
    if audit_given and not audited:
        yield f"{n_labelled} items are labelled and an audit needs {FEWEST_LABELS}: not audited"


def advice(
    shares: Sequence[Share],
    about: Explained,
    *,
    can_be_estimated: bool,
    cure: str,
    n_items: int,
    level: float,
) -> Iterator[str]:
    """What to do next.

    cure: what would make it possible to estimate, if anything is known.
    """
    if about.audit is not None:
        if about.audit.settled is not None:
            yield settled_text(about.audit.settled, about.audit.n_labelled)
        if about.audit.progress is not None:
            yield _whether_to_stop(about.audit)
        if about.audit.contradicts:
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
    if not can_be_estimated and not about.decision.too_wide:
        yield (
            f"{cure or 'Add columns that say something about the label'}, or label some items: "
            f"{labels_advice}. {next_commands}"
        )
        return
    reason = _doubt(about)
    if about.decision.reason == NO_EVIDENCE:
        yield QUESTION_WITHOUT_LABELS if about.untrained else QUESTION
    if about.n_deciding is not None:
        yield _deciding_text(about, about.n_deciding)
    elif reason:
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


def _deciding_text(about: Explained, n_labels: int) -> str:
    """That a few labels settle which of two shares is true."""
    either, other = (about.share_if(name) for name in (PRIOR_SHIFT, COVARIATE_SHIFT))
    return (
        f"Or let labels decide: about {n_labels:,} random ones tell {either} from {other}, wrong "
        "in at most 5% of cases, whatever has shifted. `quantshift audit-plan --sequential` draws "
        "them: label the sheet from the top, and look as often as you like with `quantshift "
        "quantify --audit --sequential`, which says when it is settled."
    )


def settled_text(settled: Settled, n_labelled: int) -> str:
    """Which of two shares the labels settle, in a sentence."""
    shares = {name: percent(share) for name, share in settled.shares.items()}
    of_class = f"of {shortened(settled.label)!r} "
    if settled.outcome == OPEN:
        more = max(settled.n_needed - n_labelled, 10)
        return (
            f"The labels do not decide yet between {' and '.join(shares.values())} {of_class}"
            f"(label about {more:,} more); the audit's interval holds in any case."
        )
    if settled.outcome == NEITHER:
        return (
            f"The labels contradict both {' and '.join(shares.values())} {of_class}"
            "(neither is true): use the audit's interval."
        )
    other = next(text for name, text in shares.items() if name != settled.outcome)
    assume = "prior" if settled.outcome == PRIOR_SHIFT else "covariate"
    return (
        f"{settled.n_labels} labels settle it: {shares[settled.outcome]} {of_class}"
        f"({ASSUMPTION_NAMES[settled.outcome]}), not {other}; such a decision is wrong in at most "
        "5% of cases. For further samples of this source, declare it: `quantshift quantify "
        f"--assume {assume}`."
    )


def _whether_to_stop(audit: Audited) -> str:
    """Whether an audit with many looks can stop, or how many more labels it needs."""
    progress = audit.progress
    assert progress is not None
    current, target = f"{100 * progress.half_width:.1f}", f"{100 * progress.precision:.1f}"
    if progress.reached:
        return (
            f"You can stop: the interval is plus or minus {current} points, and {target} were "
            "asked for."
        )
    more = progress.n_needed - audit.n_labelled
    return (
        f"The interval is plus or minus {current} points. For {target} label about {more:,} more, "
        "from the top of the sheet; check as often as you like."
    )


def _doubt(about: Explained) -> str | None:
    """Why labels are worth the effort; None if they are not."""
    if about.untrained:
        return "nothing has been checked against labels"
    if about.decision.reason == REFUTED:
        return "more has changed than the shares of the classes"
    if about.decision.reason == NO_EVIDENCE:
        return "the items cannot tell what has changed"
    apart = about.shift is None and spread(about.assumptions) > APART
    return "the estimates under different assumptions are far apart" if apart else None
