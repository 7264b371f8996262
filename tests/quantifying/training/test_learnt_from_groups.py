"""What left-out groups teach."""

import numpy as np
import polars as pl
import pytest
from scipy.stats import t as student

from quantshift.quantifiers.baselines import BASELINE
from quantshift.quantifying import quantify, save_model, train
from quantshift.quantifying.training.group_errors import (
    FORWARD,
    LEAVE_ONE_OUT,
    GroupErrors,
    LeftOutGroup,
)
from quantshift.quantifying.training.learnt_from_groups import (
    FEWEST_GROUPS,
    RIDGE,
    TARGET,
    GroupLesson,
    left_out_answers,
)


def named(share):
    return {"no": 1 - share, "yes": share}


def groups_of(n, *, coefficients=(0.5, 0.2), noise=0.0, design=LEAVE_ONE_OUT, seed=0):
    rng = np.random.default_rng(seed)
    found = []
    for i in range(n):
        nothing, mean, sld = 0.3, rng.uniform(0.1, 0.6), rng.uniform(0.0, 0.9)
        truth = nothing + coefficients[0] * (mean - nothing) + coefficients[1] * (sld - mean)
        truth += noise * rng.normal()
        estimates = {BASELINE: named(nothing), "PCC": named(mean), "SLD": named(sld)}
        group = LeftOutGroup(f"g{i}", 100, 500, named(truth), estimates, {}, None)
        found.append(group)
    return GroupErrors("region", design, "", "GuardedSLD", tuple(found), {}, ())


def arrays(groups):
    def shares(method):
        return np.array([g.estimates[method]["yes"] for g in groups.groups])

    truth = np.array([g.prevalence["yes"] for g in groups.groups])
    nothing, mean, sld = shares(BASELINE), shares("PCC"), shares("SLD")
    return np.stack([mean - nothing, sld - mean], axis=1), truth - nothing


def ridge(X, y):
    """Least squares with two more rows, one for each penalty."""
    rows = np.vstack([X, np.diag(np.sqrt(RIDGE))])
    moved = np.concatenate([y - X @ TARGET, np.zeros(2)])
    return TARGET + np.linalg.lstsq(rows, moved, rcond=None)[0]


def test_the_coefficients_go_from_pcc_to_a_ridge_regression_as_far_as_it_helps():
    groups = groups_of(9, noise=0.02)
    X, y = arrays(groups)
    others = [np.arange(9) != i for i in range(9)]
    errors = [y[i] - X[i] @ ridge(X[rest], y[rest]) for i, rest in enumerate(others)]
    gains = np.abs(y - X @ TARGET) - np.abs(errors)
    trust = 1 - 2 * (gains.std(ddof=1) / 3 / gains.mean()) ** 2
    assert 0.5 < trust < 1
    expected = TARGET + trust * (ridge(X, y) - TARGET)
    lesson = GroupLesson.of(groups, "PCC", "SLD")
    np.testing.assert_allclose((lesson.towards_covariate, lesson.towards_prior), expected)


@pytest.mark.parametrize("design", [LEAVE_ONE_OUT, FORWARD])
def test_nothing_is_learnt_where_it_would_not_have_helped(design):
    """Mostly PCC is right up to noise, and what the groups teach is noise."""
    learnt = []
    for seed in range(20):
        groups = groups_of(6, coefficients=(1.0, 0.0), noise=0.05, design=design, seed=seed)
        lesson = GroupLesson.of(groups, "PCC", "SLD")
        learnt.append((lesson.towards_covariate, lesson.towards_prior) != tuple(TARGET))
    assert np.mean(learnt) <= 0.3


def of_some(groups, some):
    return GroupErrors("region", groups.design, "", "", tuple(some), {}, ())


def test_a_group_is_answered_by_the_lesson_of_the_others():
    groups = groups_of(9, noise=0.02)
    answers = left_out_answers(groups, "PCC", "SLD", 0.9)
    assert [answer.name for answer in answers] == [group.name for group in groups.groups]
    for i, (answer, group) in enumerate(zip(answers, groups.groups, strict=True)):
        others = of_some(groups, groups.groups[:i] + groups.groups[i + 1 :])
        lesson = GroupLesson.of(others, "PCC", "SLD")
        shares = [np.array(list(group.estimates[m].values())) for m in (BASELINE, "PCC", "SLD")]
        expected = lesson.estimate(*shares)
        np.testing.assert_array_equal(answer.estimate, expected)
        limits = lesson.limits(expected, 0.9, expected, expected)
        np.testing.assert_array_equal((answer.low, answer.high), limits)
        assert answer.holds == bool(answer.low[1] <= group.prevalence["yes"] <= answer.high[1])


def test_a_year_is_answered_by_earlier_ones_alone():
    groups = groups_of(8, design=FORWARD)
    answers = left_out_answers(groups, "PCC", "SLD", 0.9)
    for i, (answer, group) in enumerate(zip(answers, groups.groups, strict=True)):
        lesson = GroupLesson.of(of_some(groups, groups.groups[:i]), "PCC", "SLD")
        assert (lesson is None) == (i < FEWEST_GROUPS)
        shares = [np.array(list(group.estimates[m].values())) for m in (BASELINE, "PCC", "SLD")]
        expected = shares[1] if lesson is None else lesson.estimate(*shares)
        np.testing.assert_array_equal(answer.estimate, expected)
        assert answer.holds is None


def test_many_groups_teach_what_holds_and_few_teach_nothing():
    lesson = GroupLesson.of(groups_of(200), "PCC", "SLD")
    assert lesson.towards_covariate == pytest.approx(0.5, abs=0.02)
    assert lesson.towards_prior == pytest.approx(0.2, abs=0.02)
    assert GroupLesson.of(groups_of(FEWEST_GROUPS - 1), "PCC", "SLD") is None
    assert GroupLesson.of(groups_of(9), "PCC", "unknown") is None


def test_the_limits_are_those_of_students_t_and_hold_the_next_group():
    held = []
    for seed in range(60):
        groups = groups_of(9, noise=0.03, seed=seed)
        rest = GroupErrors("region", LEAVE_ONE_OUT, "", "", groups.groups[:-1], {}, ())
        lesson, new = GroupLesson.of(rest, "PCC", "SLD"), groups.groups[-1]
        shares = [np.array(list(new.estimates[m].values())) for m in (BASELINE, "PCC", "SLD")]
        p_hat = lesson.estimate(*shares)
        assert p_hat.sum() == pytest.approx(1)
        low, high = lesson.limits(p_hat, 0.95, np.zeros(2), np.ones(2))
        held.append(low[1] <= new.prevalence["yes"] <= high[1])
        spread = np.sqrt((lesson.errors[:, 1] ** 2).mean())
        wide = student.ppf(0.975, 7) * spread * np.sqrt(1 + 1 / 8)
        assert high[1] - p_hat[1] == pytest.approx(min(wide, 1 - p_hat[1]))
    assert 0.85 <= np.mean(held) <= 1.0


def test_time_teaches_how_far_to_go_towards_the_mean_and_never_narrows_the_range():
    groups = groups_of(30, coefficients=(0.5, 0.0), noise=0.03, design=FORWARD)
    lesson = GroupLesson.of(groups, "PCC", "SLD")
    assert lesson.towards_covariate == pytest.approx(0.5, abs=0.1)
    assert lesson.towards_prior == 0
    X, y = arrays(groups)
    largest = np.abs(y - lesson.towards_covariate * X[:, 0]).max()
    p_hat = np.array([0.6, 0.4])
    low, high = lesson.limits(p_hat, 0.95, p_hat - 0.3, p_hat + 0.01)
    assert (low[1], high[1]) == pytest.approx((0.1, 0.4 + largest))


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
    learnt = next(a for a in batch.assumptions if a.name == "like the groups")
    assert share.estimate == pytest.approx(learnt.prevalence["yes"])
    assert share.low <= truth <= share.high
    lesson = GroupLesson.of(model.groups, "PCC", "SLD")
    p_hat = np.array([1 - share.estimate, share.estimate])
    low, _ = lesson.limits(p_hat, 0.95, p_hat, p_hat)
    assert share.low == pytest.approx(low[1])


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
    learnt = next(a for a in batch.assumptions if a.name == "like earlier periods")
    assert share.estimate in (None, pytest.approx(learnt.prevalence["yes"]))
    (without,) = quantify(sample, train=table.drop("year"), replicates=100, **options).batches
    (other,) = (s for s in without.shares if s.label == "yes")
    assert share.low <= other.low + 1e-9
    assert share.high >= other.high - 1e-9
