"""The page: complete in itself, escaped, and at work in a real browser."""

import dataclasses
import re

import polars as pl
import pytest

from quantshift.own_data import quantify
from quantshift.own_data.page import render_page
from quantshift.own_data.result import Quantification, Rows
from tests.own_data.made import ASSUMPTIONS, BATCH, FOUND, UNKNOWN

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
    page.select_option("[data-label]", label="negative")
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


BREAK = "po\u2028s"
EVEN = (0.05,) * 20


def with_break(value):
    """The value with a label that holds a line separator instead of 'pos'."""
    if isinstance(value, str):
        return BREAK if value == "pos" else value
    if isinstance(value, dict):
        return {with_break(name): with_break(entry) for name, entry in value.items()}
    if isinstance(value, tuple):
        return tuple(map(with_break, value))
    if dataclasses.is_dataclass(value):
        fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        return dataclasses.replace(value, **with_break(fields))
    return value


@pytest.fixture(scope="module")
def made() -> Quantification:
    """Three batches made by hand: the second cannot be estimated."""
    refuted = dataclasses.replace(ASSUMPTIONS[0], weight=0.8, refuted=True)
    batch = dataclasses.replace(
        BATCH, assumptions=(refuted, *ASSUMPTIONS[1:]), scores={"neg": EVEN, "pos": EVEN}
    )
    scores = {label: {"neg": EVEN, "pos": EVEN} for label in ("neg", "pos")}
    return dataclasses.replace(
        FOUND,
        batches=(
            dataclasses.replace(batch, name="a\u2029b"),
            dataclasses.replace(UNKNOWN, name="second"),
            dataclasses.replace(batch, name="third"),
        ),
        training=dataclasses.replace(FOUND.training, scores=scores),
        sample_rows=(Rows("new.csv", 616, 9, {"no content": 607}),),
    )


def test_columns_rows_and_changes_are_on_the_page(made):
    page = render_page(made)
    assert "<li>new.csv: 607 of 616 rows were left out (no content: 607)</li>" in page
    assert '<th scope="row">town</th><td>category</td><td>12 levels, 3 of them rare</td>' in page
    assert '<th scope="row">customer</th><td>nearly all values are distinct</td>' in page
    assert "<li>new.csv: 616 read, 9 used (no content: 607)</li>" in page
    assert "<dt>age</dt><dd>mean 41.2 where 35.0 was expected</dd>" in page
    assert "second: pos: cannot be estimated from these columns: they tell the classes" in page
    assert "Cannot be estimated" in page


def test_what_cannot_be_estimated_is_the_lead(made):
    page = render_page(dataclasses.replace(made, batches=(UNKNOWN,)))
    lead = page.split('<p class="lead">')[1].split("</p>")[0]
    assert lead == (
        "pos: cannot be estimated from these columns: they tell the classes apart no better than "
        "chance; between 0 and 100%."
    )


def test_classes_are_shown_with_their_column(made):
    names = {"neg": "Exited = 0", "pos": "Exited = 1"}
    page = render_page(dataclasses.replace(made, names=names))
    assert "<h1>How common is “Exited = 1”?</h1>" in page
    assert '<option value="1" selected>Exited = 1</option>' in page


def test_line_separators_in_names_do_not_break_the_charts(browser, made, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(render_page(with_break(made)), "utf-8")
    page, troubles = opened(browser, path)
    page.wait_for_selector("#plot-changes svg path")
    assert "share of po s" in page.inner_text("#plot-batches")
    assert len(troubles) == 1
    page.close()


def test_what_is_refuted_is_a_small_ring(browser, made, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(render_page(made), "utf-8")
    page, _ = opened(browser, path)
    dots = page.eval_on_selector_all(
        "#plot-assumptions .mark-symbol path",
        """all => all.map(dot => ({
            fill: dot.getAttribute("fill"), width: dot.getBoundingClientRect().width,
            name: dot.getAttribute("aria-label"),
        }))""",
    )
    assert len(dots) == 3
    (ring,) = (dot for dot in dots if "refuted" in dot["name"])
    assert ring["fill"] == "transparent"
    assert ring["width"] <= min(dot["width"] for dot in dots) + 2
    assert max(dots, key=lambda dot: dot["width"]) is not ring
    page.close()


def test_a_batch_that_cannot_be_estimated_has_no_empty_charts(browser, made, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(render_page(made), "utf-8")
    page, troubles = opened(browser, path)
    page.select_option("[data-batch]", "1")
    for chart in ("assumptions", "changes", "scores"):
        assert not page.is_visible(f"#plot-{chart}")
    assert page.is_visible("text=Cannot be estimated")
    page.select_option("[data-batch]", "2")
    page.wait_for_selector("#plot-changes svg path")
    assert len(troubles) == 1
    page.close()
