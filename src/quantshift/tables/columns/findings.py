"""What is found when tables are read: copies, incomplete files, labels that look odd."""

from quantshift.claims.findings import Code, Severity


class TableFindings(Code):
    """Findings about files, sheets and labels."""

    COPIED_FILES = (
        "copied_files",
        Severity.WARNING,
        "{first} and {second} have the same content; if one is a copy, its rows are counted twice",
    )
    HIDDEN_SHEET = "hidden_sheet", Severity.NOTE, "the hidden sheet {sheet:quoted} was not read"
    LOG_NOT_SUCCESSFUL = (
        "log_not_successful",
        Severity.WARNING,
        "the status of this log is {status:quoted}: samples that the evaluation did not reach are "
        "not in it, and those in it may not be like them",
    )
    SAMPLES_MISSING = (
        "samples_missing",
        Severity.WARNING,
        "the evaluation had {n_expected:count sample}, and this log has {n}: its shares are those "
        "of the samples that are in it",
    )
    ENDED_IN_ERROR = (
        "ended_in_error",
        Severity.NOTE,
        "{n:count row} ended in an error and {n:has|have} no verdict",
    )
    SEVERAL_VALUES = (
        "several_values",
        Severity.WARNING,
        "{n:count row} {n:has|have} several values of {name:quoted}: it is empty there; see "
        "{numbered:quoted}",
    )
    RESPELT_LABELS = (
        "respelt_labels",
        Severity.NOTE,
        "{n:count label} that {n:differs|differ} only in case or blanks"
        "{unseen: or in characters that cannot be seen|} {n:is treated as another|are treated as "
        "one}: {spellings}",
    )
    RESPELT_VERDICTS = (
        "respelt_verdicts",
        Severity.NOTE,
        "{n:count verdict} that {n:differs|differ} only in case or blanks"
        "{unseen: or in characters that cannot be seen|} {n:is treated as another|are treated as "
        "one}: {spellings}",
    )
    MISTYPED_LABEL = (
        "mistyped_label",
        Severity.WARNING,
        "the label {label:quoted} ({n} of {n_labels}) looks like {usual:quoted} and counts as a "
        "class of its own: correct it, or leave it out as missing",
    )
    PLACEHOLDER_LABEL = (
        "placeholder_label",
        Severity.WARNING,
        "the label {label:quoted} ({n} of {n_labels}) counts as a class: if it means no label, "
        "leave it out as missing",
    )
    SYNONYMOUS_LABELS = (
        "synonymous_labels",
        Severity.WARNING,
        "the labels {labels:quoted and} count as {n} classes; if they mean the same, write them "
        "alike",
    )
