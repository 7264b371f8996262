"""A new output is one class and one entry in a list: every command that answers then has it."""

import json

import numpy as np
import polars as pl
import pytest

from quantshift.answers.outputs import OUTPUTS
from quantshift.answers.outputs.output import AbstractOutput


class ChatMessage(AbstractOutput):
    """A message for a chat, in the layout of incoming webhooks."""

    name = "chat"
    noun = "message"
    endings = ("json",)
    help = "Also write a message for a chat."

    def render(self, answer, circumstances):
        fields = ("batch", "items", "class", "estimate", "low", "high", "can_be_estimated")
        rows = [{name: row[name] for name in fields} for row in answer.records()]
        failing = [condition.text for condition in circumstances.conditions]
        first = answer.summary().notes[0]
        return json.dumps({"text": first, "rows": rows, "conditions": failing})

    def is_ours(self, path):
        return path.read_bytes().startswith(b'{"text": ')


@pytest.fixture
def chat():
    OUTPUTS.append(ChatMessage())
    yield
    OUTPUTS.pop()


@pytest.fixture
def tables(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    y = rng.random(300) < 0.4
    frame = pl.DataFrame(
        {
            "x": rng.normal(2.0 * y, 1.0).round(3),
            "y": np.where(y, "yes", "no"),
            "judge": np.where(rng.random(300) < 0.2 + 0.6 * y, "yes", "no"),
        }
    )
    frame.select("x", "y").head(200).write_csv("labelled.csv")
    frame.select("x").tail(100).write_csv("new.csv")
    human = pl.when(pl.int_range(pl.len()) < 120).then("y").alias("human")
    frame.select("judge", human).write_csv("judged.csv")
    return tmp_path


QUANTIFY = ("quantify", "--train", "labelled.csv", "--sample", "new.csv", "--label", "y")
FEW = ("--method", "PACC", "--replicates", 100)
JUDGE = ("judge", "judged.csv", "--verdict", "judge", "--label", "human", "--labels", "random")


def test_quantify_and_judge_write_it(chat, tables, quantshift):
    code, said, _ = quantshift(*QUANTIFY, *FEW, "--fail-if", "yes>99%", "--chat", "q.json")
    assert code == 0
    assert said.endswith("message in q.json\n")
    message = json.loads((tables / "q.json").read_text())
    assert [row["class"] for row in message["rows"]] == ["no", "yes"]
    assert message["conditions"] == ["yes>99%"]
    code, said, _ = quantshift(*JUDGE, "--chat", "j.json")
    assert code == 0
    assert said.endswith("message in j.json\n")
    assert json.loads((tables / "j.json").read_text())["text"]


def test_it_replaces_its_own_files_only_and_has_its_ending(chat, tables, quantshift):
    (tables / "mine.json").write_text("{}")
    for file, reason in {
        "mine.json": "mine.json exists and was not made by quantshift",
        "o.csv": "o.csv",
        "labelled.csv": "labelled.csv is read by the same command",
    }.items():
        code, _, wrong = quantshift(*QUANTIFY, "--chat", file)
        assert code == 2
        assert wrong.startswith(f"error: {reason}")
    (tables / "old.json").write_text('{"text": "yesterday"}')
    code, _, _ = quantshift(*QUANTIFY, *FEW, "--chat", "old.json")
    assert code == 0
    assert "yesterday" not in (tables / "old.json").read_text()


@pytest.mark.slow
def test_help_has_it_and_a_page_does_not_name_it(chat, tables, quantshift):
    _, said, _ = quantshift("judge", "--help-all")
    assert "Also write a message for a chat." in said
    code, _, _ = quantshift(*QUANTIFY, *FEW, "--chat", "q.json", "--html", "page.html")
    assert code == 0
    page = (tables / "page.html").read_text()
    assert "--method PACC" in page
    assert "--chat" not in page


def test_without_the_entry_there_is_no_such_option(tables, quantshift):
    code, _, wrong = quantshift(*QUANTIFY, "--chat", "q.json")
    assert code == 2
    assert wrong.startswith("error: no such option: --chat")


def test_an_output_that_leaves_something_out_is_refused() -> None:
    with pytest.raises(TypeError, match="Nameless does not declare its name, help"):
        type("Nameless", (AbstractOutput,), {"noun": "message", "endings": ("json",)})
