"""Everything that is printed as JSON has a published schema, and real outputs follow it."""

import copy
import json
import re
import shlex
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from quantshift import History, judge, quantify, watch
from quantshift.lab.data.description import describe, find_embedded, render, render_list
from quantshift.lab.data.embedded.embedded import embedded_set
from website import json_schemas
from website.pages import ROOT

pytestmark = pytest.mark.slow

jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")


def strict(text: str) -> object:
    """The JSON; NaN and infinity, which Python would read, are none."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


def validator(name: str):
    schema = json.loads(json_schemas.file_of(name).read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def check(name: str, text: str) -> None:
    errors = [
        f"{error.json_path}: {error.message}" for error in validator(name).iter_errors(strict(text))
    ]
    assert errors == []


@pytest.fixture(scope="module")
def tables(tmp_path_factory) -> Path:
    """A labelled table, one of three weeks to estimate, and one of verdicts."""
    folder = tmp_path_factory.mktemp("tables")
    rng = np.random.default_rng(1)

    def table(p: float, n: int) -> pl.DataFrame:
        y = rng.random(n) < p
        return pl.DataFrame(
            {
                "size": rng.normal(1.5 * y),
                "weight": rng.normal(1.0 * y),
                "week": np.arange(n) % 3,
                "label": np.where(y, "yes", "no"),
            }
        )

    table(0.6, 400).drop("week").write_csv(folder / "labelled.csv")
    table(0.3, 300).write_csv(folder / "new.csv")
    truth = rng.random(400) < 0.6
    verdict = truth ^ (rng.random(400) < 0.15)
    other = truth ^ (rng.random(400) < 0.25)
    named = np.array(["bad", "good"])
    frame = pl.DataFrame(
        {
            "judge": named[verdict.astype(int)],
            "other": named[other.astype(int)],
            "system": np.where(np.arange(400) % 8 < 4, "A", "B"),
            "human": named[truth.astype(int)],
        }
    )
    labelled = pl.int_range(pl.len()) % 4 == 0
    frame.with_columns(pl.when(labelled).then("human").alias("human")).write_csv(
        folder / "verdicts.csv"
    )
    frame.drop("human").write_csv(folder / "unlabelled.csv")
    return folder


def test_the_files_are_those_of_the_code():
    assert json_schemas.stale() == []


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"by": "week"},
        {"by": "week", "assume": "prior", "of": "population"},
        {"method": "PACC"},
    ],
    ids=repr,
)
def test_answers_of_quantify(tables, options):
    answer = quantify(tables / "new.csv", train=tables / "labelled.csv", label="label", **options)
    check("quantify", answer.to_json())


@pytest.mark.parametrize("options", [{}, {"by": "week"}], ids=repr)
def test_answers_about_several_labels(tables, tmp_path, options):
    other = pl.Series("other", (np.arange(400) % 3 == 0).astype(int))
    labelled = pl.read_csv(tables / "labelled.csv").with_columns(other)
    labelled.write_csv(tmp_path / "labels.csv")
    answer = quantify(
        tables / "new.csv", train=tmp_path / "labels.csv", label=["label", "other"], **options
    )
    check("targets", answer.to_json())


def test_answers_about_judges_of_several_labels():
    table = pl.DataFrame({"a": [0, 1] * 30, "b": [1, 1, 0] * 20})
    table = table.with_columns(c=pl.col("a"), d=1 - pl.col("b"))
    check("targets", judge(table, pairs={"a": "c", "b": "d"}, labels="random").to_json())


def test_an_answer_that_was_appended_and_its_history(tables, tmp_path):
    answer = quantify(tables / "new.csv", train=tables / "labelled.csv", label="label", by="week")
    watched = watch(answer, history=tmp_path / "history", at="2026-03-02")
    assert "history" in json.loads(watched.to_json())
    check("quantify", watched.to_json())
    check("history", History(tmp_path / "history").to_json())


@pytest.mark.parametrize(
    ("table", "options"),
    [
        ("verdicts.csv", {"verdict": "judge", "label": "human"}),
        (
            "verdicts.csv",
            {"verdict": "judge", "label": "human", "labels": "random", "by": "system"},
        ),
        ("verdicts.csv", {"verdict": "judge", "label": "human", "labels": "picked"}),
        (
            "verdicts.csv",
            {"verdict": "judge", "label": "human", "labels": "by-verdict", "cluster": "system"},
        ),
        ("verdicts.csv", {"verdict": ["judge", "other"], "label": "human", "labels": "random"}),
        (
            "verdicts.csv",
            {
                "verdict": "judge",
                "label": "human",
                "labels": "random",
                "by": "system",
                "compare": ("A", "B"),
            },
        ),
        (
            "unlabelled.csv",
            {"verdict": "judge", "sensitivity": 0.9, "specificity": 0.9, "positive": "good"},
        ),
    ],
    ids=repr,
)
def test_answers_of_judge(tables, table, options):
    check("judge", judge(tables / table, **options).to_json())


def test_lists_and_descriptions_of_data_sets():
    check("data-list", render_list(find_embedded(), "json"))
    check("data-describe", render(describe(embedded_set("breast-cancer")), "json"))


def test_a_missing_field_and_a_wrong_type_are_errors(tables):
    content = json.loads(
        judge(tables / "verdicts.csv", verdict="judge", label="human", labels="random").to_json()
    )
    for change in ("missing", "type", "format"):
        changed = copy.deepcopy(content)
        if change == "missing":
            del changed["overall"]["shares"][0]["low"]
        elif change == "type":
            changed["overall"]["n_items"] = "many"
        else:
            changed["format"] += 1
        assert not validator("judge").is_valid(changed), change


SKILL = (ROOT / "SKILL.md").read_text(encoding="utf-8")


def test_the_commands_for_agents_run(tables, tmp_path, quantshift, monkeypatch):
    for file in ("labelled.csv", "new.csv", "verdicts.csv"):
        (tmp_path / file).write_bytes((tables / file).read_bytes())
    monkeypatch.chdir(tmp_path)
    lines = re.findall(r"^quantshift (.+)", SKILL, re.MULTILINE)
    assert len(lines) == 4
    for line in lines:
        code, out, err = quantshift(*shlex.split(line))
        assert code == 0, (line, err)
        if "--json" in line:
            check(line.split()[0], out)


def test_the_options_that_agents_are_told_of_exist(quantshift):
    """It named --labels of `plan quantify`, which has --n-labels."""
    known = {}
    for name in ("quantify", "judge", "plan quantify", "plan judge"):
        every = "--help" if name.startswith("plan") else "--help-all"
        _, shown, _ = quantshift(*name.split(), every)
        known[name] = set(re.findall(r"│ (?:\*\s+)?(--[a-z-]+)", shown))
    said = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", SKILL))
    assert said <= {"--help-all"} | set().union(*known.values())
    for code in re.findall(r"`([^`\n]*--[^`\n]*)`", SKILL):
        command = re.match(r"(?:quantshift )?((?:plan )?(?:quantify|judge))\b", code)
        if command:
            assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", code)) <= known[command[1]], code


def test_what_agents_are_told_is_what_the_schemas_have():
    fields = set()
    for name in ("quantify", "judge"):
        schema = json.loads(json_schemas.file_of(name).read_text(encoding="utf-8"))
        fields |= set(schema["properties"])
        for definition in schema["$defs"].values():
            fields |= set(definition.get("properties", ()))
    named = set(re.findall(r"`([a-z]+(?:_[a-z]+)*)`", SKILL))
    answers = {"kind", "estimate", "low", "high", "findings", "severity", "batches", "overall"}
    answers |= {"no_estimate_reason", "none_of_these", "shares", "label", "labels", "guessed"}
    answers |= {"judges", "agreement"}
    assert answers <= named
    assert answers <= fields
