"""What natural shift promises, whatever the groups."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from quantshift.errors import DataError
from quantshift.lab.shifts import GroupShift

DESIGNS = ("leave-one-out", "one-to-others", "forward")

sizes = st.lists(st.integers(1, 60), min_size=2, max_size=7)
shifts = st.builds(
    GroupShift,
    design=st.sampled_from(DESIGNS),
    ahead=st.integers(1, 3),
    smallest=st.integers(1, 40),
    train_size=st.none() | st.integers(1, 80),
    test_size=st.none() | st.integers(1, 30),
    seed=st.integers(0, 2**32),
)


@given(shift=shifts, sizes=sizes, seed=st.integers(0, 100))
def test_sides_are_apart_groups_large_enough_and_nothing_is_learnt_from_the_future(
    shift, sizes, seed
):
    rng = np.random.default_rng(seed)
    years = rng.permutation(np.repeat(1990 + 3 * np.arange(len(sizes)), sizes))
    y = rng.integers(2, size=len(years))
    try:
        pairs = list(shift.train_test(y, years))
    except DataError:  # too few groups, or items of a class
        return
    assert pairs
    known = shift.surveyed(y, years)
    assert len(pairs) == known.count_training_sets()
    for pair in pairs:
        assert len(pair.tests) == known.count_samples()
        trained = set(years[pair.train.indices].tolist())
        everything = set(pair.train.indices.tolist())
        for test in pair.tests:
            (group,) = set(years[test.indices].tolist())
            assert everything.isdisjoint(test.indices.tolist())
            assert group not in trained
            assert (years == group).sum() >= shift.smallest
            assert str(group) == test.coordinates["group_test"]
            if shift.design == "forward":
                assert max(trained) < group
        assert all((years == year).sum() >= shift.smallest for year in trained)
        again = shift.training_set(pair.train.coordinates, y, years)
        assert again.indices.tolist() == pair.train.indices.tolist()
