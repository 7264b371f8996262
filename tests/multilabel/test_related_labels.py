"""Groups join what belongs together, whatever the order of the labels."""

import numpy as np
import pytest

from quantshift.multilabel.related_labels import _correlations, related_groups


def table(n_items=400):
    rng = np.random.default_rng(0)
    topics = rng.integers(3, size=n_items)
    columns = []
    for topic in range(3):
        for rate in (0.9, 0.7, 0.5):
            columns.append((topics == topic) & (rng.random(n_items) < rate))
    return np.column_stack(columns)


def test_few_labels_are_one_group():
    assert [g.tolist() for g in related_groups(table(), 9)] == [list(range(9))]


def test_related_labels_share_a_group():
    groups = {frozenset(group.tolist()) for group in related_groups(table(), 3)}
    assert groups == {frozenset({0, 1, 2}), frozenset({3, 4, 5}), frozenset({6, 7, 8})}


def test_the_order_of_labels_and_whole_weights_do_not_matter():
    has, order = table(), np.random.default_rng(1).permutation(9)
    expected = {frozenset(group.tolist()) for group in related_groups(has, 4)}
    turned = related_groups(has[:, order], 4)
    assert {frozenset(order[group].tolist()) for group in turned} == expected
    counts = np.random.default_rng(2).integers(1, 4, size=len(has))
    weighted = related_groups(has, 4, counts.astype(float))
    repeated = related_groups(np.repeat(has, counts, axis=0), 4)
    assert [g.tolist() for g in weighted] == [g.tolist() for g in repeated]
    assert all(len(group) <= 4 for group in turned)
    assert sorted(np.concatenate(turned)) == list(range(9))


def test_correlations_are_pearson_s():
    has = table()
    found, share = _correlations(has, None)
    assert found == pytest.approx(np.abs(np.corrcoef(has.T)))
    assert share == pytest.approx(has.mean(axis=0))
