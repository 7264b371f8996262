"""Designs of labels: guessed, checked, contradicted."""

import numpy as np
import pytest

from quantshift.errors import UserError
from quantshift.judging.designs.guessing import check_design, guess_design
from quantshift.judging.designs.registry import design_named
from quantshift.judging.items.judged_items import JudgedItems
from quantshift.judging.items.meaning import Meaning
from tests.judging.made import coded


def guessed(verdicts, labels):
    return guess_design(coded(verdicts, labels)).design.name


def check(design, items):
    return check_design(design_named(design), items)


def test_random_labels_are_taken_as_random(judging):
    labels = judging.random(101)
    assert guessed(judging.verdicts, labels) == "random"
    found = check("random", coded(judging.verdicts, labels))
    assert found.ok
    assert found.looks_like is None


@pytest.mark.parametrize("k", [40, 50, 100, 200])
def test_even_numbers_are_recognised(judging, k):
    by_verdict, by_label = judging.by_verdict(k), judging.by_label(k)
    for design, labels in (("by-verdict", by_verdict), ("by-label", by_label)):
        assert guessed(judging.verdicts, labels) == design
        assert check(design, coded(judging.verdicts, labels)).ok
        wrong = check("random", coded(judging.verdicts, labels))
        assert not wrong.ok
        assert wrong.looks_like == design
        assert str(k // 2) in wrong.sentence


def test_even_numbers_of_the_other_kind_contradict_a_design(judging):
    wrong = check("by-label", coded(judging.verdicts, judging.by_verdict(100)))
    assert (wrong.ok, wrong.looks_like) == (False, "by-verdict")
    wrong = check("by-verdict", coded(judging.verdicts, judging.by_label(100)))
    assert (wrong.ok, wrong.looks_like) == (False, "by-label")


def test_even_numbers_that_may_be_chance_do_not_contradict_random_labels():
    verdicts = np.tile([0, 1], 500)
    labels = np.full(1000, -1)
    labels[:50] = verdicts[:50]
    found = check("random", coded(verdicts, labels))
    assert found.ok
    assert found.looks_like == "by-verdict or by-label"
    assert "chance" in found.sentence
    with pytest.raises(UserError) as error:
        guessed(verdicts, labels)
    assert str(error.value) == (
        "the labelled items have 25 of each verdict and there are 25 labels of each class: say how "
        "they were chosen (by-verdict, by-label or random)"
    )


def test_labels_of_another_time_look_like_neither(judging):
    rows = np.concatenate(
        [np.flatnonzero(judging.verdicts == 0)[:70], np.flatnonzero(judging.verdicts == 1)[:41]]
    )
    labels = judging.labels(rows)
    assert guessed(judging.verdicts, labels) == "unknown"
    words = Meaning(("bad", "good"), (("fail", "pass"),), ((0, 1),))
    named = JudgedItems.of(judging.verdicts, labels, words)
    found = check("random", named)
    assert (found.ok, found.looks_like) == (False, None)
    assert "fail" in found.sentence or "pass" in found.sentence


def test_scores_tell_too(judging):
    labels = judging.labels(np.argsort(judging.score)[-90:])
    found = check("random", coded(None, labels, score=judging.score))
    assert not found.ok
    assert "scores" in found.sentence


def test_false_alarms_are_rare_where_even_numbers_are_likely():
    rng = np.random.default_rng(1)
    alarms = 0
    for _ in range(400):
        y = rng.integers(2, size=1000)
        verdicts = np.where(rng.random(1000) < 0.85, y, 1 - y)
        labels = np.where(np.arange(1000) < 40, y, -1)
        alarms += not check("random", coded(verdicts, labels)).ok
    # 5% of 400 is 20; three standard errors of 4%.
    assert alarms <= 28
