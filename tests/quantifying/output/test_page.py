"""The page: complete in itself, escaped, and at work in a real browser."""

import base64
import dataclasses
import html
import json
import re

import polars as pl
import pytest

from quantshift.answers.batch_names import NO_GROUP
from quantshift.answers.conditions import Condition
from quantshift.answers.rows import Rows, rows_left_out
from quantshift.answers.shares import Share
from quantshift.claims import Alternative, Assumption, decide
from quantshift.quantifying import quantify
from quantshift.quantifying.output.page import render_page
from quantshift.quantifying.output.quantification import Quantification
from quantshift.tables.columns.findings import TableFindings
from tests.accessibility import grave_violations
from tests.claims.made import RANGED, TOO_WIDE
from tests.quantifying.made import ASSUMPTIONS, BATCH, FOUND, TWOFOLD, UNKNOWN

pytest.importorskip("vl_convert", reason="vl-convert-python is not installed")

EVIL = "</script><img src=x onerror=alert(1)>\"'&"


@pytest.fixture(scope="module")
def found(folder, model) -> Quantification:
    sample = pl.read_csv(folder / "new.csv").with_columns(part=pl.int_range(300) % 3)
    audit = pl.read_csv(folder / "truth.csv")[:60]
    return quantify(sample, model=model, by="part", audit=audit, replicates=50)


def test_the_page_needs_nothing_else(found):
    page = render_page(found)
    loaded = re.findall(r"<(?:script|img|link|iframe)[^>]+(?:src|href)=.(\w+:)", page)
    assert loaded == ["data:"]
    assert '<link rel="icon" type="image/svg+xml" href="data:' in page
    assert "default-src 'none'" in page
    assert len(page) < 1_500_000


def test_names_cannot_break_out(found):
    batches = tuple(dataclasses.replace(batch, name=EVIL) for batch in found.batches)
    evil = TableFindings.HIDDEN_SHEET.found(table=EVIL, sheet=EVIL)
    page = render_page(dataclasses.replace(found, batches=batches, findings=(evil,), reason=EVIL))
    assert "<img src=x" not in page
    assert page.count("</script>") == 3


def test_the_formula_of_an_assumption_follows_its_words_unless_they_are_the_same():
    assert "S in words (S)" in html.unescape(render_page(FOUND))
    same = dataclasses.replace(FOUND, assumption="S in words")
    assert "S in words (S" not in html.unescape(render_page(same))


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


def test_a_checker_of_accessibility_finds_nothing_grave(browser, made, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(render_page(made, conditions=[Condition.parse("pos>0.4")]), "utf-8")
    page, _ = opened(browser, path)
    assert grave_violations(page) == []
    page.close()


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(420, "light"), (1400, "dark"), (420, "dark")])
def test_a_checker_finds_nothing_grave_in_any_mode(browser, found, tmp_path, width, scheme):
    path = tmp_path / "page.html"
    path.write_text(render_page(found), "utf-8")
    viewport = {"width": width, "height": 900}
    page, _ = opened(browser, path, viewport=viewport, color_scheme=scheme)
    page.locator("details").evaluate_all("all => all.forEach(d => { d.open = true; })")
    assert grave_violations(page) == []
    page.close()


@pytest.mark.slow
def test_the_page_prints_without_controls_and_fits_the_paper(browser, found, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(render_page(found), "utf-8")
    page, _ = opened(browser, path, viewport={"width": 680, "height": 960})
    page.emulate_media(media="print")
    assert not page.is_visible(".chooser")
    assert not page.is_visible(".downloads")
    assert page.evaluate("document.documentElement.scrollWidth") <= 680
    assert page.pdf(format="A4").startswith(b"%PDF")
    page.close()


def test_it_fits_a_phone(browser, found, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(render_page(found), "utf-8")
    page, _ = opened(browser, path, viewport={"width": 390, "height": 800}, color_scheme="dark")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    ends = page.locator(".contents a").evaluate_all(
        "all => all.map(a => a.getBoundingClientRect().right)"
    )
    assert max(ends) <= 390
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
        BATCH, alternatives=(refuted, *ASSUMPTIONS[1:]), scores={"neg": EVEN, "pos": EVEN}
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
    rows = Rows("new.csv", 616, 9, {"no content": 607})
    left_out = dataclasses.replace(made, findings=tuple(rows_left_out(rows)))
    sentence = "<li>new.csv: 607 of 616 rows were left out (no content: 607)</li>"
    assert sentence not in page
    assert sentence in render_page(left_out)
    assert '<th scope="row">town</th><td>category</td><td>12 levels, 3 of them rare</td>' in page
    assert '<th scope="row">customer</th><td>nearly all values are distinct</td>' in page
    assert "<li>new.csv: 616 read, 9 used (no content: 607)</li>" in page
    assert "<dt>age</dt><dd>median 41.2 where 35 was expected</dd>" in page
    assert "second: pos: cannot be estimated from these columns: they tell the classes" in page
    assert "Cannot be estimated" in page


def masthead(page):
    """Heading, limits and lead."""
    parts = re.findall(r'id="(?:heading|limits|lead)">(.*?)</(?:h1|p)>', page)
    return [html.unescape(part) for part in parts]


def test_the_headline_names_share_items_batch_column_class_and_interval(made):
    monthly = dataclasses.replace(
        made,
        batches=(*made.batches[:2], dataclasses.replace(BATCH, name="12", basis="assumes A")),
        names={"neg": "Exited = 0", "pos": "Exited = 1"},
        by="month",
    )
    heading, limits, lead = masthead(render_page(monthly))
    assert heading == "43.0% of the 500 items in month 12 have Exited = 1"
    assert limits == "95% confidence interval 37.5 to 50.0%"
    assert lead == "The number assumes A."
    title = re.search("<title>(.*)</title>", render_page(monthly)).group(1)
    assert "to 43.0% (month 12) of the items have Exited = 1 (2 batches" in title
    mostly_unknown = dataclasses.replace(monthly, batches=(UNKNOWN, UNKNOWN, BATCH))
    title = "<title>The share of Exited = 1 cannot be estimated in 2 of 3 batches"
    assert title in render_page(mostly_unknown)
    assert masthead(render_page(made))[0] == "43.0% of the 500 items in third have mood = pos"
    unnamed = dataclasses.replace(made, label=None)
    assert masthead(render_page(unnamed))[0] == "43.0% of the 500 items in third are pos"


def regions(made):
    """Batches that do not follow one another."""
    batches = [
        dataclasses.replace(
            made.batches[0],
            name=name,
            shares=(Share("neg", 1 - p, 0.9 - p, 1.0), Share("pos", p, p - 0.1, p + 0.1)),
        )
        for name, p in (("east", 0.45), ("north", 0.106), ("west", 0.3))
    ]
    return dataclasses.replace(made, batches=tuple(batches), by="region", in_sequence=False)


def test_regions_have_a_headline_of_their_extremes(made):
    heading, limits, lead = masthead(render_page(regions(made)))
    assert heading == "10.6% (north) to 45.0% (east) of the items have mood = pos"
    assert limits == "3 batches, 1,500 items in all"
    assert lead.startswith("Choose a batch below")
    nothing = dataclasses.replace(made, batches=(UNKNOWN, UNKNOWN), in_sequence=False)
    assert masthead(render_page(nothing))[0].endswith("cannot be estimated in any of 2 batches")
    one = dataclasses.replace(made, batches=(UNKNOWN, made.batches[0]), in_sequence=False)
    assert masthead(render_page(one))[0] == "43.0% of the 500 items in a b have mood = pos"


def test_the_headline_is_not_about_a_batch_that_has_just_begun(made):
    """The title was about the last batch, however few items it had."""
    weeks = [
        dataclasses.replace(made.batches[0], name=f"2026-W{10 + i}", n_items=n)
        for i, n in enumerate((500, 520, 480, 9))
    ]
    page = render_page(dataclasses.replace(made, batches=tuple(weeks)))
    assert masthead(page)[0] == "43.0% of the 480 items in 2026\u2011W12 have mood = pos"
    assert "<title>43.0% (2026-W10) to 43.0% (2026-W12) of the items" in page
    assert '<option value="2" selected>2026-W12' in page
    assert "2026-W13 (9 items) has fewer than half as many items as is usual" in page
    undated = dataclasses.replace(weeks[0], name=NO_GROUP)
    with_undated = render_page(dataclasses.replace(made, batches=(*weeks[:3], undated)))
    assert masthead(with_undated)[0] == masthead(page)[0]
    assert "as is usual" not in with_undated
    full = dataclasses.replace(made, batches=tuple(weeks[:3]))
    assert masthead(render_page(full))[0].startswith("43.0% of the 480 items in 2026\u2011W12")
    assert "as is usual" not in render_page(full)


def test_a_headline_of_regions_does_not_rest_on_a_few_items(made):
    few = [
        dataclasses.replace(batch, n_items=n)
        for batch, n in zip(regions(made).batches, (1, 60, 70), strict=True)
    ]
    heading, limits, _ = masthead(
        render_page(dataclasses.replace(regions(made), batches=tuple(few)))
    )
    assert heading.startswith("10.6% (north) to 30.0% (west) of the items")
    assert limits == "2 batches with 30 items or more (1 is smaller), 131 items in all"


def test_a_column_of_the_page_has_the_same_number_of_decimals(made):
    """0.0% stood beside 0.15%."""
    rare = [
        dataclasses.replace(
            batch, shares=(Share("neg", 1 - p, 0.9, 1.0), Share("pos", p, 0.0, 0.1))
        )
        for batch, p in zip(regions(made).batches, (0.0, 0.0015, 0.2), strict=True)
    ]
    page = render_page(dataclasses.replace(regions(made), batches=tuple(rare)))
    assert re.findall(r"</th><td class=\"number\"><strong>(.*?)</strong>", page) == [
        "0.00%",
        "0.15%",
        "20.00%",
    ]


HOSTILE = ("constructor", "__proto__", "", "'a\"", "</b>", "\u202eb", "c\nd")
"""Names of batches that a browser or Vega may take for something else."""


def test_charts_without_training_and_with_hostile_names(browser, made, tmp_path):
    """The charts had an infinite height without training; "constructor" was an error of Vega."""
    batches = tuple(
        dataclasses.replace(made.batches[0], name=name, scores={"pos": (0.5, 0.5)})
        for name in HOSTILE
    )
    untrained = dataclasses.replace(
        made.training, n_items=0, prevalence={}, scores={"pos": {}, "neg": {}}
    )
    found = dataclasses.replace(made, batches=batches, training=untrained, in_sequence=False)
    path = tmp_path / "page.html"
    path.write_text(render_page(found), "utf-8")
    page, troubles = opened(browser, path)
    assert troubles == [path.as_uri()]
    assert 200 < page.locator("#plot-scores svg").bounding_box()["height"] < 400
    page.close()


def test_the_chart_names_every_group(browser, made, tmp_path):
    """Of 41 groups with long names 6 were named."""
    names = [f"a long name of group {i}" for i in range(90)]
    batches = tuple(dataclasses.replace(made.batches[0], name=name) for name in names)
    found = dataclasses.replace(made, batches=batches, in_sequence=False)
    path = tmp_path / "page.html"
    path.write_text(render_page(found), "utf-8")
    page, _ = opened(browser, path, viewport={"width": 1000, "height": 900})
    shown = page.locator("#plot-batches .role-axis-label text").all_text_contents()
    assert [name for name in shown if name in names] == names
    assert page.evaluate("document.querySelector('#plot-batches').scrollWidth") > 1000
    assert page.evaluate("document.body.scrollWidth") <= 1000
    page.close()


def test_regions_are_dots_without_a_line(browser, made, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(render_page(regions(made)), "utf-8")
    page, _ = opened(browser, path)
    assert page.locator("#plot-batches .mark-line").count() == 0
    assert page.inner_text("#batch-found").startswith("45.0% of the 500 items in east have")
    page.select_option("[data-batch]", label="north")
    assert page.inner_text("#batch-found").startswith("10.6% of the 500 items in north have")
    assert page.inner_text("#heading").startswith("10.6% (north) to 45.0% (east)")
    page.close()
    path.write_text(render_page(made), "utf-8")
    page, _ = opened(browser, path)
    assert page.locator("#plot-batches .mark-line").count() == 1
    page.close()


def test_the_class_that_is_reported_comes_first(made):
    one = dataclasses.replace(made, batches=made.batches[:1])
    rows = re.findall(r'<tr data-class="(\d)".*?<th scope="row">(.*?)</th>', render_page(one))
    assert rows == [("1", "pos"), ("0", "neg")]
    columns = re.findall(r'<th scope="col" class="number">(.*?)</th>', render_page(made))
    assert columns[:3] == ["pos", "neg", "items"]


def test_the_page_says_how_it_was_made(made):
    page = render_page(made, provenance=[("command", "quantshift quantify <x>"), ("seed", "7")])
    assert "<dt>command</dt><dd>quantshift quantify &lt;x&gt;</dd>" in page
    assert "<dt>seed</dt><dd>7</dd>" in page


def test_a_range_is_never_called_an_interval(made):
    refuted = dataclasses.replace(BATCH, grounds=RANGED)
    heading, limits, _ = masthead(render_page(dataclasses.replace(made, batches=(refuted,))))
    assert heading.startswith("37.5 to 50.0% of the 500 items")
    assert limits == "What remains possible, not a confidence interval"
    unknown = tuple(dataclasses.replace(share, estimate=None) for share in BATCH.shares)
    wide = dataclasses.replace(refuted, grounds=decide(TOO_WIDE), shares=unknown)
    heading, limits, lead = masthead(render_page(dataclasses.replace(made, batches=(wide,))))
    assert heading == "The share of mood = pos in new.csv cannot be estimated without labels"
    assert limits == "Anything from 37.5 to 50.0% is possible"
    assert "41.0% if only the shares of the classes changed, 36.0% if only the mix" in lead
    assert "50 random labels" in lead


def test_two_intervals_are_two_bars_each_with_its_condition(made):
    page = render_page(dataclasses.replace(made, batches=(TWOFOLD,)))
    heading, limits, _ = masthead(page)
    assert heading.startswith("Either 37.5 to 50.0% or 10.0 to 20.0% of the 500 items")
    assert limits.count(" if ") == 2
    assert "37.5 to 50.0% or 10.0 to 20.0%" in page
    assert page.count('<i style="left: ') == 4  # of two classes


def test_what_cannot_be_estimated_is_the_headline(made):
    heading, limits, lead = masthead(render_page(dataclasses.replace(made, batches=(UNKNOWN,))))
    assert heading == "The share of mood = pos in new.csv cannot be estimated"
    assert limits == "Anything from 0.0 to 100.0% is possible"
    assert lead == (
        "pos: cannot be estimated from these columns: they tell the classes apart no better than "
        "chance; between 0 and 100%."
    )


def test_the_numbers_can_be_downloaded_as_the_command_line_writes_them(made):
    link = r'download="(.*?)" href="data:[\w/]+;charset=utf-8;base64,(.*?)"'
    links = dict(re.findall(link, render_page(made)))
    files = {name: base64.b64decode(link).decode() for name, link in links.items()}
    assert files == {"quantshift.csv": made.to_csv(), "quantshift.json": made.to_json()}


def test_what_is_too_large_for_a_link_is_left_out(made, monkeypatch):
    monkeypatch.setattr("quantshift.answers.page.MOST_BYTES", 3000)
    assert re.findall(r'download="(.*?)"', render_page(made)) == ["quantshift.csv"]


def test_thresholds_are_drawn_and_those_crossed_are_told(made):
    conditions = [Condition.parse("pos > 40%"), Condition.parse("neg<0.1")]
    page = render_page(made, conditions=conditions)
    assert "Thresholds crossed" in page
    assert "<li>third: pos &gt; 40% (43.0%)</li>" in page
    data = json.loads(re.search(r'id="report-data">(.*?)</script>', page)[1])
    assert data["thresholds"] == [
        {"label": "pos", "bound": 0.4, "text": "pos > 40%"},
        {"label": "neg", "bound": 0.1, "text": "neg<0.1"},
    ]
    assert "Thresholds crossed" not in render_page(made)


def three_classes():
    """A quantification of three classes in one batch."""
    labels = ("long", "none", "short")
    estimates = zip(labels, (0.1, 0.6, 0.3), strict=True)
    shares = tuple(Share(label, p, p - 0.02, p + 0.02) for label, p in estimates)
    prevalence = dict(zip(labels, (0.2, 0.5, 0.3), strict=True))
    batch = dataclasses.replace(
        BATCH,
        shares=shares,
        unaudited=shares,
        alternatives=(Alternative(Assumption.PRIOR, "SLD", prevalence),),
        scores=dict.fromkeys(labels, EVEN),
    )
    training = dataclasses.replace(
        FOUND.training,
        prevalence=prevalence,
        scores={label: dict.fromkeys(labels, EVEN) for label in labels},
    )
    return dataclasses.replace(
        FOUND,
        classes=labels,
        headline="long",
        names={label: label for label in labels},
        batches=(batch,),
        training=training,
    )


def test_the_page_follows_the_class_that_is_chosen_by_keyboard(browser, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(render_page(three_classes()), "utf-8")
    page = browser.new_page(viewport={"width": 400, "height": 800})
    page.goto(path.as_uri())
    page.wait_for_selector("#plot-scores svg path")
    assert page.locator("td.track:visible").count() == 3
    assert page.inner_text("#heading") == "10.0% of the 500 items in new.csv have mood = long"
    page.focus("[data-label]")
    page.keyboard.press("ArrowDown")
    assert page.inner_text("#heading") == "60.0% of the 500 items in new.csv have mood = none"
    assert page.inner_text("#limits") == "95% confidence interval 58.0 to 62.0%"
    assert "50.0%" in page.inner_text("#numbers")
    assert "none" in page.inner_text("tr.chosen")
    page.wait_for_function(
        "document.querySelector('#plot-scores').textContent.includes('probability of none')"
    )
    assert "share of none" in page.inner_text("#plot-assumptions")
    described = page.get_attribute("#plot-assumptions", "aria-label")
    assert "if only the shares of the classes changed: 50.0%" in described
    page.close()


def axis_of(page, chart):
    """The texts along the axis of shares."""
    return page.locator(f"#plot-{chart} .role-axis-label text").all_text_contents()


def test_axes_begin_at_zero_and_end_where_the_data_do(browser, made, tmp_path):
    small = tuple(Share(label, p, p - 0.02, p + 0.02) for label, p in (("neg", 0.9), ("pos", 0.1)))
    batches = tuple(dataclasses.replace(batch, shares=small) for batch in made.batches[::2])
    training = dataclasses.replace(made.training, prevalence={"neg": 0.8, "pos": 0.2})
    path = tmp_path / "page.html"
    found = dataclasses.replace(made, batches=batches, training=training)
    path.write_text(render_page(found), "utf-8")
    page = browser.new_page()
    page.goto(path.as_uri())
    page.wait_for_selector("#plot-batches svg path")
    shares = [float(text[:-1]) for text in axis_of(page, "batches") if text.endswith("%")]
    assert min(shares) == 0
    assert 15 <= max(shares) <= 22
    page.close()


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
    (ring,) = (dot for dot in dots if "contradicted" in dot["name"])
    assert ring["fill"] == "transparent"
    assert ring["width"] <= min(dot["width"] for dot in dots) + 2
    assert max(dots, key=lambda dot: dot["width"]) is not ring
    page.close()


@pytest.mark.slow
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
