"""What is written is read back: files of every format, and JSON that follows its schema."""

import json
import re
from typing import Any

import pytest

from tests.formats.made import FORMATS, OUTPUTS
from website.json_schemas import SCHEMAS, file_of
from website.pages import DOCS

EVERY = (*FORMATS, *OUTPUTS)
SCHEMA_OF = {"history-export": "history", "targets-judge": "targets"}
"""Schemas of another name than that of the output."""


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> Any:
    """Files of each format, made once."""
    made = {}

    def folder_of(form):
        if form.name not in made:
            made[form.name] = tmp_path_factory.mktemp(form.name)
            form.make(made[form.name])
        return made[form.name]

    return folder_of


def texts_in(content: Any) -> int:
    """How many numbers and texts some JSON has."""
    if isinstance(content, dict | list):
        inner = content.values() if isinstance(content, dict) else content
        return sum(map(texts_in, inner))
    return 1


@pytest.mark.parametrize("form", EVERY, ids=lambda form: form.name)
def test_what_is_written_is_read(form, folders, tmp_path) -> None:
    found = json.loads(json.dumps(form.read(folders(form))))
    assert texts_in(found) >= 2
    form.make(tmp_path)
    assert json.loads(json.dumps(form.read(tmp_path))) == found


@pytest.mark.parametrize("form", OUTPUTS, ids=lambda form: form.name)
def test_an_output_follows_its_schema(form, folders) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    schema_file = file_of(SCHEMA_OF.get(form.name, form.name))
    schema = json.loads(schema_file.read_text(encoding="utf-8"))
    written = json.loads((folders(form) / f"{form.name}.json").read_text(encoding="utf-8"))
    errors = [
        error.message for error in jsonschema.Draft202012Validator(schema).iter_errors(written)
    ]
    assert errors == []


def test_every_schema_has_an_output() -> None:
    assert {SCHEMA_OF.get(form.name, form.name) for form in OUTPUTS} == set(SCHEMAS)


def test_numbers_of_formats_begin_at_one() -> None:
    assert {form.version for form in EVERY} == {"1"}


def test_the_page_of_formats_has_every_format() -> None:
    page = (DOCS / "reference" / "formats.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| ([a-z -]+) \| ([\d.]+) \|", page, re.MULTILINE))
    assert rows == {form.name.replace("-", " "): form.version for form in EVERY}
