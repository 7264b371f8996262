import numpy as np
import pytest
from numpy.testing import assert_array_equal

from quantshift.sketches.cells import rounded
from quantshift.sketches.cells import score as cells


def rows(n_classes: int, n: int = 4000) -> np.ndarray:
    rng = np.random.default_rng(n_classes)
    mixed = [rng.dirichlet([alpha] * n_classes, n // 4) for alpha in (0.05, 0.3, 1.0, 20.0)]
    ties = np.full((3, n_classes), 1 / n_classes)
    return cells.rescaled(np.concatenate([*mixed, np.eye(n_classes), ties]))


@pytest.mark.parametrize("n_classes", [3, 5, 12])
def test_rounding_keeps_the_prediction_and_the_size_of_every_posterior(n_classes):
    posteriors = rows(n_classes)
    largest, codes = rounded.rounded_cells(posteriors)
    for back in (rounded.middles(largest, codes), rounded.stands_for(largest, codes)):
        np.testing.assert_allclose(back.sum(axis=1), 1.0, atol=1e-9)
        # A cell is 1/2048 of a posterior wide; what is below 2**-24 is absolute.
        others = np.ones_like(back, dtype=bool)
        others[np.arange(len(back)), largest] = False
        error = np.abs(back - posteriors)
        assert (error[others] <= posteriors[others] / 2048 + 2.0**-30).all()
        left, found = 1 - posteriors.max(axis=1), 1 - back.max(axis=1)
        assert (np.abs(found - left) <= left / 1024 + 2.0**-28).all()
    assert_array_equal(rounded.stands_for(largest, codes).argmax(axis=1), posteriors.argmax(axis=1))


def test_middles_are_multiples_of_a_power_of_two():
    back = rounded.middles(*rounded.rounded_cells(rows(5)))
    assert_array_equal(back * 2.0**37, np.round(back * 2.0**37))
    assert_array_equal(back.sum(axis=1), 1.0)


def test_rows_with_few_digits_come_back_as_they_were():
    rng = np.random.default_rng(0)
    votes = rng.multinomial(100, [0.5, 0.3, 0.2], 2000) / 100
    assert_array_equal(rounded.stands_for(*rounded.rounded_cells(votes)), votes)
