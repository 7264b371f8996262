"""What is found about the rows of any table that is read for an answer."""

from quantshift.claims.findings import Code, Severity

_LEFT_OUT = "{n} of {n_read:count row} {n:was|were} left out ({reasons})"


class RowFindings(Code):
    """Findings about rows and cells that are not used as they are."""

    ROWS_LEFT_OUT = "rows_left_out", Severity.NOTE, _LEFT_OUT
    MANY_ROWS_LEFT_OUT = "many_rows_left_out", Severity.WARNING, _LEFT_OUT
    UNDECODABLE_CELLS = (
        "undecodable_cells",
        Severity.WARNING,
        "{n:count cell} {n:has|have} characters that are not UTF-8, which were replaced; save the "
        "file as UTF-8",
    )
