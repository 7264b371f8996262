"""Which class is the headline."""

import pytest

from quantshift.answers.words import headline_class


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
def test_it_is_called_yes_or_is_the_rarest_and_never_depends_on_the_alphabet(
    labels, counts, expected
):
    assert headline_class(labels, None, counts) == expected
    if counts and len(set(counts.values())) == len(counts):
        assert headline_class(labels[::-1], None, counts) == expected


def test_the_named_class_comes_first():
    assert headline_class(["no", "yes"], "no", {"no": 5, "yes": 1}) == "no"
