"""The models of several labels as a folder: one with the model of each label, and a manifest.

    DIR/manifest.json  the labels, their parents, and the sizes and hashes of all files
    DIR/spam           the model of the label spam, like one of that label alone

So `quantify(model=DIR)` estimates all labels, and `quantify(model=DIR/spam)` one of them, with
everything that there is for one label, such as an audit.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from quantshift.base.storage.files import folder_aside, write_errors
from quantshift.base.storage.manifests import FolderKind
from quantshift.errors import DataError
from quantshift.quantifying.targets.folder_names import target_folder_name
from quantshift.quantifying.targets.parents import Parents
from quantshift.quantifying.targets.training import TargetModels
from quantshift.quantifying.training.folder import load_model, save_model

TARGET_MODELS = FolderKind(
    format="quantshift-label-models",
    version=1,
    noun="model of several labels",
    described="a model of several labels",
    keys=frozenset({"labels", "parents", "left_out", "files"}),
    absent="{folder} is no model of several labels: it {reason}; make one with `quantshift train`",
    cure="train the model again",
)


def is_target_models(model: Any) -> bool:
    """Whether these are models of several labels, or a folder of them."""
    if isinstance(model, TargetModels):
        return True
    return isinstance(model, str | Path) and TARGET_MODELS.is_at(Path(model))


def check_target_models_place(folder: str | Path, *, inputs: Iterable[Any] = ()) -> None:
    """Check, before training, that the models can be written to this folder."""
    paths = [given for given in inputs if isinstance(given, str | Path)]
    TARGET_MODELS.check_free(Path(folder), overwrite=True, inputs=paths)


def save_target_models(models: TargetModels, folder: str | Path) -> None:
    """Write the models as a folder, replacing older ones there once the new ones are complete."""
    path = Path(folder)
    check_target_models_place(path)
    with folder_aside(path) as aside:
        for label, model in zip(models.targets, models.models, strict=True):
            save_model(model, aside / target_folder_name(label))
        with write_errors(path):
            TARGET_MODELS.write(
                aside,
                {
                    "labels": list(models.targets),
                    "parents": dict(models.parents.of),
                    "left_out": dict(models.left_out),
                },
                sorted(file for file in aside.rglob("*") if file.is_file()),
            )
        TARGET_MODELS.put_in_place(aside, path)


def load_target_models(folder: str | Path) -> TargetModels:
    """Load the models of a folder; files that were changed since they were saved are rejected."""
    path = Path(folder)
    manifest = TARGET_MODELS.read(path)
    TARGET_MODELS.check_sizes(path, manifest)
    TARGET_MODELS.check_hashes(path, manifest)
    labels, parents, left_out = (manifest[name] for name in ("labels", "parents", "left_out"))
    if not (
        isinstance(labels, list)
        and all(isinstance(label, str) for label in labels)
        and len(set(labels)) == len(labels) >= 1
        and all(_is_names(names) for names in (parents, left_out))
    ):
        raise TARGET_MODELS.damaged(f"{path}: the manifest does not name labels")
    models = TargetModels(
        tuple(load_model(path / target_folder_name(label)) for label in labels),
        Parents.parse([f"{child}={parent}" for child, parent in parents.items()], labels),
        left_out,
    )
    if models.targets != tuple(labels):
        raise DataError(f"{path}: the models are of other labels than the manifest says")
    return models


def _is_names(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(name, str) for name in value.values())
