"""Import raw review files into a corpus: read, filter and write in parallel, in bounded memory.

A reading thread decompresses, workers parse and filter, the calling thread compresses and writes.
The workers are threads for small inputs and processes for large ones, where parsing is most of the
work and the GIL would leave the other cores idle. Blocks are written in the order in which they
were read, so that the corpus does not depend on the number or kind of workers.

Every row is counted once: kept, or under the first reason for which it was dropped. The reasons, in
this order: malformed (not a review: no tab, no JSON object, a missing field, stars that are not 0
to 5), undecodable (bytes that are not UTF-8), zero stars, short (fewer than `min_chars` characters,
i.e. Unicode code points of the unchanged text), unvoted (fewer than `min_useful` useful votes;
applied only to layouts that have votes). Empty lines are not rows. A file is refused if more than
half of its first thousand rows are malformed or undecodable: it has another format.
"""

import hashlib
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from quantshift.base.processes import WorkerPool
from quantshift.data.corpus import Corpus, CorpusWriter, Texts
from quantshift.errors import DataError, UserError
from quantshift.tables.readers import Block, Columns, explained, read_parts
from quantshift.tables.review_layouts import Layout, MalformedRow

MIN_CHARS = 200
MIN_USEFUL = 1
JUDGED_ROWS = 1000
"""The number of rows that decide whether a file has the expected format."""

LARGE_BYTES = 100_000_000
"""Larger sources (in total) are filtered by processes, which take a second or two to start."""


@dataclass(frozen=True)
class Source:
    """A file and the category its reviews belong to."""

    category: str
    path: Path


@dataclass(frozen=True)
class Tally:
    """How many rows of a source were kept or dropped; `rows` is the sum of the others."""

    rows: int = 0
    malformed: int = 0
    undecodable: int = 0
    zero_stars: int = 0
    short: int = 0
    unvoted: int = 0
    kept: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))


@dataclass(frozen=True)
class SourceSummary:
    """One source file, and how many of its rows were kept or dropped."""

    category: str
    name: str
    bytes: int
    sha256: str
    layout: str
    has_votes: bool
    first_malformed: str | None
    tally: Tally


@dataclass(frozen=True)
class ImportSummary:
    """An import: the new corpus, the filters and the sources."""

    corpus: Corpus
    min_chars: int
    min_useful: int
    sources: tuple[SourceSummary, ...]

    @property
    def total(self) -> Tally:
        """The tallies of all sources together."""
        return sum((source.tally for source in self.sources), Tally())


@dataclass(frozen=True)
class ImportProgress:
    """The progress of an import: bytes of the source files read, rows read and kept."""

    file: str
    bytes_done: int
    bytes_total: int
    rows: int
    kept: int


def parse_source(text: str) -> Source:
    """A source from `NAME=FILE`.

    >>> parse_source("Books=reviews_Books.json.gz").category
    'Books'
    """
    category, equals, path = text.partition("=")
    if not equals or not category.strip() or not path:
        raise UserError(f"{text!r} is not NAME=FILE; write for instance Books=reviews.json.gz")
    return Source(category, Path(path))


def import_reviews(
    sources: Sequence[Source],
    out: str | Path,
    *,
    min_chars: int = MIN_CHARS,
    min_useful: int = MIN_USEFUL,
    text_column: str = "text",
    stars_column: str = "stars",
    lenient: bool = False,
    overwrite: bool = False,
    workers: int = 2,
    progress: Callable[[ImportProgress], None] | None = None,
) -> ImportSummary:
    """Import review files into a new corpus folder `out`.

    Categories are in the order of their first source; several sources of one category follow one
    another. After an error or an interruption nothing is left behind. With `lenient`, every line of
    a CSV or TSV file is a row, and misplaced quotes are literal.
    """
    if min_chars < 0 or min_useful < 0:
        raise UserError(f"limits must not be negative, got {min_chars=} and {min_useful=}")
    if workers < 1:
        raise UserError(f"at least 1 worker is needed, got {workers}")
    ordered, categories = _in_category_order(sources)
    sizes = [_size(source.path) for source in ordered]
    columns = Columns(text=text_column, stars=stars_column)
    sift = partial(_sift, min_chars=min_chars, min_useful=min_useful)
    summaries: list[SourceSummary] = []

    def report(position: int, tally: Tally) -> None:
        if progress is not None:
            done = sum((summary.tally for summary in summaries), tally)
            read = sum(sizes[: len(summaries)]) + position
            name = ordered[len(summaries)].path.name
            progress(ImportProgress(name, read, sum(sizes), done.rows, done.kept))

    inputs = [source.path for source in ordered]
    with (
        CorpusWriter(out, categories=categories, overwrite=overwrite, inputs=inputs) as writer,
        ThreadPoolExecutor(1) as reader,
        _sifters(workers, sum(sizes)) as sifters,
    ):
        for source in ordered:
            code = categories.index(source.category)
            pipeline = _Pipeline(reader, sifters, sift, 2 * workers)
            write = partial(_write, writer, code)
            summaries.append(
                _import_source(source, columns, pipeline, write, report, lenient=lenient)
            )
        _check_kept(categories, summaries, min_chars=min_chars, min_useful=min_useful)
        options = {
            "min_chars": min_chars,
            "min_useful": min_useful,
            "text_column": text_column,
            "stars_column": stars_column,
        }
        records = [asdict(summary) for summary in summaries]
        corpus = writer.commit(origin={"kind": "import", "options": options, "sources": records})
    return ImportSummary(corpus, min_chars, min_useful, tuple(summaries))


@dataclass(frozen=True)
class _Sifted:
    """The rows kept from a block, its tally, and how many of the file's first rows were bad."""

    stars: NDArray[np.int8]
    texts: Texts
    tally: Tally
    first_bad: tuple[int, str] | None
    n_judged: int
    n_judged_bad: int
    position: int


def _sift(block: Block, layout: Layout, *, min_chars: int, min_useful: int) -> _Sifted:
    parse = layout.parse
    stars: list[int] = []
    texts: list[bytes] = []
    bad_rows: list[tuple[int, str]] = []
    rows = n_judged = undecodable = zero_stars = short = unvoted = 0
    for number, row in enumerate(_rows(block), block.first):
        if row == b"":
            continue
        rows += 1
        n_judged += number <= JUDGED_ROWS
        try:
            star, text, useful = parse(row)
        except UnicodeDecodeError:
            undecodable += 1
            bad_rows.append((number, "bytes that are not UTF-8"))
        except MalformedRow as reason:
            bad_rows.append((number, str(reason)))
        else:
            if star == 0:
                zero_stars += 1
            elif len(text) < min_chars:
                short += 1
            elif useful is not None and useful < min_useful:
                unvoted += 1
            else:
                stars.append(star)
                texts.append(text.encode())
    malformed = len(bad_rows) - undecodable
    return _Sifted(
        stars=np.array(stars, dtype=np.int8),
        # From bytes: pyarrow is five times slower with a list of str.
        texts=pa.array(texts, type=pa.binary()).view(pa.string()),
        tally=Tally(rows, malformed, undecodable, zero_stars, short, unvoted, len(stars)),
        first_bad=bad_rows[0] if bad_rows else None,
        n_judged=n_judged,
        n_judged_bad=sum(number <= JUDGED_ROWS for number, _ in bad_rows),
        position=block.position,
    )


def _rows(block: Block) -> Sequence[Any]:
    if not isinstance(block.rows, bytes):
        return block.rows
    lines = block.rows
    # Most files have no carriage return, and searching for a single byte is cheap.
    if b"\r" in lines:
        lines = lines.replace(b"\r\n", b"\n")
    return lines.split(b"\n")


def _sifters(workers: int, n_bytes: int) -> Executor:
    if workers == 1 or n_bytes < LARGE_BYTES:
        return ThreadPoolExecutor(workers)
    return WorkerPool(workers)


@dataclass(frozen=True)
class _Pipeline:
    """Filters blocks in parallel and yields them in the same order, with a few in progress."""

    reader: Executor
    sifters: Executor
    sift: Callable[[Block, Layout], _Sifted]
    ahead: int

    def run(self, blocks: Iterator[Block], layout: Layout) -> Generator[_Sifted, None, None]:
        pending: deque[Future[_Sifted]] = deque()
        next_block = self.reader.submit(next, blocks, None)
        try:
            while (block := next_block.result()) is not None:
                next_block = self.reader.submit(next, blocks, None)
                pending.append(self.sifters.submit(self.sift, block, layout))
                if len(pending) > self.ahead:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            # The files are closed next, so no thread may still be reading them.
            wait(pending)
            wait([next_block])


def _import_source(
    source: Source,
    columns: Columns,
    pipeline: _Pipeline,
    write: Callable[[_Sifted], None],
    report: Callable[[int, Tally], None],
    *,
    lenient: bool,
) -> SourceSummary:
    tally, first_malformed = Tally(), None
    layouts: list[Layout] = []
    digest = hashlib.sha256()
    reading = read_parts(source.path, columns, lenient=lenient)
    with source.path.open("rb") as file, closing(reading) as parts:
        for part in parts:
            layouts.append(part.layout)
            judge = _Judge(part.name, part.layout)
            hashed = _hashed(part.blocks, file, digest)
            with closing(pipeline.run(hashed, part.layout)) as sifted_blocks:
                for sifted in sifted_blocks:
                    judge.see(sifted)
                    write(sifted)
                    tally += sifted.tally
                    report(sifted.position, tally)
            judge.decide()
            first_malformed = first_malformed or judge.first_bad
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return SourceSummary(
        category=source.category,
        name=source.path.name,
        bytes=_size(source.path),
        sha256=digest.hexdigest(),
        layout="+".join(dict.fromkeys(layout.name for layout in layouts)),
        has_votes=any(layout.has_votes for layout in layouts),
        first_malformed=first_malformed,
        tally=tally,
    )


def _hashed(blocks: Iterator[Block], file: BinaryIO, digest: Any) -> Iterator[Block]:
    """The blocks, while `digest` is updated with the file's bytes up to each block's position."""
    for block in blocks:
        digest.update(file.read(max(0, block.position - file.tell())))
        yield block


def _write(writer: CorpusWriter, code: int, sifted: _Sifted) -> None:
    writer.write(np.full(len(sifted.stars), code, dtype=np.int16), sifted.stars, sifted.texts)


class _Judge:
    """Decides by the first rows of a file whether its content matches its name."""

    def __init__(self, name: str, layout: Layout) -> None:
        self.name = name
        self.layout = layout
        self.first_bad: str | None = None
        self.n_rows = 0
        self.n_bad = 0

    def see(self, sifted: _Sifted) -> None:
        self.n_rows += sifted.n_judged
        self.n_bad += sifted.n_judged_bad
        if self.first_bad is None and sifted.first_bad is not None:
            number, reason = sifted.first_bad
            self.first_bad = f"{self.layout.unit} {number}: {reason}"
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


def _in_category_order(sources: Sequence[Source]) -> tuple[list[Source], tuple[str, ...]]:
    """The sources grouped by category, and the categories in order of first mention."""
    if not sources:
        raise UserError("nothing to import: give at least one source as NAME=FILE")
    categories = tuple(dict.fromkeys(source.category for source in sources))
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
    for source in sources:
        path = source.path.resolve()
        if path in seen:
            raise UserError(f"{source.path} is given twice; its reviews would count twice")
        seen.add(path)
    ordered = [
        source for category in categories for source in sources if source.category == category
    ]
    return ordered, categories


def _size(path: Path) -> int:
    """Size of a file in bytes; refused if it cannot be opened."""
    with explained(str(path)), path.open("rb") as file:
        return file.seek(0, 2)


def _check_kept(
    categories: Sequence[str],
    summaries: Sequence[SourceSummary],
    *,
    min_chars: int,
    min_useful: int,
) -> None:
    for category in categories:
        category_summaries = [summary for summary in summaries if summary.category == category]
        tally = sum((summary.tally for summary in category_summaries), Tally())
        if tally.kept == 0:
            filters = {"min_chars": min_chars, "min_useful": min_useful}
            cure = "min_useful" if tally.unvoted > tally.short else "min_chars"
            raise DataError(
                f"category {category!r}: none of its {tally.rows} rows passed the filters "
                f"({tally.short} short, {tally.unvoted} without enough votes); lower {cure}, which "
                f"is {filters[cure]}",
                arguments=[cure],
            )
