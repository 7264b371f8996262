"""The accuracy of a classifier on a sample without labels: tables, methods, intervals."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score

from quantshift import CC, PACC, SLD, HDx, Items, estimate_accuracy
from quantshift.diagnosis.accuracy import METHODS, contingency_table, f1_scores, item_accuracy
from quantshift.errors import DataError, UserError


def draw(n: int, p: np.ndarray, seed: int, gap: float = 1.8) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.choice(len(p), size=n, p=p)
    return gap * np.eye(len(p))[y] + rng.normal(size=(n, len(p))), y


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_the_table_is_the_nearest_of_those_with_the_known_columns(n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    p, q = rng.dirichlet(np.ones(n_classes), size=(2, 8))
    rates = rng.dirichlet(np.ones(n_classes), size=n_classes)
    tables = contingency_table(p, rates, q)
    assert (tables >= 0).all()
    assert_allclose(tables.sum(axis=-2), q, atol=1e-12)
    for table, prior, columns in zip(tables, p, q, strict=True):
        expected = prior[:, np.newaxis] * rates
        for j in range(n_classes):
            # A column by a solver that knows nothing of projections.
            found = minimize(
                lambda t, j=j, expected=expected: ((t - expected[:, j]) ** 2).sum(),
                np.full(n_classes, columns[j] / n_classes),
                bounds=[(0, 1)] * n_classes,
                constraints={"type": "eq", "fun": lambda t, j=j, c=columns: t.sum() - c[j]},
                method="SLSQP",
                options={"ftol": 1e-14},
            )
            assert_allclose(table[:, j], found.x, atol=1e-6)
    # What fits already stays as it is.
    fitting = contingency_table(p, rates, p @ rates)
    assert_allclose(fitting, p[:, :, np.newaxis] * rates, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_leap_with_the_true_prevalence_is_the_table(n_classes: int) -> None:
    """20,000 items: M and the accuracy are known to .005, SLD's prevalence to .01."""
    even = np.full(n_classes, 1 / n_classes)
    X, y = draw(20_000, even, 0)
    shifted = np.linspace(1, 3, n_classes) / np.linspace(1, 3, n_classes).sum()
    X_new, y_new = draw(20_000, shifted, 1)
    quantifier = SLD(calibration="sigmoid").fit(X, y)
    found = estimate_accuracy(quantifier, X_new, n_bootstrap=10)
    answers = quantifier.items(X_new).posteriors.argmax(axis=1)
    truth = np.zeros((n_classes, n_classes))
    np.add.at(truth, (y_new, answers), 1 / len(y_new))
    assert_allclose(found.table, truth, atol=0.015)
    assert found.accuracy == pytest.approx((y_new == answers).mean(), abs=0.01)
    assert_allclose(found.f1, f1_score(y_new, answers, average=None), atol=0.02)
    assert found.macro_f1 == pytest.approx(found.f1.mean())
    held_out = quantifier.held_out_posteriors_.argmax(axis=1)
    assert found.training == pytest.approx((held_out == y).mean())
    assert found.low <= found.accuracy <= found.high


def test_threshold_and_difference_of_confidences() -> None:
    X, y = draw(2000, np.array([0.5, 0.5]), 0)
    X_new, _ = draw(300, np.array([0.3, 0.7]), 1)
    quantifier = PACC().fit(X, y)
    known, new = quantifier.held_out_posteriors_, quantifier.items(X_new).posteriors
    right = known.argmax(axis=1) == y
    # ATC: as many held-out items at or below the threshold as are wrong.
    threshold = np.sort(known.max(axis=1))[int((~right).sum()) - 1]
    atc = estimate_accuracy(quantifier, X_new, method="atc", n_bootstrap=10)
    assert atc.accuracy == pytest.approx((new.max(axis=1) > threshold).mean())
    assert atc.table is None
    assert atc.f1 is None
    confident = new.max(axis=1).mean() - known.max(axis=1).mean()
    by_confidence = estimate_accuracy(quantifier, X_new, method="confidence", n_bootstrap=10)
    assert by_confidence.accuracy == pytest.approx(right.mean() + confident)
    # DoC: a regression over many prevalences, which has the closed form of the code.
    share = np.linspace(0, 1, 1001)[:, np.newaxis] * [[-1, 1]] + [[1, 0]]
    a = np.array([right[y == k].mean() for k in (0, 1)])
    c = np.array([known[y == k].max(axis=1).mean() for k in (0, 1)])
    plain = np.polyfit(share @ c, share @ a, 1)[0]
    spread = ((c - c.mean()) ** 2).sum()
    slope = (plain * spread + 1e-3) / (spread + 1e-3)
    doc = estimate_accuracy(quantifier, X_new, method="doc", n_bootstrap=10)
    change = new.max(axis=1).mean() - known.max(axis=1).mean()
    assert doc.accuracy == pytest.approx(np.clip(right.mean() + slope * change, 0, 1), abs=1e-9)


def test_samples_weights_and_seeds() -> None:
    X, y = draw(400, np.array([0.5, 0.5]), 0)
    X_new, _ = draw(100, np.array([0.3, 0.7]), 1)
    quantifier = PACC().fit(X, y)
    rows = [np.arange(40), np.arange(30, 100)]
    together = estimate_accuracy(quantifier, X_new, rows, n_bootstrap=20)
    assert together.accuracy.shape == (2,)
    assert together.table.shape == (2, 2, 2)
    for i, row in enumerate(rows):
        alone = estimate_accuracy(quantifier, X_new[row], n_bootstrap=20)
        assert together.accuracy[i] == pytest.approx(float(alone.accuracy))
        # The other samples of a call do not change an interval.
        for name in ("low", "high", "macro_f1_low", "macro_f1_high"):
            limits = getattr(together, name)[i], float(getattr(alone, name))
            assert limits[0] == pytest.approx(limits[1], abs=1e-9)
    again = estimate_accuracy(quantifier, X_new, rows, n_bootstrap=20)
    assert_allclose([again.low, again.high], [together.low, together.high], atol=0)
    weights = np.arange(100) % 3
    heavy = estimate_accuracy(quantifier, X_new, weights=weights, n_bootstrap=20)
    repeated = estimate_accuracy(quantifier, np.repeat(X_new, weights, axis=0), n_bootstrap=20)
    assert heavy.accuracy == pytest.approx(float(repeated.accuracy))
    assert_allclose(heavy.table, repeated.table, atol=1e-12)
    pool = Items(quantifier.items(X_new).posteriors)
    assert_allclose(item_accuracy(quantifier, pool, rows, n_bootstrap=20).accuracy, again.accuracy)


def test_a_classifier_with_held_out_items() -> None:
    X, y = draw(600, np.array([0.5, 0.5]), 0)
    X_new, y_new = draw(2000, np.array([0.2, 0.8]), 1)
    names = np.array(["ham", "spam"])
    classifier = LogisticRegression().fit(X[:300], names[y[:300]])
    found = estimate_accuracy(classifier, X_new, held_out=(X[300:], names[y[300:]]), n_bootstrap=50)
    assert found.classes.tolist() == ["ham", "spam"]
    assert found.low < (classifier.predict(X_new) == names[y_new]).mean() < found.high


def test_one_item_and_a_class_never_predicted() -> None:
    y = np.repeat([0, 1, 2], 30)
    known = np.eye(3)[np.where(y == 1, 2, y)] * 0.7 + 0.1
    quantifier = PACC().fit_posteriors(known, y)
    for method in METHODS:
        found = item_accuracy(quantifier, Items(known[:1]), method=method, n_bootstrap=10)
        assert 0 <= found.low <= found.accuracy <= found.high <= 1
        if method == "leap":
            assert 0 <= found.macro_f1_low <= found.macro_f1 <= found.macro_f1_high <= 1
    assert_allclose(f1_scores(np.array([[0.5, 0.0], [0.0, 0.0]])), [1.0, 0.0])


def test_what_cannot_be_is_refused() -> None:
    X, y = draw(100, np.array([0.5, 0.5]), 0)
    quantifier = PACC().fit(X, y)
    with pytest.raises(UserError, match=r"give held_out=\(X, y\)"):
        estimate_accuracy(LogisticRegression().fit(X, y), X)
    with pytest.raises(UserError, match="held_out is for a classifier"):
        estimate_accuracy(quantifier, X, held_out=(X, y))
    for other in (CC(), HDx()):
        with pytest.raises(UserError, match="has no posteriors of held-out items"):
            estimate_accuracy(other.fit(X, y), X)
    with pytest.raises(UserError, match="unknown method 'lep'"):
        estimate_accuracy(quantifier, X, method="lep")
    with pytest.raises(UserError, match="level"):
        estimate_accuracy(quantifier, X, level=1.0)
    with pytest.raises(DataError, match="sample 1 is empty"):
        estimate_accuracy(quantifier, X, [[0], []])
    with pytest.raises(DataError, match="a sample is empty"):
        estimate_accuracy(quantifier, X, [[0], [1]], weights=np.arange(100))
    for method in METHODS:
        with pytest.raises(DataError, match="sample 0 names items -2 to 100"):
            estimate_accuracy(quantifier, X, [[-2, 100]], method=method)
        with pytest.raises(DataError, match="must be integers, got float64"):
            estimate_accuracy(quantifier, X, [[0.7]], method=method)
