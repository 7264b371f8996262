"""The numbers of every JSON output, by where they stand in it."""

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from quantshift import History, judge, quantify
from quantshift.sketches import quantify_sketch
from tests.end_to_end.frozen_products import scores, sketches, tables, verdicts
from tests.history.made import days, time_of
from tests.quantifying.labels.made_labels import LABELS, QUICK, labelled, unlabelled


def numbers_of(text: str) -> dict[str, float | int | None]:
    """What is a number, or could be one, in a JSON text, by its path; not that of the format."""
    content = json.loads(text)
    del content["format"]
    return dict(_numbers(content, ""))


def _numbers(value: Any, path: str) -> Iterator[tuple[str, float | int | None]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _numbers(inner, f"{path}/{key}")
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from _numbers(inner, f"{path}/{i}")
    elif value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        yield path, value


def of_quantify(folder: Path) -> str:
    """Two batches, one of them with some labels; limits for all classes at once."""
    train, new = map(pl.read_csv, tables(folder))
    new = new.with_columns(week=pl.Series(np.resize(["W1", "W2"], len(new))))
    rng = np.random.default_rng(3)
    audit = new.sample(60, seed=0).with_columns(label=pl.Series(rng.choice(["no", "yes"], 60)))
    options = {"by": "week", "audit": audit, "simultaneous": True}
    return quantify(new, train=train, label="label", replicates=100, **options).to_json()


def of_quantify_labels(folder: Path) -> str:
    """Three labels, two of which are within each other, and two batches."""
    new = unlabelled(labelled(300, seed=2, spam=0.6))
    options = {"label": LABELS, "parents": {"hate": "abuse"}, "by": "month", **QUICK}
    return quantify(new, train=labelled(400, seed=1), **options).to_json()


def of_sketch(folder: Path) -> str:
    """Counts of scores, with an audit."""
    labelled_scores, _ = scores()
    audit = labelled_scores.sample(80, seed=0).rename({"y": "label"})
    return quantify_sketch(*sketches(), audit=audit, replicates=100).to_json()


def of_judge(folder: Path, **options: Any) -> str:
    """Two systems, one better than the other, whose verdicts people have checked in part."""
    systems = np.random.default_rng(4).choice(["A", "B"], 900)
    table = verdicts().with_columns(system=pl.Series(systems))
    return judge(table, verdict="judge", label="human", labels="random", **options).to_json()


def of_judge_labels(folder: Path) -> str:
    """Verdicts about two labels, each with labels of its own."""
    rng = np.random.default_rng(9)
    columns: dict[str, Any] = {}
    for name, share in (("spam", 0.3), ("abuse", 0.1)):
        truth = rng.random(500) < share
        said = np.where(rng.random(500) < 0.9, truth, ~truth)
        known = np.arange(500) % 5 == 0
        columns[f"{name}_judge"] = said.astype(int)
        columns[name] = [int(t) if k else None for t, k in zip(truth, known, strict=True)]
    pairs = {f"{name}_judge": name for name in ("spam", "abuse")}
    return judge(pl.DataFrame(columns), pairs=pairs, labels="random").to_json()


def of_history(folder: Path) -> str:
    """Twelve days, the last of them changed."""
    history = History.open(folder / "history")
    for i, answer in enumerate(days(12, change=0.2, after=11)):
        history.append(answer, at=time_of(i))
    return history.to_json()


OUTPUTS: Mapping[str, Callable[[Path], str]] = {
    "quantify": of_quantify,
    "quantify labels": of_quantify_labels,
    "sketch": of_sketch,
    "judge": of_judge,
    "judge by system": partial(of_judge, by="system", compare="A,B"),
    "judge errors": partial(of_judge, errors_by="system"),
    "judge labels": of_judge_labels,
    "history": of_history,
}
"""What prints each kind of JSON, in a folder of its own."""
