"""Summaries of every slice of a part, so that readers of the page can choose among them.

A slice fixes some coordinates (such as p_train = 0.5) and leaves the others open. A page cannot
average quartiles or bootstrap limits, so those of every slice are computed here. The page must stay
small for any run: coordinates can be chosen as long as all their slices fit a budget of rows, and
the data set is the first of them. With more than two classes, bias and diagonal are per class, so
the class is always fixed.

A method that lacks some of the samples of its slice would be averaged over other samples than the
rest; such groups keep their counts but have no figures, and are shown as gaps.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import polars as pl

from quantshift.lab.analysis.lean import lean, spelt
from quantshift.lab.analysis.summary import summarise
from quantshift.lab.report.page.sections import Section
from quantshift.lab.report.style.wording import degree_in_steps, degree_step
from quantshift.lab.report.tables.prevalences import as_numbers

MOST_VALUES = 50
"""A coordinate with more values is not offered as a choice."""

MOST_CLASSES = 30
"""The most classes with figures of their own, the first ones."""

ERROR_FIGURES = (
    *("mean", "low", "high", "median", "q1", "q3"),
    *("whisker_low", "whisker_high", "bias"),
)
DIAGONAL_FIGURES = ("p_true", "p_hat", "deviation")
BIAS_FIGURES = ("bias",)

REPEAT = "repeat"
"""The coordinate that numbers repetitions, which is not offered as a choice."""

_BINS = 20
"""Bins of the true prevalence on the diagonal; the paper's grid points are their centres."""


@dataclass(frozen=True)
class Slices:
    """Figures of all slices: a row per slice, position on the x axis and method.

    coordinates: those that can be chosen; null in `frame` where the slice leaves them open.
    frame: panel, the coordinates, `x`, method, n, expected (most samples of any method), figures
        (null where n is less than expected); with several classes also `class`.
    """

    coordinates: tuple[str, ...]
    frame: pl.DataFrame


@dataclass(frozen=True)
class SectionRows:
    """The rows of a section as its slices need them.

    rows: panel, the coordinates, `x` (the degree as it is drawn), method, error, signed, the
        training set and its stratum, prevalences.
    coordinates: what can be fixed, the most informative first.
    classes: names of the classes that have figures of their own; empty if there are two classes.
    step: the step to which degrees were rounded, if they were.
    """

    section: Section
    rows: pl.DataFrame
    coordinates: tuple[str, ...]
    classes: tuple[str, ...]
    step: float | None


def rows_of_section(rows: pl.DataFrame, section: Section) -> SectionRows:
    """The rows of a section (`with_panels`), reduced so that grouping them is cheap."""
    words, declared = section.subject.about.words, section.subject.about.coordinates
    types = {c.name: c.type for c in declared if c.name != REPEAT and c.name in rows.columns}
    step = degree_step(rows["degree"].drop_nulls().unique())
    light = as_numbers(lean(rows)).select(
        *("experiment", "dataset", "cell", "stratum", "method", "panel"),
        *("error", "signed", "p_true", "p_hat"),
        *(_choice(name, kind, rows.schema[name]) for name, kind in types.items()),
        x=degree_in_steps(step),
    )
    complete = [name for name in types if not light[name].null_count()]
    first = [name for name in (words.tables_by, words.columns_by) if name in complete]
    others = sorted((n for n in complete if n not in first), key=lambda n: light[n].n_unique())
    return SectionRows(section, light, ("dataset", *first, *others), _classes(section), step)


def error_slices(data: SectionRows, *, budget: int) -> Slices:
    """Mean with limits, box and bias by degree."""
    chosen = choosable(data.rows, data.coordinates, budget)
    frames = [
        _marked(summarise(data.rows, ["panel", *fixed, "x", "method"]), fixed, ERROR_FIGURES)
        for fixed in subsets(chosen)
    ]
    return Slices(chosen, _stacked(frames, chosen, ERROR_FIGURES))


def diagonal_slices(data: SectionRows, *, budget: int) -> Slices:
    """Mean and standard deviation of the estimates by true prevalence, in bins."""
    rows = _by_class(data).with_columns(
        degree=pl.col("x"), x=(pl.col("p_true") * _BINS).round() / _BINS
    )
    always = ("class",) if data.classes else ()
    chosen = choosable(rows, (*data.coordinates, "degree"), budget, always=always)
    # In row order, so that sums of sums do not depend on threads.
    sums = rows.group_by(["panel", *chosen, *always, "x", "method"], maintain_order=True).agg(
        n=pl.len(),
        p_true=pl.col("p_true").sum(),
        p_hat=pl.col("p_hat").sum(),
        square=(pl.col("p_hat") ** 2).sum(),
    )
    frames = []
    for fixed in subsets(chosen):
        by = ["panel", *fixed, *always, "x", "method"]
        n, total = pl.col("n").sum(), pl.col("p_hat").sum()
        variance = pl.col("square").sum() / n - (total / n) ** 2
        figures = sums.group_by(by).agg(
            n=n,
            p_true=pl.col("p_true").sum() / n,
            p_hat=total / n,
            # Rounding may leave a constant estimate with a variance just below 0.
            deviation=pl.max_horizontal(variance, 0.0).sqrt(),
        )
        frames.append(_marked(figures.sort(by), (*fixed, *always), DIAGONAL_FIGURES))
    return Slices(chosen, _stacked(frames, chosen, DIAGONAL_FIGURES, always=always))


def bias_slices(data: SectionRows, *, budget: int) -> Slices | None:
    """Mean signed error of each class by degree; None with two classes (see `error_slices`)."""
    if not data.classes:
        return None
    rows, always = _by_class(data), ("class",)
    chosen = choosable(rows, data.coordinates, budget, always=always)
    frames = []
    for fixed in subsets(chosen):
        by = ["panel", *fixed, *always, "x", "method"]
        figures = rows.group_by(by).agg(
            n=pl.len(), bias=(pl.col("p_hat") - pl.col("p_true")).mean()
        )
        frames.append(_marked(figures.sort(by), (*fixed, *always), BIAS_FIGURES))
    return Slices(chosen, _stacked(frames, chosen, BIAS_FIGURES, always=always))


def choosable(
    rows: pl.DataFrame, names: Sequence[str], budget: int, *, always: Sequence[str] = ()
) -> tuple[str, ...]:
    """The coordinates whose slices, all together, have at most `budget` rows.

    Coordinates are left out if they have one value or too many, or if the degree, the panel or an
    earlier coordinate divides the rows in the same way. always: columns that every slice fixes.
    """
    points = rows.select("panel", *names, *always, "x", "method").unique()
    chosen: tuple[str, ...] = ()
    for name in names:
        redundant = any(_same_partition(points, name, other) for other in ("x", "panel", *chosen))
        if not 2 <= points[name].n_unique() <= MOST_VALUES or (redundant and name != "degree"):
            continue
        extended = (*chosen, name)
        if sum(_size(points, [*fixed, *always]) for fixed in subsets(extended)) <= budget:
            chosen = extended
    return chosen


def subsets(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """All subsets, the empty one first.

    >>> list(subsets(["a", "b"]))
    [(), ('a',), ('b',), ('a', 'b')]
    """
    for size in range(len(names) + 1):
        yield from combinations(names, size)


def _choice(name: str, declared: str, kind: pl.DataType) -> pl.Expr:
    """A coordinate as a choice: a number or a text."""
    column = pl.col(name)
    if isinstance(kind, pl.List):
        if declared == "vector":
            numbers = pl.element().round(4).cast(pl.String).str.strip_suffix(".0")
            return pl.format("({})", column.list.eval(numbers).list.join(", ")).alias(name)
        # Next to vectors of other experiments a number is stored as a list of one.
        return column.list.first().round(6) + 0.0
    if isinstance(kind, pl.Boolean):
        return pl.when(column).then(pl.lit("yes")).when(~column).then(pl.lit("no")).alias(name)
    return column.cast(pl.Float64).round(6) + 0.0 if kind.is_numeric() else column


def _classes(section: Section) -> tuple[str, ...]:
    """The names of the classes of all data sets, the first if they are too many."""
    subject = section.subject
    if subject.n_classes <= 2:
        return ()
    names = dict.fromkeys(name for data in subject.datasets for name in subject.classes(data))
    return tuple(names)[:MOST_CLASSES]


def _by_class(data: SectionRows) -> pl.DataFrame:
    """Rows with prevalences as numbers: of the positive class, or one row per class."""
    prevalences, subject = ("p_true", "p_hat"), data.section.subject
    if not data.classes:
        return data.rows
    names = pl.DataFrame(
        {
            "dataset": subject.datasets,
            "class": [list(subject.classes(name)) for name in subject.datasets],
        },
        schema={"dataset": data.rows.schema["dataset"], "class": pl.List(pl.String)},
    )
    exploded = data.rows.join(names, on="dataset").explode(*prevalences, "class")
    return exploded.filter(pl.col("class").is_in(data.classes))


def _size(points: pl.DataFrame, fixed: Sequence[str]) -> int:
    return points.select("panel", *fixed, "x", "method").n_unique()


def _same_partition(points: pl.DataFrame, one: str, other: str) -> bool:
    """Whether two columns divide the rows in the same way."""
    if one == other:
        return False
    pairs = points.select(one, other).n_unique()
    return pairs == points[one].n_unique() == points[other].n_unique()


def _marked(frame: pl.DataFrame, fixed: Sequence[str], figures: Sequence[str]) -> pl.DataFrame:
    """Adds `expected`, and removes the figures of methods that lack samples."""
    expected = pl.col("n").max().over(["panel", *fixed, "x"])
    return frame.with_columns(expected=expected).with_columns(
        pl.when(pl.col("n") == pl.col("expected")).then(pl.col(name)).alias(name)
        for name in figures
    )


def _stacked(
    frames: Sequence[pl.DataFrame],
    chosen: Sequence[str],
    figures: Sequence[str],
    *,
    always: Sequence[str] = (),
) -> pl.DataFrame:
    columns = ["panel", *chosen, *always, "x", "method", "n", "expected", *figures]
    kinds = {name: kind for frame in frames for name, kind in frame.schema.items()}
    return pl.concat(
        frame.with_columns(
            pl.lit(None, kinds[name]).alias(name) for name in chosen if name not in frame.columns
        )
        .select(columns)
        .pipe(spelt)
        for frame in frames
    )
