"""What the line of a scheduled call begins with."""

from dataclasses import replace

import pytest

from quantshift.answers.rows import Rows
from quantshift.history.rendering import worse_elsewhere
from quantshift.history.watching import Watched
from quantshift.quantifying.output.result import Quantification, Shift
from tests.history.made import answer

EVIDENT = {"kind": "confidence interval", "reason": "evidence", "warnings": ()}


def calm(**changed) -> Quantification:
    """An answer without warnings; changed: fields of its batch."""
    found = answer(("2026-01-01", 0.1), **{**EVIDENT, **changed})
    return replace(found, warnings=(), declared="", sample_rows=())


def first_word(found: Quantification) -> str:
    return Watched(found).summary_line().split()[0]


def test_ok_is_for_confidence_intervals_without_warnings():
    assert first_word(calm()) == "ok"
    assert first_word(calm(kind="range", reason="refuted")) == "RANGE"
    assert first_word(calm(kind="range", reason="no evidence", warnings=("odd",))) == "RANGE"
    line = Watched(calm(warnings=("a half-empty column", "another"))).summary_line()
    assert line.startswith("WARNING ")
    assert line.endswith("; a half-empty column (and 1 other warning)")
    assert first_word(calm(none_of_these=0.07)) == "WARNING"
    assert Watched(calm(kind="range")).exit_code == 0  # The exit code does not follow the word.


def test_the_line_says_which_batches_are_worse_than_the_newest():
    """The first word was about January, and the rest of the line about February."""
    months = answer(("2026-01", 0.1), ("2026-02", 0.1), ("2026-03", 0.1), **EVIDENT)
    january, february, march = months.batches

    def line(*batches) -> str:
        found = replace(months, batches=batches, warnings=(), declared="", sample_rows=())
        return Watched(found).summary_line()

    a_range = {"kind": "range", "reason": "refuted"}
    unknown = {"kind": "cannot be estimated", "can_be_estimated": False}
    assert line(january, february, march).startswith("ok 2026-03 (last of 3 batches): ")
    worse = line(replace(january, **a_range), replace(february, **a_range), march)
    assert worse.startswith("RANGE 2026-03 ")
    assert worse.endswith("; range: 2026-01, 2026-02")
    worst = line(replace(january, **a_range), replace(february, **unknown), march)
    assert worst.startswith("UNKNOWN 2026-03 ")
    assert worst.endswith("; cannot be estimated: 2026-02")
    assert "range: " not in line(january, february, replace(march, **a_range))
    # Of several labels, each with its own answer:
    spam = replace(months, batches=(replace(january, **unknown), february, march))
    assert worse_elsewhere({"spam": spam, "hate": months}) == [
        "cannot be estimated: spam in 2026-01"
    ]
    here = replace(months, batches=(january, february, replace(march, **unknown)))
    assert worse_elsewhere({"spam": spam, "hate": here}) == []


def test_a_method_whose_assumption_nothing_tests_is_not_ok():
    """CC was."""
    line = Watched(calm(reason="declared")).summary_line()
    assert line.startswith("UNTESTED ")
    assert line.endswith("; nothing tests what the method assumes")
    tested = Shift(rejected=False, kind="prior", p_value=0.5)
    assert first_word(calm(reason="declared", shift=tested)) == "ok"
    declared = replace(calm(reason="declared"), declared="only the shares changed")
    assert first_word(declared) == "ok"


@pytest.mark.parametrize(("left_out", "word"), [(3, "ok"), (30, "WARNING")])
def test_a_few_rows_left_out_are_no_warning(left_out: int, word: str):
    rows = Rows("new.csv", 100, 100 - left_out, {"no content": left_out})
    said = f"new.csv: {left_out} of 100 rows were left out (no content: {left_out})"
    found = replace(calm(), sample_rows=(rows,), warnings=(said,))
    assert first_word(found) == word
