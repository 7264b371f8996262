"""Protocols by name: those of the package, and users' own."""

import pytest

from quantshift import PriorShift
from quantshift.errors import UserError
from quantshift.lab.shifts.catalogue import protocol_class


def test_the_name_of_a_protocol_and_what_is_none():
    assert protocol_class("prior") is PriorShift
    assert protocol_class("quantshift:PriorShift") is PriorShift
    with pytest.raises(UserError, match="is not a protocol; derive it from"):
        protocol_class("quantshift:SLD")
    with pytest.raises(UserError, match="unknown kind of shift 'piror'; did you mean 'prior'"):
        protocol_class("piror")
