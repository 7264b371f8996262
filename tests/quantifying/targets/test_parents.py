"""Labels within other labels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quantshift.answers.shares import Share
from quantshift.errors import DataError, UserError
from quantshift.multilabel.label_tables import LabelTable
from quantshift.quantifying.targets.parents import Parents

CHAIN = Parents.parse(["c=b", "b=a"], ["a", "b", "c"])
shares = st.tuples(*[st.floats(0, 1)] * 3).map(sorted)


def test_parents_come_before_their_children() -> None:
    assert list(CHAIN.of.items()) == [("b", "a"), ("c", "b")]


def test_names_of_labels_may_contain_the_sign() -> None:
    labels = ["a", "x=1", "x"]
    assert Parents.parse(["x=1=a"], labels).of == {"x=1": "a"}
    assert Parents.parse(["a = x=1"], labels).of == {"a": "x=1"}


@given(st.lists(shares, min_size=3, max_size=3), st.sets(st.sampled_from("abc")))
def test_no_share_or_limit_exceeds_that_of_the_parent(
    limits: list[list[float]], unknown: set[str]
) -> None:
    given_shares = {
        label: Share(label, None if label in unknown else middle, low, high)
        for label, (low, middle, high) in zip("abc", limits, strict=True)
    }
    found = CHAIN.coherent(given_shares)
    assert found["a"] == given_shares["a"]
    for share in found.values():
        assert share.low <= share.high
        assert share.estimate is None or share.low <= share.estimate <= share.high
    for child, parent in (("b", "a"), ("c", "b")):
        assert found[child].low <= found[parent].low
        assert found[child].high <= found[parent].high
        estimates = found[child].estimate, found[parent].estimate
        assert None in estimates or estimates[0] <= estimates[1]  # type: ignore[operator]
    assert CHAIN.coherent(found) == found


@given(st.lists(shares, min_size=2, max_size=2), st.tuples(st.floats(0, 1), st.floats(0, 1)))
def test_cut_limits_hold_wherever_those_of_both_labels_do(
    limits: list[list[float]], truth: tuple[float, float]
) -> None:
    parent, child = max(truth), min(truth)
    (low_a, a, high_a), (low_b, b, high_b) = limits
    both = low_a <= parent <= high_a and low_b <= child <= high_b
    given_shares = {"a": Share("a", a, low_a, high_a), "b": Share("b", b, low_b, high_b)}
    cut = Parents({"b": "a"}).coherent(given_shares)["b"]
    assert not both or cut.low <= child <= cut.high


def test_children_that_are_above_their_parent_are_told() -> None:
    above = {"a": Share("a", 0.1, 0.05, 0.15), "b": Share("b", 0.3, 0.2, 0.4)}
    assert Parents({"b": "a"}).contradictions(above) == [("b", "a")]
    above["b"] = Share("b", 0.3, 0.1, 0.4)
    assert Parents({"b": "a"}).contradictions(above) == []


def test_rows_with_a_child_but_not_its_parent_are_counted() -> None:
    has = np.array([[1, 1], [0, 1], [0, 1], [1, 0]], dtype=bool)
    with pytest.raises(DataError, match="2 rows have the label 'b' without its parent 'a'"):
        Parents({"b": "a"}).check("t", LabelTable(has, np.array(["a", "b"])))
    Parents({"b": "a"}).check("t", LabelTable(has[[0, 3]], np.array(["a", "b"])))


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("b", "does not name a label and its parent"),
        ("b=", "does not name a label and its parent"),
        ("b=x", "unknown label 'x'"),
        ("a=a", "'a' is within itself"),
    ],
)
def test_parents_that_cannot_be_are_refused(written: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        Parents.parse([written], ["a", "b"])


def test_two_parents_and_circles_are_refused() -> None:
    with pytest.raises(UserError, match="two parents, 'a' and 'b'"):
        Parents.parse(["c=a", "c=b"], ["a", "b", "c"])
    with pytest.raises(UserError, match="within itself"):
        Parents.parse(["a=b", "b=c", "c=a"], ["a", "b", "c"])
    assert Parents.parse(["c=a", "c=a"], ["a", "c"]).of == {"c": "a"}
