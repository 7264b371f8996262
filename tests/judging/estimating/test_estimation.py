"""Rates behind verdicts: the right estimator for each design, and bad input."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quantshift.errors import DataError, UserError
from quantshift.judging.estimating.estimation import GivenRate, difference, estimate
from quantshift.labelling.audit import audit_interval
from quantshift.labelling.transfer import prevalences


def holds(judged, truth):
    return judged.low[1] <= truth <= judged.high[1]


def test_random_labels_are_post_stratified_by_verdict(judging):
    labels, v = judging.random(150), judging.verdicts
    found = estimate(v, labels, 2, design="random")
    rates = [labels[(v == c) & (labels >= 0)].mean() for c in (0, 1)]
    assert found.prevalence[1] == pytest.approx(np.bincount(v) / len(v) @ rates)
    assert found.n_labelled == 150
    # With a verdict of two values the regression of the audit is the same estimate, and many labels
    # have the same limits.
    rows = np.flatnonzero(labels >= 0)
    audit = audit_interval(np.eye(2)[v], rows, labels[rows])
    assert found.prevalence == pytest.approx(audit.prevalence)
    assert found.low == pytest.approx(audit.low, abs=0.003)
    assert found.high == pytest.approx(audit.high, abs=0.003)


def test_random_labels_with_a_score_or_few_for_many_verdicts_are_an_audit(judging):
    labels = judging.random(150)
    rows = np.flatnonzero(labels >= 0)
    score = np.where(judging.verdicts == 1, 0.8, 0.3)
    found = estimate(None, labels, 2, design="random", score=score)
    audit = audit_interval(np.column_stack([1 - score, score]), rows, labels[rows])
    assert found.low == pytest.approx(audit.low)
    few = np.where(np.isin(np.arange(len(labels)), rows[:19]), labels, -1)
    found = estimate(judging.verdicts, few, 2, design="random", insist=True)
    audit = audit_interval(np.eye(2)[judging.verdicts], rows[:19], labels[rows[:19]])
    assert found.high == pytest.approx(audit.high)


def test_beside_ppi_python(judging):
    ppi = pytest.importorskip("ppi_py", reason="ppi-python is not installed")
    labels = judging.random(300)
    known = labels >= 0
    Y, f, rest = (
        x.astype(float) for x in (labels[known], judging.verdicts[known], judging.verdicts[~known])
    )
    low, high = (float(np.squeeze(x)) for x in ppi.ppi_mean_ci(Y, f, rest, alpha=0.05))
    found = estimate(judging.verdicts, labels, 2, design="random")
    assert found.prevalence[1] == pytest.approx((low + high) / 2, abs=0.005)
    assert found.high[1] - found.low[1] == pytest.approx(high - low, rel=0.08)


def test_labels_by_verdict_are_weighted_by_the_shares_of_verdicts(judging):
    labels, v = judging.by_verdict(100), judging.verdicts
    found = estimate(v, labels, 2, design="by-verdict")
    rates = [labels[(v == c) & (labels >= 0)].mean() for c in (0, 1)]
    assert found.prevalence[1] == pytest.approx(np.bincount(v) / len(v) @ rates)


def test_labels_by_label_are_those_of_the_joint_posterior_and_of_known_items(judging):
    labels, v = judging.by_label(200), judging.verdicts
    known = labels >= 0
    F = np.array([[((labels == y) & (v == c)).sum() for c in (0, 1)] for y in (0, 1)])
    rest = prevalences(F, [np.bincount(v[~known])])
    found = estimate(v, labels, 2, design="by-label")
    assert found.prevalence == pytest.approx(0.9 * rest.prevalence[0] + 0.1 * 0.5)


@pytest.mark.parametrize("design", ["random", "by-verdict", "by-label", None])
def test_every_design_finds_the_rate(judging, design):
    choose = {"by-verdict": judging.by_verdict, "by-label": judging.by_label}
    labels = choose.get(design, judging.random)(201 if design is None else 200)
    assert holds(estimate(judging.verdicts, labels, 2, design=design), judging.y.mean())


def test_labels_from_elsewhere(judging):
    rng = np.random.default_rng(5)
    y = (rng.random(200) < 0.5).astype(int)
    v = np.where(rng.random(200) < np.where(y == 1, 0.95, 0.8), y, 1 - y)
    found = estimate(judging.verdicts, np.full(2000, -1), 2, elsewhere=(v, y))
    assert found.design == "elsewhere"
    assert holds(found, judging.y.mean())
    assert found.range_high is not None
    # A verdict does not mean the same where classes have other shares.
    assert found.range_high[1] < found.high[1]
    assert found.n_items == 2000
    assert found.n_labelled == 200


def test_labels_here_and_elsewhere_are_used_together(judging):
    rng = np.random.default_rng(5)
    y = (rng.random(300) < 0.5).astype(int)
    v = np.where(rng.random(300) < np.where(y == 1, 0.95, 0.8), y, 1 - y)
    labels = judging.random(80)
    here = estimate(judging.verdicts, labels, 2, design="random")
    there = estimate(judging.verdicts, np.full(2000, -1), 2, elsewhere=(v, y))
    both = estimate(judging.verdicts, labels, 2, design="random", elsewhere=(v, y))
    width = (both.high - both.low)[1]
    assert width < min((here.high - here.low)[1], (there.high - there.low)[1])
    assert holds(both, judging.y.mean())
    assert both.n_labelled == 380
    assert any("weight" in note for note in both.notes)
    wrong = estimate(judging.verdicts, labels, 2, design="random", elsewhere=(1 - v, y))
    assert wrong.prevalence == pytest.approx(here.prevalence)
    assert any("not used" in note for note in wrong.notes)


def test_items_of_the_table_from_elsewhere_are_not_part_of_the_sample(judging):
    found = estimate(judging.verdicts, judging.by_label(200), 2, design="elsewhere")
    assert found.n_items == 1800


def test_a_contradiction_is_one_line_that_names_the_design(judging):
    labels = judging.by_label(100)
    with pytest.raises(UserError, match="looks like by-label") as error:
        estimate(judging.verdicts, labels, 2, design="random")
    assert "\n" not in str(error.value)
    assert estimate(judging.verdicts, labels, 2, design="random", insist=True).check.ok is False


def test_the_guess_is_said(judging):
    found = estimate(judging.verdicts, judging.by_label(100), 2)
    assert found.design == "by-label"
    assert "50 labels of each class" in found.notes[0]


def test_known_sensitivity_and_specificity(judging):
    none = np.full(2000, -1)
    sharp = estimate(
        judging.verdicts, none, 2, sensitivity=GivenRate(0.95), specificity=GivenRate(0.8)
    )
    q = judging.verdicts.mean()
    assert sharp.prevalence[1] == pytest.approx((q + 0.8 - 1) / 0.75, abs=0.005)
    vague = estimate(
        judging.verdicts,
        none,
        2,
        sensitivity=GivenRate(0.95, 0.9, 0.98),
        specificity=GivenRate(0.8, 0.65, 0.9),
    )
    assert vague.high[1] - vague.low[1] > 1.5 * (sharp.high[1] - sharp.low[1])
    with pytest.raises(UserError, match="give both"):
        estimate(judging.verdicts, none, 2, sensitivity=GivenRate(0.9))
    with pytest.raises(UserError, match="in order"):
        GivenRate(0.9, 0.95, 0.99).beta()


def test_a_rate_with_limits_is_a_beta_distribution_of_that_width():
    from scipy import stats

    a, b = GivenRate(0.9, 0.85, 0.94).beta()
    low, high = stats.beta.ppf([0.025, 0.975], a, b)
    assert a / (a + b) == pytest.approx(0.9)
    assert high - low == pytest.approx(0.09, abs=1e-6)


def test_a_second_judge_helps(judging):
    second = np.where(judging.rng.random(2000) < 0.9, judging.y, 1 - judging.y)
    both = np.column_stack([judging.verdicts, second])
    for design, labels in (
        ("random", judging.random(200)),
        ("by-label", judging.by_label(200)),
        ("by-verdict", judging.by_verdict(200)),
    ):
        one = estimate(judging.verdicts, labels, 2, design=design)
        two = estimate(both, labels, 2, design=design)
        assert holds(two, judging.y.mean())
        assert (two.high - two.low)[1] < 1.25 * (one.high - one.low)[1]
        assert len(two.judges) == 2


@pytest.mark.parametrize("sign", [1, -1])
def test_scores_alone_rising_or_falling(judging, sign):
    score = sign * judging.score
    for design, labels in (("random", judging.random(150)), ("by-label", judging.by_label(150))):
        found = estimate(None, labels, 2, score=score, design=design)
        assert holds(found, judging.y.mean())
        assert found.judges == ()


def test_verdicts_that_are_no_class(judging):
    v = np.where(judging.rng.random(2000) < 0.1, 2, judging.verdicts)
    with pytest.raises(DataError, match="say what class"):
        estimate(v, judging.random(100), 2, design="random")
    for design, labels in (("random", judging.random(150)), ("by-label", judging.by_label(150))):
        found = estimate(v, labels, 2, design=design, verdict_classes=[[0, 1, -1]])
        assert holds(found, judging.y.mean())
        assert np.isnan(found.kappa)
        assert found.rates.shape == (2, 3)


def test_quality_of_a_judge_under_each_design(judging):
    for design, labels in (
        ("random", judging.random(400)),
        ("by-verdict", judging.by_verdict(400)),
        ("by-label", judging.by_label(400)),
    ):
        found = estimate(judging.verdicts, labels, 2, design=design)
        assert found.rates_low[1, 1] <= 0.95 <= found.rates_high[1, 1] + 0.01
        assert found.rates_low[0, 0] - 0.01 <= 0.8 <= found.rates_high[0, 0]
        agree = (judging.verdicts == judging.y).mean()
        p, q = judging.y.mean(), judging.verdicts.mean()
        chance = p * q + (1 - p) * (1 - q)
        assert found.kappa_low <= (agree - chance) / (1 - chance) <= found.kappa_high
        assert found.naive[1] == pytest.approx(q)


def test_kappa_of_random_labels_is_cohens(judging):
    sklearn = pytest.importorskip("sklearn.metrics")
    labels = judging.random(300)
    known = labels >= 0
    found = estimate(judging.verdicts, labels, 2, design="random")
    expected = sklearn.cohen_kappa_score(judging.verdicts[known], labels[known])
    assert found.kappa == pytest.approx(expected)
    v = np.where(judging.rng.random(2000) < 0.2, 2, judging.verdicts)
    found = estimate(v, labels, 3, design="random", ordered=True, insist=True)
    v = v[known]
    expected = sklearn.cohen_kappa_score(v, labels[known], weights="quadratic", labels=[0, 1, 2])
    assert found.kappa == pytest.approx(expected)


def test_probabilities_of_being_chosen_do_what_strata_do(judging):
    labels, v = judging.by_verdict(100), judging.verdicts
    sizes = np.bincount(v)
    inclusion = np.where(labels >= 0, 50 / sizes[v], np.nan)
    by_strata = estimate(v, labels, 2, strata=v)
    by_inclusion = estimate(v, labels, 2, inclusion=inclusion)
    assert by_inclusion.prevalence == pytest.approx(by_strata.prevalence)
    assert by_inclusion.high == pytest.approx(by_strata.high, abs=0.002)
    with pytest.raises(DataError, match="probability"):
        estimate(v, labels, 2, inclusion=np.full(2000, np.nan))


def test_labels_for_half_the_width(judging):
    found = estimate(judging.verdicts, judging.random(100), 2, design="random")
    more = found.labels_for_half_width
    assert 300 < more < 1000
    again = estimate(judging.verdicts, judging.random(more), 2, design="random", insist=True)
    ratio = (again.high - again.low)[1] / (found.high - found.low)[1]
    assert ratio == pytest.approx(0.5, abs=0.12)


def test_differences(judging):
    other = np.where(judging.rng.random(2000) < 0.1, 1 - judging.y, judging.y)
    rows = judging.rng.choice(2000, 200, replace=False)
    second = np.full(2000, -1)
    second[rows] = other[rows]
    a = estimate(judging.verdicts, judging.labels(rows), 2, design="random")
    b = estimate(
        np.where(other == judging.y, judging.verdicts, 1 - judging.verdicts),
        second,
        2,
        design="random",
    )
    paired, apart = difference(a, b, paired=True), difference(a, b)
    assert paired.difference == pytest.approx(a.prevalence - b.prevalence)
    assert (paired.high - paired.low)[1] < (apart.high - apart.low)[1]
    assert paired.low[0] == pytest.approx(-paired.high[1])
    back = difference(b, a, paired=True)
    assert back.low == pytest.approx(-paired.high)
    same = difference(a, a, paired=True)
    assert (same.high - same.low).max() < (apart.high - apart.low).max()
    small = estimate(judging.verdicts[:500], judging.labels(np.arange(50))[:500], 2, insist=True)
    with pytest.raises(DataError, match="same items"):
        difference(a, small, paired=True)


def test_labels_from_elsewhere_that_two_systems_share(judging):
    none = np.full(1000, -1)
    rows = judging.rng.choice(2000, 150, replace=False)
    other = (judging.verdicts[rows], judging.y[rows])
    a = estimate(judging.verdicts[:1000], none, 2, elsewhere=other)
    b = estimate(judging.verdicts[1000:], none, 2, elsewhere=other)
    shared, apart = difference(a, b, shared=True), difference(a, b)
    assert (shared.high - shared.low)[1] < 0.8 * (apart.high - apart.low)[1]


def test_a_verdict_of_one_value(judging):
    ones = np.ones(2000, dtype=int)
    random = estimate(ones, judging.random(101), 2, design="random")
    assert holds(random, judging.y.mean())
    assert any("same" in note for note in random.notes)
    by_label = estimate(ones, judging.by_label(100), 2)
    assert by_label.high[1] - by_label.low[1] > 0.6


def test_labels_of_one_class():
    verdicts = np.repeat([0, 1], [100, 900])
    labels = np.full(1000, -1)
    labels[90:130] = 1
    for design in ("random", "by-verdict", "by-label"):
        found = estimate(verdicts, labels, 2, design=design, insist=True)
        assert found.high[0] > 0.05
        assert any("one class" in note for note in found.notes)


def test_labels_that_are_the_verdicts(judging):
    labels = np.where(np.arange(2000) < 80, judging.verdicts, -1)
    found = estimate(judging.verdicts, labels, 2, design="random")
    assert found.high[1] - found.low[1] > 0.03
    assert any("agree" in note for note in found.notes)


@pytest.mark.parametrize("design", ["random", "by-verdict", "by-label", "elsewhere"])
def test_three_labels_are_a_wide_answer(judging, design):
    found = estimate(judging.verdicts, judging.labels([0, 1, 2]), 2, design=design, insist=True)
    assert found.high[1] - found.low[1] > 0.3


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"labels": np.full(2000, -1)}, "no item is labelled"),
        ({"labels": np.full(1999, 1)}, "1999 labels"),
        ({"labels": np.full(2000, 2)}, "from 0 to 1"),
        ({"verdicts": np.full(2000, -1)}, "codes"),
        ({"verdicts": np.full(2000, 0.5)}, "codes"),
        ({"verdicts": None}, "verdicts of a judge or a score"),
        ({"score": np.full(2000, np.nan)}, "2000 scores"),
        ({"level": 1.5}, "level"),
        ({"n_classes": 1}, "two classes"),
        ({"design": "at random"}, "design"),
        ({"elsewhere": ([0, 1], [0, 1, 1])}, "elsewhere"),
    ],
)
def test_bad_input_is_one_clear_line(judging, change, said):
    given = {"verdicts": judging.verdicts, "labels": judging.random(50), "n_classes": 2} | change
    with pytest.raises(UserError, match=said) as error:
        estimate(given.pop("verdicts"), given.pop("labels"), given.pop("n_classes"), **given)
    assert "\n" not in str(error.value)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_any_counts_have_an_answer(data):
    K = data.draw(st.integers(2, 4))
    n = data.draw(st.integers(5, 60))
    verdicts = data.draw(st.lists(st.integers(0, K - 1), min_size=n, max_size=n))
    labels = data.draw(st.lists(st.integers(-1, K - 1), min_size=n, max_size=n))
    design = data.draw(st.sampled_from(["random", "by-verdict", "by-label", "elsewhere"]))
    try:
        found = estimate(verdicts, labels, K, design=design, insist=True)
    except UserError:
        assert max(labels) < 0 or min(labels) >= 0
        return
    assert found.prevalence.sum() == pytest.approx(1)
    assert (found.low >= 0).all()
    assert (found.low <= found.prevalence).all()
    assert (found.prevalence <= found.high).all()
    assert (found.high <= 1 + 1e-12).all()
    assert np.isfinite(found.influence).all()
