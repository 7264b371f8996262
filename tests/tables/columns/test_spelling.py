"""Names that differ only in case or blanks, or look mistyped."""

from quantshift.tables.columns.findings import TableFindings
from quantshift.tables.columns.spelling import (
    known_spellings,
    mistyped,
    odd_labels,
    respelt_labels,
    usual_spellings,
)
from tests.found import numbers_of


def test_the_most_frequent_spelling_is_the_usual_one():
    counts = {"YES": 3, "Yes": 40, "yes": 2, "No": 9, "NO": 9, "maybe": 1}
    assert usual_spellings(counts) == {"YES": "Yes", "yes": "Yes", "No": "NO"}


def test_a_given_spelling_is_right_however_rare():
    assert usual_spellings({"YES": 40, "Yes": 1}, ["Yes"]) == {"YES": "Yes"}
    assert usual_spellings({"a b": 5, "A  B": 1}) == {"A  B": "a b"}


def test_only_one_fitting_name_is_a_match():
    known = ["Two year", "Month", "month"]
    assert known_spellings(["two  YEAR", "MONTH", "Month", "year"], known) == {
        "two  YEAR": "Two year"
    }


def test_rare_names_that_look_like_common_ones():
    assert mistyped({"positive": 500, "positve": 2, "negative": 400}) == {"positve": "positive"}
    assert mistyped({"10": 500, "100": 2}) == {}
    assert mistyped({"cat": 100, "cats": 90}) == {}


def test_what_was_merged_is_counted():
    counts = {"Yes": 40, "YES": 3, "yes ": 2, "No": 9}
    found = numbers_of(
        respelt_labels(counts, {"YES": "Yes", "yes ": "Yes"}), TableFindings.RESPELT_LABELS
    )
    assert (found["n"], found["unseen"]) == (5, False)
    assert found["spellings"] == ("'YES' (3), 'yes ' (2) as 'Yes'",)
    assert list(respelt_labels(counts, {})) == []


def test_accents_of_another_composition_are_shown_as_codes():
    """They were said to be 'é' treated as 'é'."""
    for form, name in (("e\u0301", "\u00e9"), ("\u00e9", "e\u0301")):
        (found,) = respelt_labels({form: 1}, {form: name})
        assert found.sentence.count("'\u00e9'") == 1
        assert found.sentence.count(r"'e\u0301'") == 1


def test_names_that_stand_for_no_label():
    (found,) = odd_labels({"yes": 5, "no": 5, "Unlabelled ": 10})
    assert found == TableFindings.PLACEHOLDER_LABEL.found(label="Unlabelled ", n=10, n_labels=20)
    assert not list(odd_labels({"+": 5, "-": 5, "neutral": 2}))
