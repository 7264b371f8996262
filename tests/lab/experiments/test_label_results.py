"""Experiments with several labels: rows, errors, resuming, report and leaderboard."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from quantshift import PCC
from quantshift.errors import DataError, UserError
from quantshift.lab.analysis import with_errors
from quantshift.lab.data import generate_labelled_items
from quantshift.lab.experiments import planned
from quantshift.lab.experiments.label_results import (
    EACH_LABEL,
    NATURAL,
    SUITE,
    LabelProblem,
    LabelProtocols,
    run_label_experiments,
)
from quantshift.lab.leaderboard import build_leaderboard
from quantshift.lab.leaderboard.published import published_numbers
from quantshift.lab.leaderboard.scores import score_table
from quantshift.lab.report import build_report
from quantshift.lab.results.completeness import status
from quantshift.lab.results.verification import verify
from quantshift.metrics import MEASURES
from quantshift.multilabel import LabelByLabel, LabelTable, SetsAsClasses

pytestmark = pytest.mark.slow

PROTOCOLS = LabelProtocols(size=50, points=3, repeats=2, n_natural=8)


@pytest.fixture(scope="module")
def problem():
    train, test = generate_labelled_items(300), generate_labelled_items(400, seed=1)
    return LabelProblem("tickets", train.X, train.labels, test.X, test.labels)


class Counting(LabelByLabel):
    fits = 0

    def fit(self, X, Y, sample_weight=None):
        Counting.fits += 1
        return super().fit(X, Y, sample_weight)


@pytest.fixture(scope="module")
def store(problem, tmp_path_factory):
    methods = {"PCC": Counting(PCC()), "SLD": LabelByLabel()}
    return run_label_experiments([problem], methods, tmp_path_factory.mktemp("out"), PROTOCOLS)


def test_a_row_is_a_label_of_a_sample(problem, store):
    rows = store.read([EACH_LABEL], methods=["PCC"]).collect()
    assert len(rows) == 5 * 3 * 2 * 5
    assert rows["label"].to_list()[:5] == problem.labels.names.tolist()
    is_set = rows.filter(pl.col("label") == pl.col("set_label"))
    assert is_set["p_true"].list.get(1).to_list() == is_set["set_share"].to_list()
    prior = dict(zip(problem.labels.names, problem.labels.shares(), strict=True))
    for row in rows.iter_rows(named=True):
        assert row["degree"] == pytest.approx(row["p_true"][1] - prior[row["label"]], abs=0.051)
    natural = store.read([NATURAL], methods=["PCC"]).collect()
    assert len(natural) == 8 * 5
    assert set(natural["set_label"]) == {""}


def test_errors_of_rows_are_those_of_labels(problem, store):
    samples = dict(PROTOCOLS.samples(problem.labels_test))
    fitted = LabelByLabel(PCC()).fit(problem.X, problem.labels.has)
    for experiment, index in samples.items():
        p_hat = fitted.predict(problem.X_test, index)
        errors = np.abs(p_hat - problem.labels_test.has[index].mean(axis=1))
        rows = with_errors(store.read([experiment], methods=["PCC"]).collect())
        np.testing.assert_allclose(rows["error"].to_numpy(), errors.ravel())


def test_what_is_there_is_not_computed_again(problem, store):
    before = Counting.fits
    methods = {"PCC": Counting(PCC()), "SLD": LabelByLabel()}
    again = run_label_experiments([problem], methods, store.path, PROTOCOLS)
    assert Counting.fits == before
    assert not verify(again)
    with pytest.raises(UserError):  # other samples do not go into the same store
        run_label_experiments([problem], methods, store.path, replace(PROTOCOLS, repeats=3))


def test_report_and_leaderboard_show_the_experiments(store, tmp_path):
    build_report(store, tmp_path / "report", formats=["tex", "csv"])
    written = [path.name for path in (tmp_path / "report").rglob("*.tex")]
    assert any(EACH_LABEL in name for name in written)
    assert (status(store, planned(store.description))["to_do"] == 0).all()
    board = build_leaderboard(store, tmp_path)
    numbers = pl.read_csv(board.numbers)
    assert set(numbers["suite"]) == {SUITE}
    rows = with_errors(store.read([EACH_LABEL], methods=["SLD"]).collect())
    found = numbers.filter(
        (pl.col("experiment") == EACH_LABEL)
        & (pl.col("method") == "SLD")
        & (pl.col("measure") == "ae")
    )
    assert found["error"].to_list() == pytest.approx([rows["error"].mean()])


def test_published_results_stand_beside_ours(problem, tmp_path):
    named = replace(problem, name="emotions")
    methods = {"PCC by label": LabelByLabel(PCC())}
    store = run_label_experiments([named], methods, tmp_path / "store", PROTOCOLS)
    scores = score_table(store)
    published = published_numbers(store, scores)
    assert len(published) == 2 * 2 * 21  # experiments, measures, published methods
    assert set(published["measure"]) <= set(MEASURES)
    assert (published["source"].str.len_chars() > 0).all()
    same = published.filter(pl.col("same_as") == "PCC by label", pl.col("measure") == "ae")
    assert same["value"].to_list() == [0.085, 0.033]
    ours = scores.filter(pl.col("measure") == "ae").sort("experiment")["error"].to_list()
    assert same.sort("experiment")["ours"].to_list() == ours


def test_a_method_that_cannot_be_fitted_is_left_out_with_a_warning(problem, tmp_path):
    few = replace(problem, X=problem.X[:30], labels=problem.labels.take(np.arange(30)))
    methods = {"PCC": LabelByLabel(PCC()), "sets": SetsAsClasses(fewest=30)}
    with pytest.warns(UserWarning, match="tickets: without sets: no set of labels is on 30 items"):
        store = run_label_experiments([few], methods, tmp_path / "both", PROTOCOLS)
    assert store.read([NATURAL]).collect()["method"].unique().to_list() == ["PCC"]
    with pytest.raises(DataError, match="no set of labels is on 30 items"):
        run_label_experiments([few], {"sets": methods["sets"]}, tmp_path / "one", PROTOCOLS)


def test_labels_of_training_and_test_must_agree(problem):
    other = LabelTable(problem.labels_test.has, problem.labels.names[::-1])
    with pytest.raises(DataError, match="tickets: the labels of training and test items differ"):
        replace(problem, labels_test=other)
