"""The JSON schema of the results, made from their dataclasses."""

from typing import Any

from pydantic import TypeAdapter

from quantshift.quantifying.output.result import FORMAT, Quantification


def json_schema() -> dict[str, Any]:
    """The JSON schema (draft 2020-12) of the output of `Quantification.to_json`."""
    return schema_of(Quantification, FORMAT)


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
