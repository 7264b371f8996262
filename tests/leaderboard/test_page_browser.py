"""The leaderboard in a real browser, with 45 methods, 15 data sets and 4 kinds of shift."""

import polars as pl
import pytest

from quantshift.analysis.ranks import rank_datasets
from quantshift.leaderboard.build import build_leaderboard
from quantshift.leaderboard.scores import score_table
from tests.leaderboard.conftest import make_store

DRAWN = "['ranks', 'time'].every((id) => document.getElementById(`plot-${id}`).dataset.drawn)"
ROWS = "#board-table tbody tr"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def page_of_many(crowded, tmp_path_factory):
    return build_leaderboard(crowded, tmp_path_factory.mktemp("page")).page


@pytest.fixture
def visit(open_quietly, page_of_many):
    def open_page(width=1280, scheme="light"):
        viewport = {"width": width, "height": 900}
        return open_quietly(page_of_many, ready=DRAWN, viewport=viewport, color_scheme=scheme)

    return open_page


def choose(page, name, value):
    before = page.evaluate("document.documentElement.dataset.shown")
    page.locator(f"#filters [name={name}]").select_option(value)
    page.wait_for_function("(n) => document.documentElement.dataset.shown !== n", arg=before)


def heads(page):
    return page.locator("#board-table thead th").all_inner_texts()


def test_all_methods_with_a_column_for_each_shift(visit):
    page = visit()
    assert page.locator(ROWS).count() == 45
    assert len(heads(page)) == 6 + 4
    choose(page, "by", "dataset")
    assert len(heads(page)) == 6 + 15
    choose(page, "by", "both")
    assert page.locator("#board-table thead tr").count() == 2
    assert page.locator("#board-table thead tr:nth-child(2) th").count() == 60


def test_mean_ranks_are_those_of_the_analysis(visit, crowded):
    page = visit()
    choose(page, "part", "prior")
    rows = crowded.read(["prior"]).collect()
    complete = rows.filter(rows["method"] != "HDx")
    expected = rank_datasets(complete)
    shown = {
        row.locator("th").inner_text(): row.locator("td").nth(1).inner_text()
        for row in page.locator(ROWS).all()
    }
    assert shown["HDx"] == "–"
    for method, rank in zip(expected.methods, expected.ranks, strict=True):
        # The page shows one decimal.
        assert float(shown[method]) == pytest.approx(rank, abs=0.0501), method
    said = page.locator("#ranks-said").inner_text()
    assert f"{expected.critical_difference:.1f} ranks" in said
    assert "1 method lacks some" in said


def test_filters_narrow_methods_and_columns(visit):
    page = visit()
    choose(page, "classes", "ordered")
    choose(page, "measure", "nmd")
    choose(page, "by", "dataset")
    assert heads(page)[6:] == ["table-02"]
    choose(page, "family", "added")
    assert page.locator(f"{ROWS} th").all_inner_texts() == ["Mine"]
    page.get_by_role("button", name="reset").click()
    page.locator("#filters [name=search]").fill("kdey")
    names = page.locator(f"{ROWS} th").all_inner_texts()
    assert {"KDEyML", "BayesianKDEy"} <= set(names)
    assert all("kdey" in name.lower() for name in names)


def test_columns_sort_and_gaps_stay_at_the_end(visit):
    page = visit()
    first = page.locator("#board-table thead th").nth(6)
    first.get_by_role("button").click()
    assert page.locator("#board-table thead th").nth(6).get_attribute("aria-sort") == "ascending"
    names = page.locator(f"{ROWS} th").all_inner_texts()
    assert (names[0], names[-1]) == ("ACC", "HDx")
    page.keyboard.press("Enter")  # the focus stays on the column
    names = page.locator(f"{ROWS} th").all_inner_texts()
    assert (names[-2], names[-1]) == ("ACC", "HDx")
    assert "more than 1,000" in page.locator(f"{ROWS}:last-child .absent").first.get_attribute(
        "title"
    )


def test_a_click_shows_the_samples_of_a_number(visit):
    page = visit(width=420)
    page.locator(".number").first.click()
    page.wait_for_function("document.getElementById('plot-samples').dataset.drawn")
    dialog = page.locator("#samples")
    assert dialog.is_visible()
    assert "ACC: " in page.locator("#samples-title").inner_text()
    # A point for each of the 12 samples, and the diagonal.
    assert page.locator("#plot-samples .mark-symbol path").count() == 12
    assert page.locator("#samples-table tbody tr").count() == 10
    page.locator("#samples-choice select").select_option(index=1)
    page.keyboard.press("Escape")
    assert dialog.is_hidden()


@pytest.mark.parametrize("width", [420, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_sticks_out(visit, width, scheme):
    page = visit(width=width, scheme=scheme)
    choose(page, "by", "both")
    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(wide) <= 0


def test_the_least_is_not_marked_where_all_fail(open_quietly, tmp_path):
    def marks(name, hardness):
        store = make_store(
            tmp_path / name,
            datasets={"pairs": 2},
            methods=("MLPE", "CC", "ACC"),
            hardness=hardness,
            samples=40,
        )
        page = open_quietly(build_leaderboard(store).page, ready=DRAWN)
        return page.locator("td.best").count(), page.locator("th.failing").count()

    assert marks("fair", 1.0) == (1, 0)
    # Errors of about a quarter, more than half of those of MLPE.
    assert marks("bad", 40.0) == (0, 1)


def test_a_view_has_an_address_and_a_frame_has_no_contents(open_quietly, page_of_many, tmp_path):
    frame = tmp_path / "site.html"
    address = f"{page_of_many.as_uri()}?measure=rae&by=dataset"
    frame.write_text(f'<iframe src="{address}" width="900" height="700"></iframe>')
    page = open_quietly(frame, ready="document.querySelector('iframe')")
    inner = page.frame_locator("iframe")
    inner.locator(ROWS).first.wait_for()
    assert inner.locator(".contents").is_hidden()
    assert "relative absolute error" in inner.locator("#board-facts").inner_text()
    assert inner.locator("#board-table thead th").count() == 6 + 15


def test_nothing_is_ranked_over_few_samples(tmp_path, open_quietly):
    store = make_store(
        tmp_path / "store",
        methods=("ACC", "CC", "PCC"),
        datasets={"mixed-table": 2, "other": 2},
        cells=1,
        samples=6,
    )
    page = open_quietly(build_leaderboard(store).page, ready=DRAWN)
    said = page.locator("#ranks-said").inner_text()
    assert "Not ranked, with fewer than 10 samples: mixed-table (6), other (6)." in said
    # The methods are sorted by their mean error instead, which is another order than by name.
    scores = score_table(store).filter(pl.col("measure") == "ae")
    means = scores.group_by("method").agg(pl.col("error").mean()).sort("error")
    assert page.locator(f"{ROWS} th").all_inner_texts() == means["method"].to_list()
    assert not means["method"].is_sorted()
    assert "PCC wins between them by construction" in page.locator(".notice").inner_text()
