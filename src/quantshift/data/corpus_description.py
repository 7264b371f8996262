"""The description of a corpus: the data table of the paper, lengths, filters and a few rows.

`describe` reads the corpus and returns plain data; `render` and `render_summary` turn such data
into text. The paper counts the reviews without those of three stars, but computes the star shares
over all five; both counts are given here.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from quantshift.base.text_tables import RENDERERS, Table
from quantshift.data.corpus import Category, Corpus
from quantshift.data.importing.reviews import ImportSummary, SourceSummary, Tally
from quantshift.errors import UserError, unknown_name

FORMATS = (*RENDERERS, "json")
MIDDLE_STAR = 3
SAMPLE_WIDTH = 72


@dataclass(frozen=True)
class Lengths:
    """Lengths of texts in characters: mean, median and the 5th and 95th percentile."""

    mean: float
    median: float
    p5: float
    p95: float


@dataclass(frozen=True)
class CategoryDescription:
    """One category: its size, with and without three stars, its star shares and its lengths."""

    name: str
    n_documents: int
    n_without_middle: int
    star_shares: tuple[float, ...]
    lengths: Lengths


@dataclass(frozen=True)
class Sample:
    """One row of the corpus."""

    row: int
    category: str
    stars: int
    text: str


@dataclass(frozen=True)
class Description:
    """The result of `describe`; `sources` is empty unless the corpus was imported."""

    hash: str
    n_documents: int
    categories: tuple[CategoryDescription, ...]
    sources: tuple[SourceSummary, ...]
    samples: tuple[Sample, ...]


def describe(corpus: Corpus, *, n_samples: int = 3) -> Description:
    """Describe a corpus, with the first `n_samples` rows of each category."""
    if n_samples < 0:
        raise UserError(f"the number of samples must not be negative, got {n_samples}")
    lengths = _lengths(corpus)
    return Description(
        hash=corpus.hash,
        n_documents=corpus.n_documents,
        categories=tuple(
            _describe_category(category, lengths[corpus.category_codes == code])
            for code, category in enumerate(corpus.category_table)
        ),
        sources=_sources(corpus.origin),
        samples=tuple(_samples(corpus, n_samples)),
    )


def render(description: Description, format: str = "text") -> str:  # noqa: A002 - the option's name
    """A description as text, markdown, latex or json."""
    if format == "json":
        return json.dumps(asdict(description), indent=2, ensure_ascii=False)
    if format not in RENDERERS:
        raise unknown_name("format", format, FORMATS)
    tables = [_data_table(description), _length_table(description)]
    if description.sources:
        tables.append(_filter_table(description.sources))
    parts = [RENDERERS[format](table) for table in tables]
    if description.samples and format != "latex":
        parts.append(_sample_lines(description.samples, indent="    " * (format == "markdown")))
    return "\n\n".join(parts)


def render_summary(summary: ImportSummary) -> str:
    """How many rows of an import were kept and dropped, as text."""
    table = RENDERERS["text"](_filter_table(summary.sources))
    notes = [
        f"kept: texts of at least {summary.min_chars} characters, useful votes at least "
        f"{summary.min_useful}",
        *(
            f"{source.name} has no votes: the filter on useful votes was not applied"
            for source in summary.sources
            if not source.has_votes and summary.min_useful > 0
        ),
        *(
            f"{source.name}, first row skipped: {source.first_malformed}"
            for source in summary.sources
            if source.first_malformed
        ),
    ]
    return "\n".join([table, "", *notes])


def _lengths(corpus: Corpus) -> NDArray[np.int32]:
    """The number of characters (code points) of every text."""
    blocks = [pc.utf8_length(texts).to_numpy() for _, texts in corpus.text_blocks()]
    return np.concatenate([np.empty(0, dtype=np.int32), *blocks])


def _describe_category(category: Category, lengths: NDArray[np.int32]) -> CategoryDescription:
    counts = np.array(category.star_counts)
    n = category.n_documents
    p5, median, p95 = np.percentile(lengths, [5, 50, 95]) if n else (np.nan,) * 3
    return CategoryDescription(
        name=category.name,
        n_documents=n,
        n_without_middle=n - int(counts[MIDDLE_STAR - 1]),
        star_shares=tuple((counts / max(1, n)).tolist()),
        lengths=Lengths(
            mean=float(lengths.mean()) if n else float("nan"),
            median=float(median),
            p5=float(p5),
            p95=float(p95),
        ),
    )


def _sources(origin: Mapping[str, Any]) -> tuple[SourceSummary, ...]:
    if origin.get("kind") != "import":
        return ()
    return tuple(
        SourceSummary(**{**source, "tally": Tally(**source["tally"])})
        for source in origin["sources"]
    )


def _samples(corpus: Corpus, n_samples: int) -> Iterable[Sample]:
    rows = np.concatenate(
        [
            np.flatnonzero(corpus.category_codes == code)[:n_samples]
            for code in range(len(corpus.categories))
        ]
    )
    for row, text in zip(rows.tolist(), corpus.texts(rows), strict=True):
        category = corpus.categories[corpus.category_codes[row]]
        yield Sample(row, category, int(corpus.stars[row]), text)


def _data_table(description: Description) -> Table:
    rows = [
        (
            category.name,
            f"{category.n_documents:,}",
            f"{category.n_without_middle:,}",
            *(f"{share:.3f}" for share in category.star_shares),
        )
        for category in description.categories
    ]
    stars = ("1 star", "2 stars", "3 stars", "4 stars", "5 stars")
    title = f"Reviews and star shares (corpus {description.hash[:12]})"
    return Table(title, ("category", "instances", "without 3 stars", *stars), tuple(rows))


def _length_table(description: Description) -> Table:
    rows = [
        (category.name, *(f"{value:,.0f}" for value in asdict(category.lengths).values()))
        for category in description.categories
    ]
    header = ("category", "mean", "median", "5%", "95%")
    return Table("Length in characters", header, tuple(rows))


def _filter_table(sources: Iterable[SourceSummary]) -> Table:
    sources = tuple(sources)
    rows = [
        (source.name, source.category, *(f"{count:,}" for count in asdict(source.tally).values()))
        for source in sources
    ]
    if len(sources) > 1:
        total = sum((source.tally for source in sources), Tally())
        rows.append(("all", "", *(f"{count:,}" for count in asdict(total).values())))
    counts = ("rows", "malformed", "undecodable", "0 stars", "short", "unvoted", "kept")
    return Table("Rows read and kept", ("source", "category", *counts), tuple(rows))


def _sample_lines(samples: Iterable[Sample], *, indent: str) -> str:
    lines = [
        f"{indent}{sample.row} {sample.category} {sample.stars}* {_one_line(sample.text)}"
        for sample in samples
    ]
    return "\n".join(["First rows", *([""] if indent else []), *lines])


def _one_line(text: str) -> str:
    # Control characters could corrupt a terminal.
    line = "".join(c if c.isprintable() else " " for c in text[: SAMPLE_WIDTH + 1])
    return line if len(text) <= SAMPLE_WIDTH else line[: SAMPLE_WIDTH - 3] + "..."
