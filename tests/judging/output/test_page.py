"""The page: complete in itself, escaped, and at work in a real browser."""

import dataclasses
import re

import pytest

from quantshift.answers.conditions import Condition
from quantshift.judging import judge
from quantshift.judging.output.page import render_page
from quantshift.tables.columns.findings import TableFindings
from tests.accessibility import grave_violations
from tests.judging.made import drawn, verdicts

pytest.importorskip("vl_convert", reason="vl-convert-python is not installed")

EVIL = "</script><img src=x onerror=alert(1)>\"'&"


@pytest.fixture(scope="module")
def found():
    table = drawn(verdicts(), 120)
    return judge(
        table, verdict="judge", label="human", labels="random", by="system", compare=("A", "B")
    )


def test_the_page_needs_nothing_else(found):
    page = render_page(found)
    loaded = re.findall(r"<(?:script|img|link|iframe)[^>]+(?:src|href)=.(\w+:)", page)
    assert loaded == ["data:"]
    assert "default-src 'none'" in page
    assert "outside the interval" in page or "within the interval" in page


def test_names_cannot_break_out(found):
    batches = tuple(dataclasses.replace(batch, name=EVIL) for batch in found.batches)
    (quality,) = found.overall.judges
    overall = dataclasses.replace(
        found.overall, name=EVIL, judges=(dataclasses.replace(quality, name=EVIL),)
    )
    evil = TableFindings.HIDDEN_SHEET.found(table=EVIL, sheet=EVIL)
    page = render_page(
        dataclasses.replace(found, batches=batches, overall=overall, findings=(evil,))
    )
    assert "<img src=x" not in page
    assert page.count("</script>") == 3


def test_it_works_in_a_browser(found, open_quietly, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(render_page(found), "utf-8")
    ready = "() => document.querySelector('#plot-shares svg path')"
    page = open_quietly(path, ready=ready, viewport={"width": 1200, "height": 900})
    text = page.inner_text("main")
    heading = page.inner_text("#heading")
    assert re.fullmatch(r"[\d.]+% of the [\d,]+ items in .+ are “pass”", heading)
    assert page.inner_text("#limits").startswith("95% confidence interval ")
    page.select_option("[data-label]", label="fail")
    assert page.inner_text("#heading").endswith("are “fail”")
    page.wait_for_function(
        "document.querySelector('#plot-shares').textContent.includes('true share of fail')"
    )
    assert page.locator("details[data-of]:visible").count() == 1
    assert "A against B" in text
    assert "of 100 items that people call" in text
    narrow = open_quietly(path, ready=ready, viewport={"width": 390, "height": 800})
    assert narrow.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.slow
def test_thresholds_are_drawn_and_the_numbers_can_be_downloaded(found):
    page = render_page(found, conditions=[Condition.parse("pass>1%")])
    assert "Thresholds crossed" in page
    assert re.findall(r'download="(.*?)"', page) == ["quantshift.csv", "quantshift.json"]


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (420, "dark")])
def test_a_checker_of_accessibility_finds_nothing_grave(
    found, open_quietly, tmp_path, width, scheme
):
    path = tmp_path / "page.html"
    path.write_text(render_page(found, conditions=[Condition.parse("pass>1%")]), "utf-8")
    ready = "() => document.querySelector('#plot-shares svg path')"
    viewport = {"width": width, "height": 900}
    page = open_quietly(path, ready=ready, viewport=viewport, color_scheme=scheme)
    assert grave_violations(page) == []
    page.emulate_media(media="print")
    assert not page.is_visible(".chooser")
