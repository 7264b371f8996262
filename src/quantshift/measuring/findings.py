"""What is found when the columns of a sample are compared with those of training."""

from quantshift.claims.findings import Code, Severity

_WHERE_EXPECTED = "in {share:percent} of the rows where {expected:percent} was expected"


class ColumnFindings(Code):
    """How a column differs most from what a change of the shares of the classes explains."""

    MEDIAN_MOVED = (
        "median_moved",
        Severity.NOTE,
        "median {median:short} where {expected:short} was expected",
    )
    SMALL_VALUES_MOVED = (
        "small_values_moved",
        Severity.NOTE,
        f"{{limit:short}} or less {_WHERE_EXPECTED}",
    )
    EARLY_DATES_MOVED = (
        "early_dates_moved",
        Severity.NOTE,
        f"{{limit}} or earlier {_WHERE_EXPECTED}",
    )
    MISSING_VALUES_MOVED = (
        "missing_values_moved",
        Severity.NOTE,
        f"missing values {_WHERE_EXPECTED}",
    )
    LEVEL_MOVED = "level_moved", Severity.NOTE, f"{{level:quoted}} {_WHERE_EXPECTED}"
    RARE_LEVELS_MOVED = (
        "rare_levels_moved",
        Severity.NOTE,
        f"rare or new values {_WHERE_EXPECTED}",
    )
    WORD_MOVED = (
        "word_moved",
        Severity.NOTE,
        "{word:quoted} in {share:percent} of the texts where {expected:percent} was expected",
    )
    GAPS_IN_TEXTS_MOVED = "gaps_in_texts_moved", Severity.NOTE, f"no text {_WHERE_EXPECTED}"
