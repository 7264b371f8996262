"""Histories: what is kept, what counts, what alarms, what is removed."""

import csv
import io
import json
from dataclasses import replace
from types import SimpleNamespace

import pytest

from quantshift import History
from quantshift.errors import UserError
from quantshift.history import HistoryEntry, Limits
from quantshift.history.charts.archive import _about_judge
from quantshift.history.output.rendering import render_series
from quantshift.quantifying.result import Audited
from tests.history.made import answer, days, filled, time_of, tree
from tests.quantifying.made import FOUND, SHIFTED, UNKNOWN


def shown(history):
    return render_series(history, history.limits())


def rows(history):
    return list(csv.DictReader(io.StringIO(history.to_csv())))


def test_what_an_answer_said_is_kept(tmp_path):
    history = History.open(tmp_path / "h")
    assert history.calls() == []
    found = answer(("new.csv", 0.3), shift=SHIFTED)
    call = history.append(found, at="2026-03-02T06:00", conditions=["pos>0.2"])
    assert history.calls() == [call]
    assert call.time == "2026-03-02T06:00:00+00:00"
    assert call.conditions == ("pos>0.2",)
    (batch,) = call.batches
    assert batch.shares == found.batches[0].shares
    assert (batch.is_shifted, batch.shift.kind, batch.shift.p_value) == (True, "covariate", 0.002)
    assert batch.unreliable
    assert call.model.trained_on == "t.csv"
    assert call.rows == FOUND.sample_rows
    assert HistoryEntry.from_bytes(call.to_bytes()) == call


def test_the_same_call_gives_the_same_bytes(tmp_path):
    first, second = (filled(tmp_path / name, days(3)) for name in "ab")
    assert tree(first.path) == tree(second.path)
    assert first.to_json() == second.to_json()
    first.append(days(3)[2], at=time_of(2))  # once more, as after a kill
    assert tree(first.path) == tree(second.path)


def test_a_batch_that_is_measured_again_is_kept_and_the_last_counts(tmp_path):
    history = filled(tmp_path / "h", [answer(("2026-W10", 0.1)), answer(("2026-W10", 0.2))])
    assert len(history.calls()) == 2
    (row,) = [row for row in rows(history) if row["class"] == "pos"]
    assert (float(row["estimate"]), row["measured_before"]) == (0.2, "1")
    assert len(json.loads(history.to_json())["calls"]) == 2


def test_files_that_are_numbered_instead_of_dated_are_pointed_out(tmp_path):
    numbered = [answer((f"day{i}.csv", 0.1)) for i in range(3)]
    assert "not compared" not in shown(filled(tmp_path / "two", numbered[:2]))
    assert shown(filled(tmp_path / "three", numbered)).endswith(
        "3 batches day*.csv are not compared with each other, because their names have no date: "
        "write day2026-03-02.csv, or use the same name every time"
    )
    # Stores that are numbered are compared from day to day.
    stores = answer(*((f"store {i}", 0.1) for i in range(5)))
    for n_days in (1, 2):
        of_stores = filled(tmp_path / f"stores{n_days}", [stores] * n_days)
        assert "not compared" not in shown(of_stores)


def test_names_without_a_date_are_looks_of_their_days(tmp_path):
    """`today.csv` every morning is a series; twice on one day is one batch."""
    history = History.open(tmp_path / "h")
    for at, share in [("2026-03-02T06", 0.1), ("2026-03-03T06", 0.2), ("2026-03-03T07", 0.3)]:
        history.append(answer(("today.csv", share)), at=at)
    (series,) = history.series()
    assert series.name == "today.csv"
    assert [point.share("pos").estimate for point in series.points] == [0.1, 0.3]


def test_batches_of_other_names_are_other_series(tmp_path):
    found = [answer((f"north {d}", 0.1), (f"south {d}", 0.3)) for d in ("2026-W10", "2026-W11")]
    history = filled(tmp_path / "h", found)
    assert [one.name for one in history.series()] == ["north *", "south *"]
    with pytest.raises(UserError, match=r"several series; name one of north \*, south \*"):
        history.plot()
    assert history.plot(series="north *").get_ylabel() == "share of pos"


def test_a_change_alarms_and_says_what_is_usual(tmp_path):
    history = filled(tmp_path / "h", days(30, change=0.15, after=27))
    alarms = history.alarms()
    assert [alarm.batch for alarm in alarms] == ["2026-01-30"]
    assert alarms[0].centre == pytest.approx(0.1, abs=0.01)
    assert alarms[0].smoothed > alarms[0].high
    assert not alarms[0].model_changed
    assert filled(tmp_path / "quiet", days(30)).alarms() == []
    assert history.alarms(history.calls()[20]) == []


def test_no_alarm_before_the_baseline_is_there(tmp_path):
    history = filled(tmp_path / "h", days(20, change=0.5, after=15))
    assert history.alarms() == []
    (control,) = history.controls()[0]
    assert control.reason == "the baseline has 20 of 20 batches so far"
    assert history.alarms(limits=Limits(baseline=10))


def test_a_baseline_may_start_anew(tmp_path):
    history = filled(tmp_path / "h", days(50, change=0.2, after=20))
    assert history.alarms()
    assert history.alarms(limits=Limits(baseline_from="2026-01-21")) == []


def test_an_old_batch_measured_again_does_not_alarm_again(tmp_path):
    found = days(35, change=0.2, after=30)
    history = filled(tmp_path / "h", found)
    again = replace(found[34], batches=tuple(one.batches[0] for one in found[28:]))
    call = history.append(again, at=time_of(40))
    assert [alarm.batch for alarm in history.alarms(call)] == ["2026-02-04"]


def test_a_change_of_the_model_is_said(tmp_path):
    found = days(30, change=0.2, after=25)
    other = replace(FOUND.training, n_items=1200)
    mixed = [*found[:25], *(replace(one, training=other) for one in found[25:])]
    history = filled(tmp_path / "h", mixed)
    assert [row["batch"] for row in rows(history) if row["model_changed"] == "True"] == [
        "2026-01-26",
        "2026-01-26",
    ]
    assert history.alarms()[0].model_changed


def test_the_place_of_the_training_table_is_no_other_model(tmp_path):
    found = answer(("2026-W10", 0.1))
    moved = replace(found, training=replace(found.training, source="elsewhere/t.csv"))
    history = filled(tmp_path / "h", [found, moved])
    first, second = history.calls()
    assert first.model.digest == second.model.digest


def test_an_audit_is_no_alarm_by_itself(tmp_path):
    """Where some batches are audited the method's own estimates are compared."""
    found = days(30)
    batch = found[-1].batches[0]
    shares = answer(("x", 0.4)).batches[0].shares
    audit = Audited(60, 0.5, shares, shares, True)
    audited = replace(found[-1], batches=(replace(batch, shares=shares, audit=audit),))
    history = filled(tmp_path / "h", [*found[:-1], audited])
    assert history.alarms() == []
    assert rows(history)[-1]["estimate"] == "0.4"
    assert rows(history)[-1]["audit_contradicts"] == "True"


def test_a_batch_without_an_estimate_is_a_gap(tmp_path):
    found = days(30, change=0.2, after=25)
    found[22] = replace(FOUND, batches=(replace(UNKNOWN, name="2026-01-23"),))
    history = filled(tmp_path / "h", found)
    (control,) = history.controls()[0]
    assert control.smoothed[22] is None
    assert control.alarms[29]


def test_more_classes_share_the_false_alarms(tmp_path):
    history = History.open(tmp_path / "h")
    found = days(30)
    for i, one in enumerate(found):
        batch = one.batches[0]
        shares = tuple(
            replace(batch.shares[1], label=label, estimate=p)
            for label, p in zip("abc", (0.1 + i % 2 / 50, 0.3, 0.6), strict=True)
        )
        batch = replace(batch, shares=shares, unaudited=shares)
        names = {label: label for label in "abc"}
        three = replace(one, classes=tuple("abc"), headline="a", names=names, batches=(batch,))
        history.append(three, at=time_of(i))
    controls = history.controls()[0]
    assert [control.label for control in controls] == ["a", "b", "c"]
    assert sum(control.false_alarms_per_year for control in controls) == pytest.approx(1)


def test_other_classes_are_refused(tmp_path):
    history = filled(tmp_path / "h", days(1))
    other = replace(days(1)[0], classes=("ham", "spam"))
    with pytest.raises(UserError, match="is a history of the classes neg, pos, and this result"):
        history.append(other)


@pytest.mark.parametrize("baseline", [0, 7, 10**20])
def test_a_baseline_has_some_looks(tmp_path, baseline):
    """One of 10**20 batches was written, and the history was damaged from then on."""
    with pytest.raises(UserError, match=f"at (least 8|most 9,.*) batches, got {baseline}"):
        filled(tmp_path / "h", days(1)).limits(baseline=baseline)


@pytest.mark.parametrize("name", ["false_alarms_per_year", "batches_per_year"])
@pytest.mark.parametrize("number", [0.0, -1.0, float("nan"), float("inf")])
def test_numbers_per_year_are_finite(tmp_path, name, number):
    """Infinity was a ValueError of the JSON that a call is written as."""
    with pytest.raises(UserError, match=r"per year are a number above 0, got") as caught:
        filled(tmp_path / "h", days(1)).limits(**{name: number})
    assert caught.value.arguments == (name,)


def test_limits_are_those_of_the_last_call(tmp_path):
    history = History.open(tmp_path / "h")
    history.append(days(1)[0], limits=Limits(baseline=12, false_alarms_per_year=2))
    history.append(days(2)[1])
    assert history.limits() == Limits(baseline=12, false_alarms_per_year=2)
    assert history.limits(baseline=15).baseline == 15


def test_batches_of_one_date_need_a_rate(tmp_path):
    history = History.open(tmp_path / "h")
    for i in range(12):
        history.append(answer((f"2026-01-01T{i:02d}", 0.1 + i / 100)), at=time_of(i))
    hourly = history.controls(Limits(baseline=8))[0][0]
    assert hourly.batches_per_year == pytest.approx(365.25 * 24)


def test_prune_removes_the_oldest_calls_and_nothing_else(tmp_path):
    history = filled(tmp_path / "h", days(5))
    foreign = history.path / "calls" / "notes.txt"
    foreign.write_text("mine")
    damaged = sorted(history.path.glob("calls/*.json"))[0]
    damaged.write_text("{}")
    told = history.prune(keep=2, dry_run=True)
    assert len(history.calls()) == 4
    assert history.prune(keep=2) == told
    assert [call.time[:10] for call in history.calls()] == ["2026-01-04", "2026-01-05"]
    assert foreign.read_text() == "mine"
    assert damaged.exists()
    assert [call.time[:10] for call in history.prune(before="2026-01-05")] == ["2026-01-04"]


@pytest.mark.parametrize("asked", [{}, {"before": "2026-01-01", "keep": 1}])
def test_prune_wants_to_know_what(tmp_path, asked):
    with pytest.raises(UserError, match="say which calls to remove"):
        filled(tmp_path / "h", days(1)).prune(**asked)


def test_frame_text_and_notebook(tmp_path):
    history = filled(tmp_path / "h", days(25, change=0.2, after=23))
    frame = history.to_frame()
    assert len(frame) == 50
    assert list(frame["class"][:2]) == ["neg", "pos"]
    said = repr(history).splitlines()
    assert said[0].startswith(f"History of 25 calls in {history.path}; newest share of pos: 30.9%")
    assert said[1].startswith("2026-01-25: alarm (moving average of pos ")
    assert said[-1] == "... and 15 more"
    assert history._repr_html_().startswith("<div><p><strong>History of 25 calls in ")
    history.to_html(tmp_path / "page.html")
    assert "2026-01-25" in (tmp_path / "page.html").read_text("utf-8")
    axes = history.plot()
    assert axes.get_ylabel() == "share of pos"
    with pytest.raises(UserError, match="unknown class 'spam'"):
        history.plot("spam")


def test_an_empty_history_is_told(tmp_path):
    with pytest.raises(UserError, match="has no calls yet"):
        History.open(tmp_path / "h").to_frame()
    with pytest.raises(UserError, match="does not exist"):
        History.open(tmp_path / "h", must_exist=True)


def test_a_batch_of_a_score_has_no_judge_and_no_kappa():
    judged = SimpleNamespace(judges=())
    found = _about_judge(SimpleNamespace(judged=judged), ("fail", "pass"), "pass")
    assert set(found.values()) == {None}
    assert len(found) == 4
