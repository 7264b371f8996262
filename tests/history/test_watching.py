"""What the line of a scheduled call begins with."""

from dataclasses import replace

import pytest

from quantshift.answers.rows import Rows
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
