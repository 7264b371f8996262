"""`quantify --history`, its exit codes and its one line, and the verb `history`."""

import errno
import json
import os
from dataclasses import replace

import pytest

from quantshift import History
from quantshift.cli.commands.answers import quantify as verb
from tests.history.made import days, filled, time_of, tree
from tests.quantifying.made import UNKNOWN

ASKED = ("quantify", "--sample", "new.csv", "--model", "m", "--history", "h")


@pytest.fixture
def answers(monkeypatch, tmp_path):
    """A job that gives the answer of the first day that is not in the history."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "new.csv").write_text("a\n1\n")
    told = days(30, change=0.2, after=25)
    monkeypatch.setattr(verb, "quantify_tables", lambda *_: told[_n_calls(tmp_path / "h")])
    return told


def _n_calls(folder):
    return len(History.open(folder).calls())


@pytest.fixture
def history(tmp_path):
    return filled(tmp_path / "h", days(30, change=0.2, after=25))


def test_a_call_is_appended_and_said(answers, quantshift, tmp_path):
    code, said, wrong = quantshift(*ASKED, "--at", "2026-01-01T06:00", "--fail-if", "pos>0.9")
    assert (code, wrong) == (0, "")
    assert said.splitlines()[-2:] == [
        "History  appended to h (1 call)",
        "         no limits yet: the baseline has 1 of 20 batches so far",
    ]
    (call,) = History.open(tmp_path / "h").calls()
    assert call.time == "2026-01-01T06:00:00+00:00"
    assert call.conditions == ("pos>0.9",)


def test_an_alarm_ends_with_exit_code_3_and_one_line(answers, quantshift, tmp_path):
    filled(tmp_path / "h", answers[:24])
    ends = []
    for i in range(24, 28):
        code, said, wrong = quantshift(
            *ASKED, "--at", time_of(i).isoformat(), "--fail-on", "alarm", "--summary"
        )
        assert said.count("\n") == 1
        assert wrong == ""
        ends.append((code, said.split()[0]))
    assert ends[0] == (0, "WARNING")  # The answers have a warning.
    assert ends[-1] == (3, "ALARM")
    assert said.startswith("ALARM 2026-01-28: pos ")
    assert " of 500 items; moving average of pos 14.5%" in said
    assert ", usually 9.8%, limits " in said
    # Without the option an alarm is told, and is no failure.
    code, said, wrong = quantshift(*ASKED, "--at", time_of(28).isoformat())
    assert (code, wrong) == (0, "")
    assert said.splitlines()[-1].strip().startswith("2026-01-29: alarm (moving average of pos ")
    code, said, wrong = quantshift(
        *ASKED, "--at", time_of(29).isoformat(), "--fail-on", "alarm", "--json"
    )
    assert code == 3
    assert json.loads(said)["format"] == 1
    assert wrong.startswith("alarm: 2026-01-30: alarm (moving average of pos ")


def test_the_line_without_a_history(answers, quantshift):
    code, said, wrong = quantshift(*ASKED[:5], "--summary", "--fail-if", "pos>0.01")
    assert (code, wrong) == (3, "")
    assert said.startswith(
        "CONDITION 2026-01-01: pos 10.1% (8.1 to 12.1%) of 500 items; 2026-01-01: "
    )


def test_the_line_says_how_much_of_the_baseline_there_is(answers, quantshift):
    for day in range(3):
        code, said, _ = quantshift(*ASKED, "--at", time_of(day).isoformat(), "--summary")
        assert code == 0
        assert said.rstrip().endswith(f"; baseline {day + 1} of 20")


def test_the_line_of_a_batch_that_cannot_be_estimated(answers, quantshift):
    answers[0] = replace(answers[0], batches=(UNKNOWN,))
    code, said, _ = quantshift(*ASKED, "--at", "2026-01-01", "--summary")
    assert code == 4
    assert said == (
        "UNKNOWN new.csv: pos cannot be estimated from 500 items (they tell the classes apart no "
        "better than chance); baseline 0 of 20\n"
    )


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ((*ASKED[:5], "--fail-on", "alarm"), "need a history: name its folder (--history)"),
        ((*ASKED[:5], "--at", "2026-01-01"), "need a history: name its folder (--history)"),
        ((*ASKED[:5], "--baseline", "9"), "need a history: name its folder (--history)"),
        ((*ASKED, "--at", "noon"), "'noon' is not a time; write 2026-03-02"),
        (
            (*ASKED, "--baseline", "3"),
            "at least 8 batches, got 3 (--baseline)",
        ),
        ((*ASKED, "--summary", "--json"), "printed either as JSON or as one line"),
        ((*ASKED, "--fail-on", "alarms"), "did you mean 'alarm'?"),
        ((*ASKED[:5], "--history", "new.csv"), "new.csv: a file; name a folder for the history"),
        ((*ASKED[:5], "--history", "."), ".: the folder holds other things; name a new one"),
    ],
)
def test_wrong_options_are_told_before_the_work(arguments, line, answers, quantshift):
    code, said, wrong = quantshift(*arguments)
    assert (code, said) == (2, "")
    assert line in wrong
    assert wrong.count("\n") == 1


def test_a_full_disk_is_told_after_the_answer(answers, quantshift, monkeypatch, tmp_path):
    """The answer has cost time: it is printed, and the history is as it was."""
    quantshift(*ASKED, "--at", "2026-01-01")
    before = tree(tmp_path / "h")

    def full(*arguments, **options):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    monkeypatch.setattr("pathlib.Path.replace", full)
    code, said, wrong = quantshift(*ASKED, "--at", "2026-01-02")
    assert code == 2
    assert said.startswith("pos: ")
    assert wrong.startswith("error: no space left on the disk of ")
    assert tree(tmp_path / "h") == before


def test_list_show_and_export(history, quantshift, tmp_path):
    code, said, _ = quantshift("history", "list", history.path)
    assert code == 0
    assert len(said.splitlines()) == 31
    assert said.splitlines()[1].split()[:3] == ["2026-01-01", "06:00", "2026-01-01"]
    code, said, _ = quantshift("history", "show", history.path)
    assert code == 0
    lines = said.splitlines()
    assert lines[0] == "pos in *"
    assert lines[31].endswith("  alarm")
    assert lines[32].startswith(
        "mean of 20 batches 9.8%; about 365 batches a year, about 1 of which"
    )
    assert lines[-1] == "alarm  the moving average is beyond its limits"
    code, said, _ = quantshift("history", "show", history.path, "--class", "neg")
    assert said.startswith("neg in *\n")
    for kind, text in (("csv", history.to_csv()), ("json", history.to_json())):
        out = tmp_path / f"out.{kind}"
        for _ in range(2):  # its own export may be replaced
            code, said, _ = quantshift(
                "history", "export", history.path, "--as", kind, "--out", out
            )
            assert (code, said) == (0, f"{kind} in {out}\n")
        assert quantshift("history", "export", history.path, "--out", out)[1] == said
        assert out.read_text() == text
        assert (
            quantshift("history", "export", history.path, "--as", kind)[1] == f"{text.rstrip()}\n"
        )


def test_a_damaged_call_fails_the_daily_call(answers, quantshift, tmp_path):
    """It dropped out of the baseline, and the line said `ok`."""
    history = filled(tmp_path / "h", answers[:27])
    victim = min(history.path.glob("calls/*.json"))
    content = bytearray(victim.read_bytes())
    content[60] ^= 1
    victim.write_bytes(content)
    asked = (*ASKED, "--fail-on", "alarm", "--at")
    code, said, wrong = quantshift(*asked, time_of(27).isoformat(), "--summary")
    assert code == 3
    assert said.startswith(("DAMAGED ", "ALARM "))
    assert said.count("\n") == 1
    told = f"{victim.relative_to(tmp_path)} is damaged: its content is not what its name says"
    assert f"the history is damaged, so that alarms may be missing: {told}" in said
    assert f"warning: {told}" in wrong
    code, said, wrong = quantshift(*asked, time_of(28).isoformat(), "--json")
    assert code == 3
    assert json.loads(said)["history"]["problems"] == [told]
    assert "alarm: the history is damaged" in wrong
    code, said, wrong = quantshift(*ASKED, "--at", time_of(29).isoformat())
    assert code == 0
    assert told in said
    assert "no alarm" not in said


@pytest.mark.parametrize("content", [None, b"", b'{ "format": "quantshift history", "version": 1}'])
def test_a_lost_description_is_told_by_the_daily_call(answers, quantshift, tmp_path, content):
    """The call wrote it again without a word."""
    history = filled(tmp_path / "h", answers[:27])
    described = history.path / "history.json"
    described.unlink()
    if content is not None:
        described.write_bytes(content)
    asked = (*ASKED, "--json", "--at")
    code, said, wrong = quantshift(*asked, time_of(27).isoformat())
    state = "missing" if content is None else "damaged"
    told = f"h/history.json is {state} (a call writes it again)"
    assert (code, json.loads(said)["history"]["problems"]) == (0, [told])
    assert f"warning: {told}" in wrong
    code, said, _ = quantshift(*asked, time_of(28).isoformat())
    assert (code, json.loads(said)["history"]["problems"]) == (0, [])


def test_json_names_the_alarms(answers, quantshift, tmp_path):
    filled(tmp_path / "h", answers[:28])
    code, said, _ = quantshift(*ASKED, "--at", time_of(28).isoformat(), "--json")
    found = json.loads(said)["history"]
    assert (code, found["path"], found["problems"]) == (0, "h", [])
    assert [alarm["label"] for alarm in found["alarms"]] == ["pos"]


@pytest.mark.parametrize(
    "at", ["0999-05-05", "0001-01-01T00:00+14:00", "9999-12-31T23:00-14:00", "0001-01-01"]
)
def test_times_that_no_file_can_be_named_by_are_refused(answers, quantshift, at, tmp_path):
    """They were written under names that are never read, or a traceback."""
    code, _, wrong = quantshift(*ASKED, "--at", at)
    assert code == 2
    assert f"'{at}' is outside the years 1000 to 9999" in " ".join(wrong.split())
    assert not (tmp_path / "h").exists()


def test_an_export_is_what_its_name_says(history, quantshift, tmp_path):
    asked = ("history", "export", history.path, "--as", "csv", "--out", tmp_path / "x.json")
    code, _, wrong = quantshift(*asked)
    assert code == 2
    assert "the name says json, and csv would be written" in wrong
    assert not (tmp_path / "x.json").exists()


def test_an_export_is_no_workbook(history, quantshift, tmp_path):
    """CSV was written under the name e.xlsx."""
    code, _, wrong = quantshift("history", "export", history.path, "--out", tmp_path / "e.xlsx")
    assert code == 2
    assert "e.xlsx: the name says xlsx" in " ".join(wrong.split())
    assert not (tmp_path / "e.xlsx").exists()


def test_the_limits_can_be_tried(history, quantshift):
    _, said, _ = quantshift(
        *("history", "show", history.path, "--baseline", 10, "--batches-per-year", 52),
        *("--false-alarms-per-year", 0.5),
    )
    assert "mean of 10 batches" in said
    assert "about 52 batches a year, about 0.5 of which will be a false alarm" in said


def test_damage_is_told_and_the_rest_is_shown(history, quantshift):
    victim = sorted(history.path.glob("calls/*.json"))[3]
    victim.write_text("{}")
    code, said, wrong = quantshift("history", "list", history.path)
    assert code == 1
    assert len(said.splitlines()) == 30
    assert wrong == f"warning: {victim} is damaged: its content is not what its name says\n"


def test_prune(history, quantshift):
    before = tree(history.path)
    asked = ("history", "prune", history.path, "--before", "2026-01-03")
    code, said, _ = quantshift(*asked, "--dry-run")
    assert code == 0
    assert said == (
        "2 calls would be removed\n  2026-01-01 06:00  2026-01-01\n  2026-01-02 06:00  2026-01-02\n"
    )
    assert tree(history.path) == before
    assert quantshift(*asked)[1].startswith("2 calls removed\n")
    assert len(tree(history.path)) == len(before) - 2
    code, _, wrong = quantshift("history", "prune", history.path)
    assert code == 2
    assert "or all but the last few (--before, --keep)" in wrong


def test_what_is_no_history_is_one_line(quantshift, tmp_path):
    for arguments, line in (
        (
            ("list", tmp_path / "none"),
            "does not exist; `quantify` or `judge` with a history makes it",
        ),
        (
            ("list", tmp_path),
            "has no calls; `quantify --history` and `judge --history` append them",
        ),
        (("export", tmp_path, "--as", "xml"), "cannot export as 'xml'; known: csv, json"),
    ):
        code, _, wrong = quantshift("history", *arguments)
        assert code == 2
        assert line in wrong


def test_a_history_of_damaged_calls_alone_names_them(quantshift, tmp_path):
    """It said that the history had no calls."""
    history = filled(tmp_path / "h", days(1))
    (call,) = (history.path / "calls").iterdir()
    call.write_bytes(call.read_bytes()[:100])
    for command in (("list",), ("show",), ("export",), ("page", "--html", tmp_path / "p.html")):
        code, said, wrong = quantshift("history", command[0], history.path, *command[1:])
        assert (code, said) == (2, "")
        assert f"has no sound call: {call} is damaged: its content is not what" in wrong
