"""`quantshift quantify`: prevalences in the user's own tables."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from quantshift.files import check_place, write_whole
from quantshift.own_data import quantify as quantify_tables
from quantshift.own_data import render_json, render_text
from quantshift.own_data.model import AUTO

Train = Annotated[
    Path | None, typer.Option("--train", metavar="FILE", help="The labelled table to learn from.")
]
Model = Annotated[
    Path | None,
    typer.Option("--model", metavar="DIR", help="A model made with `quantshift train`, instead."),
]
Label = Annotated[
    str | None, typer.Option("--label", metavar="COLUMN", help="Column of the labels.")
]
Text = Annotated[str | None, typer.Option("--text", metavar="COLUMN", help="Column of the texts.")]
Features = Annotated[
    str | None,
    typer.Option(
        "--features",
        metavar="A,B,...",
        help="Columns of numbers (default without --text: all numeric columns).",
    ),
]
Posteriors = Annotated[
    str | None,
    typer.Option(
        "--posteriors",
        metavar="A,B,...",
        help="Columns of posteriors of your own model; --train then holds items it has not seen.",
    ),
]
Classifier = Annotated[
    str,
    typer.Option("--classifier", help="logistic, naive-bayes, forest or boosting (numbers only)."),
]
Method = Annotated[
    str, typer.Option("--method", help="auto, or a name of `quantshift list quantifiers`.")
]
Level = Annotated[
    float, typer.Option("--level", min=0.5, max=0.999, help="Confidence of the intervals.")
]
Seed = Annotated[int, typer.Option("--seed", help="Of everything random.")]


def quantify(
    sample: Annotated[
        list[Path],
        typer.Option("--sample", metavar="FILE", help="The unlabelled table; may be repeated."),
    ],
    train: Train = None,
    model: Model = None,
    label: Label = None,
    text: Text = None,
    features: Features = None,
    posteriors: Posteriors = None,
    by: Annotated[
        str | None,
        typer.Option("--by", metavar="COLUMN", help="Divide the sample by this column."),
    ] = None,
    every: Annotated[
        str | None,
        typer.Option("--every", metavar="day|week|month", help="If --by is a column of dates."),
    ] = None,
    audit: Annotated[
        Path | None,
        typer.Option(
            "--audit",
            metavar="FILE",
            help="Random items of the sample with labels (see `quantshift audit-plan`).",
        ),
    ] = None,
    method: Method = AUTO,
    classifier: Classifier = "logistic",
    level: Level = 0.95,
    replicates: Annotated[
        int, typer.Option("--replicates", min=100, help="Bootstrap replicates.")
    ] = 1000,
    simultaneous: Annotated[
        bool,
        typer.Option(
            "--simultaneous", help="Intervals that hold for all classes at once (three or more)."
        ),
    ] = False,
    seed: Seed = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Also write a page with charts."),
    ] = None,
) -> None:
    """How common is each class in new data? With an interval, and whether to believe it.

    Tables: CSV, TSV, JSON lines, Parquet, Excel.

    Examples:

        quantshift quantify --train labelled.csv --sample new.csv --label sentiment --text review

        quantshift quantify --model model/ --sample new.csv --by date --every week --html out.html

        quantshift quantify --model model/ --sample new.csv --audit audited.csv
    """
    if html is not None:
        check_place(html)
    with status() as progress:
        result = quantify_tables(
            list(sample),
            train_on=train,
            model=model,
            label=label,
            text=text,
            features=names(features),
            posteriors=names(posteriors),
            by=by,
            every=every,
            audit=audit,
            method=method,
            classifier=classifier,
            level=level,
            n_bootstrap=replicates,
            simultaneous=simultaneous,
            seed=seed,
            progress=progress,
        )
    typer.echo(render_json(result) if as_json else render_text(result))
    if html is not None:
        from quantshift.own_data.page import render_page

        write_whole(html, render_page(result).encode())
        if not as_json:
            typer.echo(f"\npage in {html}")


def names(option: str | None) -> tuple[str, ...]:
    """Column names separated by commas.

    >>> names("a, b")
    ('a', 'b')
    """
    return tuple(name.strip() for name in (option or "").split(",") if name.strip())


@contextmanager
def status() -> Iterator[Callable[[str, int], None]]:
    """Shows on a terminal what is being done; silent elsewhere."""
    with Console(stderr=True).status("") as shown:

        def update(what: str, done: int) -> None:
            shown.update(f"{what} {done:,}" if done else what)

        yield update
