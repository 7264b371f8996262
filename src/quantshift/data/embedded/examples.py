"""Small tables to try every command on, drawn here, so that the right answers are known.

The tables are the same on every machine.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np
import polars as pl

from quantshift.base.forks import uses_tables
from quantshift.base.storage.files import check_writable, make_folder, write_output
from quantshift.data.embedded.mixed_columns import mixed_table
from quantshift.data.embedded.synthetic import generate
from quantshift.errors import UserError

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
    return _reviews()[:_REVIEWS]


def new_reviews() -> pl.DataFrame:
    """500 reviews without a label, 100 of them positive."""
    rest = _reviews()[_REVIEWS:]
    positive, negative = (
        rest.filter(pl.col("sentiment") == name) for name in ("positive", "negative")
    )
    new = pl.concat([positive[:_POSITIVE], negative[:_NEGATIVE]]).drop("sentiment")
    return new[np.random.default_rng(0).permutation(len(new))]


def verdicts() -> pl.DataFrame:
    """2,000 answers with a judge's verdict; 120 random ones have the label of a person.

    70% of the answers are expected to be good. The judge passes 95% of these, and a quarter of the
    bad ones.
    """
    rng = np.random.default_rng(0)
    is_good = rng.random(_ANSWERS) < 0.7
    passes = np.where(is_good, rng.random(_ANSWERS) < 0.95, rng.random(_ANSWERS) < 0.25)
    chosen = rng.choice(_ANSWERS, _LABELLED, replace=False)
    label = pl.Series(np.where(is_good, "good", "bad"))
    return pl.DataFrame(
        {
            "question": [f"q{number}" for number in range(_ANSWERS)],
            "judge": np.where(passes, "pass", "fail"),
            "human": label.set(pl.Series(~np.isin(np.arange(_ANSWERS), chosen)), None),
        }
    )


def labelled_customers() -> pl.DataFrame:
    """1,500 customers of 2022, and whether they left: numbers, categories, dates and gaps."""
    return _customers().filter(pl.col("date") < "2023")[:_CUSTOMERS]


def new_customers() -> pl.DataFrame:
    """Customers of the first three months of 2023, without the outcome."""
    in_time = (pl.col("date") >= "2023-01") & (pl.col("date") < "2023-04")
    return _customers().filter(in_time).drop("left")


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


@uses_tables
def write_examples(out: str | Path) -> tuple[Path, ...]:
    """Write the tables into the folder `out`, which is created if it does not exist.

    Returns the files. No file is ever replaced.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     [file.name for file in write_examples(folder)]
    ['reviews.csv', 'new-reviews.csv', 'verdicts.csv', 'customers.csv', 'new-customers.csv']
    """
    folder = Path(out)
    files = tuple(folder / name for name in EXAMPLES)
    if taken := [file for file in files if file.exists() or file.is_symlink()]:
        raise UserError(
            f"{taken[0]} exists, and examples replace no file; choose another folder",
            arguments=["out"],
        )
    contents = [EXAMPLES[file.name].draw().write_csv().encode() for file in files]
    make_folder(folder)
    check_writable(folder)
    for file, content in zip(files, contents, strict=True):
        write_output(file, content)
    return files


def _reviews() -> pl.DataFrame:
    """Reviews of the synthetic corpus, without those of three stars."""
    corpus = generate(6_000, seed=0)
    rows = np.flatnonzero(corpus.stars != 3)
    sentiment = np.where(corpus.stars[rows] > 3, "positive", "negative")
    return pl.DataFrame({"review": corpus.texts(rows), "sentiment": sentiment})


def _customers() -> pl.DataFrame:
    table = mixed_table(6_000, seed=0)
    return table.columns.with_columns(
        pl.col("age", "visits").cast(pl.Int64),
        site=pl.Series(table.sites),
        date=pl.Series(table.dates),
        left=pl.Series(table.labels),
    )
