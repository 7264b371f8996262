"""Images in IDX files, as MNIST and Fashion-MNIST come: pixels as features, the given split kept.

    train-images-idx3-ubyte    the training images; also .gz, and with a dot before "idx3"
    train-labels-idx1-ubyte    their labels, numbers from 0 to 255
    t10k-images-idx3-ubyte     the test images ("test" instead of "t10k" is understood)
    t10k-labels-idx1-ubyte     their labels

A file begins with two zero bytes, the type of its numbers (8: bytes) and the number of axes; then
come the sizes of the axes, big-endian, and the numbers. Debian's package `dataset-fashion-mnist`
has such a folder.

Y. LeCun, C. Cortes and C. Burges, "The MNIST database of handwritten digits" (1998).
H. Xiao, K. Rasul and R. Vollgraf, "Fashion-MNIST" (2017).
"""

import gzip
import re
import struct
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from quantshift.base.forks import uses_tables
from quantshift.data.folder import DataFolder
from quantshift.data.importing.assembly import MainFile, SideColumns
from quantshift.data.importing.classes import labels_of
from quantshift.data.importing.items import MatrixItems
from quantshift.data.importing.options import ImportOptions
from quantshift.data.importing.table import check_import, import_items, source_of
from quantshift.errors import DataError, UserError
from quantshift.tables.reading import Progress

WHITE = 255
"""The brightest pixel; features are pixels divided by it."""

BLOCK = 1 << 24
"""The bytes read at once, so that a header cannot claim memory that its file does not fill."""

_BYTES = 8
"""The type of numbers that are single bytes, in the header."""

_NAME = re.compile(r"(?:.*[-_])?(train|t10k|test)[-_](images|labels)[-.]idx[13]-ubyte(\.gz)?")
_TRAIN, _TEST = "train", "test"
_IMAGES, _LABELS = "images", "labels"


def is_idx(folder: Path) -> bool:
    """Whether the folder has IDX files under their usual names."""
    return folder.is_dir() and any(_NAME.fullmatch(path.name) for path in folder.iterdir())


@uses_tables
def import_idx(
    folder: str | Path,
    out: str | Path,
    *,
    class_names: Sequence[str] = (),
    options: ImportOptions = ImportOptions(),  # noqa: B008 - frozen
    progress: Progress = None,
) -> DataFolder:
    """Import the IDX files of a folder; training and test images stay apart.

    class_names: the names of the labels 0, 1, ..., in this order; without them the labels are only
    numbers.
    """
    folder = Path(folder)
    if options.samples is not None or options.prevalences is not None or options.test_share:
        raise UserError(
            f"{folder}: the files are split into training and test images; give no samples and no "
            "other split",
            arguments=["samples", "prevalences", "test_share"],
        )
    options = replace(options, title=options.title or folder.absolute().name)
    files = _files(folder)
    check_import(out, options, list(files.values()))
    images, labels = [], []
    for number, part in enumerate((_TRAIN, _TEST)):
        if progress is not None:
            progress("reading images", number, 2)
        part_images, part_labels = _read_part(files[part, _IMAGES], files[part, _LABELS])
        images.append(part_images)
        labels.append(part_labels)
    if images[0].shape[1:] != images[1].shape[1:]:
        sizes = [f"{image.shape[1]} x {image.shape[2]}" for image in images]
        raise DataError(
            f"{files[_TEST, _IMAGES]}: images of {sizes[1]} pixels, but those to train on have "
            f"{sizes[0]}; give files of one data set"
        )
    main = files[_TRAIN, _IMAGES]
    codes = labels_of(pl.Series(np.concatenate(labels).astype(np.int64)), f"labels in {folder}")
    n_train = len(images[0])
    pixels = np.concatenate([image.reshape(len(image), -1) for image in images]) / WHITE
    about: dict[str, Any] = {
        "label": "label",
        "category": None,
        "notes": [],
        "image_shape": list(images[0].shape[1:]),
        "sources": [source_of(file) for file in files.values()],
        **_class_names_entry(class_names, codes, folder),
    }
    file = MainFile(
        main,
        MatrixItems(pixels),
        SideColumns(codes, None),
        test=np.arange(n_train, len(pixels)),
    )
    return import_items(file, Path(out), options, about, progress)


def _files(folder: Path) -> dict[tuple[str, str], Path]:
    """The four files; if a file and its compressed copy exist, the one that is not compressed."""
    files: dict[tuple[str, str], Path] = {}
    for path in sorted(folder.iterdir()):
        match = _NAME.fullmatch(path.name)
        if match is None:
            continue
        role = (_TRAIN if match[1] == _TRAIN else _TEST), match[2]
        other = files.setdefault(role, path)
        if other != path and other.with_name(f"{other.name}.gz") != path:
            raise DataError(
                f"{folder}: {other.name} and {path.name} both hold the {' '.join(role)}; keep one "
                "data set in a folder"
            )
    for part in (_TRAIN, _TEST):
        for kind in (_IMAGES, _LABELS):
            if (part, kind) not in files:
                usual = "t10k" if part == _TEST else part
                raise DataError(
                    f"{folder}: no {part} {kind}; add {usual}-{kind}-idx"
                    f"{3 if kind == _IMAGES else 1}-ubyte or its .gz"
                )
    return files


def _read_part(image_file: Path, label_file: Path) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Images and their labels. The labels come first: they are small, and say how many images."""
    labels = read_idx(label_file, n_axes=1)
    images = read_idx(image_file, n_axes=3)
    if len(images) != len(labels):
        raise DataError(
            f"{image_file}: {len(images):,} images, but {label_file.name} has {len(labels):,} "
            "labels; give files that belong together"
        )
    return images, labels


def read_idx(path: Path, *, n_axes: int) -> NDArray[np.uint8]:
    """The bytes of an IDX file as an array; refused unless the file has exactly its numbers."""
    open_file = gzip.open if path.suffix == ".gz" else open
    try:
        with open_file(path, "rb") as file:
            shape = _shape(file.read(4 + 4 * n_axes), n_axes, path)
            # Python's integers: a product of sizes from a damaged header may be huge.
            missing = int(np.prod([int(size) for size in shape], dtype=object))
            blocks = []
            while missing and (block := file.read(min(BLOCK, missing))):
                blocks.append(block)
                missing -= len(block)
            is_longer = bool(file.read(1))
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path}: cannot be read ({error}); fetch the file again") from error
    if missing or is_longer:
        state = f"ends {missing:,} bytes too early" if missing else "is longer than its header says"
        raise DataError(f"{path}: the file {state}; fetch it again")
    return np.frombuffer(b"".join(blocks), np.uint8).reshape(shape)


def _shape(header: bytes, n_axes: int, path: Path) -> tuple[int, ...]:
    if len(header) < 4 + 4 * n_axes or header[:2] != b"\0\0":
        raise DataError(f"{path}: not an IDX file; it does not begin like one")
    if header[2] != _BYTES or header[3] != n_axes:
        raise DataError(
            f"{path}: numbers of type {header[2]} with {header[3]} axes; expected bytes (type "
            f"{_BYTES}) with {n_axes}"
        )
    shape = struct.unpack(f">{n_axes}I", header[4:])
    if 0 in shape:
        raise DataError(f"{path}: the file has no items")
    return shape


def _class_names_entry(names: Sequence[str], labels: pl.Series, folder: Path) -> dict[str, Any]:
    if not names:
        return {}
    codes = labels.unique().sort().to_list()
    if codes != list(range(len(names))):
        listed = ", ".join(map(str, codes[:12]))
        raise UserError(
            f"{folder}: {len(names)} names of classes for the labels {listed}; give one for each "
            "label from 0",
            arguments=["class_names"],
        )
    if len(set(names)) < len(names):
        raise UserError(f"{folder}: two classes have one name", arguments=["class_names"])
    return {"class_names": list(names)}
