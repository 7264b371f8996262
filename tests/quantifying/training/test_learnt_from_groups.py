"""What left-out groups teach."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.stats import t as student
from sklearn.linear_model import Ridge

from quantshift.claims import Assumption, Reason
from quantshift.quantifiers.baselines import BASELINE
from quantshift.quantifying import quantify, save_model, train
from quantshift.quantifying.group_errors import (
    FORWARD,
    LEAVE_ONE_OUT,
    GroupErrors,
    LeftOutGroup,
)
from quantshift.quantifying.training.learnt_from_groups import (
    FEWEST_GROUPS,
    PENALTY,
    GroupLesson,
    GroupShares,
    Past,
    _multiple,
    left_out_answers,
)

METHODS = (BASELINE, "PCC", "SLD", "GuardedSLD")


def named(share):
    return {"no": 1 - share, "yes": share}


def groups_of(n, *, weights=(0.5, 0.2), noise=0.0, design=LEAVE_ONE_OUT, seed=0):
    """Groups whose truth is a mixture. weights: of the training share and of SLD."""
    rng = np.random.default_rng(seed)
    found = []
    for i in range(n):
        nothing, mean, sld = 0.3, rng.uniform(0.1, 0.6), rng.uniform(0.0, 0.9)
        truth = mean + weights[0] * (nothing - mean) + weights[1] * (sld - mean)
        truth += noise * rng.normal()
        shares = map(named, (nothing, mean, sld, mean))
        estimates = dict(zip(METHODS, shares, strict=True))
        group = LeftOutGroup(f"g{i}", 100, 500, named(truth), estimates, {}, None)
        found.append(group)
    return GroupErrors("region", design, "", "GuardedSLD", tuple(found), {}, ())


def shares_of(group):
    return GroupShares(*(np.array(list(group.estimates[method].values())) for method in METHODS))


def arrays(groups):
    def shares(method):
        return np.array([g.estimates[method]["yes"] for g in groups.groups])

    truth = np.array([g.prevalence["yes"] for g in groups.groups])
    nothing, mean, sld = shares(BASELINE), shares("PCC"), shares("SLD")
    return np.stack([nothing - mean, sld - mean], axis=1), truth - mean


def mixture(X, y):
    """The best of a fine grid of mixtures."""
    grid = np.linspace(0, 1, 401)
    a, c = (values.ravel() for values in np.meshgrid(grid, grid))
    a, c = a[a + c <= 1], c[a + c <= 1]
    loss = np.square(y[:, np.newaxis] - X @ np.stack([a, c])).sum(axis=0)
    best = np.argmin(loss + PENALTY * (a**2 + c**2))
    return np.array([a[best], c[best]])


def test_the_weights_go_from_pcc_to_the_best_mixture_as_far_as_it_helps():
    groups = groups_of(9, noise=0.02)
    X, y = arrays(groups)
    others = [np.arange(9) != i for i in range(9)]
    errors = [y[i] - X[i] @ mixture(X[rest], y[rest]) for i, rest in enumerate(others)]
    gains = np.abs(y) - np.abs(errors)
    trust = 1 - 2 * (gains.std(ddof=1) / 3 / gains.mean()) ** 2
    assert 0.5 < trust < 1
    lesson = GroupLesson.of(groups, "PCC", "SLD")
    np.testing.assert_allclose(lesson.weights, trust * mixture(X, y), atol=0.005)


@pytest.mark.parametrize("weights", [(1.6, -0.3), (-0.5, 0.3), (0.7, 0.9)])
def test_no_weight_is_negative_and_none_above_one(weights):
    lesson = GroupLesson.of(groups_of(30, weights=weights), "PCC", "SLD")
    assert (lesson.weights >= 0).all()
    assert lesson.weights.sum() <= 1 + 1e-6


@pytest.mark.parametrize("design", [LEAVE_ONE_OUT, FORWARD])
def test_nothing_is_learnt_where_it_would_not_have_helped(design):
    """Mostly PCC is right up to noise, and what the groups teach is noise."""
    learnt = []
    for seed in range(20):
        groups = groups_of(6, weights=(0.0, 0.0), noise=0.05, design=design, seed=seed)
        learnt.append(GroupLesson.of(groups, "PCC", "SLD").weights.any())
    assert np.mean(learnt) <= 0.3


def of_some(groups, some):
    return GroupErrors("region", groups.design, "", groups.method, tuple(some), {}, ())


def test_a_group_is_answered_by_the_lesson_of_the_others():
    groups = groups_of(9, noise=0.02)
    groups = of_some(groups, [replace(g, refuted=True) for g in groups.groups])
    answers = left_out_answers(groups, "PCC", "SLD", 0.9)
    assert [answer.name for answer in answers] == [group.name for group in groups.groups]
    for i, (answer, group) in enumerate(zip(answers, groups.groups, strict=True)):
        others = of_some(groups, groups.groups[:i] + groups.groups[i + 1 :])
        lesson = GroupLesson.of(others, "PCC", "SLD")
        expected = lesson.estimate(shares_of(group))
        np.testing.assert_array_equal(answer.estimate, expected)
        limits = lesson.limits(expected, 0.9, group.n_items, expected, expected)
        np.testing.assert_array_equal((answer.low, answer.high), limits)
        assert answer.holds == bool(answer.low[1] <= group.prevalence["yes"] <= answer.high[1])


def test_a_group_unlike_the_others_is_answered_by_the_method_in_use():
    groups = groups_of(9, noise=0.02)
    answers = left_out_answers(groups, "PCC", "SLD", 0.9)
    apart = [shares_of(group).apart for group in groups.groups]
    assert [answer.low is None for answer in answers] == [a == max(apart) for a in apart]
    unlike = int(np.argmax(apart))
    default = shares_of(groups.groups[unlike]).default
    np.testing.assert_array_equal(answers[unlike].estimate, default)


def test_a_year_is_answered_by_earlier_ones_alone():
    groups = groups_of(8, design=FORWARD)
    answers = left_out_answers(groups, "PCC", "SLD", 0.9)
    for i, (answer, group) in enumerate(zip(answers, groups.groups, strict=True)):
        lesson = GroupLesson.of(of_some(groups, groups.groups[:i]), "PCC", "SLD")
        assert (lesson is None) == (i < FEWEST_GROUPS)
        shares = shares_of(group)
        expected = shares.default if lesson is None else lesson.estimate(shares)
        np.testing.assert_array_equal(answer.estimate, expected)
        assert answer.holds is None


def test_many_groups_teach_what_holds_and_few_teach_nothing():
    lesson = GroupLesson.of(groups_of(200), "PCC", "SLD")
    assert lesson.weights == pytest.approx((0.5, 0.2), abs=0.02)
    assert GroupLesson.of(groups_of(FEWEST_GROUPS - 1), "PCC", "SLD") is None
    assert GroupLesson.of(groups_of(9), "PCC", "unknown") is None


def test_the_lesson_knows_how_far_apart_the_methods_were():
    groups = groups_of(9)
    steps, _ = arrays(groups)
    lesson = GroupLesson.of(groups, "PCC", "SLD")
    assert lesson.apart == pytest.approx(np.abs(steps[:, 1]).max())
    refuted = [replace(g, refuted=True) for g in groups.groups]
    assert GroupLesson.of(of_some(groups, refuted), "PCC", "SLD").apart == 0


def test_the_limits_are_those_of_students_t_and_hold_the_next_group():
    held, n_items = [], 400
    for seed in range(60):
        groups = groups_of(9, noise=0.03, seed=seed)
        rest = of_some(groups, groups.groups[:-1])
        lesson, new = GroupLesson.of(rest, "PCC", "SLD"), groups.groups[-1]
        p_hat = lesson.estimate(shares_of(new))
        assert p_hat.sum() == pytest.approx(1)
        low, high = lesson.limits(p_hat, 0.95, n_items, np.zeros(2), np.ones(2))
        held.append(low[1] <= new.prevalence["yes"] <= high[1])
        variance = (lesson.errors[:, 1] ** 2).mean() * (1 + 1 / 8) + p_hat.prod() / n_items
        wide = student.ppf(0.975, 7) * np.sqrt(variance)
        assert high[1] - p_hat[1] == pytest.approx(min(wide, 1 - p_hat[1]))
    assert 0.85 <= np.mean(held) <= 1.0


def test_time_goes_further_than_the_default_and_narrows_no_range_unlike_the_past():
    groups = groups_of(30, weights=(-0.5, 0.0), noise=0.03, design=FORWARD)
    lesson = GroupLesson.of(groups, "PCC", "SLD")
    assert lesson.from_default == 0  # it was PCC on every period
    beyond, by_prior = lesson.weights
    assert beyond == pytest.approx(-0.5, abs=0.1)
    assert by_prior == 0
    default = np.array([0.4, 0.6])
    shares = GroupShares(*(np.array([1 - p, p]) for p in (0.3, 0.5, 0.9, 0.6)))
    np.testing.assert_allclose(lesson.estimate(shares), default - 0.2 * beyond * np.array([-1, 1]))
    X, y = arrays(groups)
    largest = np.abs(y - beyond * X[:, 0]).max()
    p_hat = np.array([0.6, 0.4])
    low, high = lesson.limits(p_hat, 0.95, 100, p_hat - 0.3, p_hat + 0.01)
    assert (low[1], high[1]) == pytest.approx((0.1, 0.4 + largest))


def series(n, rng, *, noise=0.02):
    """Periods of a steady share of .3, which PCC misses by a bias and a little noise."""
    groups = []
    for i in range(n):
        truth = 0.3 + noise * rng.normal()
        found = {"PCC": truth + 0.05, "SLD": truth + 0.2, "GuardedSLD": truth + 0.05}
        estimates = {
            BASELINE: named(0.3),
            **{m: named(p + noise * rng.normal()) for m, p in found.items()},
        }
        groups.append(LeftOutGroup(str(i), 1000, 500, named(truth), estimates, {}, True))
    return GroupErrors("year", FORWARD, "", "GuardedSLD", tuple(groups), {}, ())


def test_a_steady_past_gives_its_steady_range_and_a_jump_does_not():
    """The range of the assumptions would be .6 wide; limits of t hold the next period."""
    rng, held, widths = np.random.default_rng(8), [], []
    for _ in range(200):
        *past, new = series(9, rng).groups
        lesson = GroupLesson.of(of_some(series(0, rng), past), "PCC", "SLD")
        shares = shares_of(new)
        p_hat, truth = lesson.estimate(shares), np.array(list(new.prevalence.values()))
        like = lesson.is_like_the_past(shares, Reason.REFUTED)
        low, high = lesson.limits(p_hat, 0.95, 1000, p_hat - 0.3, p_hat + 0.3, like_the_past=like)
        held.append((low <= truth).all() and (truth <= high).all())
        widths.append(high[0] - low[0])
        jump = replace(shares, covariate=np.array([0.4, 0.6]))
        assert not lesson.is_like_the_past(jump, Reason.REFUTED)
        apart = replace(shares, prior=np.array([0.1, 0.9]))
        assert not lesson.is_like_the_past(apart, Reason.NO_EVIDENCE)
    # Three standard errors.
    assert np.mean(held) >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / len(held))
    assert np.median(widths) < 0.25


def test_the_limits_in_time_are_the_shortest_of_three():
    rng = np.random.default_rng(9)
    lesson = GroupLesson.of(series(8, rng, noise=0.01), "PCC", "SLD")
    p_hat, n_items = np.array([0.65, 0.35]), 500

    def reach(centre, errors):
        n = len(errors)
        variance = (errors[:, 1] ** 2).mean() * (1 + 1 / n) + centre.prod() / n_items
        return student.ppf(0.975, n - 1) * np.sqrt(variance)

    by_errors = reach(p_hat, lesson.errors)
    by_changes = reach(lesson.past.last, lesson.past.changes)
    centre, shorter = min((p_hat, by_errors), (lesson.past.last, by_changes), key=lambda x: x[1])
    low, high = lesson.limits(p_hat, 0.95, n_items, p_hat - 0.3, p_hat + 0.3, like_the_past=True)
    assert (low[1], high[1]) == pytest.approx((centre[1] - shorter, centre[1] + shorter))
    narrow = lesson.limits(p_hat, 0.95, n_items, p_hat, p_hat, like_the_past=True)
    largest = np.abs(lesson.errors).max(axis=0)
    assert narrow[1][1] - narrow[0][1] <= 2 * min(largest[1], shorter) + 1e-12


def test_periods_show_whether_pcc_is_better_than_the_default():
    groups = groups_of(12, weights=(0.0, 0.0), noise=0.02, design=FORWARD)
    worse = [replace(g, estimates={**g.estimates, "GuardedSLD": named(0.9)}) for g in groups.groups]
    lesson = GroupLesson.of(of_some(groups, worse), "PCC", "SLD")
    assert 0.8 < lesson.from_default < 1
    shares = GroupShares(*(np.array([1 - p, p]) for p in (0.3, 0.5, 0.9, 0.6)))
    expected = 0.6 - 0.1 * lesson.from_default - 0.2 * lesson.weights[0]
    assert lesson.estimate(shares)[1] == pytest.approx(expected)


def test_an_interval_is_left_alone_unless_the_groups_speak_of_such_samples():
    """With a default that errs on the groups where PCC does not, and one that does not err."""
    groups = groups_of(12, weights=(0.0, 0.0), noise=0.02)
    worse = [replace(g, estimates={**g.estimates, "GuardedSLD": named(0.9)}) for g in groups.groups]
    lesson = GroupLesson.of(groups, "PCC", "SLD")
    against = GroupLesson.of(of_some(groups, worse), "PCC", "SLD")
    assert lesson.from_default == 0
    assert 0.8 < against.from_default < 1
    shares = GroupShares(*(np.array([1 - p, p]) for p in (0.3, 0.5, 0.5 + lesson.apart, 0.6)))
    further = replace(shares, prior=shares.prior + 0.01)
    for reason in (Reason.AGREEMENT, Reason.NO_EVIDENCE):
        assert lesson.applies(shares, reason)
        assert not lesson.applies(further, reason)
    assert lesson.applies(further, Reason.REFUTED)
    assert not lesson.applies(shares, Reason.EVIDENCE)
    assert against.applies(shares, Reason.EVIDENCE)
    assert not against.applies(further, Reason.EVIDENCE)
    assert not against.applies(shares, Reason.DECLARED)
    past = Past(np.array([0.5, 0.5]), np.zeros((3, 2)), 0.1)
    in_time = replace(against, past=past)
    assert [in_time.applies(further, r) for r in (Reason.EVIDENCE, Reason.NO_EVIDENCE)] == [
        False,
        True,
    ]
    learnt, supported = (against.estimate(shares, supported=s)[1] for s in (False, True))
    assert supported == pytest.approx(learnt + (1 - against.from_default) * (0.6 - learnt))


def region(name, move, seed, n=150):
    """An outcome that follows from a column; regions differ in it."""
    rng = np.random.default_rng(seed)
    income, age = rng.normal(move, 1, n), rng.normal(size=n)
    p = 1 / (1 + np.exp(-(1.5 * income - 0.5 * age - 1)))
    relapse = np.where(rng.random(n) < p, "yes", "no")
    return pl.DataFrame({"income": income, "age": age, "relapse": relapse, "region": [name] * n})


@pytest.mark.slow
def test_the_answer_rests_on_what_the_groups_teach():
    moves = [-1.0, -0.5, 0.0, 0.5, 1.0, 1.5]
    table = pl.concat([region(f"r{i}", move, i) for i, move in enumerate(moves)])
    model = train(table, label="relapse", groups="region", classifier="logistic")
    sample = region("new", 1.8, 9, n=500)
    truth = float((sample["relapse"] == "yes").mean())
    found = quantify(sample.drop("relapse", "region"), model=model, replicates=100)
    (batch,) = found.batches
    assert batch.kind == "range"
    assert "learnt from the groups of 'region' that were left out in turn" in batch.basis
    share = next(s for s in batch.shares if s.label == "yes")
    learnt = next(a for a in batch.alternatives if a.assumption is Assumption.GROUPS)
    assert share.estimate == pytest.approx(learnt.prevalence["yes"])
    assert share.low <= truth <= share.high
    lesson = GroupLesson.of(model.groups, "PCC", "SLD")
    p_hat = np.array([1 - share.estimate, share.estimate])
    low, _ = lesson.limits(p_hat, 0.95, len(sample), p_hat, p_hat)
    assert share.low == pytest.approx(low[1])


@pytest.mark.slow
def test_where_the_assumptions_agree_the_groups_give_the_estimate_in_the_interval():
    """The interval stays, unless the assumptions are further apart than on any group."""
    table = pl.concat([region(f"r{i}", 0.05 * i, i, n=300) for i in range(6)])
    model = train(table, label="relapse", groups="region", classifier="logistic")
    sample = region("new", 0.1, 10, n=500).drop("relapse", "region")
    found = [
        quantify(sample, model=taught, replicates=100).batches[0]
        for taught in (model, replace(model, groups=None))
    ]
    taught, untaught = (next(s for s in batch.shares if s.label == "yes") for batch in found)
    assert {(batch.kind, batch.reason) for batch in found} == {("interval", "agreement")}
    assert "learnt from the left-out groups of 'region'" in found[0].basis
    assert (taught.low, taught.high) == (untaught.low, untaught.high)
    learnt = next(a for a in found[0].alternatives if a.assumption is Assumption.GROUPS)
    assert taught.estimate == pytest.approx(learnt.prevalence["yes"])
    assert taught.estimate != pytest.approx(untaught.estimate, abs=0.01)
    groups = model.groups
    alike = tuple(
        replace(g, estimates={**g.estimates, "SLD": g.estimates["PCC"]}) for g in groups.groups
    )
    without = replace(model, groups=replace(groups, groups=alike))
    (batch,) = quantify(sample, model=without, replicates=100).batches
    assert [s.estimate for s in batch.shares] == [s.estimate for s in found[1].shares]


@pytest.mark.slow
def test_groups_on_which_the_default_errs_turn_an_interval_by_evidence_into_a_range():
    table = pl.concat([region(f"r{i}", 0.3 * i, i, n=300) for i in range(6)])
    model = train(table, label="relapse", groups="region", classifier="logistic")
    sample = region("new", 0.7, 9, n=2000)
    rare = sample.filter((pl.col("relapse") == "no") | (pl.int_range(pl.len()) % 10 == 0))
    rare = rare.drop("relapse", "region")
    (without,) = quantify(rare, model=replace(model, groups=None), replicates=100).batches
    assert (without.kind, without.reason) == ("confidence interval", Reason.EVIDENCE)
    wrong = tuple(
        replace(g, estimates={**g.estimates, "GuardedSLD": named(0.0), "SLD": named(0.0)})
        for g in model.groups.groups
    )
    taught = replace(model, groups=replace(model.groups, groups=wrong))
    (batch,) = quantify(rare, model=taught, replicates=100).batches
    assert (batch.kind, batch.reason) == ("range", "no_evidence")
    assert "learnt from the groups of 'region'" in batch.basis


@pytest.mark.slow
def test_the_answer_rests_on_what_earlier_years_teach(tmp_path):
    """By a model that was saved; the range is never narrower than without years."""
    table = pl.concat([region(str(2010 + i), 0.3 * i - 1, i) for i in range(7)])
    table = table.rename({"region": "year"})
    options = {"label": "relapse", "classifier": "logistic"}
    save_model(train(table, time="year", **options), tmp_path / "model")
    sample = region("new", 1.4, 9, n=500).drop("relapse", "region")
    (batch,) = quantify(sample, model=tmp_path / "model", replicates=100).batches
    assert "learnt from the periods of 'year', each estimated from those before it" in batch.basis
    (share,) = (s for s in batch.shares if s.label == "yes")
    learnt = next(a for a in batch.alternatives if a.assumption is Assumption.PERIODS)
    assert share.estimate in (None, pytest.approx(learnt.prevalence["yes"]))
    (without,) = quantify(sample, train=table.drop("year"), replicates=100, **options).batches
    (other,) = (s for s in without.shares if s.label == "yes")
    assert share.low <= other.low + 1e-9
    assert share.high >= other.high - 1e-9


def test_the_multiple_is_that_of_ridge_regression():
    rng = np.random.default_rng(11)
    steps, missed = rng.normal(size=(12, 3, 2)), 0.2 * rng.normal(size=(12, 3))
    ridge = Ridge(alpha=PENALTY * 3 / 2, fit_intercept=False)
    ridge.fit(steps[..., :1].reshape(-1, 1), missed.reshape(-1))
    assert _multiple(steps, missed) == pytest.approx([ridge.coef_[0], 0.0])
