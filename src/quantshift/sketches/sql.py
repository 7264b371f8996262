"""The query that counts in a database as `cells` counts here, number for number.

Only comparisons, sums, differences, products with powers of two and FLOOR are used, all of which
IEEE 754 defines to the last bit, and CASE, which every database has. Rows that cannot be used get
the cells of `REASONS`, whatever a database thinks of comparisons with NaN.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from quantshift.data.databases import query_database, shown, table_of
from quantshift.errors import unknown_name
from quantshift.sketches import cells
from quantshift.sketches.making import Columns
from quantshift.sketches.sketch_table import (
    BATCH,
    BY,
    CELL,
    COUNT,
    LABEL,
    SKETCH,
    SUM,
    Sketch,
    counted_by_query,
)


class Dialect(NamedTuple):
    """How a database writes things.

    quote: around names; quoted_quote: one within a name. escapes: whether a backslash in a text
    stands for something else.
    """

    double: str
    whole: str
    text: str
    quote: str
    quoted_quote: str
    escapes: bool


DIALECTS: Mapping[str, Dialect] = MappingProxyType(
    {
        "duckdb": Dialect("DOUBLE", "BIGINT", "VARCHAR", '"', '""', escapes=False),
        "postgres": Dialect("DOUBLE PRECISION", "BIGINT", "TEXT", '"', '""', escapes=False),
        "bigquery": Dialect("FLOAT64", "INT64", "STRING", "`", "\\`", escapes=True),
        "snowflake": Dialect("DOUBLE", "BIGINT", "VARCHAR", '"', '""', escapes=True),
        "spark": Dialect("DOUBLE", "BIGINT", "STRING", "`", "``", escapes=True),
    }
)
"""The databases a query is written for."""


def sketch_sql(
    dialect: str,
    table: str,
    *,
    score: str | None = None,
    posteriors: Sequence[str] = (),
    batch: str | None = None,
    by: Sequence[str] = (),
    label: str | None = None,
) -> str:
    """The query that makes the counts of `sketch(..., bins=True)` where the rows are.

    table: its name as the database knows it (`schema.table`), or a query in brackets. The other
    arguments are those of `sketch`. Save what it returns as Parquet or CSV: `load_sketch` reads it.
    """
    if dialect not in DIALECTS:
        raise unknown_name("database", dialect, DIALECTS)
    return query(DIALECTS[dialect], table, Columns.of(score, posteriors, batch, by, label))


def counts_in_database(url: str, columns: Columns) -> Sketch:
    """Count in the database of a URL; only the counts travel."""
    dialect, table = table_of(url)
    counts = query_database(url, query(DIALECTS[dialect], table, columns))
    if not counts.height:
        from quantshift.sketches.making import Counter

        return Counter(columns).sketch()
    return counted_by_query(counts, shown(url))


def query(sql: Dialect, table: str, columns: Columns) -> str:
    """The query for the columns of a table."""
    about = columns.about
    n_scores = len(columns.scores)
    p = [f"p{k}" for k in range(n_scores)]
    given = {BATCH: columns.batch, **{BY + name: name for name in columns.by}}
    if columns.label is not None:
        given[LABEL] = columns.label
    keys = [f"k{i}" for i in range(len(given))]
    key_list = ", ".join(keys)
    read = [
        f"CAST({_quoted(sql, name) if name is not None else 'NULL'} AS {sql.text}) AS {key}"
        for key, name in zip(keys, given.values(), strict=True)
    ]
    read += [
        f"CAST({_quoted(sql, name)} AS {sql.double}) AS {own}"
        for own, name in zip(p, columns.scores, strict=True)
    ]
    valid = " AND ".join(f"{own} >= 0 AND {own} <= 1" for own in p)
    if n_scores > 1:
        total = " + ".join(p)
        scale = round(1 / cells.SUM_TOLERANCE)
        valid += f" AND ABS({total} - 1) * {scale} <= 1"
    missing = " OR ".join(f"{own} IS NULL" for own in p)
    status = (
        f"CASE WHEN {missing} THEN {cells.MISSING} WHEN {valid} THEN 0 ELSE {cells.OUTSIDE} END"
    )
    steps = [
        f"SELECT {', '.join(read)} FROM {table}",
        f"SELECT {key_list}, {', '.join(p)}, {status} AS status FROM read_rows",
        f"SELECT {key_list}, status, "
        + ", ".join(f"CASE WHEN status = 0 THEN {own} END AS {own}" for own in p)
        + " FROM checked_rows",
    ]
    names = ["read_rows", "checked_rows", "usable_rows"]
    if about.n_classes == 2:
        s = p[-1]
        steps.append(
            f"SELECT {key_list}, status, {s} AS s, "
            f"CASE WHEN {s} * 2 < 1 THEN {s} ELSE 1 - {s} END AS x FROM usable_rows"
        )
        cell = _score_cell(sql)
        sums = ""
    else:
        steps += [
            f"SELECT {key_list}, status, {', '.join(p)}, {_place(p)} AS c1, {_largest(p)} AS m1 "
            "FROM usable_rows",
            f"SELECT {key_list}, status, {', '.join(p)}, c1, m1, "
            + ", ".join(f"CASE WHEN c1 = {k} THEN -1 ELSE {own} END AS q{k}" for k, own in _each(p))
            + " FROM first_class",
            f"SELECT {key_list}, status, {', '.join(p)}, c1, {_place(_others(p))} AS c2, "
            f"1 - m1 AS r1, 1 - m1 - {_largest(_others(p))} AS r2 FROM other_classes",
        ]
        names += ["first_class", "other_classes"]
        cell = (
            f"((c1 * {len(p)} + c2) * {cells.LEVELS} + {_level(sql, 'r1')}) * {cells.LEVELS} + "
            f"{_level(sql, 'r2')}"
        )
        unit = 1 << cells.FIXED
        sums = "".join(
            f", CASE WHEN status = 0 THEN CAST(FLOOR({own} * {unit}) AS {sql.whole}) ELSE 0 END "
            f"AS f{k}"
            for k, own in _each(p)
        )
    names += ["scaled_rows", "cells"]
    fixed = "".join(f", f{k}" for k, _ in _each(about.sums))
    steps.append(
        f"SELECT {key_list}{sums},\n    CASE WHEN status < 0 THEN status ELSE {cell} END AS c\n"
        "  FROM scaled_rows"
    )
    assert fixed.count("f") == sums.count(" AS f")
    # All names are quoted: a database may change the case of those that are not.
    answer = [f"{_text(sql, about.said())} AS {_quoted(sql, SKETCH)}"]
    answer += [f"{key} AS {_quoted(sql, name)}" for key, name in zip(keys, given, strict=True)]
    answer += [f"c AS {_quoted(sql, CELL)}"]
    answer += [
        f"CAST(SUM(f{k}) AS {sql.whole}) AS {_quoted(sql, f'{SUM}{k}')}"
        for k, _ in _each(about.sums)
    ]
    answer += [f"COUNT(*) AS {_quoted(sql, COUNT)}"]
    parts = ",\n".join(f"{name} AS (\n  {step}\n)" for name, step in zip(names, steps, strict=True))
    return f"WITH {parts}\nSELECT {', '.join(answer)}\nFROM cells\nGROUP BY {key_list}, c"


def _score_cell(sql: Dialect) -> str:
    """The cell of the score s, whose distance to 0 or 1 is x."""
    per_octave, deepest = cells.PER_OCTAVE, cells.SMALLEST
    lines = ["CASE WHEN x = 0 THEN 0"]
    lines.append(
        f"WHEN x * {1 << deepest} < 1 THEN 1 + {_floor(sql, f'x * {per_octave << deepest}')}"
    )
    for exponent in range(deepest, cells.LINEAR, -1):
        start = 1 + per_octave + (deepest - exponent) * per_octave
        lines.append(
            f"WHEN x * {1 << (exponent - 1)} < 1 THEN {start - per_octave} + "
            f"{_floor(sql, f'x * {per_octave << exponent}')}"
        )
    lines.append(f"ELSE {cells.CENTRE - per_octave} + {_floor(sql, f'x * {cells.PER_UNIT}')} END")
    inner = "\n      ".join(lines)
    # Those above one half mirror those below.
    return (
        f"CASE WHEN s * 2 < 1 THEN 0 ELSE {cells.LAST} END + "
        f"CASE WHEN s * 2 < 1 THEN 1 ELSE -1 END * (\n      {inner})"
    )


def _level(sql: Dialect, share: str) -> str:
    """The level of a share on a logarithmic scale."""
    per_octave = cells.LEVELS_PER_OCTAVE
    lines = [f"CASE WHEN {share} * {1 << cells.DEEPEST} < 1 THEN 0"]
    for exponent in range(cells.DEEPEST, 0, -1):
        start = 1 + (cells.DEEPEST - exponent) * per_octave
        floor = _floor(sql, f"{share} * {per_octave << exponent}")
        lines.append(
            f"WHEN {share} * {1 << (exponent - 1)} < 1 THEN {start - per_octave} + {floor}"
        )
    return "\n      ".join([*lines, f"ELSE {cells.LEVELS - 1} END"])


def _floor(sql: Dialect, value: str) -> str:
    return f"CAST(FLOOR({value}) AS {sql.whole})"


def _place(values: Sequence[str]) -> str:
    """The place of the largest value, the first of equals."""
    whens = [
        f"WHEN {' AND '.join(f'{own} >= {other}' for other in values[k + 1 :])} THEN {k}"
        for k, own in enumerate(values[:-1])
    ]
    # Those before it are smaller, since they have not been the largest.
    return f"CASE {' '.join(whens)} ELSE {len(values) - 1} END"


def _largest(values: Sequence[str]) -> str:
    return f"GREATEST({', '.join(values)})"


def _others(p: Sequence[str]) -> list[str]:
    return [f"q{k}" for k in range(len(p))]


def _each(values: Sequence[str]) -> list[tuple[int, str]]:
    return list(enumerate(values))


def _quoted(sql: Dialect, name: str) -> str:
    if "\\" in sql.quoted_quote:
        name = name.replace("\\", "\\\\")
    return f"{sql.quote}{name.replace(sql.quote, sql.quoted_quote)}{sql.quote}"


def _text(sql: Dialect, text: str) -> str:
    if sql.escapes:
        escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    else:
        escaped = text.replace("'", "''")
    return f"'{escaped}'"
