"""The query that counts in a database as `cells` counts here, number for number.

Only comparisons, sums, differences, products, quotients and FLOOR are used, all of which IEEE 754
defines to the last bit, and CASE, which every database has. Rows that cannot be used get the cells
of `REASONS`, whatever a database thinks of comparisons with NaN. Labelled rows, of which there are
few, keep their scores as they are. No step gives a column a name that it reads: databases that know
aliases within a SELECT need not agree which of the two is meant.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from quantshift.base.forks import uses_tables
from quantshift.base.options import suggests_arguments
from quantshift.credentials import public_url
from quantshift.errors import unknown_name
from quantshift.sketches.about import (
    BATCH,
    BATCH_TOTAL,
    BY,
    CELL,
    CHECK,
    CHECKED_BITS,
    COUNT,
    LABEL,
    LINES,
    SKETCH,
    TOTAL,
    About,
)
from quantshift.sketches.cells import joint as joint_cells
from quantshift.sketches.cells import rounded
from quantshift.sketches.cells import score as cells
from quantshift.sketches.counting.counter import Counter, ScoreColumns
from quantshift.sketches.sketch_table import Sketch, counted_by_query
from quantshift.sketches.widths import most_narrow
from quantshift.tables.formats.databases import table_of
from quantshift.tables.formats.table_format import Database


class Dialect(NamedTuple):
    """The types, quotes and functions of a database's SQL.

    quote: the mark around names; quoted_quote: the same mark within a name. escapes: whether a
    backslash in a text is an escape character. md5: the MD5 of a text in hexadecimal. fence: what
    keeps a step from being merged with the next, in a database that would then compute the same
    again and again.
    """

    double: str
    whole: str
    text: str
    quote: str
    quoted_quote: str
    escapes: bool
    md5: str = "MD5({})"
    fence: str = ""


DIALECTS: Mapping[str, Dialect] = MappingProxyType(
    {
        "duckdb": Dialect("DOUBLE", "BIGINT", "VARCHAR", '"', '""', escapes=False),
        "postgres": Dialect(
            "DOUBLE PRECISION", "BIGINT", "TEXT", '"', '""', escapes=False, fence=" OFFSET 0"
        ),
        "bigquery": Dialect(
            "FLOAT64", "INT64", "STRING", "`", "\\`", escapes=True, md5="TO_HEX(MD5({}))"
        ),
        "snowflake": Dialect("DOUBLE", "BIGINT", "VARCHAR", '"', '""', escapes=True),
        "spark": Dialect("DOUBLE", "BIGINT", "STRING", "`", "``", escapes=True),
    }
)
"""The databases a query is written for."""


@uses_tables
@suggests_arguments
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

    Save what it returns as Parquet or CSV: `load_sketch` reads it.

    Parameters
    ----------
    dialect : str
        Of the database, such as "duckdb" or "postgres".
    table : str
        Its name as the database knows it (`schema.table`), or a query in brackets, without an
        alias.
    score, posteriors, batch, by, label
        As in `sketch`. Names of columns are quoted: give them in the case in which the database
        stores them (Snowflake: in capitals, if they were not quoted).

    Examples
    --------
    >>> from quantshift.sketches import sketch_sql
    >>> print(sketch_sql("duckdb", "calls", score="p", batch="week").splitlines()[-1])
    FROM counted
    """
    if dialect not in DIALECTS:
        raise unknown_name("database", dialect, DIALECTS)
    return query(DIALECTS[dialect], table, ScoreColumns.of(score, posteriors, batch, by, label))


def counts_in_database(database: Database, url: str, columns: ScoreColumns) -> Sketch:
    """Count in the database of a URL; only the counts travel."""
    counts = database.query(url, query(DIALECTS[database.dialect], table_of(url), columns))
    if not counts.height:
        return Counter(columns).sketch()
    return counted_by_query(counts, public_url(url))


def query(sql: Dialect, table: str, columns: ScoreColumns) -> str:
    """The query for the columns of a table."""
    about = columns.about
    key_columns = {BATCH: columns.batch, **{BY + name: name for name in columns.by}}
    if columns.label is not None:
        key_columns[LABEL] = columns.label
    keys = [f"k{i}" for i in range(len(key_columns))]
    n_scores = len(columns.scores)
    scores, p = ([f"{name}{k}" for k in range(n_scores)] for name in ("given", "p"))
    steps = _checked_rows(sql, table, columns, dict(zip(keys, key_columns.values(), strict=True)))
    stored: dict[str, str] = {}
    totals: list[str] = []
    if about.labelled:
        stored = {name: f"v{j}" for j, name in enumerate(about.values)}
        steps |= _labelled_rows(keys, scores[-len(stored) :], list(stored.values()))
    else:
        steps |= _usable_rows(keys, scores, p) | _sized_rows(keys, p)
        stored = {name: f"g{j}" for j, name in enumerate(about.codes)}
        totals = [f"f{i}" for i in range(len(about.totals))]
        if totals:
            row_steps = _cells_of_rows(sql, about, keys, list(stored.values()), totals)
            steps |= {name: step + sql.fence for name, step in row_steps.items()}
        else:
            steps |= _score_cells(sql, keys, p[-1])
    sums = [f"sum_{column}" for column in totals]
    counted = [*keys, "c", *stored.values()]
    counted += [
        f"CAST(SUM({column}) AS {sql.whole}) AS {alias}"
        for column, alias in zip(totals, sums, strict=True)
    ]
    by = ", ".join([*keys, *stored.values(), "c"])
    steps["counted"] = (
        f"SELECT {', '.join([*counted, 'COUNT(*) AS n_counted'])} FROM cells GROUP BY {by}"
    )
    outputs = {
        **dict(zip(key_columns, keys, strict=True)),
        CELL: "c",
        **stored,
        **dict(zip(about.totals if totals else [], sums, strict=True)),
        COUNT: "n_counted",
    }
    answer = {
        SKETCH: _text(sql, about.described()),
        **outputs,
        **_totals_of_lines(sql, keys[0]),
        CHECK: _line_check(sql, about, outputs),
    }
    # All names are quoted: a database may change the case of those that are not.
    columns_of_answer = ", ".join(
        f"{value} AS {_quoted(sql, name)}" for name, value in answer.items()
    )
    parts = ",\n".join(f"{name} AS (\n  {step}\n)" for name, step in steps.items())
    return f"WITH {parts}\nSELECT {columns_of_answer}\nFROM counted"


def _totals_of_lines(sql: Dialect, batch: str) -> dict[str, str]:
    """How much the answer holds, in every line: a part of it is not a sketch."""
    return {
        BATCH_TOTAL: f"CAST(SUM(n_counted) OVER (PARTITION BY {batch}) AS {sql.whole})",
        TOTAL: f"CAST(SUM(n_counted) OVER () AS {sql.whole})",
        LINES: "COUNT(*) OVER ()",
    }


def _line_check(sql: Dialect, about: About, outputs: Mapping[str, str]) -> str:
    """The MD5 of the content of a line; `_line_checks` of the sketch computes the same."""
    texts = []
    for name, value in outputs.items():
        checked = value
        if name in about.values:
            checked = _floor(sql, f"{value} * {1 << CHECKED_BITS}")
        texts.append(f"COALESCE(CAST({checked} AS {sql.text}), '')")
    return sql.md5.format(" || '|' || ".join(texts))


def _checked_rows(
    sql: Dialect, table: str, columns: ScoreColumns, keys: Mapping[str, str | None]
) -> dict[str, str]:
    """Steps that read the scores given0, given1, ... of rows, and say whether they can be used.

    keys: the columns by which rows are counted, by their names in the query.
    """
    scores = [f"given{k}" for k in range(len(columns.scores))]
    key_list = ", ".join(keys)

    def column(name: str) -> str:
        return f"source_rows.{_quoted(sql, name)}"

    selected = [
        f"CAST({column(name) if name is not None else 'NULL'} AS {sql.text}) AS {key}"
        for key, name in keys.items()
    ]
    selected += [
        f"CAST({column(name)} AS {sql.double}) AS {score}"
        for score, name in zip(scores, columns.scores, strict=True)
    ]
    valid = " AND ".join(f"{score} >= 0 AND {score} <= 1" for score in scores)
    if len(scores) > 1:
        scale = round(1 / cells.SUM_TOLERANCE)
        valid += f" AND ABS({' + '.join(scores)} - 1) * {scale} <= 1"
    missing = " OR ".join(f"{score} IS NULL" for score in scores)
    status = (
        f"CASE WHEN {missing} THEN {cells.MISSING} WHEN {valid} THEN 0 ELSE {cells.OUTSIDE} END"
    )
    return {
        "read_rows": f"SELECT {', '.join(selected)} FROM {table} AS source_rows",
        "checked_rows": f"SELECT {key_list}, {', '.join(scores)}, {status} AS status "
        "FROM read_rows",
    }


def _labelled_rows(
    keys: Sequence[str], scores: Sequence[str], values: Sequence[str]
) -> dict[str, str]:
    """A step that keeps the scores of labelled rows as they are; minus zero is zero."""
    selected = ", ".join(
        f"CASE WHEN status < 0 THEN NULL WHEN {score} = 0 THEN 0 ELSE {score} END AS {value}"
        for score, value in zip(scores, values, strict=True)
    )
    return {"cells": f"SELECT {', '.join(keys)}, status AS c, {selected} FROM checked_rows"}


def _usable_rows(keys: Sequence[str], scores: Sequence[str], p: Sequence[str]) -> dict[str, str]:
    """A step with null in place of scores that cannot be used, and posteriors that sum to one."""
    total = f" / ({' + '.join(scores)})" if len(scores) > 2 else ""
    used = ", ".join(
        f"CASE WHEN status = 0 THEN {score}{total} END AS {usable}"
        for score, usable in zip(scores, p, strict=True)
    )
    return {"usable_rows": f"SELECT {', '.join(keys)}, status, {used} FROM checked_rows"}


def _sized_rows(keys: Sequence[str], p: Sequence[str]) -> dict[str, str]:
    """Steps that count the usable rows in the batch of each row, and in all batches together."""
    columns = ", ".join([*keys, "status", *p])
    batch = f"COALESCE({keys[0]}, '') AS batch_name, CASE WHEN {keys[0]} IS NULL THEN 1 ELSE 0 END"
    return {
        "named_rows": f"SELECT {columns}, {batch} AS no_batch FROM usable_rows",
        "batch_sizes": "SELECT batch_name, no_batch, COUNT(*) AS n_rows FROM named_rows\n  "
        "WHERE status = 0 GROUP BY batch_name, no_batch",
        "all_sizes": "SELECT batch_name, no_batch, n_rows, SUM(n_rows) OVER () AS n_all "
        "FROM batch_sizes",
        "sized_rows": f"SELECT {columns}, n_rows, n_all FROM named_rows LEFT JOIN all_sizes\n  "
        "ON named_rows.batch_name = all_sizes.batch_name "
        "AND named_rows.no_batch = all_sizes.no_batch",
    }


def _score_cells(sql: Dialect, keys: Sequence[str], score: str) -> dict[str, str]:
    """Steps that find the cells of the score of the second of two classes."""
    key_list = ", ".join(keys)
    whens = [(f"n_all > {cells.MOST_NARROW}", cells.WIDE)]
    whens += [(f"n_rows <= {most}", kind) for most, kind in cells.BY_SIZE]
    widths = ", ".join(
        f"CASE {' '.join(f'WHEN {when} THEN {getattr(kind, name)}' for when, kind in whens)} "
        f"ELSE {getattr(cells.WIDE, name)} END AS {alias}"
        for name, alias in (("per_octave", "w"), ("first", "first_cell"))
    )
    return {
        "scaled_rows": f"SELECT {key_list}, status, {score} AS s, {_distance(score)} AS x, "
        f"{widths}\n  FROM sized_rows",
        "cells": f"SELECT {key_list},\n    CASE WHEN status < 0 THEN status ELSE first_cell + "
        f"{_score_cell(sql, 'w')} END AS c\n  FROM scaled_rows",
    }


def _cells_of_rows(
    sql: Dialect,
    about: About,
    keys: Sequence[str],
    codes: Sequence[str],
    totals: Sequence[str],
) -> dict[str, str]:
    """Steps that round rows, and find the joint and marginal cells of those of large batches."""
    n, key_list = about.n_classes, ", ".join(keys)
    p = [f"p{k}" for k in range(n)]
    o, x, m = ([f"{letter}{k}" for k in range(n - 1)] for letter in "oxm")
    is_kept = (
        f"CASE WHEN n_rows <= {rounded.MOST_ROWS} AND n_all <= {most_narrow(about)} "
        "THEN 1 ELSE 0 END"
    )
    # The posteriors of all classes but the largest, none of which is above one half.
    others = ", ".join(
        f"CASE WHEN c1 <= {j} THEN {p[j + 1]} ELSE {p[j]} END AS {o[j]}" for j in range(n - 1)
    )
    halves = ", ".join(
        f"CASE WHEN {other} * 2 < 1 THEN {other} ELSE {_half(sql)} END AS {v}"
        for other, v in zip(o, x, strict=True)
    )
    scaled = ", ".join(f"{v}, {_scale(v)} AS s_{v}" for v in x)
    floors = ", ".join(f"{v}, s_{v}, FLOOR({v} * s_{v}) AS n_{v}" for v in x)
    coded = ", ".join(
        f"CASE WHEN status < 0 OR {v} = 0 THEN 0 ELSE {_offset(f's_{v}')} + "
        f"CAST(n_{v} AS {sql.whole}) END AS {code}"
        for v, code in zip(x, codes, strict=True)
    )
    middle = ", ".join(
        f"CASE WHEN {v} = 0 THEN 0 WHEN {v} * 2 = 1 THEN {v} "
        f"ELSE (n_{v} * 2 + 1) / (s_{v} * 2) END AS {name}"
        for v, name in zip(x, m, strict=True)
    )
    code_list, zeros = ", ".join(codes), ", ".join(f"0 AS {code}" for code in codes)
    no_totals = ", ".join(f"0 AS {column}" for column in totals)
    return {
        "first_class": f"SELECT {key_list}, status, {is_kept} AS kept, {', '.join(p)}, "
        f"{_position_of_largest(p)} AS c1 FROM sized_rows",
        "other_classes": f"SELECT {key_list}, status, kept, c1, {others} FROM first_class",
        "halved_rows": f"SELECT {key_list}, status, kept, c1, {halves} FROM other_classes",
        "scaled_rows": f"SELECT {key_list}, status, kept, c1,\n    {scaled}\n  FROM halved_rows",
        "floored_rows": f"SELECT {key_list}, status, kept, c1, {floors} FROM scaled_rows",
        "rounded_rows": f"SELECT {key_list}, status, kept, c1,\n    {coded},\n    {middle}\n  "
        "FROM floored_rows",
        "kept_rows": f"SELECT {key_list}, CASE WHEN status < 0 THEN status ELSE c1 END AS c, "
        f"{code_list}, {no_totals} FROM rounded_rows WHERE status < 0 OR kept = 1",
        **_joint_cells(sql, about, key_list, m, totals, zeros),
        **_marginal_cells(sql, about, key_list, f"{zeros}, {no_totals}"),
        "cells": "SELECT * FROM kept_rows UNION ALL SELECT * FROM joint_cells "
        "UNION ALL SELECT * FROM marginal_cells",
    }


def _joint_cells(
    sql: Dialect,
    about: About,
    key_list: str,
    m: Sequence[str],
    totals: Sequence[str],
    zeros: str,
) -> dict[str, str]:
    """Steps that find the joint cells of rounded rows, and what they sum up."""
    n = about.n_classes
    q, r, t = ([f"{letter}{k}" for k in range(n)] for letter in "qrt")
    columns = ", ".join(q)
    largest = f"1 - ({' + '.join(m)})"
    values = [
        f"CASE WHEN c1 = {k} THEN {largest} "
        + (f"WHEN c1 < {k} THEN {m[k - 1]} " if k else "")
        + (f"ELSE {m[k]} END" if k < n - 1 else f"ELSE {m[k - 1]} END")
        for k in range(n)
    ]
    rows = ", ".join(f"{value} AS {name}" for value, name in zip(values, q, strict=True))
    number = f"(c1 * {n} + c2) * {n} + c3"
    left = ("left1", "left2", "left3")
    joint = about.joint
    for share, deepest, n_levels in zip(left, joint_cells.DEEPEST, joint.n_levels, strict=True):
        number = f"({number}) * {n_levels} + {_level(sql, share, deepest, joint.linear)}"
    summed = [f"{value} * {1 << joint_cells.FIXED}" for value in q[:-1]]
    summed += [
        f"{q[a]} * {q[b]} * {1 << joint_cells.PRODUCT_FIXED}" for a, b in joint_cells.products(n)
    ]
    sums = ", ".join(
        f"{_floor(sql, f'{value} + {_half(sql)}')} AS {column}"
        for value, column in zip(summed, totals, strict=True)
    )
    return {
        "large_rows": f"SELECT {key_list}, c1, {' + '.join(m)} AS left1,\n    {rows}\n  "
        "FROM rounded_rows WHERE status = 0 AND kept = 0",
        "without_first": f"SELECT {key_list}, c1, left1, {columns}, {_without('c1', q, r)} "
        "FROM large_rows",
        "second_class": f"SELECT {key_list}, c1, left1, {columns}, {', '.join(r)}, "
        f"{_position_of_largest(r)} AS c2, left1 - {_largest(r)} AS left2 FROM without_first",
        "without_second": f"SELECT {key_list}, c1, c2, left1, left2, {columns}, "
        f"{_without('c2', r, t)} FROM second_class",
        "third_class": f"SELECT {key_list}, c1, c2, {_position_of_largest(t)} AS c3, left1, left2, "
        f"left2 - {_largest(t)} AS left3, {columns} FROM without_second",
        "joint_cells": f"SELECT {key_list}, {n} + {number} AS c,\n    {zeros}, {sums}\n  "
        "FROM third_class",
    }


def _marginal_cells(sql: Dialect, about: About, key_list: str, zeros: str) -> dict[str, str]:
    """Steps that find the marginal cells of rounded rows of large batches."""
    joint, n = about.joint, about.n_classes
    expected = " + ".join(f"{k} * q{k}" for k in range(1, n))
    scored = [
        f"SELECT {key_list}, CASE WHEN c1 = {k} THEN {joint.marginal_start(k, largest=True)} "
        f"ELSE {joint.marginal_start(k, largest=False)} END AS first_cell, q{k} AS s "
        "FROM large_rows"
        for k in range(n)
    ]
    scored.append(
        f"SELECT {key_list}, {joint.expected_start} AS first_cell, ({expected}) / {n - 1} AS s "
        "FROM large_rows"
    )
    union = "\n  UNION ALL ".join(scored)
    return {
        "scores": union,
        "distances": f"SELECT {key_list}, first_cell, s, {_distance('s')} AS x FROM scores",
        "marginal_cells": f"SELECT {key_list}, first_cell + "
        f"{_score_cell(sql, str(cells.WIDE.per_octave))} AS c,\n    {zeros}\n  FROM distances",
    }


def _distance(score: str) -> str:
    """The distance of a score to the nearer of 0 and 1."""
    return f"CASE WHEN {score} * 2 < 1 THEN {score} ELSE 1 - {score} END"


def _without(position: str, values: Sequence[str], names: Sequence[str]) -> str:
    """The values, with one that is never the largest in place of that at the position."""
    return ", ".join(
        f"CASE WHEN {position} = {k} THEN -1 ELSE {value} END AS {name}"
        for k, (value, name) in enumerate(zip(values, names, strict=True))
    )


def _score_cell(sql: Dialect, per_octave: str) -> str:
    """The cell of the score s, whose distance to 0 or 1 is x, with so many cells per octave."""
    lines = ["CASE WHEN x = 0 THEN 0"]
    for exponent in range(cells.SMALLEST, cells.LINEAR - 1, -1):
        floor = _floor(sql, f"x * {1 << exponent} * {per_octave}")
        value = f"1 + {cells.SMALLEST - exponent} * {per_octave} + {floor}"
        is_last = exponent == cells.LINEAR
        lines.append(
            f"ELSE {value} END" if is_last else f"WHEN x * {1 << (exponent - 1)} < 1 THEN {value}"
        )
    inner = "\n      ".join(lines)
    # Those above one half mirror those below.
    half_octaves = 2 * (cells.SMALLEST - cells.LINEAR + (1 << (cells.LINEAR - 1)))
    return (
        f"CASE WHEN s * 2 < 1 THEN 0 ELSE 2 + {half_octaves} * {per_octave} END + "
        f"CASE WHEN s * 2 < 1 THEN 1 ELSE -1 END * (\n      {inner})"
    )


def _scale(value: str) -> str:
    """For rounded rows: the number of cells per unit around a value of at most one half."""
    per_octave, exponents = rounded.ROUNDING.per_octave, range(cells.SMALLEST, cells.LINEAR, -1)
    whens = [
        f"WHEN {value} * {1 << (exponent - 1)} < 1 THEN {per_octave << exponent}"
        for exponent in exponents
    ]
    return f"CASE {' '.join(whens)} ELSE {per_octave << cells.LINEAR} END"


def _offset(scale: str) -> str:
    """The number of the first cell of values with this scale."""
    per_octave, exponents = rounded.ROUNDING.per_octave, range(cells.SMALLEST, cells.LINEAR, -1)
    whens = [
        f"WHEN {scale} = {per_octave << exponent} "
        f"THEN {1 + (cells.SMALLEST - exponent) * per_octave}"
        for exponent in exponents
    ]
    last = 1 + (cells.SMALLEST - cells.LINEAR) * per_octave
    return f"CASE {' '.join(whens)} ELSE {last} END"


def _level(sql: Dialect, share: str, deepest: int, linear: int) -> str:
    """The level of what some classes leave."""
    n_octaves = max(deepest - linear, 0)
    steps = f"{n_octaves} + {_floor(sql, f'{share} * {1 << linear}')}"
    if not n_octaves:
        return steps
    whens = [
        f"WHEN {share} * {1 << exponent} < 1 THEN {deepest - exponent}"
        for exponent in range(deepest, linear - 1, -1)
    ]
    return f"CASE {' '.join(whens)} ELSE {steps} END"


def _half(sql: Dialect) -> str:
    return f"CAST(0.5 AS {sql.double})"


def _floor(sql: Dialect, value: str) -> str:
    return f"CAST(FLOOR({value}) AS {sql.whole})"


def _position_of_largest(values: Sequence[str]) -> str:
    """The position of the largest value, the first one if several are equal."""
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
