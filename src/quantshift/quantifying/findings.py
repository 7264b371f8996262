"""What `quantify` and `train` find besides the numbers, and what they advise."""

from quantshift.claims.findings import Code, Severity

LABELS = (
    "{which_labels:some={n_labels:count random label} are enough for about plus or minus "
    "{half_width:whole points} points|all=labels of all {n_labels} items give the share itself|"
    "only=the label of the only item gives the share itself}"
)
"""What precision a few labels give."""

_DRAWN = (
    "`quantshift plan quantify` draws them, and `quantshift quantify --audit` estimates the share "
    "from them."
)


class TrainingFindings(Code):
    """Findings about the training table and the classifier."""

    TOO_ACCURATE = (
        "too_accurate",
        Severity.WARNING,
        "the cross-validated accuracy of the classifier is {accuracy:.1%}, which is too good to be "
        "true: is the label hidden in a column, or are there copies of rows?",
    )
    LITTLE_SEPARATION = (
        "little_separation",
        Severity.WARNING,
        "the columns say little about the label (AUC {auc:.2f}, where 0.5 is chance)",
    )
    REVEALING_COLUMN = (
        "revealing_column",
        Severity.WARNING,
        "it gives the label away on its own; if it is known only after the label, or derived from "
        "it, drop it",
    )
    HARD_POSTERIORS = (
        "hard_posteriors",
        Severity.WARNING,
        "all posteriors are 0 or 1, like hard predictions: if your model gives probabilities, use "
        "those",
    )
    PERFECT_POSTERIORS = (
        "perfect_posteriors",
        Severity.WARNING,
        "all posteriors are 0 or 1, and all are correct: were these rows used to train your model? "
        "Give posteriors of rows it has not seen",
    )
    COPIED_ROWS = (
        "copied_rows",
        Severity.WARNING,
        "{n} of {n_rows:count training row} {n:is a copy of another|are copies of others}; copies "
        "share a fold, so that none counts as unseen. Intervals count them as different rows, and "
        "are too narrow if there are many: leave the copies out",
    )
    DECIMAL_COMMAS = (
        "decimal_commas",
        Severity.NOTE,
        "{n:count column} with decimal commas ({columns:quoted}) {n:is|are} read as numbers: 34,3 "
        "is 34.3",
    )
    DEAD_COLUMN = (
        "dead_column",
        Severity.WARNING,
        "{death:empty=empty|constant=always the same} in the sample, like {share:percent} of the "
        "training rows, so not used; name it as a feature to use it all the same",
    )
    LATER_DATES = (
        "later_dates",
        Severity.NOTE,
        "all its dates in the sample are later than those of training, so not used; name it as a "
        "feature to use it all the same",
    )
    DECLARATION_TRIED = (
        "declaration_tried",
        Severity.NOTE,
        "tried on {n} {noun}{n:|s}, each {which:last=from those before it|all=left out in turn}, "
        "what you declared was off by {error:points} points on average, by {largest:points} at "
        "most",
    )
    DECLARATION_IN_DOUBT = (
        "declaration_in_doubt",
        Severity.WARNING,
        "tried on {n} {noun}{n:|s}, each {which:last=from those before it|all=left out in turn}, "
        "what you declared was off by {error:points} points on average, by {largest:points} at "
        "most: label some items",
    )
    TRAINED_ON_A_PART = (
        "trained_on_a_part",
        Severity.NOTE,
        "trained on {n} of {n_rows:count row}, drawn at random",
    )


class GroupFindings(Code):
    """Findings about groups of the training table that are left out in turn."""

    ROWS_WITHOUT_GROUP = (
        "rows_without_group",
        Severity.NOTE,
        "{n:count row} without a group {n:is|are} not used",
    )
    GROUPS_POOLED = (
        "groups_pooled",
        Severity.NOTE,
        "{n:count group} of fewer than {fewest} rows are pooled as {name}",
    )
    GROUPS_TOO_SMALL = (
        "groups_too_small",
        Severity.NOTE,
        "not estimated, with fewer than {fewest} rows: {groups}",
    )
    SETS_WITHOUT_A_CLASS = (
        "sets_without_a_class",
        Severity.NOTE,
        "{n:count training set} without rows of every class {n:is|are} left out",
    )
    GROUP_NOT_LEARNT_WITHOUT = (
        "group_not_learnt_without",
        Severity.NOTE,
        "{group}: no model could be trained without it ({error})",
    )
    ROWS_OF_GROUPS_DRAWN = (
        "rows_of_groups_drawn",
        Severity.NOTE,
        "each model is trained on, and estimates, at most {most:count random row}",
    )
    LAST_PERIODS = (
        "last_periods",
        Severity.NOTE,
        "the last {n} of {n_groups} are estimated",
    )
    LARGEST_GROUPS = (
        "largest_groups",
        Severity.NOTE,
        "the {n} largest of {n_groups:count group} are left out in turn",
    )


class SampleFindings(Code):
    """Findings about the tables of a sample, as they are read."""

    RANDOM_PART = (
        "random_part",
        Severity.NOTE,
        "of {n_items:count item} {n} were used, drawn at random from the largest batches; more "
        "would hardly make the estimates more precise",
    )
    COPIES = (
        "copies",
        Severity.NOTE,
        "{n} of {n_items:count item} {n:is a copy of another|are copies of others}: an item that "
        "occurs k times counts as one that is seen k times, which the limits allow for",
    )
    UNUSED_COLUMNS = (
        "unused_columns",
        Severity.NOTE,
        "not used: {columns:plain 10} (not in the training table)",
    )
    # Without the name of the column, so that several targets say it once.
    LABELS_IGNORED = "labels_ignored", Severity.NOTE, "the labels were ignored"
    ODD_CELLS = (
        "odd_cells",
        Severity.WARNING,
        "{n:count cell} {n:does|do} not fit what it holds in training (row {row}: "
        "{example:quoted}) and {n:is|are} treated as missing",
        "{n:count cell} {n:does|do} not fit what it holds in training and {n:is|are} treated as "
        "missing",
    )
    RESPELT_LEVELS = (
        "respelt_levels",
        Severity.NOTE,
        "{n:count value} that {n:differs|differ} from training only in case or blanks {n:is|are} "
        "taken as {n:that|those} of training ({spellings:plain 3})",
    )
    NO_LONGER_CONSTANT = (
        "no_longer_constant",
        Severity.WARNING,
        "constant in training, so not used, and different here: always {usual:quoted} there, "
        "{example:quoted}{others: and others|} in {n:count row} here",
        "constant in training, so not used, and different here in {n:count row}",
    )
    DIVIDING_COLUMN = (
        "dividing_column",
        Severity.WARNING,
        "it divides the sample, and the model was trained on it: differences between batches may "
        "come from it alone; consider training a model without it",
    )
    CHILD_ABOVE_PARENT = (
        "child_above_parent",
        Severity.WARNING,
        "the limits of {child:quoted} are above those of its parent {parent:quoted}, which cannot "
        "be: at least one of the two is wrong",
    )
    LABEL_NOT_LEARNT = (
        "label_not_learnt",
        Severity.WARNING,
        "the label {label:quoted} cannot be learnt and is not estimated: {reason}",
    )
    CUT_AT_PARENT = (
        "cut_at_parent",
        Severity.NOTE,
        "its share or its limits were cut at those of its parent {parent:quoted}",
    )
    ANSWERED_TOGETHER = (
        "answered_together",
        Severity.NOTE,
        "estimated together with other labels, by {method}, because nothing contradicts that only "
        "the shares of the labels and of their combinations have changed",
    )
    OTHERS_DO_NOT_EXPLAIN = (
        "others_do_not_explain",
        Severity.NOTE,
        "more has changed than its share, and changed shares of the other labels do not explain it",
    )


class BatchFindings(Code):
    """Findings about the items of a batch."""

    NONE_OF_THESE = (
        "none_of_these",
        Severity.WARNING,
        "{all:nearly all|at least {share:.0%}} of the items look like nothing in training"
        "{classes:closed=|open=, perhaps because they are of a class that it does not have, which "
        "the shares leave out}: label some of these items",
    )
    NOT_WITHOUT_LABELS = (
        "not_without_labels",
        Severity.WARNING,
        "{name}: cannot be estimated without labels; anything from {low:percent} to {high:percent} "
        "is possible",
        "{name}: cannot be estimated without labels; their ranges lie between "
        "{low:lowest percent} and {high:highest percent}",
    )
    NOT_ESTIMATED = (
        "not_estimated",
        Severity.WARNING,
        "{name}: cannot be estimated from these columns: {reason}",
    )
    NO_ITEMS = "no_items", Severity.WARNING, "no items: nothing can be estimated"
    FEW_ITEMS = "few_items", Severity.WARNING, "only {n:count item}: the interval is wide"
    CONFUSED_CLASSES = (
        "confused_classes",
        Severity.WARNING,
        "in cross-validation the classifier cannot tell {classes:quoted and} apart better than "
        "chance: the items say nothing about their shares",
    )
    TOO_FEW_LABELS = (
        "too_few_labels",
        Severity.WARNING,
        "{n:count item} {n:is|are} labelled and an audit needs {fewest}: not audited",
    )
    NO_VALUES = (
        "no_values",
        Severity.WARNING,
        "only missing values, where training has {expected:whole percent}",
    )
    MORE_GAPS = (
        "more_gaps",
        Severity.WARNING,
        "{share:whole percent} of the rows are missing where {expected:whole percent} was expected",
    )
    OUTSIDE_THE_RANGE = (
        "outside_the_range",
        Severity.WARNING,
        "{share:whole percent} of the rows lie outside {low:short} to {high:short}, the range of "
        "training",
        "{share:whole percent} of the rows lie outside the range of training",
    )
    OUTSIDE_THE_DATES = (
        "outside_the_dates",
        Severity.WARNING,
        "{share:whole percent} of the rows lie outside {low} to {high}, the range of training; "
        "leave out the column unless such dates say something about the label",
        "{share:whole percent} of the rows lie outside the range of training; leave out the column "
        "unless such dates say something about the label",
    )
    NEW_LEVELS = (
        "new_levels",
        Severity.WARNING,
        "{share:whole percent} of the rows have values that training has not seen, such as "
        "{example:quoted}",
        "{share:whole percent} of the rows have values that training has not seen",
    )
    NEW_WORDS = (
        "new_words",
        Severity.WARNING,
        "{share:whole percent} of the words occur in no training text or in only one, where "
        "{expected:whole percent} was expected",
    )


class Advice(Code):
    """What to do next."""

    GIVE_ITEMS = "give_items", Severity.ADVICE, "Give a sample with items."
    LABELS_UNDECIDED = (
        "labels_undecided",
        Severity.ADVICE,
        "The labels do not decide yet between {first:percent} and {second:percent} of "
        "{label:quoted} (label about {n_more} more); the audit's interval holds in any case.",
    )
    LABELS_FIT_NEITHER = (
        "labels_fit_neither",
        Severity.ADVICE,
        "The labels contradict both {first:percent} and {second:percent} of {label:quoted} "
        "(neither is true): use the audit's interval.",
    )
    LABELS_SETTLE_IT = (
        "labels_settle_it",
        Severity.ADVICE,
        "{n_labels:count label} {n_labels:settles|settle} it: {share:percent} of {label:quoted} "
        "(if only {assume:prior=the shares of the classes|covariate=the mix of items} changed), "
        "not {other:percent}; such a decision is wrong in at most 5% of cases. For further samples "
        "of this source, declare it: `quantshift quantify --assume {assume}`.",
    )
    AUDIT_CAN_STOP = (
        "audit_can_stop",
        Severity.ADVICE,
        "You can stop: the interval is plus or minus {half_width:points} points, and "
        "{precision:points} were asked for.",
    )
    AUDIT_GOES_ON = (
        "audit_goes_on",
        Severity.ADVICE,
        "The interval is plus or minus {half_width:points} points. For {precision:points} label "
        "about {n_more} more, from the top of the sheet; check as often as you like.",
    )
    AUDIT_CONTRADICTS = (
        "audit_contradicts",
        Severity.ADVICE,
        "The audit contradicts the method: use the audited estimate, and add newly labelled items "
        "of this source to the training table.",
    )
    AUDIT_AGREES = (
        "audit_agrees",
        Severity.ADVICE,
        "The audit agrees with the method. Audit again when the source changes.",
    )
    ADD_COLUMNS_OR_LABEL = (
        "add_columns_or_label",
        Severity.ADVICE,
        f"Add columns that say something about the label, or label some items: {LABELS}. {_DRAWN}",
    )
    REPAIR_OR_LABEL = (
        "repair_or_label",
        Severity.ADVICE,
        "Repair {columns:quoted}, or train without (`drop`), or label some items: "
        f"{LABELS}. {_DRAWN}",
    )
    LABELS_DECIDE = (
        "labels_decide",
        Severity.ADVICE,
        "Let labels decide: about {n_labels:count random label} tell {first:percent} from "
        "{second:percent}{of:lead=|other= of {label:quoted}}, wrong in at most 5% of cases, "
        "whatever has changed. `quantshift plan quantify --sequential` draws them: label the sheet "
        "from the top, and look as often as you like with `quantshift quantify --audit "
        "--sequential`, which says when it is settled.",
    )
    LABEL_SOME = (
        "label_some",
        Severity.ADVICE,
        "Label some items, because {why:unchecked=nothing has been checked against labels|"
        "refuted=more has changed than the shares of the classes|cannot_tell=the items cannot tell "
        "what has changed|apart=the estimates under different assumptions are far apart}: "
        f"{LABELS}, whatever has changed. {_DRAWN}",
    )
    DECLARE_COLUMNS = (
        "declare_columns",
        Severity.ADVICE,
        "Or declare what you know: `quantshift quantify --columns effects` if the columns are "
        "effects of the label (symptoms of a disease, words of an opinion), `quantshift quantify "
        "--columns causes` if they are causes of it (age and income before a default). Columns of "
        "both kinds: did the thing itself become more or less common (`quantshift quantify "
        "--assume prior`), or were other rows selected (`quantshift quantify --assume covariate`)? "
        "The answer then holds if that is right; if you are not sure, label.",
    )
    DECLARE_POSTERIORS = (
        "declare_posteriors",
        Severity.ADVICE,
        "If you know, from labelled items like these, that your posteriors are right, declare it: "
        "`quantshift quantify --method PCC`. The answer then holds if they are.",
    )
    NARROWER = (
        "narrower",
        Severity.ADVICE,
        f"For a narrower interval give more items, or label some: {LABELS}. {_DRAWN}",
    )
    AUDIT_WOULD_CONFIRM = (
        "audit_would_confirm",
        Severity.ADVICE,
        "A few labels would confirm the estimate, and that labels still mean the same: "
        "`quantshift plan quantify` draws the rows.",
    )
    SEE_WARNINGS = (
        "see_warnings",
        Severity.ADVICE,
        "See the warnings first; a few labels would confirm the estimate, and that labels still "
        "mean the same: `quantshift plan quantify` draws the rows.",
    )
