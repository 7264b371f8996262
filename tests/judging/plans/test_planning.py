"""Plans: the right number of labels, kept probabilities, fewer labels for rare classes."""

import numpy as np
import pytest

from quantshift.errors import DataError, UserError
from quantshift.judging.estimating.estimation import estimate
from quantshift.judging.items.judged_items import KnownDraw, Settings
from quantshift.judging.plans.planning import Goal, _whole
from quantshift.judging.plans.planning import plan as plan_items
from tests.judging.conftest import Judging
from tests.judging.made import coded


def plan(
    verdicts, *, labels=None, inclusion=None, score=None, how=None, seed=0, of="items", **goal
):
    """A plan for items of two classes."""
    labels = np.full(len(score if verdicts is None else verdicts), -1) if labels is None else labels
    drawn = None if inclusion is None else KnownDraw(inclusion)
    items = coded(verdicts, labels, score=score, drawn=drawn)
    return plan_items(items, Goal(**goal), how=how, settings=Settings(seed=seed, of=of))


def with_strata(verdicts, labels, strata, **given):
    return estimate(coded(verdicts, labels, drawn=KnownDraw(strata=strata), **given)).shares


def test_items_are_distinct_and_random_within_strata(judging):
    found = plan(judging.verdicts, n_labels=100, how="by-verdict")
    assert len(set(found.items.tolist())) == 100
    assert np.bincount(found.strata[found.items]).tolist() == found.per_stratum.tolist()
    sizes = np.bincount(judging.verdicts)
    assert found.inclusion == pytest.approx((found.per_stratum / sizes)[judging.verdicts])
    assert found.names == ("verdict 0", "verdict 1")


def test_strata_take_turns(judging):
    found = plan(judging.verdicts, n_labels=100)
    share = found.per_stratum[0] / 100
    assert (found.strata[found.items[:50]] == 0).sum() == pytest.approx(50 * share, abs=1.5)


def test_labels_so_far_move_labels_to_where_the_judge_errs(judging):
    labels = judging.by_verdict(200)
    found = plan(judging.verdicts, labels=labels, n_labels=200)
    assert not set(found.items.tolist()) & set(np.flatnonzero(labels >= 0).tolist())
    errs = np.full(2000, -1)
    rows = np.concatenate([np.flatnonzero(judging.verdicts == c)[:60] for c in (0, 1)])
    errs[rows] = np.where(judging.verdicts[rows] == 1, 1, np.arange(120) % 2)
    there = plan(judging.verdicts, labels=errs, n_labels=200).per_stratum
    sizes = np.bincount(judging.verdicts)
    assert there[0] + 60 > (there[1] + 60) * sizes[0] / sizes[1] * 1.5


@pytest.mark.slow
def test_a_precision_is_met_on_average():
    halves = []
    for seed in range(6):
        judging = Judging(seed=seed)
        labels = judging.by_verdict(100)
        found = plan(judging.verdicts, labels=labels, precision=0.03)
        labels[found.items] = judging.y[found.items]
        judged = with_strata(judging.verdicts, labels, found.strata)
        halves.append((judged.high - judged.low)[1] / 2)
        assert found.half_width <= 0.03 + 1e-9
    # Single ones differ by an eighth, as far as the first labels show the errors of the judge.
    assert np.mean(halves) == pytest.approx(0.03, rel=0.15)


def test_a_plan_for_these_items_needs_fewer_labels_than_one_for_their_population(judging):
    labels = judging.by_verdict(100)
    items, population = (
        len(plan(judging.verdicts, labels=labels, precision=0.03, of=of).items)
        for of in ("items", "population")
    )
    assert items < 0.75 * population


def test_a_random_plan_has_one_stratum(judging):
    found = plan(judging.verdicts, n_labels=80, how="random")
    assert len(found.items) == 80
    assert found.inclusion == pytest.approx(np.full(2000, 0.04))
    assert set(found.strata.tolist()) == {0}


def test_a_rare_class_needs_a_third_of_the_labels():
    rng = np.random.default_rng(2)
    widths, counted = [], []
    for repeat in range(5):
        y = (rng.random(50_000) < 0.005).astype(int)
        score = rng.normal(size=50_000) + 3.5 * y
        found = plan(None, score=score, n_labels=1500, seed=repeat)
        labels = np.full(50_000, -1)
        labels[found.items] = y[found.items]
        judged = with_strata(None, labels, found.strata, score=score)
        widths.append(judged.high[1] - judged.low[1])
        labels = np.full(50_000, -1)
        labels[:4500] = y[:4500]
        items = coded(np.zeros(50_000, dtype=int), labels)
        random = estimate(items, "random", Settings(insist=True)).shares
        counted.append(random.high[1] - random.low[1])
    assert np.mean(widths) < np.mean(counted)


def test_the_rare_class_may_have_the_low_scores():
    rng = np.random.default_rng(3)
    y = (rng.random(20_000) < 0.99).astype(int)
    score = 1 / (1 + np.exp(-(rng.normal(size=20_000) + 3 * y + 2)))
    found = plan(None, score=score, n_labels=500)
    low = score[found.items] < np.quantile(score, 0.1)
    assert low.mean() > 0.15


def test_more_labels_than_items_are_all_items():
    found = plan([0, 1, 0, 1, 1, 0] * 5, n_labels=100)
    assert sorted(found.items.tolist()) == list(range(30))
    assert plan([0, 1, 0, 1, 1, 0] * 5, precision=0.0001).items.size == 30


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"n_labels": None}, "give either a precision"),
        ({"precision": 0.1}, "give either a precision"),
        ({"n_labels": None, "precision": 3}, "between 0 and 1"),
        ({"how": "by-score"}, "needs the score"),
        ({"how": "neyman"}, "unknown plan"),
        ({"how": "by-label"}, "cannot be planned: nobody knows"),
    ],
)
def test_bad_input(judging, change, said):
    with pytest.raises(UserError, match=said):
        plan(judging.verdicts, **({"n_labels": 50} | change))


def _rare(seed, n=20_000, share=0.005, separation=3.0):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(int)
    return y, rng.normal(size=n) + separation * y


def _labelled(plan_, y, labels=None):
    labels = np.full(len(y), -1) if labels is None else labels.copy()
    labels[plan_.items] = y[plan_.items]
    return labels


@pytest.mark.parametrize("known", [True, False])
def test_a_second_plan_keeps_the_strata_of_the_first(known):
    y, score = _rare(4)
    first = plan(None, score=score, n_labels=400)
    # More than a tenth of these labels are of the rare class, which is one of two hundred items.
    labels = _labelled(first, y)
    second = plan(
        None,
        score=score,
        labels=labels,
        inclusion=first.inclusion if known else None,
        n_labels=300,
    )
    assert second.strata.tolist() == first.strata.tolist()
    n = np.bincount(first.strata[first.items]) + second.per_stratum
    assert second.inclusion == pytest.approx((n / np.bincount(first.strata))[first.strata])


def test_random_labels_show_which_strata_a_plan_needs():
    rng = np.random.default_rng(5)
    y = (rng.random(2000) < 0.4).astype(int)
    score = rng.normal(size=2000) + 2 * y
    random = np.where(np.arange(2000) < 100, y, -1)
    assert len(plan(None, score=score, labels=random, n_labels=50).names) == 5
    first = plan(None, score=score, labels=random, n_labels=50)
    second = plan(
        None,
        score=score,
        labels=_labelled(first, y, random),
        inclusion=first.inclusion,
        n_labels=50,
    )
    assert second.strata.tolist() == first.strata.tolist()


def test_labels_of_another_plan_are_refused():
    y, score = _rare(6)
    verdicts = (score > 2).astype(int)
    first = plan(verdicts, score=score, n_labels=300, how="by-score")
    more = {"labels": _labelled(first, y), "inclusion": first.inclusion, "n_labels": 100}
    for how in ("by-verdict", "random"):
        with pytest.raises(UserError, match="were drawn by another plan"):
            plan(verdicts, score=score, how=how, **more)
    with pytest.raises(DataError, match="every labelled item needs the probability"):
        plan(verdicts, score=score, **(more | {"inclusion": np.full(len(y), np.nan)}))


@pytest.mark.slow
def test_two_rounds_by_score_are_not_biased():
    estimates = []
    for repeat in range(100):
        y, score = _rare(1000 + repeat)
        first = plan(None, score=score, n_labels=400, seed=repeat)
        labels = _labelled(first, y)
        second = plan(None, score=score, labels=labels, n_labels=400, seed=repeat + 1)
        judged = with_strata(None, _labelled(second, y, labels), second.strata, score=score)
        estimates.append(judged.prevalence[1])
    # Three standard errors of the mean, about 0.0002 each.
    assert np.mean(estimates) == pytest.approx(0.005, abs=3 * np.std(estimates) / np.sqrt(100))


def test_a_stratum_whose_items_are_nearly_all_labelled_gets_no_more_than_it_has():
    """Labels of each stratum are whole, within what is left there, and as many as were asked."""
    rng = np.random.default_rng(7)
    for n_labels in range(1, 60, 3):
        verdicts = np.repeat([0, 1, 2], [12, 30, 200])
        labels = np.where(rng.random(242) < np.array([0.9, 0.5, 0.02])[verdicts], verdicts % 2, -1)
        items = coded(verdicts, labels, n_classes=3)
        found = plan_items(items, Goal(n_labels=n_labels), how="by-verdict")
        left = np.bincount(verdicts[labels < 0], minlength=3)
        assert (found.per_stratum <= left).all()
        assert (found.per_stratum >= 0).all()
        assert found.per_stratum.sum() == len(set(found.items.tolist())) == n_labels
        assert np.bincount(verdicts[found.items], minlength=3).tolist() == (
            found.per_stratum.tolist()
        )


@pytest.mark.parametrize(
    ("n", "total", "whole"),
    [
        ([1.9, 5.2, 2.9], 10, [2, 5, 3]),
        ([1.2, 5.9, 2.9], 10, [1, 6, 3]),
        ([3.0, 4.0, 3.0], 10, [3, 4, 3]),
        ([5.0, 5.0, 2.0], 10, [4, 4, 2]),
        ([0.5, 0.5, 0.0], 1, [1, 0, 0]),
    ],
)
def test_whole_numbers_are_near_and_have_the_sum(n, total, whole):
    assert _whole(np.array(n), total).tolist() == whole


@pytest.mark.parametrize("accuracy", [0.99, 0.9, 0.6])
def test_a_first_plan_promises_a_range_that_holds_whatever_the_judge(accuracy):
    rng, n, k = np.random.default_rng(17), 1000, 80
    y = (rng.random(n) < 0.6).astype(int)
    said = np.where(rng.random(n) < accuracy, y, 1 - y)
    drawn = plan_items(coded(said, np.full(n, -1)), Goal(n_labels=k))
    labels = np.full(n, -1)
    labels[drawn.items] = y[drawn.items]
    shares = estimate(coded(said, labels), "by-verdict").shares
    found = (shares.high[1] - shares.low[1]) / 2
    assert drawn.half_width < drawn.at_worst
    assert found < 1.1 * drawn.at_worst
    assert (found > drawn.half_width) == (accuracy < 0.9) or accuracy == 0.9
