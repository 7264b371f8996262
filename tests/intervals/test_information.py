"""Whether posteriors tell classes apart: the rank sum test, by posterior and by prediction."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu, norm

from quantshift.intervals.information import far_surer, rank_sum_z, told_apart


@given(
    st.lists(st.integers(0, 4), min_size=2, max_size=30),
    st.lists(st.integers(0, 4), min_size=2, max_size=30),
)
def test_the_test_is_scipy_s(x: list[int], y: list[int]) -> None:
    z = rank_sum_z(np.array(x, float), np.array(y, float))
    if len(set(x + y)) == 1:
        assert z == 0
        return
    theirs = mannwhitneyu(x, y, use_continuity=False, method="asymptotic", alternative="greater")
    assert norm.sf(z) == pytest.approx(theirs.pvalue)


def test_of_three_classes_one_is_told_from_two_that_look_alike() -> None:
    posteriors = np.array([[0.5, 0.4, 0.1], [0.4, 0.5, 0.1], [0.1, 0.1, 0.8]]).repeat(20, axis=0)
    codes = np.concatenate([np.tile([0, 1], 20), np.full(20, 2)])
    apart = told_apart(posteriors, codes, crisp=False)
    assert apart.tolist() == [[True, False, True], [False, True, True], [True, True, True]]


def test_predictions_may_say_less_than_posteriors() -> None:
    positive = np.concatenate([np.linspace(0.1, 0.3, 50), np.linspace(0.2, 0.4, 50)])
    posteriors, codes = np.stack([1 - positive, positive], axis=1), np.repeat([0, 1], 50)
    assert told_apart(posteriors, codes, crisp=False).all()
    assert not told_apart(posteriors, codes, crisp=True)[0, 1]


def test_chance_is_taken_for_information_no_more_often_than_it_may() -> None:
    rng = np.random.default_rng(0)
    positive = rng.random((4000, 60))
    codes = np.repeat([0, 1], [20, 40])
    told = [
        told_apart(np.stack([1 - own, own], axis=1), codes, crisp=False)[0, 1] for own in positive
    ]
    assert 0 < np.mean(told) < 0.003  # one side of .002


def test_posteriors_the_wrong_way_round_are_information_and_a_little_worse_than_chance_is_not():
    codes = np.repeat([0, 1], 50)
    wrong = np.linspace(0.9, 0.1, 100)
    assert told_apart(np.stack([1 - wrong, wrong], axis=1), codes, crisp=False).all()
    folds = told_apart(np.stack([1 - wrong, wrong], axis=1), codes, crisp=False, cross_fitted=True)
    assert not folds[0, 1]
    noise = np.random.default_rng(1).normal(0, 1, 100)
    positive = norm.cdf(noise - 0.45 * codes)
    assert -3.5 < rank_sum_z(positive[codes == 1], positive[codes == 0]) < -2
    assert not told_apart(np.stack([1 - positive, positive], axis=1), codes, crisp=False)[0, 1]


def of_two(second: list[float]) -> np.ndarray:
    return np.column_stack([1 - np.array(second), second])


def test_far_surer_than_any_training_item() -> None:
    training = of_two([0.01, 0.4, 0.7, 0.98])  # the least doubt is 0.01
    sure, ordinary = [0.9995] * 6, [0.5] * 5
    assert far_surer(of_two(sure + ordinary), training)
    assert far_surer(of_two([1 - p for p in sure]), training)
    # As sure as ten times less doubt is a matter of degree.
    assert not far_surer(of_two([0.998] * 6), training)
    assert not far_surer(of_two(sure + ordinary + [0.5]), training)
    assert not far_surer(of_two(sure[:4]), training)
    # A classifier that was certain in training may be so again; without training nothing is known.
    assert not far_surer(of_two([1.0] * 9), of_two([0.3, 1.0]))
    assert not far_surer(of_two(sure), None)


def test_rows_stand_for_as_many_items_as_they_count() -> None:
    training, rows = of_two([0.05, 0.9]), of_two([0.999, 0.6])
    assert far_surer(rows, training, np.array([7.0, 6.0]))
    assert not far_surer(rows, training, np.array([6.0, 6.0]))
    assert not far_surer(rows, training, np.array([4.0, 0.0]))
