"""What `judge` finds besides the numbers, and what it advises."""

from quantshift.claims.findings import Code, Severity

CHANGED_VERDICTS = (
    "{n} of {n_items:count labelled item} {n:has|have} another verdict in {judge:quoted} than in "
    "{source}, the first in row {row}"
)
"""That a judge says something else about items in another table."""


class JudgeTableFindings(Code):
    """Findings about the tables of verdicts and labels."""

    LABELLED_BUT_LEFT_OUT = (
        "labelled_but_left_out",
        Severity.WARNING,
        "{n} of the rows left out {n:has|have} a label",
    )
    LABELS_NOT_ON_SHEET = (
        "labels_not_on_sheet",
        Severity.WARNING,
        "{n:count label} {n:is|are} not used: {n:it is|they are} not on the sheet {sheet}, and "
        "with what probability {n:it was|they were} chosen is not known",
    )
    CHANGED_VERDICTS = (
        "changed_verdicts",
        Severity.WARNING,
        f"{CHANGED_VERDICTS}; the verdicts of {{source}} are used",
    )
    MATCHED_VERDICTS = (
        "matched_verdicts",
        Severity.NOTE,
        "verdicts of {judge:quoted} in {source} are taken for those here: {pairs}",
    )
    REPEATED_IDS = (
        "repeated_ids",
        Severity.NOTE,
        "{n:count id} {n:has|have} several rows; the rows of an id are taken as a cluster, not as "
        "independent items",
    )
    VERDICTS_WITHOUT_LABEL = (
        "verdicts_without_label",
        Severity.WARNING,
        "verdicts of {judge:quoted} that fit no label: {verdicts:quoted 3}; they are used as "
        "verdicts of their own, but there is no share by the verdicts alone and no kappa, unless "
        "you map them to labels",
    )
    CLASSES_WITHOUT_LABEL = (
        "classes_without_label",
        Severity.WARNING,
        "no item is labelled {classes:quoted}: the interval allows for that, and cannot say more",
    )


class JudgeFindings(Code):
    """Findings about an estimate from verdicts and labels."""

    DESIGN_GUESSED = (
        "design_guessed",
        Severity.WARNING,
        "nobody said how the labelled items were chosen; taken as {design}: {why}",
    )
    MANY_INTERVALS = (
        "many_intervals",
        Severity.NOTE,
        "each of the {n} intervals holds on its own; among so many the largest and the smallest "
        "share are partly chance",
    )
    ONE_CLASS_LABELLED = (
        "one_class_labelled",
        Severity.WARNING,
        "all labels are of one class: only a limit is known for the others",
    )
    ONE_VERDICT = (
        "one_verdict",
        Severity.WARNING,
        "all verdicts are the same: the judge adds nothing to the labels",
    )
    PERFECT_AGREEMENT = (
        "perfect_agreement",
        Severity.WARNING,
        "all labels agree with the verdicts: were they given without seeing them?",
    )
    COUNTED_ALONE = (
        "counted_alone",
        Severity.NOTE,
        "with {n:count label} the interval is that of counting them",
    )
    STRATA_WITHOUT_LABEL = (
        "strata_without_label",
        Severity.WARNING,
        "{share:.1%} of the items are in strata without a label",
    )
    ITEMS_UNLIKE_LABELLED = (
        "items_unlike_labelled",
        Severity.WARNING,
        "{share:.1%} of the items have {what} that no labelled item has: anything may be true of "
        "them, and the limits allow for it; label some of them",
    )
    FEW_CLUSTERS = (
        "few_clusters",
        Severity.NOTE,
        "the labels are of {n:count cluster} only: the limits are those of Student's t",
    )
    SPLIT_ITEMS = (
        "split_items",
        Severity.NOTE,
        "annotators are split on {n:count item}; {n:it|each} counts as half of either label",
    )
    TREATED_DIFFERENTLY = (
        "treated_differently",
        Severity.WARNING,
        "the judge treats items labelled elsewhere differently (p = {p_value:.2g}): their labels "
        "are not used",
    )
    ELSEWHERE_NOT_USED = (
        "elsewhere_not_used",
        Severity.WARNING,
        "labels from elsewhere are not used: {reason}",
    )
    ELSEWHERE_USED = (
        "elsewhere_used",
        Severity.NOTE,
        "labels from elsewhere have a weight of {weight:.0%}; the judge treats both kinds of items "
        "alike as far as can be seen (p = {p_value:.2g})",
    )
    UNINFORMATIVE_JUDGE = (
        "uninformative_judge",
        Severity.WARNING,
        "the judge hardly tells the classes apart (Youden's J {youden:.2f}, {low:.2f} to "
        "{high:.2f})",
    )
    SPREAD_ASSUMED = (
        "spread_assumed",
        Severity.NOTE,
        "how far the judge's errors and the share move between sources is taken from other "
        "tables: labels of several sources, each with its name, would show it; if you know that "
        "one of the assumptions above holds, declare it",
    )
    SPREAD_LEARNT = (
        "spread_learnt",
        Severity.NOTE,
        "{n} labelled sources show how far the judge's errors and the share move between them; "
        "this is a range, since the items here may be unlike all of them",
    )


class JudgeAdvice(Code):
    """What to do next."""

    NAIVE_CONTRADICTED = (
        "naive_contradicted",
        Severity.ADVICE,
        "Do not report the share by the verdicts alone: {by:labels=the labels contradict|"
        "rates=the judge's error rates contradict} it.",
    )
    NAIVE_OUTSIDE_RANGE = (
        "naive_outside_range",
        Severity.ADVICE,
        "Do not report the share by the verdicts alone: it is outside the range of what the labels "
        "allow.",
    )
    LABEL_AT_RANDOM = (
        "label_at_random",
        Severity.ADVICE,
        "Label {n:count random item} of this table to settle it: `quantshift plan judge --how "
        "random --n-labels {n}` draws them.",
    )
    LABEL_THE_OTHERS = (
        "label_the_others",
        Severity.ADVICE,
        "Label {n:count random item} among the others to settle it: those with {what} that no "
        "labelled item has.",
    )
    LABEL_MORE = (
        "label_more",
        Severity.ADVICE,
        "The interval says little yet. Label more items: `quantshift plan judge` says how many and "
        "which.",
    )

    @property
    def settles(self) -> bool:
        """Whether it would make an interval of a range."""
        return self in (JudgeAdvice.LABEL_AT_RANDOM, JudgeAdvice.LABEL_THE_OTHERS)
