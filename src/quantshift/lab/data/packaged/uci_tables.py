"""Tables of the UCI repository with several classes, from packages that hold them.

Classes with fewer than 100 items are left out, as in the published comparisons of quantifiers.
"""

from collections.abc import Callable
from pathlib import Path

import polars as pl

from quantshift.lab.data.packaged.package_files import (
    keel_table,
    numbered_rows,
    plain_rows,
    read_csv_table,
    spaced_rows,
)
from quantshift.lab.data.sets.content import Content
from quantshift.tables.columns.names import in_order

FEWEST = 100
"""The fewest items of a class that is kept."""

ABALONE = ("sex", "length", "diameter", "height", "whole", "shucked", "viscera", "shell", "rings")
YEAST = ("name", "mcg", "gvh", "alm", "mit", "erl", "pox", "vac", "nuc", "site")


def keel(label: str) -> Callable[[Path], Content]:
    """A reader of tables in KEEL's format with this label."""
    return lambda file: common_classes(keel_table(file), label)


def numbered(file: Path) -> Content:
    """A table without names of columns, whose last column is the class."""
    return common_classes(numbered_rows(file), "class")


def abalone(file: Path) -> Content:
    """Abalones and their number of rings."""
    return common_classes(plain_rows(file, ABALONE), "rings")


def yeast(file: Path) -> Content:
    """Proteins of yeast and their place in the cell; the name of the protein is left out."""
    return common_classes(spaced_rows(file, YEAST).drop("name"), "site")


def maternal_health(file: Path) -> Content:
    """Pregnant women in Bangladesh and their risk."""
    return common_classes(read_csv_table(file), "RiskLevel")


def wine_quality(file: Path) -> Content:
    """Red and white Portuguese wines and their quality; `file` is the table of the white ones."""
    red = file.parents[1] / "winequality_red" / "winequality-red.csv"
    tables = [read_csv_table(each, separator=";") for each in (red, file)]
    return common_classes(pl.concat(tables, how="vertical_relaxed"), "quality")


def common_classes(rows: pl.DataFrame, label: str) -> Content:
    """The content without the classes that have fewer than `FEWEST` items; names are texts."""
    whole = pl.col(label).cast(pl.Int64) if rows[label].dtype.is_float() else pl.col(label)
    rows = rows.with_columns(whole.cast(pl.String))
    kept = rows.filter(pl.len().over(label) >= FEWEST)
    return Content(
        labels=kept[label].alias("label"),
        classes=tuple(in_order(kept[label].unique())),
        columns=kept.drop(label),
    )
