"""Labels that fit no design: joint patterns of judges, quotas, ranges instead of guesses."""

import numpy as np
import polars as pl
import pytest

from quantshift.base.nouns import percent
from quantshift.claims import Kind
from quantshift.judging import judge
from quantshift.judging.designs.guessing import check_design, guess_design
from quantshift.judging.designs.registry import design_named
from quantshift.judging.estimating.estimation import estimate
from quantshift.judging.findings import JudgeAdvice
from tests.found import numbers_of
from tests.judging.made import coded


def judged(n=1000, share=0.8, seed=0, rates=((0.95, 0.8), (0.95, 0.8))):
    """Classes, and the verdicts of judges with these rates."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(int)
    right = [rng.random(n) < np.where(y == 1, se, sp) for se, sp in rates]
    return y, np.column_stack([np.where(r, y, 1 - y) for r in right]), rng


def labels_of(y, rows):
    found = np.full(len(y), -1)
    found[rows] = y[rows]
    return found


def table(y, v, rows, **more):
    human = pl.Series(np.where(y == 1, "pass", "fail"))
    unlabelled = pl.Series(~np.isin(np.arange(len(y)), rows))
    judges = {f"judge{j}": np.where(v[:, j] == 1, "pass", "fail") for j in range(v.shape[1])}
    return pl.DataFrame({**judges, "human": human.set(unlabelled, None), **more})


def test_disputed_items_are_seen_in_what_all_judges_say():
    y, v, rng = judged(rates=((0.75, 0.7), (0.75, 0.7)))
    disputed = np.flatnonzero(v[:, 0] != v[:, 1])
    labels = labels_of(y, rng.choice(disputed, 97, replace=False))
    alone = check_design(design_named("random"), coded(v[:, 0], labels))
    both = check_design(design_named("random"), coded(v, labels))
    assert both.p_value < 1e-6 < alone.p_value
    assert not both.ok
    assert "0% of the labelled items have the verdicts 1 and 1" in both.sentence
    assert guess_design(coded(v, labels)).design.name == "unknown"


@pytest.mark.parametrize("seed", range(8))
def test_even_numbers_among_disputed_items_are_chance(seed):
    y, v, rng = judged(seed=seed)
    disputed = np.flatnonzero(v[:, 0] != v[:, 1])
    rows = np.concatenate([rng.choice(disputed[y[disputed] == c], 30, False) for c in (0, 1)])
    assert guess_design(coded(v, labels_of(y, rows))).design.name == "unknown"


def test_half_disputed_and_half_random_is_a_range_that_holds_the_truth():
    inside = 0
    for seed in range(20):
        y, v, rng = judged(share=0.95, seed=seed)
        disputed = np.flatnonzero(v[:, 0] != v[:, 1])
        rows = np.concatenate([rng.choice(disputed, 50, False), rng.choice(1000, 50, False)])
        found = estimate(coded(v, labels_of(y, rows)))
        assert (found.design.name, found.shares.bounds) == ("unknown", True)
        inside += found.shares.low[1] <= y.mean() <= found.shares.high[1]
    assert inside >= 18


def test_unequal_tens_of_verdicts_are_quotas():
    y, v, rng = judged(rates=((0.9, 0.8),))
    groups = [rng.choice(np.flatnonzero(v[:, 0] == g), n, False) for g, n in ((0, 60), (1, 40))]
    items = coded(v[:, 0], labels_of(y, np.concatenate(groups)))
    guess = guess_design(items)
    assert guess.design.name == "by-verdict"
    assert guess.why == "the labelled items have 60 and 40 of the verdicts"
    refused = check_design(design_named("random"), items)
    assert (refused.ok, refused.looks_like) == (False, "by-verdict")
    # Tens of random items are chance.
    rows = np.concatenate([np.flatnonzero(v[:, 0] == g)[:n] for g, n in ((0, 20), (1, 60))])
    assert guess_design(coded(v[:, 0], labels_of(y, rows))).design.name == "random"


def test_even_numbers_that_nobody_chooses_are_chance():
    y, v, rng = judged(rates=((0.9, 0.8),))
    said, rows = v[:, 0], []
    # 63 and 41 of the verdicts that happen to have 52 labels of each class.
    for verdict, of_bad in ((0, 45), (1, 7)):
        n = 63 if verdict == 0 else 41
        for cls, k in ((0, of_bad), (1, n - of_bad)):
            rows.append(rng.choice(np.flatnonzero((said == verdict) & (y == cls)), k, False))
    labels = labels_of(y, np.concatenate(rows))
    assert np.bincount(labels[labels >= 0]).tolist() == [52, 52]
    assert guess_design(coded(said, labels)).design.name == "unknown"


def test_where_nothing_fits_the_answer_says_what_would_settle_it():
    y, v, rng = judged(rates=((0.9, 0.8),))
    groups = [rng.choice(np.flatnonzero(v[:, 0] == g), n, False) for g, n in ((0, 63), (1, 41))]
    result = judge(table(y, v, np.concatenate(groups)), verdict="judge0", label="human")
    batch = result.overall
    assert (batch.kind, batch.can_be_estimated) == (Kind.RANGE, True)
    assert [other.assumption[:2] for other in batch.alternatives] == ["if", "if"]
    low, high = batch.shares[1].low, batch.shares[1].high
    assert low == min(other.low for other in batch.alternatives)
    assert high == max(other.high for other in batch.alternatives)
    text = result.to_text(details=True)
    assert "(a range, not a confidence interval)" in text.splitlines()[0]
    # The first line names no point.
    assert percent(batch.shares[1].estimate) not in text.splitlines()[0]
    assert "95% interval" not in text
    assert "Label 100 random items of this table to settle it" in text
    assert batch.judges[0].rates == ()
    assert all(row["kind"] == Kind.RANGE for row in result.records())


def test_picked_items_have_bounds_and_an_answer_for_items_like_them():
    y, v, rng = judged(rates=((0.75, 0.7), (0.75, 0.7)))
    disputed = np.flatnonzero(v[:, 0] != v[:, 1])
    rows = rng.choice(disputed, 150, replace=False)
    frame = table(y, v, rows)
    result = judge(frame, verdict=["judge0", "judge1"], label="human", labels="picked")
    share, batch = result.overall.shares[1], result.overall
    (like,) = batch.alternatives
    part = len(disputed) / 1000
    assert share.low == pytest.approx(part * like.low)
    assert share.high == pytest.approx(part * like.high + 1 - part)
    assert like.low <= y[disputed].mean() <= like.high
    assert share.low <= y.mean() <= share.high
    assert batch.kind == Kind.CANNOT
    assert numbers_of(batch.findings, JudgeAdvice.LABEL_THE_OTHERS)["n"] == 100


def test_picked_items_like_all_others_leave_everything_open():
    y, v, rng = judged(rates=((0.9, 0.8),))
    rows = rng.choice(1000, 200, replace=False)
    batch = judge(table(y, v, rows), verdict="judge0", label="human", labels="picked").overall
    assert batch.shares[1].low == pytest.approx(y[rows].sum() / 1000)
    assert batch.shares[1].high == pytest.approx(y[rows].sum() / 1000 + 0.8)
    assert batch.kind == Kind.CANNOT


def test_a_number_of_each_group_is_random_within_the_groups():
    rng = np.random.default_rng(4)
    y, v, _ = judged(rates=((0.9, 0.8),))
    group = (np.arange(1000) < 900).astype(int)
    y[group == 0], v[group == 0] = 0, 0
    rows = np.concatenate([rng.choice(np.flatnonzero(group == g), 60, False) for g in (0, 1)])
    frame = table(y, v, rows, system=np.where(group == 1, "A", "B"))
    result = judge(frame, verdict="judge0", label="human", by="system", labels="random")
    share = result.overall.shares[1]
    assert result.overall.kind == Kind.INTERVAL
    assert share.low <= y.mean() <= share.high
    # Half of the labels are of the system that has a tenth of the items.
    assert share.low > y[rows].mean() + 0.05


def test_items_picked_for_the_errors_of_the_judge_are_no_random_ones():
    """With nothing said they were taken for random: 26% (22.7 to 30.7), the truth was 69.7%."""
    y, v, rng = judged(n=2000, share=0.7, rates=((0.93, 0.72),))
    wrong = rng.choice(np.flatnonzero(v[:, 0] != y), 97, replace=False)
    for more in (0, 15):
        rows = np.concatenate([wrong, rng.choice(2000, more, replace=False)])
        found = judge(table(y, v, rows), verdict="judge0", label="human")
        assert found.overall.labels.design == "picked"
        assert found.overall.kind == Kind.CANNOT
        assert "picked for its errors" in found.to_json()


def test_random_labels_of_a_judge_that_says_anything_are_seldom_taken_for_picked_ones():
    taken = 0
    for seed in range(200):
        y, v, rng = judged(n=400, share=0.5, seed=seed, rates=((0.5, 0.5),))
        labels = labels_of(y, rng.choice(400, 63, replace=False))
        taken += guess_design(coded(v, labels)).design.name == "picked"
    assert taken <= 6
