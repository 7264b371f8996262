"""What the line of a scheduled call begins with."""

from dataclasses import replace

import pytest

from quantshift import watch
from quantshift.answers.rows import Rows, rows_left_out
from quantshift.answers.show.answer import worse_elsewhere
from quantshift.claims import Explanation, Reason, decide
from quantshift.quantifying.findings import BatchFindings, TrainingFindings
from quantshift.quantifying.output.quantification import Quantification
from quantshift.quantifying.result import Shift
from tests.claims.made import EVIDENT, GROUNDS, RANGED, TOO_WIDE
from tests.history.made import answer
from tests.quantifying.made import Made

DECLARED = GROUNDS[Reason.DECLARED]

CALM = {"grounds": EVIDENT, "findings": ()}


def calm(**changed) -> Quantification:
    """An answer without findings; changed: fields of its batch."""
    found = answer(("2026-01-01", 0.1), **{**CALM, **changed})
    return replace(found, findings=(), declared="", sample_rows=())


def first_word(found: Quantification) -> str:
    return watch(found).summary_line().split()[0]


def test_ok_is_for_confidence_intervals_without_warnings():
    assert first_word(calm()) == "ok"
    assert first_word(calm(grounds=GROUNDS[Reason.REFUTED])) == "RANGE"
    assert first_word(calm(grounds=RANGED, findings=(Made.ODD.found(),))) == "RANGE"
    line = watch(calm(findings=(Made.ODD.found(), Made.OF_TABLE.found()))).summary_line()
    assert line.startswith("WARNING ")
    assert line.endswith("; W (and 1 other warning)")
    unlike = BatchFindings.NONE_OF_THESE.found(share=0.07, all=False, classes="open")
    assert first_word(calm(none_of_these=0.07, findings=(unlike,))) == "WARNING"
    note = TrainingFindings.TRAINED_ON_A_PART.found(n=1, n_rows=2)
    assert first_word(calm(findings=(note,))) == "ok"
    assert watch(calm(grounds=RANGED)).exit_code == 0  # The exit code does not follow the word.


def test_the_line_says_which_batches_are_worse_than_the_newest():
    """The first word was about January, and the rest of the line about February."""
    months = answer(("2026-01", 0.1), ("2026-02", 0.1), ("2026-03", 0.1), **CALM)
    january, february, march = months.batches

    def line(*batches) -> str:
        found = replace(months, batches=batches, findings=(), declared="", sample_rows=())
        return watch(found).summary_line()

    a_range = {"grounds": GROUNDS[Reason.REFUTED]}
    unknown = {"grounds": decide(TOO_WIDE)}
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
    line = watch(calm(grounds=DECLARED)).summary_line()
    assert line.startswith("DECLARED ")
    assert line.endswith("; nothing tests what the method assumes")
    tested = Shift(rejected=False, kind=Explanation.PRIOR, p_value=0.5)
    assert first_word(calm(grounds=DECLARED, shift=tested)) == "DECLARED"
    declared = replace(calm(grounds=DECLARED), declared="only the shares changed")
    line = watch(declared).summary_line()
    assert line.startswith("DECLARED ")
    assert "you declared: only the shares changed" in line
    assert watch(declared).exit_code == 0


@pytest.mark.parametrize(("left_out", "word"), [(3, "ok"), (30, "WARNING")])
def test_a_few_rows_left_out_are_no_warning(left_out: int, word: str):
    rows = Rows("new.csv", 100, 100 - left_out, {"no content": left_out})
    found = replace(calm(), sample_rows=(rows,), findings=tuple(rows_left_out(rows)))
    assert first_word(found) == word
