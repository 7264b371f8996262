"""The options of sketches, and of `quantify` with them, declared once."""

from dataclasses import dataclass
from typing import Any

from quantshift.base.options import OUTPUT, TABLES, option


@dataclass(frozen=True)
class SketchSources:
    """Sketches in place of tables: a `Sketch`, or the file of one.

    sketch: the one of a sample. train_sketch: one with labels, of scores by the same model, on
    items that it was not trained on.
    """

    sketch: Any = option(
        None,
        "Instead of --sample: counts of its scores (see `quantshift sketch`).",
        reads="file",
        metavar="FILE",
        panel=TABLES,
    )
    train_sketch: Any = option(
        None,
        "With --sketch: counts of the scores of labelled items.",
        reads="file",
        metavar="FILE",
        panel=TABLES,
    )


@dataclass(frozen=True)
class CountedColumns:
    """What is counted of tables, and how.

    score: column with the probability of the second of two classes; or posteriors: a column for
    each class. batch: column whose values are the samples to quantify. by: further columns to count
    by. label: column of the true classes, for a sketch that methods are fitted on.
    """

    score: str | None = option(
        None,
        "Column with the probability of the second of two classes.",
        metavar="COLUMN",
        panel=TABLES,
    )
    posteriors: tuple[str, ...] = option(
        (),
        "Instead of --score: a column of probabilities for each class.",
        reads="names",
        metavar="a,b,c",
        panel=TABLES,
    )
    batch: str | None = option(
        None,
        "Column of days, sites or the like; each value is a separate sample.",
        metavar="COLUMN",
        panel=TABLES,
    )
    by: tuple[str, ...] = option(
        (),
        "Also count by these columns, so that the test for shift can compare their mix.",
        reads="names",
        metavar="a,b",
        panel=TABLES,
    )
    label: str | None = option(
        None,
        "Column of the true classes, for a training sketch.",
        metavar="COLUMN",
        panel=TABLES,
    )

    @property
    def are_named(self) -> bool:
        """Whether any column is named."""
        return any(vars(self).values())


@dataclass(frozen=True)
class CountingOptions:
    """How rows are counted."""

    bins: bool = option(
        False,
        "Count in cells even if different scores are few; labelled rows keep theirs.",
        panel=TABLES,
    )
    cluster: str | None = option(
        None,
        "Dask scheduler whose workers do the counting; they need access to the files.",
        metavar="ADDRESS",
        panel=TABLES,
    )

    @property
    def are_given(self) -> bool:
        """Whether any of these options is given."""
        return any(vars(self).values())


@dataclass(frozen=True)
class QueryOptions:
    """A query that does the counting in a database instead."""

    sql: str | None = option(
        None,
        "Print a query that computes the same counts in a database.",
        metavar="duckdb|postgres|bigquery|snowflake|spark",
        panel=OUTPUT,
    )
    table: str | None = option(
        None, "With --sql: the name of the table.", metavar="NAME", panel=OUTPUT
    )
