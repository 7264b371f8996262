"""`quantshift corpus`: import, describe, fetch and synthesise corpora."""

from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from quantshift.base.nouns import counted
from quantshift.cli.progress import byte_progress, item_progress
from quantshift.data.corpus import Corpus
from quantshift.data.corpus_description import describe, render, render_summary
from quantshift.data.download import REVIEWS_URL, fetch_reviews
from quantshift.data.importing.reviews import MIN_CHARS, MIN_USEFUL, import_reviews, parse_source

app = typer.Typer(
    help="Create and inspect corpora of reviews.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

Out = Annotated[
    Path,
    typer.Option("--out", "-o", help="The corpus folder to create.", metavar="DIR"),
]
MinChars = Annotated[
    int, typer.Option("--min-chars", min=0, help="Drop texts with fewer characters.")
]
Overwrite = Annotated[
    bool,
    typer.Option("--overwrite", help="Replace an older corpus, once the new one is complete."),
]


class Format(StrEnum):
    """Formats of a description."""

    TEXT = "text"
    MARKDOWN = "markdown"
    LATEX = "latex"
    JSON = "json"


class DataSet(StrEnum):
    """The data sets that can be fetched."""

    REVIEWS = "reviews"


@app.command("import")
def import_(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME=FILE...",
            help="Category and file; a NAME given again appends to its category.",
            show_default=False,
        ),
    ],
    out: Out,
    min_chars: MinChars = MIN_CHARS,
    min_useful: Annotated[
        int,
        typer.Option(
            "--min-useful", min=0, help="Drop reviews with fewer useful votes (JSON lines only)."
        ),
    ] = MIN_USEFUL,
    text_column: Annotated[
        str, typer.Option("--text-column", help="Column of the texts (CSV, TSV, Parquet).")
    ] = "text",
    stars_column: Annotated[
        str, typer.Option("--stars-column", help="Column of the stars (CSV, TSV, Parquet).")
    ] = "stars",
    lenient: Annotated[
        bool,
        typer.Option("--lenient", help="Treat every line of a CSV or TSV file as a row."),
    ] = False,
    overwrite: Overwrite = False,
) -> None:
    """Import review files into a corpus folder.

    The format is inferred from the file name: .json, .jsonl (one JSON object per line, with
    reviewText, overall, and helpful or vote), .txt (star<TAB>text), .csv, .tsv, .parquet. All
    except Parquet may be compressed as .gz or .zip.

    Examples:

    quantshift corpus import Books=Books.json.gz Electronics=Electronics.json.gz --out amazon

    quantshift corpus import Books=Books.txt.zip --out books

    quantshift corpus import Mine=mine.csv --text-column body --stars-column rating --out mine
    """
    with byte_progress(Console(stderr=True)) as advance:
        summary = import_reviews(
            [parse_source(source) for source in sources],
            out,
            min_chars=min_chars,
            min_useful=min_useful,
            text_column=text_column,
            stars_column=stars_column,
            lenient=lenient,
            overwrite=overwrite,
            progress=lambda p: advance(p.file, p.bytes_done, p.bytes_total),
        )
    typer.echo(render_summary(summary))
    typer.echo(f"corpus {summary.corpus.hash[:12]} in {out}")


@app.command("describe")
def describe_(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A corpus folder.")],
    format: Annotated[  # noqa: A002 - the option's name
        Format, typer.Option("--format", "-f", help="How to show it.")
    ] = Format.TEXT,
    samples: Annotated[
        int, typer.Option("--samples", min=0, help="Number of first rows to show per category.")
    ] = 3,
    verify: Annotated[
        bool,
        typer.Option("--verify", help="Check all hashes first, including those of the counts."),
    ] = False,
) -> None:
    """Show what is in a corpus: reviews, star shares, lengths, filters, first rows.

    Examples:

    quantshift corpus describe amazon

    quantshift corpus describe amazon --format latex --samples 0 > table.tex
    """
    corpus = Corpus.open(folder)
    if verify:
        corpus.verify()
        _verify_counts(corpus)
    typer.echo(render(describe(corpus, n_samples=samples), format.value))


def _verify_counts(corpus: Corpus) -> None:
    from quantshift.texts.counts import FOLDER, verify_counts

    if (corpus.path / FOLDER).exists():
        verify_counts(corpus.path / FOLDER)


@app.command("fetch")
def fetch(
    data_set: Annotated[DataSet, typer.Argument(help="What to fetch.", show_default=False)],
    out: Out,
    url: Annotated[
        str, typer.Option("--url", help="URL of the record, if not on Zenodo.")
    ] = REVIEWS_URL,
    downloads: Annotated[
        Path | None,
        typer.Option(
            "--downloads",
            metavar="DIR",
            help="Where to keep the files (default: DIR.downloads next to the corpus).",
            show_default=False,
        ),
    ] = None,
    min_chars: MinChars = MIN_CHARS,
    overwrite: Overwrite = False,
) -> None:
    """Download a public data set (Zenodo record 8421611) and import it.

    Run the command again to continue an interrupted download.

    Example: quantshift corpus fetch reviews --out amazon
    """
    with byte_progress(Console(stderr=True)) as advance:
        summary = fetch_reviews(
            out,
            url=url,
            downloads=downloads,
            min_chars=min_chars,
            overwrite=overwrite,
            download_progress=lambda p: advance(p.file, p.bytes_done, p.bytes_total),
            import_progress=lambda p: advance(p.file, p.bytes_done, p.bytes_total),
        )
    typer.echo(render_summary(summary))
    typer.echo(f"corpus {summary.corpus.hash[:12]} in {out}")


@app.command("tokenise")
def tokenise(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A corpus folder.")],
) -> None:
    """Count the words of a corpus once; `quantshift run` does it if needed.

    Example: quantshift corpus tokenise reviews
    """
    from quantshift.texts.counts import tokenise_corpus

    with item_progress(Console(stderr=True)) as advance:
        counts = tokenise_corpus(Corpus.open(folder), progress=partial(advance, "documents"))
    n_documents, n_words = counts.shape
    documents, words = counted(n_documents, "document"), counted(n_words, "distinct word")
    typer.echo(f"{documents}, {words}, counts in {folder}")


@app.command("synthetic")
def synthetic(
    out: Out,
    documents: Annotated[
        int, typer.Option("--documents", "-n", min=1, help="Number of documents.")
    ] = 20_000,
    seed: Annotated[int, typer.Option("--seed", help="The same seed gives the same corpus.")] = 0,
) -> None:
    """Create a synthetic corpus of two categories and five stars; needs no download.

    Example: quantshift corpus synthetic --out synthetic --documents 20000
    """
    from quantshift.data.embedded.reviews import write_corpus

    write_corpus(out, n_documents=documents, seed=seed)
    corpus = Corpus.open(out)
    typer.echo(f"corpus {corpus.hash[:12]} of {counted(corpus.n_documents, 'document')} in {out}")
