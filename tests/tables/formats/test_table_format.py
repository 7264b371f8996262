"""A new format is one object: registered in a line, it works wherever tables are read or written.

The format here has cells between vertical bars, without types. Nothing else in the package knows
of it.
"""

import gzip
import io
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from quantshift import judge, quantify
from quantshift.errors import DataError, UserError
from quantshift.lab.data import DataFolder, ReviewFile, import_reviews
from quantshift.labelling.sheets.drawn import check_sheet
from quantshift.sketches import sketch
from quantshift.tables import (
    OpenTable,
    TableFile,
    TableFormat,
    open_table,
    read_frame,
    register_format,
    withdraw_format,
)
from quantshift.tables.columns.findings import TableFindings
from quantshift.tables.files.chunks import Chunk
from quantshift.tables.formats import endings_of, format_of, known_formats
from quantshift.tables.formats.frames import without_gaps
from tests.lab.data.made_reviews import rows_of


def _open(file: TableFile) -> OpenTable:
    with file.lines() as lines:
        names = next(lines).decode().rstrip("\n").split("|")

    def read(wanted: Sequence[str]) -> Iterator[Chunk]:
        first = 1
        with file.lines() as lines:
            next(lines)
            while rows := [line.decode().rstrip("\n").split("|") for line in islice(lines, 100)]:
                frame = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
                yield Chunk(first, without_gaps(frame.select(wanted)))
                first += len(rows)

    return OpenTable(file.name, tuple(names), dict.fromkeys(names, str), read)


def _written(_: str, header: Sequence[str], rows: Sequence[Sequence[str | None]]) -> bytes:
    text = io.StringIO()
    for row in [header, *rows]:
        text.write("|".join(cell or "" for cell in row) + "\n")
    return text.getvalue().encode()


BARS = TableFormat(
    name="PSV",
    endings=(".psv",),
    gzipped=True,
    recognises=lambda path, start: start.partition(b"\n")[0].count(b"|") > 1,
    open=_open,
    write=_written,
)


@pytest.fixture
def bars():
    register_format(BARS)
    yield
    withdraw_format(BARS)


@pytest.fixture
def labelled() -> pl.DataFrame:
    rng = np.random.default_rng(0)
    y = rng.random(400) < 0.4
    return pl.DataFrame(
        {
            "age": (rng.normal(40 + 10 * y, 8)).round(1),
            "plan": np.where(rng.random(400) < 0.3 + 0.4 * y, "basic", "plus"),
            "left": np.where(y, "yes", "no"),
            "stars": 1 + 4 * y,
            "p": (0.2 + 0.6 * y + rng.uniform(-0.1, 0.1, 400)).round(3),
        }
    )


def save(frame: pl.DataFrame, path) -> None:
    path.write_bytes(_written("", frame.columns, frame.cast(pl.String).rows()))


@pytest.fixture
def files(bars, labelled, tmp_path, monkeypatch):
    """The same tables as .psv and as .csv files."""
    monkeypatch.chdir(tmp_path)
    for name, rows in (("train", labelled[:250]), ("new", labelled[250:])):
        save(rows, tmp_path / f"{name}.psv")
        rows.write_csv(tmp_path / f"{name}.csv")
    return tmp_path


def test_rows_are_read_in_chunks_and_as_a_whole(files, labelled):
    table = open_table("train.psv")
    assert [len(chunk) for chunk in table.chunks(["age"])] == [100, 100, 50]
    whole = read_frame(files / "train.psv", without=["p"])
    assert whole.columns.equals(read_frame(files / "train.csv", without=["p"]).columns)
    (files / "a.psv.gz").write_bytes(gzip.compress(b"x|y\n1|2\n"))
    assert read_frame(files / "a.psv.gz").columns.rows() == [("1", "2")]


def test_findings_about_a_table_are_those_of_its_frame(files):
    withdraw_format(BARS)
    hidden = (TableFindings.HIDDEN_SHEET.found(sheet="b"),)
    noted = replace(BARS, open=lambda file: replace(_open(file), findings=hidden))
    register_format(noted)
    try:
        assert read_frame(files / "train.psv").findings == hidden
    finally:
        withdraw_format(noted)
        register_format(BARS)


@pytest.mark.slow
def test_quantify_and_judge_give_what_they_give_for_csv(files):
    estimates = [
        quantify(f"new.{ending}", train=f"train.{ending}", label="left", drop=["stars", "p"])
        for ending in ("psv", "csv")
    ]
    assert estimates[0].batches[0].shares == estimates[1].batches[0].shares
    verdicts = pl.read_csv("new.csv").with_columns(
        human=pl.when(pl.int_range(pl.len()) < 60).then(pl.col("left")),
        verdict=pl.col("left"),
    )
    save(verdicts, files / "verdicts.psv")
    verdicts.write_csv(files / "verdicts.csv")
    rates = [
        judge(f"verdicts.{ending}", verdict="verdict", label="human", labels="random")
        for ending in ("psv", "csv")
    ]
    assert rates[0].batches[0].shares == rates[1].batches[0].shares


@pytest.mark.slow
def test_the_commands_know_it(files, quantshift):
    quantify_new = ("quantify", "--label", "left", "--drop", "stars,p", "--json")
    shares = []
    for ending in ("psv", "csv"):
        code, out, err = quantshift(
            *quantify_new, "--train", f"train.{ending}", "--sample", f"new.{ending}"
        )
        assert code == 0, err
        shares.append(json.loads(out)["batches"][0]["shares"])
        code, _, err = quantshift(
            "data", "import", f"train.{ending}", "--label", "left", "--out", f"{ending}-set"
        )
        assert code == 0, err
        code, _, err = quantshift(
            "sketch", f"new.{ending}", "--score", "p", "--out", f"{ending}.parquet"
        )
        assert code == 0, err
    assert shares[0] == shares[1]
    assert pl.read_parquet("psv.parquet").equals(pl.read_parquet("csv.parquet"))
    assert DataFolder.open("psv-set").hash == DataFolder.open("csv-set").hash
    code, out, err = quantshift(
        *("judge", "new.psv", "--verdict", "plan", "--label", "left", "--labels", "random"),
        *("--map", "basic=yes,plus=no", "--json"),
    )
    assert code == 0, err


@pytest.mark.slow
def test_sheets_are_written_and_read_in_it(files, quantshift):
    plan = ("plan", "quantify", "--sample", "new.psv", "--train", "train.psv", "--label", "left")
    code, _, err = quantshift(*plan, "--labels", 20, "--drop", "stars,p", "--out", "sheet.psv")
    assert code == 0, err
    header, *rows = (files / "sheet.psv").read_text().splitlines()
    assert len(rows) == 20
    assert header.split("|")[:2] == ["item", "left"]
    truth = pl.read_csv("new.csv")["left"]
    cells = [row.split("|") for row in rows]
    filled = [[item, truth[int(item) - 1], *others] for item, _, *others in cells]
    (files / "sheet.psv").write_text("\n".join(map("|".join, [header.split("|"), *filled])) + "\n")
    code, out, err = quantshift(
        *("quantify", "--sample", "new.psv", "--train", "train.psv", "--label", "left"),
        *("--drop", "stars,p", "--audit", "sheet.psv", "--json"),
    )
    assert code == 0, err
    assert json.loads(out)["batches"][0]["audit"] is not None


def test_sketches_and_reviews_read_it(files):
    made = [sketch(f"new.{ending}", score="p") for ending in ("psv", "csv")]
    assert made[0].table.equals(made[1].table)
    reviews = pl.DataFrame({"stars": [5, 1], "text": ["good one", "bad one"]})
    save(reviews, files / "reviews.psv")
    data = import_reviews([ReviewFile("A", files / "reviews.psv")], files / "set", min_chars=0)
    assert rows_of(data) == [(5, "good one"), (1, "bad one")]


def test_folders_pipes_and_messages_know_it(files, monkeypatch):
    (files / "parts").mkdir()
    for name in ("train", "new"):
        (files / f"{name}.psv").rename(files / "parts" / f"{name}.psv")
    assert len(read_all("parts")) == 400
    content = io.BytesIO((files / "parts" / "new.psv").read_bytes())
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(content))
    assert len(read_all("-")) == 150
    with pytest.raises(UserError, match=r"known: \.csv, .*, \.psv, and \.gz after CSV, .* and PSV"):
        open_table("x.pdf")
    with pytest.raises(UserError, match=r"a sheet is written as one of .*\.parquet, \.psv"):
        check_sheet("sheet.pdf")
    (files / "a.psv").write_bytes(b"PAR1")
    with pytest.raises(DataError, match=r"a Parquet file, though its name ends in \.psv; rename"):
        open_table("a.psv")


@pytest.mark.slow
def test_help_does_not_depend_on_when_a_format_is_registered():
    """In a new process, because help is made when the command is first imported."""
    script = (
        "from quantshift.tables import TableFormat, register_format\n"
        "register_format(TableFormat(name='PSV', endings=('.psv',), open=print))\n"
        "from quantshift.cli.commands.research.data import import_\n"
        "print(import_.__annotations__['files'].__metadata__[0].help)\n"
    )
    shown = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout
    assert ".parquet" in shown
    assert ".psv" not in shown


def read_all(source) -> pl.DataFrame:
    table = open_table(source)
    return pl.concat([chunk.columns for chunk in table.chunks(table.columns)])


def test_without_registration_it_is_unknown(tmp_path):
    (tmp_path / "a.psv").write_text("x|y\n1|2\n")
    with pytest.raises(UserError, match=r"unknown format '\.psv'; known: \.csv"):
        open_table(tmp_path / "a.psv")
    assert BARS not in known_formats()


@pytest.mark.parametrize(
    ("endings", "message"),
    [
        ((".csv",), "files that end in .csv are CSV"),
        ((".txt",), "files that end in .txt are CSV"),
        (("psv",), "'psv' is not an ending"),
        ((".PSV",), "'.PSV' is not an ending"),
        ((".gz",), "'.gz' is not an ending"),
        ((".a.b",), "'.a.b' is not an ending"),
    ],
)
def test_endings_must_be_free_and_plain(endings, message):
    before = known_formats()
    with pytest.raises(UserError, match=message):
        register_format(TableFormat(name="other", endings=endings, open=_open))
    assert known_formats() == before


def test_every_format_has_endings_of_its_own():
    endings = [e for known in known_formats() for e in (*known.endings, *known.frame_endings)]
    assert len(set(endings)) == len(endings)
    for known in known_formats():
        assert known.described or not known.magic
        for ending in known.endings:
            assert format_of(Path(f"a{ending.upper()}")) is known
            assert endings_of(Path(f"a{ending}.gz")) == (True, ending)
            packed = format_of(Path(f"a{ending}.gz"))
            assert (packed is known) == known.gzipped
