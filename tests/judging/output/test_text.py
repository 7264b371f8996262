"""What the text of a judged table says."""

import dataclasses

import polars as pl
import pytest

from quantshift import judge
from quantshift.answers.kinds import INTERVAL, RANGE
from quantshift.judging.output.text import summary_rows
from quantshift.judging.result import LimitsIf, ShareIf
from tests.judging.made import drawn, verdicts


def test_with_all_items_labelled_no_more_labels_are_asked_for():
    table = pl.DataFrame({"verdict": ["yes", "no"] * 50, "human": ["yes", "no", "no", "no"] * 25})
    text = judge(table, verdict="verdict", label="human", labels="random").to_text()
    assert "Needed   all items are labelled: the share among them is known" in text
    assert "half the width" not in text


@pytest.fixture
def ranged():
    """A range of 40 to 80%, made of two alternatives."""
    result = judge(drawn(verdicts(), 120), verdict="judge", label="human", labels="random")
    shares = tuple(
        dataclasses.replace(share, estimate=p, low=low, high=high)
        for share, p, low, high in zip(
            result.overall.shares, (0.4, 0.6), (0.2, 0.4), (0.6, 0.8), strict=True
        )
    )
    moved = (("pass", -0.05, 0.7), ("pass", 0.05, 0.5), ("fail", -0.05, 0.55), ("fail", 0.05, 0.62))
    overall = dataclasses.replace(
        result.overall,
        kind=RANGE,
        shares=shares,
        alternatives=(LimitsIf("if one", 0.4, 0.5), LimitsIf("if other", 0.625, 0.8)),
        if_rates_move=tuple(ShareIf(*entry) for entry in moved),
        labels_for_half_width=None,
        settle="Label 100 random items of this table to settle it: `quantshift judge plan` draws.",
    )
    return dataclasses.replace(result, overall=overall, batches=(overall,))


def test_a_range_is_drawn_with_what_it_is_made_of(ranged):
    text = ranged.to_text()
    assert "  40.0 to 50.0%  ··········▒▒············  if one\n" in text
    assert "  62.5 to 80.0%  ···············▒▒▒▒·····  if other\n" in text
    assert "cannot halve the range" in text


def test_groups_of_ranges_are_called_so(ranged):
    names = [dataclasses.replace(ranged.overall, name=name) for name in "AB"]
    several = dataclasses.replace(ranged, by="system", batches=tuple(names))
    head, *rows = summary_rows(several)
    assert head[4] == "range"
    assert [row[-1] for row in rows] == ["", ""]
    assert "62.5 to 80.0%" in several.to_text()
    first = dataclasses.replace(names[0], kind=INTERVAL)
    head, *rows = summary_rows(dataclasses.replace(several, batches=(first, names[1])))
    assert head[4] == "95% interval"
    assert [row[-1] for row in rows] == ["", "range"]


def test_the_share_if_an_error_rate_moves_is_a_table(ranged):
    expected = [
        "Share of pass if the judge is right less or more often here:",
        "  if it is               5 points lower  5 points higher",
        "  sensitivity (of pass)           70.0%            50.0%",
        "  specificity (of fail)           55.0%            62.0%",
    ]
    assert "\n".join(expected) in ranged.to_text()


def test_the_page_of_a_range_leads_with_the_range(ranged):
    page = ranged.page()
    assert "40.0 to 80.0% of the 400 items" in page
    assert "a range of what remains possible, not a confidence interval" in page
    assert '<td class="number">62.5 to 80.0%</td><td class="assumption">if other</td>' in page
    assert '<td class="number">70.0%</td><td class="number">50.0%</td>' in page
    assert '<pre class="command"><code>quantshift judge plan</code></pre>' in page
    # The sentence is said once, not among the advice as well.
    assert page.count("Label 100 random items of this table to settle it") == 1


def test_axes_of_a_plot_are_named_after_what_the_limits_are(ranged):
    assert ranged.plot().get_xlabel().endswith(", range")


@pytest.mark.slow
def test_the_charts_of_a_range_work_in_a_browser(ranged, open_quietly, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(ranged.page(), "utf-8")
    ready = "() => document.querySelector('#plot-assumptions svg path')"
    page = open_quietly(path, ready=ready, viewport={"width": 390, "height": 800})
    said = page.get_attribute("#plot-assumptions", "aria-label")
    assert "40.0% to 50.0% if one; 62.5% to 80.0% if other" in said
    dashed = "document.querySelectorAll('#plot-shares svg [stroke-dasharray=\"5,4\"]').length"
    assert page.evaluate(dashed) == 2
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
