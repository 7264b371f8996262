"""Tests of findings: codes with numbers, and the sentences that they make."""

import json
from dataclasses import dataclass

import pytest
from pydantic import TypeAdapter, ValidationError

from quantshift.claims.findings import About, Code, Finding, Severity


class Shapes(Code):
    """A catalogue for these tests."""

    ODD_SHAPE = "odd_shape", Severity.WARNING, "{n:count corner} {n:is|are} odd ({examples:quoted})"
    ROUND = "round", Severity.NOTE, "it is round"


@dataclass(frozen=True)
class _Found:
    findings: tuple[Finding, ...]


_ODD = Shapes.ODD_SHAPE.found(table="t.csv", column="size", n=1, examples=("a", "b"))


def test_a_finding_has_the_severity_of_its_code_and_a_sentence() -> None:
    assert _ODD.severity is Severity.WARNING
    assert _ODD.sentence == "t.csv: column 'size': 1 corner is odd ('a', 'b')"
    assert Shapes.ROUND.found(batch="b", target="spam").sentence == "it is round"


def test_a_table_is_named_before_its_part() -> None:
    part = Shapes.ROUND.found().in_table("part.csv")
    assert part.about == About(table="part.csv")
    assert part.in_table("whole").about.table == "whole: part.csv"


def test_a_finding_is_set_about_a_batch_and_a_target() -> None:
    moved = _ODD.in_batch("May").of_target("spam")
    assert moved.about == About("May", "spam", "size", "t.csv")
    assert (moved.code, moved.numbers) == (_ODD.code, _ODD.numbers)


def test_equal_findings_are_one_in_a_set() -> None:
    again = Shapes.ODD_SHAPE.found(table="t.csv", column="size", n=1, examples=("a", "b"))
    other = Shapes.ODD_SHAPE.found(table="t.csv", column="size", n=2, examples=("a", "b"))
    assert len({_ODD, again, other}) == 2


def test_a_record_has_the_code_and_the_sentence() -> None:
    assert json.loads(json.dumps(_ODD.record())) == {
        "code": "odd_shape",
        "severity": "warning",
        "about": {"batch": None, "target": None, "column": "size", "table": "t.csv"},
        "numbers": {"n": 1, "examples": ["a", "b"]},
        "sentence": "t.csv: column 'size': 1 corner is odd ('a', 'b')",
    }


def test_findings_are_read_from_json_by_their_codes() -> None:
    adapter = TypeAdapter(_Found)
    stored = {"code": "odd_shape", "about": {"table": "t.csv", "column": "size"}}
    numbers = {"n": 1, "examples": ["a", "b"]}
    content = json.dumps({"findings": [{**stored, "numbers": numbers}]})
    (read,) = adapter.validate_json(content, strict=True).findings
    assert read == _ODD
    assert isinstance(read.code, Shapes)
    with pytest.raises(ValidationError, match="there is no finding"):
        adapter.validate_json(content.replace("odd_shape", "even_shape"))


def test_the_schema_has_what_the_record_has() -> None:
    schema = TypeAdapter(_Found).json_schema(mode="serialization")
    described = schema["$defs"]["Finding"]
    assert set(described["properties"]) == set(_ODD.record())
    assert set(described["required"]) >= {"code", "severity", "sentence"}
