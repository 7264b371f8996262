"""The JSON of `quantshift quantify` and `judge` as tables, read from their schemas."""

from typing import Any

from website.tables import code, table


def layout(schema: dict[str, Any], *names: str) -> str:
    """A table of fields for every object (or those with these names), the outermost first.

    Of codes, a table with what each of them means.
    """
    definitions = schema["$defs"]
    named = {name: definitions[name] for name in names or definitions}
    objects = {"The whole": schema, **named}
    return "\n\n".join(_section(name, definition) for name, definition in objects.items())


def _section(name: str, schema: dict[str, Any]) -> str:
    if "properties" not in schema:
        meanings = [(code(str(one["const"])), one["description"]) for one in schema["oneOf"]]
        return f"**{name}**\n\n{table(['code', 'meaning'], meanings)}"
    fields = schema["properties"].items()
    rows = [(code(field), _type(definition)) for field, definition in fields]
    return f"**{name}**\n\n{table(['field', 'type'], rows)}"


def _type(schema: dict[str, Any]) -> str:
    """A type in words.

    >>> _type({"type": "array", "items": {"$ref": "#/$defs/Share"}})
    'list of Share'
    >>> _type({"anyOf": [{"type": "number"}, {"type": "null"}]})
    'number or null'
    """
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        return " or ".join(map(_type, schema["anyOf"]))
    if "const" in schema:
        return str(schema["const"])
    if schema["type"] == "array":
        return f"list of {_type(schema['items'])}"
    if "additionalProperties" in schema:
        return f"object: name to {_type(schema['additionalProperties'])}"
    return "true or false" if schema["type"] == "boolean" else str(schema["type"])
