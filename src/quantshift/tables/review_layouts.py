"""The supported layouts of review files, and the parsers of their rows.

- `json`: a JSON object per line as in McAuley's crawls, `reviewText`, `overall` and the votes,
  either `helpful` = [useful, total] or the newer `vote`, a string such as "1,234". The newer crawl
  leaves `vote` out when there is none, so no field means no vote.
- `tabbed`: `star<TAB>text`, the layout of the public data set (Zenodo record 8421611); no votes.
- `csv`, `tsv`, `parquet`: a table with a column of texts and one of stars; no votes.

A row parser takes the reader's row for one review and returns (stars, text, useful votes or None);
it raises `MalformedRow` with the reason, or `UnicodeDecodeError`. Stars are 0 to 5: reviews of 0
stars are dropped later.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from types import MappingProxyType
from typing import Any, TypeAlias

from quantshift.errors import UserError

Row: TypeAlias = tuple[int, str, int | None]
RowParser: TypeAlias = Callable[[Any], Row]


class MalformedRow(ValueError):  # noqa: N818 - an outcome that is counted, not an error
    """A row that is not a review; the message says what is wrong with it."""


@dataclass(frozen=True)
class Layout:
    """The layout of reviews in a file, and what its rows are called in messages."""

    name: str
    looks_like: str
    unit: str
    has_votes: bool
    parse: RowParser


def json_row(line: bytes) -> Row:
    """A line of McAuley's crawls."""
    text_of_line = line.decode("utf-8")
    try:
        review = json.loads(text_of_line)
    except (ValueError, RecursionError) as error:
        raise MalformedRow("not a JSON object") from error
    if not isinstance(review, dict):
        raise MalformedRow("not a JSON object")
    text = review.get("reviewText")
    if not isinstance(text, str):
        raise MalformedRow("no reviewText")
    # JSON can contain a lone surrogate, which UTF-8 cannot encode. Searching for one character is
    # many times faster than for two, and decides most lines.
    if "\\" in text_of_line and "\\u" in text_of_line:
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise MalformedRow("a lone surrogate in reviewText") from error
    return _star_number(review.get("overall")), text, _useful_votes(review)


def tabbed_row(line: bytes) -> Row:
    """A line `star<TAB>text`."""
    star, tab, text = line.partition(b"\t")
    if not tab:
        raise MalformedRow("no tab")
    return _star_text(star), text.decode("utf-8"), None


def table_row(values: tuple[Any, bytes | None] | None) -> Row:
    """A (star, text) pair of a table, the text still in bytes; None for a ragged row."""
    if values is None:
        raise MalformedRow("wrong number of columns")
    star, text = values
    if text is None:
        raise MalformedRow("no text")
    stars = _star_text(star) if isinstance(star, bytes) else _star_number(star)
    return stars, text.decode("utf-8"), None


LAYOUTS: Mapping[str, Layout] = MappingProxyType(
    {
        layout.name: layout
        for layout in (
            Layout("json", "one JSON object per line", "line", True, json_row),
            Layout("tabbed", "star<TAB>text", "line", False, tabbed_row),
            Layout("csv", "comma-separated values", "row", False, table_row),
            Layout("tsv", "tab-separated values with a header", "row", False, table_row),
            Layout("parquet", "Parquet", "row", False, table_row),
        )
    }
)

_SUFFIXES = MappingProxyType(
    {
        ".json": "json",
        ".jsonl": "json",
        ".ndjson": "json",
        ".txt": "tabbed",
        "": "tabbed",
        ".csv": "csv",
        ".tsv": "tsv",
        ".parquet": "parquet",
    }
)


def layout_of(name: str) -> Layout:
    """The layout of a file, by its name without `.gz`."""
    suffix = PurePath(name).suffix.lower()
    if suffix not in _SUFFIXES:
        known = ", ".join(sorted(filter(None, _SUFFIXES)))
        raise UserError(
            f"{name}: unknown format {suffix!r}; known: {known}, and all except Parquet as .gz or "
            ".zip"
        )
    return LAYOUTS[_SUFFIXES[suffix]]


_STAR_TEXTS = MappingProxyType(
    {spelling.encode(): star for star in range(6) for spelling in (f"{star}", f"{star}.0")}
)

_STAR_NUMBERS = MappingProxyType({star: star for star in range(6)})


def _star_text(star: bytes) -> int:
    stars = _STAR_TEXTS.get(star.strip())
    if stars is None:
        raise MalformedRow(f"the number of stars is {_shown(star)}, not 1 to 5")
    return stars


def _star_number(star: Any) -> int:
    if star is None:
        raise MalformedRow("no number of stars")
    stars = _STAR_NUMBERS.get(star) if type(star) in (int, float) else None
    if stars is None:
        raise MalformedRow(f"the number of stars is {_shown(star)}, not 1 to 5")
    return stars


def _useful_votes(review: Mapping[str, Any]) -> int:
    helpful = review.get("helpful")
    if helpful is not None:
        if isinstance(helpful, list) and helpful and type(helpful[0]) is int:
            return helpful[0]
        raise MalformedRow("helpful is not [useful, total]")
    vote = review.get("vote")
    if vote is None:
        return 0
    try:
        return int(str(vote).replace(",", ""))
    except ValueError as error:
        raise MalformedRow(f"vote is {_shown(vote)}, not a number") from error


def _shown(value: Any) -> str:
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    return repr(text if len(text) <= 20 else text[:20] + "...")
