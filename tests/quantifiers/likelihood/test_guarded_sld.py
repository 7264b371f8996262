"""GuardedSLD: SubclassSLD where the sample agrees with it, PCC where it does not."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from quantshift import GuardedSLD
from quantshift.claims import WIDEST, Assumption, Kind, Reason
from quantshift.errors import UserError
from quantshift.quantifiers.base.guarding import MOST_COLUMNS, covariate_limits
from quantshift.quantifiers.likelihood.score_test import ScoredTraining

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


def given_away(n_negative, n_positive, seed, *, centre=0.0):
    """Items with a third feature that says nothing of the label, but may give a sample away."""
    X, y = causing(n_negative, n_positive, seed)
    extra = np.random.default_rng(seed).normal(centre, size=len(y))
    return np.column_stack([X, extra]), y


@pytest.fixture(scope="module")
def doubtful():
    """A fitted quantifier, and a sample that prior shift explains except for a little."""
    quantifier = GuardedSLD(mode="columns", classifiers=FAST).fit(*given_away(800, 700, 0))
    return quantifier, *given_away(60, 940, 2, centre=0.2)


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
    assert found.prevalence.tolist() == pytest.approx(found.diagnostics["mixed"].tolist())
    assert found.prevalence[1] == pytest.approx(y.mean(), abs=0.05)


def test_under_covariate_shift_it_is_the_mean_posterior(causes):
    X, y = caused(800, 1, centre=(1.0, 1.0))
    found = causes.estimate(X)
    assert found.diagnostics["refuted"]
    assert found.prevalence.tolist() == pytest.approx(found.diagnostics["covariate"].tolist())
    assert found.prevalence[1] == pytest.approx(y.mean(), abs=0.05)


def test_where_prior_shift_explains_most_its_number_stays_and_the_range_spans_the_rest(doubtful):
    quantifier, X, y = doubtful
    found = quantifier.estimate(X)
    told = found.diagnostics
    assert told["refuted"]
    assert told["in_doubt"]
    assert told["explained"] > 0.5
    assert found.prevalence.tolist() == pytest.approx(told["mixed"].tolist())
    (grounds,) = quantifier.examined(found)
    assert (grounds.low <= told["covariate"]).all()
    assert (told["covariate"] <= grounds.high).all()
    assert grounds.low[1] <= y.mean() <= grounds.high[1]


def test_the_mean_of_calibrated_members_is_pcc_by_each_model(causes):
    X, _ = caused(300, 1)
    items = causes.items(X)
    calibrated = causes.calibrated_members(items)
    committee = causes.unguarded_items(items).committee
    assert calibrated.shape == committee.shape
    members = causes.estimate(X).diagnostics["members"]
    np.testing.assert_allclose(calibrated.mean(axis=1), members, atol=1e-12)


def test_the_reference_holds_the_positions_of_the_training_items(causes):
    X, _ = caused(1500, 0)
    standardised = (X - X.mean(axis=0)) / X.std(axis=0)
    np.testing.assert_allclose(causes.reference_.position, standardised)
    np.testing.assert_allclose(causes.positions(causes.items(X)), standardised)
    assert causes.training_positions()[0] is causes.reference_.position


def test_samples_of_the_training_distribution_are_rarely_refuted(causes):
    X, _ = caused(40 * 300, 2)
    samples = np.arange(len(X)).reshape(40, 300)
    # Chance differences of the one training set are in all samples: three of forty are no surprise.
    assert causes.estimate(X, samples).diagnostics["refuted"].mean() <= 0.08


def test_the_range_holds_the_mean_posterior_and_the_estimate_if_features_refute_label_shift(causes):
    told = causes.examined(causes.estimate(caused(600, 3, centre=(1.0, 1.0))[0]))
    (grounds,) = told.grounds
    assert grounds.kind is (Kind.CANNOT if (told.high - told.low).max() > WIDEST else Kind.RANGE)
    for number in (told.covariate, told.estimate):
        assert ((told.low <= number) & (number <= told.high)).all()


def test_the_grounds_of_many_samples_are_those_of_each(causes):
    """PCC of the better classifier is `covariate`, SLD is `prior`."""
    X, _ = caused(600, 3, centre=(1.0, 1.0))
    samples = [np.arange(300), np.arange(300, 600)]
    estimate = causes.estimate(X, samples)
    for i, found in enumerate(causes.examined(estimate)):
        assert found.estimate.tolist() == estimate.prevalence[i].tolist()
        assert found.mixed.tolist() == estimate.diagnostics["mixed"][i].tolist()
        assert found.covariate_by_classifier[causes.chosen_].tolist() == found.covariate.tolist()
        (alone,) = causes.examined(causes.estimate(X[samples[i]]))
        assert alone.estimate.tolist() == pytest.approx(found.estimate.tolist())
        assert alone.grounds == found.grounds
        assert alone.p_values == pytest.approx(found.p_values)
        members = [learnt.committee(X[samples[i]], 2) for learnt in causes.learnt_]
        sld = [causes.plain_.aggregate(posteriors) for posteriors in members[causes.chosen_]]
        assert found.prior.tolist() == pytest.approx(np.mean(sld, axis=0).tolist())


def test_signals_are_tested_only_if_their_grounds_are_asked_for(monkeypatch):
    """The tests do not change the estimate, and are those of columns."""
    quantifier = GuardedSLD(mode="signal", classifiers=FAST).fit(*causing(800, 700, 0))
    X, _ = causing(100, 500, 1)
    with monkeypatch.context() as patched:
        patched.setattr(ScoredTraining, "test", None)
        estimate = quantifier.estimate(X)
    (found,) = quantifier.examined(estimate)
    columns = GuardedSLD(mode="columns", classifiers=FAST).fit(*causing(800, 700, 0))
    (expected,) = columns.examined(columns.estimate(X))
    assert found.p_values == expected.p_values
    assert found.power == expected.power
    assert found.support == expected.support
    assert found.low.tolist() == expected.low.tolist()


def test_order_weights_and_the_kind_of_matrix_change_no_ground(effects):
    X, _ = causing(100, 500, 1)
    frame = pd.DataFrame(X, columns=["a", "b"])
    (found,) = effects.examined(effects.estimate(X))
    order = np.random.default_rng(0).permutation(len(X))
    others = [
        effects.estimate(X[order]),
        effects.estimate(X, sample_weight=np.full(len(X), 3.0)),
        effects.estimate(csr_matrix(X)),
        effects.estimate(frame),
    ]
    for estimate in others:
        (told,) = effects.examined(estimate)
        assert told.grounds == found.grounds
        assert told.low == pytest.approx(found.low, abs=0.02)
        for name, p_value in found.p_values.items():
            assert told.p_values[name] == pytest.approx(p_value, abs=0.01)


def test_a_large_change_of_prevalence_has_evidence(effects):
    X, y = causing(100, 1400, 1)
    (found,) = effects.examined(effects.estimate(X))
    assert (found.grounds.kind, found.grounds.reason) == (Kind.INTERVAL, Reason.EVIDENCE)
    assert found.prior[1] == pytest.approx(y.mean(), abs=0.03)
    (none,) = effects.examined(effects.estimate(causing(270, 230, 2)[0]))
    assert (none.grounds.kind, none.grounds.reason) == (Kind.INTERVAL, Reason.AGREEMENT)
    (few,) = effects.examined(effects.estimate(causing(2, 58, 3)[0]))
    assert (few.grounds.kind, few.grounds.reason) == (Kind.RANGE, Reason.NO_EVIDENCE)
    for number in (few.prior, few.covariate):
        assert ((few.low <= number) & (number <= few.high)).all()


def test_a_classifier_that_has_learnt_nothing_gives_no_answer():
    X, _ = caused(300, 0)
    y = np.random.default_rng(0).integers(0, 2, 300)
    dummy = [DecisionTreeClassifier(max_depth=1, min_samples_leaf=150)]
    quantifier = GuardedSLD(mode="columns", classifiers=dummy).fit(X, y)
    (found,) = quantifier.examined(quantifier.estimate(X[:100]))
    assert (found.grounds.kind, found.grounds.reason) == (Kind.CANNOT, Reason.NO_EVIDENCE)


@pytest.mark.parametrize(
    ("mode", "assume", "rests_on"),
    [
        ("columns", None, "covariate"),
        ("signal", None, "between"),
        ("signal", "covariate", "covariate"),
        ("columns", "prior", "prior"),
    ],
)
def test_the_range_says_which_assumption_the_estimate_rests_on(mode, assume, rests_on):
    quantifier = GuardedSLD(assume=assume, mode=mode, classifiers=FAST).fit(*caused(1500, 0))
    X = caused(900, 1, centre=(1.5, 1.5))[0]
    (found,) = quantifier.examined(quantifier.estimate(X))
    assert found.refuted
    assert found.grounds.rests_on == rests_on
    between = sorted([found.mixed[1], found.covariate[1]])
    expected = {"covariate": found.covariate[1], "prior": found.mixed[1]}.get(rests_on)
    if expected is None:
        assert between[0] <= found.estimate[1] <= between[1]
    else:
        assert found.estimate[1] == pytest.approx(expected)


def test_an_estimate_that_is_not_refuted_rests_on_prior_shift(effects, doubtful):
    (found,) = effects.examined(effects.estimate(causing(100, 500, 1)[0]))
    assert not found.refuted
    assert found.grounds.rests_on is Assumption.PRIOR
    quantifier, X, _ = doubtful
    (in_doubt,) = quantifier.examined(quantifier.estimate(X))
    assert in_doubt.in_doubt
    assert in_doubt.grounds.rests_on is Assumption.PRIOR


def test_scores_that_refute_label_shift_leave_no_doubt(effects):
    """Rows selected by their score: the mean posterior is right, and label shift is far off."""
    X, y = causing(3000, 3000, 5)
    upper = X.sum(axis=1) > 1.5
    found = effects.estimate(X[upper][:1000])
    (told,) = effects.examined(found)
    assert min(told.p_values["score"], told.p_values["fit"]) < 0.01
    assert not found.diagnostics["in_doubt"]
    assert found.prevalence[1] == pytest.approx(y[upper].mean(), abs=0.05)
    assert found.diagnostics["mixed"][1] > y[upper].mean() + 0.1


def test_the_range_has_a_width_and_stays_within_0_and_1(effects):
    X, _ = causing(300, 0, 4)
    told = effects.examined(effects.estimate(X, [np.arange(300), np.arange(5)]))
    assert (told.high > told.low).all()
    assert ((told.low >= 0) & (told.high <= 1)).all()
    assert told.high[1, 1] >= told.high[0, 1]  # fewer items, wider


def test_a_declaration_decides_unless_it_is_refuted():
    fitted = {
        assume: GuardedSLD(mode="columns", assume=assume, classifiers=FAST).fit(*caused(800, 0))
        for assume in ("prior", "covariate")
    }
    moved, same = caused(600, 1, centre=(1.0, 1.0))[0], caused(600, 2)[0]
    for assume, quantifier in fitted.items():
        for X, refuted in ((moved, True), (same, False)):
            (found,) = quantifier.examined(quantifier.estimate(X))
            number = {"prior": found.mixed, "covariate": found.covariate}[assume]
            assert found.estimate.tolist() == pytest.approx(number.tolist())
            assert found.refuted == refuted
            kept = assume == "covariate" or not refuted
            assert found.grounds.kind is (Kind.CONDITIONAL if kept else Kind.CANNOT)
            assert found.grounds.reason is (Reason.DECLARED if kept else Reason.REFUTED)


def test_signals_go_towards_subclass_sld_as_far_as_it_finds_a_change():
    X, y = given_away(800, 700, 0)
    fitted = {
        mode: GuardedSLD(mode=mode, classifiers=FAST[:1]).fit(X, y)
        for mode in ("signal", "columns")
    }
    new, truth = given_away(50, 450, 2, centre=3.0)
    found = {mode: quantifier.estimate(new) for mode, quantifier in fitted.items()}
    assert found["signal"].diagnostics["refuted"]
    own, pcc = (found["signal"].diagnostics[name][1] for name in ("mixed", "covariate"))
    assert found["signal"].prevalence[1] == pytest.approx(own)
    assert found["columns"].prevalence[1] == pytest.approx(pcc)
    assert abs(own - truth.mean()) < abs(pcc - truth.mean())
    new, _ = given_away(275, 225, 3, centre=3.0)
    told = fitted["signal"].estimate(new)
    own, pcc = (told.diagnostics[name][1] for name in ("mixed", "covariate"))
    share = abs(own - fitted["signal"].prior_[1]) / 0.1
    assert 0 < share < 1
    assert told.prevalence[1] == pytest.approx(pcc + share * (own - pcc))


def test_limits_under_covariate_shift_have_the_variance_of_the_jackknife():
    members = np.array([[[0.4, 0.6], [0.5, 0.5], [0.6, 0.4]]])
    # Delete-a-group jackknife: (3 - 1) / 3 times the sum of squares .01 + 0 + .01.
    low, high = covariate_limits(members.mean(axis=1, keepdims=True), members, 0.25 / 400)
    margin = 1.96 * np.sqrt(2 / 3 * 0.02 + 0.25 / 400)
    assert (0.5 - low[0]).tolist() == pytest.approx([margin, margin])
    assert (high[0] - 0.5).tolist() == pytest.approx([margin, margin])


def test_members_average_to_the_mean_posterior(causes):
    X, _ = caused(300, 4)
    told = causes.estimate(X).diagnostics
    assert told["members"].shape == (5, 2)
    assert told["members"].mean(axis=0).tolist() == pytest.approx(told["covariate"].tolist())


def test_a_matrix_is_a_table_as_a_data_frame_is():
    (X, y), (X_new, _) = caused(600, 0), caused(400, 1, centre=(1.0, 1.0))
    quantifier = GuardedSLD(classifiers=FAST)
    expected = quantifier.fit(X, y).estimate(X_new)
    assert quantifier.mode_ == "columns"
    assert expected.diagnostics["refuted"]
    for kind in (lambda rows: pd.DataFrame(rows, columns=["age", "income"]), csr_matrix):
        found = quantifier.fit(kind(X), y).estimate(kind(X_new))
        assert quantifier.mode_ == "columns"
        assert found.prevalence.tolist() == pytest.approx(expected.prevalence.tolist(), abs=1e-9)


def test_wide_features_are_a_signal():
    X, y = caused(100, 0)
    for n_columns, mode in ((MOST_COLUMNS, "columns"), (MOST_COLUMNS + 1, "signal")):
        wide = np.column_stack([X, np.zeros((len(y), n_columns - 2))])
        for features in (wide, pd.DataFrame(wide), csr_matrix(wide)):
            assert GuardedSLD(classifiers=FAST[:1]).fit(features, y).mode_ == mode


def test_the_tests_see_copies_as_one_item_with_their_weight(causes):
    X, _ = caused(200, 1, centre=(0.4, 0.4))
    whole = np.arange(200) % 4
    pairs = (
        (causes.estimate(X), causes.estimate(np.concatenate([X, X]))),
        (causes.estimate(X, sample_weight=whole), causes.estimate(np.repeat(X, whole, axis=0))),
    )
    for expected, found in pairs:
        for name in ("p_values", "auc", "z", "explained", "jointly_low", "cell_counts"):
            np.testing.assert_allclose(
                found.diagnostics[name], expected.diagnostics[name], atol=1e-9, err_msg=name
            )


def test_a_sample_drawn_with_replacement_is_not_refuted_for_its_copies(effects):
    rng = np.random.default_rng(0)
    refuted = []
    for seed in range(40):
        pool, y = causing(100, 100, 100 + seed)
        drawn = np.concatenate([rng.choice(np.flatnonzero(y == k), 500) for k in (0, 1)])
        refuted.append(bool(effects.estimate(pool[drawn]).diagnostics["refuted"]))
    # Were the copies other items, most samples would be refuted.
    assert np.mean(refuted) < 0.15


def test_a_row_that_is_filled_in_for_many_items_refutes(effects):
    X, _ = causing(300, 300, 1)
    X[:200] = X.mean(axis=0)
    assert effects.estimate(X).diagnostics["refuted"]


def test_the_classifier_of_lower_log_loss_counts():
    X, y = caused(600, 0)
    poor = DecisionTreeClassifier(max_depth=1, random_state=0)
    quantifier = GuardedSLD(classifiers=[poor, LogisticRegression()]).fit(X, y)
    assert isinstance(quantifier.best_.models[0], LogisticRegression)
    assert quantifier.best_.loss == min(learnt.loss for learnt in quantifier.learnt_)


def test_three_classes_have_limits_each():
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b", "c"], 150)
    X = rng.normal(size=(450, 2)) + 2 * np.array([[0, 0], [1, 0], [0, 1]])[np.repeat(range(3), 150)]
    quantifier = GuardedSLD(classifiers=FAST[:1]).fit(X, y)
    (told,) = quantifier.examined(quantifier.estimate(X[:300]))
    assert told.estimate.sum() == pytest.approx(1)
    assert ((told.low <= told.estimate) & (told.estimate <= told.high)).all()


def test_unknown_words_and_intervals_are_refused():
    X, y = caused(100, 0)
    with pytest.raises(UserError, match="must be 'prior', 'covariate' or None, got 'concept'"):
        GuardedSLD(assume="concept").fit(X, y)
    with pytest.raises(UserError, match="'columns' or 'signal', got 'text'"):
        GuardedSLD(mode="text").fit(X, y)
    with pytest.raises(UserError, match="use guarded_intervals, which"):
        GuardedSLD(classifiers=FAST).fit(X, y).predict_interval(X)
