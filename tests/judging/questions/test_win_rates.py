"""Win rates against 50%, and judges that prefer the answer they see first."""

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy import stats

from quantshift.errors import UserError
from quantshift.judging import json_schema, judge
from quantshift.judging.output.comparisons import likely_text, win_rate_lines
from tests.quantifying.output.test_result import check

ASKED = {"verdict": "judge", "label": "human", "labels": "random", "wins": ("A", "B")}


def battles(n=1000, k=200, *, bias=0.25, shares=(0.45, 0.35, 0.2), seed=0):
    """Which of two answers is better; a judge that says the first with probability `bias`."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(["A", "B", "tie"], n, p=shares)
    first = rng.choice(["A", "B"], n)
    said = np.where(rng.random(n) < bias, first, truth)
    known = np.isin(np.arange(n), rng.choice(n, k, replace=False))
    return pl.DataFrame(
        {
            "judge": said,
            "first": first,
            "human": [str(t) if k else None for t, k in zip(truth, known, strict=True)],
            "truth": truth,
        }
    )


@pytest.fixture(scope="module")
def table():
    return battles()


def test_a_tie_counts_half(table):
    found = judge(table, **ASKED)
    shares = {share.label: share.estimate for share in found.overall.shares}
    wins = found.overall.win_rate
    assert wins.estimate == pytest.approx(shares["A"] + shares["tie"] / 2)
    said = (table["judge"] == "A").mean() + (table["judge"] == "tie").mean() / 2
    assert wins.naive == pytest.approx(said)
    truth = (table["truth"] == "A").mean() + (table["truth"] == "tie").mean() / 2
    assert wins.low < truth < wins.high
    other = judge(table, **{**ASKED, "wins": ("B", "A")}).overall.win_rate
    assert other.estimate == pytest.approx(1 - wins.estimate)
    assert other.probability == pytest.approx(1 - wins.probability)
    assert other.labels_to_decide == wins.labels_to_decide


def test_more_labels_decide_a_rate_whose_limits_are_on_both_sides_of_a_half():
    table = battles(2000, 60, shares=(0.45, 0.45, 0.1))
    wins = judge(table, **ASKED).overall.win_rate
    assert wins.low < 0.5 < wins.high
    assert 60 < wins.labels_to_decide < 2000
    decided = judge(battles(k=900, shares=(0.8, 0.1, 0.1)), **ASKED).overall.win_rate
    assert decided.low > 0.5
    assert decided.labels_to_decide is None


def test_without_ties_it_is_the_share_of_a_class():
    table = battles(shares=(0.5, 0.5, 0.0))
    found = judge(table, **ASKED)
    share, wins = found["A"], found.overall.win_rate
    assert wins.estimate == pytest.approx(share.estimate)
    assert wins.high - wins.low == pytest.approx(share.high - share.low, rel=0.05)


@pytest.mark.slow
def test_labels_to_decide_are_enough_to_decide():
    """With as many labels as it asks for, about 80% of the intervals are above 50%."""
    asked = judge(battles(4000, 100, seed=1), **ASKED).overall.win_rate
    assert asked.low < 0.5 < asked.high
    n = asked.labels_to_decide
    assert 100 < n < 4000
    truth = asked.estimate
    shares = (truth - 0.1, 0.9 - truth, 0.2)
    found = [
        judge(battles(4000, n, shares=shares, seed=10 + i), **ASKED).overall.win_rate
        for i in range(40)
    ]
    decided = np.mean([wins.low > 0.5 for wins in found])
    assert 0.55 <= decided <= 0.97


def test_the_bias_is_the_difference_of_two_means(table):
    (found,) = judge(table, **ASKED, first="first").position_bias
    worth = table["judge"].replace_strict({"A": 1.0, "B": 0.0, "tie": 0.5}).to_numpy()
    first = (table["first"] == "A").to_numpy()
    expected = stats.ttest_ind(worth[first], worth[~first], equal_var=False)
    assert found.estimate == pytest.approx(worth[first].mean() - worth[~first].mean())
    assert (found.n_first, found.n_second) == (first.sum(), (~first).sum())
    interval = expected.confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high), abs=1e-3)
    assert found.low < 0.25 < found.high
    assert "it prefers the answer that comes first" in judge(table, **ASKED, first="first").to_text(
        details=True
    )


@pytest.mark.slow
def test_a_judge_without_bias_is_seldom_accused():
    found = [
        judge(battles(300, 60, bias=0.0, seed=i), **ASKED, first="first", insist=True)
        .position_bias[0]
        .p_value
        for i in range(100)
    ]
    assert np.mean(np.array(found) < 0.05) <= 0.12


def test_case_does_not_matter_in_any_alphabet(table):
    """The lower case of ß is ß, and the case folded is ss."""
    names = pl.col("judge", "human", "first").replace({"A": "Groß", "B": "klein"})
    found = judge(
        table.with_columns(names), **{**ASKED, "wins": ("Groß", "klein")}, first="first"
    ).position_bias
    assert found == judge(table, **ASKED, first="first").position_bias


def test_both_orders_of_a_pair_are_a_cluster():
    """Pairs of opposite orders: by the paired t-test, which is the cluster-robust one."""
    rng = np.random.default_rng(2)
    truth = rng.choice([0.0, 1.0], 200)
    said = [np.where(rng.random(200) < 0.3, place, truth) for place in (1.0, 0.0)]
    table = pl.DataFrame(
        {
            "pair": np.tile(np.arange(200), 2),
            "judge": np.where(np.concatenate(said) == 1, "A", "B"),
            "first": np.repeat(["A", "B"], 200),
            "human": pl.Series(
                [*np.where(truth[:100] == 1, "A", "B"), *[None] * 300], dtype=pl.String
            ),
        }
    )
    (found,) = judge(table, **ASKED, first="first", id="pair", insist=True).position_bias
    expected = stats.ttest_rel(*said)
    assert found.estimate == pytest.approx(np.mean(said[0] - said[1]))
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-6)


def test_scores_that_do_not_vary_differ_surely_or_not_at_all():
    """No error: the p-value is 0 where both places differ and 1 where they do not."""
    first = ["A", "B"] * 20
    human = ["A", "B", "tie", "A"] * 5 + [None] * 20
    for judged, difference, p_value in ((first, 1.0, 0.0), (["tie"] * 40, 0.0, 1.0)):
        table = pl.DataFrame({"judge": judged, "first": first, "human": human})
        asked = {**ASKED, "classes": ("A", "B", "tie")}
        (found,) = judge(table, **asked, first="first", insist=True).position_bias
        assert (found.estimate, found.p_value) == (difference, p_value)
        assert found.low == found.high == difference


def test_a_weight_counts_as_so_many_items_in_rates_and_bias(table):
    """Whole numbers: the means are those of repeated rows, and of the error as one cluster each."""
    weights = np.random.default_rng(5).integers(0, 4, len(table))
    weighted = table.with_columns(views=pl.Series(weights), item=pl.Series(range(len(table))))
    repeated = weighted[np.repeat(np.arange(len(table)), weights)]
    asked = {**ASKED, "first": "first"}
    (found,) = judge(weighted, **asked, weights="views").position_bias
    (expected,) = judge(repeated, **asked, cluster="item", insist=True).position_bias
    assert found.if_first == pytest.approx(expected.if_first)
    assert found.if_second == pytest.approx(expected.if_second)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert found.p_value == pytest.approx(expected.p_value)
    (unweighted,) = judge(table, **asked).position_bias
    assert found.estimate != pytest.approx(unweighted.estimate, abs=1e-6)
    rate = judge(weighted, **ASKED, weights="views").overall.win_rate
    said = weighted["judge"].replace_strict({"A": 1.0, "B": 0.0, "tie": 0.5})
    assert rate.naive == pytest.approx(np.average(said, weights=weights))


def test_what_is_wrong_is_said_in_a_line(table):
    def refused(frame=table, **options):
        with pytest.raises(UserError) as caught:
            judge(frame, **{**ASKED, **options})
        return str(caught.value)

    assert "unknown class 'C'" in refused(wins=("A", "C"))
    assert "are two classes" in refused(wins=("A", "A"))
    assert "name two classes" in refused(wins="A")
    assert "is used for win rates only" in refused(wins=None, first="first")
    named = table.with_columns(first=pl.lit("C"))
    assert "has 'C', which is neither of 'A' and 'B'" in refused(named, first="first")
    always = table.with_columns(first=pl.lit("A"))
    assert "comes first in 1,000 of 1,000 items" in refused(always, first="first")


def test_it_is_in_every_output(table):
    found = judge(table, **ASKED, first="first")
    text, wins = found.to_text(details=True), found.overall.win_rate
    assert f"win rate of A: {100 * wins.estimate:.1f}%" in text
    assert not list(win_rate_lines(found, replace(found.overall, win_rate=None)))
    likely = max(wins.probability, 1 - wins.probability)
    assert f"50%: {likely_text(likely)}" in text
    row = next(row for row in found.records() if row["quantity"] == "win rate")
    assert (row["class"], row["estimate"], row["naive"]) == ("A", wins.estimate, wins.naive)
    content, schema = json.loads(found.to_json()), json_schema()
    check(content, schema, schema["$defs"])
    assert content["overall"]["win_rate"]["estimate"] == wins.estimate
    page = found.page()
    assert "win rate of A" in page
    assert "it prefers the answer that comes first" in page
