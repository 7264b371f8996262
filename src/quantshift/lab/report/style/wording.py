"""How a report names experiments, facets, coordinates and degrees.

All names come from what the protocol of an experiment declares (`quantshift.lab.results.About`), so
that new protocols are described as well as the built-in ones.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from quantshift.lab.analysis.facets import ensure_part
from quantshift.lab.results.about import About
from quantshift.lab.results.schema import CORE, DIAGNOSTICS
from quantshift.lab.shifts.parts.coordinate import Coordinate
from quantshift.lab.shifts.protocol import Words

MOST_DEGREES = 41
"""If there are more distinct degrees, they are rounded to steps."""

STEPS = 20
"""The approximate number of such steps."""

UNSEEN = frozenset({"concept"})
"""Kinds of shift that unlabelled samples cannot show. All methods fail there, and the lowest error
is an accident, so no output marks a best method."""

_DERIVED = {"part", "error", "signed", "panel"}

_TYPES: Mapping[type[pl.DataType], str] = {
    pl.Float64: "float",
    pl.Int32: "int",
    pl.Int64: "int",
    pl.Boolean: "bool",
    pl.String: "string",
    pl.List: "vector",
}


@dataclass(frozen=True)
class Facet:
    """A part of an experiment: its name in the column `facet`, that of the part, and a title."""

    name: str
    part: str
    title: str


@dataclass(frozen=True)
class Subject:
    """An experiment that has results, with its facets and data sets in the order to show them."""

    about: About
    facets: tuple[Facet, ...]
    datasets: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name of the experiment."""
        return self.about.name

    @property
    def side_by_side(self) -> bool:
        """Whether the facets are compared with each other, such as a shift with its control."""
        return self.about.words.columns_by == "facet" and len(self.facets) > 1

    @property
    def ranked(self) -> bool:
        """Whether tables mark the best method."""
        return self.about.shift not in UNSEEN

    @property
    def n_classes(self) -> int:
        """The largest number of classes of its data sets."""
        return max(len(self.about.datasets[name]) for name in self.datasets)

    def classes(self, dataset: str) -> tuple[str, ...]:
        """The classes of a data set, in the order of the estimates."""
        return self.about.datasets[dataset]

    def title(self, facet: Facet) -> str:
        """The experiment and, if there are several, the facet."""
        return self.about.title if not facet.title else f"{self.about.title}, {facet.title}"


def subjects_of(
    rows: pl.DataFrame, abouts: Mapping[str, About] | None = None
) -> tuple[Subject, ...]:
    """The experiments of the rows: those of `abouts` in its order, then the others by name."""
    present = ensure_part(rows).select("experiment", "facet", "part", "dataset").unique()
    described = dict(abouts or {})
    names = set(present["experiment"])
    ordered = [*(name for name in described if name in names), *sorted(names.difference(described))]
    return tuple(
        _subject(
            present.filter(pl.col("experiment") == name),
            described.get(name) or about_of(rows, name),
        )
        for name in ordered
    )


def about_of(rows: pl.DataFrame, experiment: str) -> About:
    """A description of an experiment derived from its rows, if there is no other."""
    experiment_rows = rows.filter(pl.col("experiment") == experiment)
    names = [
        name for name in experiment_rows.columns if name not in {*CORE, *DIAGNOSTICS, *_DERIVED}
    ]
    coordinates = tuple(
        Coordinate(name, "train" if name.endswith("_train") else "test", kind, name, "")  # type: ignore[arg-type]
        for name in names
        if experiment_rows[name].null_count() < len(experiment_rows)
        and (kind := _TYPES.get(experiment_rows.schema[name].base_type()))
    )
    sizes = (
        experiment_rows.group_by("dataset").agg(n=pl.col("p_true").list.len().max()).sort("dataset")
    )
    return About(
        name=experiment,
        title=experiment,
        shift=experiment_rows["shift"][0],
        coordinates=coordinates,
        words=Words(experiment, ""),
        datasets={name: tuple(map(str, range(n))) for name, n in sizes.iter_rows()},
        diagnostics={},
    )


def degree_label(words: Words, step: float | None = None) -> str:
    """The axis label of the degree; may contain mathematics between dollar signs."""
    label = f"degree of shift, {words.degree}" if words.degree else "degree of shift"
    return f"{label}, in steps of {step:g}" if step else label


def symbol(coordinate: Coordinate) -> str:
    """The coordinate in short: its symbol as mathematics, or its label."""
    return f"${coordinate.symbol}$" if coordinate.symbol else coordinate.label


def value_text(value: Any) -> str:
    """A coordinate's value in a few characters.

    >>> value_text(0.25), value_text([0.5, 0.5]), value_text(True), value_text("books")
    ('0.25', '(0.5, 0.5)', 'yes', 'books')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return f"{value:g}"
    if isinstance(value, str):
        return value
    return f"({', '.join(f'{part:g}' for part in value)})"


def degree_step(degrees: Iterable[float]) -> float | None:
    """The step to round these degrees to; None if they are few enough to be drawn as they are.

    >>> degree_step([0.1, 0.2]), degree_step(i / 1000 for i in range(1000))
    (None, 0.05)
    """
    distinct = sorted({round(degree, 6) for degree in degrees})
    if len(distinct) <= MOST_DEGREES:
        return None
    least_step = (distinct[-1] - distinct[0]) / STEPS
    power = 10.0 ** math.floor(math.log10(least_step))
    return next(
        factor * power for factor in (1, 2, 5, 10) if factor * power >= least_step * (1 - 1e-9)
    )


def degree_in_steps(step: float | None) -> pl.Expr:
    """The degree as it is drawn, rounded to the step."""
    degree = pl.col("degree")
    rounded = degree if step is None else (degree / step).round() * step
    # Rounding turns small negative numbers into -0.0; adding zero turns that into 0.0.
    return rounded.round(6) + 0.0


def _subject(present: pl.DataFrame, about: About) -> Subject:
    declared = list(about.words.facets)
    part_of = dict(present.select("facet", "part").unique().iter_rows())
    ordered = sorted(
        part_of, key=lambda f: (declared.index(f) if f in declared else len(declared), f)
    )
    return Subject(
        about=about,
        facets=tuple(Facet(f, part_of[f], about.words.facets.get(f, f)) for f in ordered),
        datasets=_ordered(present["dataset"].unique(), about),
    )


def _ordered(present: Sequence[str] | pl.Series, about: About) -> tuple[str, ...]:
    names = set(present)
    return (
        *(name for name in about.datasets if name in names),
        *sorted(names.difference(about.datasets)),
    )
