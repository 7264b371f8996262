"""How well a classifier tells two sets of items apart."""

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array
from sklearn.metrics import roc_auc_score

from quantshift.classify.separation import MOST_ITEMS, WIDE, Reference, weighted_auc
from quantshift.errors import DataError


def gaussians(n, seed, *, d=5, shift=0.0):
    X = np.random.default_rng(seed).normal(size=(n, d))
    X[:, 0] += shift
    return X


def test_the_weighted_area_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    # Rounded, so that there are ties.
    known, new = rng.normal(size=80).round(1), rng.normal(0.5, size=60).round(1)
    weights = rng.random(80), rng.random(60)
    expected = roc_auc_score(
        np.repeat([0, 1], [80, 60]),
        np.concatenate([known, new]),
        sample_weight=np.concatenate(weights),
    )
    assert weighted_auc(known, weights[0], new, weights[1]) == pytest.approx(expected)


def test_sets_of_one_distribution_are_not_told_apart():
    z = [
        Reference.of(gaussians(400, seed)).separation(gaussians(300, 1000 + seed)).z
        for seed in range(200)
    ]
    assert np.mean(np.array(z) > 3) < 0.02
    # What is high in one half of the items is low in the other: a little below 0.
    assert -1 < np.mean(z) < 0.3
    assert 0.5 < np.std(z) < 1.5


def test_a_constant_added_to_a_feature_is_seen():
    found = Reference.of(gaussians(500, 0)).separation(gaussians(500, 1, shift=1.0))
    # The best that can be done: P(N(1, 1) > N(0, 1)).
    assert found.auc == pytest.approx(0.76, abs=0.03)
    assert found.z > 10


def test_weights_turn_one_population_into_another():
    known, new = gaussians(4000, 0), gaussians(1000, 1, shift=0.5)
    reference = Reference.of(known)
    ratio = np.exp(0.5 * known[:, 0] - 0.125)
    position = reference.place(new)
    assert reference.separation(position).z > 5
    assert reference.separation(position, weights=ratio).z < 3


def test_weights_of_the_other_set_count():
    known, new = gaussians(2000, 0), gaussians(2000, 1)
    new[:1000, 0] += 2
    reference = Reference.of(known)
    position = reference.place(new)
    heavy = np.where(np.arange(2000) < 1000, 0.0, 1.0)
    assert reference.separation(position).auc > 0.6
    assert reference.separation(position, other_weights=heavy).z < 3


def test_copies_of_an_item_count_once():
    rng = np.random.default_rng(0)
    z = []
    for seed in range(60):
        reference = Reference.of(gaussians(400, seed, d=20))
        drawn_again = rng.integers(100, size=500)
        new = reference.place(gaussians(100, 1000 + seed, d=20))
        z.append(reference.separation(new[drawn_again]).z)
    # Were copies other items, the mean would be 4 and more: half of them have been seen before.
    assert np.mean(z) < 0.5
    assert np.mean(np.array(z) > 3) < 0.05


def test_a_sample_of_copies_is_that_of_its_items_with_their_numbers_as_weights():
    reference, new = Reference.of(gaussians(500, 0)), gaussians(200, 1, shift=1.0)
    position = reference.place(new)
    rows, weights = reference.distinct(np.repeat(position, 3, axis=0))
    assert rows.tolist() == list(range(0, 600, 3))
    assert weights is None
    whole = np.arange(200) % 4
    rows, weights = reference.distinct(np.repeat(position, whole, axis=0))
    assert weights.tolist() == [1.0, 2.0, 3.0] * 50
    # The shift is seen all the same, and neither more nor less of it.
    found = reference.separation(position)
    assert found.z > 5
    assert reference.separation(np.concatenate([position, position])) == found
    repeated = reference.separation(np.repeat(position, whole, axis=0))
    assert repeated == reference.separation(position, other_weights=whole.astype(float))


def test_in_a_large_set_too_copies_are_merged_before_some_items_are_chosen():
    reference = Reference.of(gaussians(500, 0))
    position = reference.place(gaussians(MOST_ITEMS, 1, shift=0.1))
    twice = np.concatenate([position, position])
    assert reference.separation(twice) == reference.separation(position)


def test_a_sample_of_one_row_many_times_is_told_apart():
    reference = Reference.of(gaussians(300, 0))
    found = reference.separation(reference.place(np.full((100, 5), 2.0)))
    assert found.auc > 0.9
    assert found.z > 5


def test_a_row_that_was_filled_in_for_many_items_is_no_copy():
    reference, new = Reference.of(gaussians(500, 0)), gaussians(400, 1)
    new[:100] = 1.0
    position = reference.place(new)
    rows, weights = reference.distinct(position)
    assert len(rows) == 400
    assert weights is None
    assert reference.separation(position).z > 5


def test_equal_rows_of_a_table_of_categories_are_no_copies():
    rng = np.random.default_rng(0)
    known, new = rng.integers(2, size=(2, 600, 4)).astype(float)
    new[:300, 0] = 1
    reference = Reference.of(known)
    position = reference.place(new)
    rows, weights = reference.distinct(position)
    assert rows.tolist() == list(range(600))
    assert weights is None
    assert reference.separation(position).z > 5


def test_sparse_features_are_features():
    known, new = gaussians(300, 0), gaussians(200, 1, shift=0.4)
    dense, sparse = Reference.of(known), Reference.of(csr_array(known))
    expected = dense.separation(dense.place(new))
    found = sparse.separation(sparse.place(csr_array(new)))
    assert found.auc == pytest.approx(expected.auc)


def test_wide_features_are_reduced_and_still_tell():
    rng = np.random.default_rng(0)
    base = random_array((800, 2 * WIDE), density=0.02, rng=rng, format="csr")
    known, new = base[:400], base[400:].copy()
    reference = Reference.of(known)
    assert reference.position.shape[1] < WIDE
    assert reference.separation(reference.place(new)).z < 3
    moved = new + csr_array((np.ones(400), (np.arange(400), np.zeros(400, int))), shape=new.shape)
    assert reference.separation(reference.place(moved)).auc > 0.55


def test_the_result_is_repeatable_and_does_not_depend_on_what_came_before():
    reference = Reference.of(gaussians(300, 0), seed=3)
    others = [reference.place(gaussians(n, n)) for n in (100, 150, 200)]
    together = [reference.separation(other) for other in others]
    alone = Reference.of(gaussians(300, 0), seed=3).separation(others[2])
    assert together[2] == alone


def test_large_sets_are_compared_by_some_of_their_items():
    n = 3 * MOST_ITEMS
    found = Reference.of(gaussians(n, 0, d=2)).separation(gaussians(n, 1, d=2, shift=1.0))
    assert found.auc == pytest.approx(0.76, abs=0.03)


def test_a_handful_of_items_is_not_told_apart():
    reference = Reference.of(gaussians(300, 0))
    found = reference.separation(reference.place(gaussians(10, 1, shift=9.0)))
    assert (found.auc, found.z) == (0.5, 0.0)


def test_a_column_that_is_constant_in_the_reference_serves():
    known, new = gaussians(300, 0), gaussians(300, 1)
    known[:, 1], new[:, 1] = 7.0, 8.0
    reference = Reference.of(known)
    assert reference.separation(reference.place(new)).auc > 0.95


def test_other_features_are_refused():
    with pytest.raises(DataError, match="X has 4 features, the training items had 5"):
        Reference.of(gaussians(50, 0)).place(gaussians(50, 0, d=4))
    with pytest.raises(DataError, match="NaN"):
        Reference.of(np.full((30, 2), np.nan))
