"""Labels chosen by label: the joint posterior of the other items, and those that are known."""

import numpy as np
import pytest

from quantshift.judging.estimating.estimation import estimate
from quantshift.judging.items.judged_items import Settings
from quantshift.labelling.transfer import gain_of_known_items, prevalences, square
from tests.judging.made import coded


def test_the_estimate_is_that_of_the_joint_posterior_and_of_known_items(judging):
    labels, v = judging.by_label(200), judging.verdicts
    known = labels >= 0
    F = np.array([[((labels == y) & (v == c)).sum() for c in (0, 1)] for y in (0, 1)])
    rest = prevalences(F, [np.bincount(v[~known])])
    found = estimate(coded(v, labels), "by-label", Settings(of="population")).shares
    assert found.prevalence == pytest.approx(0.9 * rest.prevalence[0] + 0.1 * 0.5)


def _of_table(F, N, **given):
    """Items of which those of a table of classes by verdicts are labelled, and N are not."""
    y, v = (np.repeat(codes.ravel(), F.ravel()) for codes in np.indices(F.shape))
    rest = np.repeat(np.arange(len(N)), N)
    labels = np.concatenate([y, np.full(len(rest), -1)])
    return coded(np.concatenate([v, rest]), labels, n_classes=len(F), **given)


@pytest.mark.parametrize("seen", [50, 56, 59, 65, 71])
def test_all_items_of_a_class_may_have_been_labelled(seen):
    """So it is if a posterior probability of it is above half of one minus the level."""
    F, N = np.array([[80, 20], [10, 90]]), np.array([200 - seen, seen])
    found = estimate(_of_table(F, N), "by-label").shares
    alpha, _, _ = square(F, N[np.newaxis], np.eye(2))
    first = prevalences(F, [N], directions=np.eye(2))
    gain = gain_of_known_items(alpha, np.eye(2), first.prevalence[0])
    negative = prevalences(F, gain * N[np.newaxis], directions=np.eye(2)).negative[0]
    known = F.sum(axis=1) / (F.sum() + N.sum())
    assert (np.isclose(found.low, known)).tolist() == (negative > 0.025).tolist()


def test_what_a_label_adds_is_in_proportion_to_its_weight():
    F, N = np.array([[40, 10], [5, 45]]), np.array([60, 40])
    weights = np.where(np.arange(200) % 2, 0.5, 1.5)
    influence = estimate(_of_table(F, N, weights=weights), "by-label").shares.influence
    assert (influence[1] != 0).all()
    assert influence[0] == pytest.approx(3 * influence[1])
    assert influence[90] == pytest.approx(3 * influence[91])


def test_a_judge_with_fewer_verdicts_than_there_are_classes_has_an_influence_of_its_own():
    F, N = np.array([[30, 5], [5, 30], [10, 20]]), np.array([60, 40])
    found = estimate(_of_table(F, N, says=[[0, 1]]), "by-label").shares
    assert np.isfinite(found.influence).all()
    assert found.influence.sum(axis=1) == pytest.approx(np.zeros(200), abs=1e-9)
