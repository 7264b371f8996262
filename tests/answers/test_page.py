"""What the pages of all answers have in common."""

from types import SimpleNamespace

from quantshift.answers.conditions import Condition
from quantshift.answers.page import MOST_BYTES, data_links, on_one_line, thresholds


def test_a_threshold_has_the_class_and_the_bound_of_its_condition():
    result = SimpleNamespace(classes=("0", "1"), names={"0": "no", "1": "yes"})
    conditions = [Condition.parse(text) for text in ("yes.low > 5%", "0 <= 0.25")]
    assert thresholds(result, conditions) == [
        {"label": "1", "bound": 0.05, "text": "yes.low > 5%"},
        {"label": "0", "bound": 0.25, "text": "0 <= 0.25"},
    ]


def test_texts_are_on_one_line_wherever_they_are_and_nothing_else_changes():
    value = {"a\nb": ["c\nd", 1, None, {"e": ("f\n", 2.5)}], "g": True}
    found = on_one_line(value)
    assert all("\n" not in text for text in (next(iter(found)), found["a b"][0]))
    assert found["a b"][1:3] == [1, None]
    assert found["a b"][3]["e"][1] == 2.5
    assert found["g"] is True


def test_data_that_browsers_do_not_save_have_no_link():
    assert [kind for kind, *_ in data_links("{}", "a")] == ["CSV", "JSON"]
    assert [kind for kind, *_ in data_links("{}", "a" * MOST_BYTES)] == ["JSON"]
    largest = MOST_BYTES // 4 * 3
    assert [kind for kind, *_ in data_links("{}", "a" * largest)] == ["CSV", "JSON"]
