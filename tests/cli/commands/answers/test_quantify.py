"""The verbs quantify, train and plan quantify (their tutorial runs in `tests/test_docs.py`)."""

import json

import polars as pl
import pytest
import typer
from typer.testing import CliRunner, Result

from quantshift.answers.words import shortened
from quantshift.cli.commands.answers.plan import plan_quantify
from quantshift.cli.commands.answers.quantify import quantify
from quantshift.cli.commands.answers.train import train
from quantshift.cli.declared import with_options
from quantshift.errors import UserError

app = typer.Typer()
app.command("quantify")(with_options(quantify))
app.command("train")(with_options(train))
plan = typer.Typer()
plan.command("quantify")(with_options(plan_quantify))
plan.callback()(lambda: None)
app.add_typer(plan, name="plan")


def run(*arguments: object, given: bytes | None = None) -> Result:
    return CliRunner().invoke(app, [str(a) for a in arguments], input=given)


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    path = tmp_path_factory.mktemp("tables")
    n = 200
    y = [i % 2 for i in range(n)]
    noise = [(i * 7919 % 1000) / 1000 for i in range(n)]
    frame = pl.DataFrame({"x": [a + 1.2 * b for a, b in zip(noise, y, strict=True)], "y": y})
    frame.write_csv(path / "labelled.csv")
    frame[:80].drop("y").write_csv(path / "new.csv")
    return path


def test_train_then_quantify_as_json_and_page(tables, tmp_path):
    pytest.importorskip("vl_convert")
    done = run("train", "--train", tables / "labelled.csv", "--label", "y", "--out", tmp_path / "m")
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[:4] == [
        "200 labelled rows (y = 0 100, y = 1 100)",
        "Columns  1 used",
        "         number  x (scaled)",
        f"Rows     {shortened(str(tables / 'labelled.csv'))}: 200 read, all used",
    ]
    assert done.stdout.splitlines()[-1] == f"method GuardedSLD; model in {tmp_path / 'm'}"
    page = tmp_path / "out.html"
    done = run(
        *("quantify", "--model", tmp_path / "m", "--sample", tables / "new.csv"),
        *("--json", "--html", page, "--replicates", 100),
    )
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["batches"][0]["n_items"] == 80
    assert page.read_text("utf-8").startswith("<!DOCTYPE html>")


def test_options_reach_the_job(tables):
    done = run(
        *("quantify", "--train", tables / "labelled.csv", "--sample", tables / "new.csv"),
        *("--label", "y", "--features", "x", "--method", "PACC", "--classifier", "naive-bayes"),
        *("--level", 0.9, "--replicates", 100, "--seed", 3, "--details"),
    )
    assert done.exit_code == 0, done.output
    assert "share   90% interval" in done.stdout
    assert "Method   PACC: chosen by you" in done.stdout
    assert "naive-bayes: cross-validated accuracy" in done.stdout


def test_pipes_patterns_and_several_files(tables, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    labelled = pl.read_csv(tables / "labelled.csv")
    for part in range(2):
        labelled[100 * part : 100 * (part + 1)].write_csv(f"part-{part}.csv")
    one = run("train", "--train", "part-*.csv", "--label", "y", "--out", "one", "--method", "PACC")
    assert one.exit_code == 0, one.output
    both = run(
        *("train", "--train", "part-0.csv", "--train", "part-1.csv", "--label", "y"),
        *("--out", "both", "--method", "PACC"),
    )
    assert both.stdout.startswith("200 labelled rows (y = 0 100, y = 1 100)\n")
    piped = run(
        *("quantify", "--model", "one", "--sample", "-", "--json", "--replicates", 100),
        given=(tables / "new.csv").read_bytes(),
    )
    assert piped.exit_code == 0, piped.output
    assert json.loads(piped.stdout)["batches"][0]["n_items"] == 80
    files = run("quantify", "--model", "both", "--sample", "part-*.csv", "--replicates", 100)
    assert files.exit_code == 0, files.output
    lines = files.stdout.splitlines()
    (head,) = (i for i, line in enumerate(lines) if line.split()[:2] == ["batch", "items"])
    assert [line.split()[0] for line in lines[head + 1 : head + 3]] == [
        "part-0.csv",
        "part-1.csv",
    ]


def test_a_batch_that_cannot_be_estimated_ends_with_exit_code_4(tables, tmp_path):
    (tmp_path / "empty.csv").write_text("x\n")
    train = ("--train", tables / "labelled.csv", "--label", "y", "--method", "PACC")
    empty = ("quantify", *train, "--sample", tmp_path / "empty.csv", "--replicates", 100)
    done = run(*empty, "--sample", tables / "new.csv")
    assert done.exit_code == 4, done.output
    assert done.stdout.startswith(
        "y = 1: cannot be estimated in 1 of 2 batches (empty.csv: there are no items)\n"
    )
    assert isinstance(run(*empty).exception, UserError)


def test_a_plan_without_a_file_says_how_to_draw(tables):
    done = run(
        *("plan", "quantify", "--train", tables / "labelled.csv", "--sample", tables / "new.csv"),
        *("--label", "y", "--precision", 0.05),
    )
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[0].startswith(
        "Label all the 80 items for an interval of about plus or minus 5.0%; counting labels"
    )
    assert "80 items cannot give more precision" in done.stdout
    assert done.stdout.splitlines()[-1] == "Add --out FILE.csv to draw them."


def test_errors_are_user_errors(tables):
    done = run("quantify", "--sample", tables / "new.csv")
    assert isinstance(done.exception, UserError)
    assert isinstance(run("quantify").exception, UserError)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--label", "z"], "error: labelled.csv: no column 'z'; there are x, y"),
        (["--label", "y", "--text", "w"], "error: labelled.csv: no column 'w'; there are x, y"),
        (["--label", "y", "--by", "week"], "error: new.csv: no column 'week'; there are x"),
        (
            ["--label", "y", "--by", "x", "--every", "week"],
            "error: new.csv: row 1, column 'x': '0.0' is not a date; write YYYY-MM-DD, or group by "
            "the values as they are",
        ),
        (["--label", "y", "--sample", "void.csv"], "error: void.csv: the file is empty"),
        (["--label", "y", "--sample", "table.csv"], "error: table.csv: a Parquet file, though its"),
        (["--label", "y", "--sample", "gone.csv"], "error: gone.csv: no such file"),
        (["--label", "y", "--audit", "new.csv"], "error: new.csv: no column 'y'; there are x"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(quantshift, tables, monkeypatch, arguments, line):
    monkeypatch.chdir(tables)
    (tables / "void.csv").touch()
    pl.read_csv("new.csv").write_parquet("table.csv")
    code, out, err = quantshift(
        *("quantify", "--train", "labelled.csv", "--sample", "new.csv", "--replicates", 100),
        *arguments,
    )
    assert (code, out) == (2, "")
    assert err.startswith(line)
    assert err.count("\n") == 1


def test_a_page_for_a_folder_that_is_not_there_is_refused_before_the_work(quantshift, tables):
    asked = ("quantify", "--train", tables / "labelled.csv", "--sample", tables / "new.csv")
    for page, line in (
        (tables / "nowhere" / "x.html", "no such folder; name a file in an existing folder"),
        (tables, "is a folder; name a file in it"),
    ):
        code, out, err = quantshift(*asked, "--label", "y", "--html", page)
        assert (code, out) == (2, "")
        assert err.startswith(f"error: {page}")
        assert err.endswith(f"{line}\n")


def test_a_sheet_for_a_folder_that_is_not_there_is_one_line(quantshift, tables):
    code, _, err = quantshift(
        *("plan", "quantify", "--train", tables / "labelled.csv", "--sample", tables / "new.csv"),
        *("--label", "y", "--precision", 0.05, "--out", tables / "nowhere" / "audit.csv"),
    )
    assert code == 2
    assert err == (
        f"error: {tables}/nowhere/audit.csv: no such folder; name a file in an existing folder\n"
    )
