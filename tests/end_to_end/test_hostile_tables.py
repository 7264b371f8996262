"""What people's files do to the command line: each test is a file that once gave a wrong answer.

Every command goes through `main`, as on the command line: its exit code and what it prints are all
that a user has.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from quantshift import quantify
from quantshift.answers.findings import RowFindings
from quantshift.cli.app import main
from quantshift.errors import UserError
from quantshift.quantifying.findings import TrainingFindings
from quantshift.tables.columns.findings import TableFindings
from tests.found import recorded
from tests.lab.data.made_workbooks import workbook

Quantshift = Callable[..., tuple[int, str, str]]

QUICK = ("--replicates", "100")

LOGISTIC = ("--classifier", "logistic")
"""For tests of rows, labels and files: the default also tries boosting, which takes long."""


@pytest.fixture
def quantshift(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Quantshift:
    """Runs a command; exit code, standard output and standard error."""

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["quantshift", *map(str, arguments)])
        capfd.readouterr()
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = int(stop.code or 0)
        said = capfd.readouterr()
        return code, said.out, said.err

    return run


def one_line(error: str) -> str:
    """The one line of an error."""
    lines = [line for line in error.splitlines() if line.strip()]
    assert len(lines) == 1, error
    assert lines[0].startswith("error: ")
    return lines[0]


def table(n: int, positive: float, seed: int, *, label: bool = True) -> pl.DataFrame:
    """Numbers, a category and a truth value that tell something of the label."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < positive
    frame = pl.DataFrame(
        {
            "age": np.round(rng.normal(40, 10, n) + 8 * y, 1),
            "income": np.round(rng.normal(3000, 800, n) - 500 * y, 2),
            "region": np.where(rng.random(n) < 0.3 + 0.3 * y, "north", "south"),
            "member": rng.random(n) < 0.4 + 0.2 * y,
            "y": np.where(y, "yes", "no"),
        }
    )
    return frame if label else frame.drop("y")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """train.csv (600 rows, half yes) and new.csv (300 rows, a quarter yes)."""
    table(600, 0.5, 1).write_csv(tmp_path / "train.csv")
    table(300, 0.25, 2, label=False).write_csv(tmp_path / "new.csv")
    return tmp_path


def asked(files: Path, *more: object) -> tuple[object, ...]:
    """The usual question; what has changed is declared, since these tests are about tables."""
    return (
        *("quantify", "--train", files / "train.csv", "--sample", files / "new.csv"),
        *("--label", "y", "--json", "--assume", "prior", *QUICK, *more),
    )


def yes(told: dict[str, object], batch: int = 0) -> dict[str, float]:
    """The share of `yes` in a batch."""
    shares = told["batches"][batch]["shares"]  # type: ignore[index]
    return next(share for share in shares if share["label"] == "yes")


def lines_with(path: Path, changes: dict[int, Callable[[str], str]]) -> None:
    """Change some lines of a file, numbered from 0 (the header)."""
    lines = path.read_text().splitlines()
    for number, change in changes.items():
        lines[number] = change(lines[number])
    path.write_text("\n".join(lines) + "\n")


def reviews(n: int, seed: int) -> pl.DataFrame:
    """Short texts with a label."""
    rng = np.random.default_rng(seed)
    words = ["good", "fine", "nice", "bad", "poor", "awful"]
    words += ["box", "film", "song", "day", "tea", "cup", "car", "map"]
    y = np.arange(n) % 2
    texts = []
    for label in y:
        p = np.full(len(words), 1.0)
        p[:3], p[3:6] = (3, 1) if label else (1, 3)
        texts.append(" ".join(rng.choice(words, 8, p=p / p.sum())))
    return pl.DataFrame({"text": texts, "y": np.where(y, "yes", "no"), "note": ["x"] * n})


# Quotes that were left open


@pytest.mark.parametrize("rows", [[299], [100, 250]], ids=str)
@pytest.mark.parametrize("column", ["text", "note"])
@pytest.mark.parametrize("spoilt", ["new.csv", "train.csv"])
def test_an_open_quote_names_the_line_and_stops(quantshift, tmp_path, rows, column, spoilt):
    reviews(600, 1).write_csv(tmp_path / "train.csv")
    reviews(300, 2).write_csv(tmp_path / "new.csv")
    ends = {"text": lambda line: '"' + line, "note": lambda line: line[:-1] + '"x'}
    lines_with(tmp_path / spoilt, dict.fromkeys(rows, ends[column]))
    code, out, err = quantshift(*asked(tmp_path, "--text", "text"))
    assert (code, out) == (2, "")
    line = one_line(err)
    assert spoilt in line
    assert f"line {rows[0] + 1}" in line
    assert "--lenient" in line
    code, out, err = quantshift(*asked(tmp_path, "--text", "text", "--lenient"))
    assert code in (0, 4), err
    told = json.loads(out)
    rows_read = [*told["sample_rows"], told["training"]["rows"]]
    assert sorted(r["read"] for r in rows_read) == [300, 600]
    for r in rows_read:
        assert r["read"] == r["used"] + sum(r["left_out"].values())


@pytest.mark.parametrize("layout", ["table", "reviews"])
def test_an_import_stops_at_an_open_quote(quantshift, tmp_path, layout):
    frame = reviews(100, 3).with_columns(stars=pl.Series([1, 5] * 50))
    frame.select("text", "stars").write_csv(tmp_path / "r.csv")
    lines_with(tmp_path / "r.csv", dict.fromkeys([21, 71], lambda line: '"' + line))
    how = {"table": (tmp_path / "r.csv", "--label", "stars", "--text", "text")}
    how["reviews"] = ("--layout", "reviews", f"All={tmp_path / 'r.csv'}")
    code, _, err = quantshift("data", "import", *how[layout], "--out", tmp_path / "out")
    assert code == 2
    assert "line 22" in one_line(err)
    assert not (tmp_path / "out").exists()


def test_ragged_training_rows_are_said_first(quantshift, files):
    spoilt = {i: (lambda line: line + ",7") for i in range(1, 148)}
    lines_with(files / "train.csv", spoilt)
    code, out, _ = quantshift(*asked(files, *LOGISTIC))
    told = json.loads(out)
    assert code == 0
    assert told["training"]["rows"]["used"] == 453
    assert sum(told["training"]["rows"]["left_out"].values()) == 147
    assert told["findings"][0]["code"] == "many_rows_left_out"
    assert told["findings"][0]["numbers"]["n"] == 147


def test_a_sample_of_ragged_rows_alone_tells_their_number(quantshift, files):
    lines_with(files / "new.csv", {i: (lambda line: line + ",7") for i in range(1, 301)})
    code, out, err = quantshift(*asked(files, *LOGISTIC))
    assert code == 4, err
    assert recorded(json.loads(out)["findings"], RowFindings.MANY_ROWS_LEFT_OUT)["n"] == 300


# Columns


def test_all_kinds_of_columns_are_used_and_said(quantshift, files):
    code, out, err = quantshift(*asked(files))
    assert code == 0, err
    told = json.loads(out)
    kinds = {column["name"]: column["kind"] for column in told["used"]}
    assert kinds == {
        "age": "number",
        "income": "number",
        "region": "category",
        "member": "truth value",
    }
    assert yes(told)["low"] <= 0.25 <= yes(told)["high"]


@pytest.mark.slow
def test_gaps_cost_no_row_and_no_column(quantshift, files):
    frame = pl.read_csv(files / "train.csv")
    gap = pl.int_range(pl.len()) % 3 == 0
    frame = frame.with_columns(pl.when(~gap).then(pl.col("age")).alias("age"))
    frame.with_columns(pl.when(gap).then(None).otherwise("region").alias("region")).write_csv(
        files / "train.csv"
    )
    code, out, err = quantshift(*asked(files))
    assert code in (0, 4), err
    told = json.loads(out)
    assert told["training"]["rows"]["used"] == 600
    assert {"age", "region"} <= {column["name"] for column in told["used"]}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cell", "options"), [("inf", ()), ("1e308", ()), ("NA", LOGISTIC), ("oops", LOGISTIC)]
)
def test_one_bad_cell_does_not_remove_a_column(quantshift, files, cell, options):
    lines_with(files / "train.csv", {100: lambda line: ",".join([cell, *line.split(",")[1:]])})
    code, out, err = quantshift(*asked(files, *options))
    assert code == 0, err
    told = json.loads(out)
    assert "age" in {column["name"] for column in told["used"]}
    assert yes(told)["high"] - yes(told)["low"] < 0.6


@pytest.mark.slow
def test_a_column_of_huge_numbers_is_no_error(quantshift, files):
    frame = pl.read_csv(files / "train.csv")
    frame.with_columns(pl.col("age") * 1e200).write_csv(files / "train.csv")
    frame = pl.read_csv(files / "new.csv")
    frame.with_columns(pl.col("age") * 1e200).write_csv(files / "new.csv")
    code, out, err = quantshift(*asked(files))
    assert code == 0, err
    assert yes(json.loads(out))["estimate"] is not None


@pytest.mark.slow
def test_ids_row_numbers_and_constants_are_left_out_with_a_reason(quantshift, files):
    for name, first in (("train.csv", 1), ("new.csv", 5000)):
        frame = pl.read_csv(files / name)
        n = len(frame)
        if "y" in frame.columns:
            frame = frame.sort("y")  # so that a row number tells the label
        frame.with_columns(
            row=pl.Series(range(first, first + n)),
            user_id=pl.Series([f"u{i * 7919 % 100003:06d}" for i in range(first, first + n)]),
            same=pl.lit("a"),
        ).write_csv(files / name)
    code, out, err = quantshift(*asked(files))
    assert code == 0, err
    told = json.loads(out)
    reasons = {column["name"]: column["reason"] for column in told["left_out_columns"]}
    assert {"row", "user_id", "same"} <= set(reasons)
    assert all(reasons.values())
    assert yes(told)["low"] <= 0.25 <= yes(told)["high"]


def test_dropped_and_grouping_columns_are_no_features(quantshift, files):
    code, out, err = quantshift(*asked(files, *LOGISTIC, "--drop", "age,income", "--by", "region"))
    assert code in (0, 4), err
    told = json.loads(out)
    assert {column["name"] for column in told["used"]} == {"member"}
    assert {"age", "income", "region"} <= {c["name"] for c in told["left_out_columns"]}


def test_a_column_missing_in_the_sample_is_left_out(quantshift, files):
    pl.read_csv(files / "new.csv").drop("age").write_csv(files / "new.csv")
    code, out, err = quantshift(*asked(files, *LOGISTIC))
    assert code == 0, err
    reasons = {c["name"]: c["reason"] for c in json.loads(out)["left_out_columns"]}
    assert "sample" in reasons["age"]


@pytest.mark.slow
def test_a_column_that_gives_the_label_away_is_named(quantshift, files):
    frame = pl.read_csv(files / "train.csv")
    frame.with_columns(outcome=pl.col("y").replace({"yes": "paid", "no": "open"})).write_csv(
        files / "train.csv"
    )
    new = pl.read_csv(files / "new.csv")
    new.with_columns(outcome=pl.lit("open")).write_csv(files / "new.csv")
    _, out, _ = quantshift(*asked(files, *LOGISTIC))
    (told,) = (f for f in json.loads(out)["findings"] if f["code"] == "revealing_column")
    assert told["about"]["column"] == "outcome"


# Labels


def test_missing_labels_are_no_classes(quantshift, files):
    frame = pl.read_csv(files / "train.csv")
    words = ["NA", "N/A", "NaN", "NULL", "null", "None", "nan", ""]
    y = [words[i // 10 % 8] if i % 10 == 0 else v for i, v in enumerate(frame["y"])]
    frame.with_columns(y=pl.Series(y)).write_csv(files / "train.csv")
    code, out, err = quantshift(*asked(files, *LOGISTIC))
    assert code == 0, err
    told = json.loads(out)
    assert told["classes"] == ["no", "yes"]
    assert told["training"]["rows"]["left_out"]["no label"] == 60


def test_one_and_one_point_zero_are_one_class(quantshift, files):
    frame = pl.read_csv(files / "train.csv")
    y = [{"yes": "1.0" if i % 2 else "1", "no": "0"}[v] for i, v in enumerate(frame["y"])]
    frame.with_columns(y=pl.Series(y)).write_csv(files / "train.csv")
    code, out, err = quantshift(*asked(files, *LOGISTIC))
    assert code == 0, err
    told = json.loads(out)
    assert told["classes"] == ["0", "1"]
    assert told["names"]["1"] == "y = 1"


def test_classes_that_differ_in_case_are_named(quantshift, files):
    frame = pl.read_csv(files / "train.csv")
    y = ["YES" if v == "yes" and i % 2 else v for i, v in enumerate(frame["y"])]
    frame.with_columns(y=pl.Series(y)).write_csv(files / "train.csv")
    _, out, _ = quantshift(*asked(files, *LOGISTIC))
    told = recorded(json.loads(out)["findings"], TableFindings.RESPELT_LABELS)
    (spelling,) = told["spellings"]
    assert "YES" in spelling
    assert "yes" in spelling


def test_copies_are_reported_and_share_a_fold(quantshift, tmp_path):
    pl.concat([reviews(60, 1)] * 20).write_csv(tmp_path / "train.csv")
    reviews(300, 2).write_csv(tmp_path / "new.csv")
    _, out, _ = quantshift(*asked(tmp_path, "--text", "text"))
    told = json.loads(out)
    assert told["training"]["accuracy"] < 1
    assert recorded(told["findings"], TrainingFindings.COPIED_ROWS)["n"] == 1140


# Answers that cannot be had


def test_columns_that_say_nothing_are_no_answer(quantshift, files):
    rng = np.random.default_rng(0)
    for name in ("train.csv", "new.csv"):
        frame = pl.read_csv(files / name)
        noise = pl.Series(np.round(rng.normal(size=len(frame)), 3))
        frame = frame.with_columns(a=noise, b=noise.shuffle(0))
        frame.drop("age", "income", "region", "member").write_csv(files / name)
    code, out, err = quantshift(*asked(files))
    assert code == 4, err
    share = yes(json.loads(out))
    assert (share["estimate"], share["low"], share["high"]) == (None, 0, 1)
    code, out, _ = quantshift(*(a for a in asked(files) if a != "--json"))
    assert code == 4
    assert "cannot be estimated" in out.splitlines()[0]


@pytest.mark.parametrize("given", ["half", "certain"])
def test_posteriors_that_say_nothing_give_no_certainty(quantshift, tmp_path, given):
    rng = np.random.default_rng(0)
    y = rng.random(500) < 0.5
    p = np.full(500, 0.5) if given == "half" else y.astype(float)
    pl.DataFrame({"p_yes": p, "y": np.where(y, "yes", "no")}).write_csv(tmp_path / "train.csv")
    new = np.full(300, 0.5) if given == "half" else np.round(rng.beta(2, 6, 300), 3)
    pl.DataFrame({"p_yes": new}).write_csv(tmp_path / "new.csv")
    code, out, err = quantshift(*asked(tmp_path, "--posteriors", "p_yes"))
    told = json.loads(out)
    if given == "half":
        assert code == 4, err
        assert (yes(told)["low"], yes(told)["high"]) == (0, 1)
    else:
        codes = [finding["code"] for finding in told["findings"]]
        assert "too_accurate" in codes, codes
        assert yes(told)["high"] - yes(told)["low"] > 0


@pytest.mark.slow
def test_all_items_of_one_class_leave_the_interval_a_width(quantshift, tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(1000) % 2
    pl.DataFrame({"x": rng.normal(size=1000) + 3.5 * y, "y": y}).write_csv(tmp_path / "train.csv")
    pl.DataFrame({"x": rng.normal(size=300) + 3.5}).write_csv(tmp_path / "new.csv")
    code, out, err = quantshift(*asked(tmp_path))
    assert code == 0, err
    share = json.loads(out)["batches"][0]["shares"][1]
    assert share["low"] < 0.9999  # not a point: the classifier errs
    assert share["high"] == pytest.approx(1, abs=1e-6)


# Files of the user


def planned(files: Path, *more: object) -> tuple[object, ...]:
    return (
        *("plan", "quantify", "--train", files / "train.csv", "--sample", files / "new.csv"),
        *("--label", "y", "--precision", 0.08, *more),
    )


def test_a_filled_in_sheet_is_never_replaced(quantshift, files):
    sheet = files / "audit.csv"
    assert quantshift(*planned(files, *LOGISTIC, "--out", sheet))[0] == 0
    labelled = pl.read_csv(sheet).with_columns(y=pl.lit("yes"))
    labelled.write_csv(sheet)
    before = sheet.read_bytes()
    code, _, err = quantshift(*planned(files, *LOGISTIC, "--out", sheet))
    assert code == 2
    assert "audit.csv" in one_line(err)
    assert sheet.read_bytes() == before


@pytest.mark.parametrize("option", ["--html", "--csv"])
def test_an_output_is_never_an_input(quantshift, files, option):
    before = (files / "new.csv").read_bytes()
    code, _, err = quantshift(*asked(files, option, files / "new.csv", "--overwrite"))
    assert code == 2
    assert "new.csv" in one_line(err)
    code, _, err = quantshift(*planned(files, "--out", files / "new.csv", "--overwrite"))
    assert code == 2
    assert (files / "new.csv").read_bytes() == before


@pytest.mark.slow
def test_foreign_files_in_a_model_folder_stay(quantshift, files):
    train = ("train", "--train", files / "train.csv", "--label", "y", "--out", files / "m")
    assert quantshift(*train)[0] == 0
    (files / "m" / "notes.txt").write_text("mine")
    quantshift(*train)
    assert (files / "m" / "notes.txt").read_text() == "mine"


def test_a_sheet_of_other_rows_is_refused(quantshift, files):
    sheet = files / "audit.csv"
    assert quantshift(*planned(files, *LOGISTIC, "--out", sheet))[0] == 0
    frame = pl.read_csv(sheet).with_columns(y=pl.lit("no"))
    frame.with_columns(item=pl.col("item") % 300 + 1).write_csv(sheet)
    code, _, err = quantshift(*asked(files, *LOGISTIC, "--audit", sheet))
    assert code == 2
    assert "audit.csv" in one_line(err)


@pytest.mark.slow
def test_a_sheet_carries_no_formulas(quantshift, files):
    frame = pl.read_csv(files / "new.csv")
    frame.with_columns(note=pl.lit("=cmd|'/c calc'!A0")).write_csv(files / "new.csv")
    sheet = files / "audit.csv"
    assert quantshift(*planned(files, *LOGISTIC, "--out", sheet))[0] == 0
    rows = pl.read_csv(sheet, infer_schema=False)
    assert not any(str(cell).startswith("=") for cell in rows["note"])
    rows.with_columns(y=pl.lit("no")).write_csv(sheet)
    code, _, err = quantshift(*asked(files, *LOGISTIC, "--audit", sheet))
    assert code == 0, err


# Habits


def test_exit_codes_for_scripts(quantshift, files):
    assert quantshift(*asked(files, *LOGISTIC, "--fail-if", "yes>0.9"))[0] == 0
    assert quantshift(*asked(files, *LOGISTIC, "--fail-if", "yes>0.05"))[0] == 3


@pytest.mark.slow
def test_a_pipe_and_a_glob(quantshift, files, monkeypatch):
    whole = quantshift(*asked(files, *LOGISTIC))[1]
    frame = pl.read_csv(files / "train.csv")
    frame[:300].write_csv(files / "part1.csv")
    frame[300:].write_csv(files / "part2.csv")
    question = asked(files, *LOGISTIC)
    question = (*question[:2], files / "part*.csv", *question[3:])
    code, out, err = quantshift(*question)
    assert code == 0, err
    assert yes(json.loads(out)) == yes(json.loads(whole))
    question = asked(files, *LOGISTIC)
    question = (*question[:4], "-", *question[5:])
    with (files / "new.csv").open() as pipe:
        monkeypatch.setattr(sys, "stdin", pipe)
        code, out, err = quantshift(*question)
    assert code == 0, err
    assert yes(json.loads(out)) == yes(json.loads(whole))


# Sheets of workbooks


@pytest.mark.parametrize("command", ["sketch", "data"])
def test_a_sheet_that_is_not_read_is_told(quantshift, tmp_path, command):
    """Only `quantify`, `train` and `judge` told of hidden sheets."""
    rows = [["p", "y"], *([0.1 * (i % 9), "yes" if i % 3 else "no"] for i in range(40))]
    book = workbook(tmp_path / "t.xlsx", Data=rows, Old=rows[:9], hidden=["Old"])
    for name, is_told in ((book, True), (f"{book}#Data", False)):
        how = {"sketch": ("sketch", name, "--score", "p"), "data": ("data", "import", name)}
        how["data"] += ("--label", "y")
        code, out, err = quantshift(*how[command], "--out", tmp_path / f"{is_told}.parquet")
        assert (code, err) == (0, "")
        assert ("the hidden sheet 'Old' was not read" in out) == is_told


# Numbers and paths of the command line


@pytest.mark.parametrize("seed", [-1, 2**32])
def test_a_seed_that_a_library_would_not_take(quantshift, files, seed):
    code, _, error = quantshift(*asked(files, *LOGISTIC, "--seed", seed))
    assert code == 2
    assert "invalid value for '--seed': it should be" in one_line(error)
    with pytest.raises(UserError, match="must be a whole number from 0 to 4,294,967,295, got"):
        quantify(files / "new.csv", train=files / "train.csv", label="y", seed=seed)


def test_a_link_to_itself(quantshift, files):
    (files / "loop.csv").symlink_to("loop.csv")
    code, _, error = quantshift(
        "quantify", "--train", files / "train.csv", "--sample", files / "loop.csv", "--label", "y"
    )
    assert code == 2
    assert "loop.csv: cannot be read" in one_line(error)


def test_a_sample_without_any_column_of_training_names_its_own(quantshift, files):
    (files / "new.csv").write_text("Report of March\n" + (files / "new.csv").read_text())
    code, _, error = quantshift(*asked(files, *LOGISTIC))
    assert code == 2
    assert "the sample has none of its columns, but Report of March" in one_line(error)
