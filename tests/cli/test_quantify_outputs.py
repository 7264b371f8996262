"""The verb quantify: options, files and exit codes, with the job itself left out."""

import csv
import dataclasses
import html
import json
import re

import pytest

from quantshift.claims import Explanation
from quantshift.cli.commands.answers import quantify as verb
from quantshift.cli.commands.answers import train as train_verb
from quantshift.quantifying.declaration import Declaration
from quantshift.quantifying.options import (
    AuditOptions,
    BatchOptions,
    ColumnOptions,
    EstimationOptions,
    Request,
    Sources,
    TrainingOptions,
)
from quantshift.quantifying.result import Shift
from tests.claims.made import RANGED as A_RANGE
from tests.quantifying.made import BATCH, FOUND, UNKNOWN

CALM = dataclasses.replace(BATCH, shift=Shift(False, Explanation.PRIOR, 0.4))
RANGED = dataclasses.replace(CALM, grounds=A_RANGE)
ASKED = ("quantify", "--sample", "new.csv", "--model", "m")


@pytest.fixture
def job(monkeypatch, tmp_path):
    """A job that takes any arguments and gives what the test wants."""
    calls = []
    monkeypatch.chdir(tmp_path)
    (tmp_path / "new.csv").write_text("a\n1\n")

    def quantify(request, progress):
        assert callable(progress)
        calls.append(request)
        return dataclasses.replace(FOUND, batches=job.batches)

    job = quantify
    job.batches = (CALM,)
    job.calls = calls
    monkeypatch.setattr(verb, "quantify_tables", quantify)
    return job


def test_the_page_has_the_command_without_its_outputs(job, quantshift, tmp_path):
    options = ("--lenient", "--drop", "a b", "--fail-if", "pos>99%")
    pages = []
    for name in ("one.html", "two.html"):
        quantshift(*ASKED, *options, "--seed", 7, "--html", name, "--json")
        pages.append((tmp_path / name).read_text("utf-8"))
    command = "quantshift quantify --sample new.csv --model m --drop 'a b' --lenient --seed 7"
    written = html.unescape(pages[0])
    assert f"<dt>command</dt><dd>{command} --fail-if 'pos>99%'</dd>" in written
    assert "<dt>seed</dt><dd>7</dd>" in written
    assert pages[0] == pages[1]


def test_every_option_reaches_the_job(job, quantshift):
    code, _, _ = quantshift(
        *("quantify", "--sample", "new.csv", "--sample", "b-*.csv", "--train", "t.csv"),
        *("--train", "u.csv", "--label", "y", "--text", "a, b", "--features", 'c,"d,e"'),
        *("--drop", "f", "--id", "g", "--weights", "h", "--missing", "NA,?", "--positive", "1"),
        *("--lenient", "--by", "day", "--every", "week", "--audit", "s.csv", "--method", "SLD"),
        *("--classifier", "forest", "--level", 0.9, "--replicates", 200, "--simultaneous"),
        *("--assume", "covariate", "--groups", "region", "--sequential", "--precision", 0.1),
        *("--seed", 7, "--posteriors", "p"),
    )
    assert code == 0
    (call,) = job.calls
    assert str(call.audit.audit) == "s.csv"
    assert vars(call) == vars(
        Request(
            Sources(["new.csv", "b-*.csv"], ["t.csv", "u.csv"]),
            ColumnOptions(
                label="y",
                text=("a", "b"),
                features=("c", "d,e"),
                posteriors=("p",),
                drop=("f",),
                id="g",
                weights="h",
                missing=("NA", "?"),
                positive="1",
                groups="region",
                lenient=True,
            ),
            TrainingOptions(method="SLD", classifier="forest", seed=7),
            BatchOptions("day", "week"),
            AuditOptions(call.audit.audit, sequential=True, precision=0.1),
            EstimationOptions(level=0.9, replicates=200, simultaneous=True),
            (),
            Declaration(assume="covariate"),
        )
    )


def test_without_options_the_job_has_its_defaults(job, quantshift):
    assert quantshift("quantify", "--sample", "-", "--train", "t.csv", "--label", "y")[0] == 0
    (call,) = job.calls
    assert vars(call) == vars(
        Request(
            Sources("-", "t.csv"),
            ColumnOptions(label="y"),
            TrainingOptions(),
            BatchOptions(),
            AuditOptions(),
            EstimationOptions(),
            (),
        )
    )


@pytest.mark.parametrize(
    ("batches", "options", "code", "said"),
    [
        ((CALM,), (), 0, ""),
        ((CALM,), ("--fail-on", "shift,changed,unreliable"), 0, ""),
        ((BATCH,), ("--fail-on", "changed"), 0, ""),
        ((BATCH,), ("--fail-on", "shift"), 3, "condition: new.csv: shift (p = 0.002)\n"),
        ((CALM,), ("--fail-if", "pos>50%"), 0, ""),
        ((CALM,), ("--fail-if", "pos>0.4"), 3, "condition: new.csv: pos>0.4 (43.0%)\n"),
        (
            (CALM,),
            ("--fail-if", "pos>0.5", "--fail-if", "neg.low<0.6"),
            3,
            "condition: new.csv: neg.low<0.6 (50.0%)\n",
        ),
        ((UNKNOWN,), (), 4, ""),
        (
            (CALM, UNKNOWN),
            ("--fail-if", "pos>0.4"),
            3,
            "condition: new.csv: pos>0.4 (43.0%)\nopen: new.csv: pos>0.4 (0.0 to 100.0%)\n",
        ),
        ((RANGED,), ("--fail-if", "pos>0.4"), 4, "open: new.csv: pos>0.4 (37.5 to 50.0%)\n"),
        ((RANGED,), ("--fail-if", "pos>0.6"), 0, ""),
        ((RANGED,), ("--fail-if", "pos>0.3"), 3, "condition: new.csv: pos>0.3 (37.5 to 50.0%)\n"),
        ((RANGED,), ("--fail-if", "pos.high>0.4"), 3, "condition: new.csv: pos.high>0.4 (50.0%)\n"),
    ],
)
def test_exit_codes(job, quantshift, batches, options, code, said):
    job.batches = batches
    got, out, err = quantshift(*ASKED, *options)
    assert (got, err) == (code, said)
    assert out.startswith("pos: ")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--fail-on", "shft"), "unknown condition 'shft'; did you mean 'shift'?"),
        (("--fail-if", "spam"), "'spam' is not a condition; write a class, > or <, and a share: "),
        (("--fail-if", "spam>5"), "'spam>5': a share is at most 1; write 0.05, or 5% (--fail-if)"),
        (("--train", "-", "--sample", "-"), "only one table can come from standard input (-)"),
        (("--csv", "new.csv"), "new.csv is read by the same command; name another file"),
        (("--html", "new.csv"), "new.csv is read by the same command; name another file"),
        (("--csv", "mine.csv"), "mine.csv exists and was not made by quantshift; name another"),
        (("--csv", "x", "--html", "x"), "x cannot be both the page and the table; name two files"),
        (("--csv", "x.csv", "--rows", "x.csv"), "x.csv cannot be two outputs; name two files"),
        (("--csv", "no/where.csv"), "no/where.csv: no such folder"),
    ],
)
def test_what_is_refused_before_the_work(job, quantshift, tmp_path, options, said):
    (tmp_path / "mine.csv").write_text("my own\n")
    code, out, err = quantshift(*ASKED, *options)
    assert (code, out) == (2, "")
    assert err.startswith(f"error: {said}")
    assert err.count("\n") == 1
    assert job.calls == []
    assert (tmp_path / "mine.csv").read_text() == "my own\n"
    assert (tmp_path / "new.csv").read_text() == "a\n1\n"


def test_a_table_beside_the_text_and_again(job, quantshift, tmp_path):
    for _ in range(2):
        code, out, _ = quantshift(*ASKED, "--csv", "out.csv")
        assert code == 0
        assert out.endswith("\ntable in out.csv\n")
    with (tmp_path / "out.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["class"] for row in rows] == ["neg", "pos"]
    (tmp_path / "mine.csv").write_text("my own\n")
    assert quantshift(*ASKED, "--csv", "mine.csv", "--overwrite")[0] == 0
    assert (tmp_path / "mine.csv").read_text().startswith("batch,items,")


def test_json_alone_on_standard_output(job, quantshift):
    code, out, _ = quantshift(*ASKED, "--json", "--csv", "out.csv")
    assert code == 0
    assert json.loads(out)["headline"] == "pos"


def test_the_help_teaches(quantshift):
    code, out, _ = quantshift("quantify", "--help-all")
    assert code == 0
    for taught in ("Tables", "Columns", "Estimate", "Output", "In scripts", "unreliable"):
        assert taught in out
    assert "zcat new.csv.gz | quantshift quantify --model model/ --sample - --json" in out


@pytest.mark.parametrize("verb", ["quantify", "judge"])
def test_the_help_is_one_screen_of_daily_options(quantshift, verb):
    """It was 273 lines with 52 options."""
    code, out, _ = quantshift(verb, "--help")
    assert code == 0
    shown = set(re.findall(r"│ (?:\*\s+)?(--[a-z-]+)", out))
    assert {"--help", "--help-all", "--label", "--html"} <= shown
    assert len(shown - {"--help", "--help-all"}) == 14
    assert out.count(f"quantshift {verb} ") == 1 + 2  # how it is called, and two examples
    assert len(out.splitlines()) <= 55
    _, everything, _ = quantshift(verb, "--help-all")
    assert shown < set(re.findall(r"│ (?:\*\s+)?(--[a-z-]+)", everything))


def test_train_looks_at_its_place_before_the_work(monkeypatch, quantshift, tmp_path):
    """A folder with other things in it, and a file."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(train_verb, "train_from", None)
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.txt").write_text("mine")
    (tmp_path / "t.csv").write_text("x,y\n1,2\n")
    for out in ("thesis", "t.csv"):
        code, _, err = quantshift("train", "--train", "t.csv", "--label", "y", "--out", out)
        assert code == 2
        assert err.startswith(f"error: {out}")
        assert err.count("\n") == 1
