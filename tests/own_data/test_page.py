"""The page: complete in itself, escaped, and at work in a real browser."""

import dataclasses
import re

import polars as pl
import pytest

from quantshift.own_data import quantify
from quantshift.own_data.page import render_page
from quantshift.own_data.result import Quantification

pytest.importorskip("vl_convert", reason="vl-convert-python is not installed")

EVIL = "</script><img src=x onerror=alert(1)>\"'&"


@pytest.fixture(scope="module")
def found(folder, model) -> Quantification:
    sample = pl.read_csv(folder / "new.csv").with_columns(part=pl.int_range(300) % 3)
    audit = pl.read_csv(folder / "truth.csv")[:60]
    return quantify(sample, model=model, by="part", audit=audit, n_bootstrap=50)


def test_the_page_needs_nothing_else(found):
    page = render_page(found)
    assert not re.search(r"<(script|img|link|iframe)[^>]+(src|href)=", page.split("<script>")[0])
    assert "default-src 'none'" in page
    assert len(page) < 1_500_000


def test_names_cannot_break_out(found):
    batches = tuple(dataclasses.replace(batch, name=EVIL) for batch in found.batches)
    page = render_page(dataclasses.replace(found, batches=batches, warnings=(EVIL,), reason=EVIL))
    assert "<img src=x" not in page
    assert page.count("</script>") == 3


def opened(browser, path, **options):
    page = browser.new_page(**options)
    troubles: list[str] = []
    page.on("console", lambda message: troubles.append(message.text))
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("request", lambda request: troubles.append(request.url))
    page.goto(path.as_uri())
    for chart in ("batches", "assumptions", "scores"):
        page.wait_for_selector(f"#plot-{chart} svg path")
    # The page itself is the only thing asked for.
    assert troubles == [path.as_uri()]
    return page, troubles


def test_it_works_in_a_browser(browser, found, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(render_page(found), "utf-8")
    page, troubles = opened(browser, path, viewport={"width": 1200, "height": 900})
    before = page.inner_html("#plot-batches")
    page.select_option("[data-label]", "negative")
    page.wait_for_function(
        "before => document.querySelector('#plot-batches').innerHTML !== before", arg=before
    )
    assert page.is_visible('[data-of="2"]')
    page.select_option("[data-batch]", "0")
    assert page.is_visible('[data-of="0"]')
    assert not page.is_visible('[data-of="2"]')
    colour = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(colour)
    page.focus("#theme")
    page.keyboard.press("Enter")
    assert page.get_attribute("#theme", "aria-pressed") == "true"
    assert page.evaluate(colour) != light
    assert len(troubles) == 1
    page.close()


def test_it_fits_a_phone(browser, found, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(render_page(found), "utf-8")
    page, _ = opened(browser, path, viewport={"width": 390, "height": 800}, color_scheme="dark")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.get_attribute("#theme", "aria-pressed") == "true"
    page.close()
