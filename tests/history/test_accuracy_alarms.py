"""The classifier's accuracy in a history: kept, charted, and alarmed when it leaves its limits."""

import json
from dataclasses import replace

import numpy as np
import pytest

from quantshift.claims import decide
from quantshift.errors import DataError
from quantshift.history import HistoryEntry, render_page
from quantshift.history.kept.entries import entry_of
from quantshift.history.kept.record import ACCURACY
from quantshift.history.output.rendering import render_series
from quantshift.quantifying.result import ClassifierAccuracy
from tests.claims.made import TOO_WIDE
from tests.history.made import days, filled, time_of


def with_accuracy(answers, accuracies):
    """The answers, with an accuracy of the classifier in their only batch."""
    found = []
    for answer, p in zip(answers, accuracies, strict=True):
        accuracy = ClassifierAccuracy("accuracy", p, p - 0.02, p + 0.02, 0.8, "")
        found.append(replace(answer, batches=(replace(answer.batches[0], accuracy=accuracy),)))
    return found


def test_a_drop_of_the_accuracy_alarms_while_shares_are_as_usual(tmp_path):
    noise = np.random.default_rng(0).normal(0, 0.01, 30)
    usual = with_accuracy(days(30), 0.8 + noise)
    assert filled(tmp_path / "usual", usual).alarms() == []
    dropped = with_accuracy(days(30), 0.8 + noise - 0.1 * (np.arange(30) >= 25))
    history = filled(tmp_path / "dropped", dropped)
    (alarm,) = history.alarms()
    assert (alarm.label, alarm.shown) == (ACCURACY, ACCURACY)
    assert alarm.smoothed < alarm.low
    assert set(history.to_frame()["accuracy"].round(3)) == set(
        (0.8 + noise - 0.1 * (np.arange(30) >= 25)).round(3)
    )
    # The table of the share has no alarm, and did not say a word about the other one.
    text = render_series(history, history.limits())
    assert f"{ACCURACY}: alarm in 2026-01-29, 2026-01-30" in text
    assert f"within its limits. Beyond the limits: {ACCURACY}." in render_page(history)


def test_the_accuracy_is_charted_where_the_shares_cannot_be_estimated(tmp_path):
    """A drop was not seen as long as the shares of those batches were unknown."""
    answers = with_accuracy(days(30), 0.8 - 0.1 * (np.arange(30) >= 25))
    unknown = {"grounds": decide(TOO_WIDE)}
    for i in range(25, 30):
        batch = answers[i].batches[0]
        shares = tuple(replace(share, estimate=None) for share in batch.shares)
        batch = replace(batch, shares=shares, unaudited=shares, **unknown)
        answers[i] = replace(answers[i], batches=(batch,))
    (alarm,) = filled(tmp_path / "h", answers).alarms()
    assert (alarm.label, alarm.batch) == (ACCURACY, "2026-01-30")


def test_an_accuracy_without_an_estimate_is_left_out_of_the_chart(tmp_path):
    answers = with_accuracy(days(30), 0.8 - 0.1 * (np.arange(30) >= 25))
    for i in (3, 27):
        batch = answers[i].batches[0]
        accuracy = replace(batch.accuracy, estimate=None, low=0.3, high=0.9)
        answers[i] = replace(answers[i], batches=(replace(batch, accuracy=accuracy),))
    history = filled(tmp_path / "h", answers)
    (alarm,) = history.alarms()
    assert (alarm.label, alarm.batch) == (ACCURACY, "2026-01-30")
    assert f"Beyond the limits: {ACCURACY}." in render_page(history)
    # Each batch has a row for each of two classes.
    assert history.to_frame()["accuracy"].isna().sum() == 4


def test_records_from_before_there_were_accuracies_can_be_read():
    call = entry_of(days(1)[0], time=time_of(0))
    record = json.loads(call.to_bytes())
    del record["batches"][0]["accuracy"]
    assert HistoryEntry.from_bytes(json.dumps(record).encode()) == call
    record["batches"][0]["accuracy"] = {"label": ACCURACY, "estimate": 2.0, "low": 0.0, "high": 1.0}
    with pytest.raises(DataError, match="accuracy"):
        HistoryEntry.from_bytes(json.dumps(record).encode())


def test_the_page_shows_the_accuracy_beside_the_shares(tmp_path):
    accuracies = 0.8 - 0.1 * (np.arange(30) >= 25)
    page = render_page(filled(tmp_path / "h", with_accuracy(days(30), accuracies)))
    data = json.loads(page.split('id="report-data">')[1].split("</script>")[0])
    assert data["quantities"][-1] == data["accuracy"] == ACCURACY
    batches = data["series"][0]["batches"][ACCURACY]
    assert [batch["share"] for batch in batches] == accuracies.tolist()
    assert [batch["alarm"] for batch in batches].index(True) >= 25
    assert f'<th scope="col" class="number">{ACCURACY}</th>' in page
    without = render_page(filled(tmp_path / "without", days(30)))
    assert ACCURACY not in without


def test_a_batch_without_an_accuracy_has_no_limits_of_it(tmp_path):
    answers = with_accuracy(days(5), np.full(5, 0.8))
    answers[2] = days(5)[2]
    page = render_page(filled(tmp_path / "h", answers))
    data = json.loads(page.split('id="report-data">')[1].split("</script>")[0])
    batches = data["series"][0]["batches"][ACCURACY]
    assert [batch["low"] is None for batch in batches] == [i == 2 for i in range(5)]
    assert [batch["high"] is None for batch in batches] == [i == 2 for i in range(5)]
    assert page.count('<td class="number">?</td>') == 1
    assert "0.0 to 100.0%" not in page


@pytest.mark.slow
def test_the_accuracy_is_chosen_by_keyboard_in_a_browser(tmp_path, open_quietly):
    path = tmp_path / "page.html"
    history = filled(tmp_path / "h", with_accuracy(days(30), np.full(30, 0.8)))
    path.write_text(render_page(history), "utf-8")
    page = open_quietly(
        path, ready="document.querySelectorAll('#plot-series svg path').length > 20"
    )
    drawn = page.inner_html("#plot-series")
    assert ACCURACY not in drawn
    page.focus("[data-label]")
    page.keyboard.press("End")
    page.wait_for_function(
        "before => document.querySelector('#plot-series').innerHTML !== before", arg=drawn
    )
    assert ACCURACY in page.inner_html("#plot-series")
