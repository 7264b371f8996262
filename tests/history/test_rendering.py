"""The lines about a history: which batches a call had, and the limits by default."""

from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace

import numpy as np
import pytest

from quantshift.answers.shares import Candidate, Share
from quantshift.history import Limits, watch
from quantshift.history.charts.alarms import alarms_of
from quantshift.history.charts.judges import JudgeOverTime
from quantshift.history.kept.record import charts_of_either
from quantshift.history.output.page import render_page
from quantshift.history.output.rendering import (
    average_and_limits,
    judge_lines,
    lead_text,
    render_calls,
    render_series,
)
from quantshift.judging import judge
from quantshift.labelling.findings import SheetFindings
from tests.history.made import DAY, answer, days, filled
from tests.history.test_judges import week
from tests.quantifying.made import POSITIVE, TWOFOLD, Made, found_with


def test_a_call_of_several_batches_names_the_first_and_the_last(tmp_path):
    several = answer(("2026-03-02", 0.1), ("2026-03-03", 0.2), ("2026-03-04", 0.3))
    untrained = replace(days(1)[0], training=replace(several.training, n_items=0))
    history = filled(tmp_path / "h", [untrained, several])
    head, one, three = render_calls(history.calls()).splitlines()
    assert "2026-01-01" in one
    assert three.count("2026-03") == 2
    assert three.index("2026-03-02") < three.index("2026-03-04")
    assert f"{several.training.n_items:,} rows" in three
    assert "rows" not in one
    assert history.calls()[1].model.digest[:8] in three
    assert history.calls()[1].model.digest[:9] not in three
    assert len(head.split()) >= 5


def test_limits_by_default():
    """Twenty batches are the baseline, and all series together alarm falsely once a year."""
    assert Limits() == Limits(20, None, 1.0, None)


def test_a_series_of_shares_has_a_column_of_shares_and_one_of_levels_of_means(tmp_path):
    history = filled(tmp_path / "h", days(3))
    lines = render_series(history, Limits()).splitlines()
    (head,) = (line for line in lines if line.startswith("batch "))
    assert head.split()[:3] == ["batch", "items", "share"]


def test_what_a_judge_says_of_the_newest_group_has_its_estimate_or_why_there_is_none():
    found = judge(week(0), verdict="judge", label="human", labels="random", insist=True, by="week")
    batch = found.batches[-1]
    share = batch.shares[-1]
    text, *_ = found.in_a_line()
    assert batch.name in text
    assert f"{100 * share.estimate:.1f}%" in text
    assert "400" in text
    unknown = replace(
        batch,
        shares=tuple(replace(one, estimate=None) for one in batch.shares),
        no_estimate_reason="because of X",
    )
    text, *_ = replace(found, batches=(unknown,)).in_a_line()
    assert "because of X" in text
    assert "%" not in text


def test_of_several_warnings_the_line_has_the_first_and_counts_the_others():
    warned = replace(
        days(1)[0],
        findings=(Made.ODD.found(), Made.OF_TABLE.found(), Made.OF_TABLE.found(table="t")),
    )
    line = watch(warned).summary_line()
    assert line.endswith("; W (and 2 other warnings)")
    gaps = SheetFindings.ROWS_WITHOUT_LABEL.found(table="sheet", n=2)
    line = watch(replace(warned, findings=(Made.ODD.found(), gaps))).summary_line()
    assert line.endswith(f"; {gaps.sentence}")


def twofold(n, moves):
    """An answer a day with two intervals, around .45 and .15; both or one move after day 25."""
    noise = np.random.default_rng(0).normal(0, 0.01, (n, 2))
    answers = []
    for i in range(n):
        at = np.array([0.45, 0.15]) + noise[i] + np.array(moves) * (i >= 25)
        both = tuple(
            Candidate(c.assumption, p, p - 0.04, p + 0.04)
            for c, p in zip(POSITIVE.either, at, strict=True)
        )
        share = Share("pos", None, both[1].low, both[0].high, both)
        shares = (share.complement("neg"), share)
        batch = replace(TWOFOLD, name=str(DAY + timedelta(i)), shares=shares, unaudited=shares)
        answers.append(found_with(batch))
    return answers


@pytest.mark.parametrize(("moves", "alarms"), [((0.2, 0.1), 2), ((0.2, 0.0), 0), ((0.0, 0.0), 0)])
def test_two_intervals_have_a_chart_each_and_alarm_together(tmp_path, moves, alarms):
    history = filled(tmp_path / "h", twofold(32, moves))
    (controls,) = history.controls()
    assert [control.label for control in controls] == list(charts_of_either("pos").values())
    assert controls[0].centre == pytest.approx(0.45, abs=0.02)
    assert controls[1].centre == pytest.approx(0.15, abs=0.02)
    assert len(alarms_of(history.calls())) == alarms
    assert "one of two 95% intervals" in render_series(history, Limits())
    records = list(history.records())
    assert len(records) == 32 * 2 * 2
    assert len({record["condition"] for record in records}) == 2


def test_a_history_of_one_and_two_intervals_goes_on(tmp_path):
    history = filled(tmp_path / "h", [*days(25), *twofold(28, (0.0, 0.0))[25:]])
    (controls,) = history.controls()
    assert len(controls) == 2
    assert render_page(history)


def test_the_average_is_shown_where_there_is_one():
    assert average_and_limits(None, 0) == ("", "")
    values = {"smoothed": (None, 0.25), "low": (None, 0.125), "high": (None, 0.5)}
    control = SimpleNamespace(label="pos", **values)
    assert average_and_limits(control, 0) == ("", "")
    average, bounds = average_and_limits(control, 1)
    assert float(average.strip("%")) == 25
    assert [float(end) for end in bounds.strip("%").split(" to ")] == [12.5, 50]


@pytest.mark.parametrize(("reason", "n_lines"), [("", 1), ("too few batches", 2)])
def test_a_judge_has_a_line_more_where_drift_is_not_tested(reason, n_lines):
    judge = JudgeOverTime("gpt", 3, 120, (0.5, 0.4, 0.6), (), "", (), reason, by_cluster=False)
    lines = list(judge_lines([judge]))
    assert len(lines) == n_lines
    assert reason in lines[-1]


def test_the_name_of_a_class_is_cut_in_the_lead():
    call = SimpleNamespace(lead="x" * 40, names={})
    assert len(lead_text(call).removeprefix("share of ")) == 30
