"""Write the leaderboard of a store: a page, its numbers, comparisons of pairs, LaTeX tables."""

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from quantshift.base.forks import uses_tables
from quantshift.base.storage.csv_text import frame_csv
from quantshift.base.storage.files import Recognises, head, is_page, write_output
from quantshift.lab.leaderboard.contents import Contents, contents_of
from quantshift.lab.leaderboard.latex import MADE_BY, latex_tables
from quantshift.lab.leaderboard.page import render_page
from quantshift.lab.results.store import ResultStore

PAGE, NUMBERS = "leaderboard.html", "leaderboard.csv"
PAIRS, TABLES = "leaderboard-pairs.csv", "leaderboard.tex"

NUMBERS_HEAD = "suite,experiment,part,title,shift,dataset"
PAIRS_HEAD = "suite,measure,method,other"
"""How the files of numbers and of pairs begin, whatever columns later versions add."""


@dataclass(frozen=True)
class Leaderboard:
    """The files that were written.

    numbers: a row per score. pairs: a row per pair of methods. tables: the same in LaTeX, a table
    per suite.
    """

    page: Path
    numbers: Path
    pairs: Path
    tables: Path


@uses_tables
def build_leaderboard(
    results: ResultStore | str | Path,
    out: str | Path | None = None,
    *,
    overwrite: bool = False,
) -> Leaderboard:
    """Write leaderboard.html, .csv, -pairs.csv and .tex of all results in a store or its folder.

    out: an existing folder; default: the store's. overwrite: replace files with these names that
    are not a leaderboard.
    """
    store = results if isinstance(results, ResultStore) else ResultStore.open(results)
    folder = store.path if out is None else Path(out)
    contents = contents_of(store)
    page, numbers = folder / PAGE, folder / NUMBERS
    pairs, tables = folder / PAIRS, folder / TABLES
    text = frame_csv(numbers_of(contents))
    write_output(numbers, text, overwrite=overwrite, ours=_starts_with(NUMBERS_HEAD))
    text = frame_csv(contents.pairs)
    write_output(pairs, text, overwrite=overwrite, ours=_starts_with(PAIRS_HEAD))
    text = latex_tables(contents).encode()
    write_output(tables, text, overwrite=overwrite, ours=_starts_with(MADE_BY))
    write_output(page, render_page(contents).encode(), overwrite=overwrite, ours=is_page)
    return Leaderboard(page, numbers, pairs, tables)


def numbers_of(contents: Contents) -> pl.DataFrame:
    """One row per score, with times; published ones have `source` and `differs`."""
    on = ["experiment", "dataset", "method"]
    times = contents.times.select(*on, "fit_ms", "sample_ms")
    ours = contents.scores.join(times, on=on, how="left", maintain_order="left")
    columns = contents.scores.select("part", "dataset", "title", "shift", "classes", "ordered")
    theirs = contents.published.join(
        columns.unique(["part", "dataset"]), on=["part", "dataset"], maintain_order="left"
    ).select("suite", "experiment", "part", "title", "shift", "dataset", "classes", "ordered",
             "method", "measure", "source", "differs", error="value")  # fmt: skip
    return pl.concat([ours, theirs], how="diagonal_relaxed")


def _starts_with(text: str) -> Recognises:
    return lambda path: head(path).startswith(text.encode())
