"""`quantshift bench` as its users call it."""

import os
import signal
import subprocess
import sys
import time

import pytest

from quantshift.lab.leaderboard.benchmark import suites
from quantshift.lab.results import ResultStore

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
    found = "quantshift.lab.leaderboard.benchmark.suites"
    monkeypatch.setattr(found, lambda: {"concepts": ("concept",)})


@pytest.mark.slow
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
    assert (code, "0 cells in 0:0" in said) == (0, True)
    code, said, _ = quantshift(*asked, "--dry-run")
    assert said.splitlines()[-1].startswith("under a minute with 1 worker (")


HOSTILE = """
import sys
import numpy as np
from quantshift import CC

class Predicts(CC):
    def predict(self, X, **options):
        return np.array([0.9, 0.1])

class Aggregates(CC):
    def aggregate(self, posteriors):
        return [0.25, 0.75]

class Raises(CC):
    def predict(self, X):
        raise OSError("no model")

class NotANumber(CC):
    def _solve(self, representation, index, weights=None):
        return np.full((len(index), 2), np.nan), {}

class Negative(CC):
    def _solve(self, representation, index, weights=None):
        return np.tile([1.5, -0.5], (len(index), 1)), {}

class Exits(CC):
    def _fit_aggregation(self, posteriors, codes, weights=None):
        sys.exit(7)
"""


@pytest.mark.slow
def test_what_a_class_of_ones_own_defines_is_called_and_failures_are_its_own(
    alone, quantshift, tmp_path
):
    """Before, only `_solve` was called, NaN ended the bench, and so did sys.exit, silently.

    Negative shares were stored, and every later leaderboard was a traceback.
    """
    out, mine = tmp_path / "out", tmp_path / "mine.py"
    mine.write_text(HOSTILE)
    classes = ("Predicts", "Aggregates", "Raises", "NotANumber", "Negative", "Exits")
    added = [text for name in classes for text in ("--add", f"{mine}:{name}")]
    asked = ("bench", "concepts", *TINY, "--methods=CC", "--out", out)
    one_cell = ("--set=shift.train_cuts=[2.5]", "--set=shift.test_cuts=[2.5]")
    code, said, wrong = quantshift(*asked, *one_cell, *added)
    assert (code, wrong) == (1, "")
    failed = [line for line in said.splitlines() if line.startswith("failed: ")]
    for name, reason in {
        "Raises": "OSError: no model",
        "NotANumber": "DataError: NotANumber returned [nan, nan]: a prevalence has no negative",
        "Negative": "DataError: Negative returned [1.5, -0.5]: a prevalence has no negative",
        "Exits": "SystemExit: 7",
    }.items():
        assert sum(f": {name}: {reason}" in line for line in failed) == 1
    store = ResultStore.open(out)
    rows = store.read().select("method", "p_hat").unique().collect()
    estimates = {name: set(map(tuple, part["p_hat"])) for (name,), part in rows.group_by("method")}
    assert set(estimates) == {"CC", "Predicts", "Aggregates"}
    assert estimates["Predicts"] == {(0.9, 0.1)}
    assert estimates["Aggregates"] == {(0.25, 0.75)}
    assert (out / "leaderboard.html").exists()


def test_another_classifier_for_all_experiments(alone, quantshift, tmp_path):
    out, bayes = tmp_path / "out", "sklearn.naive_bayes:MultinomialNB"
    asked = ("bench", "concepts", *TINY, "--methods=CC", "--out", out, "--classifier", bayes)
    code, _, wrong = quantshift(*asked, "--set=classifier.options.alpha=0.5")
    assert (code, wrong) == (0, "")
    described = ResultStore.open(out).description["experiments"]["concept"]["classifier"]
    assert described == {"name": bayes, "options": {"alpha": 0.5}, "grid": {}}


def test_a_file_that_calls_sys_exit_is_one_line(alone, quantshift, tmp_path):
    """Before, the command ended at once with that code and without a word."""
    (tmp_path / "mine.py").write_text("import sys\nsys.exit(0)\n")
    added = ("--add", f"{tmp_path / 'mine.py'}:Mine")
    code, _, wrong = quantshift("bench", "concepts", *TINY, "--out", tmp_path / "out", *added)
    assert code == 2
    assert wrong.splitlines()[-1].endswith("mine.py': SystemExit: 0 (it calls sys.exit)")


@pytest.mark.slow
def test_a_bench_in_which_everything_fails_says_so(alone, quantshift, tmp_path):
    """Before: `error: ... has no results yet; run a suite first`, exit code 2."""
    mine = tmp_path / "mine.py"
    mine.write_text(HOSTILE)
    asked = ("bench", "concepts", *TINY, "--methods=IBU", "--out", tmp_path / "out")
    code, said, wrong = quantshift(*asked, "--add", f"{mine}:Exits")
    assert (code, wrong) == (1, "")
    assert said.splitlines()[-1] == "no method has results, so there is no leaderboard"


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
    monkeypatch.setattr("quantshift.cli.commands.research.bench.n_cores", lambda: 2)
    monkeypatch.setattr("quantshift.cli.commands.research.bench.load_average", lambda: 0.2)
    asked = ("bench", "paper", "--out", tmp_path / "out", "--dry-run", "--methods", "CC,SLD")
    code, said, _ = quantshift(*asked, "--jobs=2")
    assert code == 0
    assert "total" in said
    guess = (
        "a rough guess from runs on the small data sets of the package; tables with more items or "
        "classes can take many times as long"
    )
    assert said.splitlines()[-1].endswith(f"with 2 workers ({guess})")
    monkeypatch.setattr("quantshift.cli.commands.research.bench.load_average", lambda: 3.0)
    assert (
        quantshift(*asked, "--jobs=2")[1]
        .splitlines()[-1]
        .endswith(f"({guess}; longer, because other programs are busy: load 3.0, 2 cores)")
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
