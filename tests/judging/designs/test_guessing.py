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


def two_judges(seed, n=1000):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.8).astype(int)
    right = rng.random((n, 2)) < np.where(y == 1, 0.95, 0.8)[:, np.newaxis]
    return rng, y, np.where(right, y[:, np.newaxis], 1 - y[:, np.newaxis])


def labels_of(y, *rows):
    labels = np.full(len(y), -1)
    chosen = np.concatenate(rows)
    labels[chosen] = y[chosen]
    return labels


def test_round_numbers_by_chance_do_not_hide_that_disputed_items_were_preferred():
    """30 and 70 of the first judge's verdicts, or 20 and 80 labels, most of them disputed."""
    rng, y, v = two_judges(0)
    meaning, apart = Meaning.of_codes(2, n_judges=2), v[:, 0] != v[:, 1]
    for of in (v[:, 0], y):
        parts = [
            rng.choice(np.flatnonzero((of == side) & (apart == disputed)), k, replace=False)
            for side, disputed, k in ((0, True, 12), (0, False, 18), (1, True, 38), (1, False, 32))
        ]
        items = JudgedItems.of(v, labels_of(y, *parts), meaning)
        assert guess_design(items).design.name == "unknown"
    found = check("by-label", items)
    assert not found.ok
    assert "no shares of the classes" in found.sentence


def test_numbers_of_one_judges_verdicts_or_of_labels_are_still_recognised_with_two_judges():
    rng, y, v = two_judges(1)
    meaning = Meaning.of_codes(2, n_judges=2)
    for name, of in (("by-verdict", v[:, 0]), ("by-label", y)):
        rows = [
            rng.choice(np.flatnonzero(of == side), k, replace=False)
            for side, k in ((0, 60), (1, 40))
        ]
        items = JudgedItems.of(v, labels_of(y, *rows), meaning)
        assert guess_design(items).design.name == name
        assert check(name, items).ok
