"""Sets of labels as classes."""

import numpy as np
import pytest

from quantshift.errors import DataError
from quantshift.multilabel import SetsAsClasses


@pytest.mark.parametrize(("n", "n_classes"), [(5, 4), (4, 3)])
def test_a_set_of_five_items_is_a_class_of_its_own(n, n_classes):
    """Two rare sets of four together are one class."""
    has = np.repeat([[0, 0], [1, 0], [0, 1], [1, 1]], [20, 20, n, n], axis=0)
    X = 3.0 * has + np.random.default_rng(0).normal(size=has.shape) / 10
    assert len(SetsAsClasses().fit(X, has).label_shares_) == n_classes


def test_without_a_frequent_set_there_is_nothing_to_learn():
    has = np.repeat([[0, 0], [1, 0], [0, 1]], 4, axis=0)
    with pytest.raises(DataError, match="set `fewest` lower"):
        SetsAsClasses().fit(np.ones((12, 1)), has)


def test_a_row_for_each_item():
    with pytest.raises(DataError, match="X has 3 items but Y has 4"):
        SetsAsClasses().fit(np.ones((3, 1)), np.eye(4, 2))
