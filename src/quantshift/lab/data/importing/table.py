"""Import the user's files into a data-set folder: tables, arrays, posteriors, given samples."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from quantshift.base.forks import uses_tables
from quantshift.base.storage.files import file_sha256
from quantshift.errors import DataError, UserError
from quantshift.lab.data.importing import samples as sampling
from quantshift.lab.data.importing.arrays import DataFile, read_column, read_matrix
from quantshift.lab.data.importing.assembly import MainFile, SideColumns, assemble
from quantshift.lab.data.importing.classes import classes_of, labels_of
from quantshift.lab.data.importing.items import (
    AbstractItems,
    FeatureItems,
    MatrixItems,
    PosteriorItems,
    TextItems,
    read_posteriors,
)
from quantshift.lab.data.importing.options import ImportedColumns, ImportOptions
from quantshift.lab.data.sets.content import Content
from quantshift.lab.data.sets.folder import DATA_SET, DataFolder, write_folder
from quantshift.tables.columns.kinds import TEXT, LeftOut, choose
from quantshift.tables.columns.names import NO_NAME, check_data_set_name, folder_name
from quantshift.tables.columns.spelling import alike
from quantshift.tables.formats import sheet_of
from quantshift.tables.reading import Frame, Progress, read_frame

WORDS = "text; import it as the text column to use its words"
"""Why a column of texts is not a feature of a table."""

FEW = 10
"""Classes with fewer items are noted."""


def import_table(
    path: str | Path,
    out: str | Path,
    *,
    label: str,
    text: str | None = None,
    categories: str | None = None,
    groups: Sequence[str] = (),
    drop: Sequence[str] = (),
    codes: Sequence[str] = (),
    lenient: bool = False,
    options: ImportOptions = ImportOptions(),  # noqa: B008 - frozen
    progress: Progress = None,
) -> DataFolder:
    """Import a table: the column `label`, and as features the column `text` or all the others.

    categories, groups: columns that define shifts; they are not features. drop: columns to leave
    out. codes: numeric columns that hold category codes, not quantities. lenient: every line of a
    CSV file is a row, and misplaced quotes are literal.
    """
    columns = ImportedColumns(label, text, categories, tuple(groups), tuple(drop), tuple(codes))
    return import_columns(Path(path), out, columns, options, lenient=lenient, progress=progress)


@uses_tables
def import_columns(
    main: Path,
    out: str | Path,
    columns: ImportedColumns,
    options: ImportOptions,
    *,
    lenient: bool = False,
    progress: Progress = None,
) -> DataFolder:
    """`import_table` with the roles of the columns as one argument."""
    label = columns.label
    if label is None:
        raise UserError(f"{main}: which column holds the labels? name it", arguments=["label"])
    check_import(out, options, [main])
    frame = read_frame(main, lenient=lenient, progress=progress)
    _check_roles(frame, label, columns)
    roles = {label: "the label"}
    if columns.categories is not None:
        roles[columns.categories] = "the categories"
    roles |= dict.fromkeys(columns.groups, "a group") | dict.fromkeys(columns.drop, "dropped")
    side_columns = SideColumns(
        labels_of(frame.require(label), f"labels in {main.name}, column {label!r},"),
        None if columns.categories is None else frame.require(columns.categories),
        {name: frame.require(name) for name in columns.groups},
    )
    items: AbstractItems
    about: dict[str, Any] = {"label": label, "category": columns.categories}
    if columns.text is not None:
        items = TextItems(frame, columns.text)
        about["text"] = columns.text
    else:
        chosen, unfit = choose(frame.columns.drop(list(roles)), codes=columns.codes)
        features = tuple(column for column in chosen if column.kind != TEXT)
        unfit += tuple(LeftOut(c.name, WORDS) for c in chosen if c.kind == TEXT)
        if not features:
            raise DataError(f"{main}: no column is left as a feature: {_listed(unfit)}")
        items = FeatureItems(frame, features)
        with_roles = tuple(LeftOut(name, reason) for name, reason in roles.items())
        about["columns"] = [asdict(feature) for feature in features]
        about["left_out"] = [asdict(column) for column in (*with_roles, *unfit)]
    notes = [
        *(found.sentence for found in frame.findings),
        *([_undecodable(frame.undecodable)] if frame.undecodable else []),
    ]
    about |= {"notes": notes, "sources": [source_of(main)]}
    file = MainFile(main, items, side_columns, frame.ragged)
    return import_items(file, Path(out), options, about, progress)


@uses_tables
def import_arrays(
    out: str | Path,
    *,
    labels: DataFile,
    features: Path | DataFile | None = None,
    posteriors: Path | DataFile | None = None,
    categories: DataFile | None = None,
    groups: Sequence[DataFile] = (),
    options: ImportOptions = ImportOptions(),  # noqa: B008 - frozen
    progress: Progress = None,
) -> DataFolder:
    """Import arrays: features (.npz, .npy or a table of numbers) or posteriors, and labels."""
    main_array = features or posteriors
    if main_array is None or (features and posteriors):
        raise UserError("give either features or posteriors")
    main_file = main_array if isinstance(main_array, DataFile) else DataFile(main_array)
    main = main_file.path
    others = [labels, *([categories] if categories else []), *groups]
    check_import(out, options, [main, *(file.path for file in others)])
    if posteriors is not None and options.fewest:
        raise UserError("posteriors have a column for every class: no class can be left out")
    without = tuple(o.column for o in others if o.path == main and o.column is not None)
    where = f"labels in {labels.path.name}"
    side_columns = SideColumns(
        labels_of(read_column(labels, progress=progress), where),
        None if categories is None else read_column(categories),
        {file.column or file.path.stem: read_column(file) for file in groups},
    )
    items: AbstractItems
    if features is not None:
        matrix = read_matrix(main, name=main_file.column, without=without, progress=progress)
        items = MatrixItems(matrix, without)
    else:
        classes = classes_of(side_columns.labels, where, ordinal=False, positive=None)
        items = PosteriorItems(
            read_posteriors(
                main, classes, name=main_file.column, without=without, progress=progress
            ),
            tuple(classes),
            without,
        )
    side_columns.check_rows(len(items), main)
    files = dict.fromkeys([main, *(other.path for other in others)])
    about = {
        "label": labels.column or labels.path.name,
        "category": None if categories is None else categories.column or categories.path.name,
        "notes": [],
        "sources": [source_of(file) for file in files],
    }
    return import_items(MainFile(main, items, side_columns), Path(out), options, about, progress)


def check_import(out: str | Path, options: ImportOptions, files: Sequence[Path]) -> None:
    """Refuse contradictory settings, and a folder that cannot be written."""
    inputs = [*files, *options.sample_paths]
    DATA_SET.check_free(Path(out), overwrite=options.overwrite, inputs=inputs)
    if options.name is not None:
        check_data_set_name(options.name)
    if options.ordinal and options.positive is not None:
        raise UserError("ordered labels already have an order: a positive class cannot be named")
    if not 0 <= options.test_share < 1:
        raise UserError(
            f"test_share={options.test_share:g} is not between 0 and 1; give e.g. 0.3",
            arguments=["test_share"],
        )
    if options.max_train and not options.test_share:
        raise UserError(
            "max_train limits the training items of a split; give test_share too",
            arguments=["test_share"],
        )
    if options.test_share and options.samples is not None:
        raise UserError(
            "given samples are the test data, so the items cannot be split as well; leave out "
            "test_share",
            arguments=["test_share"],
        )
    if options.prevalences is not None and options.samples is None:
        raise UserError("prevalences belong to given samples: give the samples too")


def _check_roles(frame: Frame, label: str, columns: ImportedColumns) -> None:
    roles: dict[str, str] = {}
    assigned_roles: list[tuple[str | None, str]] = [
        (label, "the label"),
        (columns.text, "the text"),
        (columns.categories, "the categories"),
        *((name, "dropped") for name in dict.fromkeys(columns.drop)),
    ]
    for name, role in assigned_roles:
        if name is None:
            continue
        frame.require(name)
        if name in roles:
            raise UserError(f"column {name!r} is {roles[name]} and cannot also be {role}")
        roles[name] = role
    for name in (*columns.groups, *columns.codes):
        frame.require(name)
        if roles.get(name) in ("the label", "the text", "dropped"):
            raise UserError(f"column {name!r} is {roles[name]}; it cannot be a group or a code")
    if len(frame.columns) == 0:
        raise DataError(f"{frame.name}: a header without rows")


def import_items(
    main: MainFile, out: Path, options: ImportOptions, about: Mapping[str, Any], progress: Progress
) -> DataFolder:
    """Assemble items, labels and given samples, and write them; about: entries of the manifest."""
    content, rows = assemble(main, options, progress)
    manifest = {
        "name": options.name or folder_name(out.absolute().name),
        "title": options.title or main.path.name,
        "kind": content.kind,
        "items": len(content.labels),
        "unlabelled": content.labels.null_count(),
        "rows": asdict(rows),
        **content.described(),
        **about,
        "notes": [*about["notes"], *_notes(content)],
        "sources": [*about["sources"], *map(source_of, options.sample_paths)],
    }
    return write_folder(
        out,
        content,
        manifest,
        overwrite=options.overwrite,
        progress=None if progress is None else partial(progress, "counting words"),
    )


def _notes(content: Content) -> list[str]:
    notes = []
    if content.texts is not None:
        n_wordless = int((~content.texts.str.contains(r"\w\w")).sum())
        if n_wordless:
            notes.append(f"{n_wordless:,} texts have no words; they are used all the same")
    for entry in content.described()["classes"]:
        if entry["items"] < FEW:
            notes.append(f"class {entry['name']} has {entry['items']} items")
    for one, other in alike(str(entry["name"]) for entry in content.described()["classes"]):
        notes.append(f"the classes {one} and {other} differ only in case; are they one?")
    if content.categories is not None and (n := int((content.categories == NO_NAME).sum())):
        notes.append(f"{n:,} items have no category: it is set to {NO_NAME}")
    return notes


def _undecodable(n_cells: int) -> str:
    return f"{n_cells:,} cells were not UTF-8; invalid bytes in them were replaced by U+FFFD"


def _listed(columns: Sequence[LeftOut]) -> str:
    return ", ".join(f"{c.name} ({c.reason})" for c in columns[:5]) or "there are no others"


def source_of(path: Path) -> dict[str, Any]:
    """The manifest's entry for a file, or for a folder with a file per sample."""
    if not path.is_dir():
        file, _ = sheet_of(path)
        return {"file": path.name, "bytes": file.stat().st_size, "sha256": file_sha256(file)}
    files = [source_of(file) for file in sampling.sample_files(path).values()]
    digest = hashlib.sha256("".join(file["sha256"] for file in files).encode())
    total = sum(file["bytes"] for file in files)
    return {
        "file": path.name,
        "files": len(files),
        "bytes": total,
        "sha256": digest.hexdigest(),
    }
