"""The page of a history: complete in itself, escaped, and at work in a real browser."""

import re
from dataclasses import replace

import pytest

from quantshift import History
from quantshift.errors import UserError
from quantshift.history import render_page
from quantshift.history.charts.series import controls_of
from quantshift.history.output.page import _numbers
from quantshift.quantifying.result import Audited
from tests.claims.made import RANGED
from tests.history.made import answer, days, filled, time_of
from tests.quantifying.made import FOUND, SHIFTED, UNKNOWN

pytest.importorskip("vl_convert", reason="vl-convert-python is not installed")

EVIL = "</script><img src=x onerror=alert(1)>\"'&"


@pytest.fixture(scope="module")
def history(tmp_path_factory):
    """Two series; in the first are all the marks that there are."""
    found = days(35, change=0.1, after=30)
    found[3] = replace(found[3], batches=(replace(found[3].batches[0], shift=SHIFTED),))
    found[5] = replace(FOUND, batches=(replace(UNKNOWN, name="2026-01-06"),))
    batch = found[28].batches[0]
    audit = Audited(60, 0.5, batch.shares, batch.shares, False)
    found[28] = replace(found[28], batches=(replace(batch, audit=audit),))
    found[29] = replace(found[29], batches=(replace(found[29].batches[0], grounds=RANGED),))
    other = replace(FOUND.training, n_items=1200)
    found[26:] = [replace(one, training=other) for one in found[26:]]
    history = filled(tmp_path_factory.mktemp("page") / "h", found[:-1])
    history.append(answer((f"{EVIL} 2026-02-01", 0.3)), at=time_of(33))
    history.append(found[-1], at=time_of(34), conditions=["pos > 15%", "pos.low>0.2"])
    return history


@pytest.fixture(scope="module")
def path(history, tmp_path_factory):
    path = tmp_path_factory.mktemp("html") / "page.html"
    path.write_text(render_page(history), "utf-8")
    return path


READY = "document.querySelectorAll('#plot-series svg path').length > 20"


def test_the_page_needs_nothing_else_and_names_cannot_break_out(path):
    page = path.read_text("utf-8")
    assert not re.search(
        r"<(script|img|link|iframe)[^>]+(src|href)=.(?!data:)", page.split("<script>")[0]
    )
    assert "<img src=x" not in page
    assert page.count("</script>") == 3
    assert "2026-02-04: alarm (moving average of pos" in page


def test_a_newest_batch_without_an_estimate_is_not_said_to_be_within_limits(tmp_path):
    found = [*days(25), replace(FOUND, batches=(replace(UNKNOWN, name="2026-01-26"),))]
    page = render_page(filled(tmp_path / "h", found))
    assert (
        "The share of “pos” among the 500 items in 2026-01-26 cannot be estimated (range 0.0 to "
        "100.0%). So there is nothing to compare with the limits." in page
    )
    assert "within its limits" not in page


def test_a_history_without_calls_has_no_page(tmp_path):
    with pytest.raises(UserError, match="has no calls yet"):
        render_page(History.open(tmp_path / "h"))


def test_it_works_in_a_browser(open_quietly, path):
    page = open_quietly(path, ready=READY, viewport={"width": 1280, "height": 900})
    drawn = page.inner_html("#plot-series")
    assert "pos &gt; 15%" in drawn
    assert "pos.low&gt;0.2" in drawn
    assert "usual" in drawn
    assert "NaN" not in drawn
    assert page.locator("#batches td .mark", has_text="new model").count() == 1
    page.focus("[data-series]")
    page.keyboard.press("ArrowDown")
    page.wait_for_function(
        "before => document.querySelector('#plot-series').innerHTML !== before", arg=drawn
    )
    assert page.is_visible('#batches [data-of="1"]') != page.is_visible('#batches [data-of="0"]')
    page.focus("#theme")
    page.keyboard.press("Enter")
    assert page.get_attribute("#theme", "aria-pressed") == "true"


@pytest.mark.slow
def test_it_fits_a_phone(open_quietly, path):
    page = open_quietly(
        path, ready=READY, viewport={"width": 390, "height": 800}, color_scheme="dark"
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_numbers_are_those_of_the_newest_batch(history):
    series, calls = history.series(), history.calls()
    charts = controls_of(series, history.limits())
    numbers = dict(_numbers(series, charts, calls[-1], len(calls)))
    (newest,) = (value for name, value in numbers.items() if name.startswith("newest"))
    share = calls[-1].batches[-1].shares[1]
    assert newest == f"{100 * share.estimate:.1f}%"
    (chart,) = (c for c in charts[0] if c.label == "pos")
    assert numbers["usual"] == f"{100 * chart.centre:.1f}%"
    assert numbers["calls"] == str(len(calls))
    assert numbers["batches that alarm"] == str(sum(sum(c.alarms) for c in charts[0]))
    assert int(numbers["batches that alarm"]) > 0
