import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quantshift.classify.folds import folds_of, grouped_folds, stratified_folds
from quantshift.errors import DataError, UserError


@given(st.lists(st.integers(5, 60), min_size=2, max_size=5), st.integers(2, 5), st.integers(0, 99))
def test_classes_and_items_are_spread_evenly(counts: list[int], n_folds: int, seed: int) -> None:
    codes = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(counts)), counts))
    folds = stratified_folds(codes, n_folds, seed=seed)
    assert np.ptp(np.bincount(folds, minlength=n_folds)) <= 1
    for k in range(len(counts)):
        assert np.ptp(np.bincount(folds[codes == k], minlength=n_folds)) <= 1
    assert (folds == stratified_folds(codes, n_folds, seed=seed)).all()


def test_seeds_differ() -> None:
    codes = np.array([0, 1] * 50)
    assert (stratified_folds(codes, 5, seed=0) != stratified_folds(codes, 5, seed=1)).any()


def test_a_small_class_makes_fewer_folds() -> None:
    codes = np.array([0] * 9 + [1] * 2)
    folds = stratified_folds(codes, 5, seed=0)
    assert (folds == stratified_folds(codes, 2, seed=0)).all()
    assert sorted(folds[codes == 1].tolist()) == [0, 1]


def test_impossible_folds_are_refused() -> None:
    with pytest.raises(UserError, match="only 1 training item, and none can be held out"):
        stratified_folds(np.array([0] * 9 + [1]), 5, seed=0)
    with pytest.raises(UserError, match="at least 2 folds"):
        stratified_folds(np.array([0, 1]), 1, seed=0)


@given(st.integers(2, 6), st.integers(0, 99))
def test_groups_are_held_out_together_and_classes_are_spread(n_folds: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, 40, 300)
    codes = groups % 2
    folds = grouped_folds(codes, groups, n_folds, seed=seed)
    for group in np.unique(groups):
        assert len(np.unique(folds[groups == group])) == 1
    largest = np.bincount(groups).max()
    for code in (0, 1):
        assert np.ptp(np.bincount(folds[codes == code], minlength=n_folds)) <= largest
    assert (folds == grouped_folds(codes, groups, n_folds, seed=seed)).all()


def test_groups_of_one_are_spread_as_evenly_as_items() -> None:
    codes = np.arange(103) % 3
    folds = grouped_folds(codes, np.arange(103), 5, seed=0)
    assert np.ptp(np.bincount(folds)) <= 1
    for code in range(3):
        assert np.ptp(np.bincount(folds[codes == code])) <= 1


def test_a_class_of_copies_of_one_item_cannot_be_held_out() -> None:
    with pytest.raises(UserError, match="all training items of class 1 are copies of one"):
        grouped_folds(np.array([0, 0, 1, 1]), np.array([0, 1, 2, 2]), 2, seed=0)


def test_folds_may_be_given() -> None:
    codes = np.array([0, 0, 1, 1, 0, 1])
    assert folds_of([7, 3, 7, 3, 3, 3], codes, seed=0).tolist() == [1, 0, 1, 0, 0, 0]
    assert (folds_of(2, codes, seed=1) == stratified_folds(codes, 2, seed=1)).all()
    with pytest.raises(DataError, match="does not fit 6 items"):
        folds_of([0, 1], codes, seed=0)
    with pytest.raises(DataError, match="all items of a class are in fold 0"):
        folds_of([0, 0, 1, 1, 0, 1], codes, seed=0)
