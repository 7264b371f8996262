"""The search for options: the samples and errors of the experiments, and scikit-learn's habits."""

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, StratifiedShuffleSplit

from quantshift import CC, PACC, SLD, PrevalenceScorer, PrevalenceSearchCV, PriorShift
from quantshift.classify.folds import stratified_folds
from quantshift.errors import UserError
from quantshift.quantifiers import EDx

RNG = np.random.default_rng(0)
Y = np.repeat(["ham", "spam"], [200, 100])
X = RNG.normal(1.2 * (Y == "spam")[:, np.newaxis], 1.0, (300, 2))
PROTOCOL = PriorShift(test_size=40, test_repeats=3, replace=True)


def test_errors_are_those_of_each_candidate_fitted_on_the_other_folds():
    grid = {"calibration": ["none", "sigmoid"], "classifier": [LogisticRegression(C=1e-4), None]}
    search = PrevalenceSearchCV(SLD(), grid, protocol=PROTOCOL).fit(X, Y)
    folds = stratified_folds((Y == "spam").astype(int), 3, seed=0)
    expected = []
    for calibration in grid["calibration"]:
        for classifier in grid["classifier"]:
            errors = []
            for fold in range(3):
                fitted = SLD(classifier, calibration=calibration).fit(
                    X[folds != fold], Y[folds != fold]
                )
                draws = list(PROTOCOL.samples(Y[folds == fold]))
                p_hat = fitted.predict(X[folds == fold], [draw.indices for draw in draws])
                truth = np.stack([draw.true_prevalence(fitted.classes_) for draw in draws])
                errors.append(np.abs(p_hat - truth).mean())
            expected.append(np.mean(errors))
    found = search.cv_results_
    assert_allclose(found["mean_test_error"], expected, atol=1e-12)
    assert search.best_index_ == int(np.argmin(expected))
    assert search.best_error_ == min(found["mean_test_error"])
    assert found["rank_test_error"][search.best_index_] == 1
    assert isinstance(found, pl.DataFrame)
    assert found["param_calibration"].to_list() == ["none", "none", "sigmoid", "sigmoid"]
    assert found["param_classifier"].to_list() == ["LogisticRegression(C=0.0001)", None] * 2


def test_the_best_is_fitted_on_all_items():
    search = PrevalenceSearchCV(SLD(), {"calibration": ["none", "sigmoid"]}).fit(X, Y)
    alone = SLD(**search.best_params_).fit(X, Y)
    assert_allclose(search.predict(X[:50]), alone.predict(X[:50]), atol=1e-12)
    assert_allclose(search.estimate(X[:50]).prevalence, alone.predict(X[:50]), atol=1e-12)
    interval = search.predict_interval(X[:50], n_bootstrap=20)
    assert_allclose(interval.low, alone.predict_interval(X[:50], n_bootstrap=20).low, atol=1e-12)
    assert search.predict_region(X[:50], n_bootstrap=20).contains(search.predict(X[:50]))
    assert search.classes_.tolist() == ["ham", "spam"]


def test_methods_and_classifiers_are_searched_together():
    grid = {
        "estimator": [CC(), PACC(), SLD(), EDx()],
        "classifier": [LogisticRegression(), RandomForestClassifier(20, random_state=0)],
    }
    with pytest.raises(UserError, match="Invalid parameter 'classifier' for estimator EDx"):
        PrevalenceSearchCV(CC(), grid).fit(X, Y)
    grids = [{**grid, "estimator": grid["estimator"][:3]}, {"estimator": [EDx()]}]
    search = PrevalenceSearchCV(CC(), grids).fit(X, Y)
    assert search.cv_results_.height == 7
    assert not isinstance(search.best_estimator_, CC)  # it ignores how the classifier errs


def test_a_classifier_is_fitted_once_for_all_methods_that_share_it(monkeypatch):
    fits = []
    fit = LogisticRegression.fit
    monkeypatch.setattr(LogisticRegression, "fit", lambda *a, **k: fits.append(1) or fit(*a, **k))
    grid = {"estimator": [PACC(), SLD()], "classifier": [LogisticRegression()]}
    PrevalenceSearchCV(PACC(), grid, cv=2, refit=False).fit(X, Y)
    assert len(fits) == 2 * (1 + 5)  # each part: one for new items, five out of fold


def test_one_part_may_be_held_out():
    split = StratifiedShuffleSplit(1, test_size=0.4, random_state=0)
    search = PrevalenceSearchCV(SLD(), {"calibration": ["none", "beta"]}, cv=split).fit(X, Y)
    columns = [name for name in search.cv_results_.columns if name.startswith("split")]
    assert columns == ["split0_test_error"]


def test_three_classes_and_another_measure():
    y = np.repeat([0, 1, 2], 60)
    features = np.eye(3)[y] + np.random.default_rng(1).normal(0, 0.5, (180, 3))
    grid = {"classifier__C": [1e-5, 1.0]}
    search = PrevalenceSearchCV(PACC(LogisticRegression()), grid, error="rae").fit(features, y)
    assert search.best_params_ == {"classifier__C": 1.0}
    assert search.cv_results_["param_classifier__C"].to_list() == [1e-5, 1.0]


def test_grid_search_takes_the_scorer():
    scorer = PrevalenceScorer("ae", protocol=PROTOCOL)
    search = GridSearchCV(
        SLD(), {"calibration": ["none", "sigmoid"]}, scoring=scorer, cv=StratifiedKFold(3)
    ).fit(X, Y)
    fitted = SLD().fit(X, Y)
    draws = list(PROTOCOL.samples(Y))
    truth = np.stack([draw.true_prevalence(fitted.classes_) for draw in draws])
    p_hat = fitted.predict(X, [draw.indices for draw in draws])
    assert scorer(fitted, X, Y) == pytest.approx(-np.abs(p_hat - truth).mean())
    assert search.best_params_["calibration"] in ("none", "sigmoid")


def test_a_scorer_says_what_it_is_and_what_it_cannot_take():
    assert repr(PrevalenceScorer("rae")) == "PrevalenceScorer('rae')"
    with pytest.raises(UserError, match="error of PrevalenceScorer must be the name of an error"):
        PrevalenceScorer("aee")
    alone = np.flatnonzero(Y[0] == Y)
    with pytest.raises(UserError, match=r"no held-out item is of class .*StratifiedKFold"):
        PrevalenceScorer()(SLD().fit(X, Y), X[alone], Y[alone])


def test_it_is_an_estimator_of_scikit_learn():
    search = PrevalenceSearchCV(SLD(), {"calibration": ["none"]}, error="rae")
    again = clone(search)
    assert again.get_params()["error"] == "rae"
    again.set_params(estimator__prior=2.0)
    assert again.fit(X, Y).best_estimator_.prior == 2.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"error": "aee"}, "error of PrevalenceSearchCV must be the name of an error measure"),
        ({"estimator": LogisticRegression()}, "estimator of PrevalenceSearchCV must be a quantif"),
        ({"protocol": "prior"}, "must be a protocol such as PriorShift"),
        ({"param_grid": []}, "param_grid of PrevalenceSearchCV is empty"),
        ({"param_grid": {"calibration": "none"}}, "param_grid of PrevalenceSearchCV: "),
        ({"param_grid": {"calibre": ["none"]}}, "Invalid parameter 'calibre'"),
        ({"random_state": None}, "random_state of PrevalenceSearchCV must be a whole number"),
    ],
)
def test_what_cannot_be_searched_is_one_line(options, message):
    with pytest.raises(UserError, match=message):
        PrevalenceSearchCV(**{"estimator": SLD(), "param_grid": {}, **options}).fit(X, Y)


def test_what_the_best_can_do_the_search_can_do():
    search = PrevalenceSearchCV(SLD(), {"calibration": ["none"]}).fit(X, Y)
    best = search.best_estimator_
    assert search.predict_frame(X).equals(best.predict_frame(X))
    assert np.array_equal(search.predict(X), best.predict(X))
    assert np.array_equal(search.estimate(X).prevalence, best.predict(X))


def test_without_refit_nothing_is_estimated():
    search = PrevalenceSearchCV(SLD(), {}, refit=False).fit(X, Y)
    with pytest.raises(UserError, match="set refit=True"):
        search.predict(X)
