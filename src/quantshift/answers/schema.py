"""The JSON schema of a result, made from its dataclasses."""

from typing import Any

from pydantic import TypeAdapter


def schema_of(result: type, version: int) -> dict[str, Any]:
    """The JSON schema of a type of result with this version of the layout."""
    schema = TypeAdapter(result).json_schema(mode="serialization")
    format_property = {"const": version, "title": "Format", "description": "version of this layout"}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "properties": {"format": format_property, **schema["properties"]},
        "required": ["format", *schema["properties"]],
    }
