"""When two runs may share one store, and what it is of when they do.

A run may add experiments; and methods, data sets, coordinates and diagnostics to an experiment.
Whatever else differs from what the store was made for is refused, because rows of two kinds would
be averaged into one figure. What may differ without harm: the version of quantshift (the store
keeps that of its maker), titles and words, the path of the data (the hash of their items must be
the same), and how a method is written as long as its signature is.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from quantshift.errors import UserError
from quantshift.results.description import HEAD, LEFT_OUT, ORDERED

UNNAMED = ["0", "1"]
"""Classes of data whose names were not known: a run that knows them gives them."""

Record: TypeAlias = Mapping[str, Any]
Difference: TypeAlias = tuple[str, Any, Any]

_HARMLESS = ("name", "title", "profile", "words")
_GROWING = ("methods", "datasets", "coordinates", "diagnostics")
_SHOWN_DIFFERENCES = 3
_SHOWN_CHARACTERS = 40


def merge(old: Record, new: Record, folder: Path) -> dict[str, Any]:
    """The description of a store that holds both; refused if they cannot share one."""
    experiments = dict(old["experiments"])
    differences = list(_differences(_shared(old), _shared(new)))
    for name, wanted in new["experiments"].items():
        there = experiments.get(name, wanted)
        differences += _experiment_differences(there, wanted, f"experiments.{name}.")
        experiments[name] = _grown(there, wanted)
    if differences:
        raise UserError(_refusal(differences, folder), arguments=["out", "redo"])
    return {**old, "experiments": experiments}


def replace(old: Record, new: Record, folder: Path) -> dict[str, Any]:
    """The description after the data sets of `new` are begun afresh; the others stay."""
    others = {k: v for k, v in old["experiments"].items() if k not in new["experiments"]}
    if others:
        _refuse_beside(", ".join(sorted(others)), _differences(_shared(old), _shared(new)), folder)
    experiments = {}
    for name, wanted in new["experiments"].items():
        there = old["experiments"].get(name, wanted)
        kept = {k: v for k, v in there["datasets"].items() if k not in wanted["datasets"]}
        if kept:
            there = {**there, "datasets": kept}
            differences = _experiment_differences(there, wanted, f"experiments.{name}.")
            _refuse_beside(f"{name} of {', '.join(sorted(kept))}", iter(differences), folder)
            wanted = _grown(there, wanted)
        experiments[name] = wanted
    return {**new, "experiments": others | experiments}


def _grown(there: Record, wanted: Record) -> dict[str, Any]:
    """The experiment as it is there, with what else is wanted."""
    merged = {**there}
    for key in ("methods", "coordinates"):
        known = {item["name"] for item in there.get(key, ())}
        added = [item for item in wanted.get(key, ()) if item["name"] not in known]
        merged[key] = [*there.get(key, ()), *added]
    merged["diagnostics"] = {**there.get("diagnostics", {}), **wanted.get("diagnostics", {})}
    merged["datasets"] = {**there["datasets"]}
    for name, dataset in wanted["datasets"].items():
        known_dataset = there["datasets"].get(name, dataset)
        unnamed = known_dataset["classes"] == UNNAMED
        named = {"classes": dataset["classes"]} if unnamed else {}
        named |= {ORDERED: dataset[ORDERED]} if ORDERED in dataset else {}
        merged["datasets"][name] = _with_left_out({**known_dataset, **named}, dataset, wanted)
    return merged


def _with_left_out(there: Record, dataset: Record, wanted: Record) -> dict[str, Any]:
    """The data set with the methods left out by either run, but those that are now run on it."""
    chosen = {method["name"] for method in wanted["methods"]}
    kept = {m: why for m, why in there.get(LEFT_OUT, {}).items() if m not in chosen}
    left_out = {**kept, **dataset.get(LEFT_OUT, {})}
    rest = {key: value for key, value in there.items() if key != LEFT_OUT}
    return {**rest, **({LEFT_OUT: left_out} if left_out else {})}


def _experiment_differences(there: Record, wanted: Record, key: str) -> list[Difference]:
    differences = list(_differences(_lasting(there), _lasting(wanted), key))
    for name, dataset in wanted["datasets"].items():
        known = there["datasets"].get(name, dataset)
        differences += _differences(
            _items(known, dataset), _items(dataset, known), f"{key}datasets.{name}."
        )
    differences += _differences(*_common(_columns(there), _columns(wanted)), key)
    # Signatures follow from the rest; when that differs they need no mention.
    return differences or list(
        _method_differences(there["methods"], wanted["methods"], f"{key}methods.")
    )


def _shared(description: Record) -> dict[str, Any]:
    return {k: v for k, v in description.items() if k not in (*HEAD, "experiments")}


def _lasting(experiment: Record) -> dict[str, Any]:
    return {k: v for k, v in experiment.items() if k not in (*_HARMLESS, *_GROWING)}


def _items(dataset: Record, other: Record) -> dict[str, Any]:
    """What must be the same of one data set: all but where it came from, and unknown names."""
    unnamed = UNNAMED in (dataset["classes"], other["classes"])
    same_number = len(dataset["classes"]) == len(other["classes"])
    # Stores from before it was recorded do not tell whether classes are ordered.
    may_differ = ("source", LEFT_OUT, ORDERED, *(["classes"] if unnamed and same_number else []))
    return {k: v for k, v in dataset.items() if k not in may_differ}


def _columns(experiment: Record) -> dict[str, Any]:
    """Side and type of every declared column, by dotted name."""
    return {
        f"coordinates.{c['name']}": {"side": c["side"], "type": c["type"]}
        for c in experiment.get("coordinates", ())
    } | {f"diagnostics.{n}": kind for n, kind in experiment.get("diagnostics", {}).items()}


def _common(first: Record, second: Record) -> tuple[dict[str, Any], dict[str, Any]]:
    names = [name for name in first if name in second]
    return {n: first[n] for n in names}, {n: second[n] for n in names}


def _differences(old: Record, new: Record, prefix: str = "") -> Iterator[Difference]:
    for key in [*old, *(k for k in new if k not in old)]:
        there, here = old.get(key), new.get(key)
        if isinstance(there, dict) and isinstance(here, dict):
            yield from _differences(there, here, f"{prefix}{key}.")
        elif there != here:
            yield f"{prefix}{key}", there, here


def _method_differences(
    old: list[dict[str, Any]], new: list[dict[str, Any]], prefix: str
) -> Iterator[Difference]:
    known = {method["name"]: method for method in old}
    for method in new:
        there = known.get(method["name"], method)
        if there["signature"] != method["signature"]:
            differences = list(_differences(there, method, f"{prefix}{method['name']}."))
            telling = [d for d in differences if not d[0].endswith(".signature")]
            yield from telling or differences


def _refuse_beside(others: str, differences: Iterator[Difference], folder: Path) -> None:
    first = next(differences, None)
    if first is not None:
        raise UserError(
            f"{folder} also holds {others}, for which {_told(first)}; choose another folder",
            arguments=["out"],
        )


def _refusal(differences: list[Difference], folder: Path) -> str:
    told = "; ".join(_told(difference) for difference in differences[:_SHOWN_DIFFERENCES])
    more = len(differences) - _SHOWN_DIFFERENCES
    rest = f"; and {more} more differences" if more > 0 else ""
    return f"{folder} holds other results: {told}{rest}; choose another folder, or redo all"


def _told(difference: Difference) -> str:
    key, there, here = difference
    if key.endswith(".items"):
        dataset = key.removesuffix(".items").rpartition(".")[2]
        return f"data set {dataset!r} had other items when they were made"
    return f"{key} is {_shortened(there)} there and {_shortened(here)} here"


def _shortened(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"
