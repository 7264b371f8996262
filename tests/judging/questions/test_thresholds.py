"""The threshold of a score judge, and errors of it that can be believed."""

import json

import numpy as np
import polars as pl
import pytest
from scipy import stats

from quantshift.errors import UserError
from quantshift.judging import json_schema, judge
from quantshift.judging.designs.design import LabelsStandFor
from quantshift.judging.estimating.labelled_items import LabelledItems
from quantshift.judging.items.judged_items import Settings
from quantshift.judging.items.meaning import Meaning
from quantshift.judging.questions.thresholds import CutRule, threshold
from tests.judging.made import halves, labelled
from tests.quantifying.output.test_result import check

ASKED = {"score": "score", "label": "human", "labels": "random", "insist": True}


def scored(n=2000, *, share=0.4, apart=1.5, sign=1, seed=0):
    """Normal scores, of mean `apart` for passes and 0 for the others."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < share
    return pl.DataFrame(
        {
            "score": sign * (rng.normal(size=n) + apart * truth).round(4),
            "truth": np.where(truth, "pass", "fail"),
        }
    )


def drawn(table, k=200, seed=1):
    return labelled(table, np.random.default_rng(seed).choice(len(table), k, replace=False))


def cut_of(table, cut, **options):
    return judge(table, **{**ASKED, **options}, cut=cut).threshold


def by_hand(table, cut):
    """Agreement, precision and recall of a cut on labelled items."""
    known = table.drop_nulls("human")
    called, positive = (known["score"] >= cut).to_numpy(), (known["human"] == "pass").to_numpy()
    right = (called & positive).sum()
    return (called == positive).mean(), right / called.sum(), right / positive.sum()


def test_no_other_cut_agrees_better():
    table = drawn(scored())
    found = cut_of(table, "agreement")
    own = by_hand(table, found.cut)
    assert list(found.on_labels.values()) == pytest.approx(own)
    others = [by_hand(table, cut)[0] for cut in table.drop_nulls("human")["score"]]
    assert own[0] == pytest.approx(max(others))
    assert found.share == pytest.approx((table["score"] >= found.cut).mean())


@pytest.mark.parametrize(("goal", "place"), [("precision", 1), ("recall", 2)])
def test_a_target_is_reached_with_the_most_of_the_other(goal, place):
    table = drawn(scored())
    found = cut_of(table, f"{goal}=0.85")
    own = by_hand(table, found.cut)
    assert own[place] >= 0.85
    every = [by_hand(table, cut) for cut in table.drop_nulls("human")["score"]]
    assert own[3 - place] == pytest.approx(max(p[3 - place] for p in every if p[place] >= 0.85))


def test_with_many_labels_it_is_the_best_cut_there_is():
    """Of two normal distributions: where share * density is that of the others."""
    table = labelled(scored(20_000), np.arange(10_000))
    expected = 0.75 + np.log(0.6 / 0.4) / 1.5
    found = cut_of(table, "agreement")
    assert found.cut == pytest.approx(expected, abs=0.25)
    best = 0.6 * stats.norm.cdf(expected) + 0.4 * stats.norm.sf(expected - 1.5)
    assert found.out_of_sample[0].estimate == pytest.approx(best, abs=0.015)


def test_scores_that_fall_with_the_class():
    up, down = (cut_of(drawn(scored(sign=sign)), "agreement") for sign in (1, -1))
    assert (up.at_least, down.at_least) == (True, False)
    assert down.cut == pytest.approx(-up.cut)
    assert down.share == pytest.approx(up.share)
    assert [p.estimate for p in down.out_of_sample] == pytest.approx(
        [p.estimate for p in up.out_of_sample], abs=0.02
    )


def test_out_of_sample_is_what_happens_to_other_items():
    """60 labels of a weak score, 60 tables: labels that chose the cut flatter it."""
    flattered, honest, inside = [], [], []
    for seed in range(60):
        table = scored(1000, apart=0.7, seed=seed)
        chosen = drawn(table, 60, seed)
        found = cut_of(chosen, "agreement")
        called = (table["score"] >= found.cut).to_numpy()
        truth = (called == (table["truth"] == "pass").to_numpy()).mean()
        flattered.append(found.on_labels["agreement"] - truth)
        agreement = found.out_of_sample[0]
        honest.append(agreement.estimate - truth)
        inside.append(agreement.low <= truth <= agreement.high)
    assert np.mean(flattered) > 0.03
    assert abs(np.mean(honest)) < 0.025
    assert np.mean(inside) >= 0.9


def test_labels_chosen_by_class_are_weighted():
    """A rare class of which as many were labelled: counted, precision would be far too high."""
    table = scored(20_000, share=0.05, apart=2.0)
    chosen = halves(table, "truth", 300)
    found = cut_of(chosen, "recall=0.8", labels="by-label")
    precision = found.out_of_sample[1]
    called = (table["score"] >= found.cut).to_numpy()
    truth = (table["truth"] == "pass").to_numpy()[called].mean()
    assert precision.estimate == pytest.approx(truth, abs=0.08)
    assert by_hand(chosen, found.cut)[1] > truth + 0.3


def test_rows_of_a_cluster_are_in_one_fold():
    """Every item five times: out of sample must be as for one, where a fold would give it away."""
    table = drawn(scored(300, apart=0.3, seed=3), 60)
    alone = cut_of(table, "agreement")
    five = pl.concat([table] * 5).with_columns(q=pl.Series(np.tile(np.arange(300), 5)))
    together = cut_of(five, "agreement", cluster="q").out_of_sample[0]
    one = alone.out_of_sample[0]
    assert together.estimate == pytest.approx(one.estimate, abs=0.05)
    assert together.high - together.low == pytest.approx(one.high - one.low, rel=0.15)


def test_labels_from_elsewhere():
    table, other = scored(1000).drop("truth"), scored(300, seed=5).rename({"truth": "human"})
    found = judge(table, score="score", label="human", labelled=other, cut="agreement").threshold
    known = by_hand(other, found.cut)
    assert found.on_labels["recall"] == pytest.approx(known[2], abs=0.1)
    assert found.share == pytest.approx((table["score"] >= found.cut).mean())


def test_it_is_in_every_output():
    answer = judge(drawn(scored()), **ASKED, cut="precision=80%")
    found = answer.threshold
    text = answer.to_text(details=True)
    assert f"pass if score is {found.cut:.4g} or more (precision of 80.0% or more" in text
    assert "out of sample: agreement" in text
    assert "out of sample: agreement" in answer.page().replace("Out of", "out of")
    content, schema = json.loads(answer.to_json()), json_schema()
    check(content, schema, schema["$defs"])
    assert content["threshold"]["cut"] == found.cut


def test_what_is_wrong_is_said_in_a_line():
    table = drawn(scored())
    with pytest.raises(UserError, match="'half' is not a goal of a cut; write agreement"):
        cut_of(table, "half")
    with pytest.raises(UserError, match="is not a goal"):
        CutRule.parse("precision=1.2")
    with pytest.raises(UserError, match="a cut needs a column of scores"):
        judge(table, verdict="score", label="human", cut="agreement")
    with pytest.raises(UserError, match="needs 20 labels or more"):
        cut_of(drawn(scored(), 12), "agreement")
    worst = pl.DataFrame({"score": [0, 1] * 20, "human": ["pass", "fail", "fail", "pass"] * 10})
    none = judge(worst, **ASKED, cut="precision=0.9")
    assert none.threshold.cut is None
    assert "no cut of score reaches it among the labels" in none.to_text(details=True)


def test_whether_a_score_rises_is_said_by_weighted_means():
    """Passes of a high score weigh more than the many of a low one."""
    n = 60
    passes, high = np.arange(n) % 2 == 0, np.arange(n) < 12
    score = np.where(passes, np.where(high, 3.0, -1.0), 0.0) + np.arange(n) / 1e3
    weights = np.where(high, 5.0, 0.5)
    meaning = Meaning.of_codes(2, n_judges=1)
    of = LabelsStandFor.ALL_ITEMS
    for scores, rises in ((score, True), (-score, False)):
        items = LabelledItems(None, None, passes.astype(int), weights, None, meaning, of)
        found = threshold(items, (scores, scores), 1, CutRule("agreement"), Settings())
        assert found.at_least == rises
