import numpy as np
import pytest

from quantshift.errors import DataError
from quantshift.items.predictions import hard_predictions, predicted_classes
from quantshift.items.samples import BLOCK_ITEMS, gathered_means, index_blocks
from quantshift.quantifiers.base.means import sample_means
from quantshift.quantifiers.counting.counting import predicted_shares


@pytest.mark.parametrize("size", [1, 7, 8, 9, 128, 129, 500, 1001, 12345])
@pytest.mark.parametrize("n_features", [1, 2, 3])
def test_means_are_those_of_numpy_to_the_last_digit(size: int, n_features: int) -> None:
    # numpy's order of summation is no promise; experiments are the same to the digit with it.
    rng = np.random.default_rng(size)
    rows = rng.random((n_features, 2000)) ** 8
    index = rng.integers(0, 2000, (4, size))
    by_numpy = np.stack([row[index].mean(axis=1) for row in rows], axis=1)
    for layout in (rows, np.asfortranarray(rows), np.repeat(rows, 2, axis=1)[:, ::2]):
        assert (gathered_means(layout, index) == by_numpy).all()


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_shares_of_predictions_are_means_of_indicators(n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    posteriors = np.round(rng.dirichlet(np.ones(n_classes), 200), 1)  # with ties
    codes, indicators = predicted_classes(posteriors), hard_predictions(posteriors)
    assert (codes[0] == posteriors.argmax(axis=1)).all()
    assert (indicators == (np.arange(n_classes)[:, np.newaxis] == codes)).all()
    for size in (1, 2, 51):
        index = rng.integers(0, 200, (5, size))
        for weights in (None, rng.random(200)):
            shares = predicted_shares(codes, index, n_classes, weights)
            assert (shares == sample_means(indicators, index, weights)).all()


def test_padding_and_errors_after_the_first_block_are_found() -> None:
    size = 500
    n_samples = 2 * (BLOCK_ITEMS // size)  # two blocks
    matrix = np.random.default_rng(0).integers(0, 100, (n_samples, size))
    matrix[-1, 7:] = -1
    found = {}
    for members, index in index_blocks(matrix, 100):
        found.update(zip(members.tolist(), index, strict=True))
    assert sorted(found) == list(range(n_samples))
    assert (found[n_samples - 1] == matrix[-1, :7]).all()
    assert all((found[i] == matrix[i]).all() for i in range(n_samples - 1))
    matrix[-1, 3] = 100
    with pytest.raises(DataError, match=f"sample {n_samples - 1} names items"):
        list(index_blocks(matrix, 100))
    matrix[-1] = -1
    with pytest.raises(DataError, match=f"sample {n_samples - 1} is empty"):
        list(index_blocks(matrix, 100))
    matrix[-1, 0] = -2
    with pytest.raises(DataError, match=f"sample {n_samples - 1} names items -2 to -2"):
        list(index_blocks(matrix, 100))
