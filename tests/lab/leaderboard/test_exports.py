"""What a reviewer takes from a leaderboard: pairs of methods, LaTeX tables, origin."""

import hashlib
import re

import numpy as np
import polars as pl
import pytest
from scipy import stats

from quantshift.errors import UserError
from quantshift.lab.experiments.executors import executor
from quantshift.lab.experiments.runner import run_experiments
from quantshift.lab.leaderboard.benchmark import plan_benchmark
from quantshift.lab.leaderboard.build import build_leaderboard
from quantshift.lab.leaderboard.contents import contents_of
from quantshift.lab.leaderboard.entrants import added_method
from quantshift.lab.leaderboard.origin import origin_facts
from quantshift.lab.leaderboard.pairs import COMPARED
from quantshift.lab.leaderboard.payload import distinct_marks
from quantshift.lab.report.page.provenance import Provenance
from quantshift.lab.results import ResultStore
from tests.lab.leaderboard.conftest import make_store

METHODS = ("ACC", "CC", "PACC", "MLPE")


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return make_store(
        tmp_path_factory.mktemp("store"),
        experiments=("prior", "covariate"),
        datasets={f"t{i}": 2 + i % 2 for i in range(8)},
        methods=METHODS,
        cells=3,
    )


@pytest.fixture(scope="module")
def board(store, tmp_path_factory):
    return build_leaderboard(store, tmp_path_factory.mktemp("board"))


@pytest.mark.slow
def test_pairs_are_tested_over_data_sets(board):
    scores = pl.read_csv(board.numbers).filter(pl.col("measure") == "rae")
    means = scores.group_by("method", "dataset").agg(pl.col("error").mean()).sort("dataset")
    errors = {m: means.filter(pl.col("method") == m)["error"].to_numpy() for m in METHODS}
    pairs = pl.read_csv(board.pairs)
    assert pairs.height == len(COMPARED) * 6
    for row in pairs.filter(pl.col("measure") == "rae").iter_rows(named=True):
        difference = errors[row["method"]] - errors[row["other"]]
        assert row["blocks"] == 8
        assert row["p_value"] == pytest.approx(stats.wilcoxon(difference).pvalue)
        assert row["difference"] == pytest.approx(difference.mean())


def test_one_latex_table_has_three_measures_with_enough_digits(board):
    text = board.tables.read_text()
    scores = pl.read_csv(board.numbers)
    assert text.count(r"\begin{table}") == 1
    assert "AE" in text
    assert "NKLD" in text
    for method in METHODS:
        line = next(line for line in text.splitlines() if line.startswith(f"{method} & "))
        cells = [re.sub(r"\\rlap\{.*?\}\$\}|\\textbf|[{}\\]", "", c) for c in line.split("&")]
        for place, measure in enumerate(COMPARED):
            own = scores.filter((pl.col("method") == method) & (pl.col("measure") == measure))
            shown = cells[1 + 2 * place].strip()
            assert float(shown) == pytest.approx(own["error"].mean(), abs=5.1e-5)
            assert len(shown.partition(".")[2]) >= 4
            spread = float(np.sqrt((own["standard_error"].to_numpy() ** 2).sum()) / len(own))
            assert float(cells[2 + 2 * place]) == pytest.approx(spread, abs=5.1e-5)
    assert r"\textbf" in next(line for line in text.splitlines() if line.startswith("ACC & "))
    # Eight data sets: the least possible p-value is 2 / 2^8, and 3 / 128 after the correction.
    assert r"\dag" in next(line for line in text.splitlines() if line.startswith("MLPE & "))


def test_few_data_sets_have_no_marks(tmp_path):
    store = make_store(tmp_path / "s", datasets={"a": 2, "b": 2}, methods=METHODS)
    text = build_leaderboard(store).tables.read_text()
    assert "Fewer than 6 data sets" in text
    assert "rlap" not in text


@pytest.mark.slow
def test_files_of_the_user_are_not_replaced(store, tmp_path):
    for name in ("leaderboard-pairs.csv", "leaderboard.tex"):
        (tmp_path / name).write_text("mine")
        with pytest.raises(UserError, match=f"{name} exists and was not made by quantshift"):
            build_leaderboard(store, tmp_path)
        (tmp_path / name).unlink()
    build_leaderboard(store, tmp_path)
    build_leaderboard(store, tmp_path)  # its own files are


def test_the_origin_names_classifier_grid_command_and_files(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "quantshift.lab.leaderboard.benchmark.suites", lambda: {"tables-prior": ("tables-prior",)}
    )
    file = tmp_path / "mine.py"
    file.write_text("from quantshift.quantifiers import PACC\nclass Mine(PACC):\n    pass\n")
    planned = plan_benchmark(
        ["tables-prior"],
        tmp_path / "out",
        methods=["CC"],
        added=[added_method(f"{file}:Mine")],
        overrides={
            "shift.train_repeats": 1,
            "shift.test_repeats": 1,
            "classifier.grid.class_weight": ["balanced", "none"],
        },
    )
    run_experiments(planned.run, executor(1), command="quantshift bench tables-prior --add x")
    board = build_leaderboard(tmp_path / "out")
    facts = dict(origin_facts(contents_of(ResultStore.open(tmp_path / "out")).provenance))
    assert facts["classifier"] == "logistic (C = 1)"
    assert facts["grid of the classifier"] == 'class_weight = ["balanced", null]'
    assert "enabled" in facts["settings chosen by"]
    assert facts["command"] == "quantshift bench tables-prior --add x"
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    assert facts["file of an added method"] == f"Mine: mine.py, SHA-256 {digest}"
    page = board.page.read_text()
    assert digest in page
    assert "quantshift bench tables-prior --add x" in page


def test_origins_that_differ_name_their_experiments_and_changed_files_are_told():
    runs = [
        {"files": {"Mine": {"file": "mine.py", "sha256": "a" * 64}}},
        {"files": {"Mine": {"file": "mine.py", "sha256": "b" * 64}}},
        {"files": {"Odd": 7}},
    ]
    experiments = {
        "one": {"classifier": {"name": "logistic", "options": {}, "grid": {"C": [1, 10]}}},
        "two": {"classifier": None, "methods": [{"name": "KDEyML", "grid": {"bandwidth": [0.1]}}]},
    }
    facts = origin_facts(Provenance({"experiments": experiments}, runs))
    assert ("classifier (one)", "logistic") in facts
    assert ("classifier (two)", "none: the data are posteriors") in facts
    assert ("grids of methods", "KDEyML: bandwidth = [0.1]") in facts
    text = dict(facts)["file of an added method"]
    assert text == f"Mine: mine.py, SHA-256 {'a' * 64} and later {'b' * 64}"


def test_marks_that_would_be_the_same_get_another_shape():
    looks = [{"name": str(i), "light": "#000", "shape": "M0,0Z"} for i in range(8)]
    shapes = [look["shape"] for look in distinct_marks(looks)]
    assert shapes[0] == "M0,0Z"
    assert len(set(shapes)) == 8
