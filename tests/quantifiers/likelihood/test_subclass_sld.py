"""SubclassSLD: the maxima, the weights, the fallback, and shifts that it is made for."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.special import expit, softmax
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from quantshift.checks.every_quantifier import check_quantifier
from quantshift.classify.clusters.clusters import Clusters
from quantshift.diagnosis import shift_test
from quantshift.errors import DataError, UserError
from quantshift.quantifiers.likelihood.shift_likelihood import maximise_subclasses
from quantshift.quantifiers.likelihood.sld import SLD
from quantshift.quantifiers.likelihood.subclass_sld import MODELS, SubclassSLD

PRIOR, COVARIATE, MIXED, LOCAL = range(4)


def population(counts: dict[tuple[int, int], int], seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Gaussians in four dimensions: (features, class); keys are (class, group)."""
    rng = np.random.default_rng(seed)
    parts, labels = [], []
    for (label, group), n in counts.items():
        # The groups lie far apart; where they lie, the classes differ along another axis.
        centre = np.array([8.0 * group, 1.8 * label * (group == 0), 1.8 * label * (group == 1), 0])
        parts.append(rng.normal(size=(n, 4)) + centre)
        labels += [label] * n
    return np.concatenate(parts), np.array(labels)


TRAIN = {(0, 0): 500, (1, 0): 1000, (0, 1): 1000, (1, 1): 500}


@pytest.fixture(scope="module")
def fitted() -> SubclassSLD:
    X, y = population(TRAIN, 0)
    return SubclassSLD(n_clusters=2).fit(X, y)


def maxima(q: np.ndarray, clusters: np.ndarray, within: np.ndarray, shares: np.ndarray) -> tuple:
    index = np.arange(len(q))[np.newaxis]
    f, fit, _, converged = maximise_subclasses(
        q, clusters, index, within[np.newaxis], shares[np.newaxis], 1e-9, 100_000
    )
    assert converged.all()
    return f[0], fit[0]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_maxima_are_those_of_a_general_optimiser(n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    n, n_clusters = 200, 3
    clusters = rng.integers(n_clusters, size=n)
    q = softmax(rng.normal(0, 1.5, (n, n_classes)) + 0.4 * clusters[:, np.newaxis], axis=1)
    within = rng.dirichlet(np.full(n_classes, 8.0), n_clusters)
    shares = rng.dirichlet(np.full(n_clusters, 8.0))
    training = shares[:, np.newaxis] * within
    prior = training.sum(axis=0)

    def log_likelihood(f: np.ndarray) -> float:
        return float(np.log((f[clusters] * q / training[clusters]).sum(axis=1)).sum())

    def best(shares_of: object, size: int) -> float:
        found = minimize(lambda t: -log_likelihood(shares_of(t)), np.zeros(size), tol=1e-12)  # type: ignore[operator]
        return -float(found.fun)

    f, fit = maxima(q, clusters, within, shares)
    for k in range(4):
        assert f[k].sum() == pytest.approx(1)
        assert log_likelihood(f[k]) == pytest.approx(fit[k], abs=1e-9)
    assert fit[PRIOR] == pytest.approx(
        best(lambda t: softmax(t) * training / prior, n_classes), abs=1e-5
    )
    assert fit[COVARIATE] == pytest.approx(
        best(lambda t: softmax(t)[:, np.newaxis] * within, n_clusters), abs=1e-5
    )
    assert fit[MIXED] == pytest.approx(
        best(
            lambda t: softmax(
                np.log(training) + t[:n_classes] + t[n_classes:, np.newaxis], axis=None
            ),
            n_classes + n_clusters,
        ),
        abs=1e-5,
    )
    assert fit[LOCAL] == pytest.approx(
        best(lambda t: softmax(t).reshape(n_clusters, n_classes), n_classes * n_clusters),
        abs=1e-5,
    )
    assert fit[LOCAL] >= fit[MIXED] >= max(fit[PRIOR], fit[COVARIATE]) - 1e-9


@pytest.mark.parametrize("certain", [0, 1])
def test_maxima_at_the_border(certain: int) -> None:
    q = np.full((50, 2), 0.02)
    q[:, certain] = 0.98
    f, _ = maxima(q, np.zeros(50, np.int64), np.array([[0.5, 0.5]]), np.ones(1))
    for k in (PRIOR, MIXED, LOCAL):
        assert f[k, 0, certain] == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("doubt", [1e-3, 1e-7, 1e-14])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_confident_posteriors_do_not_end_at_a_border(doubt: float, n_classes: int) -> None:
    labels = np.repeat([0, 1, n_classes - 1], [10, 40, 50])
    q = np.full((100, n_classes), doubt)
    q[np.arange(100), labels] = 1 - (n_classes - 1) * doubt
    # The training clusters have the same shares of classes, so all models agree.
    within = np.full((2, n_classes), 0.2 / (n_classes - 1))
    within[:, 0] = 0.8
    f, _ = maxima(q, np.zeros(100, np.int64), within, np.array([0.9, 0.1]))
    shares = np.bincount(labels, minlength=n_classes) / 100
    for k in (PRIOR, MIXED, LOCAL):
        assert_allclose(f[k].sum(axis=0), shares, atol=10 * doubt + 1e-9)


def test_a_class_almost_absent_from_a_training_cluster_may_fill_it() -> None:
    """Training shares of 1e-18: the odds must grow by more than 1e17."""
    within = np.array([[1 - 1e-18, 1e-18], [0.5, 0.5]])
    q = np.array([[1e-30, 1.0]] * 5 + [[1.0, 1e-30]] * 5)
    f, _ = maxima(q, np.zeros(10, np.int64), within, np.array([0.5, 0.5]))
    for k in (MIXED, LOCAL):
        assert f[k, 0, 1] == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize("n_classes", [3, 5])
def test_every_model_of_several_classes_is_at_its_maximum(n_classes: int) -> None:
    """The conditions of Karush, Kuhn and Tucker: no share, nor any factor, wants to change."""
    rng = np.random.default_rng(n_classes)
    clusters = rng.integers(3, size=400)
    within = rng.dirichlet(np.full(n_classes, 6.0), 3)
    shares = rng.dirichlet(np.full(3, 6.0))
    q = within[clusters] * rng.dirichlet(np.full(n_classes, 0.7), 400)
    q /= q.sum(axis=1, keepdims=True)
    f, _ = maxima(q, clusters, within, shares)
    training = shares[:, np.newaxis] * within
    prior = training.sum(axis=0)

    def is_zero_or_smaller(excess: np.ndarray, present: np.ndarray) -> None:
        assert excess.max() <= 1e-7
        assert np.abs(excess[present]).max() <= 1e-7

    p = f[PRIOR].sum(axis=0)
    weight = q / prior
    is_zero_or_smaller((weight / (weight @ p)[:, np.newaxis]).mean(axis=0) - 1, p > 0)
    for c in range(3):
        p = f[LOCAL, c] / f[LOCAL, c].sum()
        weight = q[clusters == c] / within[c]
        is_zero_or_smaller((weight / (weight @ p)[:, np.newaxis]).mean(axis=0) - 1, p > 0)
    # Mixed: expected and fitted numbers of every class agree.
    odds = f[MIXED, 0] / within[0]
    expected = odds * q / (q @ odds)[:, np.newaxis]
    assert_allclose(expected.mean(axis=0), f[MIXED].sum(axis=0), atol=1e-7)


def test_without_clusters_it_is_sld() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=600)
    p = expit(2 * y - 1 + rng.normal(size=600))
    posteriors = np.column_stack([1 - p, p])
    index = rng.integers(600, size=(20, 100))
    ours = SubclassSLD().fit_posteriors(posteriors, y).aggregate(posteriors, index)
    # The training prevalence is the calibration's mean here and a count there.
    assert_allclose(
        ours, SLD().fit_posteriors(posteriors, y).aggregate(posteriors, index), atol=1e-3
    )


def test_posteriors_alone_get_sld_even_after_a_fit_on_features(fitted: SubclassSLD) -> None:
    X, _ = population({(0, 0): 50, (1, 1): 100}, 1)
    posteriors = fitted.classifier_.predict_proba(X)
    X_train, y_train = population(TRAIN, 0)
    sld = SLD(calibration="smooth").fit(X_train, y_train)
    assert_allclose(fitted.aggregate(posteriors), sld.aggregate(posteriors), atol=2e-3)


def discrete_columns(kind: str, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Few or discrete features that tell the classes apart, and nothing but the class."""
    n = len(y)
    stars = np.array(
        [rng.choice(5, p=p) for p in np.array([[4, 3, 2, 1, 1], [1, 1, 2, 3, 4]])[y] / 11]
    )
    if kind == "0/1":
        return (rng.random(n) < np.where(y, 0.8, 0.3)).astype(float)[:, None]
    if kind == "1 to 5":
        return stars[:, None] + 1.0
    if kind == "one-hot":
        return np.eye(5)[stars]
    if kind == "tied":
        return np.repeat(stars[:, None] + 0.0, 3, axis=1)
    return np.column_stack([stars, rng.normal(y, 1.0), rng.random(n) < 0.3 + 0.3 * y])


@pytest.mark.parametrize("n_train", [400, 3000])
@pytest.mark.parametrize("kind", ["0/1", "1 to 5", "one-hot", "tied", "mixed"])
def test_few_or_discrete_columns_are_no_worse_than_sld(kind: str, n_train: int) -> None:
    """Nothing but the prevalence changes; clusters that *are* the score would explain it away."""
    rng = np.random.default_rng(0)
    y = (np.arange(n_train) % 2).astype(np.int64)
    X = discrete_columns(kind, y, rng)
    errors, alarms = {"SLD": [], "SubclassSLD": []}, []
    both = {"SLD": SLD().fit(X, y), "SubclassSLD": SubclassSLD().fit(X, y)}
    for p in (0.1, 0.3, 0.7, 0.9):
        truth = (rng.random(500) < p).astype(np.int64)
        X_new = discrete_columns(kind, truth, rng)
        for name, quantifier in both.items():
            errors[name].append(abs(quantifier.predict(X_new)[1] - truth.mean()))
        alarms.append(shift_test(both["SubclassSLD"], X_new, n_bootstrap=200).p_value < 0.05)
    assert np.mean(errors["SubclassSLD"]) < np.mean(errors["SLD"]) + 0.02
    assert sum(alarms) <= 1
    # Where clusters are values of the features, too little within them tells the classes apart.
    assert not both["SubclassSLD"].divided_


@pytest.mark.parametrize("p", [0.1, 0.5, 1.0])
def test_constant_posteriors_give_the_training_prevalence(p: float) -> None:
    posteriors = np.tile([1 - p, p], (50, 1))
    fitted = SubclassSLD().fit_posteriors(posteriors, np.arange(50) < 10)
    # But for Platt's targets, which are not quite 0 and 1.
    assert_allclose(fitted.aggregate(posteriors), [0.8, 0.2], atol=0.005)


SHIFTS = {
    "prior": ({(0, 0): 400, (1, 0): 400, (0, 1): 800, (1, 1): 200}, PRIOR),
    "mixed": ({(0, 0): 300, (1, 0): 1200, (0, 1): 200, (1, 1): 200}, MIXED),
    "local": ({(0, 0): 300, (1, 0): 100, (0, 1): 600, (1, 1): 900}, LOCAL),
}


@pytest.mark.parametrize("kind", SHIFTS)
def test_the_right_model_gets_the_weight_and_the_estimate_is_right(
    kind: str, fitted: SubclassSLD
) -> None:
    counts, model = SHIFTS[kind]
    X, y = population(counts, 1)
    estimate = fitted.estimate(X)
    found = estimate.diagnostics
    assert MODELS[int(found["model_weight"].argmax())] == kind
    assert found["model_weight"][model] > 0.9
    assert found["model_weight"][COVARIATE] == 0
    assert estimate.prevalence[1] == pytest.approx(y.mean(), abs=0.03)
    assert_allclose(found["subclass_prevalence"].sum(axis=-2), found["model_prevalence"])
    assert_allclose(found["model_weight"] @ found["model_prevalence"], estimate.prevalence)
    assert not found["fallback"]


def test_local_shift_misleads_sld_but_not_its_subclasses(fitted: SubclassSLD) -> None:
    X_train, y_train = population(TRAIN, 0)
    sld = SLD().fit(X_train, y_train)
    ours, theirs = [], []
    for seed in range(10):
        X, y = population(SHIFTS["local"][0], 100 + seed)
        ours.append(abs(fitted.predict(X)[1] - y.mean()))
        theirs.append(abs(sld.predict(X)[1] - y.mean()))
    assert np.mean(ours) < 0.5 * np.mean(theirs)


def test_known_groups_in_place_of_clusters() -> None:
    X, y = population(TRAIN, 0)
    group = np.repeat(["a", "a", "b", "b"], list(TRAIN.values()))
    by_group = SubclassSLD().fit(X, y, groups=group)
    assert by_group.partition_ is not None
    assert by_group.partition_.n_clusters == 2
    X_new, y_new = population(SHIFTS["local"][0], 1)
    assert by_group.predict(X_new)[1] == pytest.approx(y_new.mean(), abs=0.03)
    # Groups known of the sample too: as codes.
    posteriors = by_group.classifier_.predict_proba(X_new)
    own = (X_new[:, 0] > 4).astype(np.int64)
    told = by_group.estimate_posteriors(posteriors, clusters=own)
    assert told.prevalence[1] == pytest.approx(y_new.mean(), abs=0.03)


def test_items_unlike_any_of_training_bring_the_fallback(fitted: SubclassSLD) -> None:
    X, _ = population({(0, 0): 200, (1, 1): 200}, 1)
    strange = X + np.array([0.0, 0.0, 0.0, 12.0])
    estimate = fitted.estimate(strange)
    assert estimate.diagnostics["fallback"]
    assert estimate.diagnostics["novelty"] > 4
    assert_allclose(estimate.diagnostics["model_weight"], [1, 0, 0, 0])
    together = fitted.estimate(np.concatenate([X, strange]), [np.arange(400), np.arange(400, 800)])
    assert together.diagnostics["fallback"].tolist() == [False, True]


def test_the_committee_is_that_of_the_held_out_posteriors(fitted: SubclassSLD) -> None:
    X = population(TRAIN, 0)[0]
    members = [model.predict_proba(X) for model in fitted.committee_]
    held_out = fitted.held_out_posteriors_
    distance = np.abs(np.stack(members) - held_out).max(axis=2)
    assert len(members) == 5
    assert_allclose(distance.min(axis=0), 0, atol=1e-12)  # one member has not seen the item
    X_new = population({(0, 0): 300, (1, 1): 200}, 5)[0]
    items = fitted.items(X_new)
    assert items.committee.shape == (5, 500, 2)
    assert len(items.features) == len(items.posteriors) == len(items) == 500
    assert fitted.held_out_.committee is None


def test_members_of_the_committee_are_averaged(fitted: SubclassSLD) -> None:
    X = population({(0, 0): 200, (1, 0): 100, (0, 1): 50, (1, 1): 150}, 6)[0]
    assert fitted.partition_ is not None
    clusters = fitted.partition_.locate(X)
    full = fitted.classifier_.predict_proba(X)
    members = np.stack([model.predict_proba(X) for model in fitted.committee_])
    whole = fitted.estimate_posteriors(full, clusters=clusters, committee=members)
    assert_allclose(whole.prevalence, fitted.predict(X))
    single = [fitted.estimate_posteriors(p, clusters=clusters) for p in members]
    for name in ("model_prevalence", "subclass_prevalence", "log_likelihood"):
        mean = np.mean([estimate.diagnostics[name] for estimate in single], axis=0)
        assert_allclose(whole.diagnostics[name], mean)
    same = fitted.estimate_posteriors(full, clusters=clusters, committee=[full, full])
    alone = fitted.estimate_posteriors(full, clusters=clusters)
    assert_allclose(same.prevalence, alone.prevalence)


def test_a_classifier_that_sharpens_with_more_items_does_not_mislead_the_committee() -> None:
    # Under a strong penalty the scores grow with the number of items: the model of all of them
    # scores further apart than the ones that the calibration knows, and its estimate is far off.
    def drawn(y: np.ndarray, seed: int) -> np.ndarray:
        return np.random.default_rng(seed).normal(0.1 * y[:, np.newaxis], 0.3, (len(y), 20))

    y, y_new = np.repeat([0, 1], [1800, 200]), np.repeat([0, 1], [2000, 2000])
    X, X_new = drawn(y, 0), drawn(y_new, 1)
    quantifier = SubclassSLD(LogisticRegression(C=1e-4), n_clusters=1).fit(X, y)
    alone = quantifier.estimate_posteriors(
        quantifier.classifier_.predict_proba(X_new), clusters=np.zeros(4000, int)
    )
    assert abs(alone.prevalence[1] - 0.5) > 0.05
    assert abs(quantifier.predict(X_new)[1] - 0.5) < 0.03


def test_few_training_items_of_a_class_are_little_evidence() -> None:
    rng = np.random.default_rng(0)
    weights = []
    for n_positive in (30, 3000):
        codes = np.repeat([0, 1], [3000, n_positive])
        clusters = np.tile([0, 1, 2], len(codes) // 3)
        p = expit(4 * codes - 2 + rng.normal(size=len(codes)))
        quantifier = SubclassSLD().fit_posteriors(
            np.column_stack([1 - p, p]), codes, clusters=clusters
        )
        # Positives of the sample sit a little more often in cluster 0 than a third.
        sample = expit(2 + rng.normal(size=500))
        where = np.repeat([0, 1, 2], [230, 135, 135])
        estimate = quantifier.estimate_posteriors(
            np.column_stack([1 - sample, sample]), clusters=where
        )
        weights.append(estimate.diagnostics["model_weight"][PRIOR])
    assert weights[0] > 0.5 > weights[1]


def test_three_classes() -> None:
    rng = np.random.default_rng(0)
    centres = np.array([[0, 0], [3, 0], [0, 3]])

    def items(counts: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
        y = np.concatenate([np.repeat([0, 1, 2], row) for row in counts])
        group = np.repeat(np.arange(len(counts)), [sum(row) for row in counts])
        X = np.column_stack([centres[y] + rng.normal(size=(len(y), 2)), 9.0 * group])
        return X, y

    quantifier = SubclassSLD(n_clusters=2).fit(*items([[300, 300, 300], [300, 300, 300]]))
    X, y = items([[300, 50, 50], [50, 50, 500]])
    estimate = quantifier.estimate(X)
    assert_allclose(estimate.prevalence, np.bincount(y) / len(y), atol=0.04)
    assert estimate.diagnostics["subclass_prevalence"].shape == (4, 2, 3)
    assert estimate.diagnostics["model_weight"].argmax() == LOCAL


def test_texts_are_clustered_by_the_first_steps_of_the_pipeline() -> None:
    rng = np.random.default_rng(0)
    words = {0: "plot novel author chapter", 1: "cable battery screen plug"}
    moods = {0: "bad dull poor weak", 1: "good fine great solid"}

    def texts(n: int) -> tuple[list[str], np.ndarray, np.ndarray]:
        y, group = rng.integers(2, size=n), rng.integers(2, size=n)
        made = [
            " ".join([*rng.choice(words[g].split(), 6), *rng.choice(moods[c].split(), 2)])
            for c, g in zip(y, group, strict=True)
        ]
        return made, y, group

    documents, y, group = texts(300)
    pipeline = make_pipeline(TfidfVectorizer(), LogisticRegression())
    quantifier = SubclassSLD(pipeline, n_clusters=2).fit(documents, y)
    assert quantifier.partition_ is not None
    clusters = quantifier.partition_.locate(pipeline.fit(documents, y)[:-1].transform(documents))
    agreement = np.mean(clusters.codes == group)
    assert max(agreement, 1 - agreement) > 0.95
    new, y_new, _ = texts(200)
    assert quantifier.predict(new)[1] == pytest.approx(y_new.mean(), abs=0.03)
    frozen = SubclassSLD(FrozenEstimator(pipeline), n_clusters=2).fit(*texts(300)[:2])
    assert frozen.predict(new)[1] == pytest.approx(y_new.mean(), abs=0.03)


@pytest.mark.slow
def test_common_checks_hold_with_any_number_of_clusters() -> None:
    check_quantifier(SubclassSLD(n_clusters=1))
    check_quantifier(SubclassSLD(n_clusters=3, n_components=1), skip=["pickle_round_trip"])


def test_refit_keeps_clusters_that_a_resampled_training_set_lacks(fitted: SubclassSLD) -> None:
    X, y = population(SHIFTS["mixed"][0], 1)
    items = fitted.items(X)
    everyone = np.arange(len(fitted.held_out_codes_))
    again = fitted.refit(everyone)
    assert_allclose(again.estimate_items(items).prevalence, fitted.predict(X), atol=1e-12)
    clusters = fitted.held_out_.features.codes
    without = fitted.refit(everyone[clusters != clusters[0]])
    assert without.model_.within.shape == fitted.model_.within.shape
    assert without.estimate_items(items).prevalence.sum() == pytest.approx(1)
    assert fitted.predict(X)[1] == pytest.approx(y.mean(), abs=0.03)


def test_a_committee_must_classify_the_same_items(fitted: SubclassSLD) -> None:
    half = np.full((10, 2), 0.5)
    with pytest.raises(DataError, match="got posteriors of 10, committee of 9"):
        fitted.estimate_posteriors(half, clusters=np.zeros(10, int), committee=[half[:9]])


def test_errors_name_the_cure(fitted: SubclassSLD) -> None:
    posteriors = np.full((4, 2), 0.5)
    with pytest.raises(DataError, match="cluster 7 is not among the 2 of the training items"):
        fitted.estimate_posteriors(posteriors, clusters=[0, 1, 7, 0])
    with pytest.raises(DataError, match=r"one row per item, got posteriors of 4, features of 2"):
        fitted.estimate_posteriors(posteriors, clusters=[0, 1])
    with pytest.raises(DataError, match="cluster 1 has no training item: renumber them"):
        SubclassSLD().fit_posteriors(posteriors, [0, 1, 0, 1], clusters=[0, 0, 2, 2])
    with pytest.raises(DataError, match="the sample is empty"):
        fitted.estimate(np.empty((0, 4)))
    with pytest.raises(UserError, match="fitted from posteriors and has no classifier"):
        SubclassSLD().fit_posteriors(posteriors, [0, 1, 0, 1]).predict(np.zeros((2, 4)))
    with pytest.raises(UserError, match="clusters need numeric features"):
        SubclassSLD(_TextClassifier()).fit(["a", "b"] * 10, [0, 1] * 10)
    told = Clusters.known(np.array([0, 1, 0, 1]))
    assert fitted.estimate_posteriors(posteriors, clusters=told).diagnostics["novelty"] == 0


class _TextClassifier(LogisticRegression):
    """Turns texts into numbers where nobody sees it."""

    def fit(self, X: list[str], y: np.ndarray) -> "_TextClassifier":
        return super().fit(self._numbers(X), y)

    def predict_proba(self, X: list[str]) -> np.ndarray:
        return super().predict_proba(self._numbers(X))

    @staticmethod
    def _numbers(X: list[str]) -> np.ndarray:
        return np.array([[float(ord(text))] for text in X])
