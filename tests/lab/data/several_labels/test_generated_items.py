"""Generated items: their labels and features follow the distribution that is said to be known."""

import numpy as np
import pytest

from quantshift.errors import DataError
from quantshift.lab.data import generate_labelled_items


def test_frequencies_are_those_of_the_model():
    items = generate_labelled_items(100_000)
    codes = items.labels.has @ (1 << np.arange(5))
    found = np.bincount(codes, minlength=32) / 100_000
    chi_squared = 100_000 * ((found - items.set_shares) ** 2 / items.set_shares).sum()
    assert chi_squared < 62  # the 99.9% quantile of 31 degrees of freedom is 61.1
    assert items.set_shares.sum() == pytest.approx(1)


def test_labels_are_correlated():
    items = generate_labelled_items(10)
    shares = items.set_shares @ items.sets
    both = items.set_shares @ (items.sets[:, 2] & items.sets[:, 4])
    assert both > 1.2 * shares[2] * shares[4]  # delivery and refund
    both = items.set_shares @ (items.sets[:, 0] & items.sets[:, 2])
    assert both < 0.8 * shares[0] * shares[2]  # account and delivery


def test_posteriors_are_calibrated_under_any_set_shares():
    even = np.full(32, 1 / 32)
    for shares in (None, even):
        items = generate_labelled_items(50_000, set_shares=shares, seed=1)
        posteriors = items.set_posteriors @ items.sets
        np.testing.assert_allclose(items.set_posteriors.sum(axis=1), 1)
        for j in range(5):
            bins = np.minimum((posteriors[:, j] * 10).astype(int), 9)
            for b in range(10):
                of = bins == b
                error = posteriors[of, j].mean() - items.labels.has[of, j].mean()
                assert abs(error) < 4.5 * np.sqrt(0.25 / of.sum())


def test_a_seed_gives_the_same_items_and_another_seed_others():
    first, again, other = (generate_labelled_items(50, seed=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.X, again.X)
    assert not np.array_equal(first.X, other.X)


@pytest.mark.parametrize(
    ("shares", "message"),
    [
        ([1.0], "must be 32 numbers"),
        ([-1, 2] + [0] * 30, "not negative"),
        ([1] * 32, "add up to 32"),
    ],
)
def test_shares_that_are_none_are_refused(shares, message):
    with pytest.raises(DataError, match=message):
        generate_labelled_items(10, set_shares=shares)
