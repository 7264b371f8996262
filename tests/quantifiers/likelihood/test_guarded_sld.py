"""GuardedSLD: SubclassSLD where the sample agrees with it, PCC where it does not."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from quantshift import GuardedSLD, predict_interval
from quantshift.errors import UserError
from quantshift.quantifiers.base.guarding import covariate_limits

FAST = [LogisticRegression(), DecisionTreeClassifier(max_depth=3, random_state=0)]


def caused(n, seed, *, centre=(0.0, 0.0)):
    """Features and the labels they cause: P(Y|X) is always the same."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) + np.array(centre)
    return X, (rng.random(n) < 1 / (1 + np.exp(-1.5 * X[:, 0] + 0.5))).astype(int)


def causing(n_negative, n_positive, seed):
    """Features of given numbers of labels: P(X|Y) is always the same."""
    y = np.repeat([0, 1], [n_negative, n_positive])
    return np.random.default_rng(seed).normal(size=(len(y), 2)) + 1.5 * y[:, None], y


@pytest.fixture(scope="module")
def causes():
    return GuardedSLD(mode="columns", classifiers=FAST).fit(*caused(1500, 0))


@pytest.fixture(scope="module")
def effects():
    return GuardedSLD(mode="columns", classifiers=FAST).fit(*causing(800, 700, 0))


def test_under_prior_shift_it_is_subclass_sld(effects):
    X, y = causing(100, 500, 1)
    found = effects.estimate(X)
    assert not found.diagnostics["refuted"]
    assert found.prevalence.tolist() == pytest.approx(found.diagnostics["prior"].tolist())
    assert found.prevalence[1] == pytest.approx(y.mean(), abs=0.05)


def test_under_covariate_shift_it_is_the_mean_posterior(causes):
    X, y = caused(800, 1, centre=(1.0, 1.0))
    found = causes.estimate(X)
    assert found.diagnostics["refuted"]
    assert found.prevalence.tolist() == pytest.approx(found.diagnostics["covariate"].tolist())
    assert found.prevalence[1] == pytest.approx(y.mean(), abs=0.05)


def test_where_prior_shift_explains_most_its_number_stays_and_the_range_spans_the_rest(effects):
    X, y = causing(10, 990, 3)
    found = effects.estimate(X + np.array([0.0, 0.1]))
    told = found.diagnostics
    assert told["refuted"]
    assert told["in_doubt"]
    assert told["explained"] > 0.5
    assert found.prevalence.tolist() == pytest.approx(told["prior"].tolist())
    assert (told["low"] <= told["covariate"]).all()
    assert (told["covariate"] <= told["high"]).all()
    assert told["low"][1] <= y.mean() <= told["high"][1]


def test_samples_of_the_training_distribution_are_rarely_refuted(causes):
    X, _ = caused(40 * 300, 2)
    samples = np.arange(len(X)).reshape(40, 300)
    assert causes.estimate(X, samples).diagnostics["refuted"].mean() <= 0.05


def test_the_hull_holds_what_the_assumptions_say(causes):
    X, _ = caused(600, 3, centre=(1.0, 1.0))
    told = causes.estimate(X).diagnostics
    low, high = causes.hull(X)
    by_classifier = [told["covariate_by_classifier"], told["prior_by_classifier"]]
    assert [estimates.shape for estimates in by_classifier] == [(2, 2), (2, 2)]
    every = np.concatenate([*by_classifier, [causes.prior_, told["covariate"], causes.predict(X)]])
    assert (low <= every.min(axis=0)).all()
    assert (high >= every.max(axis=0)).all()


def test_the_range_is_the_diagnostics_by_name(causes):
    """One sample or several: PCC of the better classifier is `covariate`, SLD is `plain_prior`."""
    X, _ = caused(600, 3, centre=(1.0, 1.0))
    samples = [np.arange(300), np.arange(300, 600)]
    estimate = causes.estimate(X, samples)
    ranges = causes.ranges(estimate)
    for i, found in enumerate(ranges):
        assert found.estimate.tolist() == estimate.prevalence[i].tolist()
        assert found.low.tolist() == estimate.diagnostics["low"][i].tolist()
        assert found.covariate_by_classifier[causes.chosen_].tolist() == found.covariate.tolist()
        alone = causes.ranges(causes.estimate(X[samples[i]]))
        assert len(alone) == 1
        assert alone[0].estimate.tolist() == pytest.approx(found.estimate.tolist())
        assert alone[0].rests_on == found.rests_on
        members = [learnt.committee(X[samples[i]], 2) for learnt in causes.learnt_]
        sld = [causes.plain_.aggregate(posteriors) for posteriors in members[causes.chosen_]]
        assert found.plain_prior.tolist() == pytest.approx(np.mean(sld, axis=0).tolist())


@pytest.mark.parametrize(
    ("mode", "assume", "rests_on"),
    [
        ("columns", "auto", "covariate"),
        ("signal", "auto", "between"),
        ("signal", "covariate", "covariate"),
        ("columns", "prior", "prior"),
    ],
)
def test_the_range_says_which_assumption_the_estimate_rests_on(mode, assume, rests_on):
    quantifier = GuardedSLD(assume=assume, mode=mode, classifiers=FAST).fit(*caused(1500, 0))
    X = caused(900, 1, centre=(1.5, 1.5))[0]
    (found,) = quantifier.ranges(quantifier.estimate(X))
    assert found.refuted == (assume == "auto")
    assert found.rests_on == rests_on
    between = sorted([found.prior[1], found.covariate[1]])
    expected = {"covariate": found.covariate[1], "prior": found.prior[1]}.get(rests_on)
    if expected is None:
        assert between[0] <= found.estimate[1] <= between[1]
    else:
        assert found.estimate[1] == pytest.approx(expected)


def test_an_estimate_that_is_not_refuted_rests_on_prior_shift(effects):
    (found,) = effects.ranges(effects.estimate(causing(100, 500, 1)[0]))
    assert not found.refuted
    assert found.rests_on == "prior"
    (in_doubt,) = effects.ranges(effects.estimate(causing(10, 990, 3)[0] + np.array([0.0, 0.1])))
    assert in_doubt.in_doubt
    assert in_doubt.rests_on == "prior"


def test_the_hull_has_a_width_and_stays_within_0_and_1(effects):
    X, _ = causing(300, 0, 4)
    low, high = effects.hull(X, [np.arange(300), np.arange(5)])
    assert (high - low >= 0.04).all()
    assert ((low >= 0) & (high <= 1)).all()
    assert high[1, 1] >= high[0, 1]  # fewer items, wider


@pytest.mark.parametrize(("assume", "name"), [("prior", "prior"), ("covariate", "covariate")])
def test_an_assumption_may_be_set(assume, name):
    quantifier = GuardedSLD(assume=assume, classifiers=FAST).fit(*caused(400, 0))
    found = quantifier.estimate(caused(300, 1, centre=(1.0, 1.0))[0])
    assert found.prevalence.tolist() == pytest.approx(found.diagnostics[name].tolist())
    assert not found.diagnostics["refuted"]


def given_away(n_negative, n_positive, seed, *, centre=0.0):
    """Items with a third feature that says nothing of the label, but may give a sample away."""
    X, y = causing(n_negative, n_positive, seed)
    extra = np.random.default_rng(seed).normal(centre, size=len(y))
    return np.column_stack([X, extra]), y


def test_signals_go_towards_subclass_sld_as_far_as_it_finds_a_change():
    X, y = given_away(800, 700, 0)
    fitted = {
        mode: GuardedSLD(mode=mode, classifiers=FAST[:1]).fit(X, y)
        for mode in ("signal", "columns")
    }
    new, truth = given_away(50, 450, 2, centre=3.0)
    found = {mode: quantifier.estimate(new) for mode, quantifier in fitted.items()}
    assert found["signal"].diagnostics["refuted"]
    own, pcc = (found["signal"].diagnostics[name][1] for name in ("prior", "covariate"))
    assert found["signal"].prevalence[1] == pytest.approx(own)
    assert found["columns"].prevalence[1] == pytest.approx(pcc)
    assert abs(own - truth.mean()) < abs(pcc - truth.mean())
    new, _ = given_away(275, 225, 3, centre=3.0)
    told = fitted["signal"].estimate(new)
    own, pcc = (told.diagnostics[name][1] for name in ("prior", "covariate"))
    share = abs(own - fitted["signal"].prior_[1]) / 0.1
    assert 0 < share < 1
    assert told.prevalence[1] == pytest.approx(pcc + share * (own - pcc))


def test_limits_under_covariate_shift_have_the_variance_of_the_jackknife():
    members = np.array([[[0.4, 0.6], [0.5, 0.5], [0.6, 0.4]]])
    # Delete-a-group jackknife: (3 - 1) / 3 times the sum of squares .01 + 0 + .01.
    low, high = covariate_limits(members.mean(axis=1, keepdims=True), members, np.array([400.0]))
    margin = 1.96 * np.sqrt(2 / 3 * 0.02 + 0.25 / 400)
    assert (0.5 - low[0]).tolist() == pytest.approx([margin, margin])
    assert (high[0] - 0.5).tolist() == pytest.approx([margin, margin])


def test_members_average_to_the_mean_posterior(causes):
    X, _ = caused(300, 4)
    told = causes.estimate(X).diagnostics
    assert told["members"].shape == (5, 2)
    assert told["members"].mean(axis=0).tolist() == pytest.approx(told["covariate"].tolist())


def test_data_frames_are_columns_and_matrices_signals():
    X, y = caused(300, 0)
    frame = pd.DataFrame(X, columns=["age", "income"])
    assert GuardedSLD(classifiers=FAST).fit(frame, y).mode_ == "columns"
    assert GuardedSLD(classifiers=FAST).fit(X, y).mode_ == "signal"


def test_the_classifier_of_lower_log_loss_counts():
    X, y = caused(600, 0)
    poor = DecisionTreeClassifier(max_depth=1, random_state=0)
    quantifier = GuardedSLD(classifiers=[poor, LogisticRegression()]).fit(X, y)
    assert isinstance(quantifier.best_.models[0], LogisticRegression)
    assert quantifier.best_.loss == min(learnt.loss for learnt in quantifier.learnt_)


def test_three_classes_have_a_hull_each():
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b", "c"], 150)
    X = rng.normal(size=(450, 2)) + 2 * np.array([[0, 0], [1, 0], [0, 1]])[np.repeat(range(3), 150)]
    quantifier = GuardedSLD(classifiers=FAST[:1]).fit(X, y)
    low, high = quantifier.hull(X[:300])
    p_hat = quantifier.predict(X[:300])
    assert p_hat.sum() == pytest.approx(1)
    assert ((low <= p_hat) & (p_hat <= high)).all()


def test_unknown_words_and_intervals_are_refused():
    X, y = caused(100, 0)
    with pytest.raises(UserError, match="unknown assumption 'concept'"):
        GuardedSLD(assume="concept").fit(X, y)
    with pytest.raises(UserError, match="unknown mode 'text'"):
        GuardedSLD(mode="text").fit(X, y)
    with pytest.raises(UserError, match="use its method hull, which spans what they allow"):
        predict_interval(GuardedSLD(classifiers=FAST).fit(X, y), X)
