"""What is known of items, and what weights do to them."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from quantshift import ACC, MLPE, PACC, PCC, SubclassSLD
from quantshift.classify.clusters.clusters import Clusters
from quantshift.errors import DataError, UserError
from quantshift.items import Items
from quantshift.items.items import drawn_weights, effective_size, take_rows, uneven
from quantshift.quantifiers import AbstractAggregative, Tags
from quantshift.quantifiers.base.means import class_means, sample_means

HALVES = np.full((4, 2), 0.5)


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [120, 80])
    X = rng.normal(size=(200, 3)) + 1.5 * y[:, np.newaxis]
    return X, y, rng.normal(size=(90, 3)) + 0.8


def test_items_have_a_row_each_in_everything() -> None:
    committee = np.stack([HALVES, HALVES, HALVES])
    whole = Items(HALVES, committee, np.arange(8).reshape(4, 2), np.arange(4.0))
    assert len(whole) == 4
    part = whole.take(np.array([3, 1, 1]))
    assert part.committee.shape == (3, 3, 2)
    assert_array_equal(part.features, [[6, 7], [2, 3], [2, 3]])
    assert_array_equal(part.weights, [3, 1, 1])
    assert part.unweighted().weights is None
    joined = Items.joined([whole, part])
    assert len(joined) == 7
    assert joined.committee.shape == (3, 7, 2)
    with pytest.raises(DataError, match=r"got posteriors of 4, features of 3"):
        Items(HALVES, features=np.zeros((3, 1)))


def test_nothing_may_be_known() -> None:
    nothing = Items()
    assert not nothing
    assert len(nothing) == 0
    assert not nothing.take(np.array([0, 1]))
    assert Items(features=["a", "b"])


@pytest.mark.parametrize(
    "features",
    [
        np.arange(6.0).reshape(3, 2),
        csr_array(np.arange(6.0).reshape(3, 2)),
        pd.DataFrame({"a": [0.0, 2.0, 4.0], "b": [1.0, 3.0, 5.0]}),
        ["zero", "one", "two"],
        Clusters(np.array([0, 1, 2]), np.array([0.1, 0.2, 0.3])),
    ],
)
def test_rows_of_any_features(features: object) -> None:
    found = take_rows(features, np.array([2, 0]))
    if isinstance(features, Clusters):
        assert_array_equal(found.codes, [2, 0])
        both = Items.joined([Items(features=features), Items(features=found)])
        assert_array_equal(both.features.novelty, [0.1, 0.2, 0.3, 0.3, 0.1])
    elif isinstance(features, list):
        assert found == ["two", "zero"]
    else:
        dense = found.toarray() if isinstance(found, csr_array) else np.asarray(found)
        assert_array_equal(dense, [[4, 5], [0, 1]])


def test_sparse_features_stay_sparse_when_joined() -> None:
    part = Items(features=csr_array(np.eye(2)))
    joined = Items.joined([part, part]).features
    assert joined.format == "csr"
    assert_array_equal(joined.toarray(), np.vstack([np.eye(2), np.eye(2)]))


def test_weights_that_are_all_equal_are_none() -> None:
    assert uneven(None) is None
    assert uneven(np.full(3, 0.2)) is None
    assert_array_equal(uneven(np.array([1.0, 2.0])), [1, 2])


def test_effective_size_is_that_of_equal_weights() -> None:
    assert effective_size(np.full(7, 3.0)) == pytest.approx(7)
    assert effective_size(np.array([1.0, 0, 0])) == 1
    # The variance of a weighted mean of independent numbers is that of so many.
    w = np.array([1.0, 2, 3, 4])
    assert effective_size(w) == pytest.approx(1 / ((w / w.sum()) ** 2).sum())


def test_weights_of_drawn_items() -> None:
    rows = np.array([0, 2, 2])
    assert_array_equal(drawn_weights(rows, None, 3), [1, 0, 2])
    assert_array_equal(drawn_weights(rows, np.array([2.0, 5, 0.5]), 3), [2, 0, 1])


def test_means_of_samples_and_classes_by_hand() -> None:
    row = np.array([[0.0, 1.0, 4.0]])
    w = np.array([1.0, 2.0, 1.0])
    assert_allclose(sample_means(row, np.array([[0, 1], [1, 2]]), w), [[2 / 3], [2.0]])
    posteriors = np.array([[1.0, 0.0], [0.5, 0.5], [0.2, 0.8]])
    found = class_means(posteriors, np.array([0, 0, 1]), np.array([1.0, 3.0, 2.0]))
    assert_allclose(found, [[0.625, 0.2], [0.375, 0.8]])


class NoWeights(AbstractAggregative):
    """No Weights: a method written before there were any."""

    tags = Tags(adjusts=False)

    def __init__(self, classifier=None):  # type: ignore[no-untyped-def]
        self.classifier = classifier

    def _fit_aggregation(self, posteriors, codes):  # type: ignore[no-untyped-def]
        pass

    def _represent(self, posteriors):  # type: ignore[no-untyped-def]
        return posteriors.T

    def _solve(self, representation, index):  # type: ignore[no-untyped-def]
        return sample_means(representation, index), {}


def test_a_method_without_weights_says_so(data: tuple[np.ndarray, ...]) -> None:
    X, y, X_new = data
    fitted = NoWeights().fit(X, y)
    assert not fitted.takes_weights
    assert_array_equal(fitted.predict(X_new), PCC().fit(X, y).predict(X_new))
    assert_array_equal(fitted.predict(X_new, sample_weight=np.full(90, 2)), fitted.predict(X_new))
    with pytest.raises(UserError, match="NoWeights does not support weights: leave them out"):
        fitted.predict(X_new, sample_weight=np.arange(90))
    with pytest.raises(UserError, match="NoWeights does not support weights"):
        NoWeights().fit(X, y, np.arange(200) + 1)


def test_what_a_method_sees_must_be_there(data: tuple[np.ndarray, ...]) -> None:
    X, y, _ = data
    fitted = PACC().fit(X, y)
    with pytest.raises(UserError, match="PACC needs posteriors"):
        fitted.estimate_items(Items(features=X))
    with pytest.raises(UserError, match="SubclassSLD needs posteriors"):
        SubclassSLD().fit_items(Items(features=X), y)
    with pytest.raises(DataError, match="4 items do not fit 3 labels"):
        PACC().fit_items(Items(HALVES), [0, 1, 0])
    alone = SubclassSLD().fit_posteriors(fitted.held_out_posteriors_, y)
    with pytest.raises(UserError, match="not fitted on features: give the clusters"):
        alone.estimate_items(Items(fitted.items(X).posteriors, features=X))
    # MLPE sees nothing at all.
    assert_allclose(
        MLPE().fit_items(Items(), y).estimate_items(Items(), [[0], [5]]).prevalence[1], [0.6, 0.4]
    )


def test_raw_features_are_reduced_by_the_method_itself(data: tuple[np.ndarray, ...]) -> None:
    X, y, X_new = data
    held_out, new = (
        PACC().fit(X, y).held_out_posteriors_,
        PACC().fit(X, y).items(X_new).posteriors,
    )
    quantifier = SubclassSLD(n_clusters=2)
    reduction = quantifier.reduction(X, y)
    told = quantifier.fit_items(
        Items(held_out, features=reduction.training), y, reduction=reduction
    ).estimate_items(Items(new, features=reduction(X_new)))
    raw = SubclassSLD(n_clusters=2).fit_items(Items(held_out, features=X), y)
    assert_array_equal(raw.estimate_items(Items(new, features=X_new)).prevalence, told.prevalence)
    assert raw.partition_.n_clusters == 2


def test_classifiers_get_the_weights(data: tuple[np.ndarray, ...]) -> None:
    X, y, X_new = data
    weights = np.where(y == 1, 3.0, 1.0)
    model = LogisticRegression(max_iter=1000).fit(X, y, sample_weight=weights)
    expected = model.predict_proba(X_new).mean(axis=0)
    assert_allclose(PCC().fit(X, y, weights).predict(X_new), expected, atol=1e-9)
    pipeline = make_pipeline(StandardScaler(), make_pipeline(LogisticRegression(max_iter=1000)))
    assert PCC(pipeline).fit(X, y, weights).predict(X_new)[1] == pytest.approx(
        expected[1], abs=0.01
    )
    plain, piped = LogisticRegression(max_iter=1000), make_pipeline(LogisticRegression())
    for inner, name in ((plain, "C"), (piped, "logisticregression__C")):
        search = GridSearchCV(inner, {name: [1.0]}, cv=2)
        assert_allclose(PCC(search).fit(X, y, weights).predict(X_new), expected, atol=1e-6)
    frozen = PCC(FrozenEstimator(model)).fit(X, y, weights)
    assert_allclose(frozen.predict(X_new), expected)
    assert_allclose(frozen.prior_, [1 / 3, 2 / 3])


def test_classifiers_without_weights_are_refused(data: tuple[np.ndarray, ...]) -> None:
    X, y, _ = data
    for classifier in (KNeighborsClassifier(), make_pipeline(KNeighborsClassifier())):
        with pytest.raises(UserError, match="KNeighborsClassifier does not accept weights"):
            PACC(classifier).fit(X, y, np.arange(200) + 1)
    # Equal weights need no classifier that takes them.
    assert PACC(KNeighborsClassifier()).fit(X, y, np.full(200, 2)).prior_.tolist() == [0.6, 0.4]


def test_items_of_no_weight_are_left_out_of_training(data: tuple[np.ndarray, ...]) -> None:
    X, y, X_new = data
    kept = np.arange(200) % 5 > 0
    weights = kept * (1.0 + np.arange(200) % 3)
    dropped = ACC().fit(X[kept], y[kept], weights[kept])
    given = ACC().fit(X, y, weights)
    assert len(given.held_out_codes_) == 160
    assert_array_equal(given.predict(X_new), dropped.predict(X_new))


def test_through_fit_weights_are_repeated_items_but_for_the_folds() -> None:
    """The mean of estimates over many folds is the same; single ones differ by the draw."""
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], 100)
    X = rng.normal(size=(200, 2)) + 1.5 * y[:, np.newaxis]
    X_new = rng.normal(size=(200, 2)) + 1.0
    weights = 1.0 + (np.arange(200) % 2)
    rows = np.repeat(np.arange(200), weights.astype(int))
    # Copies of an item in several folds are no held-out items: a frozen classifier has no folds.
    classifier = FrozenEstimator(LogisticRegression().fit(X, y, sample_weight=weights))
    here = PACC(classifier).fit(X, y, weights).predict(X_new)
    there = PACC(classifier).fit(X[rows], y[rows]).predict(X_new)
    assert_allclose(here, there, atol=1e-12)
    weighted = [PACC(random_state=s).fit(X, y, weights).predict(X_new)[1] for s in range(10)]
    copied = [PACC(random_state=s).fit(X[rows], y[rows]).predict(X_new)[1] for s in range(10)]
    assert np.mean(weighted) == pytest.approx(np.mean(copied), abs=0.02)


def test_all_items_in_their_order_are_not_copied():
    whole = Items(posteriors=np.full((4, 2), 0.5), weights=np.arange(4.0))
    assert whole.take(np.arange(4)) is whole
    assert whole.take(np.array([0, 1, 3, 2])).weights.tolist() == [0.0, 1.0, 3.0, 2.0]
    assert len(whole.take(np.arange(3))) == 3


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_features", [1, 2, 3, 5])
def test_class_means_has_a_column_for_each_class_whatever_the_number_of_features(
    n_features, weighted
):
    """It had one for each feature: NaN if there were more, and classes dropped if fewer."""
    codes = np.array([0, 0, 1, 2, 2, 2])
    features = np.arange(6.0)[:, np.newaxis] + 10 * np.arange(n_features)
    weights = np.array([1.0, 3.0, 2.0, 1.0, 0.0, 1.0]) if weighted else None
    of_first = [0.75, 2.0, 4.0] if weighted else [0.5, 2.0, 4.0]
    expected = np.array(of_first) + 10 * np.arange(n_features)[:, np.newaxis]
    assert_allclose(class_means(features, codes, weights), expected, rtol=1e-15)


@pytest.mark.parametrize("codes", [[0.0, 1.0], ["a", "b"], [-1, 0], [0, 1, 1], [[0], [1]]])
def test_codes_that_are_none_have_no_means(codes):
    """Some were an IndexError, and a class of code -1 was left out in silence."""
    with pytest.raises(DataError, match="codes must be whole numbers from 0, one for each row"):
        class_means(np.eye(2), np.array(codes))


def test_a_class_without_items_has_no_mean():
    """It was NaN, with a warning of numpy's."""
    features = np.eye(3)
    with pytest.raises(DataError, match="class 1"):
        class_means(features, np.array([0, 2, 2]))
    with pytest.raises(DataError, match="class 0"):
        class_means(features, np.array([0, 1, 1]), np.array([0.0, 1.0, 1.0]))
