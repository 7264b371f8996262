"""What is found about sheets that people have filled in."""

from quantshift.claims.findings import Code, Severity


class SheetFindings(Code):
    """Findings about the rows of a sheet."""

    ROWS_WITHOUT_LABEL = (
        "rows_without_label",
        Severity.WARNING,
        "{n:count row} {n:has|have} no label; if {n:it is a hard one|these are the hard ones}, the "
        "audit is biased",
    )
    ROWS_OF_PLAN_GONE = (
        "rows_of_plan_gone",
        Severity.WARNING,
        "{n} of the {n_rows:count row} of its plan {n:has|have} no label or {n:was|were} removed; "
        "if {n:it is a hard one|these are the hard ones}, the audit is biased",
    )
    EDITED_CELLS = (
        "edited_cells",
        Severity.WARNING,
        "{n:count item} {n:has|have} cells that differ from the sample's",
    )
