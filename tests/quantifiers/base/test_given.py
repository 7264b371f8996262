"""What users give to functions that take a quantifier."""

import numpy as np
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from quantshift import (
    PACC,
    SLD,
    DiagonalDisplay,
    IntervalDisplay,
    PrevalenceScorer,
    PrevalenceSearchCV,
    PriorShift,
    ShiftedClassifier,
    evaluate,
    performance,
    plan_judge,
    save,
    shift_test,
    watch,
)
from quantshift.checks import check_quantifier
from quantshift.errors import UserError
from quantshift.quantifiers import wrap
from quantshift.quantifiers.base.given import given_quantifier
from quantshift.quantifying import save_model

TAKEN_BY = {
    "evaluate": lambda q, X, y: evaluate(q, PriorShift(), X, y),
    "performance": lambda q, X, y: performance(q, X),
    "shift_test": lambda q, X, y: shift_test(q, X),
    "save": lambda q, X, y: save(q, "never.skops"),
    "check_quantifier": lambda q, X, y: check_quantifier(q),
    "PrevalenceSearchCV": lambda q, X, y: PrevalenceSearchCV(q, {}).fit(X, y),
    "PrevalenceScorer": lambda q, X, y: PrevalenceScorer()(q, X, y),
    "DiagonalDisplay": lambda q, X, y: DiagonalDisplay.from_estimator(q, X, y),
    "IntervalDisplay": lambda q, X, y: IntervalDisplay.from_estimator(q, X),
}


@pytest.fixture(scope="module")
def items():
    y = np.arange(60) % 2
    return np.random.default_rng(0).normal(size=(60, 2)) + y[:, np.newaxis], y


@pytest.mark.parametrize("name", TAKEN_BY)
def test_a_pipeline_that_ends_in_a_quantifier_is_one_line_everywhere(name, items):
    """These were an AttributeError from inside."""
    pipeline = make_pipeline(StandardScaler(), SLD()).fit(*items)
    with pytest.raises(UserError, match=rf"{name} takes a quantifier, not a Pipeline: put the"):
        TAKEN_BY[name](pipeline, *items)


def test_the_advice_about_pipelines_works(items):
    X, y = items
    inside = SLD(make_pipeline(StandardScaler(), LogisticRegression())).fit(X, y)
    assert inside.predict_interval(X, n_bootstrap=20).prevalence.shape == (2,)


def test_the_best_of_a_search_is_taken(items):
    search = PrevalenceSearchCV(PACC(), {"cv": [2, 3]}).fit(*items)
    assert given_quantifier(search, "evaluate") is search.best_estimator_
    assert evaluate(search, PriorShift(test_size=10, test_repeats=1), *items).height > 0


@pytest.mark.parametrize("wrong", [SLD, LogisticRegression(), None, "SLD"])
def test_what_is_no_quantifier_is_one_line(wrong):
    with pytest.raises(UserError, match="evaluate takes a quantifier"):
        given_quantifier(wrong, "evaluate")


def test_a_quantifier_is_no_model_of_train(items, tmp_path):
    """It was a TypeError about dataclasses."""
    with pytest.raises(UserError, match="save_model takes what `train` returned, got PACC"):
        save_model(PACC().fit(*items), tmp_path / "model")


@pytest.mark.parametrize(
    "options",
    [
        {"n_bootstrap": "a"},
        {"n_bootstrap": 2.5},
        {"n_bootstrap": 1},
        {"simultaneous": "no"},
        {"random_state": None},
        {"level": 95},
        {"of": "item"},
    ],
)
def test_options_of_intervals_are_checked(options, items):
    """Some were a TypeError from numpy, and `random_state=None` gave another answer each time."""
    fitted = PACC(cv=2).fit(*items)
    with pytest.raises(UserError) as refused:
        fitted.predict_interval(items[0], **options)
    assert next(iter(options)) in str(refused.value)


def test_what_no_verb_can_take_is_one_line(items):
    """These were attribute errors from inside, or answers about nothing."""
    X, y = items
    with pytest.raises(NotFittedError, match="ShiftedClassifier instance is not fitted yet"):
        performance(ShiftedClassifier(), X)
    with pytest.raises(UserError, match="watch takes an answer of quantify or judge, got int"):
        watch(3)
    with pytest.raises(UserError, match=r"wrap takes a class with fit and predict.*got 3"):
        wrap(3)
    with pytest.raises(UserError, match="replace of PriorShift must be"):
        evaluate(SLD().fit(X, y), PriorShift(test_size=5, replace="no"), X, y)
    for number in (0, 2.5):
        with pytest.raises(UserError, match="'n_labels' must be a whole number of at least 1"):
            plan_judge(pl.DataFrame({"verdict": y}), verdict="verdict", n_labels=number)
