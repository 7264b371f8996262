"""Stored answers are compared by value, and stored anew only where that is asked."""

from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.frozen import Frozen, differences


@pytest.mark.parametrize(
    ("before", "now"),
    [
        (0.5, 0.5 + 2e-8),
        (0.5, None),
        (None, 0.5),
        (1, True),
        (3, 4),
        ("yes", "no"),
        ([1.0], [1.0, 1.0]),
        ({"a": 1}, {"b": 1}),
        ({"a": {"b": [0.1, 0.2]}}, {"a": {"b": [0.1, 0.3]}}),
        (0.5, "0.5"),
    ],
    ids=repr,
)
def test_what_differs_is_found(before: Any, now: Any) -> None:
    assert differences(before, now, within=1e-8)
    assert differences(before, before, within=0.0) == []


def test_numbers_may_be_as_far_apart_as_is_said() -> None:
    assert differences([0.5, {"a": 0.0}], [0.5 + 9e-9, {"a": -9e-9}], within=1e-8) == []
    assert len(differences([0.5, {"a": 0.0}], [0.5 + 9e-9, {"a": -9e-9}], within=1e-9)) == 2


def test_answers_are_stored_one_by_one(tmp_path: Path) -> None:
    new = Frozen(write=True, folder=tmp_path)
    assert new.differences("some", "first", 0.1 + 0.2, within=0.0) == []
    assert new.differences("some", "second", [1, None], within=0.0) == []
    assert new.differences("some", "first", 0.7, within=0.0) == []
    stored = Frozen(write=False, folder=tmp_path)
    assert stored.read("some") == {"first": 0.7, "second": [1, None]}
    assert stored.differences("some", "first", 0.8, within=1e-3) == [": was 0.7, is 0.8"]
    with pytest.raises(KeyError):
        stored.differences("some", "third", 0.8, within=1e-3)
