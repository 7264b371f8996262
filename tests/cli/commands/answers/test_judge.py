"""The verbs judge and plan judge: from files to text, pages, tables, sheets and exit codes."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.judging.made import drawn, halves, verdicts

ASKED = ("--verdict", "judge", "--label", "human")
PLAN = ("plan", "judge")


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    whole = verdicts()
    drawn(whole).write_csv("verdicts.csv")
    whole.drop("truth").write_csv("bare.csv")
    halves(whole, "judge", 30).write_csv("halves.csv")
    return whole


def refused(quantshift, *arguments, verb=("judge",)):
    code, said, wrong = quantshift(*verb, *arguments)
    assert code == 2
    assert not said
    assert wrong.startswith("error: ")
    assert wrong.count("\n") == 1
    return wrong


def test_one_command_answers(table, quantshift):
    code, said, wrong = quantshift("judge", "verdicts.csv", *ASKED, "--labels", "random")
    assert (code, wrong) == (0, "")
    assert said.startswith("pass: ")
    assert "counting the verdicts of judge alone" in said.splitlines()[1]


def test_help_of_both_verbs(quantshift):
    code, said, _ = quantshift("judge", "--help")
    assert code == 0
    assert "Usage: quantshift judge " in said
    assert " table" not in said.split("Arguments")[0].split("Usage")[1].split("\n")[0]
    code, said, _ = quantshift("judge", "--help-all")
    assert code == 0
    assert "plan judge" in said
    code, said, _ = quantshift("plan", "judge", "--help")
    assert code == 0
    assert "--precision" in said


def test_a_contradiction_is_one_line_that_names_the_option(table, quantshift):
    line = refused(quantshift, "halves.csv", *ASKED, "--labels", "random")
    assert "it looks like by-verdict" in line
    assert "(--labels)" in line
    code, _, _ = quantshift("judge", "halves.csv", *ASKED, "--labels", "random", "--insist")
    assert code == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("verdicts.csv", "--label", "human"), "(--verdict, --score)"),
        (("verdicts.csv", "--verdict", "judge"), "(--label, --sensitivity, --specificity)"),
        (("verdicts.csv", *ASKED, "--map", "pass"), "write VERDICT=LABEL (--map)"),
        (("verdicts.csv", *ASKED, "--map", "pass=pass,pass=fail"), "map it to one of them (--map)"),
        (("verdicts.csv", *ASKED, "--compare", "A"), "write A,B, or all (--compare)"),
        (("verdicts.csv", *ASKED, "--compare", "A,B"), "(--by)"),
        (("bare.csv", "--verdict", "judge", "--sensitivity", "x"), "'x' is not a rate"),
        (("verdicts.csv", *ASKED, "--fail-if", "passs>1%"), "did you mean 'pass'"),
        (("verdicts.csv", *ASKED, "--html", "verdicts.csv"), "is read by the same command"),
        (("verdicts.csv", *ASKED, "--csv", "x.csv", "--misjudged", "x.csv"), "be two outputs"),
        (("nowhere.csv", *ASKED), "no such file"),
        (("-", *ASKED, "--labelled", "-"), "standard input"),
    ],
)
def test_wrong_input_is_one_line(table, quantshift, arguments, words):
    assert words in refused(quantshift, *arguments)


def test_json_page_and_table(table, quantshift, tmp_path):
    pytest.importorskip("vl_convert", reason="vl-convert-python is not installed")
    files = ("--html", "out.html", "--csv", "out.csv")
    code, said, _ = quantshift("judge", "verdicts.csv", *ASKED, *files)
    assert code == 0
    assert said.endswith("page in out.html\ntable in out.csv\n")
    code, said, _ = quantshift("judge", "verdicts.csv", *ASKED, *files, "--json")
    assert code == 0
    assert json.loads(said)["format"] == 1
    assert pl.read_csv("out.csv")["class"].to_list() == ["fail", "pass"]
    (tmp_path / "mine.csv").write_text("a\n")
    line = refused(quantshift, "verdicts.csv", *ASKED, "--csv", "mine.csv")
    assert "was not made by quantshift" in line


def test_exit_codes(table, quantshift):
    stated = ("judge", "verdicts.csv", *ASKED, "--labels", "random")
    code, _, wrong = quantshift(*stated, "--fail-if", "pass>10%")
    assert code == 3
    assert wrong.startswith("condition: verdicts.csv: pass>10%")
    frame = pl.read_csv("verdicts.csv")
    frame.with_columns(human=pl.when(pl.col("system") == "A").then("human")).write_csv("part.csv")
    arguments = ("part.csv", *ASKED, "--by", "system", "--labels", "random")
    code, said, _ = quantshift("judge", *arguments)
    assert code == 4
    assert "none of its items has a label" in said
    code, _, wrong = quantshift("judge", *arguments, "--fail-if", "pass>10%")
    # One system has the condition, and of the other nothing is known: the failure comes first.
    assert code == 3
    assert [line.split(":")[0] for line in wrong.splitlines()] == ["condition", "open"]


def test_a_design_that_nobody_stated_gates_nothing(table, quantshift):
    """It said "ok" where wrong verdicts had been picked for labels."""
    code, said, _ = quantshift("judge", "verdicts.csv", *ASKED)
    first, question, *_ = said.splitlines()
    assert code == 0
    assert ", if the labelled items were chosen at random (95% interval " in first
    assert question.startswith(
        "How were the 80 labelled items chosen? Say it with --labels: random (at random), "
    )
    for bound in ("pass>10%", "pass<10%"):
        asked = ("--fail-if", bound, "--junit", "out.xml", "--overwrite")
        code, _, wrong = quantshift("judge", "verdicts.csv", *ASKED, *asked)
        assert code == 4
        assert [line.split(":")[0] for line in wrong.splitlines()] == ["open", "question"]
        assert 'skipped="1"' in Path("out.xml").read_text()
    code, said, _ = quantshift("judge", "verdicts.csv", *ASKED, "--summary")
    assert code == 0
    assert said.startswith("UNSTATED verdicts.csv")
    told = json.loads(quantshift("judge", "verdicts.csv", *ASKED, "--json")[1])["overall"]
    assert told["grounds"] == {"kind": "conditional", "reason": "guessed", "rests_on": None}
    assert told["labels"]["question"] == question
    stated = ("judge", "verdicts.csv", *ASKED, "--labels", "random")
    code, said, _ = quantshift(*stated, "--summary", "--fail-if", "pass<10%")
    assert (code, said.split()[0]) == (0, "ok")
    code, _, wrong = quantshift(*stated, "--fail-on", "declared")
    assert code == 0
    rates = ("--labelled", "verdicts.csv", "--assume", "rates", "--labels", "elsewhere")
    declared = ("judge", "bare.csv", *ASKED, *rates)
    code, said, _ = quantshift(*declared, "--summary")
    assert (code, said.split()[0]) == (0, "DECLARED")
    code, _, wrong = quantshift(*declared, "--fail-on", "declared")
    assert (code, wrong.strip()) == (3, "condition: bare.csv: declared")


def test_known_rates(table, quantshift):
    rates = ("--sensitivity", "0.95,0.9-0.98", "--specificity", "0.75,0.65-0.83")
    code, said, _ = quantshift("judge", "bare.csv", "--verdict", "judge", *rates, "--json")
    assert code == 0
    assert json.loads(said)["overall"]["labels"]["design"] == "given"


def test_a_sheet_goes_out_and_comes_back(table, quantshift):
    plan = ("plan", "judge", "bare.csv", *ASKED, "--n-labels", "80", "--out", "sheet.csv")
    code, said, _ = quantshift(*plan)
    assert code == 0
    assert said.startswith("Label 80 items")
    sheet = pl.read_csv("sheet.csv")
    assert sheet.columns[:2] == ["item", "human"]
    assert sheet.columns[-4:] == ["probability", "plan", "place", "check"]
    assert len(sheet) == sheet["item"].n_unique() == 80
    # A blank sheet may be drawn again; one with labels may not.
    assert quantshift(*plan)[0] == 0
    filled = sheet.with_columns(human=table["truth"].gather(sheet["item"] - 1))
    filled[:60].write_csv("sheet.csv")
    assert "holds 60 labels" in refused(quantshift, *plan[2:], verb=PLAN)
    code, said, _ = quantshift("judge", "bare.csv", *ASKED, "--labelled", "sheet.csv", "--json")
    assert code == 0
    overall = json.loads(said)["overall"]
    assert overall["labels"]["design"] == "planned"
    assert overall["n_labelled"] == 60
    truth = (table["truth"] == "pass").mean()
    assert overall["shares"][1]["low"] <= truth <= overall["shares"][1]["high"]


def test_labels_there_are_stay_on_the_sheet(table, quantshift):
    plan = ("plan", "judge", "verdicts.csv", *ASKED, "--n-labels", "20", "--out", "sheet.csv")
    assert quantshift(*plan)[1].startswith("Label 20 more items")
    sheet = pl.read_csv("sheet.csv")
    assert sheet["human"].is_not_null().sum() == 80
    assert sheet["human"][:20].null_count() == 20
    known = pl.read_csv("verdicts.csv")["human"].gather(sheet["item"] - 1)
    assert sheet["human"][20:].to_list() == known[20:].to_list()


def test_a_sheet_of_another_table_is_refused(table, quantshift):
    quantshift("plan", "judge", "bare.csv", *ASKED, "--n-labels", "40", "--out", "sheet.csv")
    sheet = pl.read_csv("sheet.csv")
    sheet.with_columns(human=pl.lit("pass")).write_csv("sheet.csv")
    pl.read_csv("bare.csv").reverse().write_csv("other.csv")
    line = refused(quantshift, "other.csv", *ASKED, "--labelled", "sheet.csv")
    assert "has different content" in line
    assert "plan judge" in line
    sheet.with_columns(human=pl.lit("pass"), probability=2.0).write_csv("sheet.csv")
    line = refused(quantshift, "bare.csv", *ASKED, "--labelled", "sheet.csv")
    assert "item, plan, place, probability, check do not go together" in line


@pytest.mark.parametrize("column", ["item", "probability", "plan", "place", "check"])
def test_a_sheet_without_one_of_its_columns_is_refused(table, quantshift, column):
    """It was taken for labels from elsewhere: 0.0% (0.0 to 0.0%) where 5.2% were true."""
    quantshift("plan", "judge", "bare.csv", *ASKED, "--n-labels", "40", "--out", "sheet.csv")
    sheet = pl.read_csv("sheet.csv")
    filled = sheet.with_columns(human=table["truth"].gather(sheet["item"] - 1))
    filled.drop(column).write_csv("sheet.csv")
    line = refused(quantshift, "bare.csv", *ASKED, "--labelled", "sheet.csv")
    assert f"a sheet of quantshift plan judge without its column {column!r}: restore it" in line
    line = refused(quantshift, "bare.csv", *ASKED, "--labelled", "sheet.csv", "--id", "id")
    assert "restore it" in line


def test_the_order_of_rows_is_nothing_to_a_sheet(table, quantshift):
    quantshift("plan", "judge", "bare.csv", *ASKED, "--n-labels", "40", "--out", "sheet.csv")
    sheet = pl.read_csv("sheet.csv")
    filled = sheet.with_columns(human=table["truth"].gather(sheet["item"] - 1))
    answers = []
    for frame in (filled, filled.sort("human"), filled.sort("check")):
        frame.write_csv("sheet.csv")
        code, said, _ = quantshift("judge", "bare.csv", *ASKED, "--labelled", "sheet.csv")
        assert code == 0
        answers.append(said)
    assert answers[0] == answers[1] == answers[2]


def test_a_sheet_that_nobody_filled_in_is_refused(table, quantshift):
    quantshift("plan", "judge", "bare.csv", *ASKED, "--n-labels", "40", "--out", "sheet.csv")
    line = refused(quantshift, "bare.csv", *ASKED, "--labelled", "sheet.csv")
    assert "sheet.csv: no row has a label; fill in the column 'human'" in line


def test_a_sheet_is_not_the_table(table, quantshift):
    """Its 40 items were all labelled: an interval without width, for the wrong items."""
    quantshift("plan", "judge", "bare.csv", *ASKED, "--n-labels", "40", "--out", "sheet.csv")
    sheet = pl.read_csv("sheet.csv")
    sheet.with_columns(human=table["truth"].gather(sheet["item"] - 1)).write_csv("sheet.csv")
    line = refused(quantshift, "sheet.csv", *ASKED)
    assert "sheet.csv is a sheet of quantshift plan judge" in line
    assert line.endswith("(--labelled)\n")


def test_a_plan_without_labels_is_a_guess(table, quantshift):
    for name, expected in (("bare.csv", True), ("verdicts.csv", False)):
        code, said, _ = quantshift("plan", "judge", name, *ASKED)
        assert code == 0
        assert ("no labels show yet whether" in said) is expected


def test_formulas_do_not_reach_a_spreadsheet(quantshift, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    pl.DataFrame(
        {
            "answer": [f"=cmd|' /C calc'!A{i}" for i in range(60)],
            "judge": rng.choice(["@yes", "no"], 60),
        }
    ).write_csv("bare.csv")
    asked = ("--verdict", "judge", "--label", "human")
    code, _, _ = quantshift(
        "plan", "judge", "bare.csv", *asked, "--n-labels", "30", "--out", "sheet.csv"
    )
    assert code == 0
    text = (tmp_path / "sheet.csv").read_text("utf-8")
    assert ",=cmd" not in text
    assert ",'=cmd" in text
    sheet = pl.read_csv("sheet.csv")
    sheet.with_columns(human=pl.col("judge")).write_csv("sheet.csv")
    code, said, _ = quantshift("judge", "bare.csv", *asked, "--labelled", "sheet.csv", "--json")
    assert code == 0
    assert json.loads(said)["classes"] == ["@yes", "no"]


def test_a_plan_needs_one_goal(table, quantshift):
    line = refused(
        quantshift, "bare.csv", *ASKED, "--n-labels", "5", "--precision", "0.1", verb=PLAN
    )
    assert "give either a precision" in line
    assert "(--precision, --n-labels)" in line
    assert "name a file" in refused(quantshift, "-", *ASKED, "--out", "sheet.csv", verb=PLAN)
    asked = (*ASKED, "--precision", "0.001", "--of", "population")
    code, said, _ = quantshift("plan", "judge", "bare.csv", *asked)
    assert code == 0
    assert "cannot give more precision" in said
    assert "unknown plan" in refused(quantshift, "bare.csv", *ASKED, "--how", "best", verb=PLAN)


def test_a_history_and_one_line(table, quantshift):
    asked = ("judge", "verdicts.csv", *ASKED, "--labels", "random", "--history", "history")
    code, said, wrong = quantshift(*asked, "--at", "2026-03-02", "--summary")
    assert (code, wrong) == (0, "")
    assert said.startswith("ok verdicts.csv: pass ")
    assert said.endswith("; baseline 1 of 20\n")
    assert said.count("\n") == 1
    code, said, _ = quantshift(*asked, "--at", "2026-03-09")
    assert code == 0
    assert "History  appended to history (2 calls)" in said
    code, said, _ = quantshift(*asked, "--at", "2026-03-16", "--json")
    assert json.loads(said)["history"]["drifts"] == []
    code, said, _ = quantshift("history", "show", "history")
    assert code == 0
    assert "right about fail" in said
    assert "no test of drift: the baseline has 3 of 20 batches with labels so far" in said
    code, said, _ = quantshift("history", "page", "history", "--html", "page.html")
    assert code == 0


def test_what_a_scheduled_call_refuses(table, quantshift):
    assert "need a history" in refused(quantshift, "verdicts.csv", *ASKED, "--fail-on", "alarm")
    assert "unknown condition 'shift'" in refused(
        quantshift, "verdicts.csv", *ASKED, "--history", "h", "--fail-on", "shift"
    )
    line = refused(quantshift, "verdicts.csv", *ASKED, "--json", "--summary")
    assert "either as JSON or as one line" in line


def test_errors_and_misjudged_items(table, quantshift, tmp_path):
    asked = ("judge", "verdicts.csv", *ASKED, "--labels", "random", "--errors-by", "system,score")
    code, said, wrong = quantshift(*asked, "--misjudged", "wrong.csv")
    assert (code, wrong) == (0, "")
    assert "misjudged items in wrong.csv" in said
    assert "adjusted for 2 comparisons" in said
    wrong_items = pl.read_csv("wrong.csv")
    assert (wrong_items["verdict"] != wrong_items["label"]).all()
    (tmp_path / "mine.csv").write_text("a,b\n")
    refused(quantshift, "verdicts.csv", *ASKED, "--misjudged", "mine.csv")
    refused(quantshift, "verdicts.csv", *ASKED, "--misjudged", "verdicts.csv")
    code, _, _ = quantshift(*asked, "--misjudged", "mine.csv", "--overwrite")
    assert code == 0
