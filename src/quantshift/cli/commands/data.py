"""`quantshift data`: create data sets from tables, reviews, arrays and posteriors; inspect them."""

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from quantshift.base.keywords import split_names
from quantshift.base.nouns import counted
from quantshift.base.shell import command_line
from quantshift.cli.progress import byte_progress, share_progress
from quantshift.data.description import describe, find, find_embedded, render, render_list
from quantshift.data.embedded.embedded import EMBEDDED
from quantshift.data.fetching import RECORDS, fetch_record
from quantshift.data.folder import DataFolder
from quantshift.data.importing.arrays import DataFile
from quantshift.data.importing.assembly import Wishes
from quantshift.data.importing.lequa import import_lequa, is_lequa
from quantshift.data.importing.reviews import MIN_CHARS, MIN_USEFUL, ReviewFile, import_reviews
from quantshift.data.importing.table import import_arrays, import_table
from quantshift.data.sources import source_at
from quantshift.errors import UserError
from quantshift.tables.formats import PACKAGE_ENDINGS

app = typer.Typer(
    help="Create and inspect data sets from your own tables, texts, arrays and posteriors.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)


class Format(StrEnum):
    """Formats in which data sets are shown."""

    TEXT = "text"
    MARKDOWN = "markdown"
    LATEX = "latex"
    JSON = "json"


class Layout(StrEnum):
    """Layouts of files that must be named."""

    REVIEWS = "reviews"


class Record(StrEnum):
    """The records that can be fetched."""

    LEQUA2022 = "lequa2022"
    LEQUA2024 = "lequa2024"
    REVIEWS = "reviews"


Shown = Annotated[Format, typer.Option("--format", "-f", help="How to show it.")]


@app.command("import")
def import_(
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="DIR", help="The data-set folder to create.")
    ],
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
        Layout | None,
        typer.Option(
            "--layout",
            help="reviews: files of reviews, each as NAME=FILE with the name of a category.",
            show_default=False,
        ),
    ] = None,
    min_chars: Annotated[
        int | None,
        typer.Option(
            "--min-chars",
            metavar="N",
            min=0,
            help=f"Of reviews: drop shorter texts (default: {MIN_CHARS}).",
            show_default=False,
        ),
    ] = None,
    min_useful: Annotated[
        int | None,
        typer.Option(
            "--min-useful",
            metavar="N",
            min=0,
            help="Of reviews: drop those with fewer useful votes (JSON lines only; default: "
            f"{MIN_USEFUL}).",
            show_default=False,
        ),
    ] = None,
    label: Annotated[
        str | None, typer.Option("--label", metavar="COL", help="Column of the labels.")
    ] = None,
    text: Annotated[
        str | None,
        typer.Option("--text", metavar="COL", help="Column of the texts: their words are used."),
    ] = None,
    categories: Annotated[
        str | None,
        typer.Option(
            "--categories",
            metavar="COL",
            help="Column that defines covariate shifts; not used as a feature. With arrays: "
            "FILE:COL, FILE.npy, or a column of the table that holds the labels.",
        ),
    ] = None,
    groups: Annotated[
        str | None,
        typer.Option(
            "--groups",
            metavar="A,B",
            help="Columns that define natural shifts; not used as features.",
        ),
    ] = None,
    drop: Annotated[
        str | None, typer.Option("--drop", metavar="A,B", help="Columns of the table to leave out.")
    ] = None,
    codes: Annotated[
        str | None,
        typer.Option(
            "--codes",
            metavar="A,B",
            help="Numeric columns that hold category codes, not quantities.",
        ),
    ] = None,
    features: Annotated[
        str | None,
        typer.Option(
            "--features",
            metavar="FILE",
            help="Instead of TABLE: a matrix as .npz (SciPy sparse), FILE.npz:ARRAY (NumPy), .npy "
            "or a numeric table.",
        ),
    ] = None,
    posteriors: Annotated[
        str | None,
        typer.Option(
            "--posteriors",
            metavar="FILE",
            help="Instead of TABLE: posteriors of your model, .npy, FILE.npz:ARRAY or a table "
            "with columns named after the classes or in the order of the sorted classes.",
        ),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(
            "--labels",
            metavar="FILE",
            help="Labels of an array: TABLE:COL, FILE.npz:ARRAY or a .npy file.",
        ),
    ] = None,
    samples: Annotated[
        Path | None,
        typer.Option(
            "--samples",
            metavar="FILE",
            help="Test samples that come with the data: a table with the columns sample and row "
            "(row 0 is the first one below the header), or a folder with one file of unlabelled "
            "items per sample.",
        ),
    ] = None,
    prevalences: Annotated[
        Path | None,
        typer.Option(
            "--prevalences",
            metavar="FILE",
            help="True prevalences of the samples: a table with the sample in the first column, "
            "then a column per class. Needed if the items of the samples have no labels.",
        ),
    ] = None,
    ordinal: Annotated[
        bool, typer.Option("--ordinal", help="The labels are ordered numbers (ordinal classes).")
    ] = False,
    positive: Annotated[
        str | None,
        typer.Option(
            "--positive",
            metavar="VALUE",
            help="The positive class of two (default: the last in sorted order).",
        ),
    ] = None,
    fewest: Annotated[
        int,
        typer.Option(
            "--fewest", metavar="N", min=0, help="Leave out classes with fewer rows than this."
        ),
    ] = 0,
    test_share: Annotated[
        float,
        typer.Option(
            "--test-share",
            metavar="SHARE",
            help="Keep this share of every class for testing, in all experiments (default: every "
            "experiment splits the items itself).",
            show_default=False,
        ),
    ] = 0.0,
    max_train: Annotated[
        int,
        typer.Option(
            "--max-train",
            metavar="N",
            min=0,
            help="With --test-share: train on at most this many items and test on all others.",
            show_default=False,
        ),
    ] = 0,
    split_seed: Annotated[
        int, typer.Option("--split-seed", metavar="N", min=0, help="Seed of that split.")
    ] = 0,
    name: Annotated[
        str | None,
        typer.Option("--name", help="Name in results (default: the name of the folder)."),
    ] = None,
    title: Annotated[
        str | None,
        typer.Option("--title", help="Display name (default: the name of the file)."),
    ] = None,
    lenient: Annotated[
        bool, typer.Option("--lenient", help="Treat every line of a CSV table as a row.")
    ] = False,
    overwrite: Annotated[
        bool,
        typer.Option(
            "--overwrite", help="Replace an older data set, once the new one is complete."
        ),
    ] = False,
) -> None:
    """Import a table, reviews, arrays or posteriors into a data-set folder.

    In a table, all columns except the label are features: numbers, categories and booleans,
    inferred from their cells. Missing values are fine. Rows without a label are left out. Columns
    that are constant, entirely missing, dates, or different in nearly every row are not used as
    features. `describe` shows how each row and column was used. Each experiment learns how to turn
    columns into numbers from its own training items only.

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
    """
    wishes = Wishes(
        ordinal=ordinal,
        positive=positive,
        fewest=fewest,
        samples=samples,
        prevalences=prevalences,
        test_share=test_share,
        max_train=max_train,
        split_seed=split_seed,
        name=name,
        title=title,
        overwrite=overwrite,
    )
    arrays = {"--features": features, "--posteriors": posteriors, "--labels": labels}
    columns = {"--label": label, "--text": text, "--drop": drop, "--codes": codes}
    table = Path(files[0]) if files else None
    if files and len(files) > 1 and layout is None:
        raise UserError(
            f"{files[1]}: a second table; import one at a time, or files of reviews with --layout "
            "reviews"
        )
    if layout is None:
        of_reviews = {"--min-chars": min_chars, "--min-useful": min_useful}
        _refuse(of_reviews, "it filters reviews; add --layout reviews")
    with share_progress(Console(stderr=True)) as progress:
        if layout is Layout.REVIEWS:
            reason = "reviews have stars and texts, and their categories are named with the files"
            others = {"--categories": categories, "--groups": groups}
            _refuse({**arrays, "--drop": drop, "--codes": codes, **others}, reason)
            given = {"text": text, "stars": label, "min_chars": min_chars, "min_useful": min_useful}
            chosen: dict[str, Any] = {k: v for k, v in given.items() if v is not None}
            reviews = [ReviewFile.parse(file) for file in files or ()]
            data = import_reviews(
                reviews, out, **chosen, lenient=lenient, wishes=wishes, progress=progress
            )
        elif table is not None and is_lequa(table):
            reason = "the folder of a LeQua task already defines its labels and columns"
            others = {"--categories": categories, "--groups": groups}
            _refuse({**arrays, **columns, **others}, reason)
            data = import_lequa(table, out, wishes=wishes, progress=progress)
        elif table is not None:
            _refuse(arrays, "a table needs no arrays; name its label column with --label")
            if label is None:
                raise UserError(f"{table}: which column holds the labels? name it with --label")
            data = import_table(
                table,
                out,
                label=label,
                text=text,
                categories=categories,
                groups=split_names(groups),
                drop=split_names(drop),
                codes=split_names(codes),
                lenient=lenient,
                wishes=wishes,
                progress=progress,
            )
        else:
            if features is None and posteriors is None:
                raise UserError("nothing to import: give a table, --features or --posteriors")
            if labels is None:
                raise UserError("arrays need --labels: a column as TABLE:COL, or a .npy file")
            _refuse(columns, "it names a column of a table; for arrays, use --labels FILE")
            file = DataFile.parse(labels)
            data = import_arrays(
                out,
                labels=file,
                features=None if features is None else DataFile.parse(features),
                posteriors=None if posteriors is None else DataFile.parse(posteriors),
                categories=_file_or_label_column(categories, file) if categories else None,
                groups=[_file_or_label_column(group, file) for group in split_names(groups)],
                wishes=wishes,
                progress=progress,
            )
    typer.echo(render(describe(data)))
    typer.echo(f"\ndata set {data.name} ({data.hash[:12]}) in {out}")


@app.command("describe")
def describe_(
    folder: Annotated[
        str,
        typer.Argument(
            metavar="DIR", help="A data-set folder, or the name of an embedded data set."
        ),
    ],
    format: Shown = Format.TEXT,  # noqa: A002 - the option's name
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
    else:
        data = DataFolder.open(folder)
        data.verify()
        description = describe(data)
    typer.echo(render(description, format.value))


@app.command("list")
def list_(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="DIR...",
            help="Where to look (default: the current folder and the embedded data sets).",
        ),
    ] = None,
    format: Shown = Format.TEXT,  # noqa: A002 - the option's name
) -> None:
    """List the data sets in folders, and the embedded data sets.

    Examples:

    quantshift data list

    quantshift data list tables texts --format markdown
    """
    listed = find(folders) if folders else [*find([Path()]), *find_embedded()]
    if listed or format is Format.JSON:
        typer.echo(render_list(listed, format.value))
    else:
        typer.echo("no data sets found; create one with `quantshift data import`")


@app.command("fetch")
def fetch(
    record: Annotated[
        Record,
        typer.Argument(metavar="NAME", help="lequa2022, lequa2024 or reviews.", show_default=False),
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
            record.value,
            out,
            tasks=split_names(tasks),
            url=url,
            downloads=downloads,
            progress=advance,
        )
    typer.echo(f"{RECORDS[record.value].title} in {out}")
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
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="DIR", help="The data-set folder to create.")
    ],
    documents: Annotated[
        int, typer.Option("--documents", "-n", min=1, help="Number of documents.")
    ] = 20_000,
    seed: Annotated[int, typer.Option("--seed", help="The same seed gives the same texts.")] = 0,
) -> None:
    """Create synthetic reviews of two categories and five stars; needs no download.

    Example: quantshift data synthetic --out reviews --documents 20000
    """
    from quantshift.data.embedded.synthetic import write_synthetic

    data = write_synthetic(out, n_documents=documents, seed=seed)
    n = counted(int(data.manifest["items"]), "document")
    typer.echo(f"data set {data.name} ({data.hash[:12]}) of {n} in {out}")


def _file_or_label_column(text: str, labels: DataFile) -> DataFile:
    """A file, or a column of the table that holds the labels."""
    file = DataFile.parse(text)
    if file.column is None and labels.column is not None and not file.path.exists():
        return DataFile(labels.path, text)
    return file


def _refuse(options: Mapping[str, object], reason: str) -> None:
    given = next((option for option, value in options.items() if value is not None), None)
    if given is not None:
        raise UserError(f"{given} cannot be used here: {reason}")
