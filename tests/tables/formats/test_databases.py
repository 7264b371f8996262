"""Columns of databases: each is read as its cells are, or as the text that the database shows."""

import pytest

from quantshift.sketches import sketch
from quantshift.tables.reading import open_table

duckdb = pytest.importorskip("duckdb", reason="needs quantshift[warehouse]")

UUID = "3d531c07-63a2-47b4-aead-7c6df051b840"
ODD = {
    "interval": ("interval '1 day'", "1 day"),
    "uuid": (f"'{UUID}'::uuid", UUID),
    "array of intervals": ("array[interval '1 day']", '{"1 day"}'),
    "inet": ("'1.2.3.4/32'::inet", "1.2.3.4/32"),
    "range": ("int4range(1, 3)", "[1,3)"),
    "bits": ("b'101'", "101"),
    "time with a zone": ("'10:00+01'::timetz", "10:00:00+01"),
    "money": ("'1.5'::money", "1.50"),
    "numeric": ("1.5::numeric", "1.5"),
    "json": ("""'{"a":1}'::json""", '{"a":1}'),
    "text": ("'x y'", "x y"),
}
"""Columns of PostgreSQL, and the text that it shows of them."""


def cells(url, column):
    table = open_table(url)
    (chunk,) = table.chunks([column])
    return chunk.columns[column].to_list()


@pytest.fixture
def odd_table(tmp_path):
    path = tmp_path / "odd.db"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT 0.5::DOUBLE AS p, INTERVAL 1 DAY AS waited, "
            "[INTERVAL 1 DAY] AS waits, union_value(a := 1) AS either, 7 AS n FROM range(3)"
        )
    return f"duckdb:///{path}?table=t"


def test_a_column_of_intervals_is_read_as_text(odd_table):
    """It was an ArrowInvalid, also where the column was not used."""
    assert cells(odd_table, "p") == [0.5] * 3
    assert cells(odd_table, "waited") == ["1 day"] * 3
    assert cells(odd_table, "waits") == ["[1 day]"] * 3
    assert cells(odd_table, "either") == ["1"] * 3
    assert cells(odd_table, "n") == [7] * 3


def test_a_sketch_does_not_mind_such_a_column(odd_table):
    assert sketch(odd_table, score="p").n_rows == 3
    assert sketch(odd_table, score="p", batch="waited").batches == ["1 day"]


@pytest.mark.slow
def test_columns_of_postgresql_are_read_as_it_shows_them(postgres):
    """An interval was an ArrowInvalid, a uuid its bytes, and money a number of cents."""
    from adbc_driver_postgresql import dbapi

    columns = [f'{sql} AS "{name}"' for name, (sql, _) in ODD.items()]
    with dbapi.connect(postgres) as connection, connection.cursor() as cursor:
        cursor.execute(
            f"CREATE TABLE odd_columns AS SELECT 0.5::float8 AS p, {', '.join(columns)} "
            "FROM generate_series(1, 3)"
        )
        connection.commit()
    url = f"{postgres}&table=odd_columns"
    assert {name: cells(url, name)[0] for name in ODD} == {
        name: shown for name, (_, shown) in ODD.items()
    }
    assert cells(url, "p") == [0.5] * 3
    assert sketch(url, score="p", batch="uuid").batches == [UUID]
