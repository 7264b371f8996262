"""The report of a run in one folder: page, tables, figures, and a short summary.

    OUT/report.html      the page, self-contained
    OUT/summary.md       verdicts on the paper's findings and the headline means
    OUT/tables/*         every table as LaTeX, Markdown, HTML and CSV
    OUT/figures/*        every figure as PDF, SVG and PNG

Nothing is recomputed that the results already contain. The folder changes only when everything is
written: a report that was interrupted leaves the previous one unchanged. Files with other names in
the folder are left alone.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from quantshift.base.forks import uses_tables
from quantshift.base.imports import extra_needed
from quantshift.base.nouns import counted
from quantshift.base.processes import WorkerPool
from quantshift.base.storage.files import (
    check_new_folder,
    check_replaceable,
    check_writable,
    disk_errors,
    head,
    is_page,
    make_folder,
    write_errors,
)
from quantshift.errors import DataError, MissingPackageError, UserError, unknown_name
from quantshift.lab.report.formats import TABLE_FORMATS, save_tables
from quantshift.lab.report.options import FIGURE_FORMATS, FORMATS, ReportOptions
from quantshift.lab.report.page import Contents, Provenance, contents_of, provenance_of, render_page
from quantshift.lab.report.page.gaps import gaps_of
from quantshift.lab.report.page.sections import sections_of
from quantshift.lab.report.page.summary import TITLE, summary_text
from quantshift.lab.report.style.wording import subjects_of
from quantshift.lab.results.about import About
from quantshift.lab.results.completeness import Planned
from quantshift.lab.results.description import REPORT, check_name
from quantshift.lab.results.schema import CORE, is_estimate
from quantshift.lab.results.store import ResultStore
from quantshift.metrics import measure_called

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SUMMARY, PAGE = "summary.md", "report.html"

UNREAD = ("setting", "classifier_converged")
"""Core columns that no table or figure shows."""

OnStep = Callable[[str], None]


@dataclass(frozen=True)
class Report:
    """A report that was written: its files, and what is missing, in words."""

    files: tuple[Path, ...]
    gaps: tuple[str, ...]


def build_report(
    results: ResultStore | str | Path | pl.DataFrame,
    out: str | Path | None = None,
    *,
    measure: str = "ae",
    methods: Sequence[str] | None = None,
    formats: Sequence[str] = FORMATS,
    against_paper: bool = False,
    abouts: Mapping[str, About] | None = None,
    provenance: Provenance | None = None,
    planned: Planned | None = None,
    workers: int = 1,
    overwrite: bool = False,
    progress: OnStep | None = None,
) -> Report:
    """Write the report of a store, its folder, or a frame of raw outcomes.

    out: default `report` inside the store's folder.
    measure: the error measure, any of `quantshift.metrics.MEASURES`; the paper's findings and
        published numbers always use absolute errors.
    methods: only these, in this order; default: all that have results.
    formats: any of `FORMATS`; summary.md is always written. Where matplotlib is not installed, the
        default leaves out the figures and says so.
    against_paper: add the comparison with the published numbers.
    abouts, provenance: only for a frame; a store has its own.
    planned: the cells that the store should contain, so that the report says how complete it is.
    workers: number of processes; the files are the same for any number. With more than one, a
        script must be protected by `if __name__ == "__main__"`.
    overwrite: replace files that have the names of report files but do not belong to a report.
    progress: called with the current step.
    """
    options = ReportOptions(formats, measure, methods, against_paper, overwrite)
    background = Background(abouts or {}, provenance or Provenance({}), planned)
    return write_report(
        results, out, options, background, workers=workers, on_step=progress or _silent
    )


@dataclass(frozen=True)
class Background:
    """What a report says besides the results.

    abouts, provenance: those of a frame; a store has its own. planned: the cells that a store
    should contain.
    """

    abouts: Mapping[str, About]
    provenance: Provenance
    planned: Planned | None


@uses_tables
def write_report(
    results: ResultStore | str | Path | pl.DataFrame,
    out: str | Path | None,
    options: ReportOptions,
    background: Background,
    *,
    workers: int,
    on_step: OnStep,
) -> Report:
    """`build_report` with its options in two groups."""
    measure_called(options.measure)
    for name in options.formats:
        if name not in FORMATS:
            raise unknown_name("report format", name, FORMATS)
    formats, undrawn = _formats_that_can_be_written(options.formats)
    methods = options.methods
    if isinstance(results, pl.DataFrame):
        if out is None:
            raise UserError("say where to write the report of a frame: out=DIR")
        frame, described = _chosen(results, methods), background.abouts
        origin, target = background.provenance, Path(out)
    else:
        store = results if isinstance(results, ResultStore) else ResultStore.open(results)
        target = store.path / REPORT if out is None else Path(out)
        on_step("results")
        described = {name: store.about(name) for name in store.experiments}
        frame = _read(store, described, methods)
        origin = _provenance(store, background.planned, methods)
    _check_estimates(frame)
    check_report_place(target, overwrite=options.overwrite)
    for name in frame["experiment"].unique() if "experiment" in frame.columns else ():
        check_name("experiment", name)
    contents = contents_of(
        frame,
        abouts=described,
        measure=options.measure,
        methods=methods,
        against_paper=options.against_paper,
        progress=on_step,
    )
    del frame
    with _aside(target, overwrite=options.overwrite) as folder:
        written = _write(contents, origin, folder, formats, workers, on_step)
        relative = [path.relative_to(folder) for path in written]
    sections = sections_of(subjects_of(contents.rows, contents.abouts))
    return Report(
        files=tuple(target / path for path in relative),
        gaps=(*undrawn, *gaps_of(sections, origin)),
    )


def _formats_that_can_be_written(formats: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The formats, and what is missing: where nothing can be drawn, "all" is all but figures."""
    without = tuple(name for name in formats if name not in FIGURE_FORMATS)
    if len(without) == len(formats):
        return without, ()
    try:
        with extra_needed(f"figures ({', '.join(FIGURE_FORMATS)})"):
            import_module("matplotlib")
    except MissingPackageError as error:
        if set(formats) < set(FORMATS):
            raise
        return without, (str(error),)
    return tuple(formats), ()


def _read(
    store: ResultStore, abouts: Mapping[str, About], methods: Sequence[str] | None
) -> pl.DataFrame:
    """The rows of a store with the columns that reports show."""
    coordinates = (c.name for about in abouts.values() for c in about.coordinates)
    columns = dict.fromkeys([*(name for name in CORE if name not in UNREAD), *coordinates])
    # Names are categories from the start: as text they would take up half of the memory.
    frame = store.read(methods=methods).select(*columns).cast({pl.String: pl.Categorical}).collect()
    if frame.is_empty():
        of_methods = f" of {', '.join(methods)}" if methods else ""
        raise DataError(
            f"{store.path} holds no finished results{of_methods} yet; continue its run and try "
            "again"
        )
    return frame


def _check_estimates(frame: pl.DataFrame) -> None:
    """Raise if an estimate is not a prevalence: something other than a run has written it."""
    if not {"method", "p_hat"} <= set(frame.columns):
        return
    invalid = frame.filter(~is_estimate())["method"]
    if len(invalid):
        method = invalid[0]
        raise DataError(
            f"{counted(invalid.eq(method).sum(), 'estimate')} of {method} with a negative share or "
            f"another sum than 1: compute the method again (`quantshift run ... --redo {method}`), "
            "or name the methods to report"
        )


def _chosen(frame: pl.DataFrame, methods: Sequence[str] | None) -> pl.DataFrame:
    """The rows of these methods; a method without rows is an error."""
    if methods is None or "method" not in frame.columns:
        return frame
    present = frame["method"].unique()
    for name in methods:
        if name not in present:
            raise unknown_name("method", name, present)
    return frame.filter(pl.col("method").is_in(methods))


def _provenance(
    store: ResultStore, planned: Planned | None, methods: Sequence[str] | None
) -> Provenance:
    """The provenance of these methods' results, without the failures of other methods."""
    if methods is None:
        return provenance_of(store, planned)
    chosen = set(methods)
    chosen_plan = planned and {
        experiment: {
            dataset: [
                (cell, {m: s for m, s in signatures.items() if m in chosen})
                for cell, signatures in cells
            ]
            for dataset, cells in datasets.items()
        }
        for experiment, datasets in planned.items()
    }
    whole = provenance_of(store, chosen_plan)
    failures = (
        replace(failure, methods=tuple(m for m in failure.methods if m in chosen))
        for failure in whole.failures
    )
    return replace(whole, failures=tuple(failure for failure in failures if failure.methods))


def _write(
    contents: Contents,
    provenance: Provenance,
    folder: Path,
    formats: Sequence[str],
    workers: int,
    on_step: OnStep,
) -> list[Path]:
    """Write all files; workers save figures while this process continues."""
    drawn = [name for name in formats if name in FIGURE_FORMATS]
    with _saver(folder / "figures", drawn, workers) as save:
        figures = _figures(contents, save, on_step) if drawn else []
        written = [folder / SUMMARY]
        written[0].write_text(summary_text(contents, provenance), encoding="utf-8", newline="\n")
        if "html" in formats:
            page = folder / PAGE
            text = render_page(contents, provenance, progress=on_step)
            page.write_text(text, encoding="utf-8", newline="\n")
            written.append(page)
        tables = [name for name in formats if name in TABLE_FORMATS]
        if tables:
            written += save_tables(contents.all_tables, folder / "tables", formats=tables)
        on_step("figures")
        return written + [path for saved in figures for path in saved()]


Saved = Callable[[], list[Path]]
"""Waits until the files of a figure are written, and returns them."""


def _figures(
    contents: Contents, save: Callable[["Figure", str], Saved], on_step: OnStep
) -> list[Saved]:
    # Imported here because matplotlib takes a second to import, and only figures need it.
    from quantshift.lab.report.figures.collection import gallery
    from quantshift.lab.report.illustrations import (
        concept_illustration,
        covariate_illustration,
        local_illustration,
        overlap_illustration,
        prior_illustration,
    )

    saved = []
    for name, figure in gallery(
        contents.rows,
        contents.abouts,
        methods=contents.methods or None,
        measure=contents.measure.name,
    ):
        on_step(f"figure {name}")
        saved.append(save(figure, name))
    for kind, draw in (
        ("prior", prior_illustration),
        ("covariate", covariate_illustration),
        ("local", local_illustration),
        ("concept", concept_illustration),
        ("overlap", overlap_illustration),
    ):
        on_step(f"illustration of {kind}")
        saved.append(save(draw(), f"illustration-{kind}"))
    return saved


@contextmanager
def _saver(
    folder: Path, formats: Sequence[str], workers: int
) -> Iterator[Callable[["Figure", str], Saved]]:
    """A function that saves a figure under a name, in this process or in another."""
    if workers < 1:
        raise UserError(f"a report needs at least one process, got workers={workers}")
    if workers == 1 or not formats:

        def save(figure: "Figure", name: str) -> Saved:
            from quantshift.lab.report.figures.canvas import save_figure

            paths = save_figure(figure, folder, name, formats=formats)
            return lambda: paths

        yield save
        return
    pool = WorkerPool(workers - 1)

    def send(figure: "Figure", name: str) -> Saved:
        from quantshift.lab.report.figures.canvas import save_figure

        saving: Future[list[Path]] = pool.submit(save_figure, figure, folder, name, formats=formats)
        return saving.result

    try:
        yield send
    except BaseException:
        pool.stop()
        raise
    pool.shutdown()


def check_report_place(target: Path, *, overwrite: bool = False) -> None:
    """Check that the folder can be written and the report would not replace other files."""
    for name in (SUMMARY, PAGE):
        check_replaceable(target / name, overwrite=overwrite, ours=_is_of_a_report)
    if target.is_dir():
        check_writable(target)
    else:
        check_new_folder(target)


def _is_of_a_report(path: Path) -> bool:
    return is_page(path) or head(path).startswith(TITLE.encode())


@contextmanager
def _aside(target: Path, *, overwrite: bool) -> Iterator[Path]:
    """A temporary folder; at the end its files move to `target`, where other files stay."""
    summary = target / SUMMARY
    has_report = summary.is_file() and _is_of_a_report(summary)
    make_folder(target)
    with disk_errors(target):
        folder = Path(tempfile.mkdtemp(prefix=".report-", dir=target))
    try:
        with disk_errors(target):
            yield folder
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        destinations = {path: target / path.relative_to(folder) for path in files}
        for destination in destinations.values():
            # Next to a summary of ours, tables and figures are ours too.
            check_replaceable(destination, overwrite=overwrite or has_report, ours=_is_of_a_report)
        with write_errors(target):
            for path, destination in destinations.items():
                destination.parent.mkdir(exist_ok=True)
                os.replace(path, destination)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _silent(_step: str) -> None:
    """Ignore progress reports."""
