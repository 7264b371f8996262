"""What the text of a judged table says."""

import dataclasses

import polars as pl
import pytest

from quantshift import judge
from quantshift.claims import Reason
from quantshift.judging.findings import JudgeAdvice
from quantshift.judging.output.comparisons import decided_by
from quantshift.judging.output.text import ABOUT_PEOPLE, summary_rows
from quantshift.judging.result import LimitsIf, ShareIf, SystemDifference
from tests.claims.made import GROUNDS, RANGED
from tests.judging.made import drawn, verdicts


def test_with_all_items_labelled_no_more_labels_are_asked_for():
    table = pl.DataFrame({"verdict": ["yes", "no"] * 50, "human": ["yes", "no", "no", "no"] * 25})
    text = judge(table, verdict="verdict", label="human", labels="random").to_text(details=True)
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
        grounds=RANGED,
        shares=shares,
        alternatives=(LimitsIf("if one", 0.4, 0.5), LimitsIf("if other", 0.625, 0.8)),
        if_rates_move=tuple(ShareIf(*entry) for entry in moved),
        labels_for_half_width=None,
        findings=(JudgeAdvice.LABEL_AT_RANDOM.found(n=100),),
    )
    return dataclasses.replace(result, overall=overall, batches=(overall,))


def test_a_range_is_drawn_with_what_it_is_made_of(ranged):
    text = ranged.to_text(details=True)
    assert "  40.0 to 50.0%  ··········▒▒············  if one\n" in text
    assert "  62.5 to 80.0%  ···············▒▒▒▒·····  if other\n" in text
    assert "cannot halve the range" in text


def test_groups_of_ranges_are_called_so(ranged):
    names = [dataclasses.replace(ranged.overall, name=name) for name in "AB"]
    several = dataclasses.replace(ranged, by="system", batches=tuple(names))
    head, *rows = summary_rows(several)
    assert head[4] == "range"
    assert [row[-1] for row in rows] == ["", ""]
    assert "62.5 to 80.0%" in several.to_text(details=True)
    first = dataclasses.replace(names[0], grounds=GROUNDS[Reason.LABELS])
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
    assert "\n".join(expected) in ranged.to_text(details=True)


def test_the_page_of_a_range_leads_with_the_range(ranged):
    page = ranged.page()
    assert "40.0 to 80.0% of the 400 items" in page
    assert "a range of what remains possible, not a confidence interval" in page
    assert '<td class="number">62.5 to 80.0%</td><td class="assumption">if other</td>' in page
    assert '<td class="number">70.0%</td><td class="number">50.0%</td>' in page
    assert (
        '<pre class="command"><code>quantshift plan judge --how random --n-labels 100</code></pre>'
        in page
    )
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


def test_a_difference_whose_own_limits_exclude_zero_is_said_to_be_one_of_many():
    """It was "+8.4 (+2.0 to +14.3), could be chance", with Holm's level and no limits at it."""
    row = SystemDifference(
        label="pass",
        system="A",
        other="B",
        estimate=0.084,
        low=0.02,
        high=0.143,
        paired=False,
        n_items=100,
        n_other=100,
        probability=0.99,
        p_value=0.01,
        p_adjusted=0.06,
        more_than_chance=False,
        labels_to_decide=None,
        naive=None,
    )
    assert decided_by(row) == "more than chance by itself, but not among so many pairs"
    assert decided_by(dataclasses.replace(row, low=-0.02)) == "could be chance"


def test_several_people_who_differ_are_told_what_the_rate_is_about(ranged):
    table = drawn(verdicts(300), 120)
    said = table["human"].to_list()
    other = [s if i % 9 else {"pass": "fail", "fail": "pass"}.get(s) for i, s in enumerate(said)]
    asked = {"verdict": "judge", "labels": "random"}
    told = judge(table.with_columns(ben=pl.Series(other)), label=("human", "ben"), **asked)
    assert ABOUT_PEOPLE in told.to_text()
    agreed = judge(table.with_columns(ben=pl.Series(said)), label=("human", "ben"), **asked)
    assert ABOUT_PEOPLE not in agreed.to_text()


def test_differences_of_shares_are_points_and_those_of_means_are_not():
    table = verdicts(400)
    asked = {"verdict": "judge", "label": "human", "labels": "random", "by": "system"}
    text = judge(drawn(table, 200), **asked, compare=("A", "B")).to_text()
    assert " points  (" in text
    assert "has the larger share of pass" in text
    grades = {"pass": "2", "fail": "1"}
    ordered = drawn(table, 200).with_columns(pl.col("judge", "human").replace(grades))
    ordered = ordered.with_columns(
        judge=pl.when(pl.int_range(400) < 60).then(pl.lit("3")).otherwise("judge")
    )
    ordered = ordered.with_columns(
        human=pl.when((pl.int_range(400) < 60) & pl.col("human").is_not_null())
        .then(pl.lit("3"))
        .otherwise("human")
    )
    text = judge(ordered, **asked, compare=("A", "B")).to_text()
    assert "has the larger mean" in text
    assert "mean +" in text or "mean -" in text
