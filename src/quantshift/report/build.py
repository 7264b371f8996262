"""Everything a reader wants of a run, in one folder: page, tables, figures, and a short summary.

    OUT/report.html      the page, complete in itself
    OUT/summary.md       verdicts on the paper's findings and the headline means
    OUT/tables/*         every table as LaTeX, Markdown, HTML and CSV
    OUT/figures/*        every figure as PDF, SVG and PNG

Nothing is computed again that the results already hold, and the folder changes only when all is
written: a report that was interrupted leaves the previous one as it was. Files of other names in
the folder are left alone.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from quantshift.errors import DataError, UserError, unknown_name
from quantshift.files import disk_errors, make_folder
from quantshift.report.formats import TABLE_FORMATS, save_tables
from quantshift.report.page import Contents, Provenance, contents_of, provenance_of, render_page
from quantshift.report.page.summary import summary_text
from quantshift.results.description import check_name
from quantshift.results.status import Planned
from quantshift.results.store import ResultStore

FIGURE_FORMATS = ("pdf", "svg", "png")

FORMATS = ("html", *FIGURE_FORMATS, *(name for name in TABLE_FORMATS if name != "html"))
"""All formats: html is the page and the tables, pdf, svg and png figures, the others tables."""

COLUMNS = (
    *("experiment", "cell", "method", "p_train", "alpha_train", "cut_train"),
    *("p_test", "alpha_test", "cut_test", "train_repeat", "repeat", "control", "degree", "size"),
    *("p_true", "p_hat", "clipped", "separation"),
)
"""What a report reads of the results."""


def build_report(
    results: ResultStore | str | Path | pl.DataFrame,
    out: str | Path | None = None,
    *,
    formats: Sequence[str] = FORMATS,
    against_paper: bool = False,
    provenance: Provenance | None = None,
    planned: Planned | None = None,
    progress: Callable[[str], None] | None = None,
) -> list[Path]:
    """Write the report of a store, its folder, or a frame of raw outcomes; returns the files.

    out: default `report` inside the store's folder.
    formats: any of `FORMATS`; summary.md is always written.
    against_paper: add the comparison with the published numbers.
    provenance: for a frame; that of a store is its own.
    planned: cells a store was made for, so that the report tells how complete it is.
    progress: told what is being worked on.
    """
    for name in formats:
        if name not in FORMATS:
            raise unknown_name("report format", name, FORMATS)
    tell = progress or _silent
    if isinstance(results, pl.DataFrame):
        if out is None:
            raise UserError("say where to write the report of a frame: out=DIR")
        frame, origin, target = results, provenance or Provenance({}), Path(out)
    else:
        store = results if isinstance(results, ResultStore) else ResultStore.open(results)
        tell("results")
        frame, origin = store.read().select(COLUMNS).collect(), provenance_of(store, planned)
        target = store.path / "report" if out is None else Path(out)
        if frame.is_empty():
            raise DataError(
                f"{store.path} holds no finished results yet; continue its run and try again"
            )
    for name in frame["experiment"].unique() if "experiment" in frame.columns else ():
        check_name("experiment", name)
    contents = contents_of(frame, against_paper=against_paper, progress=tell)
    with _aside(target) as folder:
        written = _write(contents, origin, folder, formats, tell)
        relative = [path.relative_to(folder) for path in written]
    return [target / path for path in relative]


def _write(
    contents: Contents,
    provenance: Provenance,
    folder: Path,
    formats: Sequence[str],
    tell: Callable[[str], None],
) -> list[Path]:
    written = [folder / "summary.md"]
    written[0].write_text(summary_text(contents, provenance), encoding="utf-8", newline="\n")
    if "html" in formats:
        page = folder / "report.html"
        page.write_text(
            render_page(contents, provenance, progress=tell), encoding="utf-8", newline="\n"
        )
        written.append(page)
    tables = [name for name in formats if name in TABLE_FORMATS]
    if tables:
        written += save_tables(contents.all_tables, folder / "tables", formats=tables)
    drawn = [name for name in formats if name in FIGURE_FORMATS]
    if drawn:
        written += _figures(contents.rows, folder / "figures", drawn, tell)
    return written


def _figures(
    rows: pl.DataFrame, folder: Path, formats: Sequence[str], tell: Callable[[str], None]
) -> list[Path]:
    # matplotlib takes a second to import, which reports without figures need not wait for.
    from quantshift.report.figures.canvas import save_figure
    from quantshift.report.figures.gallery import gallery
    from quantshift.report.illustrations import (
        concept_illustration,
        covariate_illustration,
        local_illustration,
        overlap_illustration,
        prior_illustration,
    )

    written = []
    for name, figure in gallery(rows):
        tell(f"figure {name}")
        written += save_figure(figure, folder, name, formats=formats)
    for kind, draw in (
        ("prior", prior_illustration),
        ("covariate", covariate_illustration),
        ("local", local_illustration),
        ("concept", concept_illustration),
        ("overlap", overlap_illustration),
    ):
        tell(f"illustration of {kind}")
        written += save_figure(draw(), folder, f"illustration-{kind}", formats=formats)
    return written


@contextmanager
def _aside(target: Path) -> Iterator[Path]:
    """A folder to write to; at the end its files take their places in `target`, others stay."""
    make_folder(target)
    with disk_errors(target):
        folder = Path(tempfile.mkdtemp(prefix=".report-", dir=target))
    try:
        with disk_errors(target):
            yield folder
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            place = target / path.relative_to(folder)
            place.parent.mkdir(exist_ok=True)
            os.replace(path, place)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _silent(_what: str) -> None:
    """Progress nobody wants to see."""
