"""The JSON schemas of a history, and of an answer that was appended to one."""

from typing import Any

from quantshift.answers.show.answer import DRAFT, MADE_BY
from quantshift.history.charts.alarms import Alarm
from quantshift.history.kept.record import HistoryEntry
from quantshift.quantifying import json_schema as quantification_schema


def json_schema() -> dict[str, Any]:
    """The JSON schema of `History.to_json()`."""
    from pydantic import TypeAdapter

    entry = TypeAdapter(HistoryEntry).json_schema(mode="serialization")
    definitions = entry.pop("$defs")
    calls = {"type": "array", "items": {"$ref": "#/$defs/HistoryEntry"}}
    return {
        "$schema": DRAFT,
        "$defs": {**definitions, "HistoryEntry": entry},
        "title": "History",
        "type": "object",
        "properties": {**MADE_BY, "calls": calls},
        "required": [*MADE_BY, "calls"],
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
            "drifts": texts,
            "problems": texts,
        },
        "required": ["path", "alarms", "drifts", "problems"],
    }
    return {
        **schema,
        "$defs": {**schema["$defs"], "Alarm": alarm, "AppendedTo": about_history},
        "properties": {**schema["properties"], "history": {"$ref": "#/$defs/AppendedTo"}},
    }
