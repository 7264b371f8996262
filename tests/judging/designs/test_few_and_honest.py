"""Random labels: few of them, honest ones that must not be refused, and scores within groups."""

import numpy as np
import pytest

from quantshift import judge
from quantshift.errors import UserError
from quantshift.judging.designs.guessing import check_design
from quantshift.judging.designs.registry import design_named
from quantshift.judging.estimating.estimation import estimate
from quantshift.judging.items.judged_items import Settings
from tests.judging.made import coded, labelled, verdicts

RANDOM, INSIST = design_named("random"), Settings(insist=True)


def few(rng, k, share, accuracy, n=600):
    """Items with labels of k random ones."""
    y = (rng.random(n) < share).astype(int)
    labels = np.full(n, -1)
    rows = rng.permutation(n)[:k]
    labels[rows] = y[rows]
    return y, np.where(rng.random(n) < accuracy, y, 1 - y), labels


def wilson_width(x, k, z=1.959964):
    return 2 * z * np.sqrt(x / k * (1 - x / k) / k + z * z / 4 / k**2) / (1 + z * z / k)


@pytest.mark.parametrize(("k", "seed"), [(5, 501), (10, 502), (20, 503)])
def test_few_labels_hold_and_are_no_wider_than_wilson_on_average(k, seed):
    rng, held, ours, wilson = np.random.default_rng(seed), [], [], []
    for share in (0.5, 0.75, 0.95):
        for accuracy in (0.7, 0.9):
            for _ in range(120):
                y, said, labels = few(rng, k, share, accuracy)
                shares = estimate(coded(said, labels), "random", INSIST).shares
                held.append(shares.low[1] <= y.mean() <= shares.high[1])
                ours.append(shares.high[1] - shares.low[1])
                wilson.append(wilson_width((labels == 1).sum(), k))
    error = np.sqrt(0.06 * 0.94 / len(held))
    assert np.mean(held) >= 0.94 - 2 * error
    # Over these shares; the widths of so many tables have an error of about .003.
    assert np.mean(ours) <= np.mean(wilson) + 0.006


@pytest.mark.parametrize(("judges", "k"), [(1, 20), (2, 20), (2, 100)])
def test_at_most_one_percent_of_honest_tables_are_refused(judges, k):
    rng, n, repeats = np.random.default_rng(77), 800, 700
    refused = 0
    for _ in range(repeats):
        y, _, labels = few(rng, k, rng.choice([0.5, 0.7, 0.9]), 0.9, n)
        said = [np.where(rng.random(n) < a, y, 1 - y) for a in (0.9, 0.8)[:judges]]
        refused += not check_design(RANDOM, coded(np.stack(said, axis=1), labels)).ok
    assert refused / repeats <= 0.01 + 2 * np.sqrt(0.01 * 0.99 / repeats)


def test_scores_are_compared_within_groups():
    """So many labels of each system, random within it, whatever its scores."""
    table = verdicts(600, seed=4)
    of_a = (table["system"] == "A").to_numpy()
    # System A has higher scores, and three times as many labels.
    table = table.with_columns(score=table["score"] / 2 + 0.5 * table["system"].eq("A"))
    rng, asked = np.random.default_rng(6), {"score": "score", "label": "human", "labels": "random"}
    rows = [rng.permutation(np.flatnonzero(of_a))[:90], rng.permutation(np.flatnonzero(~of_a))[:30]]
    honest = labelled(table, np.concatenate(rows))
    assert judge(honest, **asked, by="system").overall.labels.ok
    with pytest.raises(UserError, match="other scores"):
        judge(honest, **asked)
    # The highest scores of each system are not random ones of it.
    score = table["score"].to_numpy()
    best = [
        rng.choice(np.flatnonzero(g)[np.argsort(-score[g])[:200]], 60, False) for g in (of_a, ~of_a)
    ]
    with pytest.raises(UserError, match="other scores"):
        judge(labelled(table, np.concatenate(best)), **asked, by="system")


def test_equal_scores_within_groups_are_no_difference():
    """A group in which all scores are alike, with most of the labels."""
    rng, n = np.random.default_rng(8), 600
    groups, y = np.arange(n) % 2, (rng.random(n) < 0.6).astype(int)
    p_values = []
    for _ in range(200):
        score = np.where(groups == 0, 0.5, rng.random(n).round(1))
        labels = np.full(n, -1)
        rows = [rng.permutation(np.flatnonzero(groups == g))[:k] for g, k in ((0, 100), (1, 20))]
        labels[np.concatenate(rows)] = y[np.concatenate(rows)]
        check = check_design(RANDOM, coded(None, labels, score=score, groups=groups))
        p_values.append(check.p_value)
    assert np.mean(np.array(p_values) < 0.05) <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 200)
