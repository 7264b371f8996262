"""Audit sheets: harmless in spreadsheets, read back right, and only for the items they are of."""

import csv

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quantshift.errors import DataError, UserError
from quantshift.own_data import draw_audit_sheet, quantify, write_audit_sheet
from quantshift.own_data.spreadsheet import comparable, escaped, unescaped

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
    told = comparable(pl.DataFrame({"a": [text], "b": [f" {text} "], "c": [number]}))
    assert len(set(told.row(0))) == 1


@pytest.mark.parametrize("cell", ["=cmd|'/c calc'!A0", "+49 170", "-1+2", "@SUM(1)", "\tx", "\r="])
def test_known_attacks_are_text(cell):
    assert escaped(cell) == "'" + cell.replace("\r=", "\r'=")


def test_one_and_the_same_in_any_file():
    frame = pl.DataFrame({"a": ["1", "TRUE", " a  b\r\nc ", ""]})
    assert comparable(frame)["a"].to_list() == ["1.0", "true", "a b c", ""]
    assert comparable(pl.DataFrame({"a": [1, None]}))["a"].to_list() == ["1.0", ""]
    assert comparable(pl.DataFrame({"a": [1.0]}))["a"].to_list() == ["1.0"]
    assert comparable(pl.DataFrame({"a": [True]}))["a"].to_list() == ["true"]


@pytest.fixture
def sheet(folder, plain_model):
    return draw_audit_sheet(folder / "new.csv", model=plain_model, precision=0.1)


def drawn(sheet, path):
    write_audit_sheet(sheet, path, overwrite=True)
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
    return found.batches[0].audit.n_labelled, [w for w in found.warnings if "differ" in w]


OTHER = "of the sample has different content; the sheet belongs to another table, or the rows were"


def test_a_sheet_for_other_rows_is_refused(labelled, refused, folder, plain_model):
    n = len(labelled)
    assert accepted(folder, plain_model, labelled) == (n, [])
    first = labelled["item"][0]
    shifted = labelled.with_columns(item=(pl.col("item").cast(int) % 300 + 1).cast(str))
    assert refused(shifted).startswith(f"row 1: item {shifted['item'][0]} {OTHER}")
    # Without the check, by the columns carried along.
    assert refused(shifted.drop("check")).startswith(f"row 1: item {shifted['item'][0]} {OTHER}")
    others = labelled.with_columns(pl.col("length", "price", "check").reverse())
    assert refused(others).startswith(f"row 1: item {first} {OTHER}")
    one = pl.concat([others[:1], labelled[1:]])
    assert refused(one).startswith(f"row 1: item {first} {OTHER}")


def test_edited_columns_are_tolerated(labelled, folder, plain_model):
    n = len(labelled)
    reread = labelled.with_columns(pl.col("length").cast(float).round(6).cast(str))
    assert accepted(folder, plain_model, reread) == (n, [])  # The check is of the content drawn.
    edited = labelled.drop("check").with_columns(review=pl.lit("shortened"))
    assert accepted(folder, plain_model, edited) == (n, [])  # The model does not look at texts.
    few = pl.when(pl.int_range(pl.len()) < 3).then(pl.lit("0")).otherwise("price")
    edited = labelled.drop("check").with_columns(price=few)
    warning = "the audited table: 3 items have cells that differ from the sample's"
    assert accepted(folder, plain_model, edited) == (n, [warning])


def test_numbers_alone_are_believed_with_a_warning(labelled, folder, plain_model):
    found = quantify(
        folder / "new.csv", model=plain_model, audit=labelled["item", "sentiment"], **FAST
    )
    assert found.warnings[-1].startswith("the audited table: its items are identified by their row")


@pytest.mark.parametrize("item", ["1.7", "x", "0", "-3", "nan", "1e400"])
def test_what_is_no_item_number(labelled, refused, item):
    wrong = labelled.with_columns(
        item=pl.when(pl.int_range(pl.len()) == 4).then(pl.lit(item)).otherwise("item")
    )
    line = refused(wrong)
    assert line.startswith("row 5: ")
    assert "is not the number of an item; audit items of the sample itself" in line


def test_items_beyond_the_sample_and_labelled_twice(labelled, refused):
    far = labelled.with_columns(item=pl.lit("301"))[:1]
    assert refused(far).startswith("row 1: item 301 of a sample of 300 rows; audit items of")
    item = labelled["item"][4]
    twice = pl.concat([labelled, labelled[4:5]])
    assert refused(twice) == f"item {item} is labelled twice (rows 5 and {len(twice)}); remove one"


def test_a_sheet_with_labels_is_not_replaced(sheet, labelled, tmp_path):
    path = tmp_path / "audit.csv"
    write_audit_sheet(sheet, path)  # Nobody has labelled anything on it.
    labelled.write_csv(path)
    before = path.read_bytes()
    with pytest.raises(UserError) as caught:
        write_audit_sheet(sheet, path)
    assert str(caught.value) == (
        f"{path} holds {len(labelled)} labels; name another file, or overwrite it"
    )
    assert path.read_bytes() == before
    write_audit_sheet(sheet, path, overwrite=True)
    assert path.read_bytes() != before


def test_the_sample_is_not_replaced_by_its_sheet(folder, plain_model, tmp_path):
    own = tmp_path / "own.csv"
    own.write_bytes((folder / "new.csv").read_bytes())
    sheet = draw_audit_sheet(own, model=plain_model, precision=0.1)
    for overwrite in (False, True):
        with pytest.raises(UserError, match=r"own.csv is read by the same command; name another"):
            write_audit_sheet(sheet, own, overwrite=overwrite)
    assert own.read_bytes() == (folder / "new.csv").read_bytes()


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet"])
def test_the_ending_says_how_a_sheet_is_written(sheet, folder, plain_model, tmp_path, ending):
    path = tmp_path / f"audit{ending}"
    write_audit_sheet(sheet, path)
    write_audit_sheet(sheet, path)
    if ending == ".parquet":
        frame = pl.read_parquet(path)
    else:
        frame = pl.read_csv(path, separator="\t" if ending == ".tsv" else ",", infer_schema=False)
    assert frame.columns == ["item", "sentiment", "review", "date", "length", "price", "check"]
    truth = pl.read_csv(folder / "truth.csv")["sentiment"]
    labels = [truth[int(item) - 1] for item in frame["item"]]
    frame = frame.with_columns(sentiment=pl.Series(labels))
    assert accepted(folder, plain_model, frame) == (len(frame), [])
    with pytest.raises(UserError, match=r"written as one of .csv, .tsv, .parquet; rename it"):
        write_audit_sheet(sheet, tmp_path / "audit.xlsx")


ODD = ["=1+1", "'=1", "''", "-5", "+x", "@a", "a;=b", "x\n- y", 'say "=x"', "plain", "é", "\t"]


@settings(max_examples=15, deadline=None)
@given(st.lists(cells.filter(lambda t: "\0" not in t), min_size=12, max_size=12))
def test_any_text_goes_round(folder_of_texts, texts):
    model, path = folder_of_texts
    odd = pl.DataFrame({"=review": [f"{t} good" for t in (*ODD, *texts)], "number": range(24)})
    odd.write_parquet(path / "odd.parquet")
    sheet = draw_audit_sheet(path / "odd.parquet", model=model, precision=0.001)
    write_audit_sheet(sheet, path / "audit.csv", overwrite=True)
    with (path / "audit.csv").open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    assert header == ["item", "'=label", "'=review", "number", "check"]
    for row in rows:
        assert row[2][:1] not in tuple(HARMFUL) or float(row[2])
        row[1] = "yes" if int(row[0]) % 2 else "no"
    with (path / "audited.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *([*row[:-1], "changed"] for row in rows)])
    found = quantify(path / "odd.parquet", model=model, audit=path / "audited.csv", **FAST)
    assert found.batches[0].audit.n_labelled == 24
    assert not [w for w in found.warnings if "differ" in w]


@pytest.fixture(scope="module")
def folder_of_texts(tmp_path_factory):
    from quantshift.own_data import train

    path = tmp_path_factory.mktemp("odd")
    texts = [f"{word} {n}" for n in range(30) for word in ("good day", "bad night")]
    table = pl.DataFrame({"=review": texts, "=label": ["yes", "no"] * 30})
    return train(table, label="=label", text="=review", method="PACC"), path


def test_an_audit_with_many_looks(folder, plain_model, tmp_path):
    options = {"model": plain_model, "precision": 0.08}
    looking = {**options, "audit": tmp_path / "s.csv", "sequential": True, "replicates": 100}
    sheet = draw_audit_sheet(folder / "new.csv", sequential=True, **options)
    assert len(sheet.rows) == min(3 * sheet.plan.n_counting, 300)
    one_look = draw_audit_sheet(folder / "new.csv", **options)
    assert sheet.rows[: len(one_look.rows)] == one_look.rows
    assert sheet.next_command("s.csv") == ""  # a model in memory has no name
    write_audit_sheet(sheet, tmp_path / "s.csv")
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
        assert found.warnings == ()  # rows at the end are still to come
    for batch in looks.values():
        assert batch.limits_are == "confidence interval that holds at every look"
        assert batch.shares[1].low <= 0.3 <= batch.shares[1].high
    assert looks[60].shares[1].low >= looks[20].shares[1].low
    assert not looks[20].audit.looked.reached
    assert looks[20].audit.looked.n_needed > 20
    assert "label about" in looks[20].advice[0]
    assert looks[200].audit.looked.reached
    assert looks[200].advice[0].startswith("You can stop")
    gap = pl.Series([None, *labels[1:30], *[None] * (len(labels) - 30)], dtype=pl.String)
    blank.with_columns(sentiment=gap).write_csv(tmp_path / "s.csv")
    found = quantify(folder / "new.csv", **looking)
    assert "1 row without a label before others" in found.warnings[0]


def test_many_looks_need_labels(folder, plain_model):
    with pytest.raises(UserError, match="a sequential audit needs labels"):
        quantify(folder / "new.csv", model=plain_model, sequential=True)
    with pytest.raises(UserError, match="precision must be between 0 and 1, got 3"):
        quantify(folder / "new.csv", model=plain_model, precision=3)
