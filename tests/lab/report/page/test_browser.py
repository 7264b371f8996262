"""The page in a real browser where it is most crowded: many methods, data sets and classes.

A run of the library's experiments is looked at in `tests/end_to_end/test_browser.py`.
"""

import pytest

from quantshift.lab.report.page import Provenance, contents_of, render_page
from tests.accessibility import grave_violations
from tests.lab.report.conftest import many_methods, own_about, own_outcomes

ALL_DRAWN = "[...document.querySelectorAll('.plot')].every((plot) => plot.dataset.drawn)"
LINES = ".mark-line.role-mark path[aria-roledescription='line mark']"


def silent(_what):
    """Progress nobody wants to see."""


def written(folder, about, methods):
    made = contents_of(
        own_outcomes(methods, about, repeats=2), abouts={about.name: about}, progress=silent
    )
    path = folder / "report.html"
    path.write_text(render_page(made, Provenance({}), progress=silent), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def crowded(tmp_path_factory):
    """Forty methods on three data sets with three or two classes."""
    data = {"shop": ("no", "yes"), "bank": ("a", "b", "c"), "club": ("a", "b", "c")}
    return written(tmp_path_factory.mktemp("page"), own_about(datasets=data), many_methods(40))


@pytest.fixture
def visit(open_quietly, crowded):
    """Opens the page; see `open_quietly`."""

    def open_page(width=1280, scheme="light"):
        viewport = {"width": width, "height": 900}
        return open_quietly(crowded, ready=ALL_DRAWN, viewport=viewport, color_scheme=scheme)

    return open_page


def redrawn(page, act):
    plot = page.locator(".plot").first
    before = plot.get_attribute("data-drawn")
    act()
    page.wait_for_function(
        "([plot, before]) => plot.dataset.drawn !== before", arg=[plot.element_handle(), before]
    )


def show(page, view):
    redrawn(page, page.locator(f".views label:has(input[value={view}])").first.click)


def test_the_best_methods_are_drawn_and_the_others_can_be_found(visit):
    page = visit()
    lines = page.locator(".plot").first.locator(LINES)
    assert lines.count() == 12
    assert page.locator("#method-count").inner_text() == "12 of 40 shown"
    page.locator("#method-search").fill("method37")
    assert page.locator(".chip:visible").count() == 1
    redrawn(page, lambda: page.locator("#method-search").press("Enter"))
    assert lines.count() == 13
    assert "Method37" in page.locator(".plot").first.get_attribute("aria-label")
    page.locator("#method-search").fill("")
    assert page.locator(".chip:visible").count() == 40


def test_all_and_none_mean_those_in_sight(visit):
    page = visit()
    redrawn(page, page.get_by_role("button", name="none").click)
    assert page.locator("#method-count").inner_text() == "0 of 40 shown"
    page.locator("#method-search").fill("long-name")
    redrawn(page, page.get_by_role("button", name="all").click)
    assert page.locator("#method-count").inner_text() == "6 of 40 shown"
    redrawn(page, page.get_by_role("button", name="reset").click)
    assert page.locator("#method-count").inner_text() == "12 of 40 shown"


def test_forty_methods_draw_in_every_view(visit):
    page = visit()
    redrawn(page, page.get_by_role("button", name="all").click)
    for view in ("boxes", "bias", "diagonal", "lines"):
        show(page, view)
        plot = page.locator(".plot").first
        assert plot.locator("svg path").count() > 80, view
        assert "NaN" not in plot.inner_html(), view


def test_class_and_data_set_choose_what_is_drawn(visit):
    page = visit()
    figure = page.locator("[data-chart]").first
    classes = figure.get_by_label("class")
    assert classes.is_hidden()
    show(page, "bias")
    options = classes.locator("option").all_inner_texts()
    assert options == ["no", "yes", "a", "b", "c"]
    redrawn(page, lambda: classes.select_option(label="b"))
    assert "Only class b." in figure.locator("figcaption").inner_text()
    redrawn(page, lambda: figure.get_by_label("data set").select_option(label="shop"))
    # There is no class b in that data set.
    assert figure.locator(".empty").inner_text() == "No method has results here."
    show(page, "lines")
    assert figure.locator(LINES).count() == 12


def test_the_first_column_of_a_wide_table_stays_in_sight(visit):
    page = visit(700)
    region = page.locator(".report-table").first.locator("xpath=..")
    region.evaluate("e => { e.scrollLeft = 500; }")
    head = region.locator("tbody th").first.bounding_box()
    assert head["x"] == pytest.approx(region.bounding_box()["x"], abs=2)


def test_names_are_not_clipped(visit):
    page = visit()
    clipped = "e => e.scrollWidth > e.clientWidth + 1"
    for selector in (".chip span", ".heat tbody th", ".report-table tbody th"):
        cells = page.locator(selector)
        assert cells.count() >= 40 or selector.startswith(".report")
        assert not cells.evaluate_all(f"all => all.some({clipped})"), selector


@pytest.mark.parametrize("width", [360, 820, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_width_needs_scrolling_sideways(visit, width, scheme):
    page = visit(width, scheme)
    page.locator("details.table").evaluate_all("all => all.forEach(d => { d.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_it_prints(visit, tmp_path):
    page = visit()
    page.emulate_media(media="print")
    assert page.locator("#method-search").is_hidden()
    page.pdf(path=tmp_path / "page.pdf", format="A4")
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (1400, "dark"), (420, "light")])
def test_a_checker_of_accessibility_finds_nothing_grave(visit, width, scheme):
    page = visit(width, scheme)
    page.locator("details.table").evaluate_all("all => all.forEach(d => { d.open = true; })")
    assert grave_violations(page) == []


@pytest.mark.slow
def test_no_marker_is_clipped_at_the_edge_of_a_chart(visit):
    page = visit()
    plot = page.locator(".plot").first
    inside = """plot => {
        const frame = plot.querySelector(".mark-group.role-scope path.background, .background");
        const box = frame.getBoundingClientRect();
        return [...plot.querySelectorAll(".mark-symbol.role-mark path")].every((dot) => {
            const mark = dot.getBoundingClientRect();
            return mark.top >= box.top - 1 && mark.bottom <= box.bottom + 1;
        });
    }"""
    assert plot.locator(".mark-symbol.role-mark path").count() > 10
    assert plot.evaluate(inside)
