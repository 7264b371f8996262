"""A model as a folder without pickle: `model.json` for people, `model.skops` for the numbers.

The JSON holds format and version, label names, columns, a summary of the training, and the SHA-256
of the other file and of itself. skops stores scikit-learn objects as arrays and plain JSON, and on
loading builds nothing but types one trusts: scikit-learn's, and ours.
"""

import hashlib
import json
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any

import sklearn

import quantshift
from quantshift.errors import DataError, UserError
from quantshift.files import put_in_place, write_whole
from quantshift.own_data.columns import Columns
from quantshift.own_data.model import Model, Training

FORMAT = 2
DESCRIPTION, NUMBERS = "model.json", "model.skops"

_VERSIONS = {"quantshift": quantshift.__version__, "scikit-learn": sklearn.__version__}

TRUSTED_PACKAGES = ("quantshift.quantifiers.", "quantshift.classify.")
TRUSTED_TYPES = (
    "sklearn.tree._tree.Tree",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
)
"""Parts of scikit-learn's trees that skops wants to be asked about."""


def save_model(model: Model, folder: str | Path) -> None:
    """Write the model as a folder; an older model of that name gives way once this is complete."""
    path = Path(folder)
    if path.exists() and not (path / DESCRIPTION).is_file():
        if not path.is_dir():
            raise UserError(f"{path}: a file; name a folder for the model")
        if any(path.iterdir()):
            raise UserError(f"{path}: the folder holds other things; name a new one")
    numbers = _skops().dumps(
        {
            "preparation": model.preparation,
            "scorer": model.scorer,
            "base": model.base,
            "quantifier": model.quantifier,
        }
    )
    content = {
        "format": FORMAT,
        **_VERSIONS,
        "classes": list(model.classes),
        "columns": asdict(model.columns),
        "method": model.method,
        "reason": model.reason,
        "training": asdict(model.training),
        "sha256": hashlib.sha256(numbers).hexdigest(),
    }
    content["seal"] = _seal(content)
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    aside.chmod(0o755)
    write_whole(aside / NUMBERS, numbers)
    text = json.dumps(content, indent=2, ensure_ascii=False)
    write_whole(aside / DESCRIPTION, f"{text}\n".encode())
    put_in_place(aside, path)


def load_model(folder: str | Path) -> Model:
    """The model of a folder; whatever is not as `save_model` left it is refused."""
    path = Path(folder)
    content = _description(path)
    try:
        numbers = (path / NUMBERS).read_bytes()
    except OSError as error:
        raise DataError(f"{path}: {NUMBERS} is missing; train the model again") from error
    if hashlib.sha256(numbers).hexdigest() != content["sha256"]:
        raise DataError(f"{path}: {NUMBERS} has been changed or damaged; train the model again")
    parts = _trusted(path, numbers, content)
    training = content["training"]
    return Model(
        columns=_columns(content["columns"]),
        classes=tuple(content["classes"]),
        method=content["method"],
        reason=content["reason"],
        training=Training(**training),
        **parts,
    )


def _description(path: Path) -> dict[str, Any]:
    try:
        content = json.loads((path / DESCRIPTION).read_text("utf-8"))
    except (OSError, NotADirectoryError) as error:
        raise DataError(
            f"{path}: no model here ({DESCRIPTION} is missing); make one with quantshift train"
        ) from error
    except ValueError as error:
        raise DataError(f"{path}: {DESCRIPTION} is no JSON; train the model again") from error
    if not isinstance(content, dict) or "format" not in content:
        raise DataError(f"{path}: {DESCRIPTION} is not of a quantshift model")
    if content["format"] != FORMAT:
        raise DataError(
            f"{path}: a model of format {content['format']}, this version reads {FORMAT}; train it "
            "again"
        )
    if content.pop("seal", None) != _seal(content):
        raise DataError(f"{path}: {DESCRIPTION} has been changed or damaged; train the model again")
    # What the numbers mean is fixed by the code that wrote them; a guess could be silently wrong.
    for package, here in _VERSIONS.items():
        if _series(content[package]) != _series(here):
            raise DataError(
                f"{path}: made with {package} {content[package]}, here is {here}; train the model "
                "again"
            )
    return content


def _series(version: str) -> list[str]:
    """Major and minor number: fixes of bugs (the third) do not change what is stored."""
    return version.split(".")[:2]


def _seal(content: Mapping[str, Any]) -> str:
    """A checksum of the description: against accidents and careless edits, not a signature."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _trusted(path: Path, numbers: bytes, content: Mapping[str, Any]) -> Any:
    skops = _skops()
    try:
        wanted = skops.get_untrusted_types(data=numbers)
        foreign = [
            name
            for name in wanted
            if name not in TRUSTED_TYPES and not name.startswith(TRUSTED_PACKAGES)
        ]
        if foreign:
            raise DataError(f"{path}: {NUMBERS} holds {foreign[0]}, which no model of ours does")
        return skops.loads(numbers, trusted=wanted)
    except DataError:
        raise
    except (
        zipfile.BadZipFile,
        KeyError,
        ValueError,
        TypeError,
        AttributeError,
        ImportError,
    ) as error:
        raise DataError(
            f"{path}: cannot be read by this version (quantshift {content['quantshift']}, "
            f"scikit-learn {content['scikit-learn']} wrote it); train the model again"
        ) from error


def _columns(record: Mapping[str, Any]) -> Columns:
    return Columns(
        record["label"], record["text"], tuple(record["features"]), tuple(record["posteriors"])
    )


def _skops() -> Any:
    try:
        return import_module("skops.io")
    except ImportError as error:
        raise UserError(
            "saved models need skops; install it with: pip install 'quantshift[models]'"
        ) from error
