"""What a terminal shows, to the letter."""

import csv
import dataclasses
import io

from rich.cells import cell_len

from quantshift.answers.kinds import CANNOT
from quantshift.answers.rows import NOT_DRAWN, Rows
from quantshift.answers.shares import Share
from quantshift.quantifying.output.result import Audited, LeftOutColumn, Quantification, UsedColumn
from tests.quantifying.made import BATCH, CALM, FOUND, SHARES, SHIFTED, UNKNOWN, found_with


def with_batches(*batches, **changes) -> Quantification:
    return dataclasses.replace(FOUND, batches=batches, **changes)


def test_one_batch_in_a_terminal():
    assert FOUND.to_text() == "\n".join(
        [
            "pos: 43.0% of the 500 items in new.csv (95% interval 37.5 to 50.0%)",
            "",
            "        share   95% interval",
            "  pos   43.0%  37.5 to 50.0%  █████████▒▒▒············",
            "  neg   57.0%  50.0 to 62.5%  ████████████▒▒▒·········",
            "",
            "Shift    V.",
            "Changed  age: mean 41.2 where 35.0 was expected",
            "         town: level 'Ulm' 40% where 12% was expected",
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
    assert with_batches(*large, *small).to_text().splitlines()[0] == (
        "pos: from 30.0% (TX) to 70.0% (CA) in 2 batches with 30 items or more (3 are smaller)"
    )
    assert with_batches(*small).to_text().splitlines()[0] == (
        "pos: from 40.0% (DC, 20 items) to 100.0% (NV, 3 items) in 2 batches with 3 items or more "
        "(1 is smaller)"
    )


def test_a_column_has_the_same_number_of_decimals():
    """0.0% stood beside 0.15%."""
    batches = [of_size("a", 500, 0.0), of_size("b", 500, 0.0015), of_size("c", 500, 0.25)]
    lines = with_batches(*batches).to_text().splitlines()[3:6]
    assert [line.split()[2] for line in lines] == ["0.00%", "0.15%", "25.00%"]
    one = dataclasses.replace(
        BATCH, shares=(Share("neg", 1.0, 0.99, 1.0), Share("pos", 0.0004, 0.0, 0.01))
    )
    table = with_batches(one).to_text().splitlines()[2:5]
    assert table[0].endswith("share      95% interval")
    assert [line.split()[1] for line in table[1:]] == ["0.04%", "100.00%"]


def test_several_batches_in_a_terminal():
    other = dataclasses.replace(BATCH, name="b", shift=None, change=("pos",), warnings=())
    told = with_batches(BATCH, other).to_text().splitlines()
    assert told[:9] == [
        "pos: from 43.0% (new.csv) to 43.0% (b) in 2 batches",
        "",
        "batch    items    pos   95% interval",
        "new.csv    500  43.0%  37.5 to 50.0%  shift",
        "b          500  43.0%  37.5 to 50.0%  changed",
        "",
        "changed  the share differs from the previous batch by more than chance (99%) and, unless "
        "it is rare, by a point or more",
        "shift    more has changed than the shares of the classes (by chance in about 1 of 20 "
        "batches)",
        "",
    ]
    assert "Shift    new.csv: the mix of subgroups has changed" in told
    assert "Changed  age in 1 of 2, town in 1 of 2 batches" in told
    assert "Warning  new.csv: W" in told
    assert not any(line.startswith("Shift    b") for line in told)
    assert "Next     A." in told
    calm = dataclasses.replace(other, advice=("Nothing to do.",))
    told = with_batches(BATCH, calm).to_text().splitlines()
    assert [line for line in told if line.startswith("Next")] == [
        "Next     new.csv: A.",
        "Next     b: Nothing to do.",
    ]


def test_details_of_every_batch_are_printed_if_asked_for():
    unexplained = dataclasses.replace(SHIFTED, kind="unexplained", auc=0.7)
    alike = [
        dataclasses.replace(BATCH, name=name, shift=unexplained, command=f"draw {name}")
        for name in "abc"
    ]
    result = with_batches(*alike, CALM)
    short, long = result.to_text(), result.to_text(verbose=True)
    once = "Shift    in 3 of 4 batches (a, b, c): the new items differ from the training items"
    assert once in short
    assert "V." not in short
    assert short.count("$ draw") == 1
    assert "and likewise for 2 more; the verbose text shows them" in short
    for name in "abc":
        assert f"Shift    {name}: V." in long
        assert f"$ draw {name}" in long
    assert "Changed  age: mean 41.2 where 35.0 was expected" in long
    assert "--verbose" not in long


def test_what_cannot_be_estimated_is_said_first():
    told = with_batches(UNKNOWN).to_text().splitlines()
    assert told[0] == (
        "pos: cannot be estimated from these columns: they tell the classes apart no better than "
        "chance; between 0 and 100%"
    )
    assert told[3] == f"  pos       ?  0.0 to 100.0%  {'▒' * 24}"
    empty = dataclasses.replace(UNKNOWN, n_items=0, no_estimate_reason="")
    assert (
        with_batches(empty)
        .to_text()
        .startswith("pos: cannot be estimated without items; between 0 and 100%\n")
    )


def test_batches_that_only_labels_can_settle_are_counted_first():
    unknown = tuple(dataclasses.replace(share, estimate=None) for share in SHARES)
    wide = dataclasses.replace(
        BATCH,
        name="b",
        shares=unknown,
        kind=CANNOT,
        reason="no evidence",
        can_be_estimated=False,
        no_estimate_reason="the assumptions allow 37.5 to 50.0%",
    )
    first, second, *_ = found_with(BATCH, wide).to_text().splitlines()
    assert first == (
        "pos: cannot be estimated without labels in 1 of 2 batches (b: the assumptions allow 37.5 "
        "to 50.0%)"
    )
    assert second == "pos: 43.0% (new.csv)"


def test_batches_that_cannot_be_estimated_come_before_those_that_can():
    told = with_batches(BATCH, dataclasses.replace(UNKNOWN, name="b")).to_text().splitlines()
    assert told[:2] == [
        "pos: cannot be estimated in 1 of 2 batches (b: they tell the classes apart no better than "
        "chance)",
        "pos: 43.0% (new.csv)",
    ]
    assert "b          500      ?  0.0 to 100.0%  unknown" in told
    assert "unknown  cannot be estimated" in told
    all_of_them = with_batches(UNKNOWN, dataclasses.replace(UNKNOWN, name="b"))
    assert all_of_them.to_text().startswith("pos: cannot be estimated in all 2 batches (new.csv")


def test_many_rows_left_out_are_said_first():
    many = Rows("new.csv", 616, 9, {"no content": 600, "too many or too few cells": 7})
    few = Rows("old.csv", 100, 90, {"no label": 10})
    told = dataclasses.replace(FOUND, sample_rows=(many, few)).to_text().splitlines()
    assert told[0] == (
        "new.csv: 607 of 616 rows were left out (no content: 600, too many or too few cells: 7)"
    )
    assert told[1].startswith("pos: 43.0%")
    drawn = Rows("t.csv", 1000, 10, {NOT_DRAWN: 990})
    assert dataclasses.replace(FOUND, sample_rows=(drawn,)).to_text().startswith("pos: 43.0%")
    training = dataclasses.replace(FOUND.training, rows=Rows("t.csv", 10, 8, {"no label": 2}))
    assert (
        dataclasses.replace(FOUND, training=training)
        .to_text()
        .startswith("t.csv: 2 of 10 rows were left out (no label: 2)\n")
    )


def test_what_became_of_the_rows_is_said_once():
    warning = "new.csv: 10 of 510 rows were left out (no content: 10)"
    told = dataclasses.replace(FOUND, warnings=(warning, "T")).to_text()
    assert "Warning  T" in told
    assert warning not in told


def test_an_audit_in_a_terminal():
    audit = Audited(50, 0.8, SHARES, SHARES, contradicts=False)
    told = with_batches(dataclasses.replace(BATCH, audit=audit)).to_text()
    assert "Audited  with 50 labels; counting them alone gives:" in told
    assert "the method alone (SLD) gives:" in told


def test_with_more_than_two_classes_the_reader_learns_what_the_intervals_hold_for():
    assert "intervals hold" not in FOUND.to_text()
    three = dataclasses.replace(FOUND, classes=("a", "neg", "pos"))
    assert "intervals hold for each class on its own" in three.to_text()
    joint = dataclasses.replace(three, simultaneous=True)
    assert "intervals hold for all classes at once" in joint.to_text()


def test_classes_are_shown_with_their_column_and_the_headline_is_the_user_s():
    named = dataclasses.replace(
        FOUND, headline="neg", names={"neg": "Exited = 0", "pos": "Exited = 1"}
    )
    told = named.to_text().splitlines()
    assert told[0].startswith("Exited = 0: 57.0%")
    assert told[4].startswith("  Exited = 1   43.0%")
    assert "(Exited = 0 50.0%, Exited = 1 50.0%)" in told[-1]


def test_of_many_columns_some_are_named_and_the_rest_is_counted():
    used = tuple(UsedColumn(f"x{i}", "number", "scaled") for i in range(300))
    odd = tuple(LeftOutColumn(f"y{i}", f"reason {i}") for i in range(20))
    told = dataclasses.replace(FOUND, used=used, left_out_columns=odd).to_text().splitlines()
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
    told = with_batches(*batches, names={"pos": "a" * 100}).to_text().splitlines()
    table = told[2 : 2 + 306]
    assert "…" in table[1]
    ends = {cell_len(line[: line.index("%  shift")]) for line in table[1:]}
    assert len(ends) == 1
    assert max(map(cell_len, table)) < 110
    (shift,) = (line for line in told if line.startswith("Shift"))
    assert shift.startswith("Shift    in all 305 batches: the mix of subgroups has changed")
    assert sum(line.startswith("Warning") for line in told) == 2
    assert len(told) < 400


def test_a_name_with_line_breaks_stays_on_one_line():
    told = with_batches(dataclasses.replace(BATCH, name="a\u2028b\nc\x1b[31m")).to_text()
    assert told.split("\n")[0].startswith("pos: 43.0% of the 500 items in a b c [31m (95%")
    odd = dataclasses.replace(BATCH, warnings=("a level 'x\x1b[2J\u2029y' is new",))
    assert "Warning  a level 'x [2J y' is new" in with_batches(odd).to_text().split("\n")


def test_a_table_with_a_row_per_batch_and_class():
    text = with_batches(BATCH, dataclasses.replace(UNKNOWN, name="b")).to_csv()
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
        "kind": "confidence interval",
        "reason": "",
    }
    assert (rows[2]["estimate"], rows[2]["high"], rows[2]["can_be_estimated"]) == (
        "",
        "1.0",
        "False",
    )


def test_no_name_in_the_table_is_a_formula():
    harmful = dataclasses.replace(BATCH, name="=HYPERLINK(1)", shares=(Share("@x", 0.5, 0, 1),))
    rows = list(csv.DictReader(io.StringIO(with_batches(harmful).to_csv())))
    assert (rows[0]["batch"], rows[0]["class"]) == ("'=HYPERLINK(1)", "'@x")
