"""The ways to show an answer that all of them have in common."""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from quantshift import __version__
from quantshift.answers.batch_names import newest_batch
from quantshift.answers.columns import LeftOutColumn, UsedColumn
from quantshift.answers.conditions import Condition
from quantshift.answers.rows import Rows, besides_rows, much_left_out
from quantshift.answers.shares import headline_share, is_estimated
from quantshift.answers.show.batches import AbstractBatch, Fact
from quantshift.answers.show.notebook import Summary, few_lines, small_table
from quantshift.answers.show.records import as_csv, as_frame
from quantshift.answers.words import some_names
from quantshift.base.storage.files import PAGE_ENDINGS, is_page, write_output
from quantshift.claims import Kind
from quantshift.claims.findings import Finding, Severity

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
    """An answer that can be printed, written to files and shown in notebooks.

    page_module: what draws its page.
    """

    page_module: ClassVar[str]

    @property
    @abstractmethod
    def can_be_estimated(self) -> bool:
        """Whether what the answer is about has an estimate in every batch."""

    @property
    def questions(self) -> tuple[str, ...]:
        """What the user has to answer before more can be claimed."""
        return ()

    @property
    @abstractmethod
    def parts(self) -> Mapping[str, "AboutOneTarget"]:
        """The answer about each of several targets; the only one is nameless."""

    @abstractmethod
    def in_a_line(self) -> list[str]:
        """What is found in the newest batch, for one line."""

    @property
    def said_warnings(self) -> list[str]:
        """What is said as a warning, each in a sentence."""
        return []

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
        # Imported when it is needed: most answers have no page, and templates take long.
        rendered = import_module(self.page_module).render_page(
            self, conditions=conditions, provenance=provenance
        )
        return str(rendered)

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


class AboutOneTarget(AbstractAnswer):
    """An answer about one target: a label with its classes.

    Several of them make an answer about several targets (`answers.targets`), which asks them what
    else is to be said of each. asked_of: the command that answers. reference_name: what shares are
    compared with, as the head of a column; in_reference: where that share is. about_targets: how
    several targets are answered.
    """

    asked_of: ClassVar[str]
    reference_name: ClassVar[str]
    in_reference: ClassVar[str]
    about_targets: ClassVar[str]

    headline: str
    names: Mapping[str, str]
    classes: tuple[str, ...]
    level: float
    by: str | None
    findings: tuple[Finding, ...]
    batches: tuple[AbstractBatch, ...]
    used: tuple[UsedColumn, ...]
    left_out_columns: tuple[LeftOutColumn, ...]

    @property
    def parts(self) -> Mapping[str, "AboutOneTarget"]:
        """The answer itself."""
        return {"": self}

    @abstractmethod
    def held(self, events: Sequence[str]) -> list[str]:
        """The batches for which one of these events holds, in words."""

    @property
    def told(self) -> tuple[AbstractBatch, ...]:
        """The batches of which everything is said."""
        return self.batches

    @property
    @abstractmethod
    def all_rows(self) -> tuple[Rows, ...]:
        """How many rows of each table were read and used."""

    @abstractmethod
    def reference(self, batch: Any) -> float | None:
        """What the share of the headline class in a batch is compared with."""

    @abstractmethod
    def facts(self) -> Iterator[Fact]:
        """How the answer was found, and what else there is to say."""

    @property
    def can_be_estimated(self) -> bool:
        """Whether the headline class has an estimate in every batch."""
        return is_estimated(self)

    def is_unknown(self, batch: AbstractBatch) -> bool:
        """Whether the headline class cannot be estimated in a batch."""
        return not (headline_share(self, batch).is_known and batch.can_be_estimated)

    def all_findings(self) -> list[Finding]:
        """Everything that was found, about all batches or one of them."""
        batches = (*self.told, *self.batches)
        of_batches = (found for batch in batches for found in batch.findings)
        return list(dict.fromkeys([*self.findings, *of_batches]))

    def shown_findings(self) -> list[Finding]:
        """Warnings and notes, except what comes first and what is said under `Rows`."""
        found = besides_rows(self.all_findings())
        return [finding for finding in found if finding.severity is not Severity.ADVICE]

    def alarms(self) -> list[str]:
        """What must come first: tables that lost many rows."""
        return [found.sentence for found in much_left_out(self.findings)]


def worse_elsewhere(answers: Mapping[str, AboutOneTarget]) -> list[str]:
    """The batches without an estimate, or with a range, unless the newest batch is one of them.

    The first word of a line is about all batches, and the rest about the newest. answers: by
    target; the only one has no name.
    """
    newest = {newest_batch(answer.batches).name for answer in answers.values()}
    for kind in (Kind.CANNOT, Kind.RANGE, Kind.EITHER):
        found = [
            (target, batch.name)
            for target, answer in answers.items()
            for batch in answer.batches
            if (batch.kind is kind if kind is not Kind.CANNOT else answer.is_unknown(batch))
        ]
        if any(name in newest for _, name in found):
            return []
        if found:
            names = [f"{target} in {name}" if target else name for target, name in found]
            return [f"{kind.words}: {some_names(names)}"]
    return []
