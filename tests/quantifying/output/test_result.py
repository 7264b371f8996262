"""The result in Python: frames, JSON and its schema, charts, and a few lines at a prompt."""

import dataclasses
import json
import sys

import pandas as pd
import polars as pl
import pytest
from matplotlib.figure import Figure
from pydantic import TypeAdapter

from quantshift import __version__
from quantshift.answers.show.answer import FORMAT
from quantshift.errors import UserError
from quantshift.quantifying import json_schema
from quantshift.quantifying.output.quantification import Quantification
from quantshift.quantifying.output.verdicts import MEANING
from quantshift.quantifying.result import Audited
from tests.quantifying.made import BATCH, FOUND, SHARES, UNKNOWN

SEVERAL = dataclasses.replace(
    FOUND, batches=(BATCH, dataclasses.replace(UNKNOWN, name="b <i>"), BATCH)
)


def test_json_says_everything_and_reads_back_as_the_result():
    audit = Audited(50, 0.8, SHARES, SHARES, contradicts=False)
    found = dataclasses.replace(FOUND, batches=(dataclasses.replace(BATCH, audit=audit), UNKNOWN))
    told = json.loads(found.to_json())
    assert told.pop("format") == FORMAT == 1
    assert told.pop("version") == __version__
    assert TypeAdapter(Quantification).validate_json(json.dumps(told)) == found


def test_the_json_begins_with_the_answer():
    told = json.loads(FOUND.to_json())
    names = list(told)
    made_by, answer = names[:2], names[2:8]
    assert made_by == ["format", "version"]
    assert answer == ["headline", "names", "classes", "label", "level", "batches"]
    assert names.index("training") > names.index("batches")
    assert list(told["batches"][0])[:3] == ["name", "n_items", "shares"]
    assert list(told["batches"][0])[-1] == "scores"


def check(value, schema, definitions):
    """What jsonschema would check, for the part of the language that our schema speaks."""
    if "$ref" in schema:
        schema = definitions[schema["$ref"].removeprefix("#/$defs/")]
    if "anyOf" in schema:
        for choice in schema["anyOf"]:
            try:
                return check(value, choice, definitions)
            except AssertionError:
                continue
        raise AssertionError(value)
    if "const" in schema:
        assert value == schema["const"]
        return None
    kinds = {
        "object": dict,
        "array": list,
        "string": str,
        "integer": int,
        "number": int | float,
        "boolean": bool,
        "null": type(None),
    }
    assert isinstance(value, kinds[schema["type"]]), (value, schema)
    if schema["type"] == "array":
        for entry in value:
            check(entry, schema["items"], definitions)
    if schema["type"] == "object":
        known = schema.get("properties", {})
        assert set(schema.get("required", ())) <= set(value)
        for name, entry in value.items():
            assert name in known or "additionalProperties" in schema, name
            check(entry, known.get(name) or schema["additionalProperties"], definitions)
    return None


def test_the_json_is_as_its_schema_says():
    schema = json_schema()
    for found in (FOUND, SEVERAL):
        check(json.loads(found.to_json()), schema, schema["$defs"])
    told = json.loads(FOUND.to_json())
    for wrong in (
        told | {"format": 2},
        told | {"level": "high"},
        {name: value for name, value in told.items() if name != "used"},
        told | {"more": 1},
    ):
        with pytest.raises(AssertionError):
            check(wrong, schema, schema["$defs"])
    assert "weight of evidence" in schema["$defs"]["Alternative"]["description"]


def test_a_frame_has_a_row_per_batch_and_class(monkeypatch):
    frame = SEVERAL.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame["class"].tolist() == ["neg", "pos"] * 3
    assert frame["estimate"].tolist()[:2] == [0.57, 0.43]
    assert frame["estimate"].isna().tolist() == [False, False, True, True, False, False]
    monkeypatch.setitem(sys.modules, "pandas", None)
    other = SEVERAL.to_frame()
    assert isinstance(other, pl.DataFrame)
    assert other["estimate"].to_list() == [0.57, 0.43, None, None, 0.57, 0.43]


def test_at_a_prompt_it_is_a_few_lines():
    assert repr(FOUND) == "\n".join(
        [
            "pos: 43.0% of the 500 items in new.csv (95% interval 37.5 to 50.0%)",
            f"  {MEANING}",
            "class  share   95% interval",
            "neg    57.0%  50.0 to 62.5%",
            "pos    43.0%  37.5 to 50.0%",
        ]
    )
    assert repr(SEVERAL).splitlines() == [
        "pos: cannot be estimated in 1 of 3 batches (b <i>: they tell the classes apart no better "
        "than chance)",
        "pos: from 43.0% (new.csv) to 43.0% (new.csv) in 2 batches",
        f"  {MEANING}",
        "batch    items    pos   95% interval",
        "new.csv    500  43.0%  37.5 to 50.0%  shift",
        "b <i>      500      ?  0.0 to 100.0%  unknown",
        "new.csv    500  43.0%  37.5 to 50.0%  shift",
    ]
    many = dataclasses.replace(FOUND, batches=(BATCH,) * 500)
    assert len(repr(many).splitlines()) == 14
    assert repr(many).endswith("... and 490 more")


def test_in_a_notebook_it_is_a_table_without_scripts():
    told = SEVERAL._repr_html_()
    assert told.startswith("<div><p><strong>pos: cannot be estimated in 1 of 3 batches")
    assert "<td>b &lt;i&gt;</td>" in told
    assert told.count("<tr>") == 4
    assert "<script" not in told
    assert "<p><strong>pos: 43.0%" in FOUND._repr_html_()
    many = dataclasses.replace(FOUND, batches=(BATCH,) * 500)
    assert len(many._repr_html_()) < 3000


def test_a_chart_has_a_row_per_class_or_batch():
    names = [text.get_text() for text in FOUND.plot().get_yticklabels()]
    assert names == ["neg", "pos"]
    ax = SEVERAL.plot()
    assert [text.get_text() for text in ax.get_yticklabels()] == ["new.csv", "b <i>", "new.csv"]
    assert ax.get_xlabel() == "share of pos, 95% interval"
    own = Figure().subplots()
    assert SEVERAL.plot("neg", ax=own) is own
    assert own.get_xlabel() == "share of neg, 95% interval"
    with pytest.raises(UserError, match="unknown class 'nag'; did you mean 'neg'"):
        FOUND.plot("nag")
    odd = dataclasses.replace(FOUND, batches=(dataclasses.replace(BATCH, name="$x_{"),) * 300)
    odd.plot().figure.draw_without_rendering()


def test_a_chart_names_every_batch():
    """Of 41 batches every second one was named."""
    batches = tuple(dataclasses.replace(BATCH, name=f"b{i}") for i in range(41))
    many = dataclasses.replace(FOUND, batches=batches)
    assert [text.get_text() for text in many.plot().get_yticklabels()] == [b.name for b in batches]
    small = Figure(figsize=(4, 2)).subplots()
    many.plot(ax=small)
    assert 5 < len(small.get_yticklabels()) < 15


def test_a_page_is_written_by_the_result(tmp_path):
    """There was no way to a page from a result in Python but `render_page`."""
    path = tmp_path / "page.html"
    FOUND.to_html(path)
    assert path.read_text("utf-8").startswith("<!DOCTYPE html>")
    SEVERAL.to_html(path)
    assert "b &lt;i&gt;" in path.read_text("utf-8")
    path.write_text("mine")
    with pytest.raises(UserError, match="overwrite"):
        FOUND.to_html(path)
    assert path.read_text("utf-8") == "mine"
    FOUND.to_html(path, overwrite=True)


def test_a_batch_is_a_line():
    """It was a dump of some thousand characters."""
    assert repr(BATCH) == (
        "<Batch 'new.csv' of 500 items: neg 57.0% (50.0 to 62.5%), pos 43.0% (37.5 to 50.0%)>"
    )
