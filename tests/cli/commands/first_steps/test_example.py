"""`quantshift example` as users meet it."""

from pathlib import Path

import pytest

from quantshift.cli.commands.first_steps.example import QUESTIONS
from quantshift.lab.data.embedded.examples import EXAMPLES

START = Path(__file__).parents[4] / "docs" / "start.md"


def test_it_writes_tables_and_says_what_to_type(quantshift, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = quantshift("example", "--out", "my tables")
    assert (code, err) == (0, "")
    assert {file.name for file in (tmp_path / "my tables").iterdir()} == set(EXAMPLES)
    for name in EXAMPLES:
        assert f"my tables/{name}" in out
    assert "quantshift judge 'my tables/verdicts.csv' --verdict judge" in out


def test_the_judge_answers_what_it_says(quantshift, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _, out, _ = quantshift("example")
    (command,) = (line for line in out.splitlines() if "quantshift judge" in line)
    code, answer, _ = quantshift(*command.split()[1:])
    assert code == 0
    assert answer.startswith("good: 67.8% of the 2,000 items in verdicts.csv")


def test_a_second_call_says_it_again(quantshift, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first = quantshift("example")
    (tmp_path / "examples" / "reviews.csv").unlink()
    kept = (tmp_path / "examples" / "verdicts.csv").stat().st_mtime_ns
    assert quantshift("example") == first
    assert {file.name for file in (tmp_path / "examples").iterdir()} == set(EXAMPLES)
    assert (tmp_path / "examples" / "verdicts.csv").stat().st_mtime_ns == kept


def test_files_stay(quantshift, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples" / "verdicts.csv").touch()
    assert quantshift("example") == (
        2,
        "",
        "error: examples/verdicts.csv exists, and examples replace no file; choose another folder "
        "(--out)\n",
    )


def test_a_file_in_the_place_of_the_folder_is_an_error(quantshift, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").touch()
    code, _, err = quantshift("example")
    assert code == 2
    assert err.startswith("error: examples is a file where a folder is needed")


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.text)
def test_the_first_page_follows_the_commands(question):
    page = START.read_text(encoding="utf-8")
    for command in question.typed("examples"):
        assert f"\n$ {command}" in page
