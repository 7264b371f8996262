"""Databases count as we do, to the last row, for every number there is."""

import shutil
import subprocess
import sys
from datetime import datetime

import numpy as np
import polars as pl
import pytest

from quantshift import quantify
from quantshift.errors import DataError, UserError
from quantshift.sketches import load_sketch, sketch, sketch_sql
from quantshift.sketches.cells import rounded
from quantshift.sketches.cells import score as cells
from quantshift.sketches.sketch_table import counted_by_query
from tests.sketches.made import awkward, batches, labelled

duckdb = pytest.importorskip("duckdb", reason="needs quantshift[warehouse]")


def awkward_scores() -> pl.DataFrame:
    values = awkward()
    return pl.DataFrame(
        {
            "p": pl.Series(values, dtype=pl.Float64),
            "day": [None if i % 11 == 0 else f"d{i % 3}" for i in range(len(values))],
            "y": [i % 2 for i in range(len(values))],
        }
    )


def awkward_posteriors() -> pl.DataFrame:
    rng = np.random.default_rng(0)
    rows = rng.dirichlet([0.2, 0.2, 0.2], 4000)
    powers = 2.0 ** -np.arange(1, 60)
    edges = np.column_stack([1 - powers, powers / 2, powers / 2])
    odd = [[1, 0, 0], [0.5, 0.5, 0], [1 / 3] * 3, [0.3] * 3, [np.nan, 0.5, 0.5], [1, np.inf, 0]]
    rows = np.concatenate([rows, edges, edges[:, ::-1], odd])
    return pl.DataFrame({name: rows[:, k] for k, name in enumerate("abc")}).with_columns(
        pl.when(pl.int_range(pl.len()) % 50 != 0).then(pl.col("b")).alias("b"),
        day=pl.lit("x"),
    )


def awkward_fives() -> pl.DataFrame:
    rng = np.random.default_rng(1)
    rows = np.concatenate([rng.dirichlet([0.3] * 5, 3000), np.eye(5), np.full((5, 5), 0.2)])
    rows[::3] = np.round(rows[::3], 3)  # rows that sum to one but for rounding
    frame = pl.DataFrame({name: rows[:, k] for k, name in enumerate("abcde")})
    return frame.with_columns(y=pl.int_range(pl.len()) % 2)


def awkward_names() -> pl.DataFrame:
    """Columns whose names have quotes, a backslash and letters beyond ASCII."""
    names = {"p": 'it\'s a "score"', "day": "d\\ay", "y": "écrit"}
    return awkward_scores().rename(names)


def awkward_order() -> pl.DataFrame:
    """Columns that have the names of the query's own, in another order."""
    return awkward_posteriors().rename({"a": "p1", "b": "P0", "c": "k0", "day": "g1"})


CASES = {
    "order": (awkward_order, {"posteriors": ["p1", "P0", "k0"], "batch": "g1"}),
    "names": (
        awkward_names,
        {"score": 'it\'s a "score"', "batch": "d\\ay", "label": "écrit"},
    ),
    "score": (awkward_scores, {"score": "p", "batch": "day", "by": ["y"]}),
    "labels": (awkward_scores, {"score": "p", "label": "y"}),
    "three": (awkward_posteriors, {"posteriors": ["a", "b", "c"], "batch": "day"}),
    "five": (awkward_fives, {"posteriors": list("abcde"), "by": ["y"]}),
    "labelled_five": (awkward_fives, {"posteriors": list("abcde"), "label": "y"}),
}


@pytest.fixture
def few_rows(monkeypatch):
    """Limits for rows that are kept, which the batches of some cases exceed, and others do not."""
    monkeypatch.setattr(cells, "BY_SIZE", ((2000, cells.NARROW), (9000, cells.MIDDLE)))
    monkeypatch.setattr(rounded, "MOST_ROWS", 1000)


@pytest.mark.parametrize("case", ["score", "three", "five"])
def test_duckdb_counts_large_batches_as_we_do(case, few_rows, tmp_path):
    test_duckdb_counts_as_we_do(case, tmp_path)


def test_duckdb_counts_many_rows_in_all_as_we_do(monkeypatch, tmp_path):
    monkeypatch.setattr(cells, "MOST_NARROW", 2000)
    test_duckdb_counts_as_we_do("score", tmp_path)


@pytest.mark.parametrize("case", CASES)
def test_duckdb_counts_as_we_do(case, tmp_path):
    make, options = CASES[case]
    scores = make()
    ours = sketch(scores, bins=True, **options)
    assert ours.n_rows == len(scores)
    theirs = duckdb.sql(sketch_sql("duckdb", "scores", **options)).pl()
    assert counted_by_query(theirs, "the query").to_bytes() == ours.to_bytes()
    theirs.write_csv(tmp_path / "counts.csv")
    assert load_sketch(tmp_path / "counts.csv").to_bytes() == ours.to_bytes()


def test_float32_scores_are_counted_alike():
    rng = np.random.default_rng(0)
    scores = pl.DataFrame({"p": rng.random(5000).astype(np.float32)})
    theirs = duckdb.sql(sketch_sql("duckdb", "scores", score="p")).pl()
    ours = sketch(scores, score="p", bins=True)
    assert counted_by_query(theirs, "the query").to_bytes() == ours.to_bytes()


def test_a_table_in_duckdb_is_counted_there_and_can_be_read(tmp_path):
    frame, training = batches({"a": 0.2, "b": 0.6}, 1000), labelled(400)
    file = tmp_path / "scores.db"
    with duckdb.connect(str(file)) as connection:
        connection.sql("CREATE TABLE scores AS FROM frame")
        connection.sql("CREATE TABLE training AS FROM training")
    url = f"duckdb:///{file}?table="
    made = sketch(f"{url}scores", score="p", batch="day")
    assert made.to_bytes() == sketch(frame, score="p", batch="day", bins=True).to_bytes()
    options = {"label": "y", "posteriors": ["p"], "by": "day", "replicates": 20}
    by_url = quantify(f"{url}scores", train=f"{url}training", **options)
    by_frame = quantify(frame, train=training, **options)
    assert [batch.shares for batch in by_url.batches] == [
        batch.shares for batch in by_frame.batches
    ]


def test_keys_are_the_same_from_a_database(tmp_path):
    """Gaps, empty texts and times among them, which are written in several ways."""
    frame = pl.DataFrame(
        {
            "p": [0.1, 0.2, 0.3, 0.4],
            "text": ["", "NaN", None, "x"],
            "time": [datetime(2026, 3, 2), datetime(2026, 3, 2, 1, 2, 3, 40_000), None, None],
            "flag": [True, False, None, True],
        }
    )
    with duckdb.connect(str(tmp_path / "x.db")) as connection:
        connection.sql("CREATE TABLE t AS FROM frame")
    for key in ("text", "time", "flag"):
        made = sketch(f"duckdb:///{tmp_path}/x.db?table=t", score="p", batch=key)
        assert made.to_bytes() == sketch(frame, score="p", batch=key, bins=True).to_bytes()


def test_what_a_database_does_not_have_is_said_in_a_line(tmp_path):
    with duckdb.connect(str(tmp_path / "x.db")) as connection:
        connection.sql("CREATE TABLE t AS SELECT 0.5 AS p")
    with pytest.raises(UserError, match="name the table"):
        sketch(f"duckdb:///{tmp_path}/x.db", score="p")
    with pytest.raises(DataError, match="nothing"):
        sketch(f"duckdb:///{tmp_path}/x.db?table=nothing", score="p")
    with pytest.raises(DataError, match="no column 'q'; there are p"):
        sketch(f"duckdb:///{tmp_path}/x.db?table=t", score="q")
    (tmp_path / "x.csv").write_text("p\n0.5\n")
    with pytest.raises(DataError, match="is not a DuckDB database"):
        sketch(f"duckdb:///{tmp_path}/x.csv?table=t", score="p")
    with pytest.raises(UserError, match=r"write three slashes before the path, duckdb:///x\.db"):
        sketch("duckdb://x.db?table=t", score="p")
    with pytest.raises(UserError, match="mysql:// addresses cannot be read"):
        sketch("mysql://host/db?table=t", score="p")
    with pytest.raises(DataError, match="there is no file"):
        sketch(f"duckdb:///{tmp_path}/y.db?table=t", score="p")
    with pytest.raises(UserError, match="unknown database 'oracle'"):
        sketch_sql("oracle", "t", score="p")


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("dialect", ["bigquery", "snowflake", "spark", "postgres"])
def test_another_parser_reads_every_dialect_and_counts_as_we_do(dialect, case):
    """sqlglot parses the query by the rules of the dialect; DuckDB runs what it has understood."""
    sqlglot = pytest.importorskip("sqlglot", reason="sqlglot is not installed")
    make, options = CASES[case]
    scores = make()
    (query,) = sqlglot.transpile(
        sketch_sql(dialect, "scores", **options), read=dialect, write="duckdb"
    )
    theirs = counted_by_query(duckdb.sql(query).pl(), "the query")
    assert theirs.to_bytes() == sketch(scores, bins=True, **options).to_bytes()


@pytest.mark.parametrize("case", CASES)
def test_no_name_means_two_things_in_one_step(case):
    """A database may take a name for a column, or for an alias in the same SELECT."""
    sqlglot = pytest.importorskip("sqlglot", reason="sqlglot is not installed")
    _, options = CASES[case]
    query = sqlglot.parse_one(sketch_sql("snowflake", "scores", **options), read="snowflake")
    steps = list(query.find_all(sqlglot.exp.Select))
    assert len(steps) >= 4
    for step in steps:
        aliases = {each.alias.lower() for each in step.expressions if each.alias}
        aliases -= {each.name.lower() for each in step.expressions if not each.args.get("alias")}
        read = {
            column.name.lower() for column in step.find_all(sqlglot.exp.Column) if not column.table
        }
        assert not aliases & read


def test_a_query_in_brackets_is_a_table_and_numbers_may_be_decimals(tmp_path):
    """Snowflake's whole numbers are decimals of 38 digits, and may be so in Parquet."""
    scores = awkward_scores()
    options = {"score": "p", "batch": "day"}
    theirs = duckdb.sql(sketch_sql("duckdb", "(SELECT * FROM scores)", **options)).pl()
    numbers = [name for name, kind in theirs.schema.items() if kind.is_integer()]
    decimals = theirs.with_columns(pl.col(numbers).cast(pl.Decimal(38, 0)))
    decimals.write_parquet(tmp_path / "counts.parquet")
    ours = sketch(scores, bins=True, **options)
    assert load_sketch(tmp_path / "counts.parquet").to_bytes() == ours.to_bytes()


SPARK = """
import sys
from pyspark.sql import SparkSession

session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
session = session.config("spark.sql.shuffle.partitions", "2").getOrCreate()
for case in sys.argv[1:]:
    session.read.parquet(f"{case}-scores").createOrReplaceTempView("scores")
    with open(f"{case}.sql") as file:
        session.sql(file.read()).coalesce(1).write.parquet(f"{case}-counts")
session.stop()
"""


@pytest.mark.slow
def test_spark_counts_as_we_do(tmp_path):
    """The printed query, run by Spark on parts in Parquet, whose answer is read as a sketch.

    It needs `pip install pyspark` (which is no dependency of ours) and Java 17 or newer; then
    `pytest -m slow tests/sketches/test_sql.py -k spark`.
    """
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java, which is not installed")
    for case, (make, options) in CASES.items():
        parts = tmp_path / f"{case}-scores"
        parts.mkdir()
        for i, part in enumerate(make().iter_slices(1500)):
            part.write_parquet(parts / f"{i}.parquet")
        (tmp_path / f"{case}.sql").write_text(sketch_sql("spark", "scores", **options))
    run = [sys.executable, "-c", SPARK, *CASES]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    for case, (make, options) in CASES.items():
        (written,) = (tmp_path / f"{case}-counts").glob("*.parquet")
        ours = sketch(make(), bins=True, **options)
        assert load_sketch(written).to_bytes() == ours.to_bytes()


@pytest.mark.parametrize("dialect", ["bigquery", "snowflake", "spark", "postgres"])
def test_every_dialect_quotes_names_and_counts(dialect):
    query = sketch_sql(dialect, "t", score="the p", batch="day")
    assert "the p" in query
    assert query.rstrip().endswith("FROM counted")
    # Of cells, of the rows of batches, and of the lines of the answer.
    assert query.count("COUNT(*)") == 3


def compare_with_postgresql(case: str, url: str, table: str) -> None:
    from adbc_driver_postgresql import dbapi

    make, options = CASES[case]
    scores = make()
    with dbapi.connect(url) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest(table, scores.to_arrow(), mode="create")
        connection.commit()
    made = sketch(f"{url}&table={table}", **options)
    assert made.to_bytes() == sketch(scores, bins=True, **options).to_bytes()
    with pytest.raises(DataError, match="nothing"):
        sketch(f"{url}&table=nothing", **options)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_postgresql_counts_as_we_do(case, postgres):
    compare_with_postgresql(case, postgres, f"scores_{case}")


@pytest.mark.slow
def test_postgresql_errors_while_counting_are_a_line(postgres):
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(postgres) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE odd AS SELECT 'high' AS p, 0.5::numeric AS q")
        connection.commit()
    with pytest.raises(DataError, match="invalid input syntax"):
        sketch(f"{postgres}&table=odd", score="p")
    assert sketch(f"{postgres}&table=odd", score="q").n_rows == 1


@pytest.mark.slow
@pytest.mark.parametrize("case", ["score", "three", "five"])
def test_postgresql_counts_large_batches_as_we_do(case, few_rows, postgres):
    compare_with_postgresql(case, postgres, f"large_{case}")
