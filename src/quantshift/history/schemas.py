"""The JSON schemas of a history, and of an answer that was appended to one."""

from typing import Any

from quantshift.answers.answer import json_schema_of
from quantshift.history.archive import Alarm
from quantshift.history.record import FORMAT, HistoryEntry
from quantshift.quantifying import json_schema as quantification_schema


def json_schema() -> dict[str, Any]:
    """The JSON schema of `History.to_json()`."""
    call = json_schema_of(HistoryEntry, FORMAT)
    definitions = call.pop("$defs")
    layout = call["properties"].pop("format")
    entry = {key: value for key, value in call.items() if key != "$schema"}
    entry["required"] = [name for name in entry["required"] if name != "format"]
    return {
        "$schema": call["$schema"],
        "$defs": {**definitions, "HistoryEntry": entry},
        "title": "History",
        "type": "object",
        "properties": {
            "format": layout,
            "calls": {"type": "array", "items": {"$ref": "#/$defs/HistoryEntry"}},
        },
        "required": ["format", "calls"],
    }


def watched_json_schema() -> dict[str, Any]:
    """The JSON schema of an answer of `quantify`, with what a history says about it, if any."""
    from pydantic import TypeAdapter

    schema = quantification_schema()
    texts = {"type": "array", "items": {"type": "string"}}
    alarm = TypeAdapter(Alarm).json_schema(mode="serialization")
    about_history = {
        "title": "AppendedTo",
        "description": "With a history: where it is, what it says, and files that cannot be read.",
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "alarms": {"type": "array", "items": {"$ref": "#/$defs/Alarm"}},
            "problems": texts,
        },
        "required": ["path", "alarms", "problems"],
    }
    return {
        **schema,
        "$defs": {**schema["$defs"], "Alarm": alarm, "AppendedTo": about_history},
        "properties": {**schema["properties"], "history": {"$ref": "#/$defs/AppendedTo"}},
    }
