"""The ways to show an answer that all of them have in common."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from quantshift.answers.conditions import Condition
from quantshift.answers.notebook import Summary, few_lines, small_table
from quantshift.answers.records import as_csv, as_frame
from quantshift.base.storage.files import PAGE_ENDINGS, is_page, write_output


def json_schema_of(result: type, version: int) -> dict[str, Any]:
    """The JSON schema of a type of answer with this version of the layout."""
    from pydantic import TypeAdapter

    schema = TypeAdapter(result).json_schema(mode="serialization")
    format_property = {"const": version, "title": "Format", "description": "version of this layout"}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "properties": {"format": format_property, **schema["properties"]},
        "required": ["format", *schema["properties"]],
    }


class AbstractAnswer(ABC):
    """An answer that can be printed, written to files and shown in notebooks."""

    @abstractmethod
    def to_text(self) -> str:
        """What a terminal shows."""

    @abstractmethod
    def to_json(self) -> str:
        """Everything as JSON; `format` is the version of the layout."""

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

    @property
    def classes(self) -> tuple[str, ...]:
        """The labels."""
        return self.labels

    @property
    def names(self) -> dict[str, str]:
        """How labels are shown."""
        return {label: label for label in self.labels}
