"""Every exported quantifier meets the common checks; ids are Class:check."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    TunedThresholdClassifierCV,
    cross_val_predict,
)
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from quantshift import ACC, CC, PACC, PCC, SLD, GuardedSLD, SubclassSLD, metrics
from quantshift.checks.every_quantifier import check_quantifier, yield_checks
from quantshift.classify.folds import stratified_folds
from quantshift.errors import DataError, UserError
from quantshift.prevalence import simplex
from quantshift.quantifiers import ClassifierMedian, EoQ, FusedSLD
from quantshift.quantifiers.base import catalogue
from quantshift.quantifiers.base.estimator import AbstractQuantifier
from tests.quick_methods import each, speed_of

QUANTIFIERS = catalogue.quantifiers()
SLOW = {"GuardedSLD", "EoQ", "FusedSLD", "ClassifierMedian"}
"""Those that fit boosting or many classifiers by default: quick ones are checked as well."""
QUICK = {
    "GuardedSLD with logistic regression": GuardedSLD(classifiers=[LogisticRegression()]),
    "GuardedSLD of a signal": GuardedSLD(mode="signal", classifiers=[LogisticRegression()]),
    "EoQ of three": EoQ(n_members=3),
    "EoQ by training prevalence": EoQ(
        PACC(cv=2), n_members=3, keep=2, selection="training-prevalence"
    ),
    "EoQ by distribution": EoQ(n_members=3, keep=2, selection="distribution"),
    "EoQ by accuracy": EoQ(CC(), n_members=3, keep=2, selection="accuracy"),
    "FusedSLD of two": FusedSLD(n_members=2, calibration="sigmoid", cv=2),
    "ClassifierMedian of two": ClassifierMedian(
        [PACC()], [LogisticRegression(), LogisticRegression(C=0.01)], cv=2
    ),
}
NAMES = each(QUANTIFIERS)
NEIGHBOURS = "prefers smooth shares of ordered classes, and here the classes are not in any order"
EXEMPT = {
    "IBU:right_for_many_classes": NEIGHBOURS,
    "RUN:right_for_many_classes": NEIGHBOURS,
    "EoQ by accuracy:right_for_three_classes": "its members are CC, which does not adjust",
}
"""Checks that a method fails, and why it may."""


def _checks(name: str, quantifier: AbstractQuantifier, marks: list[Any]) -> list[Any]:
    return [
        pytest.param(
            check,
            id=f"{name}:{check_name}",
            marks=[
                *marks,
                *(
                    [pytest.mark.xfail(raises=AssertionError, strict=True, reason=reason)]
                    if (reason := EXEMPT.get(f"{name}:{check_name}"))
                    else []
                ),
            ],
        )
        for check_name, check in yield_checks(quantifier)
    ]


ALL_CHECKS = [
    parameter
    for name, cls in QUANTIFIERS.items()
    for parameter in _checks(name, cls(), [pytest.mark.slow] if name in SLOW else speed_of(name))
] + [parameter for name, quantifier in QUICK.items() for parameter in _checks(name, quantifier, [])]


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    X, y = make_classification(600, 8, n_informative=5, flip_y=0.1, random_state=0)
    return X[:400], y[:400], X[400:]


@pytest.mark.parametrize("check", ALL_CHECKS)
def test_common(check: Callable[[], None]) -> None:
    check()


def test_the_paper_s_nine_are_exported() -> None:
    assert set(QUANTIFIERS) >= {"CC", "ACC", "PCC", "PACC", "HDy", "DyS", "SMM", "SLD", "MLPE"}


class Wrong(CC):
    """A quantifier that forgets the last item."""

    def _solve(self, representation, index):  # type: ignore[no-untyped-def]
        return super()._solve(representation, index[:, :-1] if index.shape[1] > 1 else index)


def test_the_checks_can_fail() -> None:
    with pytest.raises(AssertionError):
        check_quantifier(Wrong())
    failing = {name for name, check in yield_checks(Wrong()) if not _passes(check)}
    assert {"item_permutation", "duplicated_sample"} <= failing
    with pytest.raises(AssertionError):
        check_quantifier(Wrong(), skip=["simplex_output"])


class Transposed(ACC):
    """ACC with the matrix of its rates turned round."""

    def _fit_aggregation(self, posteriors, codes, weights=None):  # type: ignore[no-untyped-def]
        super()._fit_aggregation(posteriors, codes, weights)
        self.rates_ = self.rates_.T


class Counts:
    """Any class with fit and predict: predictions are counted, and the count is adjusted."""

    def __init__(self, turned_round: bool = False) -> None:
        self.turned_round = turned_round

    def fit(self, X, y):  # type: ignore[no-untyped-def]
        self.model = LogisticRegression(max_iter=1000).fit(X, y)
        n_classes = len(self.model.classes_)
        guesses = cross_val_predict(LogisticRegression(max_iter=1000), X, y, cv=3)
        means = [np.bincount(guesses[y == k], minlength=n_classes) for k in range(n_classes)]
        rates = np.stack([counts / counts.sum() for counts in means])
        self.rates = rates if self.turned_round else rates.T
        return self

    def predict(self, X):  # type: ignore[no-untyped-def]
        counts = np.bincount(self.model.predict(X), minlength=len(self.rates))
        p_hat = np.linalg.lstsq(self.rates, counts / counts.sum())[0].clip(0)
        return p_hat / p_hat.sum()


@pytest.mark.parametrize("wrong", [Transposed(), Counts(turned_round=True)])
def test_confused_rates_are_not_right(wrong: Any) -> None:
    """Before, no check compared estimates of large samples with the truth."""
    failing = {
        name
        for name, check in yield_checks(wrong)
        if name.startswith("right_for") and not _passes(check)
    }
    assert failing >= {"right_for_two_classes", "right_for_three_classes"}
    assert isinstance(wrong, Counts) or "right_for_many_classes" in failing


def test_any_class_with_fit_and_predict_can_be_checked() -> None:
    """Before, an object that is not derived from ours was an AttributeError."""
    assert len([check() for _, check in yield_checks(Counts())]) == 23
    check_quantifier(Counts, skip=[name for name, _ in yield_checks(Counts)][1:])
    assert [name for name, _ in yield_checks(PACC)] == [name for name, _ in yield_checks(PACC())]
    with pytest.raises(UserError, match="dict is not a quantifier; give it fit"):
        check_quantifier({})


def _passes(check: Callable[[], None]) -> bool:
    try:
        check()
    except AssertionError:
        return False
    return True


@pytest.mark.parametrize("name", NAMES)
def test_data_frames_and_categoricals(name: str, data: tuple[np.ndarray, ...]) -> None:
    X, y, X_new = data
    expected = QUANTIFIERS[name]().fit(X, y).predict(X_new)
    names = np.array(["bad", "good"])[y]
    columns = [f"x{i}" for i in range(X.shape[1])]
    pandas = QUANTIFIERS[name]().fit(
        pd.DataFrame(X, columns=columns), pd.Series(pd.Categorical(names))
    )
    assert_allclose(pandas.predict(pd.DataFrame(X_new, columns=columns)), expected, atol=1e-9)
    polars = QUANTIFIERS[name]().fit(
        pl.DataFrame(X, schema=columns), pl.Series(names, dtype=pl.Categorical)
    )
    assert_allclose(polars.predict(pl.DataFrame(X_new, schema=columns)), expected, atol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_texts_in_a_pipeline(name: str) -> None:
    rng = np.random.default_rng(0)
    words = {0: ["dull", "weak", "poor"], 1: ["fine", "good", "bright"]}
    y = np.repeat([0, 1], 40)
    texts = [" ".join(rng.choice([*words[c], "the", "a", "book"], 8)) for c in y]
    sample = [t for t, c in zip(texts, y, strict=True) if c == 1][:20] + texts[:5]
    inside = QUANTIFIERS[name]()
    if "posteriors" in inside.tags.sees:
        inside.set_params(classifier=make_pipeline(TfidfVectorizer(), LogisticRegression()))
        p_hat = inside.fit(texts, y).predict(sample)
        assert p_hat[1] == pytest.approx(0.8, abs=0.2)
    around = make_pipeline(TfidfVectorizer(), QUANTIFIERS[name]()).fit(texts, y)
    assert around.predict(sample).sum() == pytest.approx(1)


def test_class_weights_by_label_keep_their_meaning(data: tuple[np.ndarray, ...]) -> None:
    X, y, X_new = data
    names = np.array(["bad", "good"])[y]
    by_name = PACC(LogisticRegression(class_weight={"bad": 1, "good": 5})).fit(X, names)
    by_code = PACC(LogisticRegression(class_weight={0: 1, 1: 5})).fit(X, y)
    assert_allclose(by_name.rates_, by_code.rates_, atol=1e-12)
    assert_allclose(by_name.predict(X_new), by_code.predict(X_new), atol=1e-12)


def test_grid_search(data: tuple[np.ndarray, ...]) -> None:
    X, y, X_new = data

    def negative_error(quantifier: AbstractQuantifier, X: np.ndarray, y: np.ndarray) -> float:
        return -float(metrics.ae(simplex.from_codes(y, 2), quantifier.predict(X)))

    search = GridSearchCV(
        PACC(LogisticRegression()), {"classifier__C": [0.01, 1.0]}, scoring=negative_error, cv=3
    ).fit(X, y)
    assert search.best_params_["classifier__C"] in (0.01, 1.0)
    chosen = clone(search.best_estimator_).fit(X, y)
    assert_allclose(search.predict(X_new), chosen.predict(X_new))


# Methods that see features cannot be had from posteriors alone; they have tests of their own.
ON_POSTERIORS = [n for n, c in QUANTIFIERS.items() if c.tags.sees == {"posteriors"}]


@pytest.mark.parametrize("name", each(ON_POSTERIORS))
def test_frozen_classifier_is_used_as_it_is(name: str, data: tuple[np.ndarray, ...]) -> None:
    X, y, X_new = data
    labels = np.array(["bad", "good"])[y]
    classifier = LogisticRegression().fit(X[:200], labels[:200])
    coefficients = classifier.coef_.copy()
    quantifier = QUANTIFIERS[name](classifier=FrozenEstimator(classifier)).fit(
        X[200:], labels[200:]
    )
    assert_allclose(classifier.coef_, coefficients)
    from_posteriors = QUANTIFIERS[name]().fit_posteriors(
        classifier.predict_proba(X[200:]), labels[200:]
    )
    expected = from_posteriors.aggregate(classifier.predict_proba(X_new))
    assert_allclose(quantifier.predict(X_new), expected, atol=1e-12)


def test_frozen_classifier_of_other_classes_is_refused(data: tuple[np.ndarray, ...]) -> None:
    X, y, _ = data
    frozen = FrozenEstimator(LogisticRegression().fit(X, y))
    with pytest.raises(DataError, match=r"has the classes \[0, 1\] but .* \['a', 'b'\]"):
        PACC(frozen).fit(X, np.array(["a", "b"])[y])
    # 0/1 and booleans are the same classes.
    assert PACC(frozen).fit(X, y == 1).classes_.tolist() == [False, True]


def test_hard_predictions_are_the_classifier_s_own(data: tuple[np.ndarray, ...]) -> None:
    X, y, X_new = data
    tuned = TunedThresholdClassifierCV(LogisticRegression(), scoring="recall", cv=3).fit(X, y)
    assert (tuned.predict(X_new) != (tuned.predict_proba(X_new)[:, 1] > 0.5)).any()
    cc = CC(FrozenEstimator(tuned)).fit(X, y)
    assert cc.predict(X_new)[1] == pytest.approx(tuned.predict(X_new).mean())


def test_classifiers_without_posteriors(data: tuple[np.ndarray, ...]) -> None:
    X, y, X_new = data
    for quantifier in (CC(LinearSVC()), ACC(LinearSVC())):
        assert quantifier.fit(X, y).predict(X_new).sum() == pytest.approx(1)
    with pytest.raises(UserError, match="LinearSVC has no predict_proba: wrap it in"):
        PCC(LinearSVC()).fit(X, y).predict(X_new)


def test_any_classifier_serves(data: tuple[np.ndarray, ...]) -> None:
    X, y, X_new = data
    for name, cls in QUANTIFIERS.items():
        if "posteriors" in cls.tags.sees:
            fitted = cls(classifier=DecisionTreeClassifier(max_depth=3, random_state=0)).fit(X, y)
            assert fitted.predict(X_new).sum() == pytest.approx(1), name


def test_samples_of_features(data: tuple[np.ndarray, ...]) -> None:
    X, y, X_new = data
    quantifier = SLD().fit(X, y)
    samples = np.arange(200).reshape(4, 50)
    together = quantifier.estimate(X_new, samples)
    assert together.prevalence.shape == (4, 2)
    assert together.diagnostics["converged"].shape == (4,)
    for i, sample in enumerate(samples):
        assert_allclose(together.prevalence[i], quantifier.predict(X_new[sample]), atol=1e-9)


def test_columns_in_the_order_the_user_names() -> None:
    rng = np.random.default_rng(0)
    y = np.array(["pos", "neg"] * 50)
    p = np.clip((y == "pos") * 0.4 + 0.3 + rng.normal(0, 0.1, 100), 0.01, 0.99)
    sample = np.column_stack([p, 1 - p])[:30]
    named = PACC().fit_posteriors(np.column_stack([p, 1 - p]), y, classes=["pos", "neg"])
    plain = PACC().fit_posteriors(np.column_stack([1 - p, p]), y)
    assert named.classes_.tolist() == ["pos", "neg"]
    assert plain.classes_.tolist() == ["neg", "pos"]
    assert_allclose(named.aggregate(sample), plain.aggregate(sample[:, ::-1])[::-1])


def test_class_without_training_items() -> None:
    posteriors = np.full((4, 3), 1 / 3)
    with pytest.raises(DataError, match="class 'c' has no training item: add some"):
        PACC().fit_posteriors(posteriors, ["a", "b", "a", "b"], classes=["a", "b", "c"])
    with pytest.raises(DataError, match="posteriors have 3 columns but the labels have 2 classes"):
        PACC().fit_posteriors(posteriors, ["a", "b", "a", "b"])


def test_error_messages_name_the_item() -> None:
    good = np.array([[0.4, 0.6], [0.5, 0.5]] * 10)
    quantifier = PCC().fit_posteriors(good, [0, 1] * 10)
    bad = good.copy()
    bad[7] = [np.nan, 0.2]
    with pytest.raises(DataError, match=r"posteriors of item 7 are not finite"):
        quantifier.aggregate(bad)
    bad[7] = [0.1, 0.2]
    with pytest.raises(DataError, match=r"item 7 are \[0\.1, 0\.2\].*sum to 1"):
        quantifier.aggregate(bad)
    bad[7] = [-0.1, 1.1]
    with pytest.raises(DataError, match=r"item 7 are \[-0\.1, 1\.1\].*non-negative"):
        quantifier.aggregate(bad)
    with pytest.raises(DataError, match=r"sample 1 names items 3 to 99"):
        quantifier.aggregate(good, [[0, 1], [3, 99]])
    with pytest.raises(UserError, match="fitted from posteriors and has no classifier"):
        quantifier.predict(np.zeros((3, 2)))


def test_a_class_with_fewer_items_than_folds_has_fewer_folds() -> None:
    X, y = np.arange(20.0)[:, None], [0] * 17 + [1] * 3
    assert (PACC().fit(X, y).predict(X) == PACC(cv=3).fit(X, y).predict(X)).all()
    with pytest.raises(UserError, match="only 1 training item"):
        PACC().fit(X, [0] * 19 + [1])


def test_rounded_posteriors_are_normalised() -> None:
    thirds = np.full((6, 3), 0.333)
    quantifier = PCC().fit_posteriors(thirds, [0, 1, 2] * 2)
    assert quantifier.aggregate(thirds).sum() == pytest.approx(1, abs=1e-14)


@pytest.mark.parametrize("name", NAMES)
def test_global_random_state_is_left_alone(name: str, data: tuple[np.ndarray, ...]) -> None:
    X, y, X_new = data
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        before = np.random.get_state()[1].copy()  # noqa: NPY002
        QUANTIFIERS[name]().fit(X, y).predict(X_new)
        assert (np.random.get_state()[1] == before).all()  # noqa: NPY002


@pytest.mark.parametrize("method", [PACC, SLD, SubclassSLD])
def test_folds_may_be_given_item_by_item(method):
    """`cv` is the number of folds or the fold of each item; items of weight 0 take theirs along."""
    rng = np.random.default_rng(0)
    codes = np.arange(300) % 2
    X = rng.normal(size=(300, 4)) + codes[:, None]
    folds = stratified_folds(codes, 5, seed=3)
    by_number, by_item = (
        method(LogisticRegression(), cv=cv, random_state=3).fit(X, codes) for cv in (5, folds)
    )
    assert_array_equal(by_item.held_out_posteriors_, by_number.held_out_posteriors_)
    assert_array_equal(by_item.predict(X), by_number.predict(X))
    weights = np.where(np.arange(300) < 20, 0.0, 1.0 + codes)
    weighed = method(LogisticRegression(), cv=folds, random_state=3).fit(X, codes, weights)
    assert len(weighed.held_out_codes_) == 280
    with pytest.raises(DataError, match="cv of shape"):
        method(LogisticRegression(), cv=folds[1:]).fit(X, codes)
