"""`ShiftedClassifier`: closed forms, scikit-learn's conventions, and when it must not adapt."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from scipy.stats import norm
from sklearn import config_context
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import DataConversionWarning, SkipTestWarning
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator

from quantshift import PACC, GuardedSLD
from quantshift.errors import DataError, UserError
from quantshift.measuring import NotAdaptedWarning, ShiftedClassifier
from quantshift.measuring.adapting.adaptation import STRONG
from quantshift.quantifiers import HDx

APART = 2.0


def gaussian(n, p, seed, n_noise=1):
    """Two classes N(-1, 1) and N(1, 1) along the first column; the share of the second is p."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], [n - round(p * n), round(p * n)])
    X = rng.normal(size=(n, 1 + n_noise))
    X[:, 0] += APART * (y - 0.5)
    order = rng.permutation(n)
    return X[order], y[order]


def bayes(X, p):
    """The posterior of the second class in closed form."""
    joint = np.column_stack([(1 - p) * norm.pdf(X[:, 0], -1), p * norm.pdf(X[:, 0], 1)])
    return joint[:, 1] / joint.sum(axis=1)


@pytest.fixture(scope="module")
def declared():
    return ShiftedClassifier(assume="prior").fit(*gaussian(2000, 0.5, 0))


@pytest.fixture(scope="module")
def undeclared():
    return ShiftedClassifier().fit(*gaussian(1500, 0.5, 0))


def test_before_adapting_it_is_the_classifier(declared):
    X, y = gaussian(2000, 0.5, 0)
    plain = LogisticRegression(max_iter=1000).fit(X, y)
    np.testing.assert_array_equal(
        clone(declared).fit(X, y).predict_proba(X), plain.predict_proba(X)
    )


@pytest.mark.parametrize("p", [0.05, 0.3, 0.9])
def test_adapted_posteriors_are_those_of_bayes_rule(declared, p):
    X, y = gaussian(4000, p, 1)
    adapted = declared.adapted(None).adapt(X)
    assert adapted.adaptation_.prevalence[1] == pytest.approx(p, abs=0.02)
    error = np.abs(adapted.predict_proba(X)[:, 1] - bayes(X, p))
    assert error.mean() < 0.02
    as_trained = np.abs(adapted.adapted(None).predict_proba(X)[:, 1] - bayes(X, p))
    assert as_trained.mean() > 3 * error.mean()
    gain = (adapted.predict(X) == y).mean() - (adapted.adapted(None).predict(X) == y).mean()
    # Bayes' accuracy minus that of the border at 0 (training), of two normal classes.
    border = np.log((1 - p) / p) / APART
    best = (1 - p) * norm.cdf(border + 1) + p * norm.cdf(1 - border)
    assert gain == pytest.approx(best - norm.cdf(1), abs=0.015)


def test_evidence_adapts_and_a_change_of_features_does_not(undeclared):
    X, _ = gaussian(1500, 0.95, 2)
    adapted = undeclared.adapted(None).adapt(X)
    assert adapted.adaptation_.reason == "evidence"
    assert adapted.adaptation_.strength == STRONG
    moved = gaussian(1500, 0.5, 3)[0] + [0.0, 2.0]
    with pytest.warns(NotAdaptedWarning, match="more than the shares"):
        adapted.adapt(moved)
    assert adapted.adaptation_.reason == "refuted"
    np.testing.assert_array_equal(
        adapted.predict_proba(moved), adapted.classifier_.predict_proba(moved)
    )
    np.testing.assert_array_equal(adapted.predict(moved), adapted.classifier_.predict(moved))


def test_selected_rows_are_not_taken_for_changed_shares(undeclared):
    """Rows picked by their score: P(Y|X) stays, and the correction would be wrong."""
    X, y = gaussian(6000, 0.5, 4)
    chosen = np.random.default_rng(0).random(len(y)) < 1 / (1 + np.exp(-4 * X[:, 0]))
    (found,) = undeclared.adaptations(X, [np.flatnonzero(chosen)[:1500]])
    assert found.reason != "evidence"
    assert found.strength <= 0.5


def test_batches_are_classified_once_and_are_as_one_by_one(undeclared):
    X, _ = gaussian(1200, 0.7, 5)
    halves = [np.arange(600), np.arange(600, 1200)]
    together = undeclared.adaptations(X, halves)
    for rows, found in zip(halves, together, strict=True):
        (alone,) = undeclared.adaptations(X[rows], [np.arange(600)])
        np.testing.assert_allclose(found.prevalence, alone.prevalence, atol=1e-6)
        assert found.reason == alone.reason
    assert undeclared.adaptation_ is None


def test_weights_are_repeated_rows(declared):
    X, _ = gaussian(400, 0.8, 6)
    weights = np.arange(400) % 3
    weighted = declared.adaptations(X, [np.arange(400)], weights)[0].prevalence
    repeated = np.repeat(X, weights, axis=0)
    np.testing.assert_allclose(
        weighted,
        declared.adaptations(repeated, [np.arange(len(repeated))])[0].prevalence,
        atol=1e-6,
    )


@pytest.mark.slow
def test_several_classes_sparse_rows_and_labels_of_any_kind():
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b", "c"], 400)
    centres = {"a": [0, 0], "b": [2.5, 0], "c": [0, 2.5]}
    X = rng.normal(size=(1200, 2)) + np.array([centres[label] for label in y])
    p = np.array([0.7, 0.2, 0.1])
    y_new = np.repeat(["a", "b", "c"], (1000 * p).astype(int))
    X_new = rng.normal(size=(1000, 2)) + np.array([centres[label] for label in y_new])
    dense = ShiftedClassifier(assume="prior").fit(X, y).adapt(X_new)
    assert dense.classes_.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(dense.adaptation_.prevalence, p, atol=0.03)
    assert (dense.predict(X_new) == y_new).mean() > (
        dense.adapted(None).predict(X_new) == y_new
    ).mean()
    sparse = ShiftedClassifier(assume="prior").fit(csr_matrix(X), y).adapt(csr_matrix(X_new))
    np.testing.assert_allclose(sparse.predict_proba(csr_matrix(X_new)), dense.predict_proba(X_new))


@pytest.mark.parametrize("quantifier", [PACC(), HDx()], ids=lambda q: type(q).__name__)
def test_any_quantifier_gives_the_shares(quantifier):
    X, y = gaussian(800, 0.5, 0)
    new = gaussian(800, 0.8, 7)[0]
    fitted = ShiftedClassifier(quantifier=quantifier, assume="prior").fit(X, y)
    (found,) = fitted.adaptations(new, [np.arange(len(new))])
    alone = clone(quantifier).fit(X, y).predict(new)
    np.testing.assert_allclose(found.prevalence, alone, atol=1e-9)


def test_a_guarded_method_of_the_user_decides():
    guard = GuardedSLD(classifiers=[LogisticRegression(), HistGradientBoostingClassifier()])
    fitted = ShiftedClassifier(quantifier=guard).fit(*gaussian(800, 0.5, 0))
    (found,) = fitted.adaptations(gaussian(800, 0.95, 8)[0], [np.arange(800)])
    assert found.reason in ("evidence", "no_evidence")
    assert found.prevalence[1] == pytest.approx(0.95, abs=0.04)


def test_a_fitted_classifier_is_used_as_it_is():
    X, y = gaussian(1000, 0.5, 0)
    labels = np.array(["ham", "spam"])[y]
    model = LogisticRegression().fit(X[:500], labels[:500])
    fitted = ShiftedClassifier(FrozenEstimator(model)).fit(X[500:], labels[500:])
    np.testing.assert_array_equal(fitted.predict_proba(X), model.predict_proba(X))
    (found,) = fitted.adaptations(gaussian(800, 0.95, 9)[0], [np.arange(800)])
    assert found.prevalence[1] == pytest.approx(0.95, abs=0.04)


def test_texts_are_tested_by_the_features_of_the_pipeline():
    rng = np.random.default_rng(0)
    words = np.array(["good", "fine", "bad", "poor", "film", "plot", "cast"])
    share = {1: [4, 3, 1, 1, 2, 2, 2], 0: [1, 1, 4, 3, 2, 2, 2]}

    def texts(codes):
        return [" ".join(rng.choice(words, 8, p=np.array(share[c]) / sum(share[c]))) for c in codes]

    y = np.arange(600) % 2
    pipeline = make_pipeline(CountVectorizer(), LogisticRegression())
    fitted = ShiftedClassifier(pipeline).fit(texts(y), y)
    new = texts(np.arange(600) % 10 > 0)
    (found,) = fitted.adaptations(new, [np.arange(600)])
    assert found.p_doubles is not None
    assert found.prevalence[1] == pytest.approx(0.9, abs=0.05)


def test_rows_with_gaps_cannot_be_tested_and_stay_as_trained():
    X, y = gaussian(600, 0.5, 0)
    X[::7, 1] = np.nan
    new = gaussian(600, 0.95, 3)[0]
    fitted = ShiftedClassifier(HistGradientBoostingClassifier(max_iter=20)).fit(X, y)
    with pytest.warns(NotAdaptedWarning, match='assume="prior"'):
        fitted.adapt(new)
    assert fitted.adaptation_.p_doubles is None
    assert fitted.adaptation_.strength == 0


def test_declared_covariate_shift_stays_as_trained_without_a_warning():
    X, y = gaussian(400, 0.5, 0)
    fitted = ShiftedClassifier(assume="covariate").fit(X, y).adapt(gaussian(400, 0.9, 1)[0])
    np.testing.assert_array_equal(fitted.predict_proba(X), fitted.classifier_.predict_proba(X))


def test_a_target_is_reached_on_the_rows_to_which_it_is_adapted():
    X, y = gaussian(4000, 0.2, 10)
    for target in ("precision", "recall"):
        fitted = ShiftedClassifier(assume="prior", **{target: 0.9}).fit(*gaussian(2000, 0.5, 0))
        before = fitted.threshold_
        fitted.adapt(X)
        assert fitted.threshold_ != before
        predicted = fitted.predict(X) == 1
        hits = (predicted & (y == 1)).sum()
        reached = hits / (predicted.sum() if target == "precision" else (y == 1).sum())
        assert reached == pytest.approx(0.9, abs=0.04)


def test_costs_move_the_border_to_where_bayes_rule_has_it():
    costs = [[0, 1], [4, 0]]
    fitted = ShiftedClassifier(assume="prior", costs=costs).fit(*gaussian(2000, 0.5, 0))
    X, _ = gaussian(3000, 0.3, 11)
    predicted = fitted.adapt(X).predict(X)
    assert (predicted == (bayes(X, 0.3) >= 0.2)).mean() > 0.97


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"assume": "label"}, "'auto', 'prior' or 'covariate', got 'label'"),
        ({"costs": [[1]]}, "do not fit 2 classes"),
        ({"costs": [[0, 1], [1, 0]], "recall": 0.5}, "one of costs, precision and recall"),
        ({"precision": 2.0}, "precision of Shifted.* above 0 and of at most 1"),
        ({"recall": 0.9, "positive": "yes"}, "not one of the classes"),
        ({"cv": [(np.arange(10), np.arange(10, 20))]}, "does not hold out every item once"),
    ],
)
def test_wrong_options_are_one_line(options, said):
    with pytest.raises(UserError, match=said):
        ShiftedClassifier(**options).fit(*gaussian(60, 0.5, 0))


def test_the_positive_class_can_be_named():
    X, y = gaussian(600, 0.5, 0)
    labels = np.array(["yes", "no"])[y]
    fitted = ShiftedClassifier(assume="prior", recall=0.95, positive="yes").fit(X, labels)
    caught = (fitted.predict(X) == "yes")[labels == "yes"].mean()
    assert caught == pytest.approx(0.95, abs=0.03)


def test_it_works_in_a_pipeline_and_a_cross_validation():
    X, y = gaussian(400, 0.5, 0)
    model = make_pipeline(StandardScaler(), ShiftedClassifier(assume="prior"))
    assert cross_val_score(model, X, y, cv=3).mean() > 0.8
    names = ["a", "b"]
    fitted = ShiftedClassifier(assume="prior").fit(pd.DataFrame(X, columns=names), y)
    assert fitted.feature_names_in_.tolist() == names


def test_sample_weights_are_routed():
    X, y = gaussian(300, 0.5, 0)
    weights = 1.0 + (np.arange(300) % 3)
    with config_context(enable_metadata_routing=True):
        inner = LogisticRegression().set_fit_request(sample_weight=True)
        model = ShiftedClassifier(inner, assume="prior").set_fit_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        routed = make_pipeline(scaler, model).fit(X, y, sample_weight=weights)
        assert "sample_weight" in model.get_metadata_routing().consumes("fit", ["sample_weight"])
    alone = ShiftedClassifier(LogisticRegression(), assume="prior")
    alone.fit(StandardScaler().fit_transform(X), y, sample_weight=weights)
    np.testing.assert_allclose(
        routed.predict_proba(X), alone.predict_proba(StandardScaler().fit_transform(X))
    )


def test_tags_are_those_of_the_classifier():
    assert get_tags(ShiftedClassifier()).input_tags.sparse
    boosting = ShiftedClassifier(HistGradientBoostingClassifier())
    assert not get_tags(boosting).input_tags.sparse
    assert get_tags(boosting).input_tags.allow_nan


@pytest.mark.slow
@pytest.mark.filterwarnings(f"ignore::{SkipTestWarning.__module__}.SkipTestWarning")
@pytest.mark.parametrize("assume", ["prior", pytest.param("auto", marks=pytest.mark.slow)])
def test_scikit_learn_s_checks_pass(assume):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotAdaptedWarning)
        done = check_estimator(ShiftedClassifier(assume=assume), on_fail=None)
    assert {c["check_name"]: c["exception"] for c in done if c["status"] == "failed"} == {}
    assert sum(c["status"] == "passed" for c in done) > 50


def test_labels_are_needed_and_those_in_a_column_are_taken_with_a_warning():
    X, y = gaussian(60, 0.5, 0)
    model = ShiftedClassifier(LogisticRegression())
    with pytest.raises(DataError, match="target y is None"):
        model.fit(X, None)
    with pytest.warns(DataConversionWarning):
        found = model.fit(X, y[:, np.newaxis]).predict(X)
    assert found.tolist() == model.fit(X, y).predict(X).tolist()
