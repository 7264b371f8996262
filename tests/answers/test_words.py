"""Shares and names in plain words."""

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


def test_names_stay_on_one_line_of_bounded_length():
    assert words.shortened("a\u2028b\nc") == "a b c"
    assert words.shortened("x" * 300) == "x" * 20 + "…" + "x" * 19
    assert len(words.shortened("x" * 300)) == words.LONGEST_NAME
