"""Which judge agrees better with people, and what a judge adds to the labels."""

import json

import numpy as np
import polars as pl
import pytest
from scipy import stats

from quantshift.judging import json_schema, judge
from quantshift.judging.designs.design import LabelsStandFor
from quantshift.judging.estimating.labelled_items import LabelledItems
from quantshift.judging.items.meaning import Meaning
from quantshift.judging.questions.agreements import kappa_and_parts
from quantshift.statistics.multiple_tests import holm
from tests.judging.made import halves, labelled
from tests.quantifying.output.test_result import check


def judges(n=2000, *, rates=(0.9, 0.8), share=0.7, seed=0):
    """Verdicts of judges that are right as often as their rates say."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < share
    said = {
        f"judge{i}": np.where((rng.random(n) < rate) == truth, "pass", "fail")
        for i, rate in enumerate(rates)
    }
    return pl.DataFrame({**said, "truth": np.where(truth, "pass", "fail")})


def drawn(table, k, seed=1):
    return labelled(table, np.random.default_rng(seed).choice(len(table), k, replace=False))


ASKED = {"label": "human", "labels": "random", "insist": True}
TWO = ["judge0", "judge1"]


def test_with_random_labels_it_is_mcnemar_s_test_and_bonett_and_price_s_interval():
    table = drawn(judges(), 150)
    (found,) = judge(table, verdict=TWO, **ASKED).judge_comparisons
    known = table.drop_nulls("human")
    right = [(known[name] == known["human"]).to_numpy() for name in TWO]
    n12, n21, n = (right[0] & ~right[1]).sum(), (~right[0] & right[1]).sum(), len(known)
    assert found.estimate == pytest.approx((n12 - n21) / n)
    assert (found.agreement, found.other_agreement) == pytest.approx([r.mean() for r in right])
    tail = sum(stats.binom.pmf(i, n12 + n21, 0.5) for i in range(min(n12, n21) + 1))
    assert found.p_value == pytest.approx(min(2 * tail, 1))
    p12, p21 = (n12 + 1) / (n + 2), (n21 + 1) / (n + 2)
    reach = stats.norm.ppf(0.975) * np.sqrt((p12 + p21 - (p12 - p21) ** 2) / (n + 2))
    assert (found.low, found.high) == pytest.approx((p12 - p21 - reach, p12 - p21 + reach))


def test_labels_by_verdict_or_by_class_stand_for_their_part_of_the_items():
    """Rare verdicts are labelled as often as common ones; judges err on one class alone."""
    rng = np.random.default_rng(5)
    truth = rng.random(20_000) < 0.9
    lenient = np.where(truth | (rng.random(20_000) < 0.5), "pass", "fail")
    strict = np.where(truth & (rng.random(20_000) < 0.9), "pass", "fail")
    table = pl.DataFrame(
        {"judge0": lenient, "judge1": strict, "truth": np.where(truth, "pass", "fail")}
    )
    expected = [(table[name] == table["truth"]).mean() for name in TWO]
    for column, design in (("judge1", "by-verdict"), ("truth", "by-label")):
        chosen = halves(table, column, 400)
        asked = {**ASKED, "labels": design}
        (found,) = judge(chosen, verdict=TWO, **asked).judge_comparisons
        assert (found.agreement, found.other_agreement) == pytest.approx(expected, abs=0.03)
        assert found.low < expected[0] - expected[1] < found.high
        known = chosen.drop_nulls("human")
        counted = [(known[name] == known["human"]).mean() for name in TWO]
        assert np.abs(np.subtract(counted, expected)).max() > 0.1, "counting would be wrong"


@pytest.mark.slow
def test_the_interval_holds_and_equal_judges_are_seldom_told_apart():
    inside, apart = [], []
    for seed in range(150):
        table = judges(400, rates=(0.85, 0.85), seed=seed)
        (found,) = judge(drawn(table, 80, seed), verdict=TWO, **ASKED).judge_comparisons
        inside.append(found.low <= 0 <= found.high)
        apart.append(found.more_than_chance)
    assert np.mean(inside) >= 0.9
    assert np.mean(apart) <= 0.08


def test_labels_of_one_cluster_count_once_if_they_are_the_same():
    table = drawn(judges(300, seed=2), 100)
    alone = judge(table, verdict=TWO, **ASKED).judge_comparisons[0]
    doubled = pl.concat([table, table]).with_columns(q=pl.Series(np.tile(np.arange(300), 2)))
    found = judge(doubled, verdict=TWO, cluster="q", **ASKED).judge_comparisons[0]
    assert found.estimate == pytest.approx(alone.estimate)
    assert found.high - found.low == pytest.approx(alone.high - alone.low, rel=0.06)
    apart = judge(doubled, verdict=TWO, **ASKED).judge_comparisons[0]
    assert apart.high - apart.low < 0.8 * (alone.high - alone.low)


def test_several_judges_and_their_p_values():
    table = drawn(judges(rates=(0.9, 0.8, 0.5)), 150)
    answer = judge(table, verdict=[*TWO, "judge2"], **ASKED)
    found = answer.judge_comparisons
    assert [(c.judge, c.other) for c in found] == [
        ("judge0", "judge1"),
        ("judge0", "judge2"),
        ("judge1", "judge2"),
    ]
    assert [c.p_adjusted for c in found] == pytest.approx(holm([c.p_value for c in found]))
    line = "judge1 agrees with people on"
    assert line in answer.to_text(details=True)
    assert line in answer.page().replace("Judge1", "judge1")
    content, schema = json.loads(answer.to_json()), json_schema()
    check(content, schema, schema["$defs"])
    reverse = judge(table, verdict=["judge2", "judge0"], **ASKED)
    assert "judge0 agrees with people on" in reverse.to_text(details=True)
    assert "judge2 agrees" not in reverse.to_text(details=True)


def test_a_near_miss_on_a_scale_is_better_than_a_far_one():
    rng = np.random.default_rng(0)
    truth = rng.integers(1, 6, 500)
    near = np.clip(truth + rng.choice([-1, 0, 1], 500), 1, 5)
    far = np.where(rng.random(500) < 0.5, truth, 6 - truth)
    table = labelled(pl.DataFrame({"judge0": near, "judge1": far, "truth": truth}), np.arange(100))
    answer = judge(table, verdict=TWO, **ASKED)
    (found,) = answer.judge_comparisons
    assert found.label == "weighted kappa"
    kappas = [quality.agreement.estimate for quality in answer.overall.judges]
    assert (found.agreement, found.other_agreement) == pytest.approx(kappas)
    assert found.more_than_chance
    assert f"judge0 agrees better (weighted kappa {kappas[0]:.2f})" in answer.to_text(details=True)


def weighted_kappa(said, true, weights):
    apart = np.sum(weights * (said - true) ** 2) / weights.sum()
    chance = np.sum(np.outer(weights, weights) * np.subtract.outer(said, true) ** 2)
    return 1 - apart / (chance / weights.sum() ** 2)


def test_limits_of_a_difference_of_kappas_are_those_of_the_jackknife():
    rng = np.random.default_rng(1)
    truth = rng.integers(1, 6, 150)
    said = [np.clip(truth + rng.choice([-1, 0, 0, 1, 2], 150), 1, 5) for _ in TWO]
    table = pl.DataFrame({**dict(zip(TWO, said, strict=True)), "human": truth})
    (found,) = judge(table, verdict=TWO, **ASKED).judge_comparisons
    alone = [
        weighted_kappa(said[0], truth, w) - weighted_kappa(said[1], truth, w)
        for w in 1.0 - np.eye(150)
    ]
    error = np.sqrt(149 / 150 * np.sum((alone - np.mean(alone)) ** 2))
    half = (found.high - found.low) / 2
    assert half == pytest.approx(stats.t.ppf(0.975, 149) * error, rel=0.03)
    assert (found.high + found.low) / 2 == pytest.approx(found.estimate)


def test_one_judge_or_few_labels_are_not_compared():
    table = judges()
    assert judge(drawn(table, 60), verdict="judge0", **ASKED).judge_comparisons == ()
    assert judge(drawn(table, 9), verdict=TWO, **ASKED).judge_comparisons == ()


def test_a_judge_that_guesses_adds_nothing():
    table = drawn(judges(rates=(0.95, 0.5)), 150)
    good, coin = (judge(table, verdict=name, **ASKED) for name in TWO)
    assert good.overall.labels_alone.narrower > 0.3
    assert "with the judge the interval is" in good.to_text(details=True)
    assert coin.overall.labels_alone.narrower < 0.02
    assert "the judge adds nothing to the labels (150 random labels alone: " in coin.to_text(
        details=True
    )
    silent = judge(table.with_columns(judge0=pl.lit("pass")), verdict="judge0", **ASKED)
    share, alone = silent["pass"], good.overall.labels_alone
    assert (alone.low, alone.high) == pytest.approx((share.low, share.high))


def test_what_a_judge_is_worth_in_labels():
    """As many more labels alone give an interval as narrow."""
    table = judges(4000, rates=(0.9,))
    found = judge(drawn(table, 150), verdict="judge0", **ASKED)
    alone = found.overall.labels_alone
    more = drawn(table.with_columns(judge0=pl.lit("pass")), 150 + alone.worth)
    share, counted = found["pass"], judge(more, verdict="judge0", **ASKED)["pass"]
    assert counted.high - counted.low == pytest.approx(share.high - share.low, rel=0.07)


def test_labels_by_verdict_are_compared_with_as_many_random_ones():
    table = judges(rates=(0.9,))
    by_verdict = judge(halves(table, "judge0", 75), verdict="judge0", label="human")
    random = judge(drawn(table, 150), verdict="judge0", **ASKED)
    widths = [
        a.overall.labels_alone.high - a.overall.labels_alone.low for a in (by_verdict, random)
    ]
    assert widths[0] == pytest.approx(widths[1], rel=0.1)


def test_labels_that_say_nothing_without_the_judge():
    table = judges(rates=(0.9,))
    by_label = judge(halves(table, "truth", 50), verdict="judge0", label="human", labels="by-label")
    assert by_label.overall.labels_alone is None
    other = judges(300, seed=3).select("judge0", human="truth")
    elsewhere = judge(table.drop("truth"), verdict="judge0", label="human", labelled=other)
    assert elsewhere.overall.labels_alone is None


def test_what_labels_add_to_a_kappa_is_its_derivative_by_their_weights():
    rng = np.random.default_rng(2)
    y = rng.integers(3, size=40)
    said = np.where(rng.random(40) < 0.6, y, rng.integers(3, size=40))
    meaning = Meaning.of_codes(3, n_judges=1, ordered=True)

    def kappa(weights):
        of = LabelsStandFor.ALL_ITEMS
        return kappa_and_parts(
            LabelledItems(None, said[:, np.newaxis], y, weights, None, meaning, of), 0
        )

    weights = rng.uniform(0.5, 1.5, 40)
    _, parts = kappa(weights)
    assert parts.sum() == pytest.approx(0, abs=1e-12)
    for i in (0, 7):
        moved = [kappa(weights * (1 + step * (np.arange(40) == i)))[0] for step in (-1e-5, 1e-5)]
        assert parts[i] == pytest.approx((moved[1] - moved[0]) / 2e-5, rel=1e-4, abs=1e-9)
