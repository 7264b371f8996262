"""Import files of reviews into a data set: read, filter and write in bounded memory.

Lines are read in parallel: a reading thread decompresses, workers parse and filter, the calling
thread compresses and writes. The workers are threads for small inputs and processes for large ones,
where parsing is most of the work and the GIL would leave the other cores idle. Blocks are written
in the order in which they were read, so that the data set does not depend on the number or kind of
workers. Tables are filtered a column at a time, which is fast enough in one thread.

A file is refused if more than half of its first thousand rows are malformed or undecodable: it has
another format.
"""

from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from quantshift.base.forks import uses_tables
from quantshift.base.processes import WorkerPool
from quantshift.base.storage.files import file_sha256
from quantshift.errors import DataError, UserError
from quantshift.lab.data.importing.options import ImportOptions, ReviewLimits
from quantshift.lab.data.importing.review_folder import ReviewsWriter, new_reviews
from quantshift.lab.data.importing.review_layouts import (
    Block,
    ReviewColumns,
    ReviewLayout,
    ReviewPart,
    ReviewTally,
    Sifted,
    read_parts,
    sift,
)
from quantshift.lab.data.sets.content import RowCounts
from quantshift.lab.data.sets.folder import DataFolder
from quantshift.tables.columns.names import check_data_set_name
from quantshift.tables.files.broken_files import explained
from quantshift.tables.reading import Progress

LARGE_BYTES = 100_000_000
"""Larger sources (in total) are filtered by processes, which take a second or two to start."""

OnBlock = Callable[[Sifted, int], None]
"""Takes the rows of a block that are kept, and how many bytes of the file have been read."""


@dataclass(frozen=True)
class ReviewFile:
    """A file and the category its reviews belong to."""

    category: str
    path: Path

    @classmethod
    def parse(cls, text: str) -> "ReviewFile":
        """From `NAME=FILE`.

        >>> ReviewFile.parse("Books=reviews_Books.json.gz").category
        'Books'
        """
        category, equals, path = text.partition("=")
        if not equals or not category.strip() or not path:
            raise UserError(f"{text!r} is not NAME=FILE; write for instance Books=reviews.json.gz")
        return cls(category, Path(path))


@dataclass(frozen=True)
class SourceSummary:
    """A file of reviews, and how many of its rows were kept or dropped."""

    file: str
    category: str
    bytes: int
    sha256: str
    layout: str
    has_votes: bool
    first_malformed: str | None
    tally: ReviewTally


def import_reviews(
    files: Sequence[ReviewFile],
    out: str | Path,
    *,
    text: str = "text",
    stars: str = "stars",
    min_chars: int = ReviewLimits.min_chars,
    min_useful: int = ReviewLimits.min_useful,
    lenient: bool = False,
    options: ImportOptions = ImportOptions(),  # noqa: B008 - frozen
    workers: int = 2,
    progress: Progress = None,
) -> DataFolder:
    """Import files of reviews into the data-set folder `out`.

    Categories are in the order of their first file; several files of one category follow one
    another. After an error or an interruption nothing is left behind.

    text, stars: columns of the files that are tables. min_chars, min_useful: drop shorter texts,
    and reviews with fewer useful votes where there are votes. lenient: every line of a CSV file is
    a row, and misplaced quotes are literal. options: name, title and overwrite.
    """
    limits, columns = ReviewLimits(min_chars, min_useful), ReviewColumns(text, stars, lenient)
    return import_limited(files, out, limits, columns, options, workers, progress)


@uses_tables
def import_limited(
    files: Sequence[ReviewFile],
    out: str | Path,
    limits: ReviewLimits,
    columns: ReviewColumns,
    options: ImportOptions,
    workers: int = 2,
    progress: Progress = None,
) -> DataFolder:
    """`import_reviews` with its limits and columns as one argument each."""
    if limits.min_chars < 0 or limits.min_useful < 0:
        raise UserError(
            f"limits must not be negative, got min_chars={limits.min_chars} and "
            f"min_useful={limits.min_useful}"
        )
    if workers < 1:
        raise UserError(f"at least 1 worker is needed, got {workers}")
    if options != ImportOptions(
        name=options.name, title=options.title, overwrite=options.overwrite
    ):
        raise UserError(
            "reviews become a data set as they are: only its name, its title and whether to "
            "overwrite an older one can be chosen"
        )
    if options.name is not None:
        check_data_set_name(options.name)
    ordered, categories = _in_category_order(files)
    sizes = [_size(file.path) for file in ordered]
    summaries: list[SourceSummary] = []
    inputs = [file.path for file in ordered]
    with (
        new_reviews(out, categories, overwrite=options.overwrite, inputs=inputs) as writer,
        ThreadPoolExecutor(1) as reader,
        _sifters(workers, sum(sizes)) as sifters,
    ):
        pipeline = _Pipeline(
            reader, sifters, partial(sift, limits=limits, columns=columns), 2 * workers
        )
        for number, file in enumerate(ordered):
            write = _writing(writer, categories.index(file.category))
            done = sum(sizes[:number]), sum(sizes)
            on_block = _reporting(write, progress, file.path.name, *done) if progress else write
            parts = read_parts(file.path, columns)
            summaries.append(_import_file(file, parts, pipeline, on_block))
        _check_kept(categories, summaries, limits)
        return writer.commit(
            _about(summaries, limits),
            name=options.name,
            title=options.title,
            on_counted=None if progress is None else partial(progress, "counting words"),
        )


def _writing(writer: ReviewsWriter, code: int) -> OnBlock:
    def write(sifted: Sifted, _: int) -> None:
        codes = np.full(len(sifted.stars), code, dtype=np.int16)
        writer.write(codes, sifted.stars, sifted.texts)

    return write


def _reporting(
    on_block: OnBlock, progress: Callable[[str, int, int], None], name: str, before: int, total: int
) -> OnBlock:
    def write(sifted: Sifted, position: int) -> None:
        on_block(sifted, position)
        progress(name, before + position, total)

    return write


def _about(summaries: Sequence[SourceSummary], limits: ReviewLimits) -> dict[str, Any]:
    """The entries of the manifest that say where the reviews come from."""
    total = sum((summary.tally for summary in summaries), ReviewTally())
    left_out = {
        "malformed": total.malformed,
        "not UTF-8": total.undecodable,
        "0 stars": total.zero_stars,
        f"fewer than {limits.min_chars:,} characters": total.short,
        f"fewer useful votes than {limits.min_useful:,}": total.unvoted,
    }
    notes = []
    for summary in summaries:
        if limits.min_useful and not summary.has_votes:
            notes.append(f"{summary.file} has no votes: the filter on useful votes was not applied")
        if summary.first_malformed:
            notes.append(f"{summary.file}, first row skipped: {summary.first_malformed}")
    return {
        "rows": asdict(
            RowCounts(total.rows, total.kept, {reason: n for reason, n in left_out.items() if n})
        ),
        "options": asdict(limits),
        "sources": [asdict(summary) for summary in summaries],
        "notes": notes,
    }


def _sifters(workers: int, n_bytes: int) -> Executor:
    if workers == 1 or n_bytes < LARGE_BYTES:
        return ThreadPoolExecutor(workers)
    return WorkerPool(workers)


@dataclass(frozen=True)
class _Pipeline:
    """Filters blocks in parallel and yields them in the same order, with a few in progress."""

    reader: Executor
    sifters: Executor
    sift: Callable[[Block, ReviewLayout], Sifted]
    ahead: int

    def run(self, part: ReviewPart) -> Generator[tuple[Sifted, int]]:
        if part.layout.parse is None:
            for block, position in part.blocks:
                yield self.sift(block, part.layout), position
            return
        pending: deque[tuple[Future[Sifted], int]] = deque()
        next_block = self.reader.submit(next, part.blocks, None)
        try:
            while (block_and_position := next_block.result()) is not None:
                next_block = self.reader.submit(next, part.blocks, None)
                block, position = block_and_position
                pending.append((self.sifters.submit(self.sift, block, part.layout), position))
                if len(pending) > self.ahead:
                    yield _finished(pending.popleft())
            while pending:
                yield _finished(pending.popleft())
        finally:
            # The files are closed next, so no thread may still be reading them.
            wait([future for future, _ in pending])
            wait([next_block])


def _finished(work: tuple[Future[Sifted], int]) -> tuple[Sifted, int]:
    return work[0].result(), work[1]


def _import_file(
    file: ReviewFile, reading: Generator[ReviewPart], pipeline: _Pipeline, on_block: OnBlock
) -> SourceSummary:
    tally, first_malformed = ReviewTally(), None
    layouts: list[ReviewLayout] = []
    with closing(reading) as parts:
        for part in parts:
            layouts.append(part.layout)
            judge = _Judge(part.name, part.layout)
            with closing(pipeline.run(part)) as sifted_blocks:
                for sifted, position in sifted_blocks:
                    judge.see(sifted)
                    tally += sifted.tally
                    on_block(sifted, position)
            judge.decide()
            first_malformed = first_malformed or judge.first_bad
    return SourceSummary(
        file=file.path.name,
        category=file.category,
        bytes=_size(file.path),
        sha256=file_sha256(file.path),
        layout="+".join(dict.fromkeys(layout.name for layout in layouts)),
        has_votes=any(layout.has_votes for layout in layouts),
        first_malformed=first_malformed,
        tally=tally,
    )


class _Judge:
    """Decides by the first rows of a file whether its content matches its name."""

    def __init__(self, name: str, layout: ReviewLayout) -> None:
        self.name = name
        self.layout = layout
        self.first_bad: str | None = None
        self.n_rows = 0
        self.n_bad = 0

    def see(self, sifted: Sifted) -> None:
        self.n_rows += sifted.n_judged
        self.n_bad += sifted.n_judged_bad
        self.first_bad = self.first_bad or sifted.first_bad
        if sifted.tally.rows > sifted.n_judged:
            self.decide()

    def decide(self) -> None:
        if self.n_rows == 0:
            raise DataError(f"{self.name}: the file is empty")
        if self.n_bad > self.n_rows / 2:
            raise DataError(
                f"{self.name}: {self.n_bad} of the first {self.n_rows} {self.layout.unit}s are not "
                f"reviews ({self.first_bad}); by its name it should be {self.layout.looks_like}"
            )


def _in_category_order(
    files: Sequence[ReviewFile],
) -> tuple[list[ReviewFile], tuple[str, ...]]:
    """The files grouped by category, and the categories in order of first mention."""
    if not files:
        raise UserError("nothing to import: give at least one file as NAME=FILE")
    categories = tuple(dict.fromkeys(file.category for file in files))
    spellings: dict[str, str] = {}
    for category in categories:
        if not category.strip():
            raise UserError("a category needs a name; write NAME=FILE")
        other = spellings.setdefault("".join(category.split()).casefold(), category)
        if other != category:
            raise UserError(
                f"categories {other!r} and {category!r} differ only in case or blanks; "
                "use the same spelling to append, or choose another name"
            )
    seen: set[Path] = set()
    for file in files:
        path = file.path.resolve()
        if path in seen:
            raise UserError(f"{file.path} is given twice; its reviews would count twice")
        seen.add(path)
    return [file for category in categories for file in files if file.category == category], (
        categories
    )


def _size(path: Path) -> int:
    """Size of a file in bytes; refused if it cannot be opened."""
    with explained(str(path)), path.open("rb") as file:
        return file.seek(0, 2)


def _check_kept(
    categories: Sequence[str], summaries: Sequence[SourceSummary], limits: ReviewLimits
) -> None:
    for category in categories:
        tallies = [summary.tally for summary in summaries if summary.category == category]
        tally = sum(tallies, ReviewTally())
        if tally.kept == 0:
            cure = "min_useful" if tally.unvoted > tally.short else "min_chars"
            raise DataError(
                f"category {category!r}: none of its {tally.rows} rows passed the filters "
                f"({tally.short} short, {tally.unvoted} without enough votes); lower {cure}, which "
                f"is {getattr(limits, cure)}",
                arguments=[cure],
            )
