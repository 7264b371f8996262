"""Databases count as we do, to the last row, for every number there is."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from quantshift import load_sketch, quantify, sketch, sketch_sql
from quantshift.errors import DataError, UserError
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


CASES = {
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
    options = {"label": "y", "posteriors": ["p"], "by": "day", "n_bootstrap": 20}
    by_url = quantify(f"{url}scores", train_on=f"{url}training", **options)
    by_frame = quantify(frame, train_on=training, **options)
    assert [batch.shares for batch in by_url.batches] == [
        batch.shares for batch in by_frame.batches
    ]


def test_what_a_database_does_not_have_is_said_in_a_line(tmp_path):
    with duckdb.connect(str(tmp_path / "x.db")) as connection:
        connection.sql("CREATE TABLE t AS SELECT 0.5 AS p")
    with pytest.raises(UserError, match="name the table"):
        sketch(f"duckdb:///{tmp_path}/x.db", score="p")
    with pytest.raises(DataError, match="nothing"):
        sketch(f"duckdb:///{tmp_path}/x.db?table=nothing", score="p")
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
    """The printed query, run by Spark on parts in Parquet, whose answer is read as a sketch."""
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
    assert query.rstrip().endswith("c")
    assert query.count("COUNT(*)") == 1


def postgres_programs() -> Path | None:
    """The folder of PostgreSQL's programs."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if found:
        return found[-1].parent
    program = shutil.which("initdb")
    return None if program is None else Path(program).resolve().parent


@pytest.fixture(scope="module")
def postgres():
    """The URL of a PostgreSQL server of our own, on a socket."""
    programs = postgres_programs()
    if programs is None:
        pytest.skip("no PostgreSQL server is installed")
    pytest.importorskip("adbc_driver_postgresql", reason="needs quantshift[warehouse]")
    # The server does not run as root.
    user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory(prefix="pg", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o777)
        data = folder / "data"
        run = [*user, str(programs / "initdb"), "-D", str(data), "-A", "trust", "-U", "tester"]
        subprocess.run(run, check=True, capture_output=True, cwd=name)
        control = [*user, str(programs / "pg_ctl"), "-D", str(data), "-l", str(folder / "log")]
        listen = f"-c listen_addresses= -c unix_socket_directories={name} -c fsync=off"
        subprocess.run([*control, "-o", listen, "-w", "start"], check=True, cwd=name)
        try:
            yield f"postgresql://tester@/postgres?host={name}"
        finally:
            subprocess.run([*control, "-m", "immediate", "stop"], check=True, cwd=name)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_postgresql_counts_as_we_do(case, postgres):
    from adbc_driver_postgresql import dbapi

    make, options = CASES[case]
    scores = make()
    with dbapi.connect(postgres) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest(f"scores_{case}", scores.to_arrow(), mode="create")
        connection.commit()
    made = sketch(f"{postgres}&table=scores_{case}", **options)
    assert made.to_bytes() == sketch(scores, bins=True, **options).to_bytes()
    with pytest.raises(DataError, match="nothing"):
        sketch(f"{postgres}&table=nothing", **options)
