"""Histories of `quantify`, of `judge` and of several labels, as fuzzing makes and reads them."""

import json
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from quantshift import History, judge, quantify, watch
from quantshift.answers import TargetAnswers
from quantshift.base.storage.integrity import checksum
from quantshift.history import render_page
from quantshift.history.charts.alarms import alarms_of
from quantshift.history.kept.store import Problem
from quantshift.history.output.rendering import render_series
from tests.fuzz.kind import said
from tests.fuzz.mutations import VALUES
from tests.history.made import days, filled
from tests.history.test_judges import ASKED, week
from tests.quantifying.targets.made import LABELS, labelled, unlabelled

N_WEEKS = 9
"""One more than the fewest batches of a baseline."""


def make_history(folder: Path) -> None:
    filled(folder / "h", days(6, change=0.3, after=5))


def answer_of_history(folder: Path) -> Any:
    history = History.open(folder, must_exist=True)
    calls = history.calls()
    alarms = alarms_of(calls)
    shown = history.to_csv() if calls else ""
    said([problem for problem in history.problems() if not is_description(problem)])
    return calls, alarms, shown


def is_description(problem: Problem) -> bool:
    """Whether it is about the file that has nothing but the format, and is written again."""
    return problem.path.name == "history.json"


def forge_call(path: Path, rng: np.random.Generator) -> Path:
    """Another call, with a name that vouches for it."""
    if path.name == "history.json":
        return path
    mutate = VALUES[int(rng.integers(len(VALUES)))]
    content = mutate(path.read_bytes(), rng)
    path.unlink()
    time = path.name.partition("-")[0]
    forged = path.with_name(f"{time}-{checksum(content)[:16]}.json")
    forged.write_bytes(content)
    return forged


def make_judge_history(folder: Path) -> None:
    for i in range(N_WEEKS):
        found = judge(week(i, n=60, k=20), **ASKED, by="week")
        watch(found, history=folder / "h", at=str(found.batches[0].name), baseline=N_WEEKS - 1)


def answer_of_judge_history(folder: Path) -> Any:
    """The judges too, and the text and the page, which show them."""
    calls, *found = answer_of_history(folder)
    history = History.open(folder)
    shown = render_series(history, history.limits()) if calls else ""
    return calls, found, history.judges() if calls else [], shown, len(render_page(history)) > 0


@cache
def answer_with_labels() -> TargetAnswers:
    """An answer about several labels that is appended again and again."""
    given = {"label": LABELS, "classifier": "logistic", "replicates": 20}
    return quantify(unlabelled(labelled(150, seed=2)), train=labelled(200, seed=1), **given)


def make_label_history(folder: Path) -> None:
    for i in range(3):
        watch(answer_with_labels(), history=folder / "h", at=f"2026-03-0{1 + i}")


def answer_of_label_history(folder: Path) -> Any:
    """What the next call says."""
    with tempfile.TemporaryDirectory() as place:
        again = shutil.copytree(folder, Path(place) / "h")
        options = {"history": again, "at": "2026-03-09", "fail_on": "alarm"}
        watched = watch(answer_with_labels(), **options)
        said(watched.problems)
        kept = {label: History(again / label).calls() for label in LABELS}
        about = json.loads(watched.to_json())["history"]
        return kept, {label: about[label]["alarms"] for label in LABELS}, watched.exit_code
