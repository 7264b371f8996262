"""The data of a figure: the rows of one experiment on one data set, the methods, their styles.

A chosen method without results is shown as a gap; having no results at all is an error.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import polars as pl

from quantshift.errors import DataError
from quantshift.lab.analysis.deviations import require, with_errors
from quantshift.lab.analysis.methods import order_methods
from quantshift.lab.report.style.marks import MethodStyle, method_styles
from quantshift.lab.report.style.wording import (
    Facet,
    Subject,
    degree_in_steps,
    degree_label,
    degree_step,
    subjects_of,
)
from quantshift.lab.report.tables.prevalences import as_numbers
from quantshift.lab.results.about import About
from quantshift.lab.shifts.parts.coordinate import Coordinate
from quantshift.metrics import Measure, measure_called

COLUMNS = (
    *("experiment", "dataset", "cell", "method", "stratum", "sample", "facet"),
    *("degree", "p_true", "p_hat", "error", "signed"),
)
"""The columns that figures need, apart from coordinates; others would only take up memory."""


@dataclass(frozen=True)
class Outcomes:
    """The data that figures are drawn from.

    rows: raw outcomes with `error` and `signed`, and degrees as drawn; with two classes,
        prevalences are numbers, those of the positive class.
    subject: the experiment as its protocol describes it.
    methods: in drawing order, whether or not they have results.
    styles: the style of each method.
    step: the step to which degrees were rounded; None if they were not.
    """

    rows: pl.DataFrame
    subject: Subject
    methods: tuple[str, ...]
    styles: Mapping[str, MethodStyle]
    measure: Measure
    step: float | None = None

    @property
    def dataset(self) -> str:
        """The data set the outcomes are from."""
        return self.subject.datasets[0]

    @property
    def classes(self) -> tuple[str, ...]:
        """Its classes, in the order of the estimates."""
        return self.subject.classes(self.dataset)

    @property
    def degrees(self) -> list[float]:
        """The distinct degrees of shift, increasing."""
        return degrees_of(self.rows)

    @property
    def by_degree(self) -> bool:
        """Whether there are degrees to draw by."""
        return bool(self.rows["degree"].is_not_null().any())

    @property
    def degree_label(self) -> str:
        """What the degree is, for an axis."""
        return degree_label(self.subject.about.words, self.step)

    def only(self, methods: Sequence[str]) -> Self:
        """The outcomes of some methods, in this order."""
        rows = self.rows.filter(pl.col("method").cast(pl.String).is_in(list(methods)))
        return replace(self, rows=rows, methods=tuple(methods))

    def of(self, facet: Facet) -> Self:
        """The outcomes of one facet."""
        return replace(
            self,
            rows=self.rows.filter(pl.col("facet") == facet.name),
            subject=replace(self.subject, facets=(facet,)),
        )


def outcomes_of(
    frame: pl.DataFrame,
    about: About | None = None,
    *,
    methods: Sequence[str] | None = None,
    measure: str = "ae",
    styles: Mapping[str, MethodStyle] | None = None,
) -> Outcomes:
    """What to draw of one experiment on one data set.

    about: the description of the experiment (`ResultStore.about`); if None, it is derived from the
        rows.
    methods: those to draw, in this order; None: all that have results.
    measure: any of `quantshift.metrics.MEASURES`; rows that have an `error` keep it.
    styles: the styles of the methods, if other figures show more methods.
    """
    chosen_measure = measure_called(measure)
    require(frame, ["experiment", "dataset", "facet", "method", "degree"])
    (subject,) = _one(frame, about)
    present = order_methods(frame["method"].unique())
    chosen = present if methods is None else tuple(methods)
    rows = frame if methods is None else frame.filter(pl.col("method").is_in(chosen))
    if rows.is_empty():
        raise DataError(
            f"no results of {', '.join(chosen)} in {subject.name}; "
            f"there are results of {', '.join(present)}"
        )
    if "error" not in rows.columns:
        rows = with_errors(rows, measure=measure)
    step = degree_step(rows["degree"].drop_nulls().unique())
    coordinates = [_plain(rows, c) for c in subject.about.coordinates if c.name in rows.columns]
    rows = as_numbers(rows.select(*COLUMNS, *coordinates)).with_columns(
        degree=degree_in_steps(step)
    )
    method_looks = method_styles([*present, *chosen]) if styles is None else styles
    return Outcomes(rows, subject, chosen, method_looks, chosen_measure, step)


def degrees_of(rows: pl.DataFrame) -> list[float]:
    """The distinct degrees of shift, increasing."""
    degrees = rows["degree"].drop_nulls().unique().sort().to_list()
    if not degrees:
        raise DataError("these results have no degree of shift; draw them as a diagonal instead")
    return degrees


def _plain(rows: pl.DataFrame, coordinate: Coordinate) -> pl.Expr:
    """A coordinate with its declared type; next to vectors a number is stored as a list of one."""
    column = pl.col(coordinate.name)
    wrapped = isinstance(rows.schema[coordinate.name], pl.List) and coordinate.type != "vector"
    return column.list.first() if wrapped else column


def _one(frame: pl.DataFrame, about: About | None) -> tuple[Subject, ...]:
    for name, words in (("experiment", "experiment"), ("dataset", "data set")):
        present = sorted(frame[name].unique())
        if len(present) > 1:
            raise DataError(
                f"draw one {words} at a time; there are results of {', '.join(present)}"
            )
    return subjects_of(frame, {about.name: about} if about else None)
