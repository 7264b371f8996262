"""Pages of several labels, histories, left-out groups and the leaderboard, for everybody.

The other pages are checked where they are made: `tests/quantifying/output/test_page.py`,
`tests/judging/output/test_page.py` and `tests/lab/report/page/test_browser.py`.
"""

from pathlib import Path
from types import MappingProxyType

import pytest

from quantshift import judge, quantify, train
from quantshift.answers.conditions import Condition
from quantshift.history import render_page
from quantshift.lab.leaderboard.build import build_leaderboard
from tests.accessibility import unreachable, violations
from tests.history.test_judges import kept, week
from tests.judging.targets.test_targets import PAIRS, POSTS
from tests.lab.leaderboard.conftest import make_store
from tests.quantifying.targets.made import LABELS, QUICK, labelled, unlabelled
from tests.quantifying.training.test_left_out_groups import FAST, LEARN, causes, regions

pytest.importorskip("vl_convert", reason="vl-convert-python is not installed")
pytestmark = pytest.mark.slow

ALARM = [Condition.parse("spam>1%")]


def several_labels(folder: Path) -> str:
    """Two months, in one of which a label can only have a range."""
    sample = unlabelled(labelled(300, seed=2, spam=0.6))
    found = quantify(sample, train=labelled(400, seed=1), label=LABELS, by="month", **QUICK)
    return found.page(conditions=ALARM, provenance=[("command", "quantshift quantify")])


def judged_labels(folder: Path) -> str:
    """Two labels at two sites, each with a judge of its own."""
    return judge(POSTS, pairs=PAIRS, labels="random", by="site").page(conditions=ALARM)


def judge_over_time(folder: Path) -> str:
    """A judge that gets worse after some weeks."""
    weeks = [week(i, specificity=0.85 if i < 8 else 0.25) for i in range(14)]
    history, _ = kept(folder / "history", weeks)
    return render_page(history)


def left_out_groups(folder: Path) -> str:
    """Six regions, each estimated from the others."""
    model = train(regions(tuple("abcdef"), n=150), groups="region", **LEARN)
    return quantify(causes(300, move=1.5, seed=9).drop("relapse"), model=model, **FAST).page()


def leaderboard(folder: Path) -> str:
    """Enough data sets for methods to be compared in pairs."""
    store = make_store(
        folder / "store",
        experiments=("prior", "covariate"),
        datasets={f"table-{i}": 2 + i % 2 for i in range(7)},
        methods=("CC", "ACC", "PACC", "SLD", "MLPE", "Mine"),
    )
    return build_leaderboard(store).page.read_text(encoding="utf-8")


PAGES = MappingProxyType(
    {
        make.__name__: make
        for make in (several_labels, judged_labels, judge_over_time, left_out_groups, leaderboard)
    }
)
DRAWN = """() => [...document.querySelectorAll(".plot")].every(
    (plot) => !plot.checkVisibility() || plot.querySelector("svg path"))"""
BACKGROUND = "getComputedStyle(document.body).backgroundColor"


def test_the_checks_find_what_cannot_be_reached(open_quietly, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(
        """<!DOCTYPE html><html lang="en"><title>t</title><main><h1>t</h1><a href="#b">reached</a>
        <label>a <input type="radio" name="r" checked></label>
        <label>b <input type="radio" name="r"></label>
        <button disabled>not now</button><button hidden>not here</button>
        <button tabindex="-1">skipped</button>
        <div style="cursor: pointer">not a button</div></main></html>"""
    )
    page = open_quietly(path, ready="() => true")
    skipped, drawn = unreachable(page)
    assert "skipped" in skipped
    assert "not a button" in drawn
    assert violations(page) == []
    page.evaluate("document.querySelector('a').style.color = '#ddd'")
    (found,) = violations(page)
    assert found.startswith("color-contrast: <a")


@pytest.fixture(scope="module", params=PAGES)
def path(request, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    path = folder / "page.html"
    path.write_text(PAGES[request.param](folder), encoding="utf-8")
    return path


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_read_and_operate_the_page(open_quietly, path, width, scheme):
    page = open_quietly(
        path, ready=DRAWN, viewport={"width": width, "height": 900}, color_scheme=scheme
    )
    page.locator("details").evaluate_all("all => all.forEach(d => { d.open = true; })")
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert unreachable(page) == []
    before = page.evaluate(BACKGROUND)
    assert page.get_attribute("#theme", "aria-pressed") == str(scheme == "dark").lower()
    page.focus("#theme")
    page.keyboard.press("Enter")
    assert page.evaluate(BACKGROUND) != before
    assert page.get_attribute("#theme", "aria-pressed") == str(scheme != "dark").lower()
    assert violations(page) == []
