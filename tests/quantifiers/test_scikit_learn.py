"""scikit-learn's own checks of estimators, and the options that follow its conventions."""

from functools import partial

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import SkipTestWarning
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_predict,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator

from quantshift import MLPE, PACC, SLD, GuardedSLD, ShiftedClassifier, performance
from quantshift.checks import expected_failed_checks
from quantshift.errors import UserError
from quantshift.quantifiers import EoQ, FusedSLD
from quantshift.quantifiers.base.catalogue import quantifiers

FEW = {"EoQ": {"n_members": 4, "keep": 2}}
QUANTIFIERS = [method(**FEW.get(name, {})) for name, method in quantifiers().items()]
OF_WEIGHTS = [f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")]
QUICK = ["CC", "HDx", "MLPE", "PACC"]


@pytest.mark.filterwarnings(f"ignore::{SkipTestWarning.__module__}.SkipTestWarning")
# Its tables have 12 rows, of which k-means finds fewer kinds than clusters.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "estimator",
    [
        pytest.param(one, marks=() if type(one).__name__ in QUICK else pytest.mark.slow)
        for one in [*QUANTIFIERS, ShiftedClassifier()]
    ],
    ids=lambda one: type(one).__name__,
)
def test_scikit_learn_s_checks_pass_or_cannot_apply(estimator):
    """`check_estimator` found 51 quantifiers with 6 to 15 failures each that nobody declared."""
    is_classifier = isinstance(estimator, ShiftedClassifier)
    reasons = {} if is_classifier else expected_failed_checks(estimator)
    done = check_estimator(estimator, expected_failed_checks=reasons, on_fail=None)
    failed = {one["check_name"]: one["exception"] for one in done if one["status"] == "failed"}
    assert failed == {}
    declared = {one["check_name"] for one in done if one["status"] == "xfail"}
    # These may pass: scores seldom change places, and a classifier may refuse what is no number.
    assert set(reasons) - declared <= {"check_dtype_object", *OF_WEIGHTS}


def test_the_number_of_features_is_known_after_a_fit_on_features_alone(items):
    X, y = items
    fitted = PACC(cv=2).fit(X, y)
    assert fitted.n_features_in_ == 2
    fitted.fit_posteriors(np.full((len(y), 2), 0.5), y)
    assert not hasattr(fitted, "n_features_in_")


def test_sparse_features_are_accepted_if_the_classifier_accepts_them():
    assert get_tags(SLD()).input_tags.sparse
    assert not get_tags(SLD(HistGradientBoostingClassifier())).input_tags.sparse


@pytest.fixture(scope="module")
def items():
    y = np.arange(60) % 2
    X = np.random.default_rng(0).normal(size=(60, 2)) + y[:, np.newaxis]
    return X, y


def test_folds_of_scikit_learn_and_none_are_understood(items):
    """Both were a TypeError from inside."""
    X, y = items
    given = np.arange(60) // 20
    assert np.array_equal(
        PACC(cv=KFold(3)).fit(X, y).predict(X), PACC(cv=given).fit(X, y).predict(X)
    )
    assert np.array_equal(PACC(cv=None).fit(X, y).predict(X), PACC(cv=5).fit(X, y).predict(X))


def test_a_list_of_splits_is_understood(items):
    """It was refused, although scikit-learn takes it wherever it takes a splitter."""
    X, y = items
    splits = list(KFold(3).split(X))
    given = PACC(cv=splits).fit(X, y).predict(X)
    assert np.array_equal(given, PACC(cv=KFold(3)).fit(X, y).predict(X))
    with pytest.raises(UserError, match="does not hold out every item once"):
        PACC(cv=splits[:2]).fit(X, y)


@pytest.mark.parametrize(
    "make",
    [
        lambda cv: FusedSLD(n_members=3, cv=cv),
        lambda cv: EoQ(PACC(cv=cv), n_members=3),
        lambda cv: EoQ(n_members=3, keep=2, selection="distribution", cv=cv),
        lambda cv: GuardedSLD(cv=cv),
    ],
)
def test_splits_are_understood_by_those_that_fit_on_some_of_the_items(make, items):
    """Members of ensembles see the items they drew: these have the folds they had."""
    X, y = items
    splits, folds = list(KFold(3, shuffle=True, random_state=0).split(X)), np.empty(60, np.int64)
    for number, (_, held_out) in enumerate(splits):
        folds[held_out] = number
    assert np.array_equal(make(splits).fit(X, y).predict(X), make(folds).fit(X, y).predict(X))


@pytest.mark.parametrize("estimator", [SLD(), make_pipeline(StandardScaler(), SLD())])
def test_cross_val_predict_is_refused_in_one_line(estimator, items):
    """It failed with an index that is out of bounds."""
    with pytest.raises(UserError, match="cross_val_predict needs a prediction for each item"):
        cross_val_predict(estimator, *items, cv=StratifiedKFold(3))


def test_cross_val_predict_of_a_classifier_that_uses_a_quantifier_works(items):
    assert cross_val_predict(ShiftedClassifier(), *items).shape == (60,)


@pytest.mark.parametrize(
    ("cv", "said"),
    [
        ("3", "cv of PACC must be a whole number of at least 2, .* or None, got '3'"),
        ([("a", "b")], "cannot split 60 items"),
        (2.5, "cv of PACC must be a whole number"),
        (ShuffleSplit(3), "does not hold out every item once"),
        (GroupKFold(3), "cannot split 60 items"),
    ],
)
def test_folds_that_are_none_are_one_line(cv, said, items):
    with pytest.raises(UserError, match=said):
        PACC(cv=cv).fit(*items)


@pytest.mark.parametrize("level", ["95", 95, None, float("nan")])
def test_a_level_that_is_none_is_one_line(level, items):
    """Text was a TypeError from inside."""
    fitted = PACC(cv=2).fit(*items)
    for call in (PACC.predict_interval, partial(performance, method="LEAP")):
        with pytest.raises(UserError, match="level of an interval must be between 0 and 1"):
            call(fitted, items[0], level=level, n_bootstrap=20)


def test_no_labels_are_one_line(items):
    with pytest.raises(UserError, match="MLPE requires y to be passed"):
        MLPE().fit(items[0], None)
