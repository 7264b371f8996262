"""Conditions on shares."""

import dataclasses

import pytest

from quantshift.answers.conditions import Condition
from quantshift.answers.shares import Share
from quantshift.errors import UserError
from quantshift.quantifying.output.events import failures
from tests.quantifying.made import CALM, UNKNOWN, found_with


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
    assert bool(failures(found_with(CALM), [], [Condition.parse(text)])) == holds


def test_a_condition_tells_the_batch_and_the_share():
    told = failures(found_with(CALM, UNKNOWN), [], [Condition.parse("pos>0.4")])
    assert told == ["calm: pos>0.4 (43.0%)"]


def test_classes_may_have_names_of_any_kind():
    shares = tuple(Share(name, 0.5, 0.4, 0.6) for name in ("not spam", "x.low", "a>b", "1"))
    batch = dataclasses.replace(CALM, shares=shares)
    names = {"1": "Exited = 1"}
    found = found_with(batch, classes=tuple(s.label for s in shares), names=names)
    for text in ("not spam>0.3", "x.low>0.3", "x.low.low>0.3", "a>b>0.3", "1>0.3", "Exited = 1>.3"):
        assert len(failures(found, [], [Condition.parse(text)])) == 1, text
    with pytest.raises(UserError, match="unknown class 'spam'; did you mean 'not spam'"):
        failures(found, [], [Condition.parse("spam.low>0.3")])


@pytest.mark.parametrize("text", ["", "pos", "pos>", ">0.5", "pos=0.5", "pos>x", "pos>>0.5"])
def test_what_is_no_condition(text):
    with pytest.raises(UserError, match="is not a condition; write a class, > or <, and a share"):
        Condition.parse(text)


def test_a_bound_above_one_is_refused():
    with pytest.raises(UserError, match="a share is at most 1; write"):
        Condition.parse("pos>5")
    with pytest.raises(UserError, match="at most 1"):
        Condition.parse("pos>101%")
