"""`quantshift bench` as its users call it."""

import os
import signal
import subprocess
import sys
import time

import pytest

from quantshift.leaderboard.benchmark import suites
from quantshift.results import ResultStore

TINY = (
    "--documents=2000",
    "--jobs=1",
    "--set=shift.train_size=150",
    "--set=shift.train_repeats=1",
    "--set=shift.test_size=50",
    "--set=shift.test_repeats=1",
    "--set=selection.enabled=false",
)
MINE = "from quantshift import PCC\n\n\nclass Mine(PCC):\n    pass\n"


@pytest.fixture
def alone(monkeypatch):
    """One experiment as a suite."""
    found = "quantshift.leaderboard.benchmark.suites"
    monkeypatch.setattr(found, lambda: {"concepts": ("concept",)})


def test_a_suite_with_a_method_of_ones_own(alone, quantshift, tmp_path):
    out, mine = tmp_path / "out", tmp_path / "mine.py"
    mine.write_text(MINE)
    asked = ("bench", "concepts", *TINY, "--methods", "CC,MLPE,HDx", "--out", out)
    code, said, wrong = quantshift(*asked, "--add", f"{mine}:Mine")
    assert (code, wrong) == (0, "")
    lines = said.splitlines()
    assert lines[0] == (
        "left out on synthetic: HDx (compares features one by one, and there are more than 1,000)"
    )
    assert lines[-1].startswith(f"open {(out / 'leaderboard.html').as_uri()} in a browser (")
    assert set(ResultStore.open(out).methods("concept")) == {"CC", "MLPE", "Mine"}
    table = (out / "leaderboard.csv").read_text()
    assert "Mine,added,ae," in table
    code, said, _ = quantshift(*asked, "--add", f"{mine}:Mine")
    assert (code, "0 cells in 0:00" in said) == (0, True)
    code, said, _ = quantshift(*asked, "--dry-run")
    assert said.splitlines()[-1].startswith("under a minute with 1 worker (")


def test_a_named_suite_that_cannot_be_run_is_no_success(quantshift, tmp_path):
    rows = (f"{i % 7},{'ab'[i % 2]},{i % 3},{'yn'[i % 2]}\n" for i in range(300))
    (tmp_path / "two.csv").write_text("x,site,when,label\n" + "".join(rows))
    imported = ("data", "import", tmp_path / "two.csv", "--label", "label", "--out")
    assert quantshift(*imported, tmp_path / "two", "--groups", "site,when")[0] == 0
    sizes = ("--set=shift.train_size=40", "--set=shift.test_size=20", "--set=selection.size=20")
    asked = ("bench", "--methods=CC", "--data", tmp_path / "two", "--out", tmp_path / "out")
    code, _, wrong = quantshift(*asked, "natural")
    assert code == 2
    assert wrong.endswith("(site, when): set shift.by=site (--set)\n")
    code, said, wrong = quantshift(*asked, "natural", "tables-prior", "--jobs=1", *sizes)
    assert (code, wrong) == (1, "")
    assert said.startswith("skipped: natural on two: ")
    assert said.endswith("not run at all: natural (the reason is above)\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["conceptz"], "unknown suite 'conceptz'; did you mean 'concepts'?"),
        (["concepts", "--methods", "SLE"], "unknown method 'SLE'"),
        (["concepts", "--add", "none.py:Mine"], "there is no Python file 'none.py' (--add)"),
        (["concepts", "--add", "none"], "'none' is not of the form FILE.py:Class (--add)"),
        (["concepts", "--data", "nowhere"], "nowhere"),
    ],
)
def test_errors_are_one_line(alone, quantshift, tmp_path, arguments, message):
    code, said, wrong = quantshift("bench", *arguments, *TINY, "--out", tmp_path / "out")
    assert (code, said) == (2, "")
    assert message in wrong
    assert wrong.startswith("error: ")
    assert len(wrong.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_the_estimate_before_a_run(quantshift, tmp_path, monkeypatch):
    monkeypatch.setattr("quantshift.cli.bench.n_cores", lambda: 2)
    monkeypatch.setattr("quantshift.cli.bench.load", lambda: 0.2)
    asked = ("bench", "paper", "--out", tmp_path / "out", "--dry-run", "--methods", "CC,SLD")
    code, said, _ = quantshift(*asked, "--jobs=2")
    assert code == 0
    assert "total" in said
    assert said.splitlines()[-1].endswith("with 2 workers (a guess: no earlier run has been timed)")
    monkeypatch.setattr("quantshift.cli.bench.load", lambda: 3.0)
    assert (
        quantshift(*asked, "--jobs=2")[1]
        .splitlines()[-1]
        .endswith("timed; longer, because other programs are busy: load 3.0, 2 cores)")
    )
    assert not (tmp_path / "out").exists()
    assert "prior" in suites()["paper"]


@pytest.mark.slow
def test_killed_and_resumed_it_ends_with_the_same_rows(tmp_path):
    def command(out):
        # With fewer items a class would be smaller than the number of folds.
        sizes = ["--documents=3000", "--set=shift.train_size=300"]
        options = [*TINY, *sizes, "--methods", "CC,SLD,MLPE", "--out", str(out)]
        program = "from quantshift.cli.app import main; main()"
        return [sys.executable, "-c", program, "bench", "paper", *options]

    whole, killed = tmp_path / "whole", tmp_path / "killed"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    assert subprocess.run(command(whole), **quiet, check=False).returncode == 0
    begun = subprocess.Popen(command(killed), **quiet, start_new_session=True)
    while len(list(killed.glob("*/*/*/*.parquet"))) < 3:
        assert begun.poll() is None
        time.sleep(0.05)
    os.killpg(begun.pid, signal.SIGKILL)
    begun.wait()
    assert not (killed / "leaderboard.html").exists()
    assert subprocess.run(command(killed), **quiet, check=False).returncode == 0
    a, b = (ResultStore.open(folder).read().collect() for folder in (whole, killed))
    assert a.equals(b)
    assert (killed / "leaderboard.html").exists()
