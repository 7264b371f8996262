"""The page in a real browser: a small run of every experiment, with a failure, looked at and used.

Needs Chromium (Debian's `chromium`) and playwright; nothing is downloaded.
"""

from functools import partial
from pathlib import Path

import pytest

from quantshift.cli.demonstration import EXPERIMENTS
from quantshift.lab.experiments.documents.loading import load_experiment
from quantshift.lab.experiments.executors import executor
from quantshift.lab.experiments.planning import planned
from quantshift.lab.experiments.runner import Run, run_experiments
from quantshift.lab.experiments.sources import sources_of
from quantshift.lab.report.build import build_report
from quantshift.lab.results import ResultStore

SMALL = {
    "shift.train_size": 200,
    "shift.test_size": 50,
    "shift.train_repeats": 2,
    "shift.test_repeats": 2,
    "selection.enabled": False,
}
OWN = {
    "prior": {
        "shift.train_prevalences": [0.1, 0.5, 0.9],
        "shift.test_prevalences": [0.0, 0.5, 1.0],
    },
    "covariate": {
        "shift.train_prevalences": [0.25, 0.5],
        "shift.test_prevalences": [0.25, 0.5],
    },
}
FAILED = "p_train-0.1,train_repeat-0"

ALL_DRAWN = "[...document.querySelectorAll('.plot')].every((plot) => plot.dataset.drawn)"
WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 360, "height": 740}


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The page of a run in which SLD has failed on one training set."""
    experiments = tuple(
        load_experiment(name, profile="quick", overrides=SMALL | OWN.get(name, {}))
        for name in EXPERIMENTS
    )
    sources = {e.name: sources_of(e, [], n_documents=3000) for e in experiments}
    folder = tmp_path_factory.mktemp("runs")
    run_experiments(Run(experiments, sources, folder), executor(1, None))
    store = ResultStore.open(folder)
    store.drop("prior", "synthetic", FAILED, "SLD")
    signature = store.methods("prior")["SLD"]
    store.write_failure(
        "prior", "synthetic", FAILED, {"SLD": signature}, ValueError("made to fail")
    )
    plan = planned(store.description)
    build_report(store, formats=("html",), against_paper=True, planned=plan)
    return folder / "report" / "report.html"


@pytest.fixture
def visit(open_quietly, report):
    """Opens the report; see `open_quietly`."""

    def open_page(*, viewport=WIDE, scheme="light"):
        return open_quietly(report, ready=ALL_DRAWN, viewport=viewport, color_scheme=scheme)

    return open_page


def chart(page, section="prior"):
    return page.locator(f'[data-chart="{section}"]')


def redrawn(page, act, section="prior"):
    """Acts and waits until the chart has been drawn anew."""
    plot = chart(page, section).locator(".plot")
    before = plot.get_attribute("data-drawn")
    act()
    page.wait_for_function(
        "([plot, before]) => plot.dataset.drawn !== before", arg=[plot.element_handle(), before]
    )


def show(page, view, section="prior"):
    label = chart(page, section).locator(f".views label:has(input[value={view}])")
    redrawn(page, label.click, section)


@pytest.mark.slow
def test_every_chart_draws_in_every_view(visit):
    page = visit()
    sections = page.locator("[data-chart]").evaluate_all("all => all.map(e => e.dataset.chart)")
    assert sections == [
        *("prior", "covariate-pure", "covariate-mixed", "local", "concept", "concept-forced"),
        "published",
    ]
    for section in sections[:-1]:
        for view in ("boxes", "bias", "diagonal", "lines"):
            show(page, view, section)
            plot = chart(page, section).locator(".plot")
            assert plot.locator("svg path").count() > 20, (section, view)
            assert "NaN" not in plot.inner_html(), (section, view)
    assert chart(page, "published").locator(".mark-symbol path").count() > 20


def test_the_method_filter_acts_on_all_charts(visit):
    page = visit()
    line = ".mark-line.role-mark path[aria-roledescription='line mark']"
    sections = ("prior", "concept")
    before = [chart(page, name).locator(line).count() for name in sections]
    # Nine methods but for the yardstick.
    assert before == [8, 8]
    chip = page.locator(".chip", has_text="PCC")
    # Charts out of sight follow when the browser is idle.
    redrawn(page, lambda: redrawn(page, chip.click, "prior"), "concept")
    assert [chart(page, name).locator(line).count() for name in sections] == [7, 7]
    assert "PCC" not in chart(page).locator(".plot").get_attribute("aria-label")


@pytest.mark.slow
def test_the_filter_works_by_keyboard_down_to_no_method(visit):
    page = visit()
    boxes = page.locator("[data-method]")
    for index in range(boxes.count()):
        if boxes.nth(index).is_checked():
            boxes.nth(index).focus()
            page.keyboard.press("Space")
    empty = chart(page).locator(".empty")
    empty.wait_for(state="visible")
    assert empty.inner_text() == "Choose a method above to see its results."
    redrawn(page, page.get_by_role("button", name="reset").click)
    assert empty.is_hidden()


@pytest.mark.slow
def test_a_coordinate_chooses_a_slice(visit):
    page = visit()
    figure = chart(page)
    whole = figure.locator(".plot").get_attribute("aria-label")
    redrawn(page, lambda: figure.get_by_label("training prevalence").select_option(label="0.5"))
    assert figure.locator(".plot").get_attribute("aria-label") != whole
    assert "Only training prevalence 0.5." in figure.locator("figcaption").inner_text()


def test_a_failure_is_a_gap_a_note_and_a_line_in_the_list(visit):
    page = visit()
    note = chart(page).locator(".gap-note")
    assert "SLD: 3 points are left out, because some estimates are missing." in note.inner_text()
    figure = chart(page)
    redrawn(page, lambda: figure.get_by_label("training prevalence").select_option(label="0.9"))
    assert note.inner_text() == ""
    assert "5 of 6 cells are complete" in page.locator("header .notice").inner_text()
    failures = page.locator("#provenance table").last.inner_text()
    assert "made to fail" in failures
    assert FAILED in failures


def test_tables_sort_by_click_and_by_keyboard(visit):
    page = visit()
    table = page.locator("table.heat")

    def column():
        cells = table.locator("tbody tr td:nth-child(2)")
        return cells.evaluate_all("all => all.map(cell => cell.dataset.sort)")

    button = table.locator("thead th:nth-child(2) button")
    button.click()
    ascending = column()
    numbers = [float(value) for value in ascending if value]
    assert numbers == sorted(numbers)
    assert ascending[-1] == ""
    assert table.locator("th[aria-sort=ascending]").count() == 1
    button.focus()
    page.keyboard.press("Enter")
    descending = column()
    assert [float(value) for value in descending if value] == numbers[::-1]
    assert descending[-1] == ""
    assert table.locator("th[aria-sort=descending]").count() == 1


@pytest.mark.slow
def test_grouped_tables_sort_by_the_column_that_was_clicked(visit):
    page = visit()
    page.locator("#local details.table").evaluate_all("all => all.forEach(d => { d.open = true; })")
    table = page.locator("#table-local table")
    table.locator("thead tr:nth-child(2) th").nth(7).locator("button").click()
    values = table.locator("tbody tr td:nth-child(9)").evaluate_all(
        "all => all.map(cell => Number(cell.dataset.sort))"
    )
    assert len(values) == 11
    assert values == sorted(values)


@pytest.mark.slow
def test_charts_can_be_downloaded(visit, tmp_path):
    page = visit()
    content = {}
    for kind in ("svg", "png", "csv"):
        with page.expect_download() as waiting:
            chart(page).locator(f"[data-download={kind}]").click()
        assert waiting.value.suggested_filename == f"prior-lines.{kind}"
        waiting.value.save_as(tmp_path / kind)
        content[kind] = (tmp_path / kind).read_bytes()
    assert content["png"].startswith(b"\x89PNG")
    assert content["svg"].startswith(b"<svg")
    assert b"Prior probability shift" in content["svg"]
    assert b"var(--" not in content["svg"]
    lines = content["csv"].decode().splitlines()
    assert lines[0].startswith("degree,method,n,expected,mean,low,high")
    assert len(lines) == 1 + 8 * 9
    # The failed method has its counts and no figures at the three degrees it lacks.
    assert len([line for line in lines if ",SLD,2,4,,,," in line]) == 3


@pytest.mark.slow
def test_zoom_by_buttons_changes_the_axis_and_comes_back(visit):
    page = visit()
    labels = "e => [...e.querySelectorAll('.role-axis-label text')].map(t => t.textContent).sort()"
    plot = chart(page).locator(".plot")
    before = plot.evaluate(labels)
    changes = f"([plot, then]) => String(({labels})(plot)) !== String(then)"
    comes_back = f"([plot, then]) => String(({labels})(plot)) === String(then)"
    chart(page).get_by_role("button", name="Zoom in").click()
    page.wait_for_function(changes, arg=[plot.element_handle(), before])
    chart(page).get_by_role("button", name="whole").click()
    page.wait_for_function(comes_back, arg=[plot.element_handle(), before])


@pytest.mark.slow
def test_a_tooltip_tells_the_figures(visit):
    page = visit()
    chart(page).scroll_into_view_if_needed()
    tip = page.locator("#tooltip")
    for _ in range(50):  # the page may still be moving under the pointer
        chart(page).locator(".mark-symbol path").first.hover(force=True)
        if tip.is_visible():
            break
        page.mouse.move(0, 0)
        page.wait_for_timeout(200)
    assert "mean error" in tip.inner_text()


@pytest.mark.parametrize("scheme", [pytest.param("light", marks=pytest.mark.slow), "dark"])
def test_the_theme_follows_the_system_and_the_button(visit, scheme):
    page = visit(scheme=scheme)
    background = "getComputedStyle(document.body).backgroundColor"
    light, dark = "rgb(252, 251, 248)", "rgb(21, 23, 26)"
    assert page.evaluate(background) == {"light": light, "dark": dark}[scheme]
    page.get_by_role("button", name="Dark theme").click()
    assert page.evaluate(background) == {"light": dark, "dark": light}[scheme]
    page.reload()
    page.wait_for_function(ALL_DRAWN)
    assert page.evaluate(background) == {"light": dark, "dark": light}[scheme]
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "light"


@pytest.mark.slow
def test_no_width_needs_scrolling_sideways(visit):
    page = visit(viewport=NARROW)
    page.locator("details.table").evaluate_all("all => all.forEach(d => { d.open = true; })")
    for width in (320, 390, 768, 1100, 1280):
        size = {"width": width, "height": 740}
        redrawn(page, partial(page.set_viewport_size, size))
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_everything_can_be_reached_by_keyboard(visit):
    page = visit()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the results"
    first = chart(page).locator("[data-view]").first
    first.focus()
    redrawn(page, lambda: page.keyboard.press("ArrowRight"))
    assert chart(page).locator("[data-view]:checked").get_attribute("value") == "boxes"


@pytest.mark.slow
def test_the_page_is_small(report: Path):
    assert report.stat().st_size < 5_000_000
