"""`quantshift data`: make data sets of tables, arrays and posteriors, and look into them."""

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from quantshift.cli.progress import share_progress
from quantshift.data.arrays import DataFile
from quantshift.data.assembly import Wishes
from quantshift.data.description import describe, find, render, render_list
from quantshift.data.folder import DataFolder
from quantshift.data.importing import import_arrays, import_table
from quantshift.errors import UserError

app = typer.Typer(
    help="Make data sets of your own tables, arrays and posteriors, and look into them.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)


class Format(StrEnum):
    """How data sets are shown."""

    TEXT = "text"
    MARKDOWN = "markdown"
    JSON = "json"


Shown = Annotated[Format, typer.Option("--format", "-f", help="How to show it.")]


@app.command("import")
def import_(
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="DIR", help="The data-set folder to make.")
    ],
    table: Annotated[
        Path | None,
        typer.Argument(
            metavar="TABLE",
            help="A table: .csv, .tsv, .txt (as CSV), .jsonl, .parquet, .xlsx; text also as .gz.",
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
            help="Column that covariate shifts go by; it is no feature. With arrays: FILE:COL, "
            "FILE.npy, or a column of the table of the labels.",
        ),
    ] = None,
    groups: Annotated[
        str | None,
        typer.Option(
            "--groups",
            metavar="A,B",
            help="Columns that natural shifts go by; they are no features.",
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
            help="Columns of numbers that are codes of categories, not quantities.",
        ),
    ] = None,
    features: Annotated[
        Path | None,
        typer.Option(
            "--features",
            metavar="FILE",
            help="Instead of TABLE: a matrix, .npz (SciPy sparse), .npy or a table of numbers.",
        ),
    ] = None,
    posteriors: Annotated[
        Path | None,
        typer.Option(
            "--posteriors",
            metavar="FILE",
            help="Instead of TABLE: posteriors of your model, .npy or a table; columns named after "
            "the classes, or in the order of the sorted classes.",
        ),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(
            "--labels", metavar="FILE", help="Labels of an array: TABLE:COL, or a .npy file."
        ),
    ] = None,
    samples: Annotated[
        Path | None,
        typer.Option(
            "--samples",
            metavar="FILE",
            help="Test samples that come with the data: a table with the columns sample and row "
            "(0 is the first row below the header), or a folder with one file per sample, whose "
            "items are added without labels.",
        ),
    ] = None,
    prevalences: Annotated[
        Path | None,
        typer.Option(
            "--prevalences",
            metavar="FILE",
            help="True prevalences of the samples: a table, the sample first, then a column per "
            "class. Needed where items of samples have no labels.",
        ),
    ] = None,
    ordinal: Annotated[
        bool, typer.Option("--ordinal", help="Labels are numbers whose order means something.")
    ] = False,
    positive: Annotated[
        str | None,
        typer.Option(
            "--positive",
            metavar="VALUE",
            help="The positive one of two classes (default: the last when sorted).",
        ),
    ] = None,
    fewest: Annotated[
        int,
        typer.Option(
            "--fewest", metavar="N", min=0, help="Leave out classes with fewer rows than this."
        ),
    ] = 0,
    name: Annotated[
        str | None,
        typer.Option("--name", help="Its name in results (default: the name of the folder)."),
    ] = None,
    title: Annotated[
        str | None,
        typer.Option("--title", help="What people call it (default: the name of the file)."),
    ] = None,
    lenient: Annotated[
        bool, typer.Option("--lenient", help="Take every line of a CSV table as a row.")
    ] = False,
    overwrite: Annotated[
        bool,
        typer.Option(
            "--overwrite", help="Replace an older data set, once the new one is complete."
        ),
    ] = False,
) -> None:
    """Import a table, arrays or posteriors into a data-set folder.

    Of a table all columns but the label are features: numbers, categories and truth values, told
    by their cells; gaps are welcome. Rows without label are left out. Columns that are constant,
    all gaps, dates, or different in nearly every row are no features. `describe` shows what became
    of each row and column. How columns become numbers is learnt in each experiment, from its
    training items alone.

    Examples:

    quantshift data import churn.csv --label Exited --categories Geography --out churn

    quantshift data import mails.csv.gz --label folder --text body --out mails

    quantshift data import grades.csv --label grade --ordinal --groups school,subject --out grades

    quantshift data import --features X.npz --labels y.csv:class --out vectors

    quantshift data import --posteriors p.npy --labels y.npy --positive spam --out mine

    quantshift data import training_data.txt --label label --samples dev_samples
    --prevalences dev_prevalences.txt --out lequa
    """
    wishes = Wishes(
        ordinal=ordinal,
        positive=positive,
        fewest=fewest,
        samples=samples,
        prevalences=prevalences,
        name=name,
        title=title,
        overwrite=overwrite,
    )
    arrays = {"--features": features, "--posteriors": posteriors, "--labels": labels}
    columns = {"--label": label, "--text": text, "--drop": drop, "--codes": codes}
    with share_progress(Console(stderr=True)) as progress:
        if table is not None:
            _refuse(arrays, "a table needs none: name its column with --label")
            if label is None:
                raise UserError(f"{table}: which column holds the labels? name it with --label")
            data = import_table(
                table,
                out,
                label=label,
                text=text,
                categories=categories,
                groups=_parted(groups),
                drop=_parted(drop),
                codes=_parted(codes),
                lenient=lenient,
                wishes=wishes,
                progress=progress,
            )
        else:
            if features is None and posteriors is None:
                raise UserError("nothing to import: name a table, --features or --posteriors")
            if labels is None:
                raise UserError("arrays need --labels: a column as TABLE:COL, or a .npy file")
            _refuse(columns, "it names a column of a table; arrays have --labels FILE")
            file = DataFile.parse(labels)
            data = import_arrays(
                out,
                labels=file,
                features=features,
                posteriors=posteriors,
                categories=_beside(categories, file) if categories else None,
                groups=[_beside(group, file) for group in _parted(groups)],
                wishes=wishes,
                progress=progress,
            )
    typer.echo(render(describe(data)))
    typer.echo(f"\ndata set {data.name} ({data.hash[:12]}) in {out}")


@app.command("describe")
def describe_(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A data-set folder.")],
    format: Shown = Format.TEXT,  # noqa: A002 - the option's name
) -> None:
    """Show what is in a data set: classes, categories, columns, what was left out.

    First all files are read and compared with their hashes.

    Examples:

    quantshift data describe churn

    quantshift data describe churn --format json > churn.json
    """
    data = DataFolder.open(folder)
    data.verify()
    typer.echo(render(describe(data), format.value))


@app.command("list")
def list_(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(metavar="DIR...", help="Where to look (default: here)."),
    ] = None,
    format: Shown = Format.TEXT,  # noqa: A002 - the option's name
) -> None:
    """List the data sets and corpora in folders.

    Examples:

    quantshift data list

    quantshift data list tables corpora --format markdown
    """
    places = folders or [Path()]
    listed = find(places)
    if listed or format is Format.JSON:
        typer.echo(render_list(listed, format.value))
    else:
        typer.echo("no data sets there; make one with `quantshift data import`")


def _parted(text: str | None) -> list[str]:
    """Names with commas between them."""
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def _beside(text: str, labels: DataFile) -> DataFile:
    """A file, or a column of the table of the labels."""
    file = DataFile.parse(text)
    if file.column is None and labels.column is not None and not file.path.exists():
        return DataFile(labels.path, text)
    return file


def _refuse(options: Mapping[str, object], why: str) -> None:
    given = next((option for option, value in options.items() if value is not None), None)
    if given is not None:
        raise UserError(f"{given} does not fit here: {why}")
