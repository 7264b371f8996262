"""The page: complete in itself, escaped, and at work in a real browser."""

import dataclasses
import re

import pytest

from quantshift.judging import judge, render_page
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
    assert not re.search(r"<(script|img|link|iframe)[^>]+(src|href)=", page.split("<script>")[0])
    assert "default-src 'none'" in page
    assert "which people’s labels contradict" in page or "which is within that" in page


def test_names_cannot_break_out(found):
    batches = tuple(dataclasses.replace(batch, name=EVIL) for batch in found.batches)
    (quality,) = found.overall.judges
    overall = dataclasses.replace(
        found.overall, name=EVIL, judges=(dataclasses.replace(quality, name=EVIL),)
    )
    page = render_page(
        dataclasses.replace(found, batches=batches, overall=overall, warnings=(EVIL,))
    )
    assert "<img src=x" not in page
    assert page.count("</script>") == 3


def test_it_works_in_a_browser(found, open_quietly, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(render_page(found), "utf-8")
    ready = "() => document.querySelector('#plot-shares svg path')"
    page = open_quietly(path, ready=ready, viewport={"width": 1200, "height": 900})
    text = page.inner_text("main")
    assert "How common is “pass”, really?" in text
    assert "A against B" in text
    assert "of 100 items that people call" in text
    narrow = open_quietly(path, ready=ready, viewport={"width": 390, "height": 800})
    assert narrow.evaluate("document.documentElement.scrollWidth") <= 390
