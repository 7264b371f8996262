"""Codes for programs that carry their words for people."""

from enum import StrEnum
from typing import Any


class Worded(StrEnum):
    """A closed set of codes, each with its words, which the JSON schema has beside them."""

    words: str

    def __repr__(self) -> str:
        return repr(self.value)

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> Any:
        """The codes one by one, with their words."""
        described = handler(schema)
        content = handler.resolve_ref_schema(described)
        del content["enum"]
        content["oneOf"] = [{"const": code.value, "description": code.words} for code in cls]
        return described
