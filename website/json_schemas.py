"""The JSON schemas of everything that quantshift prints as JSON, as files of the site.

python -m website.json_schemas            write all of them
python -m website.json_schemas --check    list those that are out of date
"""

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic import TypeAdapter

from quantshift import history, judging, quantifying
from quantshift.answers import TargetAnswers
from quantshift.answers.show.answer import json_schema_of
from quantshift.lab.data.description import Listed
from website.pages import DOCS
from website.tables import code, table

FOLDER = DOCS / "schemas"

_LEVELS = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"name": {"type": "string"}, "items": {"type": "integer"}},
        "required": ["name", "items"],
    },
}
"""Classes, categories or groups, each with its number of items."""


def data_sets() -> dict[str, Any]:
    """The schema of `quantshift data list --format json`."""
    schema = TypeAdapter(list[Listed]).json_schema(mode="serialization")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Data sets",
        **schema,
    }


def data_set() -> dict[str, Any]:
    """The schema of `quantshift data describe --format json`: the description of a data set."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Data set",
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "kind": {"type": "string"},
            "items": {"type": "integer"},
            "title": {"type": "string"},
            "classes": _LEVELS,
            "categories": {"anyOf": [_LEVELS, {"type": "null"}]},
            "groups": {"type": "object", "additionalProperties": _LEVELS},
            "notes": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["name", "kind", "items", "classes", "categories", "groups", "notes"],
    }


def several_targets() -> dict[str, Any]:
    """The schema of an answer about several targets, whichever command gives it."""
    return json_schema_of(TargetAnswers[quantifying.Quantification | judging.Judgement])


SCHEMAS: Mapping[str, tuple[str, Callable[[], dict[str, Any]]]] = MappingProxyType(
    {
        "quantify": ("`quantshift quantify --json`", history.watched_json_schema),
        "judge": ("`quantshift judge --json`", judging.json_schema),
        "targets": (
            "`quantify --label A,B --json` and `judge --pairs A=B,C=D --json` (several labels)",
            several_targets,
        ),
        "history": ("`quantshift history export --as json`", history.json_schema),
        "data-list": ("`quantshift data list --format json`", data_sets),
        "data-describe": ("`quantshift data describe --format json`", data_set),
    }
)
"""For each schema: the command that prints such JSON, and what makes the schema."""


def content(name: str) -> str:
    """The file of a schema."""
    _, schema = SCHEMAS[name]
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def file_of(name: str) -> Path:
    """Where the schema is."""
    return FOLDER / f"{name}.json"


def stale() -> list[Path]:
    """Files that are not what the code says."""
    files = [file_of(name) for name in SCHEMAS]
    missing_or_old = [
        file
        for file in files
        if not file.is_file() or file.read_text(encoding="utf-8") != content(file.stem)
    ]
    return missing_or_old + sorted(set(FOLDER.glob("*")) - set(files))


def overview() -> str:
    """The table of all schemas, with the version of each layout."""
    rows = []
    for name, (command, schema) in SCHEMAS.items():
        version = schema().get("properties", {}).get("format", {}).get("const", "")
        rows.append(
            (command, f"[{name}.json](../schemas/{name}.json)", code(version) if version else "")
        )
    return table(["printed by", "schema", "`format`"], rows)


if __name__ == "__main__":
    old = stale()
    for file in old:
        if "--check" in sys.argv[1:]:
            print(f"{file}: out of date")
        else:
            FOLDER.mkdir(exist_ok=True)
            file.write_text(content(file.stem), encoding="utf-8")
    sys.exit(int(bool(old) and "--check" in sys.argv[1:]))
