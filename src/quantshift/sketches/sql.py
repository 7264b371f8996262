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
    About,
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
    given = {BATCH: columns.batch, **{BY + name: name for name in columns.by}}
    if columns.label is not None:
        given[LABEL] = columns.label
    keys = [f"k{i}" for i in range(len(given))]
    key_list = ", ".join(keys)
    steps = _checked_rows(sql, table, columns, dict(zip(keys, given.values(), strict=True)))
    totals = [f"f{i}" for i in range(len(about.totals))]
    if totals:
        steps |= _joint_cells(sql, about, key_list, totals)
    else:
        steps |= _score_cells(sql, key_list, f"p{len(columns.scores) - 1}")
    # All names are quoted: a database may change the case of those that are not.
    answer = [f"{_text(sql, about.described())} AS {_quoted(sql, SKETCH)}"]
    answer += [f"{key} AS {_quoted(sql, name)}" for key, name in zip(keys, given, strict=True)]
    answer += [f"c AS {_quoted(sql, CELL)}"]
    answer += [
        f"CAST(SUM({column}) AS {sql.whole}) AS {_quoted(sql, name)}"
        for column, name in zip(totals, about.totals, strict=True)
    ]
    answer += [f"COUNT(*) AS {_quoted(sql, COUNT)}"]
    parts = ",\n".join(f"{name} AS (\n  {step}\n)" for name, step in steps.items())
    return f"WITH {parts}\nSELECT {', '.join(answer)}\nFROM cells\nGROUP BY {key_list}, c"


def _checked_rows(
    sql: Dialect, table: str, columns: Columns, keys: Mapping[str, str | None]
) -> dict[str, str]:
    """Steps that read the scores p0, p1, ... of rows, null where a row cannot be used.

    keys: the columns by which rows are counted, by their names in the query.
    """
    p = [f"p{k}" for k in range(len(columns.scores))]
    key_list = ", ".join(keys)
    read = [
        f"CAST({_quoted(sql, name) if name is not None else 'NULL'} AS {sql.text}) AS {key}"
        for key, name in keys.items()
    ]
    read += [
        f"CAST({_quoted(sql, name)} AS {sql.double}) AS {score}"
        for score, name in zip(p, columns.scores, strict=True)
    ]
    valid = " AND ".join(f"{score} >= 0 AND {score} <= 1" for score in p)
    if len(p) > 1:
        scale = round(1 / cells.SUM_TOLERANCE)
        valid += f" AND ABS({' + '.join(p)} - 1) * {scale} <= 1"
    missing = " OR ".join(f"{score} IS NULL" for score in p)
    status = (
        f"CASE WHEN {missing} THEN {cells.MISSING} WHEN {valid} THEN 0 ELSE {cells.OUTSIDE} END"
    )
    total = f" / ({' + '.join(p)})" if len(p) > 2 else ""
    used = ", ".join(f"CASE WHEN status = 0 THEN {score}{total} END AS {score}" for score in p)
    return {
        "read_rows": f"SELECT {', '.join(read)} FROM {table}",
        "checked_rows": f"SELECT {key_list}, {', '.join(p)}, {status} AS status FROM read_rows",
        "usable_rows": f"SELECT {key_list}, status, {used} FROM checked_rows",
    }


def _score_cells(sql: Dialect, key_list: str, score: str) -> dict[str, str]:
    """Steps that find the cells of the score of the second of two classes."""
    return {
        "scaled_rows": f"SELECT {key_list}, status, {score} AS s, {_distance(score)} AS x "
        "FROM usable_rows",
        "cells": f"SELECT {key_list},\n    CASE WHEN status < 0 THEN status ELSE "
        f"{_score_cell(sql)} END AS c\n  FROM scaled_rows",
    }


def _joint_cells(
    sql: Dialect, about: About, key_list: str, totals: Sequence[str]
) -> dict[str, str]:
    """Steps that find the joint and the marginal cells of rows, and what the joint ones sum up."""
    joint, n = about.joint, about.n_classes
    p, q, r = ([f"{letter}{k}" for k in range(n)] for letter in "pqr")
    p_list = ", ".join(p)
    first = f"SELECT {key_list}, status, {p_list}, {_place(p)} AS c1, {_largest(p)} AS m1"
    second = (
        f"SELECT {key_list}, status, {p_list}, c1, m1, {_place(q)} AS c2, {_largest(q)} AS m2, "
        + ", ".join(q)
    )
    scaled = (
        f"SELECT {key_list}, status, {p_list}, c1, c2, {_place(r)} AS c3, "
        "1 - m1 AS r1, 1 - m1 - m2 AS r2"
    )
    cell = (
        f"(((c1 * {n} + c2) * {n} + c3) * {joint.n_levels} + "
        f"{_level(sql, 'r1', joint.per_octave)}) * {joint.n_rest_levels} + "
        f"{_level(sql, 'r2', joint.rest_per_octave)}"
    )
    unit = 1 << cells.FIXED
    summed = [f"{value} * {unit}" for value in [*p, "r1 * r1", "r1 * r2", "r2 * r2"]]
    sums = ", ".join(
        f"CASE WHEN status = 0 THEN {_floor(sql, value)} ELSE 0 END AS {column}"
        for value, column in zip(summed, totals, strict=True)
    )
    zeros = ", ".join(f"0 AS {column}" for column in totals)
    single = "\n  UNION ALL ".join(
        f"SELECT {key_list}, {joint.marginal_start(k)} AS first_cell, {score} AS s, "
        f"{_distance(score)} AS x FROM usable_rows WHERE status = 0"
        for k, score in enumerate(p)
    )
    return {
        "first_class": f"{first} FROM usable_rows",
        "others": f"SELECT {key_list}, status, {p_list}, c1, m1, {_without('c1', p, q)} "
        "FROM first_class",
        "second_class": f"{second} FROM others",
        "remaining": f"SELECT {key_list}, status, {p_list}, c1, c2, m1, m2, "
        f"{_without('c2', q, r)} FROM second_class",
        "scaled_rows": f"{scaled} FROM remaining",
        "joint_cells": f"SELECT {key_list}, {sums},\n    CASE WHEN status < 0 THEN status ELSE "
        f"{cell} END AS c\n  FROM scaled_rows",
        "single_classes": single,
        "marginal_cells": f"SELECT {key_list}, {zeros},\n    first_cell + {_score_cell(sql)} AS c"
        "\n  FROM single_classes",
        "cells": "SELECT * FROM joint_cells UNION ALL SELECT * FROM marginal_cells",
    }


def _distance(score: str) -> str:
    """The distance of a score to the nearer of 0 and 1."""
    return f"CASE WHEN {score} * 2 < 1 THEN {score} ELSE 1 - {score} END"


def _without(place: str, values: Sequence[str], names: Sequence[str]) -> str:
    """The values, with one that is never the largest in place of that at the place."""
    return ", ".join(
        f"CASE WHEN {place} = {k} THEN -1 ELSE {value} END AS {name}"
        for k, (value, name) in enumerate(zip(values, names, strict=True))
    )


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


def _level(sql: Dialect, share: str, per_octave: int) -> str:
    """The level of a share on a logarithmic scale."""
    lines = [f"CASE WHEN {share} * {1 << cells.DEEPEST} < 1 THEN 0"]
    for exponent in range(cells.DEEPEST, 0, -1):
        start = 1 + (cells.DEEPEST - exponent) * per_octave
        floor = _floor(sql, f"{share} * {per_octave << exponent}")
        lines.append(
            f"WHEN {share} * {1 << (exponent - 1)} < 1 THEN {start - per_octave} + {floor}"
        )
    return "\n      ".join([*lines, f"ELSE {per_octave * cells.DEEPEST} END"])


def _floor(sql: Dialect, value: str) -> str:
    return f"CAST(FLOOR({value}) AS {sql.whole})"


def _place(values: Sequence[str]) -> str:
    """The place of the largest value, the first of equals."""
    whens = [
        f"WHEN {' AND '.join(f'{value} >= {other}' for other in values[k + 1 :])} THEN {k}"
        for k, value in enumerate(values[:-1])
    ]
    # Those before it are smaller, since they have not been the largest.
    return f"CASE {' '.join(whens)} ELSE {len(values) - 1} END"


def _largest(values: Sequence[str]) -> str:
    return f"GREATEST({', '.join(values)})"


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
