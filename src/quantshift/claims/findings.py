"""What is found besides the numbers: codes for programs, sentences for people.

Each room that finds something has one `findings.py`, an enum whose members carry how grave it is
and how it is said. A finding is a member, what it is about, and its numbers; nothing is decided by
its sentence.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any, Self

from quantshift.claims.sentences import Value, filled


class Severity(StrEnum):
    """How grave a finding is: something may be wrong, something should be done, or only to know."""

    WARNING = "warning"
    ADVICE = "advice"
    NOTE = "note"


class Code(StrEnum):
    """A kind of finding; see `quantshift.claims.sentences` for the templates.

    template: of the sentence. of_many: of the sentence for many batches or columns at once, if it
    leaves out what differs between them.
    """

    severity: Severity
    template: str
    of_many: str

    def __new__(cls, value: str, severity: Severity, template: str, of_many: str = "") -> Self:
        """A member with its words."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.severity, member.template = severity, template
        member.of_many = of_many or template
        return member

    def found(
        self,
        *,
        batch: str | None = None,
        target: str | None = None,
        column: str | None = None,
        table: str | None = None,
        **numbers: Value,
    ) -> "Finding":
        """A finding of this kind."""
        return Finding(self, About(batch, target, column, table), numbers)

    @classmethod
    def named(cls, value: str) -> "Code":
        """The code that is written so, of any room that has been imported.

        >>> Code.named("no code")
        Traceback (most recent call last):
        ValueError: there is no finding 'no code'
        """
        known = {code.value: code for room in Code.__subclasses__() for code in room}
        if value not in known:
            raise ValueError(f"there is no finding {value!r}")
        return known[value]

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        """Read and written by its name."""
        from pydantic_core import core_schema

        return core_schema.no_info_after_validator_function(cls.named, core_schema.str_schema())


@dataclass(frozen=True)
class About:
    """What a finding is about, as far as it is about a part of the answer.

    target: one of several labels.
    """

    batch: str | None = None
    target: str | None = None
    column: str | None = None
    table: str | None = None


@dataclass(frozen=True)
class Finding:
    """Something that was found, with its numbers and names."""

    code: Code
    about: About = About()
    numbers: Mapping[str, Value] = field(default_factory=dict, hash=False)

    @property
    def severity(self) -> Severity:
        """How grave it is."""
        return self.code.severity

    @property
    def sentence(self) -> str:
        """In words. The batch and the target are left to those who show them."""
        said = filled(self.code.template, self.numbers)
        if self.about.column is not None:
            said = f"column {self.about.column!r}: {said}"
        return said if self.about.table is None else f"{self.about.table}: {said}"

    def with_numbers(self, **numbers: Value) -> "Finding":
        """The finding with further numbers."""
        return replace(self, numbers={**self.numbers, **numbers})

    def in_table(self, name: str) -> "Finding":
        """The finding, of a table; a part of a table is named after the whole."""
        part = self.about.table
        table = name if part is None else f"{name}: {part}"
        return replace(self, about=replace(self.about, table=table))

    def in_batch(self, name: str) -> "Finding":
        """The finding, of a batch."""
        return replace(self, about=replace(self.about, batch=name))

    def of_target(self, name: str) -> "Finding":
        """The finding, of one of several labels."""
        return replace(self, about=replace(self.about, target=name))

    def record(self) -> dict[str, Any]:
        """The finding in JSON."""
        return {
            "code": self.code.value,
            "severity": self.severity.value,
            "about": asdict(self.about),
            "numbers": dict(self.numbers),
            "sentence": self.sentence,
        }

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> Any:
        """With what follows from the code and the numbers."""
        described = handler(schema)
        content = handler.resolve_ref_schema(described)
        severities = [severity.value for severity in Severity]
        content["properties"] |= {
            "severity": {"enum": severities, "title": "Severity", "type": "string"},
            "sentence": {"title": "Sentence", "type": "string"},
        }
        content["required"] = list(content["properties"])
        return described
