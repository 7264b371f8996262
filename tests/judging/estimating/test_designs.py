"""Designs of labels: guessed, checked, contradicted."""

import numpy as np
import pytest

from quantshift.errors import UserError
from quantshift.judging.estimating.designs import DESIGNS, check, even, guessed


def test_random_labels_are_taken_as_random(judging):
    labels = judging.random(101)
    assert guessed(judging.verdicts, labels, 2).design == "random"
    found = check("random", judging.verdicts, labels, 2)
    assert found.ok
    assert found.looks_like is None


@pytest.mark.parametrize("k", [40, 50, 100, 200])
def test_even_numbers_are_recognised(judging, k):
    by_verdict, by_label = judging.by_verdict(k), judging.by_label(k)
    for design, labels in (("by-verdict", by_verdict), ("by-label", by_label)):
        assert guessed(judging.verdicts, labels, 2).design == design
        assert check(design, judging.verdicts, labels, 2).ok
        wrong = check("random", judging.verdicts, labels, 2)
        assert not wrong.ok
        assert wrong.looks_like == design
        assert str(k // 2) in wrong.sentence


def test_even_numbers_of_the_other_kind_contradict_a_design(judging):
    wrong = check("by-label", judging.verdicts, judging.by_verdict(100), 2)
    assert (wrong.ok, wrong.looks_like) == (False, "by-verdict")
    wrong = check("by-verdict", judging.verdicts, judging.by_label(100), 2)
    assert (wrong.ok, wrong.looks_like) == (False, "by-label")


def test_even_numbers_that_may_be_chance_do_not_contradict_random_labels():
    verdicts = np.tile([0, 1], 500)
    labels = np.full(1000, -1)
    labels[:50] = verdicts[:50]
    found = check("random", verdicts, labels, 2)
    assert found.ok
    assert found.looks_like == "by-verdict or by-label"
    assert "chance" in found.sentence
    with pytest.raises(UserError, match="say whether"):
        guessed(verdicts, labels, 2)


def test_labels_of_another_time_look_like_neither(judging):
    rows = np.concatenate(
        [np.flatnonzero(judging.verdicts == 0)[:70], np.flatnonzero(judging.verdicts == 1)[:41]]
    )
    labels = judging.labels(rows)
    assert guessed(judging.verdicts, labels, 2).design == "elsewhere"
    found = check("random", judging.verdicts, labels, 2, verdict_names=("fail", "pass"))
    assert (found.ok, found.looks_like) == (False, "elsewhere")
    assert "fail" in found.sentence or "pass" in found.sentence


def test_scores_tell_too(judging):
    labels = judging.labels(np.argsort(judging.score)[-90:])
    found = check("random", None, labels, 2, score=judging.score)
    assert not found.ok
    assert "scores" in found.sentence


def test_three_classes_as_even_as_they_can_be():
    assert even(np.array([17, 17, 16]))
    assert not even(np.array([18, 16, 16]))
    assert not even(np.array([50]))


def test_false_alarms_are_rare_where_even_numbers_are_likely():
    rng = np.random.default_rng(1)
    alarms = 0
    for _ in range(400):
        y = rng.integers(2, size=1000)
        verdicts = np.where(rng.random(1000) < 0.85, y, 1 - y)
        labels = np.where(np.arange(1000) < 40, y, -1)
        alarms += not check("random", verdicts, labels, 2).ok
    # 5% of 400 is 20; three standard errors of 4%.
    assert alarms <= 28


def test_an_unknown_design_is_named():
    with pytest.raises(UserError, match="did you mean 'by-label'"):
        check("by-labels", [0, 1], [0, -1], 2)
    assert len(DESIGNS) == 4
