"""Write the leaderboard of a store: a page, and all its numbers as a CSV file."""

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from quantshift.base.files import head, is_page, write_output
from quantshift.base.forks import uses_tables
from quantshift.leaderboard.contents import Contents, contents_of
from quantshift.leaderboard.page import render_page
from quantshift.leaderboard.scores import SCHEMA
from quantshift.results.store import ResultStore

PAGE, NUMBERS = "leaderboard.html", "leaderboard.csv"


@dataclass(frozen=True)
class Leaderboard:
    """The files that were written."""

    page: Path
    numbers: Path


@uses_tables
def build_leaderboard(
    results: ResultStore | str | Path,
    out: str | Path | None = None,
    *,
    overwrite: bool = False,
) -> Leaderboard:
    """Write leaderboard.html and leaderboard.csv of all results in a store, or in its folder.

    out: an existing folder; default: the store's. overwrite: replace files with these names that
    are not a leaderboard.
    """
    store = results if isinstance(results, ResultStore) else ResultStore.open(results)
    folder = store.path if out is None else Path(out)
    contents = contents_of(store)
    page, numbers = folder / PAGE, folder / NUMBERS
    text = numbers_of(contents).write_csv().encode()
    write_output(numbers, text, overwrite=overwrite, ours=_is_numbers)
    write_output(page, render_page(contents).encode(), overwrite=overwrite, ours=is_page)
    return Leaderboard(page, numbers)


def numbers_of(contents: Contents) -> pl.DataFrame:
    """One row per score, with times; published ones have `source` and `differs`."""
    on = ["experiment", "dataset", "method"]
    times = contents.times.select(*on, "fit_ms", "sample_ms")
    ours = contents.scores.join(times, on=on, how="left", maintain_order="left")
    places = contents.scores.select("part", "dataset", "title", "shift", "classes", "ordered")
    theirs = contents.published.join(
        places.unique(["part", "dataset"]), on=["part", "dataset"], maintain_order="left"
    ).select("suite", "experiment", "part", "title", "shift", "dataset", "classes", "ordered",
             "method", "measure", "source", "differs", error="value")  # fmt: skip
    return pl.concat([ours, theirs], how="diagonal_relaxed")


def _is_numbers(path: Path) -> bool:
    return head(path).startswith(",".join(SCHEMA.names()).encode())
