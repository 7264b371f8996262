"""The built site in a real browser: wide and narrow, light and dark, with its search."""

import pytest

from tests.accessibility import COLOURS, violations
from tests.docs.test_words import SEARCHED
from website.build import navigation, problems_after, problems_before

SEEN = 10
"""Results that somebody who searches looks at."""

PAGES = ("", "start/", "reference/command-line/", "reference/quantifiers/", "reference/synthetic/")


@pytest.mark.slow
def test_nothing_is_wrong_with_the_pages():
    assert list(problems_before()) == []


@pytest.mark.slow
def test_nothing_is_wrong_with_the_site(site):
    assert list(problems_after(site)) == []


def paths():
    """The paths of all pages in the site."""
    for page in navigation():
        name = page.removesuffix(".md").removesuffix("index")
        yield f"{name.removesuffix('/')}/" if name else ""


def test_every_page_of_the_navigation_is_built(site):
    for path in paths():
        assert (site / path / "index.html").is_file(), path


def test_no_page_loads_from_elsewhere(site):
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert 'src="http' not in text, page
        assert 'rel="stylesheet" href="http' not in text, page


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
@pytest.mark.parametrize("width", [pytest.param(1360, marks=pytest.mark.slow), 360])
def test_pages_open(visit, address, width, scheme):
    page = visit(width=width, scheme=scheme)
    for path in PAGES:
        page.goto(f"{address}{path}")
        assert page.locator("h1").is_visible()
        # Wide tables, code and formulas scroll by themselves, the page does not.
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        background = page.evaluate("getComputedStyle(document.body).backgroundColor")
        red = int(background.removeprefix("rgba(").removeprefix("rgb(").split(",")[0])
        assert (red > 127) == (scheme == "light"), path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scheme", "rules"),
    [pytest.param("light", (), id="light"), pytest.param("dark", COLOURS, id="dark")],
)
def test_everybody_can_read_every_page(visit, address, scheme, rules):
    page = visit(width=1280, scheme=scheme)
    found = {}
    for path in paths():
        page.goto(f"{address}{path}")
        found[path] = violations(page, rules=rules)
    assert {path: lines for path, lines in found.items() if lines} == {}


@pytest.mark.slow
def test_everybody_can_read_narrow_pages(visit, address):
    page = visit(width=390, scheme="dark")
    for path in (*PAGES, "guides/judge/", "choose/", "notebooks/judge/"):
        page.goto(f"{address}{path}")
        assert violations(page) == [], path


def test_pictures_are_there(visit):
    page = visit("")
    page.wait_for_function("[...document.images].every((image) => image.complete)")
    shown = page.evaluate("[...document.images].map((image) => image.naturalWidth > 0)")
    assert shown == [True] * 3  # one for each way to start


def search(page, words):
    """Open the search and type; the dialog has the same label as the field in it."""
    page.get_by_role("button", name="Search").first.click()
    field = page.locator("input").and_(page.get_by_label("Search"))
    field.locator("visible=true").last.fill(words)


def test_the_search_finds_a_method(visit):
    page = visit("")
    search(page, "PACC")
    page.get_by_role("option").filter(has_text="Probabilistic Adjusted").first.click()
    page.wait_for_url("**/quantifiers/pacc/**")
    # The address changes before the page of that address is shown.
    page.locator("h1").filter(has_text="PACC").wait_for()


@pytest.mark.slow
@pytest.mark.parametrize("words", SEARCHED)
def test_the_search_finds_what_people_look_for(visit, words):
    """One of the pages that answer the question is among the first results."""
    page = visit("")
    search(page, words)
    options, first = page.get_by_role("option"), []
    for _ in range(100):  # the list is filled while the search goes on
        addresses = options.evaluate_all(
            "all => all.map(option => (option.closest('a') ?? option.querySelector('a')).href)"
        )
        first = [address.split("#")[0] for address in dict.fromkeys(addresses)][:SEEN]
        if any(f"/{name}/" in address for name in SEARCHED[words] for address in first):
            return
        page.wait_for_timeout(100)
    pytest.fail(f"only {first} are found")


def test_formulas_are_drawn_by_the_browser(visit):
    page = visit("reference/synthetic/")
    formula = page.locator("p.formula math").first
    box = formula.bounding_box()
    assert box["width"] > 100
    assert box["height"] > 15
    assert page.locator("article", has_text="$").count() == 0


@pytest.mark.slow
def test_the_reference_shows_signatures_and_docstrings(visit):
    page = visit("reference/metrics/")
    assert page.locator('[id="quantshift.metrics.ae"]').is_visible()
    assert page.get_by_text("Absolute error: mean over classes").last.is_visible()
