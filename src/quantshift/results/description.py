"""What a store is of: the file `store.json`, and when two runs may share one store.

    {"format": "quantshift-results", "version": 1, "quantshift": "...",
     "corpus": "...",
     "experiments": {"prior": {"shift": {...}, ...,
                               "methods": [{"name": "CC", "signature": "...", ...}, ...]}}}

The runner gives all but the first line. Keys beside `experiments` hold for the whole store. A run
may add experiments, and methods to an experiment; whatever else differs from what the store was
made for is refused, because rows of two kinds would be averaged into one figure. What may differ
without harm: the version of quantshift (the store keeps that of its maker), titles, the path of the
data (their hash must be the same), and how a method is written as long as its signature is.
"""

import importlib.metadata
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from quantshift.errors import DataError, UserError
from quantshift.files import flush, write_whole

FORMAT = "quantshift-results"
VERSION = 1
STORE = "store.json"
LOG = "log"

_SAFE_NAME = re.compile(r"\w[\w.,=+-]*")
_HEAD = ("format", "version", "quantshift")
_HARMLESS = ("name", "title", "profile", "source")
_SHOWN_DIFFERENCES = 3
_SHOWN_CHARACTERS = 40


def complete(description: Mapping[str, Any]) -> dict[str, Any]:
    """The description as it will be read from `store.json`; refused if it cannot be stored."""
    try:
        plain: dict[str, Any] = json.loads(json.dumps(dict(description), allow_nan=False))
    except (TypeError, ValueError) as error:
        raise UserError(f"a store's description must be plain JSON: {error}") from error
    experiments = plain.setdefault("experiments", {})
    for name, experiment in experiments.items():
        check_name("experiment", name)
        try:
            methods = [(method["name"], method["signature"]) for method in experiment["methods"]]
        except (KeyError, TypeError) as error:
            raise UserError(
                f"experiment {name!r} needs `methods`, each with a name and a signature"
            ) from error
        if len(dict(methods)) < len(methods):
            raise UserError(f"experiment {name!r} has two methods of one name; rename one")
    head = {
        "format": FORMAT,
        "version": VERSION,
        "quantshift": importlib.metadata.version("quantshift"),
    }
    return head | {key: value for key, value in plain.items() if key not in _HEAD}


def signatures(experiment: Mapping[str, Any]) -> dict[str, str]:
    """Name -> signature of the methods in the description of an experiment."""
    return {method["name"]: method["signature"] for method in experiment["methods"]}


def is_name(name: str) -> bool:
    """Whether an experiment or a cell may be called so: its name is that of a folder."""
    return _SAFE_NAME.fullmatch(name) is not None and name not in (LOG, STORE)


def check_name(kind: str, name: str) -> None:
    """Refuse a name that cannot be a folder of the store."""
    if not is_name(name):
        raise UserError(
            f"{kind} name {name!r} cannot be a folder of results; use letters, digits and . , = + -"
        )


def load(folder: Path) -> dict[str, Any]:
    """The description of the store in `folder`, of a version that can be read."""
    path = folder / STORE
    if not path.is_file():
        reason = f"has no {STORE}" if folder.is_dir() else "does not exist"
        raise DataError(f"{folder} holds no results: it {reason}; make some with `quantshift run`")
    try:
        description = json.loads(path.read_bytes())
    except ValueError as error:
        raise DataError(f"damaged results: {path} is not JSON; use another --out") from error
    if not isinstance(description, dict) or description.get("format") != FORMAT:
        raise DataError(f"{path} does not describe results; was the right folder given?")
    version = description.get("version")
    if version != VERSION:
        newer = isinstance(version, int) and version > VERSION
        cure = "upgrade quantshift" if newer else "make the results again in another --out"
        raise DataError(f"{folder} has results format {version}, this is {VERSION}; {cure}")
    if not isinstance(description.get("experiments"), dict):
        raise DataError(f"damaged results: {path} lacks experiments; use another --out")
    return description


def save(folder: Path, description: Mapping[str, Any]) -> None:
    """Replace `store.json`."""
    text = json.dumps(description, indent=2, ensure_ascii=False) + "\n"
    write_whole(folder / STORE, text.encode())
    flush(folder)


def merge(old: Mapping[str, Any], new: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The description of a store that holds both; refused if they cannot share one."""
    experiments = dict(old["experiments"])
    differences = list(_differences(_shared(old), _shared(new)))
    for name, wanted in new["experiments"].items():
        there = experiments.get(name, wanted)
        key = f"experiments.{name}."
        # Signatures follow from the rest; when that differs they need no mention.
        differences += list(_differences(_lasting(there), _lasting(wanted), key)) or list(
            _method_differences(there["methods"], wanted["methods"], f"{key}methods.")
        )
        known = signatures(there)
        added = [method for method in wanted["methods"] if method["name"] not in known]
        experiments[name] = there | {"methods": there["methods"] + added}
    if differences:
        raise UserError(_refusal(differences, folder))
    return {**old, "experiments": experiments}


def replace(old: Mapping[str, Any], new: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The description after the experiments of `new` are begun afresh; the others stay."""
    others = {k: v for k, v in old["experiments"].items() if k not in new["experiments"]}
    differences = list(_differences(_shared(old), _shared(new)))
    if others and differences:
        raise UserError(
            f"{folder} also holds {', '.join(sorted(others))}, for which "
            f"{_told(differences[0])}; use another --out"
        )
    return {**new, "experiments": others | new["experiments"]}


def _shared(description: Mapping[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in description.items() if k not in (*_HEAD, "experiments")}


def _lasting(experiment: Mapping[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in experiment.items() if k not in (*_HARMLESS, "methods")}


def _differences(
    old: Mapping[str, Any], new: Mapping[str, Any], prefix: str = ""
) -> Iterator[tuple[str, Any, Any]]:
    for key in [*old, *(k for k in new if k not in old)]:
        there, here = old.get(key), new.get(key)
        if isinstance(there, dict) and isinstance(here, dict):
            yield from _differences(there, here, f"{prefix}{key}.")
        elif there != here:
            yield f"{prefix}{key}", there, here


def _method_differences(
    old: list[dict[str, Any]], new: list[dict[str, Any]], prefix: str
) -> Iterator[tuple[str, Any, Any]]:
    known = {method["name"]: method for method in old}
    for method in new:
        there = known.get(method["name"], method)
        if there["signature"] != method["signature"]:
            differences = list(_differences(there, method, f"{prefix}{method['name']}."))
            telling = [d for d in differences if not d[0].endswith(".signature")]
            yield from telling or differences


def _refusal(differences: list[tuple[str, Any, Any]], folder: Path) -> str:
    told = "; ".join(_told(difference) for difference in differences[:_SHOWN_DIFFERENCES])
    more = len(differences) - _SHOWN_DIFFERENCES
    rest = f"; and {more} more differences" if more > 0 else ""
    return f"{folder} holds other results: {told}{rest}; use another --out, or --redo all"


def _told(difference: tuple[str, Any, Any]) -> str:
    key, there, here = difference
    return f"{key} is {_shortened(there)} there and {_shortened(here)} here"


def _shortened(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"
