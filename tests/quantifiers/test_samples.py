import numpy as np
import pytest

from quantshift.quantifiers.samples import gathered_means


@pytest.mark.parametrize("size", [1, 7, 8, 9, 128, 129, 500, 1001, 12345])
def test_means_are_those_of_numpy_to_the_last_digit(size: int) -> None:
    # numpy's order of summation is no promise; experiments are the same to the digit with it.
    rng = np.random.default_rng(size)
    rows = rng.random((3, 2000)) ** 8
    index = rng.integers(0, 2000, (4, size))
    by_numpy = np.stack([row[index].mean(axis=1) for row in rows], axis=1)
    assert (gathered_means(rows, index) == by_numpy).all()
