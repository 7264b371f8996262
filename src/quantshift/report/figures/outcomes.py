"""The rows a figure is about: a part that is missing is an error, a missing method a gap."""

from collections.abc import Iterable, Sequence

import polars as pl

from quantshift.analysis.errors import require, with_errors
from quantshift.analysis.methods import order_methods
from quantshift.analysis.parts import ensure_part
from quantshift.errors import DataError

COLUMNS = (
    *("experiment", "part", "cell", "method", "p_train", "alpha_train", "cut_train", "p_test"),
    *("degree", "size", "p_true", "p_hat"),
)
"""What figures need of the outcomes; the rest would only fill the memory."""

_DEGREES = {
    "prior": "$p_U - p_L$",
    "covariate": "$\\alpha_L - \\alpha_U$",
    "covariate-pure": "$\\alpha_L - \\alpha_U$",
    "covariate-mixed": "$\\alpha_L - \\alpha_U$",
    "local": "$p_U - p_L$",
    "local-control": "$p_U - p_L$",
    "concept": "$c_L - c_U$",
    "concept-forced": "$c_L - c_U$",
}

_TITLES = {
    "prior": "prior shift",
    "covariate": "covariate shift",
    "covariate-pure": "pure covariate shift",
    "covariate-mixed": "mixed covariate shift",
    "local": "local covariate shift",
    "local-control": "its control (prior shift)",
    "concept": "concept shift",
    "concept-forced": "concept shift, forced priors",
}

_MEASURES = {"ae": "absolute error", "se": "squared error"}


def outcomes_of(
    frame: pl.DataFrame,
    parts: Sequence[str],
    methods: Sequence[str] | None,
    *,
    measure: str = "ae",
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Rows of these parts and methods with `part` and `error`, and the methods in drawing order.

    Methods None: all that have results. Methods without a row stay in the list, as gaps.
    """
    require(frame, ["method"])
    rows = ensure_part(frame).filter(pl.col("part").is_in(parts))
    if rows.is_empty():
        known = ", ".join(sorted(ensure_part(frame)["part"].unique()))
        raise DataError(f"no results of {' or '.join(parts)} to draw; there are results of {known}")
    present = order_methods(rows["method"].unique())
    chosen = present if methods is None else tuple(methods)
    rows = rows.filter(pl.col("method").is_in(chosen))
    if rows.is_empty():
        raise DataError(
            f"no results of {', '.join(chosen)} in {' or '.join(parts)}; "
            f"there are results of {', '.join(present)}"
        )
    return with_errors(rows.select(COLUMNS), measure=measure), chosen


def degrees_of(rows: pl.DataFrame) -> list[float]:
    """The distinct degrees of shift, increasing."""
    degrees = rows["degree"].drop_nulls().unique().sort().to_list()
    if not degrees:
        raise DataError("these results have no degree of shift; draw them as a diagonal instead")
    return degrees


def degree_label(part: str) -> str:
    """What the degree of a part is, for an axis."""
    return f"degree of shift, {_DEGREES[part]}" if part in _DEGREES else "degree of shift"


def part_title(part: str) -> str:
    """A part in words, for the title of a panel."""
    return _TITLES.get(part, part)


def order_parts(names: Iterable[str]) -> list[str]:
    """The distinct parts: the paper's in its order, then the others by name."""
    present = set(names)
    return [*(part for part in _TITLES if part in present), *sorted(present.difference(_TITLES))]


def measure_label(measure: str) -> str:
    """The name of an error measure, for an axis."""
    return _MEASURES.get(measure, f"error ({measure})")
