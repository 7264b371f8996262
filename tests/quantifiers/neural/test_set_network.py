"""The neural quantifier: what it learns from, what it may not depend on, and bad options."""

import numpy as np
import pytest
import skops.io
from numpy.testing import assert_allclose, assert_array_equal

torch = pytest.importorskip("torch", reason="PyTorch is not installed: quantshift[neural]")

from quantshift import SLD, Items, predict_interval  # noqa: E402
from quantshift.checks import yield_checks  # noqa: E402
from quantshift.errors import DataError, UserError  # noqa: E402
from quantshift.quantifiers.neural import learning, set_network  # noqa: E402
from quantshift.quantifiers.neural.set_network import SetNetwork, _is_better  # noqa: E402
from quantshift.quantifying.training.folder import check_savable  # noqa: E402

SMALL = {"sample_size": 40, "n_samples": 64, "epochs": 2, "width": 8, "device": "cpu"}


def pool(n=400, seed=0):
    """Items of three classes, and their posteriors."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, n)
    scores = 2.0 * np.eye(3)[codes] + rng.normal(size=(n, 3))
    posteriors = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    return posteriors, codes


@pytest.fixture
def always_used(monkeypatch):
    """Networks are used however good they are, and judged by few bags."""
    monkeypatch.setattr(set_network, "_is_better", lambda errors: True)
    monkeypatch.setattr(learning, "JUDGED", 32)


@pytest.fixture(scope="module")
def fitted():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(set_network, "_is_better", lambda errors: True)
        patch.setattr(learning, "JUDGED", 32)
        return SetNetwork(**SMALL).fit_posteriors(*pool())


def test_it_is_right_under_prior_shift(fitted):
    posteriors, codes = pool(3000, seed=1)
    rng = np.random.default_rng(0)
    rows = np.concatenate(
        [rng.choice(np.flatnonzero(codes == k), n) for k, n in ((0, 700), (1, 250), (2, 50))]
    )
    assert_allclose(fitted.aggregate(posteriors[rows]), [0.7, 0.25, 0.05], atol=0.06)


def test_networks_that_are_not_better_are_not_used(monkeypatch):
    """The estimate is then that of SLD with the chosen prior."""
    monkeypatch.setattr(set_network, "_is_better", lambda errors: False)
    made = SetNetwork(**SMALL).fit_posteriors(*pool())
    new, _ = pool(100, seed=2)
    by_likelihood = SLD(prior=made.alpha_).fit_posteriors(*pool()).aggregate(new)
    assert made.networks_ == ()
    assert_allclose(made.aggregate(new), by_likelihood, atol=1e-5)


def test_an_improvement_must_be_larger_than_chance():
    assert not _is_better(np.array([[1, 0.9], [1, 1.2], [1, 0.95]]))
    assert _is_better(np.array([[1, 0.9], [1, 0.92], [1, 0.95]]))
    assert not _is_better(np.array([[0.4, 0.3]]))


@pytest.mark.slow
def test_it_learns_from_features_what_posteriors_do_not_say():
    """The classifier has seen one of two columns; the other one is as good."""
    rng = np.random.default_rng(0)

    def drawn(codes):
        X = 1.5 * codes[:, np.newaxis] + rng.normal(size=(len(codes), 2))
        p = 1 / (1 + np.exp(-1.5 * (X[:, 0] - 0.75)))
        return Items(np.column_stack([1 - p, p]), features=X)

    codes = np.arange(1200) % 2
    options = {**SMALL, "n_samples": 256, "epochs": 12}
    items = drawn(codes)
    made = SetNetwork(**options).fit_items(items, codes)
    bags = [(rng.random(40) < share).astype(int) for share in rng.random(200)]
    truth = np.array([bag.mean() for bag in bags])
    new = drawn(np.concatenate(bags))
    index = np.arange(len(new)).reshape(200, 40)
    error = np.abs(made.estimate_items(new, index).prevalence[:, 1] - truth).mean()
    by_sld = SLD().fit_posteriors(items.posteriors, codes).aggregate(new.posteriors, index)
    assert len(made.networks_) == 5
    assert error < 0.8 * np.abs(by_sld[:, 1] - truth).mean()


@pytest.mark.parametrize("measure", ["ae", "rae", "se", "nkld"])
def test_every_loss_is_used(measure):
    made = SetNetwork(**SMALL, measure=measure).fit_posteriors(*pool())
    assert made.validation_errors_.shape == (5, 2)
    limits = {"ae": (0.005, 0.2), "rae": (0.05, 3), "se": (1e-5, 0.01), "nkld": (1e-4, 0.1)}
    low, high = limits[measure]
    assert low < made.validation_errors_[:, 0].mean() < high


def test_a_seed_repeats_and_leaves_pytorch_as_it_was(fitted, always_used):
    new, _ = pool(50, seed=3)
    threads, state = torch.get_num_threads(), torch.random.get_rng_state()
    same = SetNetwork(**SMALL).fit_posteriors(*pool())
    other = SetNetwork(**SMALL, seed=1).fit_posteriors(*pool())
    assert_array_equal(same.aggregate(new), fitted.aggregate(new))
    assert not np.allclose(other.validation_errors_, fitted.validation_errors_)
    assert torch.get_num_threads() == threads
    assert torch.equal(torch.random.get_rng_state(), state)


def test_a_monotone_network_keeps_the_order_of_shares(always_used):
    made = SetNetwork(**SMALL, monotone=True).fit_posteriors(*pool())
    posteriors, _ = pool(600, seed=5)
    index = np.arange(600).reshape(30, 20)
    made.networks_ = ({**made.networks_[0], "recalibrate": np.zeros(10)},)
    found = made.aggregate(posteriors, index)
    made.networks_ = ()
    start = made.aggregate(posteriors, index)
    assert not np.allclose(found, start, atol=1e-6)
    assert_array_equal(np.argsort(found, axis=1), np.argsort(start, axis=1))


def test_intervals_refit_calibration_and_histograms_and_keep_the_networks(fitted):
    replicate = fitted.refit(np.arange(0, 400, 2))
    mine, theirs = fitted.networks_[0], replicate.networks_[0]
    assert theirs["first"] is mine["first"]
    assert not np.allclose(theirs["histograms"], mine["histograms"])
    again = fitted.refit(np.arange(400)).networks_[0]
    assert_allclose(again["histograms"], mine["histograms"], atol=1e-6)


def test_features_are_scaled_by_training_and_need_as_many_columns(always_used):
    posteriors, codes = pool(200, seed=4)
    X = np.column_stack([posteriors[:, 1:], 1000.0 + codes])
    made = SetNetwork(**SMALL, features=True).fit(X, codes)
    assert made.networks_[0]["features"].shape == (3, 8)
    interval = predict_interval(made, X[:80], n_bootstrap=4)
    assert (interval.low <= interval.prevalence).all()
    assert (interval.prevalence <= interval.high).all()
    with pytest.raises(DataError, match="has learnt from 3 features, and the items have 0"):
        made.aggregate(posteriors)
    check_savable(made)
    stored = skops.io.dumps(made)
    loaded = skops.io.loads(stored, trusted=skops.io.get_untrusted_types(data=stored))
    assert_array_equal(loaded.predict(X[:80]), made.predict(X[:80]))


def test_classes_of_a_single_item_can_be_learnt_from():
    posteriors = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]])
    made = SetNetwork(**SMALL).fit_posteriors(posteriors, [0, 0, 1])
    assert made.networks_ == ()
    assert made.aggregate(posteriors).sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measure": "aee"}, "unknown loss 'aee'; did you mean 'ae'"),
        ({"width": 0}, "width must be at least 1, got 0"),
        ({"n_samples": -1}, "n_samples must be at least 1"),
        ({"concentration": 0}, "concentration must be above 0, got 0"),
        ({"device": "nowhere"}, "device='nowhere' cannot be used: .*; give cpu"),
    ],
)
def test_bad_options_are_one_line(options, message):
    with pytest.raises(UserError, match=message):
        SetNetwork(**options).fit_posteriors(*pool())


@pytest.mark.slow
@pytest.mark.parametrize(
    "check", [pytest.param(check, id=name) for name, check in yield_checks(SetNetwork(**SMALL))]
)
def test_common(check, always_used):
    check()


@pytest.mark.slow
@pytest.mark.parametrize(
    "check",
    [
        pytest.param(check, id=name)
        for name, check in yield_checks(SetNetwork(**SMALL, features=True))
        if name in {"simplex_output", "class_relabelling", "samples_equal_loop", "sparse_input"}
    ],
)
def test_common_with_features(check, always_used):
    check()
