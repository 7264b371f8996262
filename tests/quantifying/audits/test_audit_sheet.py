"""Audit sheets: harmless in spreadsheets, read back right, and only for the items they are of."""

import csv

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quantshift.errors import DataError, UserError
from quantshift.labelling.findings import SheetFindings
from quantshift.quantifying import plan_quantify, quantify
from quantshift.quantifying.findings import Advice
from quantshift.tables.columns.cell_names import as_texts
from quantshift.tables.files.spreadsheet_cells import comparable, escaped, unescaped
from tests.found import codes_of, numbers_of

FAST = {"replicates": 50}
HARMFUL = "=+-@\t\r\n＝＋－＠"

cells = st.text(
    st.one_of(st.sampled_from("=+-@\t\r\n;\"', ab1.e＝"), st.characters(exclude_categories=["Cs"])),
    max_size=12,
)


@given(cells)
def test_every_cell_comes_back(cell):
    assert unescaped(escaped(cell)) == cell


@given(cells)
def test_no_cell_is_a_formula(cell):
    shown = escaped(cell)
    try:
        float(shown)
    except ValueError:
        # Nor is what a program sees that takes a semicolon or a tab for the delimiter.
        for delimiter in ";\t\r\n":
            assert not any(
                part.lstrip("\" '")[:1] in tuple("=+-@＝＋－＠") and part[:1] != "'"
                for part in shown.split(delimiter)
            )
        assert shown[:1] not in tuple(HARMFUL)


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**60), 2**60))
def test_numbers_stay_numbers(number):
    text = str(number)
    assert escaped(text) == text
    of_a_file = as_texts(pl.Series([number])).to_list()
    told = [*comparable([text]), *comparable([f" {text} "]), *comparable(of_a_file)]
    assert len(set(told)) == 1


@pytest.mark.parametrize("cell", ["=cmd|'/c calc'!A0", "+49 170", "-1+2", "@SUM(1)", "\tx", "\r="])
def test_known_attacks_are_text(cell):
    assert escaped(cell) == "'" + cell.replace("\r=", "\r'=")


def test_one_and_the_same_in_any_file():
    assert comparable(["1", "TRUE", " a  b\r\nc ", ""]) == ["1.0", "true", "a b c", ""]
    for column, told in (([1, None], ["1.0", ""]), ([1.0], ["1.0"]), ([True], ["true"])):
        assert comparable(as_texts(pl.Series(column)).to_list()) == told


@pytest.fixture
def sheet(folder, plain_model):
    return plan_quantify(folder / "new.csv", model=plain_model, precision=0.1)


def drawn(sheet, path):
    sheet.write(path, overwrite=True)
    return pl.read_csv(path, infer_schema=False)


@pytest.fixture
def labelled(sheet, folder, tmp_path):
    """The sheet with its labels, as a frame of strings."""
    frame = drawn(sheet, tmp_path / "audit.csv")
    truth = pl.read_csv(folder / "truth.csv")["sentiment"]
    labels = [truth[int(item) - 1] for item in frame["item"]]
    return frame.with_columns(sentiment=pl.Series(labels))


@pytest.fixture
def refused(folder, plain_model, tmp_path):
    def call(frame):
        frame.write_csv(tmp_path / "audited.csv")
        with pytest.raises(DataError) as caught:
            quantify(folder / "new.csv", model=plain_model, audit=tmp_path / "audited.csv", **FAST)
        return str(caught.value).removeprefix(f"{tmp_path}/audited.csv: ")

    return call


def accepted(folder, plain_model, frame):
    found = quantify(folder / "new.csv", model=plain_model, audit=frame, **FAST)
    return found.batches[0].audit.n_labelled, [
        f for f in found.findings if f.code is SheetFindings.EDITED_CELLS
    ]


OTHER = "of the sample has different content; the sheet belongs to another table, or the rows were"


MOVED = (
    "the cells in the columns item, plan, place, check do not go together: restore them as "
    "quantshift plan quantify wrote them"
)


def without_content(frame):
    """The sheet with checks that no content has, as if a column had been added to the sample."""
    return frame.with_columns(pl.col("check").str.replace("^x[0-9a-f]*", "x0123456789"))


def test_a_sheet_for_other_rows_is_refused(labelled, refused, folder, plain_model):
    n = len(labelled)
    assert accepted(folder, plain_model, labelled) == (n, [])
    first = labelled["item"][0]
    shifted = labelled.with_columns(item=(pl.col("item").cast(int) % 300 + 1).cast(str))
    assert refused(shifted) == f"row 1: {MOVED}"
    others = labelled.with_columns(pl.col("length", "price").reverse())
    assert refused(without_content(others)).startswith(f"row 1: item {first} {OTHER}")
    one = pl.concat([others[:1], labelled[1:]])
    assert refused(without_content(one)).startswith(f"row 1: item {first} {OTHER}")


def test_edited_columns_are_tolerated(labelled, folder, plain_model):
    n = len(labelled)
    reread = labelled.with_columns(pl.col("length").cast(float).round(6).cast(str))
    assert accepted(folder, plain_model, reread) == (n, [])  # The check is of the content drawn.
    edited = without_content(labelled).with_columns(review=pl.lit("shortened"))
    assert accepted(folder, plain_model, edited) == (n, [])  # The model does not look at texts.
    few = pl.when(pl.int_range(pl.len()) < 3).then(pl.lit("0")).otherwise("price")
    edited = without_content(labelled).with_columns(price=few)
    found = SheetFindings.EDITED_CELLS.found(table="the audited table", n=3)
    assert accepted(folder, plain_model, edited) == (n, [found])


@pytest.mark.parametrize("column", ["item", "plan", "place", "check"])
def test_a_sheet_without_one_of_its_columns_is_refused(labelled, refused, column):
    """Items were found in other ways, and the order of labelling was taken to be that of rows."""
    assert refused(labelled.drop(column)).startswith(
        f"a sheet of quantshift plan quantify without its column {column!r}: restore it (hide "
        "columns instead of deleting them)"
    )


def test_numbers_alone_are_not_believed(labelled, refused):
    """They were, with a warning."""
    assert refused(labelled["item", "sentiment"]).startswith(
        "a sheet of quantshift plan quantify without its columns 'plan', 'place', 'check': restore"
    )


@pytest.mark.parametrize("column", ["item", "plan", "place", "check"])
@pytest.mark.parametrize("cell", ["1.7", "x", "0", "-3", "nan", "1e400", None, "x01234567-9"])
def test_cells_that_were_changed(labelled, refused, column, cell):
    wrong = labelled.with_columns(
        pl.when(pl.int_range(pl.len()) == 4).then(pl.lit(cell)).otherwise(column).alias(column)
    )
    of_another_plan = column == "plan"
    told = "row 5 is of another plan (" if of_another_plan else f"row 5: {MOVED}"
    assert refused(wrong).startswith(told)


def test_rows_of_another_plan_are_refused(labelled, refused, folder, plain_model, tmp_path):
    """They were taken for rows of one draw."""
    other = drawn(
        plan_quantify(folder / "new.csv", model=plain_model, n_labels=20, seed=5),
        tmp_path / "other.csv",
    ).with_columns(sentiment=pl.lit("positive"))
    new = other.filter(~pl.col("item").is_in(labelled["item"].to_list()))
    line = refused(pl.concat([labelled, new]))
    assert line.startswith(f"row {len(labelled) + 1} is of another plan ({other['plan'][0]}) than")
    assert line.endswith("give the rows of one sheet of quantshift plan quantify at a time")


@pytest.mark.parametrize("removed", [False, True])
def test_labels_of_chosen_rows_are_refused(labelled, folder, plain_model, removed):
    """A sheet sorted by its labels, of which only the beginning has some: it was "valid under any
    shift", with an interval of 29.9 to 60.4% where the truth was 27.7%."""
    ordered = labelled.sort("sentiment", descending=True)
    half = len(ordered) // 2
    first = ordered[:half]
    if not removed:
        rest = ordered[half:].with_columns(sentiment=pl.lit(None, pl.String))
        first = pl.concat([first, rest])
    with pytest.raises(DataError) as caught:
        quantify(folder / "new.csv", model=plain_model, audit=first, **FAST)
    last = ordered[:half]["place"].cast(int).max()
    assert f"{last - half} rows before the last label without a label" in str(caught.value)
    assert caught.value.arguments == ()


def test_a_few_rows_that_nobody_could_decide_are_told(labelled, folder, plain_model):
    """They were told beside "valid under any shift"."""
    n = len(labelled)
    empty = [2, 30]
    blank = pl.when(pl.col("place").cast(int).is_in(empty)).then(None).otherwise("sentiment")
    partly = labelled.with_columns(sentiment=blank)
    for audit in (partly, partly.filter(pl.col("sentiment").is_not_null())):
        found = quantify(folder / "new.csv", model=plain_model, audit=audit, **FAST)
        (batch,) = found.batches
        assert (batch.audit.n_labelled, batch.audit.n_skipped) == (n - 2, 2)
        assert "any shift" not in batch.basis
        assert numbers_of(found.findings, SheetFindings.ROWS_WITHOUT_LABEL) == {"n": 2}


def test_labelling_from_the_top_may_stop_early(labelled, folder, plain_model):
    """It was warned of as if the rows at the end might be the hard ones."""
    later = pl.col("place").cast(int) > 40
    stopped = labelled.with_columns(sentiment=pl.when(later).then(None).otherwise("sentiment"))
    found = quantify(folder / "new.csv", model=plain_model, audit=stopped.reverse(), **FAST)
    assert found.findings == ()
    assert (found.batches[0].audit.n_labelled, found.batches[0].audit.n_skipped) == (40, 0)
    assert "valid under any shift" in found.batches[0].basis


def test_in_a_table_of_ones_own_any_row_may_have_been_left_out(folder, plain_model):
    own = pl.read_csv(folder / "truth.csv")[:60]
    partly = own.with_columns(
        sentiment=pl.when(pl.int_range(60) < 50).then("sentiment").otherwise(None)
    )
    found = quantify(folder / "new.csv", model=plain_model, audit=partly, **FAST)
    assert (found.batches[0].audit.n_labelled, found.batches[0].audit.n_skipped) == (50, 10)
    assert "any shift" not in found.batches[0].basis


def test_items_labelled_twice(labelled, refused):
    item = labelled["item"][4]
    twice = pl.concat([labelled, labelled[4:5]])
    assert refused(twice) == f"item {item} is labelled twice (rows 5 and {len(twice)}); remove one"


def test_a_sheet_that_nobody_filled_in_is_refused(labelled, refused):
    """It was exit code 0, with an estimate that no label had confirmed."""
    assert refused(labelled.with_columns(sentiment=pl.lit(None, pl.String))) == (
        "no row has a label; fill in the column 'sentiment' from the top, save the file, and run "
        "this again"
    )


def test_columns_of_the_sample_that_are_called_like_those_of_a_sheet_stay_on_it(
    folder, plain_model, tmp_path
):
    """They were left off the sheet."""
    truth = pl.read_csv(folder / "truth.csv", infer_schema=False)
    sample = truth.drop("sentiment").with_columns(
        plan=pl.lit("premium"), item=pl.int_range(300).cast(pl.String)
    )
    sheet = plan_quantify(sample, model=plain_model, n_labels=40)
    frame = drawn(sheet, tmp_path / "audit.csv")
    assert frame["plan (in the table)"].unique().to_list() == ["premium"]
    assert (frame["item"].cast(int) - 1 == frame["item (in the table)"].cast(int)).all()
    labels = [truth["sentiment"][int(item) - 1] for item in frame["item"]]
    filled = frame.with_columns(sentiment=pl.Series(labels))
    (batch,) = quantify(sample, model=plain_model, audit=filled, **FAST).batches
    assert batch.audit.n_labelled == 40
    # Without the sheet's own columns it was taken for a table of one's own.
    for kept, renamed in ((["item"], "its column 'item'"), ([], r"' \(in the table\)'")):
        lost = filled.drop({"item", "plan", "place", "check"} - set(kept))
        told = f"a sheet of quantshift plan quantify without its columns .* rename .*{renamed}$"
        with pytest.raises(DataError, match=told):
            quantify(sample, model=plain_model, audit=lost, **FAST)
    # A table of one's own may have such columns as well.
    own = truth[:40].with_columns(sample["plan", "item"][:40])
    (batch,) = quantify(sample, model=plain_model, audit=own, **FAST).batches
    assert batch.audit.n_labelled == 40


def test_a_sheet_with_labels_is_not_replaced(sheet, labelled, tmp_path):
    path = tmp_path / "audit.csv"
    sheet.write(path)  # Nobody has labelled anything on it.
    labelled.write_csv(path)
    before = path.read_bytes()
    with pytest.raises(UserError) as caught:
        sheet.write(path)
    assert str(caught.value) == (
        f"{path} holds {len(labelled)} labels; name another file, or overwrite it"
    )
    assert path.read_bytes() == before
    sheet.write(path, overwrite=True)
    assert path.read_bytes() != before


def test_the_sample_is_not_replaced_by_its_sheet(folder, plain_model, tmp_path):
    own = tmp_path / "own.csv"
    own.write_bytes((folder / "new.csv").read_bytes())
    sheet = plan_quantify(own, model=plain_model, precision=0.1)
    for overwrite in (False, True):
        with pytest.raises(UserError, match=r"own.csv is read by the same command; name another"):
            sheet.write(own, overwrite=overwrite)
    assert own.read_bytes() == (folder / "new.csv").read_bytes()


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet"])
def test_the_ending_says_how_a_sheet_is_written(sheet, folder, plain_model, tmp_path, ending):
    path = tmp_path / f"audit{ending}"
    sheet.write(path)
    sheet.write(path)
    if ending == ".parquet":
        frame = pl.read_parquet(path)
    else:
        frame = pl.read_csv(path, separator="\t" if ending == ".tsv" else ",", infer_schema=False)
    shown = ["review", "date", "length", "price"]
    assert frame.columns == ["item", "sentiment", *shown, "plan", "place", "check"]
    truth = pl.read_csv(folder / "truth.csv")["sentiment"]
    labels = [truth[int(item) - 1] for item in frame["item"]]
    frame = frame.with_columns(sentiment=pl.Series(labels))
    assert accepted(folder, plain_model, frame) == (len(frame), [])
    with pytest.raises(UserError, match=r"written as one of .csv, .tsv, .parquet; rename it"):
        sheet.write(tmp_path / "audit.xlsx")


ODD = ["=1+1", "'=1", "''", "-5", "+x", "@a", "a;=b", "x\n- y", 'say "=x"', "plain", "é", "\t"]


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(st.lists(cells.filter(lambda t: "\0" not in t), min_size=12, max_size=12))
def test_any_text_goes_round(folder_of_texts, texts):
    model, path = folder_of_texts
    odd = pl.DataFrame({"=review": [f"{t} good" for t in (*ODD, *texts)], "number": range(24)})
    odd.write_parquet(path / "odd.parquet")
    sheet = plan_quantify(path / "odd.parquet", model=model, precision=0.001)
    sheet.write(path / "audit.csv", overwrite=True)
    with (path / "audit.csv").open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    assert header == ["item", "'=label", "'=review", "number", "plan", "place", "check"]
    for row in rows:
        assert row[2][:1] not in tuple(HARMFUL) or float(row[2])
        row[1] = "yes" if int(row[0]) % 2 else "no"
    with (path / "audited.csv").open("w", newline="", encoding="utf-8") as file:
        no_content = ([*row[:-1], f"x0123456789-{row[-1][-6:]}"] for row in rows)
        csv.writer(file).writerows([header, *no_content])
    found = quantify(path / "odd.parquet", model=model, audit=path / "audited.csv", **FAST)
    assert found.batches[0].audit.n_labelled == 24
    assert not [f for f in found.findings if f.code is SheetFindings.EDITED_CELLS]


@pytest.fixture(scope="module")
def folder_of_texts(tmp_path_factory):
    from quantshift.quantifying import train

    path = tmp_path_factory.mktemp("odd")
    texts = [f"{word} {n}" for n in range(30) for word in ("good day", "bad night")]
    table = pl.DataFrame({"=review": texts, "=label": ["yes", "no"] * 30})
    return train(table, label="=label", text="=review", method="PACC"), path


def test_an_audit_with_many_looks(folder, plain_model, tmp_path):
    options = {"model": plain_model, "precision": 0.08}
    looking = {**options, "audit": tmp_path / "s.csv", "sequential": True, "replicates": 100}
    sheet = plan_quantify(folder / "new.csv", sequential=True, **options)
    assert len(sheet.rows) == min(3 * sheet.plan.n_counting, 300)
    one_look = plan_quantify(folder / "new.csv", **options)
    assert sheet.rows[: len(one_look.rows)] == one_look.rows
    assert sheet.next_command("s.csv") == ""  # a model in memory has no name
    sheet.write(tmp_path / "s.csv")
    truth = pl.read_csv(folder / "truth.csv")["sentiment"]
    blank = pl.read_csv(tmp_path / "s.csv", infer_schema=False)
    labels = [truth[int(item) - 1] for item in blank["item"]]
    looks = {}
    for n_labels in (20, 60, 200):
        known = pl.Series([*labels[:n_labels], *[None] * (len(labels) - n_labels)], dtype=pl.String)
        blank.with_columns(sentiment=known).write_csv(tmp_path / "s.csv")
        found = quantify(
            folder / "new.csv",
            audit=tmp_path / "s.csv",
            sequential=True,
            replicates=100,
            **options,
        )
        (looks[n_labels],) = found.batches
        assert found.findings == ()  # rows at the end are still to come
    for batch in looks.values():
        assert batch.kind == "sequence"
        assert batch.shares[1].low <= 0.3 <= batch.shares[1].high
    assert looks[60].shares[1].low >= looks[20].shares[1].low
    assert not looks[20].audit.progress.reached
    assert looks[20].audit.progress.n_needed > 20
    assert Advice.AUDIT_GOES_ON in codes_of(looks[20].findings)
    assert looks[200].audit.progress.reached
    assert looks[200].audit.progress.n_needed == 200
    assert Advice.AUDIT_CAN_STOP in codes_of(looks[200].findings)
    gap = pl.Series([None, *labels[1:30], *[None] * (len(labels) - 30)], dtype=pl.String)
    blank.with_columns(sentiment=gap).write_csv(tmp_path / "s.csv")
    # It used to be a warning beside "valid under any shift, and at every look".
    with pytest.raises(DataError, match="1 row before the last label without a label"):
        quantify(folder / "new.csv", **looking)


@pytest.mark.slow
def test_rows_that_were_sorted_are_put_back_into_the_order_of_the_plan(
    folder, plain_model, tmp_path
):
    """The interval of a sheet sorted by its labels was 10.3 to 18.0%, where the truth was 27.7%."""
    looking = {"model": plain_model, "sequential": True, "replicates": 100}
    sheet = plan_quantify(folder / "new.csv", model=plain_model, n_labels=60)
    frame = drawn(sheet, tmp_path / "audit.csv")
    truth = pl.read_csv(folder / "truth.csv")["sentiment"]
    labels = [truth[int(item) - 1] for item in frame["item"]]
    filled = frame.with_columns(sentiment=pl.Series(labels))
    right = quantify(folder / "new.csv", audit=filled, **looking)
    # Typed tables, as of Excel, have 12.0 for 12.
    typed = filled.with_columns(pl.col("item", "place").cast(float))
    for changed in (filled.sort("sentiment"), filled.sort("check"), typed.reverse()):
        again = quantify(folder / "new.csv", audit=changed, **looking)
        assert again.batches[0].audit == right.batches[0].audit
    # Without rows that are not there any more, it is not labelling from the top.
    for gone, told in [
        (filled[10:], r"10 rows before the last label .*\(place 1, 2, 3 and 7 more\)"),
        (pl.concat([filled[:5], filled[6:]]), r"1 row before the last label .*\(place 6\)"),
    ]:
        with pytest.raises(DataError, match=f"{told}: .* no interval is valid; label them"):
            quantify(folder / "new.csv", audit=gone, **looking)


def test_the_order_of_labelling_is_never_that_of_the_rows(folder, plain_model):
    """A table without it was taken to be in order."""
    looking = {"model": plain_model, "sequential": True, "replicates": 100}
    own = pl.read_csv(folder / "truth.csv")[:40]
    with pytest.raises(DataError, match=r"a sequential audit needs the order of labelling: label"):
        quantify(folder / "new.csv", audit=own, **looking)
    placed = own.with_columns(place=pl.int_range(1, 41))
    right = quantify(folder / "new.csv", audit=placed, **looking).batches[0].audit
    again = quantify(folder / "new.csv", audit=placed.sort("sentiment"), **looking)
    assert again.batches[0].audit == right
    for place, words in (("first", "'first' is not a place"), ("2", "place 2 is labelled twice")):
        text = pl.col("place").cast(str)
        wrong = placed.with_columns(
            place=pl.when(pl.col("place") == 3).then(pl.lit(place)).otherwise(text)
        )
        with pytest.raises(DataError, match=words):
            quantify(folder / "new.csv", audit=wrong, **looking)


def test_many_looks_need_labels(folder, plain_model):
    with pytest.raises(UserError, match="a sequential audit needs labels"):
        quantify(folder / "new.csv", model=plain_model, sequential=True)
    with pytest.raises(UserError, match="precision must be between 0 and 1, got 3"):
        quantify(folder / "new.csv", model=plain_model, precision=3)
