"""A data set with several labels on disk: a folder with a manifest, created by an import.

    DIR/manifest.json            format and version, name, labels, features, notes, hashes
    DIR/train-labels.npy         which labels the training items have; DIR/test-labels.npy
    DIR/train-features.npy       a dense matrix, or train-{indptr,indices,data}.npy, a sparse one
                                 (CSR); the same for the test items

Items for training and for testing are fixed, as in the collections of such data. The folder appears
whole or not at all, and its hash is that of the arrays and names.
"""

import hashlib
import importlib.metadata
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from quantshift.base.nouns import counted
from quantshift.base.storage.files import folder_aside, write_errors
from quantshift.base.storage.manifests import FolderKind, without_files
from quantshift.base.text_tables import RENDERERS, Table
from quantshift.errors import UserError, unknown_name
from quantshift.lab.data.description import Listed
from quantshift.lab.data.sets.folder import read_sparse, write_sparse
from quantshift.lab.data.several_labels.mulan import LabelledItems
from quantshift.multilabel.label_tables import LabelTable

LABEL_DATA = FolderKind(
    format="quantshift-labelled-items",
    version=1,
    noun="data set with several labels",
    described="a data set with several labels",
    keys=frozenset(("name", "title", "hash", "labels", "features", "items", "notes", "files")),
    absent="{folder} is not a data set with several labels: it {reason}; create one with "
    "`quantshift data import --layout labels`",
    cure="import the data again",
)

PARTS = ("train", "test")
MOST_SHOWN = 20
"""The most labels that tables show; JSON has all."""


@dataclass(frozen=True)
class LabelData:
    """A data set with several labels in a folder, read on demand."""

    path: Path
    manifest: Mapping[str, Any]

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """The data set in the folder; refused unless all its files exist with the right sizes."""
        folder = Path(path)
        manifest = LABEL_DATA.read(folder)
        LABEL_DATA.check_sizes(folder, manifest)
        return cls(folder, manifest)

    @property
    def name(self) -> str:
        """Its name in results."""
        return str(self.manifest["name"])

    @property
    def hash(self) -> str:
        """SHA-256 of the content."""
        return str(self.manifest["hash"])

    def items(self, part: str) -> LabelledItems:
        """The items of a part, "train" or "test"."""
        names = np.array([entry["name"] for entry in self.manifest["labels"]], dtype=str)
        labels = LabelTable(self._array(f"{part}-labels").astype(bool), names)
        features = tuple(self.manifest["features"])
        X = self._matrix(part, (len(labels), len(features)))
        if labels.has.shape != (len(labels), len(names)) or X.shape != (len(labels), len(features)):
            raise LABEL_DATA.damaged(f"the arrays of {part} in {self.path} do not fit its manifest")
        return LabelledItems(X, labels, features)

    def verify(self) -> None:
        """Read everything and compare it with the hashes of the manifest."""
        LABEL_DATA.check_hashes(self.path, self.manifest)
        if content_hash([self.items(part) for part in PARTS]) != self.hash:
            raise LABEL_DATA.damaged(
                f"the manifest in {self.path} was changed (its hash does not match the items)"
            )

    def _matrix(self, part: str, shape: tuple[int, int]) -> Any:
        if f"{part}-features.npy" in self.manifest["files"]:
            return self._array(f"{part}-features")
        return read_sparse(LABEL_DATA, self.path, part, shape)

    def _array(self, name: str) -> NDArray[Any]:
        return LABEL_DATA.array(self.path / f"{name}.npy")


def write_label_data(
    out: Path,
    parts: Sequence[LabelledItems],
    about: Mapping[str, Any],
    *,
    overwrite: bool = False,
) -> LabelData:
    """Write training and test items into the folder `out`, completely or not at all.

    about: name, title, notes and sources.
    """
    manifest = {
        "quantshift": importlib.metadata.version("quantshift"),
        **about,
        **described_parts(parts),
    }
    LABEL_DATA.check_free(out, overwrite=overwrite)
    with folder_aside(out) as folder:
        with write_errors(out):
            for part, items in zip(PARTS, parts, strict=True):
                np.save(folder / f"{part}-labels.npy", items.labels.has)
                if issparse(items.X):
                    write_sparse(folder, part, items.X)
                else:
                    np.save(folder / f"{part}-features.npy", np.asarray(items.X))
            LABEL_DATA.write(folder, manifest, sorted(folder.iterdir()))
        # Checked again: the folder may have been created while the data was written.
        LABEL_DATA.check_free(out, overwrite=overwrite)
        LABEL_DATA.put_in_place(folder, out)
    return LabelData.open(out)


def described_parts(parts: Sequence[LabelledItems]) -> dict[str, Any]:
    """What a manifest says about training and test items: counts, labels, features, the hash."""
    train, test = parts
    return {
        "items": {part: len(items.labels) for part, items in zip(PARTS, parts, strict=True)},
        "labels": [
            {"name": str(name), "train": int(n), "test": int(n_test)}
            for name, n, n_test in zip(
                train.labels.names,
                train.labels.has.sum(axis=0),
                test.labels.has.sum(axis=0),
                strict=True,
            )
        ],
        "features": list(train.features),
        "hash": content_hash(parts),
    }


def content_hash(parts: Sequence[LabelledItems]) -> str:
    """SHA-256 of the names of labels, and of all arrays."""
    digest = hashlib.sha256("|".join(map(str, parts[0].labels.names)).encode())
    for items in parts:
        X = items.X
        arrays = (X.indptr, X.indices, X.data) if issparse(X) else (np.asarray(X),)
        for array in (*arrays, items.labels.has):
            digest.update(f"{array.dtype}{array.shape}".encode())
            digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def render_label_data(manifest: Mapping[str, Any], format: str = "text") -> str:  # noqa: A002
    """A description of the data set as text, markdown, latex or json."""
    about = without_files(manifest)
    if format == "json":
        return json.dumps(about, indent=2, ensure_ascii=False)
    if format not in RENDERERS:
        raise unknown_name("format", format, [*RENDERERS, "json"])
    counts = [("items", *(f"{about['items'][part]:,}" for part in PARTS))]
    counts += [
        (label["name"], *(f"{label[part]:,}" for part in PARTS))
        for label in about["labels"][:MOST_SHOWN]
    ]
    title = f"{about['name']}: {counted(len(about['labels']), 'label')}, "
    title += counted(len(about["features"]), "feature")
    table = Table(title, ("", "training", "test"), tuple(counts))
    lines = [RENDERERS[format](table)]
    hidden = len(about["labels"]) - MOST_SHOWN
    notes = [*([f"{hidden:,} more labels"] if hidden > 0 else []), *about["notes"]]
    if notes and format != "latex":
        lines.append("\n".join(f"- {note}" for note in notes))
    return "\n\n".join(lines)


def find_label_data(folders: Iterable[Path]) -> list[Listed]:
    """The data sets with several labels in the folders: themselves, or their subfolders."""
    return [_listed(folder) for place in folders for folder in LABEL_DATA.folders_at(place)]


def _listed(folder: Path) -> Listed:
    try:
        about = LabelData.open(folder).manifest
    except UserError as error:
        return Listed(str(folder), folder.name, "damaged", 0, 0, 0, 0, str(error))
    n_items = sum(about["items"].values())
    return Listed(str(folder), about["name"], "labels", n_items, len(about["labels"]), 0, 0)
