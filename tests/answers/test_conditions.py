"""Conditions on shares."""

import dataclasses

import pytest

from quantshift.answers.conditions import DECIDED_BY, Condition, Outcome, declared_in, failures_of
from quantshift.answers.shares import Share
from quantshift.claims import Facts, Labelled, Reason, decide
from quantshift.errors import UserError
from tests.claims.made import FACTS, GROUNDS
from tests.quantifying.made import CALM, RANGED, TWOFOLD, UNKNOWN, found_with


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("pos>0.4", True),
        ("pos > 40%", True),
        ("pos>40%", True),
        ("pos>0.43", False),
        ("pos>=0.43", True),
        ("pos<0.43", False),
        ("pos<=.43", True),
        ("pos<0.5", True),
        ("pos.low>0.4", False),
        ("pos.low>0.37", True),
        ("pos.high>0.49", True),
        ("neg<0.5", False),
    ],
)
def test_bounds_on_the_share_of_a_class(text, holds):
    assert bool(failures_of([Condition.parse(text)], found_with(CALM))) == holds


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("pos>0.3", Outcome.HOLDS),
        ("pos>0.43", Outcome.IS_OPEN),
        ("pos>0.5", Outcome.DOES_NOT_HOLD),
        ("pos>=0.5", Outcome.IS_OPEN),
        ("pos<=0.5", Outcome.HOLDS),
        ("pos<0.375", Outcome.DOES_NOT_HOLD),
        ("pos.low>0.37", Outcome.HOLDS),
        ("pos.low>0.43", Outcome.DOES_NOT_HOLD),
        ("pos.high<0.43", Outcome.DOES_NOT_HOLD),
    ],
)
def test_a_range_must_be_on_one_side_of_the_bound(text, outcome):
    (found,) = Condition.parse(text).checked(found_with(RANGED))
    assert found.outcome is outcome


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("pos>0.1", Outcome.HOLDS),
        ("pos>0.15", Outcome.IS_OPEN),
        ("pos>=0.43", Outcome.IS_OPEN),
        ("pos>0.43", Outcome.DOES_NOT_HOLD),
        ("pos<0.1", Outcome.DOES_NOT_HOLD),
        ("neg>0.5", Outcome.HOLDS),
        ("pos.low>0.05", Outcome.HOLDS),
        ("pos.low>0.2", Outcome.IS_OPEN),
        ("pos.high<0.6", Outcome.HOLDS),
        ("pos.high<0.2", Outcome.DOES_NOT_HOLD),
    ],
)
def test_of_two_intervals_both_must_say_the_same(text, outcome):
    (found,) = Condition.parse(text).checked(found_with(TWOFOLD))
    assert found.outcome is outcome


def test_where_nothing_can_be_estimated_every_condition_is_open():
    for text in ("pos>0", "pos.low>=0", "pos.high>0.4"):
        (found,) = Condition.parse(text).checked(found_with(UNKNOWN))
        assert found.outcome is Outcome.IS_OPEN


def test_what_rests_on_a_declaration_decides_and_what_rests_on_a_guess_does_not():
    declared, guessed = (
        dataclasses.replace(CALM, grounds=GROUNDS[reason])
        for reason in (Reason.DECLARED, Reason.GUESSED)
    )
    condition = Condition.parse("pos>0.4")
    (found,) = condition.checked(found_with(declared))
    assert found.outcome is Outcome.HOLDS
    for text in ("pos>0.4", "pos.low>0.1", "pos<0.9"):
        (found,) = Condition.parse(text).checked(found_with(guessed))
        assert found.outcome is Outcome.IS_OPEN
    bounds = decide(Facts(None, labelled=Labelled(stated=False, bounds=True)))
    (found,) = condition.checked(found_with(dataclasses.replace(RANGED, grounds=bounds)))
    assert found.outcome is Outcome.IS_OPEN


def test_every_kind_of_answer_says_what_decides_a_condition():
    assert {decide(facts).kind for facts in FACTS.values()} <= DECIDED_BY.keys()


def test_answers_that_rest_on_a_declaration_are_an_event():
    declared = dataclasses.replace(CALM, name="d", grounds=GROUNDS[Reason.DECLARED])
    result = found_with(CALM, declared)
    assert result.held(["declared"]) == declared_in(result) == ["d: declared"]


def test_a_condition_tells_the_batch_and_the_share():
    told = failures_of([Condition.parse("pos>0.4")], found_with(CALM, UNKNOWN))
    assert told == ["calm: pos>0.4 (43.0%)"]


def test_classes_may_have_names_of_any_kind():
    shares = tuple(Share(name, 0.5, 0.4, 0.6) for name in ("not spam", "x.low", "a>b", "1"))
    batch = dataclasses.replace(CALM, shares=shares)
    names = {"1": "Exited = 1"}
    found = found_with(batch, classes=tuple(s.label for s in shares), names=names)
    for text in ("not spam>0.3", "x.low>0.3", "x.low.low>0.3", "a>b>0.3", "1>0.3", "Exited = 1>.3"):
        assert len(failures_of([Condition.parse(text)], found)) == 1, text
    with pytest.raises(UserError, match="unknown class 'spam'; did you mean 'not spam'"):
        failures_of([Condition.parse("spam.low>0.3")], found)


@pytest.mark.parametrize("text", ["", "pos", "pos>", ">0.5", "pos=0.5", "pos>x", "pos>>0.5"])
def test_what_is_no_condition(text):
    with pytest.raises(UserError, match="is not a condition; write a class, > or <, and a share"):
        Condition.parse(text)


def test_a_bound_above_one_is_refused():
    with pytest.raises(UserError, match="a share is at most 1; write"):
        Condition.parse("pos>5")
    with pytest.raises(UserError, match="at most 1"):
        Condition.parse("pos>101%")
