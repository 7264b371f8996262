"""Small tables to try every command on, drawn here, so that the right answers are known.

The tables are the same on every machine.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np
import polars as pl

from quantshift.base.storage.csv_text import frame_csv
from quantshift.base.storage.files import check_writable, make_folder, write_output
from quantshift.errors import UserError
from quantshift.lab.data.embedded.customers import draw_customers
from quantshift.lab.data.embedded.synthetic import generate

_REVIEWS, _POSITIVE, _NEGATIVE = 2000, 100, 400
_ANSWERS, _LABELLED = 2000, 120
_CUSTOMERS = 1500


@dataclass(frozen=True)
class ExampleTable:
    """A table of the examples.

    content: what is in it, in words.
    draw: makes the table.
    """

    content: str
    draw: Callable[[], pl.DataFrame]


def labelled_reviews() -> pl.DataFrame:
    """2,000 reviews with a label, 76% of them positive."""
    return _reviews().head(_REVIEWS)


def new_reviews() -> pl.DataFrame:
    """500 reviews without a label, 100 of them positive."""
    reviews = _reviews()
    is_positive = (reviews["sentiment"][_REVIEWS:] == "positive").to_numpy()
    positive, negative = (_REVIEWS + np.flatnonzero(rows) for rows in (is_positive, ~is_positive))
    new = np.concatenate([positive[:_POSITIVE], negative[:_NEGATIVE]])
    order = np.random.default_rng(0).permutation(len(new))
    return reviews.select("review")[new[order]]


def verdicts() -> pl.DataFrame:
    """2,000 answers with a judge's verdict; 120 random ones have the label of a person.

    70% of the answers are expected to be good. The judge passes 95% of these, and a quarter of the
    bad ones.
    """
    rng = np.random.default_rng(0)
    is_good = rng.random(_ANSWERS) < 0.7
    passes = np.where(is_good, rng.random(_ANSWERS) < 0.95, rng.random(_ANSWERS) < 0.25)
    human: list[str | None] = [None] * _ANSWERS
    for chosen in rng.choice(_ANSWERS, _LABELLED, replace=False).tolist():
        human[chosen] = "good" if is_good[chosen] else "bad"
    return pl.DataFrame(
        {
            "question": [f"q{number}" for number in range(_ANSWERS)],
            "judge": np.where(passes, "pass", "fail").tolist(),
            "human": human,
        }
    )


def labelled_customers() -> pl.DataFrame:
    """1,500 customers of 2022, and whether they left: numbers, categories, dates and gaps."""
    return _customers("2022", "2023").head(_CUSTOMERS)


def new_customers() -> pl.DataFrame:
    """Customers of the first three months of 2023, without the outcome."""
    return _customers("2023-01", "2023-04").drop("left")


EXAMPLES: Mapping[str, ExampleTable] = MappingProxyType(
    {
        "reviews.csv": ExampleTable("2,000 reviews, each with its sentiment", labelled_reviews),
        "new-reviews.csv": ExampleTable("500 reviews without it", new_reviews),
        "verdicts.csv": ExampleTable(
            "2,000 answers with a judge's verdict, 120 of them with a person's label", verdicts
        ),
        "customers.csv": ExampleTable(
            "1,500 customers of 2022 and whether they left", labelled_customers
        ),
        "new-customers.csv": ExampleTable(
            "696 customers of January to March 2023, without it", new_customers
        ),
    }
)
"""The tables by the names of their files."""


def write_examples(out: str | Path) -> tuple[Path, ...]:
    """Write the tables into the folder `out`, which is created if it does not exist.

    Returns the files. No file is ever replaced; tables that are there already may stay.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     [file.name for file in write_examples(folder)]
    ['reviews.csv', 'new-reviews.csv', 'verdicts.csv', 'customers.csv', 'new-customers.csv']
    """
    folder = Path(out)
    drawn = {folder / name: table.draw() for name, table in EXAMPLES.items()}
    contents = {file: frame_csv(table) for file, table in drawn.items()}
    there = [file for file in contents if file.exists() or file.is_symlink()]
    for file in there:
        if not file.is_file() or file.read_bytes() != contents[file]:
            raise UserError(
                f"{file} exists, and examples replace no file; choose another folder",
                arguments=["out"],
            )
    make_folder(folder)
    check_writable(folder)
    for file, content in contents.items():
        if file not in there:
            write_output(file, content)
    return tuple(contents)


def _reviews() -> pl.DataFrame:
    """Reviews of the synthetic corpus, without those of three stars."""
    corpus = generate(6_000, seed=0)
    rows = np.flatnonzero(corpus.stars != 3)
    sentiment = np.where(corpus.stars[rows] > 3, "positive", "negative")
    return pl.DataFrame({"review": corpus.texts(rows), "sentiment": sentiment.tolist()})


def _customers(first: str, end: str) -> pl.DataFrame:
    """Customers of the dates from `first` to before `end`."""
    drawn = draw_customers(6_000, seed=0)
    beside = {"site": drawn.sites, "date": drawn.dates, "left": drawn.labels}
    columns = {**drawn.columns, **{name: cells.tolist() for name, cells in beside.items()}}
    in_time = (first <= drawn.dates) & (drawn.dates < end)
    return pl.DataFrame(columns).filter(in_time)
