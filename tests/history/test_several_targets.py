"""Histories of several labels."""

import json
import shutil
from pathlib import Path

import pytest

from quantshift import History, quantify, watch
from quantshift.answers.targets.answer import TargetAnswers
from quantshift.errors import UserError
from quantshift.quantifying import Quantification
from quantshift.quantifying.targets.folder import target_folder_name
from tests.quantifying.targets.made import LABELS, QUICK, labelled, unlabelled

Answers = TargetAnswers[Quantification]


@pytest.fixture(scope="module")
def found() -> Answers:
    sample = unlabelled(labelled(300, seed=2, spam=0.6))
    return quantify(sample, train=labelled(400, seed=1), label=LABELS, **QUICK)


@pytest.fixture(scope="module")
def selected() -> Answers:
    """Items selected by a column, so that not every label can have an interval."""
    sample = unlabelled(labelled(300, seed=2, spam=0.6)).sort("x0").tail(150)
    return quantify(sample, train=labelled(400, seed=1), label=LABELS, **QUICK)


@pytest.mark.slow
def test_each_label_has_a_history_of_its_own(found: Answers, tmp_path: Path) -> None:
    watched = watch(found, history=tmp_path / "h", at="2026-03-02", fail_if="spam>1%")
    watch(found, history=tmp_path / "h", at="2026-03-03")
    for label in LABELS:
        calls = History(tmp_path / "h" / label).calls()
        assert [call.headline for call in calls] == [label, label]
        assert calls[0].classes == (f"not {label}", label)
        assert calls[0].limits.false_alarms_per_year == pytest.approx(1 / 3)
        assert calls[1].limits.false_alarms_per_year == pytest.approx(1 / 3)
        share = next(s for s in calls[0].batches[0].shares if s.label == label)
        own = found.answers[label].batches[0]
        assert share == next(s for s in own.shares if s.label == label)
    assert History(tmp_path / "h" / "spam").calls()[0].conditions == ("spam>1%",)
    assert History(tmp_path / "h" / "hate").calls()[0].conditions == ()
    assert watched.exit_code == (3 if watched.can_be_estimated else 4)
    assert any("spam>1%" in line for line in watched.conditions)
    assert "histories of 3 labels" in watched.to_text(details=True)
    about = json.loads(watched.to_json())["history"]
    assert set(about) == set(LABELS)


def test_without_a_history_events_are_told_with_the_label(selected: Answers) -> None:
    watched = watch(selected, fail_on=["unreliable"])
    expected = [
        label
        for label, answer in selected.answers.items()
        if answer.batches[0].reason in ("no_evidence", "refuted")
    ]
    assert expected
    assert [line.split(":")[0] for line in watched.conditions] == expected
    line = watched.summary_line()
    assert "\n" not in line
    assert all(label in line for label in LABELS)
    assert json.loads(watched.to_json()) == json.loads(selected.to_json())


def test_the_history_of_one_label_is_refused(found: Answers, tmp_path: Path) -> None:
    watch(found.answers["spam"], history=tmp_path / "h")
    with pytest.raises(UserError, match="history of one label"):
        watch(found, history=tmp_path / "h")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("x")
    with pytest.raises(UserError, match="holds other things"):
        watch(found, history=tmp_path / "other")
    with pytest.raises(UserError, match="need a history"):
        watch(found, fail_on=["alarm"])


def test_histories_of_several_labels_are_not_one(found: Answers, tmp_path: Path) -> None:
    """They were said to be other things than a history."""
    watch(found, history=tmp_path, at="2026-03-02")
    one_of_them = f"several labels; name that of one, such as {tmp_path / min(LABELS)}$"
    with pytest.raises(UserError, match=one_of_them):
        History(tmp_path).calls()
    with pytest.raises(UserError, match=one_of_them):
        watch(found.answers["spam"], history=tmp_path)


def test_a_label_that_has_lost_its_history_is_told_of(found: Answers, tmp_path: Path) -> None:
    history = tmp_path / "h"
    assert watch(found, history=history, at="2026-03-02").problems == []
    shutil.rmtree(history / "spam")
    watched = watch(found, history=history, at="2026-03-03", fail_on="alarm")
    (problem,) = watched.problems
    assert (
        str(problem)
        == f"{history / 'spam'} has no calls yet, though other labels have: new, or lost"
    )
    assert watched.exit_code == 3
    assert watched.summary_line().startswith("DAMAGED ")
    assert watch(found, history=history, at="2026-03-04").problems == []


def test_nothing_is_appended_if_an_answer_does_not_fit(found: Answers, tmp_path: Path) -> None:
    history = tmp_path / "h"
    watch(found, history=history, at="2026-03-02")
    shutil.rmtree(history / "hate")
    shutil.copytree(history / "spam", history / "hate")
    with pytest.raises(UserError, match="is a history of the classes not spam, spam"):
        watch(found, history=history, at="2026-03-03")
    assert [len(History(history / label).calls()) for label in LABELS] == [1, 1, 1]


def test_names_of_folders_are_safe() -> None:
    assert target_folder_name("../x") == "%2E%2E%2Fx"
    assert target_folder_name("Hass & Hetze") == "Hass %26 Hetze"
    assert target_folder_name("*00") != target_folder_name("\u2a00")
    long = [target_folder_name(f"{'ä/' * 200}{end}") for end in "xy"]
    assert len(set(long)) == 2
    assert all(len(name.encode()) <= 120 and name.startswith("ä%2Fä") for name in long)
