"""What is kept of a long table: everything that fits, else a fair draw from every batch."""

import numpy as np
import pytest

from quantshift.items.items import Items
from quantshift.quantifying.training.reservoir import Reservoir, common_size


def filled(sizes, *, most, most_each=None, seed=0, chunk=10, marked=()):
    """A reservoir that has read batches of these sizes, their items mixed."""
    rng = np.random.default_rng(1)
    batches = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    numbers = np.arange(1, len(batches) + 1)
    marks = np.where(np.isin(numbers, marked), 7, -1)
    rng = np.random.default_rng(seed)
    reservoir = Reservoir(Items(), rng, most=most, most_each=most_each)
    for start in range(0, len(batches), chunk):
        part = slice(start, start + chunk)
        values = Items(features=numbers[part, np.newaxis] / 2)
        reservoir.add(values, batches[part], numbers[part], marks[part])
    return reservoir, batches


def test_what_fits_is_kept_as_it_came():
    reservoir, batches = filled([30, 40], most=70)
    kept = reservoir.kept()
    np.testing.assert_array_equal(kept.numbers, np.arange(1, 71))
    np.testing.assert_array_equal(kept.batches, batches)
    np.testing.assert_array_equal(kept.values.features[:, 0], kept.numbers / 2)
    np.testing.assert_array_equal(reservoir.sizes, [30, 40])


def test_large_batches_are_cut_and_small_ones_stay_whole():
    reservoir, batches = filled([500, 20, 300], most=100)
    kept = reservoir.kept()
    np.testing.assert_array_equal(np.bincount(kept.batches), [40, 20, 40])
    np.testing.assert_array_equal(reservoir.sizes, [500, 20, 300])
    np.testing.assert_array_equal(kept.batches, batches[kept.numbers - 1])
    np.testing.assert_array_equal(kept.values.features[:, 0], kept.numbers / 2)
    assert np.all(np.diff(kept.numbers) > 0)


def test_of_one_batch_less_is_kept_than_of_all():
    reservoir, _ = filled([500, 20, 300], most=200, most_each=30)
    np.testing.assert_array_equal(np.bincount(reservoir.kept().batches), [30, 20, 30])
    reservoir, _ = filled([500, 20, 300], most=60, most_each=30)
    np.testing.assert_array_equal(np.bincount(reservoir.kept().batches), [20, 20, 20])


def test_no_more_is_held_at_a_time_than_asked_for():
    reservoir, _ = filled([5000], most=1000, most_each=100)
    assert sum(map(len, reservoir._parts)) <= 125


def test_chunks_do_not_matter():
    small, large = (filled([500, 20, 300], most=100, chunk=c)[0].kept() for c in (7, 400))
    np.testing.assert_array_equal(small.numbers, large.numbers)


def test_every_item_is_as_likely_as_any_other():
    counts = np.zeros(200)
    for seed in range(400):
        kept = filled([200], most=20, seed=seed)[0].kept()
        counts[kept.numbers - 1] += 1
    # 40 expected of each, with a standard deviation of 6.
    assert abs(counts[:100].sum() - 4000) < 4 * 6 * 10
    assert counts.min() > 15
    assert counts.max() < 70


def test_marked_items_stay():
    marked = [3, 250, 799]
    kept = filled([500, 300], most=50, marked=marked)[0].kept()
    assert set(kept.numbers[kept.marks == 7].tolist()) == set(marked)
    assert len(kept) <= 50 + len(marked)


def test_nothing_read_is_nothing_kept():
    kept = Reservoir(Items(), np.random.default_rng(0), most=5).kept()
    assert len(kept) == 0
    assert len(kept.values) == len(kept.numbers) == 0


@pytest.mark.parametrize(
    ("sizes", "most", "size"), [([5, 5], 10, 5), ([5, 5], 9, 4), ([9, 1], 6, 5), ([3, 3, 3], 1, 1)]
)
def test_the_common_size(sizes, most, size):
    assert common_size(np.array(sizes), most) == size
