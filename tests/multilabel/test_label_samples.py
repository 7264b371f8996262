"""Samples have the shares that they promise, and depend on nothing but the seed."""

import numpy as np
import pytest

from quantshift.errors import DataError
from quantshift.multilabel import label_table, natural_samples, samples_of_each_label

RNG = np.random.default_rng(3)
TABLE = label_table(RNG.random((60, 3)) < [0.5, 0.2, 0.05])


def test_the_share_of_one_label_at_a_time_is_set():
    index = samples_of_each_label(TABLE, 20, points=5, repeats=2)
    assert index.shape == (3 * 5 * 2, 20)
    shares = TABLE.has[index].mean(axis=1)
    expected = np.tile(np.repeat([0, 0.25, 0.5, 0.75, 1.0], 2), 3)
    assert np.allclose(shares[np.arange(30), np.repeat([0, 1, 2], 10)], expected)


def test_items_are_repeated_only_where_there_are_too_few():
    index = samples_of_each_label(TABLE, 20, points=3)
    n_with = TABLE.has.sum(axis=0)
    for sample, (label, share) in zip(
        index, [(j, s) for j in range(3) for s in (0, 0.5, 1)], strict=True
    ):
        enough = n_with[label] >= 20 * share and 60 - n_with[label] >= 20 * (1 - share)
        assert (len(set(sample.tolist())) == 20) == enough


def test_labels_on_all_items_or_on_none_are_left_out():
    has = np.column_stack([TABLE.has[:, 0], np.zeros(60, bool), np.ones(60, bool)])
    assert len(samples_of_each_label(label_table(has), 10, points=3)) == 3
    with pytest.raises(DataError, match="no share can be set"):
        samples_of_each_label(label_table(has[:, 1:]), 10)


def test_draws_depend_on_the_seed_and_weights_alone():
    assert (natural_samples(60, 20, 3) == natural_samples(60, 20, 5)[:3]).all()
    assert (natural_samples(60, 20, 3) != natural_samples(60, 20, 3, random_state=1)).any()
    weights = np.zeros(60)
    weights[:5] = 1
    assert natural_samples(60, 20, 3, sample_weight=weights).max() < 5
    first = samples_of_each_label(TABLE, 20, points=3, repeats=1)
    more = samples_of_each_label(TABLE, 20, points=3, repeats=2)
    assert (more[::2] == first).all()
