"""A model as a folder without pickle: `model.json` for people, `model.skops` for the numbers.

The JSON holds format and version, label names, columns, a summary of the training, and the SHA-256
of the other file and of itself. skops stores scikit-learn objects as arrays and plain JSON, and
builds only trusted types on loading: scikit-learn's and ours. The numbers name the description they
belong to, and are tried on one row before they are used. None of this is a signature: anyone who
can write to the folder can plant a model that gives any answer.
"""

import io
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import polars as pl
from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from quantshift.base.forks import TABLE_THREADS
from quantshift.base.storage.files import (
    check_new_folder,
    folder_aside,
    is_leftover,
    put_in_place,
    write_errors,
    write_whole,
)
from quantshift.base.storage.integrity import SEAL, checksum, record_checksum, sealed, unsealed
from quantshift.base.storage.plain_json import parse_json
from quantshift.errors import DataError, UserError
from quantshift.measuring.columns.training_profile import TrainingProfile
from quantshift.quantifiers.base.estimator import AbstractClassifying, AbstractQuantifier
from quantshift.quantifiers.base.saving import dumped, loaded, series, versions
from quantshift.quantifying.training.model import Model
from quantshift.tables.columns.kinds import Column
from quantshift.tables.preparation import TablePreparation

FORMAT = 1
DESCRIPTION, NUMBERS = "model.json", "model.skops"
MOST_DESCRIPTION, MOST_NUMBERS = 1 << 26, 1 << 33
"""The most bytes that are read from each file: far more than a model has."""

MOST_ROWS = 1 << 22
"""The most rows that the table of counts of the training columns may have."""

PARTS = {
    "preparation": TablePreparation | None,
    "scorer": AbstractQuantifier | None,
    "base": AbstractClassifying,
    "quantifier": AbstractQuantifier,
    "profile": np.ndarray | None,
}
"""The parts of a model that are among the numbers; everything else is in the description."""

_VERSIONS = versions()

TRUSTED = (
    "quantshift.tables.preparation.",
    "quantshift.tables.columns.kinds.Column",
    "quantshift.quantifying.training.classifiers.OnDense",
)
"""Parts of models beside those of quantifiers."""

_Described: type[BaseModel] = create_model(  # type: ignore[call-overload]
    "Description",
    __config__=ConfigDict(strict=True, extra="forbid"),
    **{name: (hint, ...) for name, hint in get_type_hints(Model).items() if name not in PARTS},
)


def check_model_place(folder: str | Path, *, inputs: Iterable[object] = ()) -> None:
    """Check, before training, that the model can be written to this folder.

    inputs: what the model is made from; the files of an older model must not be among them.
    """
    path = Path(folder)
    if os.path.lexists(path) and not os.path.isdir(path):
        raise UserError(f"{path} is a file; name a folder for the model", arguments=["out"])
    if os.path.isdir(path) and any(path.iterdir()) and not _is_model(path):
        raise UserError(
            f"{path}: the folder holds other files; name a new folder", arguments=["out"]
        )
    replaced = {os.path.realpath(path / name) for name in (DESCRIPTION, NUMBERS)}
    for source in inputs:
        if isinstance(source, str | os.PathLike) and os.path.realpath(source) in replaced:
            raise UserError(
                f"{source} is part of the model that would be replaced; name another folder",
                arguments=["out"],
            )
    check_new_folder(path)


def check_savable(estimator: object) -> None:
    """Raise an error if the estimator has parts that cannot be saved."""
    dumped(estimator, trusted=TRUSTED)


def save_model(model: Model, folder: str | Path) -> None:
    """Write the model as a folder, replacing an older model there once the new one is complete.

    Other files in that folder are kept.

    Parameters
    ----------
    model : Model
        What `train` has returned.
    folder : str or Path
        Where to write it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> import polars as pl
    >>> from quantshift import train
    >>> from quantshift.quantifying import load_model, save_model
    >>> rng = np.random.default_rng(0)
    >>> left = rng.random(400) < 0.5
    >>> known = pl.DataFrame({"visits": rng.normal(8 - 4 * left), "left": left})
    >>> model = train(known, label="left", classifier="logistic")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(model, Path(folder) / "model")
    ...     load_model(Path(folder) / "model").headline
    'True'
    """
    if not isinstance(model, Model):
        raise UserError(
            f"save_model takes what `train` returned, got {type(model).__name__}; a fitted "
            "quantifier is written by `quantshift.save`"
        )
    path = Path(folder)
    check_model_place(path)
    described = {
        field.name: _plain(getattr(model, field.name))
        for field in fields(model)
        if field.name not in PARTS
    }
    parts = {name: getattr(model, name) for name in PARTS}
    if model.profile is not None:
        parts["profile"] = np.frombuffer(model.profile.to_bytes(), np.uint8)
    numbers = dumped({**parts, "description": record_checksum(described)}, trusted=TRUSTED)
    content = {
        "format": FORMAT,
        **_VERSIONS,
        **described,
        "sha256": checksum(numbers),
    }
    text = json.dumps(sealed(content), indent=2, ensure_ascii=False)
    with folder_aside(path) as aside:
        with write_errors(path):
            write_whole(aside / NUMBERS, numbers)
            write_whole(aside / DESCRIPTION, f"{text}\n".encode())
        model_files = {Path(DESCRIPTION), Path(NUMBERS)}
        put_in_place(aside, path, own=lambda name: name in model_files or is_leftover(name))


def load_model(folder: str | Path) -> Model:
    """Load the model of a folder; files that were changed since `save_model` are rejected.

    Parameters
    ----------
    folder : str or Path
        What `save_model` has written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> import polars as pl
    >>> from quantshift import train
    >>> from quantshift.quantifying import load_model, save_model
    >>> rng = np.random.default_rng(0)
    >>> left = rng.random(400) < 0.5
    >>> known = pl.DataFrame({"visits": rng.normal(8 - 4 * left), "left": left})
    >>> model = train(known, label="left", classifier="logistic")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(model, Path(folder) / "model")
    ...     load_model(Path(folder) / "model").headline
    'True'
    """
    TABLE_THREADS.use()
    path = Path(folder)
    content = _description(path)
    numbers = _read(path, NUMBERS, MOST_NUMBERS)
    if numbers is None:
        raise DataError(f"{path}: {NUMBERS} is missing; train the model again")
    if checksum(numbers) != content.pop("sha256", None):
        raise DataError(f"{path}: {NUMBERS} has been changed or damaged; train the model again")
    writers = ", ".join(f"{package} {content.pop(package)}" for package in _VERSIONS)
    try:
        described = dict(_Described.model_validate_json(json.dumps(content)))
    except ValidationError as error:
        first = error.errors()[0]
        location = ".".join(map(str, first["loc"]))
        raise DataError(
            f"{path}: {DESCRIPTION}: {location}: {first['msg'].lower()}; train the model again"
        ) from error
    parts = loaded(
        f"{path}: {NUMBERS}",
        numbers,
        what="model",
        again=f"(written by {writers}); train the model again",
        trusted=TRUSTED,
    )
    if parts.pop("description", None) != record_checksum(content):
        raise DataError(
            f"{path}: {DESCRIPTION} and {NUMBERS} belong to different models; train the model again"
        )
    return _tried(path, described, parts)


def _is_model(path: Path) -> bool:
    """Whether the folder holds a quantshift model of any version."""
    try:
        content = _json(path)
    except DataError:
        return False
    return content is not None and {"format", SEAL, "quantshift"} <= content.keys()


def _description(path: Path) -> dict[str, Any]:
    content = _json(path)
    if content is None:
        label_models = sorted(path.glob(f"*/{DESCRIPTION}"))
        if label_models:
            raise DataError(
                f"{path}: the folder has a model for each of several labels; name that of one, "
                f"such as {label_models[0].parent}"
            )
        raise DataError(
            f"{path}: no model here ({DESCRIPTION} is missing); make one with quantshift train"
        )
    if "format" not in content:
        raise DataError(f"{path}: {DESCRIPTION} does not describe a quantshift model")
    number = content.pop("format")
    if number != FORMAT:
        raise DataError(
            f"{path}: the model has format {str(number)[:20]}, but this version reads format "
            f"{FORMAT}; upgrade quantshift"
        )
    try:
        content = unsealed({"format": FORMAT, **content})
    except ValueError as error:
        raise DataError(f"{path}: {DESCRIPTION} {error}; train the model again") from None
    del content["format"]
    # The code that wrote the numbers defines their meaning; other versions could misread them.
    for package, installed in _VERSIONS.items():
        made_with = str(content.get(package))
        if series(made_with) != series(installed):
            raise DataError(
                f"{path}: made with {package} {made_with[:20]}, but {installed} is installed; "
                "train the model again"
            )
    return content


def _json(path: Path) -> dict[str, Any] | None:
    """The content of the description file; None if there is none."""
    data = _read(path, DESCRIPTION, MOST_DESCRIPTION)
    if data is None:
        return None
    try:
        content = parse_json(data)
    except ValueError as error:
        raise DataError(f"{path}: {DESCRIPTION} is not JSON; train the model again") from error
    return content if isinstance(content, dict) else {}


def _read(path: Path, name: str, most: int) -> bytes | None:
    """The content of a regular file of at most `most` bytes; None if there is none."""
    file = path / name
    try:
        if not file.is_file():
            return None
        with file.open("rb") as opened:
            # Python reserves the memory for as many bytes as it is asked to read.
            size = os.fstat(opened.fileno()).st_size
            if size > most:
                raise DataError(f"{path}: {name} is too large for a model; train the model again")
            return opened.read(size)
    except OSError:
        return None


def _plain(value: Any) -> Any:
    """Dataclasses, mappings and tuples as JSON values."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    return [_plain(entry) for entry in value] if isinstance(value, list | tuple) else value


def _tried(path: Path, described: Mapping[str, Any], parts: Mapping[str, Any]) -> Model:
    """The model, if its description fits its numbers and it gives posteriors for one row."""
    try:
        for name, kind in PARTS.items():
            if not isinstance(parts[name], kind):
                raise TypeError(name)
        model = Model(**described, **{**parts, "profile": _profile(described, parts)})
        n_classes = len(set(model.classes))
        posteriors, codes = model.held_out
        fits = (
            n_classes == len(model.classes) >= 2
            and {*model.training.counts, model.positive} <= {*model.classes, None}
            and _columns_of(model.preparation) == model.columns.features
            and (model.profile is None or model.profile.names == model.columns.content)
            and posteriors.shape == (len(codes), n_classes)
            and len(model.quantifier.classes_) == n_classes
            and _of_one_row(model) == (1, n_classes)
        )
    except Exception as error:  # Forged numbers can make the model raise anything.
        raise _unfit(path) from error
    if not fits:
        raise _unfit(path)
    return model


def _profile(described: Mapping[str, Any], parts: Mapping[str, Any]) -> TrainingProfile | None:
    if parts["profile"] is None:
        return None
    import pyarrow.parquet as pq

    data = parts["profile"].tobytes()
    about = pq.read_metadata(io.BytesIO(data))
    groups = [about.row_group(i) for i in range(about.num_row_groups)]
    if about.num_rows > MOST_ROWS or sum(g.total_byte_size for g in groups) > MOST_DESCRIPTION:
        raise ValueError("too large")
    return TrainingProfile.from_bytes(data, len(described["classes"]))


def _unfit(path: Path) -> DataError:
    return DataError(f"{path}: {DESCRIPTION} does not fit {NUMBERS}; train the model again")


def _columns_of(preparation: TablePreparation | None) -> tuple[Column, ...]:
    return () if preparation is None else tuple(preparation.columns)


def _of_one_row(model: Model) -> tuple[int, ...]:
    """The shape of the posteriors of one row."""
    n = len(model.columns.posteriors)
    # In a numeric column a word is taken as a missing value.
    cell = 1 / max(n, 2) if n else "word"
    values = pl.DataFrame({name: [cell] for name in model.columns.content})
    shape: tuple[int, ...] = model.posteriors(model.items(values)).shape
    return shape
