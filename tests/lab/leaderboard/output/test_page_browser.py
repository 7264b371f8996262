"""The leaderboard in a real browser, with 45 methods, 15 data sets and 4 kinds of shift."""

import re

import polars as pl
import pytest

from quantshift.lab.analysis.pairwise import against
from quantshift.lab.analysis.ranks import rank_datasets
from quantshift.lab.leaderboard.build import build_leaderboard
from quantshift.lab.leaderboard.pairs import compare_scores
from quantshift.lab.leaderboard.scores import score_table
from tests.accessibility import grave_violations
from tests.lab.leaderboard.conftest import make_store

DRAWN = "['ranks', 'time'].every((id) => document.getElementById(`plot-${id}`).dataset.drawn)"
ROWS = "#board-table tbody tr"
NAMES = f"{ROWS} th .name"

SUMMARIES = 7
"""Columns before those of errors: method, family, mean rank, mean, worst, two times."""

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
    assert len(heads(page)) == SUMMARIES + 4
    choose(page, "by", "dataset")
    assert len(heads(page)) == SUMMARIES + 15
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
        row.locator("th .name").inner_text(): row.locator("td").nth(1).inner_text()
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
    assert heads(page)[SUMMARIES:] == ["table-02"]
    choose(page, "family", "added")
    assert page.locator(NAMES).all_inner_texts() == ["Mine"]
    page.get_by_role("button", name="reset").click()
    page.locator("#filters [name=search]").fill("kdey")
    names = page.locator(NAMES).all_inner_texts()
    assert {"KDEyML", "BayesianKDEy"} <= set(names)
    assert all("kdey" in name.lower() for name in names)


def test_columns_sort_and_gaps_stay_at_the_end(visit):
    page = visit()
    first = page.locator("#board-table thead th").nth(SUMMARIES)
    first.get_by_role("button").click()
    assert (
        page.locator("#board-table thead th").nth(SUMMARIES).get_attribute("aria-sort")
        == "ascending"
    )
    names = page.locator(NAMES).all_inner_texts()
    assert (*names[:2], names[-1]) == ("Mine", "ACC", "HDx")
    page.keyboard.press("Enter")  # the focus stays on the column
    names = page.locator(NAMES).all_inner_texts()
    assert (names[-2], names[-1]) == ("ACC", "HDx")
    assert "more than 1,000" in page.locator(f"{ROWS}:last-child .absent").first.get_attribute(
        "title"
    )


def test_a_click_shows_the_samples_of_a_number(visit):
    page = visit(width=420)
    page.locator(f"{ROWS}:nth-child(2) .number").first.click()
    page.wait_for_function("document.getElementById('plot-samples').dataset.drawn")
    dialog = page.locator("#samples")
    assert dialog.is_visible()
    assert "ACC: " in page.locator("#samples-title").inner_text()
    # A point for each of the 12 samples, and the diagonal.
    assert page.locator("#plot-samples .mark-symbol path").count() == 12
    assert page.locator("#samples-table tbody tr").count() == 10
    assert grave_violations(page) == []
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
    assert inner.locator("#board-table thead th").count() == SUMMARIES + 15
    # Older links have the choices in the query; the page itself keeps them in the fragment.
    address = f"{page_of_many.as_uri()}#measure=rae&by=dataset"
    frame.write_text(f'<iframe src="{address}" width="900" height="700"></iframe>')
    inner = open_quietly(frame, ready="document.querySelector('iframe')").frame_locator("iframe")
    inner.locator(ROWS).first.wait_for()
    assert "relative absolute error" in inner.locator("#board-facts").inner_text()


def test_sort_and_filter_are_kept_in_the_address(visit, open_quietly, page_of_many):
    page = visit()
    choose(page, "measure", "rae")
    page.locator("#board-table thead [data-key=fit] button").click()
    page.keyboard.press("Enter")
    page.locator("#reference").select_option("EoQ")
    names = page.locator(NAMES).all_inner_texts()
    page.locator(".contents a[href='#pairs']").click()
    address = page.evaluate("location.hash")
    assert address == "#pairs&measure=rae&sort=fit&down=1&reference=EoQ"
    again = open_quietly(page_of_many, ready=DRAWN)
    again.goto(page_of_many.as_uri() + address)
    again.wait_for_function("document.getElementById('reference').value === 'EoQ'")
    assert again.locator(NAMES).all_inner_texts() == names
    assert again.locator("[data-key=fit]").get_attribute("aria-sort") == "descending"
    again.get_by_role("button", name="reset").click()
    assert again.evaluate("location.hash") == "#pairs"
    # Nonsense in an address changes nothing.
    again.goto(page_of_many.as_uri() + "#sort=constructor&measure=%3Cb%3E&by=7")
    again.wait_for_function("location.hash === ''")
    assert again.locator("[data-key=rank]").get_attribute("aria-sort") == "ascending"


def test_added_methods_are_pinned_and_marked(visit):
    page = visit()
    for key in ("rank", "name", "time"):
        page.locator(f"#board-table thead [data-key={key}] button").click()
        assert page.locator(NAMES).first.inner_text() == "Mine"
    mark = "getComputedStyle(document.querySelector('tr.added th'), '::after').content"
    assert "✦" in page.evaluate(mark)
    region = page.locator("#board-region")
    region.evaluate("(region) => { region.scrollTop = 400; }")
    top = page.locator("tr.pinned").evaluate("(row) => row.cells[0].getBoundingClientRect().top")
    head = page.locator("#board-table thead").bounding_box()
    region_top = region.bounding_box()["y"]
    # Right under the head of the table, which sticks to the top of its box.
    assert region_top < top < region_top + head["height"] + 5


@pytest.mark.parametrize("table", ["board-table", "reference-table"])
def test_a_cut_list_says_how_many_more_there_are(visit, table):
    page = visit()
    region = page.locator(".scroll", has=page.locator(f"#{table}"))
    more = region.locator("xpath=following-sibling::*[1]").locator("button")
    below = int(more.inner_text().split()[0])
    box = region.bounding_box()
    bottoms = [row.bounding_box() for row in page.locator(f"#{table} tbody tr").all()]
    assert below == sum(b["y"] + b["height"] > box["y"] + box["height"] for b in bottoms) > 10
    region.evaluate("(region) => { region.scrollTop = 1e6; }")
    more.wait_for(state="hidden")
    region.evaluate("(region) => { region.scrollTop = 0; }")
    more.click()
    assert more.inner_text() == "show fewer"
    last = page.locator(f"#{table} tbody tr:last-child").bounding_box()
    box = region.bounding_box()
    assert last["y"] + last["height"] <= box["y"] + box["height"] + 1


def test_a_folded_list_says_it_when_it_is_unfolded(visit):
    page = visit()
    details = page.locator("#stability details").first
    details.locator("summary").click()
    more = details.locator(".more button")
    more.wait_for()
    assert re.fullmatch(r"\d+ more – show all", more.inner_text())


def test_a_short_list_has_no_such_line(open_quietly, tmp_path):
    store = make_store(tmp_path / "few", datasets={"a": 2}, methods=("SLD", "CC"))
    page = open_quietly(build_leaderboard(store, tmp_path).page, ready=DRAWN)
    assert not any(line.is_visible() for line in page.locator(".more").all())


def test_pairs_are_those_of_the_analysis(visit, crowded):
    page = visit()
    page.locator("#reference").select_option("DMx")
    scores = score_table(crowded).filter(pl.col("measure") == "ae")
    pairs = compare_scores(scores)
    expected = {row["other"]: row for row in against(pairs, "DMx").iter_rows(named=True)}
    rows = page.locator("#reference-table tbody tr").all()
    assert len(rows) == len(expected) == 44
    verdicts = set()
    for row in rows:
        cells = [text.strip().replace("−", "-") for text in row.locator("td").all_inner_texts()]
        other = expected[row.locator("th").inner_text().strip()]
        assert cells[0] == f"{other['wins']}–{other['ties']}–{other['losses']}"
        # Errors are rounded on the page, and p-values have two digits.
        assert float(cells[1]) == pytest.approx(other["difference"], abs=6e-5)
        assert float(cells[2]) == pytest.approx(other["effect"], abs=0.006)
        assert float(cells[3]) == pytest.approx(other["p_value"], rel=0.02, abs=6e-4)
        assert float(cells[4]) == pytest.approx(other["p_holm"], rel=0.02, abs=6e-4)
        clear = other["p_holm"] < 0.05
        assert cells[5].endswith("is better") == clear
        verdicts.add(clear)
    assert verdicts == {True, False}


def test_the_matrix_is_antisymmetric_and_corrected_for_its_pairs(visit, crowded):
    page = visit()
    table = page.locator("#matrix-table")
    names = [text.strip() for text in table.locator("thead th").all_inner_texts()][1:]
    assert len(names) == 13
    assert names[-1] == "Mine"
    scores = score_table(crowded).filter(
        (pl.col("measure") == "ae") & pl.col("method").is_in(names)
    )
    pairs = compare_scores(scores)
    for row in pairs.iter_rows(named=True):
        i, j = names.index(row["method"]), names.index(row["other"])
        cells = [table.locator("tbody tr").nth(a).locator("td").nth(b) for a, b in ((i, j), (j, i))]
        tallies = [row["wins"], row["ties"], row["losses"]]
        assert cells[0].inner_text() == "–".join(map(str, tallies))
        assert cells[1].inner_text() == "–".join(map(str, reversed(tallies)))
        better, worse = ("better", "worse") if row["effect"] > 0 else ("worse", "better")
        clear = row["p_holm"] < 0.05
        assert [cell.get_attribute("class") for cell in cells] == (
            [better, worse] if clear else [None, None]
        )


def test_few_data_sets_are_not_tested(visit):
    page = visit()
    choose(page, "dataset", "table-01")
    assert "fewer than 6 data sets" in page.locator("#pairs-said").inner_text()
    verdicts = page.locator("#reference-table tbody td:last-child").all_inner_texts()
    assert set(verdicts) == {"not tested"}
    assert page.locator("#matrix-table .better, #matrix-table .worse").count() == 0


def test_what_is_not_significantly_worse_than_the_best(open_quietly, tmp_path):
    store = make_store(
        tmp_path / "s", datasets={"a": 2, "b": 3}, methods=("CC", "ACC", "EMQ", "MLPE"), cells=8
    )
    page = open_quietly(build_leaderboard(store).page, ready=DRAWN)
    choose(page, "by", "both")
    assert heads(page)[5] == "best or level"
    scores = score_table(store).filter(pl.col("measure") == "ae")
    near = {
        (row["method"], row["dataset"])
        for row in scores.iter_rows(named=True)
        if row["p_best"] is not None and row["p_best"] >= 0.05
    }
    columns = page.locator("#board-table thead tr:nth-child(2) th").all_inner_texts()
    shown = set()
    for row in page.locator(ROWS).all():
        name = row.locator(".name").inner_text()
        cells = row.locator("td:not(.summary):not(.family)").all_inner_texts()
        shown |= {(name, c) for c, text in zip(columns, cells, strict=True) if "≈" in text}
        level = sum((name, c) in near for c in columns)
        level += scores.filter((pl.col("method") == name) & pl.col("p_best").is_null()).height
        assert row.locator("td.summary").nth(3).inner_text() == f"{level} of 2"
    assert shown == near
    assert 0 < len(near) < 6


def test_marks_differ_beyond_twelve_colours(visit):
    page = visit()
    marks = page.locator(f"{ROWS} .mark path").evaluate_all(
        "(paths) => paths.map((p) => p.getAttribute('d') + getComputedStyle(p).fill)"
    )
    assert len(marks) == len(set(marks)) == 45
    points = page.locator("#plot-ranks .mark-symbol path").evaluate_all(
        "(paths) => paths.map((p) => p.getAttribute('d') + p.getAttribute('fill'))"
    )
    assert len(points) == len(set(points)) == 44


def test_names_are_whole_on_a_phone(visit):
    page = visit(width=390)
    cut = """(cells) => cells.filter((cell) => cell.scrollWidth > cell.clientWidth + 1
        || cell.querySelector(".name").getClientRects().length > 1)
        .map((cell) => cell.innerText)"""
    assert page.locator(f"{ROWS} th").evaluate_all(cut) == []
    sizes = page.locator(NAMES).evaluate_all(
        "(names) => names.map((name) => parseFloat(getComputedStyle(name).fontSize))"
    )
    assert min(sizes) >= 12


def test_a_quick_run_is_said_at_the_top(open_quietly, tmp_path, visit):
    store = make_store(tmp_path / "s", datasets={"a": 2}, methods=("CC", "ACC"), profile="quick")
    page = open_quietly(build_leaderboard(store).page, ready=DRAWN)
    notice = page.locator(".masthead #quick")
    assert "profile quick" in notice.inner_text()
    assert visit().locator("#quick").count() == 0


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
    assert page.locator(NAMES).all_inner_texts() == means["method"].to_list()
    assert not means["method"].is_sorted()
    assert "PCC wins between them by construction" in page.locator(".notice").inner_text()
