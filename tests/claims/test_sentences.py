"""Tests of templates of sentences."""

import pytest

from quantshift.claims.sentences import Range, Value, filled, names_in


@pytest.mark.parametrize(
    ("template", "value", "expected"),
    [
        ("{n}", 1234, "1,234"),
        ("{n}", 0.25, "0.25"),
        ("{n:.1f}", 0.25, "0.2"),
        ("{n:count row}", 1, "1 row"),
        ("{n:count batch/batches}", 1200, "1,200 batches"),
        ("{n:count axis/axes}", Range(1, 3), "1 to 3 axes"),
        ("{n}", Range(3, 1200), "3 to 1,200"),
        ("{n:.0%}", Range(0.121, 0.124), "12%"),
        ("{n:.0%}", Range(0.12, 0.31), "12 to 31%"),
        ("{n:percent}", 0.004, "0.40%"),
        ("{n:whole percent}", 0.004, "0.4%"),
        ("{n:is|are}", 1, "is"),
        ("{n:is|are}", 0, "are"),
        ("{n:is|are}", Range(1, 1), "is"),
        ("{n:is|are}", Range(1, 2), "are"),
        ("{n:is|are}", ("a",), "is"),
        ("{n: so|}", True, " so"),
        ("{n: so|}", False, ""),
        ("{n:all=every|some=a part}", "some", "a part"),
        ("{n}", "a: b", "a: b"),
        ("{n:quoted}", "a", "'a'"),
        ("{n}", tuple("abcdefgh"), "a, b, c, d, e, f and 2 more"),
        ("{n:quoted 1}", ("a", "b"), "'a' and 1 more"),
        ("{n:quoted and}", ("a", "b", "c"), "'a', 'b' and 'c'"),
        ("{n:short}", 41.23456, "41.23"),
        ("{n:short}", 123456.7, "123,457"),
        ("{n:points}", 0.0514, "5.1"),
        ("{n:lowest percent}", Range(0.1, 0.2), "10.0%"),
        ("{n:highest percent}", Range(0.1, 0.2), "20.0%"),
        ("{n:highest percent}", 0.2, "20.0%"),
        ("{n:whole points}", Range(0.1, 0.14), "10 to 14"),
        ("{n:quoted and}", {"1": 80, "true": 2000}, "'1' (80) and 'true' (2,000)"),
        ("{n:quoted 1}", {"1": 80, "true": 20}, "'1' (80) and 1 more"),
        ("{n}", {"no label": 1000, "no content": 2}, "no label: 1,000, no content: 2"),
    ],
)
def test_a_value_is_said_as_its_field_asks(template: str, value: Value, expected: str) -> None:
    assert filled(template, {"n": value}) == expected


def test_a_choice_may_say_other_values() -> None:
    template = "{kind:one=the only item|some={n:count item} or more}"
    assert filled(template, {"kind": "some", "n": Range(3, 5)}) == "3 to 5 items or more"


def test_a_value_for_which_there_is_no_text_is_an_error() -> None:
    with pytest.raises(KeyError):
        filled("{kind:one=a|two=b}", {"kind": "three"})


def test_names_in_a_template_include_those_inside_of_choices() -> None:
    assert list(names_in("{{}} {a:x={b}|y={c:.1f}} {d}")) == ["a", "b", "c", "d"]
