"""`TiltedLabelSets`: pairs, sets, groups, powers, and items of many kinds."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from quantshift.errors import DataError, UserError
from quantshift.multilabel import (
    TiltedLabelSets,
    label_table,
    samples_of_each_label,
    tilted_label_sets,
)


def problem(n_items, seed=0, spread=1.0):
    rng = np.random.default_rng(seed)
    first = rng.random(n_items) < 0.4
    Y = np.column_stack(
        [
            first,
            rng.random(n_items) < np.where(first, 0.7, 0.1),
            rng.random(n_items) < 0.3,
            rng.random(n_items) < np.where(first, 0.2, 0.6),
        ]
    )
    return 2.0 * Y + spread * rng.normal(size=Y.shape), Y


def test_pairs_and_sets_add_up_to_the_labels():
    X, Y = problem(400)
    new = problem(200, seed=1)[0]
    fitted = TiltedLabelSets().fit(X, pd.DataFrame(Y, columns=list("abcd")))
    shares = fitted.predict(new)
    pairs = fitted.predict_pairs(new)
    assert np.allclose(np.diag(pairs), shares, atol=1e-9)
    assert np.allclose(pairs, pairs.T)
    assert (pairs <= np.minimum.outer(shares, shares) + 1e-9).all()
    sets = fitted.predict_sets(new)
    assert sum(sets.values()) == pytest.approx(1)
    assert list(sets.values()) == sorted(sets.values(), reverse=True)
    for j, name in enumerate("abcd"):
        assert sum(s for labels, s in sets.items() if name in labels) == pytest.approx(shares[j])
    both = sum(share for labels, share in sets.items() if {"a", "b"} <= set(labels))
    assert both == pytest.approx(pairs[0, 1])
    several = fitted.predict_pairs(new, [np.arange(50), np.arange(200)])
    assert np.allclose(several[1], pairs, atol=1e-6)


def test_groups_give_labels_and_pairs_but_no_sets():
    X, Y = problem(400)
    new, truth = problem(300, seed=1)
    fitted = TiltedLabelSets(largest_group=2).fit(X, Y)
    assert sorted(map(len, fitted.groups_)) == [2, 2]
    assert np.abs(fitted.predict(new) - truth.mean(axis=0)).max() < 0.1
    pairs = fitted.predict_pairs(new)
    exact = truth.T.astype(float) @ truth / len(truth)
    assert np.abs(pairs - exact).max() < 0.12
    with pytest.raises(UserError, match="2 to 2 labels, not for 4"):
        fitted.predict_sets(new)
    with pytest.raises(UserError, match=r"largest_group of .* of at least 1"):
        TiltedLabelSets(largest_group=0).fit(X, Y)


@pytest.mark.slow
def test_a_thousand_labels_are_estimated(monkeypatch):
    monkeypatch.setattr(tilted_label_sets, "TRIAL_POINTS", 3)
    monkeypatch.setattr(tilted_label_sets, "TRIAL_NATURAL", 4)
    # A hundred topics with ten labels each, of which an item with the topic has seven of ten.
    rng = np.random.default_rng(0)
    topics = rng.random((120, 100)) < 0.2
    Y = np.repeat(topics, 10, axis=1) & (rng.random((120, 1000)) < 0.7)
    Y[:2], Y[2:4] = True, False
    posteriors = np.clip(np.where(Y, 0.8, 0.1) + rng.normal(0, 0.1, Y.shape), 0.01, 0.99)
    fitted = TiltedLabelSets(largest_group=3).fit_posteriors(posteriors, Y)
    assert sorted(np.concatenate(fitted.groups_)) == list(range(1000))
    assert max(map(len, fitted.groups_)) == 3
    estimates = fitted.aggregate(posteriors, [np.arange(60), np.arange(120)])
    assert np.abs(estimates[0] - Y[:60].mean(axis=0)).mean() < 0.05
    assert np.abs(estimates[1] - Y.mean(axis=0)).mean() < 0.05


def test_posteriors_that_say_nothing_are_not_believed():
    # Posteriors of a classifier that is overconfident at random.
    rng = np.random.default_rng(0)
    Y = rng.random((200, 3)) < 0.3
    noise = np.where(rng.random((200, 3)) < 0.5, 0.05, 0.95)
    with pytest.warns(UserWarning, match="of 3 of the 3 labels the classifiers know too little"):
        fitted = TiltedLabelSets().fit_posteriors(noise, Y)
    estimates = fitted.aggregate(np.full((50, 3), 0.95))
    assert np.abs(estimates - Y.mean(axis=0)).max() < 0.25


def test_errors_are_smaller_than_those_of_the_posteriors_under_shift():
    X, Y = problem(600)
    X_new, Y_new = problem(900, seed=1)
    fitted = TiltedLabelSets().fit(X, Y)
    index = samples_of_each_label(label_table(Y_new), 100, 11)
    truth = Y_new[index].mean(axis=1)
    posteriors = fitted.posteriors(X_new)
    plain = np.abs(posteriors[index].mean(axis=1) - truth).mean()
    assert np.abs(fitted.predict(X_new, index) - truth).mean() < 0.8 * plain


@pytest.mark.slow
def test_sparse_features_texts_and_other_classifiers():
    X, Y = problem(300)
    new = problem(100, seed=1)[0]
    counts, new_counts = (np.maximum(0, values.round()) for values in (X, new))
    dense = TiltedLabelSets(LogisticRegression()).fit(counts, Y).predict(new_counts)
    sparse = TiltedLabelSets(LogisticRegression()).fit(csr_matrix(counts), Y)
    assert np.allclose(sparse.predict(csr_matrix(new_counts)), dense, atol=1e-3)
    alone = TiltedLabelSets().fit(csr_matrix(counts), Y)
    assert np.allclose(alone.predict(csr_matrix(new_counts)), alone.predict(new_counts), atol=1e-12)
    words = np.array(["ape", "bee", "cat", "dog"])
    texts = [" ".join(words[row]) or "nothing" for row in Y]
    model = make_pipeline(CountVectorizer(), LogisticRegression())
    fitted = TiltedLabelSets(model).fit(texts, Y)
    assert np.abs(fitted.predict(texts) - Y.mean(axis=0)).max() < 0.03


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.array([["a"] * 4] * 300), "features must be numbers: give a classifier"),
        (np.full((300, 4), np.nan), "missing or infinite values"),
        (np.zeros(300), "a row per item and a column per feature"),
    ],
)
def test_features_that_are_no_numbers_need_a_classifier(X, message):
    with pytest.raises(DataError, match=message):
        TiltedLabelSets().fit(X, problem(300)[1])


def test_other_features_and_wrong_posteriors_are_refused():
    X, Y = problem(300)
    fitted = TiltedLabelSets().fit(X, Y)
    with pytest.raises(DataError, match="X has 3 features"):
        fitted.predict(X[:, :3])
    with pytest.raises(DataError, match="must be 0 to 1"):
        fitted.aggregate(X)
    with pytest.raises(DataError, match="give a row per item and 4 columns"):
        fitted.aggregate(np.full((5, 3), 0.5))
    with pytest.raises(DataError, match="weight zero"):
        fitted.predict(X, [[0, 1], [2, 3]], sample_weight=np.r_[0.0, 0.0, np.ones(298)])
    with pytest.warns(UserWarning, match="of 4 of the 4 labels"):
        from_posteriors = TiltedLabelSets().fit_posteriors(np.full(Y.shape, 0.5), Y)
    with pytest.raises(UserError, match="call aggregate"):
        from_posteriors.predict(X)


def test_a_refit_on_all_items_gives_the_same():
    X, Y = problem(300)
    fitted = TiltedLabelSets().fit(X, Y)
    again = fitted.refit(np.arange(300))
    assert np.allclose(again.predict(X[:100]), fitted.predict(X[:100]), atol=1e-9)
    assert np.abs(fitted.refit(np.arange(150)).predict(X) - fitted.predict(X)).max() > 1e-6


def test_labels_are_divided_into_groups_of_ten_unless_told_otherwise():
    plain = TiltedLabelSets()
    assert (plain.largest_group, plain.cv, plain.random_state) == (10, 5, 0)
