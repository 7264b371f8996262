"""Answers for pull requests and CI: Markdown in which nothing is markup, JUnit that parses."""

import xml.etree.ElementTree as ET

import polars as pl
import pytest

from quantshift.answers.conditions import Condition
from quantshift.answers.outputs.junit import JUnit
from quantshift.answers.outputs.markdown import MARK, Markdown, _table
from quantshift.answers.outputs.output import Circumstances
from quantshift.errors import UserError
from quantshift.judging import judge
from tests.judging.made import drawn, verdicts
from tests.quantifying.made import RANGED, found_with


@pytest.fixture(scope="module")
def answer():
    frame = drawn(verdicts()).with_columns(group=pl.lit("a|b <i>*x*"))
    return judge(frame, verdict="judge", label="human", labels="random", by="group")


def circumstances(*conditions):
    return Circumstances(tuple(map(Condition.parse, conditions)))


def test_markdown_has_the_table_and_what_failed(answer, tmp_path):
    text = Markdown().render(answer, circumstances("pass.low<0.99", "pass>0.99"))
    assert text.startswith(MARK)
    assert "**Failed:** a\\|b &lt;i>\\*x\\*: pass.low&lt;0.99" in text
    (row,) = (line for line in text.splitlines() if line.startswith("| a"))
    assert row.startswith("| a\\|b &lt;i>\\*x\\* | 400 | 80 |")
    assert text.count("```") == 2
    (tmp_path / "a.md").write_text(text, "utf-8")
    (tmp_path / "b.md").write_text("# mine", "utf-8")
    assert Markdown().is_ours(tmp_path / "a.md")
    assert not Markdown().is_ours(tmp_path / "b.md")


def test_junit_has_a_case_for_each_condition(answer, tmp_path):
    text = JUnit().render(answer, circumstances("pass.low<0.99", "pass>0.99"))
    suite = ET.fromstring(text)
    assert (suite.get("tests"), suite.get("failures")) == ("3", "1")
    failed = [
        case.get("name") for case in suite.iter("testcase") if case.find("failure") is not None
    ]
    assert failed == ["not pass.low<0.99"]
    assert "95% interval" in suite.find("system-out").text
    (tmp_path / "a.xml").write_text(text, "utf-8")
    (tmp_path / "b.xml").write_text("<testsuite name='mine'/>", "utf-8")
    assert JUnit().is_ours(tmp_path / "a.xml")
    assert not JUnit().is_ours(tmp_path / "b.xml")


def test_what_cannot_be_estimated_fails_the_report():
    found = judge(verdict=["pass", "fail"] * 100, sensitivity=0.5, specificity=0.5)
    suite = ET.fromstring(JUnit().render(found, Circumstances()))
    assert suite.get("failures") == "1"


def test_a_condition_that_is_open_is_skipped():
    found = found_with(RANGED)
    suite = ET.fromstring(JUnit().render(found, circumstances("pos>0.4", "pos>0.6")))
    assert (suite.get("failures"), suite.get("skipped")) == ("0", "1")
    skipped = [
        case.get("name") for case in suite.iter("testcase") if case.find("skipped") is not None
    ]
    assert skipped == ["not pos>0.4"]
    markdown = Markdown().render(found, circumstances("pos>0.4", "pos>0.6"))
    assert [line[:9] for line in markdown.splitlines() if "pos>0." in line] == ["**Open:**"]


def test_a_share_by_the_name_of_its_class(answer):
    assert answer["pass"].estimate == answer.overall.shares[1].estimate
    with pytest.raises(UserError, match="unknown class 'win'"):
        answer["win"]


def test_a_table_has_as_many_columns_in_its_second_line_as_in_the_others():
    lines = _table([["batch", "share"], ["a", "1%"]])
    assert [line.count("|") for line in lines] == [3, 3, 3]
    assert lines[1] == "|---|---|"
    assert _table([]) == []
