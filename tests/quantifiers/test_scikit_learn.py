"""scikit-learn's own checks of estimators, and the options that follow its conventions."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import SkipTestWarning
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator

from quantshift import CC, MLPE, PACC, SLD, estimate_accuracy, predict_interval
from quantshift.errors import UserError

SHARES = "predict returns the shares of the classes in the sample, not a value for each item"
REASONS = {
    "check_estimator_sparse_array": SHARES,
    "check_estimator_sparse_matrix": SHARES,
    "check_methods_sample_order_invariance": SHARES,
    "check_methods_subset_invariance": SHARES,
}
FEW = {
    "check_fit2d_1feature": "its ten items are too few for five folds, which the error says; one "
    "feature is enough"
}


@pytest.mark.slow
@pytest.mark.filterwarnings(f"ignore::{SkipTestWarning.__module__}.SkipTestWarning")
@pytest.mark.parametrize(
    ("quantifier", "reasons"),
    [
        (CC(), REASONS),
        (PACC(), {**REASONS, **FEW}),
        (SLD(), {**REASONS, **FEW}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_scikit_learn_s_checks_pass_or_cannot_apply(quantifier, reasons):
    """Ten failed: `n_features_in_` was not set, and sparse input was said to be refused."""
    done = check_estimator(quantifier, expected_failed_checks=reasons, on_fail=None)
    failed = {check["check_name"]: check["exception"] for check in done}
    statuses = {check["check_name"]: check["status"] for check in done}
    assert {name: failed[name] for name, said in statuses.items() if said == "failed"} == {}
    assert {name for name, said in statuses.items() if said == "xfail"} == set(reasons)


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


@pytest.mark.parametrize(
    ("cv", "said"),
    [
        ("3", "is not a number of folds; give a whole number"),
        (2.5, "is not a number of folds; give a whole number"),
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
    for call in (predict_interval, estimate_accuracy):
        with pytest.raises(UserError, match="level of an interval must be between 0 and 1"):
            call(fitted, items[0], level=level, n_bootstrap=20)


def test_no_labels_are_one_line(items):
    with pytest.raises(UserError, match="MLPE requires y to be passed"):
        MLPE().fit(items[0], None)
