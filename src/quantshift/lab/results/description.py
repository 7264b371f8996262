"""The description of a store: the file `store.json`, and a copy of each experiment's part of it.

    {"format": "quantshift-results", "version": 1, "quantshift": "...",
     "corpus": "...",
     "experiments": {"prior": {"shift": {"kind": "prior", ...}, ...,
                               "datasets": {"reviews": {"items": "...", "source": "...",
                                                        "classes": ["negative", "positive"]}},
                               "coordinates": [{"name": "p_train", "side": "train", ...}, ...],
                               "diagnostics": {"clipped": "bool", ...},
                               "words": {...},
                               "methods": [{"name": "CC", "signature": "...", ...}, ...]}},
     "digest": "..."}

The runner provides everything except the first and the last line. Keys next to `experiments` apply
to the whole store. Each experiment's folder has an `about.json`, the same file with that experiment
alone. These are written first, so that a damaged `store.json` can be rebuilt from them.
"""

import importlib.metadata
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from quantshift.base.storage.files import flush, make_folder, write_whole
from quantshift.base.storage.integrity import record_checksum
from quantshift.base.storage.plain_json import parse_json
from quantshift.errors import DataError, UserError
from quantshift.lab.results.about import About
from quantshift.lab.results.schema import SCHEMA_VERSION

FORMAT = "quantshift-results"
VERSION = SCHEMA_VERSION
STORE = "store.json"
ABOUT = "about.json"
LOG = "log"
LEFT_OUT = "left_out"
"""In the record of a data set: methods that are not run on it, name -> why."""

ORDERED = "ordered"
"""In the record of a data set with three or more classes: true if they are ordered."""

HEAD = ("format", "version", "quantshift")

REPORT = "report"
"""The folder of a report, unless another one is named."""

_SAFE_NAME = re.compile(r"\w[\w.,=+-]*")
_MOST_BYTES = 250
_TAKEN = {"experiment": (LOG, STORE, REPORT), "data set": (ABOUT,)}


class DamagedStoreError(DataError):
    """A `store.json` that is lost or has changed, and can be rebuilt."""

    def __init__(self, folder: Path, detail: str) -> None:
        super().__init__(
            f"{detail}; `quantshift verify {folder} --repair` rebuilds it from its parts"
        )


def complete(description: Mapping[str, Any]) -> dict[str, Any]:
    """The description as it will be read from `store.json`; an error if it cannot be stored."""
    try:
        plain: dict[str, Any] = json.loads(json.dumps(dict(description), allow_nan=False))
    except (TypeError, ValueError) as error:
        raise UserError(f"a store's description must be plain JSON: {error}") from error
    experiments = plain.setdefault("experiments", {})
    for name, experiment in experiments.items():
        check_new_name("experiment", name)
        try:
            methods = [(method["name"], method["signature"]) for method in experiment["methods"]]
        except (KeyError, TypeError) as error:
            raise UserError(
                f"experiment {name!r} needs `methods`, each with a name and a signature"
            ) from error
        if len(dict(methods)) < len(methods):
            raise UserError(f"experiment {name!r} has two methods with the same name; rename one")
        for dataset in About.of(name, experiment).datasets:
            check_new_name("data set", dataset)
    return first_line() | {
        key: value for key, value in plain.items() if key not in (*HEAD, "digest")
    }


def checked(description: Mapping[str, Any]) -> Mapping[str, Any]:
    """The description; an error if it is invalid, for example if two columns share a name."""
    for name, experiment in description["experiments"].items():
        About.of(name, experiment)
    return description


def first_line() -> dict[str, Any]:
    """The first line of a description."""
    version = importlib.metadata.version("quantshift")
    return {"format": FORMAT, "version": VERSION, "quantshift": version}


def signatures(experiment: Mapping[str, Any]) -> dict[str, str]:
    """Name -> signature of the methods in the description of an experiment."""
    return {method["name"]: method["signature"] for method in experiment["methods"]}


def is_name(name: str) -> bool:
    """Whether this can name an experiment, a data set or a cell, and thus a folder."""
    return _SAFE_NAME.fullmatch(name) is not None and len(name.encode()) <= _MOST_BYTES


def check_name(kind: str, name: str) -> None:
    """Raise an error for a name that cannot be a folder of the store."""
    if not is_name(name):
        excerpt = repr(name if len(name) <= 80 else f"{name[:80]}...")
        raise UserError(
            f"{kind} name {excerpt} cannot be a folder of results; use letters, digits and "
            f". , = + -, at most {_MOST_BYTES} bytes"
        )


def check_new_name(kind: str, name: str) -> None:
    """Raise an error for a name that cannot be a folder of the store, or is taken in it."""
    check_name(kind, name)
    if name.lower() in _TAKEN[kind]:
        raise UserError(
            f"{kind} name {name!r} is reserved for a file or folder of the results; choose another"
        )


def load(folder: Path) -> dict[str, Any]:
    """The description of the store in `folder`; an error if its version cannot be read."""
    description = load_any(folder)
    version = description["version"]
    if version != VERSION:
        raise DataError(
            f"{folder} has results format {version}, this version reads {VERSION}; upgrade "
            "quantshift"
        )
    digest = description.pop("digest", None)
    if digest != _digest(description):
        raise _damaged(folder, "has changed since it was written")
    return description


def load_any(folder: Path) -> dict[str, Any]:
    """The description of the store in `folder`, of any version."""
    path = folder / STORE
    if not path.is_file():
        if folder.is_dir() and about_files(folder):
            raise DamagedStoreError(folder, f"{folder} holds no results: it has no {STORE}")
        reason = f"has no {STORE}" if folder.is_dir() else "is a file"
        if not folder.exists():
            reason = "does not exist"
        raise DataError(f"{folder} holds no results: it {reason}; make some with `quantshift run`")
    try:
        description = parse_json(path.read_bytes())
    except ValueError as error:
        raise _damaged(folder, "is not JSON") from error
    if not isinstance(description, dict) or description.get("format") != FORMAT:
        if about_files(folder):
            raise _damaged(folder, "does not describe results")
        raise DataError(f"{path} does not describe results; was the right folder given?")
    if "version" not in description or not isinstance(description.get("experiments"), dict):
        raise _damaged(folder, "lacks version or experiments")
    return description


def begin(folder: Path, description: Mapping[str, Any]) -> None:
    """Write only `store.json`: a folder with other files but without it is not a new store."""
    write_whole(folder / STORE, _content(description))
    flush(folder)


def save(folder: Path, description: Mapping[str, Any]) -> None:
    """Replace `store.json`, after the copies of the description of each experiment."""
    for name in description["experiments"]:
        save_about(folder, description, name)
    begin(folder, description)


def save_about(folder: Path, description: Mapping[str, Any], experiment: str) -> None:
    """Write the copy of the description of the experiment, unless it exists already."""
    path = folder / experiment / ABOUT
    content = _content(_alone(description, experiment))
    if path.is_file() and path.read_bytes() == content:
        return
    make_folder(path.parent)
    write_whole(path, content)
    flush(path.parent)


def is_sound_about(path: Path) -> bool:
    """Whether this is an undamaged copy of a description."""
    return _read_about(path) is not None


def about_files(folder: Path) -> list[Path]:
    """The copies of descriptions in the store's folder."""
    return sorted(path for path in folder.glob(f"*/{ABOUT}") if is_name(path.parent.name))


def rebuild(folder: Path) -> dict[str, Any]:
    """The description, rebuilt from the copies in the experiments' folders."""
    copies = {path: _read_about(path) for path in about_files(folder)}
    damaged = [str(path) for path, copy in copies.items() if copy is None]
    if damaged:
        raise DataError(
            f"{', '.join(damaged)} is damaged too; restore it from a backup of {folder}"
        )
    whole: dict[str, Any] = {}
    for copy in filter(None, copies.values()):
        experiments = whole.get("experiments", {}) | copy["experiments"]
        whole = {**copy, **whole, "experiments": experiments}
    if not whole:
        raise DataError(
            f"{folder} has no {ABOUT} to rebuild {STORE} from; choose another folder",
            arguments=["out"],
        )
    return whole


def _read_about(path: Path) -> dict[str, Any] | None:
    try:
        copy = parse_json(path.read_bytes())
        sound = copy["version"] == VERSION and copy.pop("digest") == _digest(copy)
        sound = sound and list(copy["experiments"]) == [path.parent.name]
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
    return copy if sound else None


def _alone(description: Mapping[str, Any], experiment: str) -> dict[str, Any]:
    return {**description, "experiments": {experiment: description["experiments"][experiment]}}


def _content(description: Mapping[str, Any]) -> bytes:
    record = {**description, "digest": _digest(description)}
    return (json.dumps(record, indent=2, ensure_ascii=False) + "\n").encode()


def _digest(description: Mapping[str, Any]) -> str:
    return record_checksum(description)[:16]


def _damaged(folder: Path, detail: str) -> DamagedStoreError:
    return DamagedStoreError(folder, f"damaged results: {folder / STORE} {detail}")
