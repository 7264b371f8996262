"""`quantshift sketch` and `quantify --sketch`, as a shell calls them."""

import os
import signal
import subprocess
import sys
import time

import pytest

from quantshift.cli.app import app_with
from quantshift.errors import UserError
from quantshift.sketches import sketch as make
from tests.sketches.made import batches, labelled


def quantshift(*arguments, cwd):
    command = [sys.executable, "-c", "from quantshift.cli.app import main; main()"]
    return subprocess.run(
        [*command, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
def test_from_files_to_an_answer(tmp_path):
    labelled(2000).write_csv(tmp_path / "labelled.csv")
    for day in ("mon", "tue"):
        batches({day: 0.3}, 1500).write_parquet(tmp_path / f"{day}.parquet")
        columns = ("--score", "p", "--batch", "day", "--out", f"{day}.sketch")
        made = quantshift("sketch", f"{day}.parquet", *columns, cwd=tmp_path)
        assert made.returncode == 0, made.stderr
        assert "1,500 rows in 1 batch" in made.stdout
    columns = ("--score", "p", "--label", "y", "--out", "training.sketch")
    assert quantshift("sketch", "labelled.csv", *columns, cwd=tmp_path).returncode == 0
    files = ("mon.sketch", "tue.sketch", "--out", "week.sketch")
    assert quantshift("sketch", "merge", *files, cwd=tmp_path).returncode == 0
    sketches = ("--sketch", "week.sketch", "--train-sketch", "training.sketch")
    told = quantshift("quantify", *sketches, "--replicates", "100", cwd=tmp_path)
    assert told.returncode == 0, told.stderr
    assert "spam" in told.stdout
    wrong = quantshift("quantify", "--sketch", "mon.parquet", cwd=tmp_path)
    assert (wrong.returncode, wrong.stderr.count("\n")) == (2, 1)
    assert "not a sketch" in wrong.stderr
    printed = quantshift("sketch", "--sql", "spark", "--table", "t", "--score", "p", cwd=tmp_path)
    assert printed.stdout.startswith("WITH")
    kept = quantshift("sketch", "mon.parquet", "--score", "p", "--out", "tue.parquet", cwd=tmp_path)
    assert kept.returncode == 2
    assert "exists and was not made by quantshift" in kept.stderr


@pytest.mark.slow
def test_a_kill_leaves_nothing_half_written(tmp_path):
    batches({"mon": 0.3}, 200_000).write_csv(tmp_path / "day.csv")
    command = [sys.executable, "-c", "from quantshift.cli.app import main; main()"]
    arguments = ["sketch", "day.csv", "--score", "p", "--batch", "day", "--out", "s.parquet"]
    for seconds in (0.5, 1.5, 3.0):
        process = subprocess.Popen([*command, *arguments], cwd=tmp_path, stdout=subprocess.DEVNULL)
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        process.wait()
        left = set(os.listdir(tmp_path)) - {"day.csv"}
        assert left <= {"s.parquet"} or not (tmp_path / "s.parquet").exists()
    made = quantshift(*arguments, cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert "200,000 rows" in made.stdout


@pytest.mark.slow
def test_a_table_in_duckdb_is_counted_without_noise(tmp_path):
    """Its bindings report objects as leaked if the garbage collector is frozen at the end."""
    duckdb = pytest.importorskip("duckdb", reason="needs quantshift[warehouse]")
    with duckdb.connect(str(tmp_path / "x.db")) as connection:
        connection.sql("CREATE TABLE t AS SELECT 0.5 AS p")
    arguments = ["sketch", "duckdb:///x.db?table=t", "--score", "p", "--out", "s.parquet"]
    made = quantshift(*arguments, cwd=tmp_path)
    assert (made.returncode, made.stderr) == (0, "")
    assert made.stdout.startswith("1 row in 1 batch\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--sql", "spark", "--table", "t", "--score", "p", "--out", "q.sql"], "only printed"),
        (["t.csv", "--score", "p", "--table", "t", "--out", "s.parquet"], "choose its database"),
        (["t.csv", "--score", "p", "--out", "s.csv"], r"sketches are Parquet files; name it"),
        (["merge", "s.parquet", "--bins", "--out", "m.parquet"], "merge takes only sketches"),
        (["merge", "?.parquet", "s.parquet", "--out", "m.parquet"], "is named twice"),
        (["merge", "?.parquet", "--out", "s.parquet"], "s.parquet is read by the same command"),
        (["merge", "s.parquet", "u.parquet", "--out", "m.parquet"], "u.parquet is not a sketch of"),
    ],
)
def test_options_that_would_be_ignored_are_refused(arguments, message, tmp_path, monkeypatch):
    labelled(20).write_csv(tmp_path / "t.csv")
    make(tmp_path / "t.csv", score="p").save(tmp_path / "s.parquet")
    make(tmp_path / "t.csv", score="p", by=["y"]).save(tmp_path / "u.parquet")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=message):
        app_with(["sketch"])(["sketch", *arguments], standalone_mode=False)
    assert not (tmp_path / "m.parquet").exists()
