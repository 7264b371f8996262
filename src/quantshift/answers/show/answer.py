"""The ways to show an answer that all of them have in common."""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from quantshift import __version__
from quantshift.answers.conditions import Condition
from quantshift.answers.shares import SharesOfBatch
from quantshift.answers.show.notebook import Summary, few_lines, small_table
from quantshift.answers.show.records import as_csv, as_frame
from quantshift.base.storage.files import PAGE_ENDINGS, is_page, write_output
from quantshift.claims.findings import Finding

DRAFT = "https://json-schema.org/draft/2020-12/schema"
"""The dialect of our JSON schemas."""

FORMAT = 1
"""Version of the layout of the JSON of all answers."""

MADE_BY = {
    "format": {"const": FORMAT, "title": "Format", "description": "version of this layout"},
    "version": {"type": "string", "title": "Version", "description": "that of quantshift"},
}
"""The properties that say what wrote a JSON."""


def json_schema_of(result: type) -> dict[str, Any]:
    """The JSON schema (draft 2020-12) of what `to_json` of a type of answer gives."""
    from pydantic import TypeAdapter

    schema = _without_examples(TypeAdapter(result).json_schema(mode="serialization"))
    properties = {**MADE_BY, **schema["properties"]}
    return {
        "$schema": DRAFT,
        **schema,
        "properties": properties,
        "required": list(properties),
    }


def _without_examples(schema: Any) -> Any:
    """A schema whose descriptions, which are docstrings, say nothing of Python.

    >>> _without_examples({"description": "A share.\\n\\nExamples\\n--------\\n>>> 1"})
    {'description': 'A share.'}
    """
    if isinstance(schema, list):
        return [_without_examples(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: part.partition("\n\nExamples\n")[0]
        if name == "description" and isinstance(part, str)
        else _without_examples(part)
        for name, part in schema.items()
    }


def json_of(content: Mapping[str, Any]) -> str:
    """JSON that says what wrote it: the version of the layout, and that of quantshift."""
    made_by = {"format": FORMAT, "version": __version__}
    return json.dumps({**made_by, **content}, indent=2, ensure_ascii=False)


def _plain(value: Any) -> Any:
    """Dataclasses, sequences and mappings as JSON has them."""
    if isinstance(value, Finding):
        return value.record()
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {name: _plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return value


class AbstractAnswer(ABC):
    """An answer that can be printed, written to files and shown in notebooks."""

    @property
    @abstractmethod
    def can_be_estimated(self) -> bool:
        """Whether what the answer is about has an estimate in every batch."""

    @property
    def questions(self) -> tuple[str, ...]:
        """What the user has to answer before more can be claimed."""
        return ()

    @abstractmethod
    def to_text(self, *, details: bool = False) -> str:
        """What a terminal shows. details: with all that was tested, of every batch, and of what."""

    def to_json(self) -> str:
        """Everything as JSON, with the version of the layout (`format`) and that of quantshift."""
        return json_of(_plain(self))

    @abstractmethod
    def records(self) -> Iterator[dict[str, Any]]:
        """One row per batch and class.

        Each has `batch`, `items`, `class`, `estimate` (None if only limits are known), `low`,
        `high` and `can_be_estimated`; the other fields depend on the answer.
        """

    @abstractmethod
    def page(
        self,
        *,
        conditions: Sequence[Condition] = (),
        provenance: Sequence[tuple[str, str]] = (),
    ) -> str:
        """A self-contained web page as one string of HTML.

        conditions: thresholds to draw. provenance: how the result was made, such as the command and
        the seed, each with its name.
        """

    @abstractmethod
    def summary(self) -> Summary:
        """A few lines for the interactive shell."""

    def to_html(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write a self-contained web page: one file, for any browser.

        overwrite: also replace a file that is not such a page.
        """
        content = self.page().encode()
        write_output(path, content, overwrite=overwrite, ours=is_page, endings=PAGE_ENDINGS)

    def to_csv(self) -> str:
        """A line per batch and class, with a header."""
        return as_csv(self.records())

    def to_frame(self) -> Any:
        """A data frame with a row per batch and class: pandas if it is installed, else polars."""
        return as_frame(self.records())

    def __repr__(self) -> str:
        """The answer in a few lines."""
        return few_lines(*self.summary())

    def _repr_html_(self) -> str:
        """A small table for notebooks."""
        return small_table(*self.summary())


class AbstractLabelsAnswer(AbstractAnswer):
    """An answer about several labels, each of which takes the place of a class."""

    labels: tuple[str, ...]
    batches: Sequence[SharesOfBatch]

    @property
    def classes(self) -> tuple[str, ...]:
        """The labels."""
        return self.labels

    @property
    def can_be_estimated(self) -> bool:
        """Whether every label has an estimate in every batch."""
        shares = (share for batch in self.batches for share in batch.shares)
        return all(share.estimate is not None for share in shares)

    @property
    def names(self) -> dict[str, str]:
        """How labels are shown."""
        return {label: label for label in self.labels}
