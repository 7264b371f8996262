"""Writes tables to files in any of the available formats."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from quantshift.errors import unknown_name
from quantshift.lab.report.tables.csv import csv_table
from quantshift.lab.report.tables.html import html_table
from quantshift.lab.report.tables.latex import latex
from quantshift.lab.report.tables.markdown import markdown
from quantshift.lab.report.tables.table import ReportTable

TABLE_FORMATS: Mapping[str, Callable[[ReportTable], str]] = MappingProxyType(
    {"tex": latex, "md": markdown, "html": html_table, "csv": csv_table}
)
"""Suffix of the file -> renderer."""


def save_tables(
    tables: Iterable[ReportTable],
    folder: str | Path,
    *,
    formats: Sequence[str] = tuple(TABLE_FORMATS),
) -> list[Path]:
    """Write `<folder>/<name>.<format>` for every table and format; returns the paths."""
    for name in formats:
        if name not in TABLE_FORMATS:
            raise unknown_name("table format", name, TABLE_FORMATS)
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    paths = []
    for table in tables:
        for name in formats:
            path = target / f"{table.name}.{name}"
            path.write_text(TABLE_FORMATS[name](table), encoding="utf-8", newline="\n")
            paths.append(path)
    return paths
