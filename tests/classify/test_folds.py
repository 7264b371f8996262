import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quantshift.classify.folds import stratified_folds
from quantshift.errors import UserError


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


def test_impossible_folds_are_refused() -> None:
    with pytest.raises(UserError, match="only 2 training items, fewer than cv=5"):
        stratified_folds(np.array([0] * 9 + [1] * 2), 5, seed=0)
    with pytest.raises(UserError, match="at least 2 folds"):
        stratified_folds(np.array([0, 1]), 1, seed=0)
