"""When two runs can share a store, and the description of the shared store.

A run may add experiments, and it may add methods, data sets, coordinates and diagnostics to an
experiment. Any other difference from the store is an error, because rows of two kinds would be
averaged into one figure. The following may differ: the version of quantshift (the store keeps that
of the first run), titles and words, the path of the data (if the hash of the items is the same),
how a method is written (if its signature is the same), and whether a coordinate is a number or a
vector: a prevalence is a number with two classes, and a vector as soon as one data set has more.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from quantshift.errors import UserError
from quantshift.lab.results.description import HEAD, LEFT_OUT, ORDERED

UNNAMED = ["0", "1"]
"""Classes whose names were not known; a run that knows the names fills them in."""

Record: TypeAlias = Mapping[str, Any]
Difference: TypeAlias = tuple[str, Any, Any]

_HARMLESS = ("name", "title", "profile", "words")
_GROWING = ("methods", "datasets", "coordinates", "diagnostics")
_SHOWN_DIFFERENCES = 3
_SHOWN_CHARACTERS = 40


def merge(old: Record, new: Record, folder: Path) -> dict[str, Any]:
    """The description of a store with both; an error if they cannot share one."""
    experiments = dict(old["experiments"])
    differences = list(_differences(_shared(old), _shared(new)))
    for name, added in new["experiments"].items():
        stored = experiments.get(name, added)
        differences += _experiment_differences(stored, added, f"experiments.{name}.")
        experiments[name] = _grown(stored, added)
    if differences:
        raise UserError(_refusal(differences, folder), arguments=["out", "redo"])
    return {**old, "experiments": experiments}


def replace(old: Record, new: Record, folder: Path) -> dict[str, Any]:
    """The description after the data sets of `new` are started over; the others stay."""
    others = {k: v for k, v in old["experiments"].items() if k not in new["experiments"]}
    if others:
        _refuse_beside(", ".join(sorted(others)), _differences(_shared(old), _shared(new)), folder)
    experiments = {}
    for name, added in new["experiments"].items():
        stored = old["experiments"].get(name, added)
        remaining = {k: v for k, v in stored["datasets"].items() if k not in added["datasets"]}
        if remaining:
            stored = {**stored, "datasets": remaining}
            differences = _experiment_differences(stored, added, f"experiments.{name}.")
            _refuse_beside(f"{name} of {', '.join(sorted(remaining))}", iter(differences), folder)
            added = _grown(stored, added)
        experiments[name] = added
    return {**new, "experiments": others | experiments}


def _grown(stored: Record, new: Record) -> dict[str, Any]:
    """The stored experiment, with what the new run adds."""
    merged = {**stored}
    for key in ("methods", "coordinates"):
        names = {item["name"] for item in stored.get(key, ())}
        added = [item for item in new.get(key, ()) if item["name"] not in names]
        merged[key] = [*stored.get(key, ()), *added]
    vectors = {item["name"]: item for item in new.get("coordinates", ()) if _is_vector(item)}
    merged["coordinates"] = [vectors.get(item["name"], item) for item in merged["coordinates"]]
    if vectors and not any(_is_vector(item) for item in stored.get("coordinates", ())):
        merged |= {"words": new["words"]} if "words" in new else {}
    merged["diagnostics"] = {**stored.get("diagnostics", {}), **new.get("diagnostics", {})}
    merged["datasets"] = {**stored["datasets"]}
    for name, dataset in new["datasets"].items():
        stored_dataset = stored["datasets"].get(name, dataset)
        unnamed = stored_dataset["classes"] == UNNAMED
        updates = {"classes": dataset["classes"]} if unnamed else {}
        updates |= {ORDERED: dataset[ORDERED]} if ORDERED in dataset else {}
        merged["datasets"][name] = _with_left_out({**stored_dataset, **updates}, dataset, new)
    return merged


def _with_left_out(stored: Record, dataset: Record, new: Record) -> dict[str, Any]:
    """The data set with the methods left out by either run, except those now run on it."""
    chosen = {method["name"] for method in new["methods"]}
    still_left_out = {m: why for m, why in stored.get(LEFT_OUT, {}).items() if m not in chosen}
    left_out = {**still_left_out, **dataset.get(LEFT_OUT, {})}
    others = {key: value for key, value in stored.items() if key != LEFT_OUT}
    return {**others, **({LEFT_OUT: left_out} if left_out else {})}


def _experiment_differences(stored: Record, new: Record, key: str) -> list[Difference]:
    differences = list(_differences(_lasting(stored), _lasting(new), key))
    for name, dataset in new["datasets"].items():
        stored_dataset = stored["datasets"].get(name, dataset)
        differences += _differences(
            _items(stored_dataset, dataset),
            _items(dataset, stored_dataset),
            f"{key}datasets.{name}.",
        )
    differences += _differences(*_common(_columns(stored), _columns(new)), key)
    # Signatures follow from the other entries; if those differ, signatures need no mention.
    return differences or list(
        _method_differences(stored["methods"], new["methods"], f"{key}methods.")
    )


def _shared(description: Record) -> dict[str, Any]:
    return {k: v for k, v in description.items() if k not in (*HEAD, "experiments")}


def _lasting(experiment: Record) -> dict[str, Any]:
    return {k: v for k, v in experiment.items() if k not in (*_HARMLESS, *_GROWING)}


def _items(dataset: Record, other: Record) -> dict[str, Any]:
    """What must agree for one data set: everything but its source and unknown class names."""
    unnamed = UNNAMED in (dataset["classes"], other["classes"])
    same_number = len(dataset["classes"]) == len(other["classes"])
    # Older stores do not record whether classes are ordered.
    may_differ = ("source", LEFT_OUT, ORDERED, *(["classes"] if unnamed and same_number else []))
    return {k: v for k, v in dataset.items() if k not in may_differ}


def _columns(experiment: Record) -> dict[str, Any]:
    """Side and type of every declared column, by dotted name; vectors count as numbers."""
    return {
        f"coordinates.{c['name']}": {
            "side": c["side"],
            "type": "float" if _is_vector(c) else c["type"],
        }
        for c in experiment.get("coordinates", ())
    } | {f"diagnostics.{n}": kind for n, kind in experiment.get("diagnostics", {}).items()}


def _is_vector(coordinate: Record) -> bool:
    return bool(coordinate["type"] == "vector")


def _common(first: Record, second: Record) -> tuple[dict[str, Any], dict[str, Any]]:
    names = [name for name in first if name in second]
    return {n: first[n] for n in names}, {n: second[n] for n in names}


def _differences(old: Record, new: Record, prefix: str = "") -> Iterator[Difference]:
    for key in [*old, *(k for k in new if k not in old)]:
        old_value, new_value = old.get(key), new.get(key)
        if isinstance(old_value, dict) and isinstance(new_value, dict):
            yield from _differences(old_value, new_value, f"{prefix}{key}.")
        elif old_value != new_value:
            yield f"{prefix}{key}", old_value, new_value


def _method_differences(
    old: list[dict[str, Any]], new: list[dict[str, Any]], prefix: str
) -> Iterator[Difference]:
    old_methods = {method["name"]: method for method in old}
    for method in new:
        stored = old_methods.get(method["name"], method)
        if stored["signature"] != method["signature"]:
            differences = list(_differences(stored, method, f"{prefix}{method['name']}."))
            informative = [d for d in differences if not d[0].endswith(".signature")]
            yield from informative or differences


def _refuse_beside(others: str, differences: Iterator[Difference], folder: Path) -> None:
    first = next(differences, None)
    if first is not None:
        raise UserError(
            f"{folder} also holds {others}, for which {_in_words(first)}; choose another folder",
            arguments=["out"],
        )


def _refusal(differences: list[Difference], folder: Path) -> str:
    # What several experiments share, such as a data set, differs in all of them.
    in_words = list(dict.fromkeys(_in_words(difference) for difference in differences))
    listed = "; ".join(in_words[:_SHOWN_DIFFERENCES])
    n_more = len(in_words) - _SHOWN_DIFFERENCES
    more = f"; and {n_more} more differences" if n_more > 0 else ""
    return f"{folder} holds other results: {listed}{more}; choose another folder, or redo all"


def _in_words(difference: Difference) -> str:
    key, stored, new = difference
    if key.endswith(".items"):
        dataset = key.removesuffix(".items").rpartition(".")[2]
        return f"data set {dataset!r} had other items when they were made"
    return f"{key} is {_shortened(stored)} there and {_shortened(new)} here"


def _shortened(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"
