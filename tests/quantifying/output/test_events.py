"""Conditions for scripts: what they say, when they hold, and how they are refused."""

import dataclasses

import pytest

from quantshift.answers.conditions import check_events
from quantshift.answers.shares import Share
from quantshift.errors import UserError
from quantshift.quantifying.output.events import is_unreliable
from quantshift.quantifying.result import Audited
from tests.quantifying.made import BATCH, CALM, SHARES, UNKNOWN, found_with


def test_events():
    changed = dataclasses.replace(CALM, name="c", change=("pos",))
    found = found_with(CALM, BATCH, changed)
    assert found.held(["shift"]) == ["new.csv: shift (p = 0.002)"]
    assert found.held(["changed"]) == ["c: changed"]
    assert found.held(["unreliable"]) == ["new.csv: unreliable (shift, p = 0.002)"]
    assert found.held([]) == []
    with pytest.raises(UserError, match="unknown condition 'shft'; did you mean 'shift'"):
        check_events(["shft"])
    with pytest.raises(UserError, match=r"'pos>0\.2' is a bound on a share") as refused:
        check_events(["pos>0.2"])
    assert refused.value.arguments == ("fail_if",)


def test_what_is_unreliable():
    assert not is_unreliable(CALM)
    assert is_unreliable(UNKNOWN)
    assert is_unreliable(dataclasses.replace(CALM, shares=(Share("pos", 0.5, 0.29, 0.7),)))
    assert not is_unreliable(dataclasses.replace(CALM, shares=(Share("pos", 0.5, 0.31, 0.7),)))
    assert is_unreliable(BATCH)
    audit = Audited(50, 0.8, SHARES, SHARES, contradicts=False)
    assert not is_unreliable(dataclasses.replace(BATCH, audit=audit))
