"""Shares and names in plain words."""

import pytest

from quantshift.answers import words


def test_classes_that_say_nothing_alone_are_shown_with_their_column():
    assert words.class_names("Exited", ["0", "1"]) == {"0": "Exited = 0", "1": "Exited = 1"}
    assert words.class_names("ill", ["no", "yes"])["yes"] == "ill = yes"
    assert words.class_names("grade", ["-1.5", "2"])["2"] == "grade = 2"
    assert words.class_names("state", ["0", "worn"]) == {"0": "0", "worn": "worn"}
    assert words.class_names(None, ["0", "1"]) == {"0": "0", "1": "1"}


def test_the_headline_is_the_positive_class():
    assert words.headline_class(["no", "yes"]) == "yes"
    assert words.headline_class(["a", "b", "c"]) == "a"
    assert words.headline_class(["no", "yes"], "no") == "no"
    assert words.headline_class(["no", "yes"], "no", {"no": 5, "yes": 1}) == "no"


@pytest.mark.parametrize(
    ("labels", "counts", "expected"),
    [
        (["0", "1"], {"0": 10, "1": 90}, "1"),
        (["Positive", "negative"], {"Positive": 90, "negative": 10}, "Positive"),
        (["TRUE", "FALSE"], {"TRUE": 90, "FALSE": 10}, "TRUE"),
        (["churned", "stayed"], {"churned": 10, "stayed": 90}, "churned"),
        (["approved", "refused"], {"approved": 90, "refused": 10}, "refused"),
        (["a", "b"], {"a": 50, "b": 50}, "b"),
        (["a", "b", "c"], {"a": 50, "b": 20, "c": 30}, "b"),
        (["a", "b", "c"], {}, "a"),
        (["not spam", "spam"], None, "spam"),
        (["y", "yes"], {"y": 60, "yes": 40}, "yes"),
    ],
)
def test_the_headline_is_called_yes_or_is_the_rarest_and_never_depends_on_the_alphabet(
    labels, counts, expected
):
    assert words.headline_class(labels, None, counts) == expected
    if counts and len(set(counts.values())) == len(counts):
        assert words.headline_class(labels[::-1], None, counts) == expected


def test_names_stay_on_one_line_of_bounded_length():
    assert words.shortened("a\u2028b\nc") == "a b c"
    assert words.shortened("x" * 300) == "x" * 20 + "…" + "x" * 19
    assert len(words.shortened("x" * 300)) == words.LONGEST_NAME
