"""The page with sliders: its formulas against the library's, and what a reader moves."""

import numpy as np
import pytest
from scipy.special import expit, ndtri
from scipy.stats import norm

from quantshift import SLD
from quantshift.labelling.strata import UNSEEN_AT_RANDOM, stratified
from quantshift.quantifiers.likelihood.two_intervals import around_mean, two_intervals
from tests.accessibility import violations

PAGE = "sliders/"
JUDGES = [(0.7, 0.95, 0.75, 100, 2000), (0.05, 0.8, 0.9, 60, 500), (0.98, 1.0, 0.5, 400, 500)]
SHIFTS = [(0.88, 0.5, 0.15, 1000), (0.65, 0.2, 0.6, 200), (0.97, 0.8, 0.05, 3000)]


@pytest.fixture
def page(visit):
    return visit(PAGE)


@pytest.mark.parametrize("situation", JUDGES)
def test_a_judge_is_that_of_the_library(page, situation):
    share, sensitivity, specificity, n, n_items = situation
    names = ("share", "sensitivity", "specificity", "labels", "items")
    found = page.evaluate("s => quantshift.judge(s)", dict(zip(names, situation, strict=True)))
    passed = share * sensitivity + (1 - share) * (1 - specificity)
    shares = np.array([1 - passed, passed])
    right = np.array([share * (1 - sensitivity), share * sensitivity]) / shares
    rates = np.column_stack([1 - right, right])
    assert found["naive"] == pytest.approx(passed)
    for name, of, rate in (
        ("judged", shares, rates),
        ("alone", np.ones(1), np.array([[1 - share, share]])),
    ):
        ours = stratified(
            of,
            n * of[:, np.newaxis] * rate,
            n_items,
            level=0.95,
            unseen=UNSEEN_AT_RANDOM,
            covered=np.full(len(of), n / n_items),
        )
        # Its quantiles of a skewed distribution are Wilson and Hilferty's.
        assert found[name]["low"] == pytest.approx(ours.low[1], abs=0.002)
        assert found[name]["high"] == pytest.approx(ours.high[1], abs=0.002)


@pytest.mark.parametrize("situation", SHIFTS)
def test_two_intervals_are_those_of_the_library(page, situation):
    """SLD's error is simulated: 300 samples whose posteriors are exact."""
    auc, trained, share, n = situation
    names = ("auc", "trained", "share", "items")
    found = page.evaluate("s => quantshift.shift(s)", dict(zip(names, situation, strict=True)))
    d, rng = np.sqrt(2) * ndtri(auc), np.random.default_rng(0)
    y = rng.random((300, n)) < share
    x = rng.normal(np.where(y, d / 2, -d / 2))
    q = expit(d * x + np.log(trained / (1 - trained)))
    held_out = np.arange(1000) < 1000 * trained
    sld = SLD(calibration=None).fit_posteriors(np.full((1000, 2), 0.5), held_out.astype(int))
    pool = np.column_stack([1 - q.ravel(), q.ravel()])
    p_hat = sld.aggregate(pool, np.arange(q.size).reshape(q.shape))[:, 1]
    error = np.sqrt(np.mean((p_hat - y.mean(axis=1)) ** 2))
    assert found["prior"]["estimate"] == share
    assert found["covariate"]["estimate"] == pytest.approx(q.mean(), abs=0.005)
    assert found["counting"] == pytest.approx((q > 0.5).mean(), abs=0.005)
    covariate = np.array([[1 - q.mean(), q.mean()]])
    low, high = two_intervals(
        (np.array([[1 - share, share]]), np.full((1, 2), error)),
        covariate,
        around_mean(covariate, np.array([n])),
    )
    for name, i in (("prior", 0), ("covariate", 1)):
        width = high[0, i, 1] - low[0, i, 1]
        assert found[name]["high"] - found[name]["low"] == pytest.approx(width, rel=0.12)


def test_normal_probabilities(page):
    """Through the classifier whose counting shows them: shares of 0 and 1 are its error rates."""
    for auc in (0.6, 0.9, 0.99):
        situation = {"auc": auc, "trained": 0.5, "share": 0.5, "items": 1000}
        d = np.sqrt(2) * ndtri(auc)
        counting = page.evaluate("s => quantshift.shift({...s, share: 0.25})", situation)
        expected = 0.25 * norm.sf(-d / 2) + 0.75 * norm.sf(d / 2)
        assert counting["counting"] == pytest.approx(expected, abs=1e-9)


def test_sliders_move_the_answer(page):
    labels = page.get_by_label("answers that people label, at random")
    texts = page.locator("[data-sliders=judge] .text")
    before = texts.all_inner_texts()
    labels.focus()
    page.keyboard.press("End")
    after = texts.all_inner_texts()
    assert after[0] == before[0] == "69.0%"
    assert after[1:] != before[1:]
    assert "shorter" in page.locator("[data-sliders=judge] [role=status]").inner_text()


@pytest.mark.parametrize("width", [1280, 360])
def test_everybody_can_use_them(visit, width):
    page = visit(PAGE, width=width)
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
