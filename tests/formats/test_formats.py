"""Files of every format and version that was ever written are read, and give what they gave."""

import json
import math
import re
import shutil
from importlib.metadata import version as installed
from typing import Any

import pytest

import quantshift
from quantshift.errors import DataError
from tests.formats.made import ANSWER, FILES, FORMATS, OUTPUTS
from website.json_schemas import SCHEMAS, file_of
from website.pages import DOCS

EVERY = (*FORMATS, *OUTPUTS)
READ = {form.name: form.read for form in EVERY}
KEPT = sorted(path.name for path in FILES.iterdir()) if FILES.is_dir() else []
MODELS = {form.name for form in FORMATS if form.of_series}
SCHEMA_OF = {"history-export": "history"}
"""Schemas of another name than that of the output."""

LARGEST = 300_000
"""The most bytes of all files of a format."""


def format_of(folder: str) -> str:
    """The name of the format, of that of a folder: a version follows it, and who reads it.

    >>> format_of("label-models-1-by-1.0"), format_of("history-1.3")
    ('label-models', 'history')
    """
    return re.sub(r"-[\d.]+(-by-[\d.]+)?$", "", folder)


@pytest.fixture(scope="module", autouse=True)
def written(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--write-formats", default=False):
        for form in EVERY:
            if not form.folder.exists():
                form.write()


@pytest.mark.parametrize("form", EVERY, ids=lambda form: form.name)
def test_the_present_version_has_files(form) -> None:
    assert (form.folder / ANSWER).is_file(), (
        "the version of a format has changed: keep reading the old one, and write files of the new "
        "one with pytest tests/formats/test_formats.py --write-formats"
    )


@pytest.mark.parametrize("name", [name for name in KEPT if format_of(name) not in MODELS])
def test_what_was_written_is_read(name, tmp_path) -> None:
    folder = shutil.copytree(FILES / name, tmp_path / name)
    answer = json.loads((folder / ANSWER).read_text(encoding="utf-8"))
    now = json.loads(json.dumps(READ[format_of(name)](folder)))
    assert differences(answer, now) == []


@pytest.mark.parametrize("name", [name for name in KEPT if format_of(name) in MODELS])
def test_a_model_is_read_by_the_versions_that_made_it_and_refused_by_others(name, tmp_path) -> None:
    folder = shutil.copytree(FILES / name, tmp_path / name)
    described = next(folder.rglob("model.json")).read_text(encoding="utf-8")
    about = json.loads(described)
    made_with = (about["quantshift"], about["scikit-learn"])
    assert name.endswith(f"-by-{series(made_with)[0]}")
    if series(made_with) != series((quantshift.__version__, installed("scikit-learn"))):
        with pytest.raises(DataError, match="train the model again"):
            READ[format_of(name)](folder)
        return
    answer = json.loads((folder / ANSWER).read_text(encoding="utf-8"))
    assert differences(answer, READ[format_of(name)](folder)) == []


@pytest.mark.parametrize("form", OUTPUTS, ids=lambda form: form.name)
def test_an_output_of_the_present_version_follows_the_present_schema(form) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    schema_file = file_of(SCHEMA_OF.get(form.name, form.name))
    schema = json.loads(schema_file.read_text(encoding="utf-8"))
    kept = json.loads((form.folder / f"{form.name}.json").read_text(encoding="utf-8"))
    errors = [error.message for error in jsonschema.Draft202012Validator(schema).iter_errors(kept)]
    # A field that became required, or got another type, is another version of the layout.
    assert errors == []


def test_every_schema_has_an_output() -> None:
    assert {SCHEMA_OF.get(form.name, form.name) for form in OUTPUTS} == set(SCHEMAS)


@pytest.mark.parametrize("name", KEPT)
def test_the_files_are_small(name) -> None:
    sizes = [path.stat().st_size for path in (FILES / name).rglob("*") if path.is_file()]
    assert sum(sizes) < LARGEST


def test_the_page_of_formats_has_the_present_versions() -> None:
    page = (DOCS / "reference" / "formats.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| ([a-z -]+) \| ([\d.]+) \|", page, re.MULTILINE))
    assert rows == {form.name.replace("-", " "): form.version for form in EVERY}


def test_a_changed_number_is_a_difference() -> None:
    assert differences({"a": [1.0, "x"]}, {"a": [1.0 + 1e-9, "x"]}) == []
    assert differences({"a": [1.0, "x"]}, {"a": [1.1, "y"]}) == [
        "a.0: 1.0, now 1.1",
        "a.1: x, now y",
    ]
    assert differences({"a": 1}, {}) == ["a: is gone"]
    assert differences({}, {"new": 1}) == []


def differences(before: Any, now: Any, where: str = "") -> list[str]:
    """What differs; numbers may in the last digits, and later versions may say more."""
    if isinstance(before, dict) and isinstance(now, dict):
        inner = [
            differences(value, now[key], f"{where}.{key}".removeprefix("."))
            if key in now
            else [f"{where}.{key}: is gone".removeprefix(".")]
            for key, value in before.items()
        ]
        return [line for lines in inner for line in lines]
    if isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        pairs = enumerate(zip(before, now, strict=True))
        return [line for i, (a, b) in pairs for line in differences(a, b, f"{where}.{i}")]
    if isinstance(before, float) and isinstance(now, float | int):
        same = math.isclose(before, now, rel_tol=1e-6, abs_tol=1e-9)
    else:
        same = before == now
    return [] if same else [f"{where}: {before}, now {now}"]


def series(versions: tuple[str, str]) -> list[str]:
    """The versions without their last number."""
    return [version.rpartition(".")[0] for version in versions]


def test_all_files_are_of_a_known_format() -> None:
    assert {format_of(name) for name in KEPT} <= READ.keys()
