"""What a terminal shows, to the letter."""

import csv
import dataclasses
import io

from rich.cells import cell_len

from quantshift.answers.columns import LeftOutColumn, UsedColumn, column_lines
from quantshift.answers.rows import NOT_DRAWN, Rows, rows_left_out
from quantshift.answers.shares import Share
from quantshift.claims import Explanation, Kind, Reason, decide
from quantshift.quantifying.findings import Advice
from quantshift.quantifying.options import SheetOptions
from quantshift.quantifying.output.headline import later_batches_text, leading_batch
from quantshift.quantifying.output.performance import performance_lines
from quantshift.quantifying.output.text import undeclared_text
from quantshift.quantifying.output.verdicts import MEANING
from quantshift.quantifying.result import (
    Audited,
    ClassifierPerformance,
    MeasureValue,
    Undeclared,
)
from tests.claims.made import GROUNDS, TOO_WIDE
from tests.quantifying.made import BATCH, CALM, FOUND, SHARES, SHIFTED, UNKNOWN, Made, found_with


def test_one_batch_in_a_terminal():
    assert FOUND.to_text(details=True) == "\n".join(
        [
            "pos: 43.0% of the 500 items in new.csv (95% interval 37.5 to 50.0%)",
            "",
            "        share   95% interval",
            "  pos   43.0%  37.5 to 50.0%  █████████▒▒▒············",
            "  neg   57.0%  50.0 to 62.5%  ████████████▒▒▒·········",
            "",
            "Shift    V.",
            "Changed  age: median 41.2 where 35 was expected",
            "         town: 'Ulm' in 40.0% of the rows where 12.0% was expected",
            "Warning  T",
            "Warning  W",
            "Next     A.",
            "",
            "Columns  3 used, 1 left out",
            "         number    age, income",
            "         category  town",
            "         left out  customer (nearly all values are distinct)",
            "Rows     new.csv: 510 read, 500 used (no content: 10)",
            "Method   SLD: R",
            "         assumes: S in words",
            "Trained  on 1,000 rows of t.csv (neg 50.0%, pos 50.0%); logistic: cross-validated "
            "accuracy 90.0%",
        ]
    )


def of_size(name, n_items, p):
    shares = (Share("neg", 1 - p, 0.0, 1.0), Share("pos", p, 0.0, 1.0))
    return dataclasses.replace(BATCH, name=name, n_items=n_items, shares=shares)


def test_a_headline_does_not_rest_on_a_few_items():
    """It was "from 0.0% (ID) to 100.0% (NV)", of one item and of three."""
    large = [of_size("CA", 151, 0.7), of_size("TX", 81, 0.3)]
    small = [of_size("ID", 1, 0.0), of_size("NV", 3, 1.0), of_size("DC", 20, 0.4)]
    assert found_with(*large, *small).to_text(details=True).splitlines()[0] == (
        "pos: from 30.0% (TX) to 70.0% (CA) in 2 batches with 30 items or more (3 are smaller)"
    )
    assert found_with(*small).to_text(details=True).splitlines()[0] == (
        "pos: from 40.0% (DC, 20 items) to 100.0% (NV, 3 items) in 2 batches with 3 items or more "
        "(1 is smaller)"
    )


def test_a_headline_about_the_one_estimated_batch_says_no_more_than_its_range():
    """It was "pos: 43.0% (b)" where the data allow 37.5 to 50.0%."""
    ranged = dataclasses.replace(BATCH, name="b", grounds=GROUNDS[Reason.NO_EVIDENCE])
    assert ranged.kind is Kind.RANGE
    told = found_with(UNKNOWN, ranged).to_text().splitlines()
    assert told[1] == "pos: 37.5 to 50.0% (b)"


def test_a_column_has_the_same_number_of_decimals():
    """0.0% stood beside 0.15%."""
    batches = [of_size("a", 500, 0.0), of_size("b", 500, 0.0015), of_size("c", 500, 0.25)]
    lines = found_with(*batches).to_text(details=True).splitlines()[4:7]
    assert [line.split()[2] for line in lines] == ["0.00%", "0.15%", "25.00%"]
    one = dataclasses.replace(
        BATCH, shares=(Share("neg", 1.0, 0.99, 1.0), Share("pos", 0.0004, 0.0, 0.01))
    )
    table = found_with(one).to_text(details=True).splitlines()[2:5]
    assert table[0].endswith("share      95% interval")
    assert [line.split()[1] for line in table[1:]] == ["0.04%", "100.00%"]


def test_several_batches_in_a_terminal():
    other = dataclasses.replace(
        BATCH, name="b", shift=None, change=("pos",), findings=(Made.DO.found(),)
    )
    told = found_with(BATCH, other).to_text(details=True).splitlines()
    assert told[:10] == [
        "pos: from 43.0% (new.csv) to 43.0% (b) in 2 batches",
        f"  {MEANING}",
        "",
        "batch    items    pos   95% interval",
        "new.csv    500  43.0%  37.5 to 50.0%  shift",
        "b          500  43.0%  37.5 to 50.0%  changed",
        "",
        "changed  the share differs from the previous batch by more than chance (96%) and, unless "
        "it is rare, by a point or more",
        "shift    more has changed than the shares of the classes (by chance in about 1 of 20 "
        "batches)",
        "",
    ]
    assert "Shift    new.csv: V." in told
    assert "Changed  age: median 41.2 where 35 was expected" in told
    assert "Warning  new.csv: W" in told
    assert not any(line.startswith("Shift    b") for line in told)
    assert "Next     A." in told
    calm = dataclasses.replace(other, findings=(Advice.AUDIT_AGREES.found(),))
    told = found_with(BATCH, calm).to_text(details=True).splitlines()
    assert [line for line in told if line.startswith("Next")] == [
        "Next     new.csv: A.",
        f"Next     b: {Advice.AUDIT_AGREES.found().sentence}",
    ]


def test_details_are_printed_if_asked_for():
    unexplained = dataclasses.replace(SHIFTED, kind=Explanation.UNEXPLAINED, auc=0.7)
    alike = [
        dataclasses.replace(BATCH, name=name, shift=unexplained, command=f"draw {name}")
        for name in "abc"
    ]
    result = found_with(*alike, CALM)
    short, long = result.to_text(), result.to_text(details=True)
    for name in "abc":
        assert f"Shift    {name}: V." in long
        assert f"$ draw {name}" in long
    assert "Changed  age: median 41.2 where 35 was expected" in long
    heads = [line.split()[0] for line in short.split("\n\n")[-1].splitlines()]
    assert heads == ["Warning", "and", "Next", "$"]
    assert short.splitlines()[:6] == long.splitlines()[:6]
    assert short.endswith("$ draw a")


def test_only_the_first_warning_is_printed_without_details():
    findings = Made.ODD.found(table="x"), Made.ODD.found(table="y")
    told = found_with(dataclasses.replace(BATCH, findings=findings)).to_text().splitlines()
    (at,) = (i for i, line in enumerate(told) if line.startswith("Warning"))
    assert told[at + 1].strip().startswith("and ")
    assert told[at + 1].strip().endswith("more warnings")


def test_findings_of_many_batches_are_merged():
    unexplained = dataclasses.replace(SHIFTED, kind=Explanation.UNEXPLAINED, auc=0.7)
    alike = [dataclasses.replace(BATCH, name=name, shift=unexplained) for name in "abcdefgh"]
    text = found_with(*alike, CALM).to_text(details=True)
    (shift,) = (line for line in text.splitlines() if line.startswith("Shift"))
    assert shift.startswith("Shift    in 8 of 9 batches (")
    assert "the new items differ from the training items" in shift
    assert "V." not in text


def test_what_cannot_be_estimated_is_said_first():
    told = found_with(UNKNOWN).to_text(details=True).splitlines()
    assert told[0] == (
        "pos: cannot be estimated from these columns: they tell the classes apart no better than "
        "chance; between 0 and 100%"
    )
    assert told[3] == f"  pos       ?  0.0 to 100.0%  {'▒' * 24}"
    empty = dataclasses.replace(
        UNKNOWN, n_items=0, no_estimate_reason="", grounds=GROUNDS[Reason.NO_ITEMS]
    )
    assert (
        found_with(empty)
        .to_text(details=True)
        .startswith("pos: cannot be estimated without items; between 0 and 100%\n")
    )


def test_batches_that_only_labels_can_settle_are_counted_first():
    unknown = tuple(dataclasses.replace(share, estimate=None) for share in SHARES)
    wide = dataclasses.replace(
        BATCH,
        name="b",
        shares=unknown,
        grounds=decide(TOO_WIDE),
        no_estimate_reason="the assumptions allow 37.5 to 50.0%",
    )
    first, second, *_ = found_with(BATCH, wide).to_text(details=True).splitlines()
    assert first == (
        "pos: cannot be estimated without labels in 1 of 2 batches (b: the assumptions allow 37.5 "
        "to 50.0%)"
    )
    assert second == "pos: 43.0% (new.csv)"


def test_batches_that_cannot_be_estimated_come_before_those_that_can():
    told = (
        found_with(BATCH, dataclasses.replace(UNKNOWN, name="b")).to_text(details=True).splitlines()
    )
    assert told[:2] == [
        "pos: cannot be estimated in 1 of 2 batches (b: they tell the classes apart no better than "
        "chance)",
        "pos: 43.0% (new.csv)",
    ]
    assert "b          500      ?  0.0 to 100.0%  unknown" in told
    assert "unknown  cannot be estimated" in told
    all_of_them = found_with(UNKNOWN, dataclasses.replace(UNKNOWN, name="b"))
    assert all_of_them.to_text(details=True).startswith(
        "pos: cannot be estimated in all 2 batches (new.csv"
    )


def test_many_rows_left_out_are_said_first():
    many = Rows("new.csv", 616, 9, {"no content": 600, "too many or too few cells": 7})
    few = Rows("old.csv", 100, 90, {"no label": 10})
    told = with_rows(many, few).to_text(details=True).splitlines()
    assert told[0] == (
        "new.csv: 607 of 616 rows were left out (no content: 600, too many or too few cells: 7)"
    )
    assert told[1].startswith("pos: 43.0%")
    drawn = Rows("t.csv", 1000, 10, {NOT_DRAWN: 990})
    assert with_rows(drawn).to_text(details=True).startswith("pos: 43.0%")
    assert (
        with_rows(Rows("t.csv", 10, 8, {"no label": 2}))
        .to_text(details=True)
        .startswith("t.csv: 2 of 10 rows were left out (no label: 2)\n")
    )


def with_rows(*rows):
    left_out = tuple(found for one in rows for found in rows_left_out(one))
    return dataclasses.replace(FOUND, sample_rows=rows, findings=left_out)


def test_what_became_of_the_rows_is_said_once():
    (left_out,) = rows_left_out(Rows("new.csv", 510, 500, {"no content": 10}))
    told = dataclasses.replace(FOUND, findings=(left_out, *FOUND.findings)).to_text(details=True)
    assert "Warning  T" in told
    assert left_out.sentence not in told


def test_an_audit_in_a_terminal():
    audit = Audited(50, 0.8, SHARES, SHARES, contradicts=False)
    told = found_with(dataclasses.replace(BATCH, audit=audit)).to_text(details=True)
    assert "Audited  with 50 labels; counting them alone gives:" in told
    assert "the method alone (SLD) gives:" in told


def test_with_more_than_two_classes_the_reader_learns_what_the_intervals_hold_for():
    assert "intervals hold" not in FOUND.to_text(details=True)
    three = dataclasses.replace(FOUND, classes=("a", "neg", "pos"))
    assert "intervals hold for each class on its own" in three.to_text(details=True)
    joint = dataclasses.replace(three, simultaneous=True)
    assert "intervals hold for all classes at once" in joint.to_text(details=True)


def test_classes_are_shown_with_their_column_and_the_headline_is_the_user_s():
    named = dataclasses.replace(
        FOUND, headline="neg", names={"neg": "Exited = 0", "pos": "Exited = 1"}
    )
    told = named.to_text(details=True).splitlines()
    assert told[0].startswith("Exited = 0: 57.0%")
    assert told[4].startswith("  Exited = 1   43.0%")
    assert "(Exited = 0 50.0%, Exited = 1 50.0%)" in told[-1]


def test_of_many_columns_some_are_named_and_the_rest_is_counted():
    used = tuple(UsedColumn(f"x{i}", "number", "scaled") for i in range(300))
    odd = tuple(LeftOutColumn(f"y{i}", f"reason {i}") for i in range(20))
    told = (
        dataclasses.replace(FOUND, used=used, left_out_columns=odd)
        .to_text(details=True)
        .splitlines()
    )
    assert "Columns  300 used, 20 left out" in told
    assert "         number    x0, x1, x2, x3, x4, x5 and 294 more" in told
    assert "         ... and 12 more; the JSON has all" in told
    assert len(told) < 40


def test_hundreds_of_batches_with_long_names_stay_readable():
    shares = (Share("neg", 0.9, 0.8, 1.0), Share("pos", 0.1, 0.0, 0.2))
    batches = [
        dataclasses.replace(BATCH, name=f"{'z' * 200}{i} 北京", n_items=10**i, shares=shares)
        for i in range(5)
    ] + [dataclasses.replace(BATCH, name=str(i)) for i in range(300)]
    told = found_with(*batches, names={"pos": "a" * 100}).to_text(details=True).splitlines()
    table = told[3 : 3 + 306]
    assert "…" in table[1]
    ends = {cell_len(line[: line.index("%  shift")]) for line in table[1:]}
    assert len(ends) == 1
    assert max(map(cell_len, table)) < 110
    (shift,) = (line for line in told if line.startswith("Shift"))
    assert shift.startswith("Shift    in all 305 batches: the mix of subgroups has changed")
    assert sum(line.startswith("Warning") for line in told) == 2
    assert len(told) < 400


def test_a_name_with_line_breaks_stays_on_one_line():
    told = found_with(dataclasses.replace(BATCH, name="a\u2028b\nc\x1b[31m")).to_text(details=True)
    assert told.split("\n")[0].startswith("pos: 43.0% of the 500 items in a b c [31m (95%")
    table = "x\x1b[2J\u2029y"
    odd = dataclasses.replace(BATCH, findings=(Made.ODD.found(table=table),))
    assert "Warning  x [2J y: W" in found_with(odd).to_text(details=True).split("\n")


def test_a_table_with_a_row_per_batch_and_class():
    text = found_with(BATCH, dataclasses.replace(UNKNOWN, name="b")).to_csv()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == 4
    assert rows[1] == {
        "batch": "new.csv",
        "items": "500",
        "left_out": "10",
        "class": "pos",
        "estimate": "0.43",
        "low": "0.375",
        "high": "0.5",
        "can_be_estimated": "True",
        "changed": "False",
        "shift": "True",
        "p_value": "0.002",
        "audited": "False",
        "kind": "interval",
        "reason": "evidence",
        "condition": "",
    }
    assert (rows[2]["estimate"], rows[2]["high"], rows[2]["can_be_estimated"]) == (
        "",
        "1.0",
        "False",
    )


def test_no_name_in_the_table_is_a_formula():
    harmful = dataclasses.replace(BATCH, name="=HYPERLINK(1)", shares=(Share("@x", 0.5, 0, 1),))
    rows = list(csv.DictReader(io.StringIO(found_with(harmful).to_csv())))
    assert (rows[0]["batch"], rows[0]["class"]) == ("'=HYPERLINK(1)", "'@x")


def test_columns_are_counted_whether_used_or_left_out():
    used, left_out = FOUND.used, FOUND.left_out_columns
    assert list(column_lines((), ())) == []
    assert next(column_lines(used, ())) == "Columns  3 used"
    assert len(list(column_lines(used, ()))) == 3
    assert next(column_lines((), left_out)) == "Columns  0 used, 1 left out"
    assert "customer" in list(column_lines((), left_out))[1]


def test_batches_after_the_leading_one_are_named_with_their_sizes():
    def told(*sizes):
        batches = [dataclasses.replace(BATCH, name=f"b{i}", n_items=n) for i, n in enumerate(sizes)]
        found = found_with(*batches, by="day", in_sequence=True)
        return leading_batch(found), later_batches_text(found)

    assert told(500, 500, 500) == (2, "")
    at, one = told(500, 500, 500, 100)
    assert (at, one.split(" fewer ")[0]) == (2, "b3 (100 items) has")
    at, two = told(500, 500, 500, 100, 249)
    assert (at, two.split(" fewer ")[0]) == (2, "b3 (100 items), b4 (249 items) have")
    assert told(500, 500, 500, 250) == (3, "")


def test_what_nothing_declared_would_leave_is_about_the_headline_class():
    shares = (Share("neg", None, 0.25, 0.875), Share("pos", None, 0.125, 0.75))
    undeclared = Undeclared(GROUNDS[Reason.NO_EVIDENCE], shares)
    text = undeclared_text(FOUND, dataclasses.replace(BATCH, undeclared=undeclared))
    assert text.count("12.5 to 75.0%") == 1
    assert "25.0" not in text


def test_a_correction_that_changes_the_accuracy_by_a_hundredth_is_worth_a_line():
    for after, n_lines in ((0.01, 1), (0.0099, 0)):
        values = [
            (MeasureValue("accuracy", None, estimate, 0.0, 1.0, None),) for estimate in (0.0, after)
        ]
        told = ClassifierPerformance(Kind.RANGE, 1.0, *values, ())
        batch = dataclasses.replace(BATCH, performance=told)
        assert len(list(performance_lines(FOUND, batch))) == n_lines


def test_a_sheet_is_not_longer_unless_it_is_asked_for():
    assert not SheetOptions().sequential
