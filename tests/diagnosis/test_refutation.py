"""The refutation test: what label shift explains and what it does not."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from quantshift import SubclassSLD
from quantshift.diagnosis import refutation_test, refutation_tests
from quantshift.errors import DataError, UserError

CENTRES = np.array([[0.0, 0.0, 0.0], [1.5, 0.5, 0.0], [0.0, 1.5, 1.0]])

LITTLE = np.array([0.0, 0.0, 0.3])


def drawn(counts, seed):
    """Items of Gaussian classes, so many of each, and their codes."""
    y = np.repeat(np.arange(len(counts)), counts)
    rng = np.random.default_rng(seed)
    return CENTRES[y] + rng.normal(size=(len(y), 3)), y


@pytest.fixture(scope="module")
def trained():
    X, y = drawn([600, 400], 0)
    return SubclassSLD(random_state=0).fit(X, y), X


@pytest.mark.slow
def test_prior_shift_is_rarely_refuted(trained):
    quantifier, X_train = trained
    rng = np.random.default_rng(1)
    pool, samples, start = [], [], 0
    for number in range(100):
        positive = int(rng.integers(30, 371))
        X, _ = drawn([400 - positive, positive], 100 + number)
        pool.append(X)
        samples.append(np.arange(start, start + 400))
        start += 400
    X = np.concatenate(pool)
    tests = refutation_tests(quantifier, X_train, quantifier.items(X), X, samples)
    assert np.mean([test.refuted for test in tests]) <= 0.03
    assert np.mean([test.z > 3 for test in tests]) <= 0.03


@pytest.mark.slow
def test_a_constant_added_to_one_feature_is_refuted(trained):
    quantifier, X_train = trained
    X, _ = drawn([300, 200], 5)
    assert not refutation_test(quantifier, X_train, X).refuted
    moved = X + np.array([0.0, 0.0, 1.0])
    found = refutation_test(quantifier, X_train, moved)
    assert found.refuted
    assert found.auc > 0.6
    assert found.z > 3
    assert str(found).startswith("refuted: neither a change in prevalence nor in subgroups")


def test_prior_shift_that_explains_nearly_all_is_in_doubt(trained):
    quantifier, X_train = trained
    X, _ = drawn([10, 990], 8)
    # A little that prior shift does not explain, beside an extreme change of prevalence.
    little = refutation_test(quantifier, X_train, X + LITTLE, family="prior")
    assert 3 < little.z < 5
    assert little.auc > 0.52
    assert 0.5 < little.explained < 0.95
    assert little.refuted
    assert little.in_doubt
    assert str(little).startswith("in doubt: a change in prevalence explains most")
    # The same alone, and much of it, leave no doubt.
    X_same, _ = drawn([600, 400], 9)
    alone = refutation_test(quantifier, X_train, X_same + LITTLE, family="prior")
    much = refutation_test(quantifier, X_train, X + 5 * LITTLE, family="prior")
    for found in (alone, much):
        assert found.explained < 0.5
        assert found.refuted
        assert not found.in_doubt


def test_many_samples_are_tested_as_each_is_alone(trained):
    quantifier, X_train = trained
    X, _ = drawn([300, 300], 6)
    X[:150] += 1.0
    samples = [np.arange(200), np.arange(100, 400), np.arange(250, 600)]
    together = refutation_tests(
        quantifier, X_train, quantifier.items(X), X, samples, random_state=2
    )
    for rows, found in zip(samples, together, strict=True):
        alone = refutation_test(quantifier, X_train, X[rows], random_state=2)
        assert (alone.refuted, alone.auc) == (found.refuted, pytest.approx(found.auc))


def test_any_number_of_classes_and_sparse_features():
    X, y = drawn([300, 300, 300], 0)
    quantifier = SubclassSLD(random_state=0).fit(csr_array(X), y)
    new, _ = drawn([50, 100, 350], 1)
    assert not refutation_test(quantifier, csr_array(X), csr_array(new)).refuted
    moved = csr_array(new + np.array([0.0, 0.0, 1.5]))
    assert refutation_test(quantifier, csr_array(X), moved).refuted


def test_a_model_without_clusters_is_tested_as_prior_shift():
    X, y = drawn([500, 300], 0)
    plain = SubclassSLD(n_clusters=1, random_state=0).fit(X, y)
    new, _ = drawn([100, 400], 1)
    assert not refutation_test(plain, X, new).refuted
    assert refutation_test(plain, X, new + 1.0).refuted


def test_prior_shift_alone_is_refuted_where_subgroups_have_moved():
    rng = np.random.default_rng(0)

    def items(shares, n, seed):
        """Two subgroups far apart, whose shares change; the classes differ in both alike."""
        subgroup = np.random.default_rng(seed).random(n) < shares
        y = rng.integers(2, size=n)
        X = (
            rng.normal(size=(n, 3))
            + 1.5 * y[:, None] * [1, 0, 0]
            + 6 * subgroup[:, None] * [0, 1, 0]
        )
        return X, y

    X, y = items(0.5, 2000, 1)
    quantifier = SubclassSLD(n_clusters=2, random_state=0).fit(X, y)
    new, _ = items(0.2, 800, 2)
    assert not refutation_test(quantifier, X, new).refuted
    assert refutation_test(quantifier, X, new, family="prior").refuted
    with pytest.raises(UserError, match="unknown family 'concept'"):
        refutation_test(quantifier, X, new, family="concept")


@pytest.mark.slow
def test_weights_of_the_sample_count(trained):
    quantifier, X_train = trained
    X, _ = drawn([400, 200], 7)
    X[::2] += 1.5
    weights = np.where(np.arange(600) % 2 == 0, 0.0, 1.0)
    assert refutation_test(quantifier, X_train, X).refuted
    assert not refutation_test(quantifier, X_train, X, sample_weight=weights).refuted


def test_other_training_items_are_refused(trained):
    quantifier, X_train = trained
    with pytest.raises(DataError, match="X_train has 999 items, the quantifier was fitted on 1000"):
        refutation_test(quantifier, X_train[1:], X_train)
    with pytest.raises(DataError, match="X has 5 rows for 1000 items; give one per item"):
        refutation_tests(
            quantifier, X_train, quantifier.items(X_train), X_train[:5], [np.arange(5)]
        )
