"""The split into a training pool and a test pool."""

import numpy as np
import pytest

from quantshift.errors import DataError, UserError
from quantshift.lab.shifts import split_pools

Y = np.arange(400) % 2
CATEGORIES = np.where(np.arange(400) % 4 < 2, "A", "B")


def test_split_pools_takes_the_share_of_every_stratum():
    train, test = split_pools(CATEGORIES, Y, seed=3)
    assert np.array_equal(np.sort(np.concatenate([train, test])), np.arange(400))
    for category in "AB":
        for label in (0, 1):
            inside = (CATEGORIES[train] == category) & (Y[train] == label)
            assert inside.sum() == 60


def test_split_pools_depends_on_the_seed_not_on_the_kind_of_label():
    train, _ = split_pools(Y, seed=3)
    assert train.tolist() == split_pools(Y.astype(bool), seed=3)[0].tolist()
    assert train.tolist() == split_pools(np.where(Y, "pos", "neg"), seed=3)[0].tolist()
    assert train.tolist() != split_pools(Y, seed=4)[0].tolist()


def test_split_pools_refuses_what_it_cannot_do():
    with pytest.raises(UserError, match="needs a column"):
        split_pools(seed=0)
    with pytest.raises(UserError, match="train_share=1"):
        split_pools(Y, train_share=1)
    with pytest.raises(DataError, match="differ in length"):
        split_pools(Y, Y[:-1])
