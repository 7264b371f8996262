"""What is found about an audit of a sketch."""

from quantshift.claims.findings import Code, Severity


class SketchFindings(Code):
    """Findings about labelled items and the batches that they were drawn from."""

    UNCOUNTED_ITEMS = (
        "uncounted_items",
        Severity.WARNING,
        "{n} of {n_items:count item} {n:has a score|have scores} that {n:its batch does|their "
        "batches do} not have, or not as often; if they are of another model, of other items, or "
        "labelled twice, the audit is biased",
    )
    UNSCORED_LABELS = (
        "unscored_labels",
        Severity.WARNING,
        "{n:count label} without a usable score {n:is|are} not used",
    )
    UNKNOWN_BATCHES = (
        "unknown_batches",
        Severity.WARNING,
        "there are labels of batches that are not in the sketch: {batches:quoted}",
    )
