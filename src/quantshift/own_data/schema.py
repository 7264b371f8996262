"""The layout of the JSON, as a JSON schema made from the dataclasses themselves."""

from typing import Any

from pydantic import TypeAdapter

from quantshift.own_data.result import FORMAT, Quantification


def json_schema() -> dict[str, Any]:
    """The JSON schema (draft 2020-12) of what `Quantification.to_json` gives."""
    return schema_of(Quantification, FORMAT)


def schema_of(result: type, version: int) -> dict[str, Any]:
    """The JSON schema of a result and the version of its layout."""
    schema = TypeAdapter(result).json_schema(mode="serialization")
    about = {"const": version, "title": "Format", "description": "version of this layout"}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "properties": {"format": about, **schema["properties"]},
        "required": ["format", *schema["properties"]],
    }
