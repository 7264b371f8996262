"""Error rates and kappa of a judge: limits against closed forms and under repeated draws."""

import numpy as np
import pytest
from scipy import stats

from quantshift.base.seeding import generator
from quantshift.judging.designs.parts.judge_quality import (
    JudgeCounts,
    counted_quality,
    one_more,
    quality_by_verdict,
)
from quantshift.judging.items.judged_items import Settings
from tests.judging.made import coded

BOTH = np.arange(2)


def found_by_verdict(F, N):
    shares = N / N.sum()
    p = (shares * F / np.maximum(F.sum(axis=0), 1)).sum(axis=1)
    return quality_by_verdict(JudgeCounts(F, N, p, np.arange(len(F))), Settings())


@pytest.mark.parametrize(("axes", "kept"), [((-2, -1), (1, 2)), ((-2,), (1,)), ((-1,), (2,))])
def test_one_more_item_changes_only_what_is_drawn_together(axes, kept):
    rng = generator(0, test="one more")
    tables, part = rng.dirichlet(np.ones(6), size=5).reshape(5, 2, 3), rng.random(5)
    changed = one_more(tables, (1, 2), part, axes)
    assert changed.sum(axis=kept) == pytest.approx(tables.sum(axis=kept))
    grown = changed - tables > 1e-12
    assert grown[:, 1, 2].all()
    assert grown.sum() == 5


def test_a_dirichlet_distribution_with_an_item_more():
    rng = generator(0, test="dirichlet")
    alpha = np.array([[3.0, 1.0], [2.0, 4.0]])
    more = np.array([[0, 0.5], [0, 0]])
    drawn = rng.dirichlet(alpha.ravel(), size=40_000).reshape(-1, 2, 2)
    changed = one_more(drawn, (0, 1), rng.beta(0.5, 10.0, size=40_000), (-2, -1))
    # The standard error of these means is at most .001.
    assert changed.mean(axis=0) == pytest.approx((alpha + more) / 10.5, abs=4e-3)


def test_rates_by_verdict_of_many_labels_have_the_limits_of_their_log_odds():
    F, N = np.array([[1600.0, 600.0], [400.0, 1400.0]]), np.array([5e8, 5e8])
    found = found_by_verdict(F, N)
    share = F / 2000
    for y in BOTH:
        odds = np.log(share[y, y] / share[y, 1 - y])
        error = np.sqrt(((1 - share[y]) / F[y]).sum())
        z = stats.norm.ppf(0.975)
        for limit, expected in (
            (found.rates_low, odds - z * error),
            (found.rates_high, odds + z * error),
        ):
            # Half an item of 400, and quantiles of 2,000 draws, are less than a tenth of the error.
            assert np.log(limit[y, y] / (1 - limit[y, y])) == pytest.approx(expected, abs=error / 5)


def test_the_shares_of_few_items_widen_rates_by_verdict():
    F = np.array([[45.0, 20.0], [5.0, 30.0]])
    few, many = (found_by_verdict(F, n * np.array([0.9, 0.1])) for n in (200, 200_000))
    assert few.rates == pytest.approx(many.rates)
    assert (few.rates_high - few.rates_low > 1.1 * (many.rates_high - many.rates_low)).all()


def test_a_verdict_without_labels_may_be_all_of_a_class():
    F, N = np.array([[20.0, 5.0, 0.0], [5.0, 20.0, 0.0]]), np.array([400.0, 400.0, 200.0])
    counts = JudgeCounts(F, N, np.full(2, 0.5), np.array([0, 1, -1]))
    found = quality_by_verdict(counts, Settings())
    assert found.rates_low[:, 2] == pytest.approx(0)
    assert (found.rates_high[:, 2] > 0.3).all()
    assert (found.rates_high <= 1).all()


def test_errors_that_were_not_seen_are_possible():
    found = found_by_verdict(np.array([[50.0, 0.0], [0.0, 50.0]]), np.array([900.0, 100.0]))
    assert found.rates_high.diagonal() == pytest.approx(1)
    # One item of 50 is 9 times as heavy among the verdicts 0: up to .05 of .9 may be missed of .1.
    assert 0.5 < found.rates_low[1, 1] < 0.8
    assert 0.99 < found.rates_low[0, 0] < 1
    assert found.kappa == found.kappa_high == 1
    assert 0.5 < found.kappa_low < 0.9


@pytest.mark.parametrize(
    ("design", "quality"), [("random", counted_quality), ("by-verdict", quality_by_verdict)]
)
def test_coverage_for_a_rare_class(design, quality):
    """200 draws: a coverage of .95 is below .90 once in 500 times."""
    p, R, k = np.array([0.96, 0.04]), np.array([[0.95, 0.05], [0.15, 0.85]]), 160
    T = p[:, np.newaxis] * R
    chance = T.sum(axis=0) @ T.sum(axis=1)
    kappa = (np.trace(T) - chance) / (1 - chance)
    rng = generator(0, test="quality", design=design)
    held, agreed = np.zeros((2, 2)), 0
    for _ in range(200):
        if design == "random":
            F, N = rng.multinomial(k, T.ravel()).reshape(2, 2), rng.multinomial(2000, T.sum(axis=0))
        else:
            N = rng.multinomial(2000, T.sum(axis=0))
            F = np.array([rng.multinomial(k // 2, t / t.sum()) for t in T.T]).T
        found = quality(JudgeCounts(F.astype(float), N.astype(float), p, BOTH), Settings())
        held += (found.rates_low <= R + 1e-9) & (found.rates_high + 1e-9 >= R)
        agreed += found.kappa_low <= kappa <= found.kappa_high
    assert (held / 200 > 0.9).all()
    assert agreed / 200 > 0.9


def counts_of(verdicts, labels, clusters):
    items = coded(np.array(verdicts), np.array(labels), clusters=np.array(clusters))
    sample = np.ones(len(items), dtype=bool)
    return JudgeCounts.of(items, 0, sample, np.array([0.5, 0.5])).labelled


def test_labels_that_err_together_count_as_fewer():
    """Copies of one label in a cluster of two are one; errors that cancel out are no gain."""
    verdicts, labels = [0, 0, 0, 1, 1, 1, 1, 0], [0, 0, 0, 0, 1, 1, 1, 1]
    alone = counts_of(verdicts, labels, range(8))
    assert alone.tolist() == [[3, 1], [1, 3]]
    twice = counts_of(np.repeat(verdicts, 2), np.repeat(labels, 2), np.repeat(np.arange(8), 2))
    assert twice == pytest.approx(alone)
    opposite = counts_of([0, 1] * 4, [0] * 4 + [1] * 4, np.repeat(np.arange(4), 2))
    assert opposite.tolist() == [[2, 2], [2, 2]]
