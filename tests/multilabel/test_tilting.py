"""The tilt of the sets of labels: closed forms for two correlated labels, and its search.

Each label j has its own feature, which takes the value v with probability ABSENT[j, v] without the
label and PRESENT[j, v] with it. So the posterior of a set of labels is known exactly, and what a
sample of infinite size looks like after a shift too.
"""

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize

from quantshift.multilabel import LabelByLabel, TiltedLabelSets, tilting
from quantshift.multilabel.set_posteriors import SetPosteriors
from quantshift.multilabel.tilting import TiltSearch, _objective, tilted_labels, tilted_shares
from quantshift.quantifiers import SLD

SETS = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=float)
SHARES = np.array([0.4, 0.1, 0.1, 0.4])
ABSENT = np.array([[0.6, 0.3, 0.1], [0.5, 0.3, 0.2]])
PRESENT = np.array([[0.2, 0.3, 0.5], [0.3, 0.3, 0.4]])
VALUES = np.array(list(itertools.product(range(3), range(3))))
MODEL = SetPosteriors(SETS, SHARES, np.eye(2), np.zeros(2), np.zeros(2))
SCORES = np.log(PRESENT / ABSENT)[np.arange(2), VALUES]
CHANCES = np.array(
    [
        np.prod([(PRESENT if s[j] else ABSENT)[j][VALUES[:, j]] for j in range(2)], axis=0)
        for s in SETS
    ]
)
"""Of every pair of values, for each set of labels, (n_sets, n_values)."""


def tilted(counts, power):
    """The shares of one sample that has every pair of values so many times."""
    (solved,) = tilted_shares(MODEL, SCORES, np.arange(9)[None], counts, [power])
    return solved


def after(tilt):
    shares = SHARES * np.exp(SETS @ tilt)
    return shares / shares.sum()


def test_posteriors_are_bayes_rule():
    exact = SHARES[:, None] * CHANCES
    exact = (exact / exact.sum(axis=0)).T
    assert np.allclose(MODEL.posteriors(SCORES), exact, atol=1e-14)


@pytest.mark.parametrize("tilt", [(0.0, 0.0), (1.5, 0.0), (0.0, -2.0), (1.0, -1.5), (-1.0, 2.5)])
def test_a_large_sample_has_the_shares_of_its_tilt(tilt):
    shares = after(np.array(tilt))
    counts = 1e7 * shares @ CHANCES
    solved = tilted(counts, 1.0)
    assert np.allclose(solved.tilts[0], tilt, atol=2e-4)
    assert np.allclose(solved.labels[0], shares @ SETS, atol=2e-5)
    assert np.allclose(solved.sets[0], shares, atol=2e-5)
    items = tilted_labels(MODEL, SCORES[None], solved.tilts)[0]
    assert np.allclose(counts @ items / counts.sum(), solved.labels[0], atol=1e-12)


def test_label_by_label_is_wrong_where_the_joint_model_is_right():
    # The first label becomes frequent and takes the second along. Alone, the items without the
    # second label no longer look as they did: they have the first one more often.
    shares = after(np.array([2.5, 0.0]))
    rng = np.random.default_rng(0)

    def drawn(set_shares, number):
        sets = rng.choice(4, number, p=set_shares)
        values = np.array([rng.choice(9, p=CHANCES[s]) for s in sets])
        features = np.concatenate([np.eye(3)[VALUES[values, j]] for j in range(2)], axis=1)
        return features, SETS[sets] == 1

    X, Y = drawn(SHARES, 4000)
    X_new, Y_new = drawn(shares, 4000)
    truth = Y_new.mean(axis=0)
    joint = np.abs(TiltedLabelSets().fit(X, Y).predict(X_new) - truth).max()
    alone = np.abs(LabelByLabel(SLD()).fit(X, Y).predict(X_new) - truth).max()
    assert joint < 0.05
    assert alone > 0.08


def test_the_search_ends_at_a_maximum_of_the_stated_objective():
    counts = np.random.default_rng(1).integers(1, 30, size=9).astype(float)
    power = 0.5
    solved = tilted(counts, power)
    posteriors = MODEL.posteriors(SCORES)

    def objective(tilt):
        factors = np.exp(SETS @ tilt)
        likelihood = counts @ np.log(posteriors @ factors) - counts.sum() * np.log(SHARES @ factors)
        return -(power * likelihood - np.log1p((tilt / tilting.SCALE) ** 2).sum())

    found = minimize(objective, solved.tilts[0], method="BFGS", options={"gtol": 1e-9})
    assert np.allclose(found.x, solved.tilts[0], atol=1e-5)


def test_the_power_zero_is_the_mean_of_the_posteriors():
    counts = np.arange(1.0, 10.0)
    solved = tilted(counts, 0.0)
    posteriors = MODEL.posteriors(SCORES)
    assert np.allclose(solved.labels[0], counts @ posteriors @ SETS / counts.sum(), atol=1e-14)
    assert not solved.tilts.any()


def test_chunks_of_items_and_batches_of_samples_change_nothing(monkeypatch):
    rng = np.random.default_rng(2)
    index = rng.integers(9, size=(6, 50))
    powers = [1.0, 0.5]
    together = tilted_shares(MODEL, SCORES, index, np.ones(9), powers)
    for i in range(6):
        (alone,) = tilted_shares(MODEL, SCORES, index[i : i + 1], np.ones(9), powers[1:])
        assert np.allclose(alone.labels[0], together[1].labels[i], atol=1e-9)
    monkeypatch.setattr(tilting, "MOST_IN_MEMORY", 40)
    chunked = tilted_shares(MODEL, SCORES, index, np.ones(9), powers)
    for few, many in zip(chunked, together, strict=True):
        assert np.allclose(few.labels, many.labels, atol=1e-9)


@pytest.mark.parametrize("cauchy", [False, True])
def test_steps_that_are_too_long_are_halved_until_the_objective_rises(cauchy):
    counts = np.random.default_rng(1).integers(1, 30, size=9).astype(float)
    index = np.tile(np.arange(9), (2, 1))
    search = TiltSearch(MODEL, SCORES, index, counts)
    tilts, rows = np.array([[0.5, -0.5], [0.0, 0.2]]), np.arange(2)
    moments = search._moments(tilts, rows)
    before = _objective(tilts, moments, 1.0, cauchy=cauchy)
    steps = search._steps(tilts, rows, moments, 1.0, cauchy=cauchy)
    too_long = 40 * steps
    moved, after_, _ = search._moved(tilts, rows, too_long.copy(), before, 1.0, cauchy=cauchy)
    assert after_ == pytest.approx(
        _objective(moved, search._moments(moved, rows), 1.0, cauchy=cauchy)
    )
    assert (after_ > before).all()
    halvings = np.log2(too_long / (moved - tilts))
    assert halvings == pytest.approx(halvings.round())
    assert (halvings > 0).all()
