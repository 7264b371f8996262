"""A new error measure is one function and one record: evaluations, runs, reports, leaderboards."""

import numpy as np
import polars as pl
import pytest

from quantshift import CC, evaluate
from quantshift.errors import UserError
from quantshift.lab.experiments.documents.loading import load_experiment
from quantshift.lab.leaderboard import build_leaderboard
from quantshift.lab.report import build_report
from quantshift.lab.results.store import ResultStore
from quantshift.lab.shifts import PriorShift
from quantshift.metrics import MEASURES, Measure, register_measure, withdraw_measure


def worst(p_true, p_hat):
    """Largest error: the maximum over classes of |p_hat - p_true|."""
    return np.abs(np.asarray(p_hat) - np.asarray(p_true)).max(axis=-1)


WORST = Measure("worst", "largest error", worst)

TINY = (
    *("--profile", "quick", "--documents", 800, "--jobs", 1),
    *("--set", "shift.train_prevalences=[0.3, 0.5]", "--set", "shift.test_prevalences=[0.2, 0.9]"),
    *("--set", "shift.train_size=100", "--set", "shift.test_size=50"),
    *("--set", "shift.train_repeats=1", "--set", "shift.test_repeats=2"),
    *("--set", 'quantifiers=["CC", "PCC"]'),
)


@pytest.fixture
def measure():
    register_measure(WORST)
    yield
    withdraw_measure(WORST)


def test_evaluations_have_a_column_of_it(measure):
    y = np.arange(200) % 2
    posteriors = np.column_stack([1 - y, y]) * 0.8 + 0.1
    quantifier = CC().fit_posteriors(posteriors, y)
    shift = PriorShift(test_prevalences=(0.1, 0.5), test_size=20, test_repeats=2)
    frame = evaluate(quantifier, shift, posteriors, y, posteriors=True)
    assert frame["worst"].to_list() == frame["ae"].to_list()  # of two classes both err alike
    alone = evaluate(quantifier, shift, posteriors, y, posteriors=True, measures=["worst"])
    assert {"worst", "ae"} & set(alone.columns) == {"worst"}


def test_runs_select_by_it_and_reports_and_leaderboards_show_it(measure, quantshift, tmp_path):
    runs = tmp_path / "runs"
    select = ("--set", "selection.measure=worst")
    code, _, wrong = quantshift("run", "prior", "--out", runs, *TINY, *select)
    assert (code, wrong) == (0, "")
    described = ResultStore.open(runs).description["experiments"]["prior"]
    assert described["selection"]["measure"] == "worst"
    code, _, wrong = quantshift("report", runs, "--measure", "worst", "--formats", "md")
    assert (code, wrong) == (0, "")
    text = (runs / "report" / "tables" / "prior.md").read_text()
    assert "mean largest error by degree" in text
    build_report(runs, tmp_path / "plain", formats=("md",))
    of_two_classes = (tmp_path / "plain" / "tables" / "prior.md").read_text()
    assert text.replace("largest", "absolute") == of_two_classes
    scores = pl.read_csv(build_leaderboard(runs).numbers)
    assert set(MEASURES) - {"nmd", "rnod"} <= set(scores["measure"])
    assert "worst" in set(scores["measure"])


def test_without_registration_it_is_unknown():
    with pytest.raises(UserError, match="unknown error measure 'worst'"):
        load_experiment("prior", overrides={"selection.measure": "worst"})


@pytest.mark.parametrize("name", ["ae", "not a name", ""])
def test_a_name_is_new_and_can_be_written(name):
    with pytest.raises(UserError, match="is taken or no name"):
        register_measure(Measure(name, "largest error", worst))
