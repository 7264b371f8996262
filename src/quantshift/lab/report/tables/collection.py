"""Tables of mean errors, laid out as the protocols specify.

The experiment's protocol (its `Words`) determines what the tables show and how many there are: a
table per value of one coordinate, a group of columns per value of another or per facet, grey
columns for one facet. Facets are never averaged together: where the layout would mix them, each
gets its own tables. With several data sets each has its own tables, and one more table compares the
data sets (`quantshift.lab.report.tables.by_dataset`). Tables that are too wide to read are split
(`quantshift.lab.report.tables.shape`).
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from quantshift.errors import DataError
from quantshift.lab.analysis import PAPER_METHODS, order_methods, with_errors
from quantshift.lab.analysis.facets import ensure_part
from quantshift.lab.analysis.lean import OUTCOME, lean
from quantshift.lab.analysis.methods import ORDER
from quantshift.lab.analysis.paired import Correction
from quantshift.lab.report.style.wording import Subject, subjects_of, symbol, value_text
from quantshift.lab.report.tables.by_dataset import dataset_table
from quantshift.lab.report.tables.by_error import EVERYTHING, Group, TableSpec, error_table
from quantshift.lab.report.tables.shape import fitted, retitled, slug, unmarked
from quantshift.lab.report.tables.table import ReportTable
from quantshift.lab.results.about import About
from quantshift.metrics import measure_called

MOST_VALUES = 12
"""A coordinate with more values does not get a table or group of columns for each of them."""

_DECIMALS = 6
"""Values of a coordinate that agree to this many decimals are treated as equal."""


def shown_methods(present: Iterable[str]) -> tuple[str, ...]:
    """The columns by default: all methods that have results.

    If all six methods of the paper's tables are among them, then HDy, SMM and MLPE, which the paper
    mentions in its text but not in its tables, are left out.
    """
    names = set(present)
    if not names.issuperset(PAPER_METHODS):
        return order_methods(names)
    return order_methods({*PAPER_METHODS, *names.difference(ORDER)})


def result_tables(
    frame: pl.DataFrame,
    abouts: Mapping[str, About] | None = None,
    *,
    experiment: str | None = None,
    methods: Sequence[str] | None = None,
    measure: str = "ae",
    correction: Correction | None = None,
) -> list[ReportTable]:
    """All tables of mean errors, experiment by experiment.

    abouts: descriptions of the experiments (`ResultStore.about`); what they lack is taken from the
        rows.
    experiment: only this one.
    methods: the columns, compared among themselves (default: `shown_methods`).
    measure: any of `quantshift.metrics.MEASURES`; rows that have an `error` keep it.
    correction: "holm" for tests corrected for the number of methods.
    """
    chosen = measure_called(measure)
    rows = ensure_part(frame)
    if experiment is not None:
        rows = rows.filter(pl.col("experiment") == experiment)
        if rows.is_empty():
            raise DataError(f"there are no results of {experiment}; run that experiment first")
    if "error" not in rows.columns:
        rows = with_errors(rows, measure=measure)
    subjects = subjects_of(rows, abouts)
    words_of = [subject.about.words for subject in subjects]
    axes = [name for words in words_of for name in (words.tables_by, words.columns_by) if name]
    rows = lean(rows, [*OUTCOME, *axes])
    titles = Counter(words.title for words in words_of)
    tables = []
    for subject, words in zip(subjects, words_of, strict=True):
        experiment_rows = rows.filter(pl.col("experiment") == subject.name)
        spec = TableSpec(
            name=subject.name,
            title=words.title if titles[words.title] == 1 else f"{words.title} ({subject.name})",
            degree=words.degree,
            methods=tuple(methods)
            if methods
            else shown_methods(experiment_rows["method"].unique()),
            measure=chosen,
            digits=words.digits,
            note=words.note,
            correction=correction,
            experiment=subject.name,
        )
        experiment_tables = _tables(experiment_rows, subject, spec)
        if not subject.ranked:
            experiment_tables = [unmarked(table) for table in experiment_tables]
        tables += [piece for table in experiment_tables for piece in fitted(table)]
    return tables


def _tables(rows: pl.DataFrame, subject: Subject, spec: TableSpec) -> list[ReportTable]:
    """The tables of one experiment: those of each data set, then those over data sets."""
    several = len(subject.datasets) > 1
    tables = []
    for dataset in subject.datasets:
        chosen_rows = rows.filter(pl.col("dataset") == dataset)
        dataset_tables = _tables_on(chosen_rows, subject, replace(spec, dataset=dataset))
        tables += [on_dataset(table) for table in dataset_tables] if several else dataset_tables
    for facet in subject.facets if several else ():
        chosen_rows = rows.filter(pl.col("part") == facet.part)
        present = set(chosen_rows["dataset"].unique())
        titled = replace(
            spec,
            name=f"datasets-{facet.part}",
            title=f"{spec.title}, {facet.title}" if facet.title else spec.title,
            parts=(facet.part,),
        )
        tables.append(
            dataset_table(chosen_rows, titled, [d for d in subject.datasets if d in present])
        )
    return tables


def on_dataset(table: ReportTable) -> ReportTable:
    """The table with its data set in name and caption, for reports on several data sets."""
    return retitled(table, name=f"-on-{table.dataset}", title=f", data set {table.dataset}")


def _tables_on(rows: pl.DataFrame, subject: Subject, spec: TableSpec) -> list[ReportTable]:
    """The tables of one experiment on one data set."""
    words = subject.about.words
    present = set(rows["facet"].unique())
    subject = replace(subject, facets=tuple(f for f in subject.facets if f.name in present))
    pages = _values(rows, subject.about, words.tables_by)
    if _mixes_facets(rows, subject, pages):
        return [
            table
            for facet in subject.facets
            for table in _tables_on(
                rows.filter(pl.col("facet") == facet.name),
                replace(subject, facets=(facet,)),
                replace(
                    spec,
                    name=facet.part,
                    title=f"{spec.title}, {facet.title}" if facet.title else spec.title,
                ),
            )
        ]
    if not pages:
        return [error_table(rows, _about(rows, subject, spec), _groups(rows, subject))]
    tables = []
    for page in pages:
        page_rows = rows.filter(page.where)
        titled = replace(spec, name=f"{spec.name}-{page.slug}", title=f"{spec.title}, {page.text}")
        tables.append(
            error_table(page_rows, _about(page_rows, subject, titled), _groups(page_rows, subject))
        )
    return tables + _overall(rows, subject, spec)


def _overall(rows: pl.DataFrame, subject: Subject, spec: TableSpec) -> list[ReportTable]:
    """For a coordinate with a table per value, one more table over all values, for each facet."""
    words = subject.about.words
    symbols = [
        symbol(coordinate)
        for coordinate in subject.about.coordinates
        if coordinate.name in (words.tables_by, words.columns_by)
    ]
    tables = []
    for facet in subject.facets:
        facet_rows = rows.filter(pl.col("facet") == facet.name)
        title = ", ".join(
            [spec.title]
            + ([facet.title] if facet.title else [])
            + [f"all values of {' and '.join(symbols)}"]
        )
        titled = replace(spec, name=facet.part, title=title, parts=(facet.part,), note="")
        tables.append(error_table(facet_rows, titled))
    return tables


@dataclass(frozen=True)
class _Value:
    """A value of a coordinate: as a heading, as part of a file name, and its rows."""

    text: str
    slug: str
    where: pl.Expr


def _values(rows: pl.DataFrame, about: About, name: str | None) -> list[_Value]:
    """The values of a coordinate in order; none if some rows lack it or it has too many."""
    coordinate = next((c for c in about.coordinates if c.name == name), None)
    if coordinate is None or coordinate.name not in rows.columns:
        return []
    if rows[coordinate.name].null_count():
        return []
    key = _key(rows.schema[coordinate.name], coordinate.name)
    distinct = rows.select(key.alias("key"), pl.col(coordinate.name).alias("value"))
    distinct = distinct.unique("key")
    if len(distinct) > MOST_VALUES:
        return []
    pairs = sorted((_alone(value), value_key) for value_key, value in distinct.iter_rows())
    return [
        _Value(
            f"${coordinate.symbol} = {value_text(value)}$"
            if coordinate.symbol
            else f"{coordinate.label} {value_text(value)}",
            slug(value_text(value)),
            key == value_key,
        )
        for value, value_key in pairs
    ]


def _alone(value: Any) -> Any:
    """The number in a list of one; numbers are stored so if other experiments have vectors."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def _key(kind: pl.DataType, name: str) -> pl.Expr:
    """An expression that is equal for rows with the same value of the coordinate."""
    if kind.is_float():
        return pl.col(name).round(_DECIMALS) + 0.0
    if kind.is_nested():
        number = pl.element().round(_DECIMALS).cast(pl.String)
        return pl.col(name).list.eval(number).list.join(",")
    return pl.col(name)


def _groups(rows: pl.DataFrame, subject: Subject) -> list[Group]:
    """The groups of columns: facets, or values of a coordinate, or all rows in one."""
    words = subject.about.words
    if words.columns_by == "facet" and len(subject.facets) > 1:
        groups = [
            Group(facet.title or facet.part, pl.col("facet") == facet.name)
            for facet in subject.facets
        ]
    else:
        values = _values(rows, subject.about, words.columns_by)
        groups = [Group(value.text, value.where) for value in values] or [EVERYTHING]
    if words.shaded_facet is None:
        return groups
    shaded = (pl.col("facet") == words.shaded_facet).all()
    return [
        replace(group, shaded=rows.filter(group.where).select(shaded).item()) for group in groups
    ]


def _mixes_facets(rows: pl.DataFrame, subject: Subject, pages: Sequence[_Value]) -> bool:
    """Whether some cell of the layout would average over rows of several facets."""
    words = subject.about.words
    if len(subject.facets) < 2 or words.columns_by == "facet":
        return False
    columns = _values(rows, subject.about, words.columns_by)
    names = [name for name, used in ((words.tables_by, pages), (words.columns_by, columns)) if used]
    keys = [_key(rows.schema[name], name).alias(f"_{name}") for name in names if name]
    combinations = rows.select(*keys, "facet").unique()
    return len(combinations) > len(combinations.drop("facet").unique() if keys else range(1))


def _about(rows: pl.DataFrame, subject: Subject, spec: TableSpec) -> TableSpec:
    """The specification with the parts that its table shows."""
    present = set(rows["part"].unique())
    return replace(
        spec, parts=tuple(facet.part for facet in subject.facets if facet.part in present)
    )
