"""The data of the LeQua challenges, from a folder in the challenges' layout.

    training_data.txt          CSV: `label` (from 0), then numbers `0`, `1`, ... or `text`
    training_samples/0.txt ... instead of it (T3 of 2024): the same, with training_prevalences.txt
    dev_samples/0.txt ...      CSV: the same columns without `label`
    dev_prevalences.txt        CSV: `id`, then `0`, `1`, ..., one column per class
    test_samples/, test_prevalences.txt
    label_map.txt              a name and an id in each line; may be missing

All tasks of 2022 and 2024 are read by their headers: any number of columns, classes and samples.
The samples become the parts "dev" and "test" of the given samples.

A. Esuli, A. Moreo, F. Sebastiani and G. Sperduti, "A detailed overview of LeQua@CLEF 2022" (2022).
"""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from quantshift.base.forks import uses_tables
from quantshift.errors import DataError, UserError
from quantshift.lab.data.importing import samples as sampling
from quantshift.lab.data.importing.arrays import number_matrix
from quantshift.lab.data.importing.assembly import MainFile, SideColumns
from quantshift.lab.data.importing.classes import classes_of, labels_of
from quantshift.lab.data.importing.items import AbstractItems, MatrixItems, TextItems
from quantshift.lab.data.importing.options import ImportOptions
from quantshift.lab.data.importing.table import check_import, import_items, source_of
from quantshift.lab.data.sets.folder import DataFolder
from quantshift.tables.reading import Frame, Progress, read_frame

LABEL, TEXT = "label", "text"
TRAINING, TRAINING_SAMPLES = "training_data.txt", "training_samples"
TRAINING_PREVALENCES, LABEL_MAP = "training_prevalences.txt", "label_map.txt"
PUBLIC = "public"
PARTS = ("dev", "test")
NUMBER_BYTES = 8
"""The size of a number in a data set."""


def is_lequa(folder: Path) -> bool:
    """Whether the folder looks like a LeQua task: it has training data under the usual names."""
    inside = _public(folder)
    return (inside / TRAINING).is_file() or (inside / TRAINING_SAMPLES).is_dir()


@uses_tables
def import_lequa(
    folder: str | Path,
    out: str | Path,
    *,
    options: ImportOptions = ImportOptions(),  # noqa: B008 - frozen
    progress: Progress = None,
) -> DataFolder:
    """Import a LeQua task: its folder `public`, or the folder that contains it.

    Training samples (T3) become training items with the group "sample", and their classes are
    ordered.
    """
    public = _public(Path(folder))
    if options.samples is not None or options.prevalences is not None:
        raise UserError(f"{folder}: the folder has its own samples; do not give others")
    training = _training_files(public)
    has_samples = public / TRAINING not in training.values()
    task = public.parent.name if public.name == PUBLIC else public.name
    options = replace(
        options,
        ordinal=options.ordinal or has_samples,
        title=options.title or f"LeQua {task or public.absolute().name}",
        samples=_parts(public, "{}_samples"),
        prevalences=_parts(public, "{}_prevalences.txt"),
    )
    check_import(out, options, list(training.values()))
    main = next(iter(training.values()))
    tables = _read(training, progress)
    table = pl.concat(tables)
    if len(table) == 0:
        raise DataError(f"{main}: a header without rows")
    labels = labels_of(table[LABEL], f"labels in {main}")
    classes = _checked_classes(labels, main)
    existing_parent = next(folder for folder in Path(out).absolute().parents if folder.is_dir())
    items = _items(table, main, existing_parent)
    if isinstance(items, MatrixItems):
        _check_space(public, existing_parent, len(items.names))
    groups = {}
    if has_samples:
        sampling.read_prevalences(public / TRAINING_PREVALENCES, tuple(training), classes)
        sizes = [len(part) for part in tables]
        groups["sample"] = pl.Series(np.repeat(list(training), sizes).tolist())
    about = {
        "label": LABEL,
        "category": None,
        "notes": [],
        "sources": [source_of(public / (TRAINING_SAMPLES if has_samples else TRAINING))],
        **_names_of_classes(public / LABEL_MAP, classes),
        **({"text": TEXT} if isinstance(items, TextItems) else {}),
    }
    file = MainFile(main, items, SideColumns(labels, None, groups))
    return import_items(file, Path(out), options, about, progress)


def _public(folder: Path) -> Path:
    return folder / PUBLIC if (folder / PUBLIC).is_dir() else folder


def _training_files(public: Path) -> Mapping[str, Path]:
    """The training file, or those of the training samples, by name."""
    single_file, sample_folder = public / TRAINING, public / TRAINING_SAMPLES
    if single_file.is_file() == sample_folder.is_dir():
        state = "both {} and {}" if single_file.is_file() else "neither {} nor {}"
        files = state.format(TRAINING, TRAINING_SAMPLES)
        raise DataError(f"{public} has {files}; a LeQua task has one of them")
    if single_file.is_file():
        return {single_file.stem: single_file}
    if not (public / TRAINING_PREVALENCES).is_file():
        raise DataError(f"{public} has {TRAINING_SAMPLES} but no {TRAINING_PREVALENCES}; add it")
    return _numbered(sample_folder)


def _parts(public: Path, pattern: str) -> dict[str, Path]:
    """The samples, or their prevalences, of each existing part."""
    paths = {}
    for part in PARTS:
        folder, file = public / f"{part}_samples", public / f"{part}_prevalences.txt"
        if folder.is_dir() != file.is_file():
            missing, present = (file, folder) if folder.is_dir() else (folder, file)
            raise DataError(f"{public} has {present.name} but no {missing.name}; add it")
        if folder.is_dir():
            _numbered(folder)
            paths[part] = public / pattern.format(part)
    if not paths:
        raise DataError(f"{public} has neither dev_samples nor test_samples; add one of them")
    return paths


def _numbered(folder: Path) -> Mapping[str, Path]:
    """The files of a folder, refused unless they are numbered 0, 1, 2, ... without gaps."""
    files = sampling.sample_files(folder)
    for number, name in enumerate(files):
        if name != str(number):
            raise DataError(
                f"{folder}: sample {number} is missing, the next file is {files[name].name}; "
                "samples are numbered from 0 without gaps"
            )
    return files


def _check_space(public: Path, folder: Path, n_columns: int) -> None:
    """Raise if the samples will not fit on the disk, before time is spent on reading them.

    folder: the folder that the data set will be in. The numbers of all samples are written there
    once, and the file is then moved into the data set.
    """
    needed = 0
    for part in _parts(public, "{}_samples").values():
        files = list(sampling.sample_files(part).values())
        with files[0].open("rb") as first:
            needed += len(files) * max(sum(1 for _ in first) - 1, 0) * n_columns * NUMBER_BYTES
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise UserError(
            f"{public}: its samples need about {needed / 1e9:.1f} GB on the disk of {folder}, and "
            f"{free / 1e9:.1f} GB are free; free some, or choose a folder on another disk"
        )


def _read(files: Mapping[str, Path], progress: Progress) -> list[pl.DataFrame]:
    """The tables of the training files, with the columns of the first."""
    tables: list[pl.DataFrame] = []
    for number, path in enumerate(files.values()):
        if progress is not None and len(files) > 1:
            progress("reading training samples", number, len(files))
        frame = read_frame(path, progress=progress if len(files) == 1 else None).whole()
        frame.require(LABEL)
        columns = (tables[0] if tables else frame.columns).columns
        if set(columns) != set(frame.columns.columns):
            first = next(iter(files.values()))
            raise DataError(f"{path}: its columns differ from those of {first}; fix the header")
        tables.append(frame.columns.select(columns))
    return tables


def _items(table: pl.DataFrame, main: Path, folder: Path) -> AbstractItems:
    features = table.drop(LABEL)
    if TEXT in features.columns:
        return TextItems(Frame(str(main), features), TEXT)
    return MatrixItems(number_matrix(features, main), (LABEL,), tuple(features.columns), folder)


def _checked_classes(labels: pl.Series, main: Path) -> list[Any]:
    classes = classes_of(labels, f"labels in {main}", ordinal=False, positive=None)
    if labels.null_count():
        row = int(labels.is_null().arg_max() or 0)
        raise DataError(f"{main}: row {row + 1} has no label; training items need one")
    if classes != list(range(len(classes))):
        listed = ", ".join(map(str, classes[:10]))
        raise DataError(f"{main}: labels must be numbers from 0 without gaps, got {listed}")
    return classes


def _names_of_classes(path: Path, classes: Sequence[int]) -> dict[str, Any]:
    """The names of the classes in the label map, in their order, if there is one."""
    if not path.is_file():
        return {}
    names: dict[int, str] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        name, _, code = line.rstrip().rpartition(" " if "\t" not in line else "\t")
        if line.strip() and not (name.strip() and code.isdecimal()):
            raise DataError(f"{path}, line {number}: not a name and an id: {line!r}")
        if not line.strip():
            continue
        if int(code) in names or name.strip() in names.values():
            raise DataError(f"{path}, line {number}: a name or an id occurs twice: {line!r}")
        names[int(code)] = name.strip()
    if sorted(names) != list(classes):
        raise DataError(
            f"{path}: the ids are {', '.join(map(str, sorted(names)[:10]))}, but the labels are "
            f"{', '.join(map(str, classes[:10]))}"
        )
    return {"class_names": [names[code] for code in classes]}
