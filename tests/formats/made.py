"""A file of every format that quantshift writes, made anew, and what is read of it.

Everything in them is made up, and the same every time.
"""

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from quantshift import History, judge, quantify
from quantshift.answers.show.answer import FORMAT as ANSWER_VERSION
from quantshift.history.kept.record import FORMAT as CALL_VERSION
from quantshift.lab.data import DataFolder, LabelData, describe, import_labelled_items
from quantshift.lab.data.description import find_embedded, render, render_list
from quantshift.lab.data.embedded.embedded import embedded_set
from quantshift.lab.data.sets.folder import DATA_SET
from quantshift.lab.data.several_labels.label_data import LABEL_DATA
from quantshift.lab.results import ResultStore
from quantshift.lab.results.description import VERSION as RESULTS_VERSION
from quantshift.lab.results.verification import verify
from quantshift.quantifying import load_model
from quantshift.quantifying.labels.label_folder import (
    LABEL_MODELS,
    load_label_models,
    save_label_models,
)
from quantshift.quantifying.labels.label_training import train_label_models
from quantshift.quantifying.training.folder import FORMAT as MODEL_VERSION
from quantshift.sketches import load_sketch
from quantshift.sketches.about import VERSION as SKETCH_VERSION
from tests.fuzz import histories, kinds, several_labels
from tests.quantifying.labels.made_labels import LABELS, labelled, unlabelled

ONLY_VERSION = "1"
"""Of what names no version."""


@dataclass(frozen=True)
class Format:
    """A format, at the version that is written.

    make: writes files into a folder. read: what is read of a folder that has them, as JSON.
    """

    name: str
    version: str
    make: Callable[[Path], None]
    read: Callable[[Path], Any]


def read_model(folder: Path) -> Any:
    model = load_model(folder / "m")
    new = kinds.scored_table(10, seed=1).select("size", "place")
    estimate = quantify(new, model=folder / "m", replicates=20)
    return {
        "classes": list(model.classes),
        "posteriors": model.posteriors(model.items(new)).tolist(),
        "shares": [share.estimate for share in estimate.batches[0].shares],
    }


def make_label_models(folder: Path) -> None:
    given = {"label": ["abuse", "hate"], "parents": ["hate=abuse"], "drop": ["month", "spam"]}
    models = train_label_models(labelled(120, seed=1), **given, **several_labels.QUICK)
    save_label_models(models, folder / "m")


def read_label_models(folder: Path) -> Any:
    models = load_label_models(folder / "m")
    new = unlabelled(labelled(10, seed=2))
    return {
        "labels": list(models.labels),
        "parents": dict(models.parents.of),
        "posteriors": [model.posteriors(model.items(new)).tolist() for model in models.models],
    }


def read_sketches(folder: Path) -> Any:
    found = {}
    for path in sorted(folder.glob("*.parquet")):
        loaded = load_sketch(path)
        found[path.name] = {
            "classes": list(loaded.about.classes),
            "label": loaded.about.label,
            "rows": loaded.n_rows,
            "cells": loaded.table.head(5).with_columns(pl.selectors.temporal().cast(str)).rows(),
        }
    return json.loads(json.dumps(found))


def read_query_results(folder: Path) -> Any:
    return {path.name: load_sketch(path).n_rows for path in sorted(folder.iterdir())}


def read_data_sets(folder: Path) -> Any:
    found = {}
    for path in sorted(path for path in folder.iterdir() if path.is_dir()):
        data = DataFolder.open(path)
        data.verify()
        labels = [data.dataset().labels[i] for i in range(5)]
        found[path.name] = {
            **{key: describe(data)[key] for key in ("name", "kind", "items", "classes")},
            "labels": [str(label) for label in labels],
        }
    return found


def read_results(folder: Path) -> Any:
    store = ResultStore.open(folder / "r")
    assert list(verify(store)) == []
    rows = store.read().collect().sort("cell", "method", "sample")
    return {"rows": rows.height, "first": json.loads(rows.head(3).write_json())}


def read_history(folder: Path) -> Any:
    history = History.open(folder / "h", must_exist=True)
    assert history.problems() == []
    return {"calls": json.loads(history.to_json())["calls"], "frame": history.to_csv()}


def read_judge_history(folder: Path) -> Any:
    judges = History.open(folder / "h", must_exist=True).judges()
    pooled = [
        {"labels": found.n_labels, "rates": [rate.estimate for rate in found.rates]}
        for series in judges
        for found in series
    ]
    return {**read_history(folder), "judges": pooled}


def read_label_history(folder: Path) -> Any:
    found = {}
    for label in LABELS:
        history = History.open(folder / "h" / label, must_exist=True)
        assert history.problems() == []
        found[label] = json.loads(history.to_json())["calls"]
    return found


def make_exported_history(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as place:
        kinds.make_history(Path(place))
        exported = History.open(Path(place) / "h").to_json()
    (folder / "history-export.json").write_text(exported, encoding="utf-8")


def read_exported_history(folder: Path) -> Any:
    content = json.loads((folder / "history-export.json").read_text("utf-8"))
    shares = [[batch["shares"] for batch in call["batches"]] for call in content["calls"]]
    return {"format": content["format"], "shares": shares}


def read_sheets(folder: Path) -> Any:
    """How many labels of both kinds of sheets count, and what counting them gives."""
    audited = quantify(
        folder / "audit" / "new.csv",
        posteriors=["p"],
        label="y",
        audit=folder / "audit" / "sheet.csv",
        replicates=20,
    )
    audit = audited.batches[0].audit
    assert audit is not None
    planned = judge(
        folder / "plan" / "new.csv",
        verdict="judge",
        id="id",
        label=(folder / "plan" / "label.txt").read_text("utf-8"),
        labelled=folder / "plan" / "sheet.csv",
    )
    return {
        "audit": [audit.n_labelled, [share.estimate for share in audit.counted]],
        "plan": [planned.overall.n_labelled, planned.overall.labels.design],
    }


def make_sheets(folder: Path) -> None:
    """An audit and a plan for a judge, filled in, with the tables that they were drawn from."""
    for name, make in (("audit", kinds.make_audit), ("plan", kinds.make_plan)):
        (folder / name).mkdir()
        make(folder / name)


def make_label_quantification(folder: Path) -> None:
    answer = histories.answer_with_labels().to_json()
    (folder / "quantify-labels.json").write_text(answer, encoding="utf-8")


def make_label_judgement(folder: Path) -> None:
    table = pl.DataFrame({"a": [0, 1] * 30, "b": [1, 1, 0] * 20})
    table = table.with_columns(c=pl.col("a"), d=1 - pl.col("b"))
    answer = judge(table, pairs={"a": "c", "b": "d"}, labels="random").to_json()
    (folder / "judge-labels.json").write_text(answer, encoding="utf-8")


def make_data_list(folder: Path) -> None:
    listed = render_list(find_embedded(), "json")
    (folder / "data-list.json").write_text(listed, encoding="utf-8")


def read_data_list(folder: Path) -> Any:
    listed = json.loads((folder / "data-list.json").read_text("utf-8"))
    return [[entry["name"], entry["kind"], entry["items"], entry["classes"]] for entry in listed]


def make_data_description(folder: Path) -> None:
    described = render(describe(embedded_set("breast-cancer")), "json")
    (folder / "data-describe.json").write_text(described, encoding="utf-8")


def read_data_description(folder: Path) -> Any:
    content = json.loads((folder / "data-describe.json").read_text("utf-8"))
    return {key: content[key] for key in ("name", "kind", "items", "classes")}


def make_quantification(folder: Path) -> None:
    table = kinds.scored_table(60)
    answer = quantify(table, posteriors=["p"], by="day", replicates=20)
    (folder / "quantify.json").write_text(answer.to_json(), encoding="utf-8")


def make_judgement(folder: Path) -> None:
    table = kinds.verdicts(80)
    answer = judge(table, verdict="judge", label="truth", labels="random")
    (folder / "judge.json").write_text(answer.to_json(), encoding="utf-8")


def read_json(folder: Path) -> Any:
    """What scripts take from an answer; its layout is checked against the schema."""
    content = json.loads(next(folder.iterdir()).read_text("utf-8"))
    batches = content.get("batches") or [content["overall"]]
    return {"format": content["format"], "shares": [batch["shares"] for batch in batches]}


def read_json_of_labels(folder: Path) -> Any:
    """The same of an answer about several labels."""
    content = json.loads(next(folder.iterdir()).read_text("utf-8"))
    fields = ("label", "estimate", "low", "high")
    shares = [
        [*(label[name] for name in fields), label["grounds"]["kind"]]
        for label in content["batches"][0]["labels"]
    ]
    return {"format": content["format"], "labels": content["labels"], "shares": shares}


def make_label_data(folder: Path) -> None:
    """Items with several labels, in columns."""
    table = pl.DataFrame({"x": [0.5, 1.5, 2.5] * 8, "a": [0, 1] * 12, "b": [1, 1, 0] * 8})
    table.write_csv(folder / "t.csv")
    import_labelled_items([folder / "t.csv"], folder / "set", label=["a", "b"])
    (folder / "t.csv").unlink()


def read_label_data(folder: Path) -> Any:
    """The items of both parts."""
    data = LabelData.open(folder / "set")
    data.verify()
    parts = {part: data.items(part) for part in ("train", "test")}
    return {
        part: {"X": items.X.tolist(), "labels": items.labels.has.tolist()}
        for part, items in parts.items()
    }


FORMATS = (
    Format("model", str(MODEL_VERSION), kinds.make_model, read_model),
    Format(
        *("label-models", str(LABEL_MODELS.version)),
        make_label_models,
        read_label_models,
    ),
    Format("sketch", str(SKETCH_VERSION), kinds.make_sketches, read_sketches),
    Format("query-result", str(SKETCH_VERSION), kinds.make_query_results, read_query_results),
    Format("data-set", str(DATA_SET.version), kinds.make_data_sets, read_data_sets),
    Format("reviews", str(DATA_SET.version), kinds.make_reviews, read_data_sets),
    Format("label-data", str(LABEL_DATA.version), make_label_data, read_label_data),
    Format("results", str(RESULTS_VERSION), kinds.make_store, read_results),
    Format("history", str(CALL_VERSION), kinds.make_history, read_history),
    Format("judge-history", str(CALL_VERSION), histories.make_judge_history, read_judge_history),
    Format("label-history", str(CALL_VERSION), histories.make_label_history, read_label_history),
    Format("sheets", ONLY_VERSION, make_sheets, read_sheets),
)
"""Files that are read again."""

OUTPUTS = (
    Format("quantify", str(ANSWER_VERSION), make_quantification, read_json),
    Format(
        *("quantify-labels", str(ANSWER_VERSION)),
        make_label_quantification,
        read_json_of_labels,
    ),
    Format("judge", str(ANSWER_VERSION), make_judgement, read_json),
    Format(
        *("judge-labels", str(ANSWER_VERSION)),
        make_label_judgement,
        read_json_of_labels,
    ),
    Format("history-export", str(CALL_VERSION), make_exported_history, read_exported_history),
    Format("data-list", ONLY_VERSION, make_data_list, read_data_list),
    Format("data-describe", ONLY_VERSION, make_data_description, read_data_description),
)
"""JSON that scripts of users read; each has a schema."""
