"""A judge over time: what a history keeps of `judge`, pooled labels, drift, alarms, one line."""

import json
from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest
from scipy import special, stats

from quantshift.errors import UserError
from quantshift.history import History, HistoryEntry, Limits, watch
from quantshift.history.charts.judges import judges_over_time
from quantshift.history.kept.record import ACCURACY, MEAN
from quantshift.judging import judge
from quantshift.labelling.sequence import counted_sequence
from tests.history.made import answer

FIRST = date(2026, 1, 5)
ASKED = {"verdict": "judge", "label": "human", "labels": "random", "insist": True}


def week(i, *, specificity=0.8, n=400, k=60, by_verdict=False):
    """The verdicts of a week, `k` of them labelled; the name of the column of weeks is its date."""
    rng = np.random.default_rng(i)
    truth = rng.random(n) < 0.6
    said = np.where(truth, rng.random(n) < 0.95, rng.random(n) >= specificity)
    if by_verdict:
        rows = [rng.choice(np.flatnonzero(said == side), k // 2, replace=False) for side in (0, 1)]
        known = np.isin(np.arange(n), np.concatenate(rows))
    else:
        known = np.isin(np.arange(n), rng.choice(n, k, replace=False))
    names = np.where(truth, "pass", "fail")
    return pl.DataFrame(
        {
            "week": str(FIRST + timedelta(7 * i)),
            "judge": np.where(said, "pass", "fail"),
            "human": [str(name) if seen else None for name, seen in zip(names, known, strict=True)],
        }
    )


def kept(folder, weeks, *, baseline=8, **options):
    """A history of the weeks, appended one by one; what the last call says."""
    history = History(folder)
    for i, table in enumerate(weeks):
        found = judge(table, **{**ASKED, **options}, by="week")
        at = str(FIRST + timedelta(7 * i))
        last = watch(found, history=folder, at=at, baseline=baseline, fail_on="alarm")
    return history, last


@pytest.fixture(scope="module")
def steady(tmp_path_factory):
    weeks = [week(i) for i in range(12)]
    return kept(tmp_path_factory.mktemp("steady"), weeks), weeks


@pytest.fixture(scope="module")
def drifting(tmp_path_factory):
    weeks = [week(i, specificity=0.85 if i < 8 else 0.25) for i in range(14)]
    return kept(tmp_path_factory.mktemp("drifting"), weeks), weeks


def test_the_labels_of_all_weeks_are_pooled(steady):
    (history, _), weeks = steady
    ((found,),) = history.judges()
    known = pl.concat(weeks).drop_nulls("human")
    assert (found.n_batches, found.n_labels) == (12, len(known))
    for rate in found.rates:
        part = known.filter(pl.col("human") == rate.label)
        assert rate.estimate == pytest.approx((part["judge"] == rate.label).mean())
        assert rate.low < rate.estimate < rate.high
    agree = (known["judge"] == known["human"]).mean()
    said, true = ((known[name] == "pass").mean() for name in ("judge", "human"))
    chance = said * true + (1 - said) * (1 - true)
    assert found.kappa[0] == pytest.approx((agree - chance) / (1 - chance))
    assert found.kappa[1] < found.kappa[0] < found.kappa[2]


def test_a_class_that_two_verdicts_say_has_no_single_rate(tmp_path):
    def said(table):
        second = (pl.int_range(pl.len()) % 2 == 0) & (pl.col("judge") == "pass")
        return table.with_columns(judge=pl.when(second).then(pl.lit("fine")).otherwise("judge"))

    weeks = [said(week(i)) for i in range(2)]
    history, _ = kept(tmp_path / "h", weeks, map={"fine": "pass"})
    ((found,),) = history.judges()
    assert [rate.label for rate in found.rates] == ["fail"]
    known = pl.concat(weeks).drop_nulls("human").filter(pl.col("human") == "fail")
    assert found.rates[0].estimate == pytest.approx((known["judge"] == "fail").mean())


def test_drift_is_tested_once_the_baseline_is_complete(tmp_path):
    weeks = [week(i) for i in range(8)]
    history, _ = kept(tmp_path / "h", weeks[:7])
    ((early,),) = history.judges()
    assert (early.n_batches, early.drifts) == (7, ())
    assert early.reason
    history, _ = kept(tmp_path / "h", weeks)
    ((complete,),) = history.judges()
    assert (complete.n_batches, complete.reason) == (8, "")


def test_labels_by_verdict_stand_for_their_part_of_the_items(tmp_path):
    weeks = [week(i, by_verdict=True) for i in range(9)]
    history, _ = kept(tmp_path / "h", weeks, labels="by-verdict")
    ((found,),) = history.judges()
    assert found.given == "verdict"
    every, known = pl.concat(weeks), pl.concat(weeks).drop_nulls("human")
    table = {}
    for verdict in ("fail", "pass"):
        part = known.filter(pl.col("judge") == verdict)
        n = (every["judge"] == verdict).sum()
        for label in ("fail", "pass"):
            table[label, verdict] = n * (part["human"] == label).mean()
    expected = table["fail", "fail"] / (table["fail", "fail"] + table["fail", "pass"])
    rate = next(rate for rate in found.rates if rate.label == "fail")
    assert rate.estimate == pytest.approx(expected)
    counted = known.filter(pl.col("human") == "fail")
    assert abs((counted["judge"] == "fail").mean() - expected) > 0.02, "counting would be wrong"
    assert [drift.what for drift in found.drifts] == ["fail", "pass"]
    fail = known.filter(pl.col("judge") == "fail")
    seen = found.drifts[0]
    assert seen.baseline.n + seen.since.n == len(fail)
    assert seen.baseline.right + seen.since.right == (fail["human"] == "fail").sum()


def test_a_judge_that_changes_is_seen_and_one_that_does_not_is_not(steady, drifting):
    (quiet, last), _ = steady
    assert not any(drift.drifted for drift in quiet.judges()[0][0].drifts)
    assert (last.drifts, last.exit_code) == ([], 0)
    (history, last), weeks = drifting
    ((found,),) = history.judges()
    fail, passed = found.drifts
    assert (fail.what, fail.drifted, passed.drifted) == ("fail", True, False)
    assert fail.since.high < fail.baseline.low
    since = pl.concat(weeks[8:]).filter(pl.col("human") == "fail")
    assert (fail.since.n, fail.since.right) == (len(since), (since["judge"] == "fail").sum())
    (text,) = last.drifts
    assert text.startswith("judge has drifted: right about 'fail' ")
    assert last.exit_code == 3
    assert last.summary_line().startswith("ALARM 2026-04-06: pass ")
    assert text in last.summary_line()
    assert text in last.to_text(details=True)
    assert json.loads(last.to_json())["history"]["drifts"] == [text]


def test_a_new_baseline_forgets_the_drift(drifting):
    (history, _), _ = drifting
    (found,) = judges_over_time(
        history.series()[0], Limits(baseline=8, baseline_from=str(FIRST + timedelta(7 * 8)))
    )
    assert not any(drift.drifted for drift in found.drifts)
    assert found.reason == "the baseline has 6 of 8 batches with labels so far"
    assert found.n_batches == 6


def test_the_agreement_has_a_chart_and_alarms(drifting, steady):
    (history, last), weeks = drifting
    assert {alarm.label for alarm in last.alarms} == {ACCURACY}
    assert last.alarms[0].shown == "agreement of judge with people"
    for point, table in zip(history.series()[0].points, weeks, strict=True):
        known = table.drop_nulls("human")
        agree = point.share(ACCURACY)
        assert agree.estimate == pytest.approx((known["judge"] == known["human"]).mean())
        assert agree.low < agree.estimate < agree.high
    assert steady[0][1].alarms == []


def test_what_is_shown_and_exported(steady):
    (history, last), weeks = steady
    rows = pl.read_csv(history.to_csv().encode())
    assert len(rows) == 24
    known = weeks[0].drop_nulls("human").filter(pl.col("human") == "fail")
    first = rows.filter((pl.col("class") == "fail") & (pl.col("batch") == str(FIRST)))
    assert first["judge_right"][0] == pytest.approx((known["judge"] == "fail").mean())
    assert first["labelled"][0] == 60
    assert 0 < first["kappa_low"][0] < first["kappa"][0] < first["kappa_high"][0] < 1
    assert "kappa" in repr(last.summary_line())
    from quantshift.history.output.rendering import render_series

    text = render_series(history, history.limits())
    assert "right about fail" in text
    assert "judge, by 720 labels of 12 batches: kappa 0." in text
    assert "judge: no drift: right about 'pass' " in text
    from quantshift.history import render_page

    page = render_page(history)
    assert "Judge, by 720 labels of 12 batches" in page
    again = [HistoryEntry.from_bytes(call.to_bytes()) for call in history.calls()]
    assert again == history.calls()


def test_the_last_measurement_of_a_batch_counts_and_labels_are_not_counted_twice(tmp_path):
    history, _ = kept(tmp_path / "h", [week(0), week(0, k=90)])
    ((found,),) = history.judges()
    assert (found.n_batches, found.n_labels) == (1, 90)


def test_histories_of_quantify_and_judge_are_kept_apart(tmp_path):
    first = judge(week(0), **ASKED, by="week", classes=["fail", "pass"])
    watch(first, history=tmp_path / "h")
    other = answer(("2026-01-01", 0.1))
    with pytest.raises(UserError, match="is a history of"):
        watch(other, history=tmp_path / "h")
    watch(other, history=tmp_path / "q")
    named = week(1).with_columns(pl.col("judge", "human").replace({"fail": "neg", "pass": "pos"}))
    with pytest.raises(UserError, match="history of `quantify`, and this is an answer of `judge`"):
        watch(judge(named, **ASKED, by="week"), history=tmp_path / "q")
    with pytest.raises(UserError, match="can fail on 'alarm' or 'declared', not on 'shift'"):
        watch(first, fail_on="shift")


def test_damaged_records_are_refused(tmp_path):
    history, _ = kept(tmp_path / "h", [week(0)])
    (call,) = history.calls()
    record = json.loads(call.to_bytes())
    record["batches"][0]["judged"]["judges"][0]["counts"] = [[1]]
    with pytest.raises(UserError, match="judged"):
        HistoryEntry.from_bytes(json.dumps(record).encode())


@pytest.mark.parametrize(("seen", "n"), [(0, 7), (3, 10), (90, 100), (20, 20)])
def test_limits_at_every_look_are_where_the_mixture_is_twenty_times_the_likelihood(seen, n):
    low, high = counted_sequence(seen, n, level=0.95)
    mixture = special.beta(seen + 0.5, n - seen + 0.5) / special.beta(0.5, 0.5)
    for limit in (low, high):
        if 0 < limit < 1:
            likelihood = limit**seen * (1 - limit) ** (n - seen)
            assert mixture / likelihood == pytest.approx(20)
    assert low <= seen / n <= high
    exact = stats.binomtest(seen, n).proportion_ci(0.95)
    assert low <= exact.low
    assert high >= exact.high


@pytest.mark.slow
def test_they_hold_at_all_looks_together():
    rng, outside, once = np.random.default_rng(0), 0, 0
    for _ in range(300):
        seen = np.cumsum(rng.random(200) < 0.8)
        looks = range(5, 201, 5)
        limits = [counted_sequence(int(seen[n - 1]), n, level=0.9) for n in looks]
        outside += any(not low <= 0.8 <= high for low, high in limits)
        exact = [stats.beta.interval(0.9, seen[n - 1] + 0.5, n - seen[n - 1] + 0.5) for n in looks]
        once += any(not low <= 0.8 <= high for low, high in exact)
    assert outside / 300 <= 0.1
    assert once / 300 > 0.3, "limits for one look do not"
    assert counted_sequence(0, 0, level=0.9) == (0.0, 1.0)


def test_items_of_a_cluster_are_not_taken_for_independent_ones(tmp_path):
    """Every answer twice: limits and the test of drift are those of the answers once."""
    once = [week(i, n=100, k=40) for i in range(9)]
    twice = [
        pl.concat([table.with_row_index("question")] * 2).sample(fraction=1, shuffle=True, seed=i)
        for i, table in enumerate(once)
    ]
    alone, _ = kept(tmp_path / "once", once)
    together, _ = kept(tmp_path / "twice", twice, cluster="question")
    ((single,),), ((double,),) = alone.judges(), together.judges()
    assert double.n_labels == 2 * single.n_labels
    assert double.kappa == pytest.approx(single.kappa)
    assert [rate.low for rate in double.rates] == pytest.approx([r.low for r in single.rates])
    assert len(single.drifts) == 2
    assert double.drifts == single.drifts
    assert double.by_cluster
    assert not single.by_cluster
    entry = together.calls()[-1].batches[-1]
    assert entry.judged.n_clusters == 40
    assert entry.accuracy is None


@pytest.mark.slow
def test_rates_of_clusters_ever_leave_their_limits_seldom():
    """Clusters of five that are mostly right or mostly wrong, looked at after every one."""
    rng = np.random.default_rng(11)
    left = 0
    for _ in range(300):
        rates = rng.binomial(5, rng.beta(0.8, 0.2, 150)) / 5
        limits = [
            counted_sequence(seen, n, level=0.9) for n, seen in enumerate(np.cumsum(rates), start=1)
        ]
        left += any(not low <= 0.8 <= high for low, high in limits)
    assert left / 300 <= 0.1 + 0.03


def graded(i, *, above=0.0, n=300, k=60):
    """Grades from 1 to 5 of a week, of which a judge is one off in a quarter."""
    rng = np.random.default_rng([1, i])
    truth = np.clip(np.round(rng.normal(3 + above, 1, n)), 1, 5).astype(int)
    off = np.where(rng.random(n) < 0.25, rng.choice([-1, 1], n), 0)
    known = np.isin(np.arange(n), rng.choice(n, k, replace=False))
    return pl.DataFrame(
        {
            "week": str(FIRST + timedelta(7 * i)),
            "judge": np.clip(truth + off, 1, 5),
            "human": [int(t) if seen else None for t, seen in zip(truth, known, strict=True)],
        }
    )


@pytest.fixture(scope="module")
def grades(tmp_path_factory):
    weeks = [graded(i, above=0.0 if i < 11 else 1.2) for i in range(14)]
    return kept(tmp_path_factory.mktemp("grades"), weeks, classes="12345"), weeks


def test_levels_lead_with_their_mean_and_its_chart(grades):
    (history, last), weeks = grades
    found = judge(weeks[-1], **ASKED, classes="12345").overall.mean
    (series,) = history.series()
    newest = series.points[-1].share(MEAN)
    assert (newest.estimate, newest.low, newest.high) == (found.estimate, found.low, found.high)
    line = last.summary_line()
    assert f": mean {found.estimate:.2f} ({found.low:.2f} to {found.high:.2f})" in line
    (charts,) = history.controls()
    assert [chart.label for chart in charts] == [MEAN, "1", "2", "3", "4", "5"]
    usual = np.mean([point.batch.mean.estimate for point in series.points[:8]])
    assert charts[0].centre == pytest.approx(usual, abs=0.1)
    assert charts[0].alarms[-1]
    assert any(text.startswith("moving average of mean ") for text in line.split("; "))
    rows = pl.read_csv(history.to_csv().encode())
    means = rows.filter(pl.col("class") == "mean")
    assert len(rows) == 14 * 6
    assert means["estimate"].to_list() == [point.batch.mean.estimate for point in series.points]
    again = [HistoryEntry.from_bytes(call.to_bytes()) for call in history.calls()]
    assert again == history.calls()


def test_the_mean_is_in_the_text_the_page_and_the_plot(grades):
    from quantshift.history import render_page
    from quantshift.history.output.rendering import render_series

    (history, _), weeks = grades
    found = judge(weeks[-1], **ASKED, classes="12345").overall.mean
    text = render_series(history, history.limits())
    assert text.startswith("mean in ")
    assert f"{found.estimate:.2f}  {found.low:.2f} to {found.high:.2f}" in text
    assert "%" not in text.splitlines()[2]
    assert render_series(history, history.limits(), "4").splitlines()[2].count("%") == 2
    page = render_page(history)
    assert "<title>The mean over time" in page
    newest = f"the 300 items in {FIRST + timedelta(7 * 13)}"
    assert f"The mean of {newest} is {found.estimate:.2f}" in page
    assert history.plot().get_ylabel() == "mean"
    assert history.plot("4").get_ylabel() == "share of human = 4"


def test_a_batch_without_a_label_of_a_class_names_the_cure(grades):
    (history, _), weeks = grades
    table = weeks[0].filter((pl.col("human").fill_null(5) > 1) & (pl.col("judge") > 1))
    with pytest.raises(UserError, match="this result has 2, 3, 4, 5; name all classes"):
        history.append(judge(table, **ASKED))


def test_a_mean_outside_its_levels_is_refused(grades):
    (history, _), _ = grades
    call = json.loads(history.calls()[-1].to_bytes())
    call["batches"][0]["mean"]["high"] = 5.5
    with pytest.raises(UserError, match="mean"):
        HistoryEntry.from_bytes(json.dumps(call).encode())
