"""The accuracy of a classifier on a sample without labels: tables, methods, intervals."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score

from quantshift import CC, PACC, SLD, ShiftedClassifier, performance
from quantshift.claims import Kind
from quantshift.errors import DataError, UserError
from quantshift.items import Items
from quantshift.measuring.accuracy import METHODS, accuracies, contingency_table, f1_scores
from quantshift.quantifiers import HDx


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
    found = performance(quantifier, X_new, method="LEAP", n_bootstrap=20)
    answers = quantifier.items(X_new).posteriors.argmax(axis=1)
    truth = np.zeros((n_classes, n_classes))
    np.add.at(truth, (y_new, answers), 1 / len(y_new))
    assert_allclose(found.confusion, truth, atol=0.015)
    accuracy, f1 = found.of("accuracy"), found.of("f1")
    assert accuracy.estimate == pytest.approx((y_new == answers).mean(), abs=0.01)
    of_classes = [found.of("f1", k) for k in range(n_classes)]
    estimates = [each.estimate for each in of_classes]
    assert_allclose(estimates, f1_score(y_new, answers, average=None), atol=0.02)
    assert f1.estimate == pytest.approx(np.mean(estimates))
    assert_allclose(found.prevalence, shifted, atol=0.01)
    held_out = quantifier.held_out_posteriors_.argmax(axis=1)
    assert accuracy.training == pytest.approx((held_out == y).mean())
    in_training = f1_score(y, held_out, average=None)
    assert_allclose([each.training for each in of_classes], in_training)
    assert f1.training == pytest.approx(in_training.mean())
    for each in (accuracy, f1, *of_classes):
        assert each.low <= each.estimate <= each.high
        assert each.high - each.low < 0.06
    assert found.kind is Kind.CONDITIONAL


def test_threshold_and_difference_of_confidences() -> None:
    X, y = draw(2000, np.array([0.5, 0.5]), 0)
    X_new, _ = draw(300, np.array([0.3, 0.7]), 1)
    quantifier = PACC().fit(X, y)
    known, new = quantifier.held_out_posteriors_, quantifier.items(X_new).posteriors
    right = known.argmax(axis=1) == y
    # ATC: as many held-out items at or below the threshold as are wrong.
    threshold = np.sort(known.max(axis=1))[int((~right).sum()) - 1]
    atc = performance(quantifier, X_new, method="ATC", n_bootstrap=20)
    expected = (new.max(axis=1) > threshold).mean()
    assert atc.of("accuracy").estimate == pytest.approx(expected)
    assert [each.measure for each in atc.as_trained] == ["accuracy"]
    assert np.isnan(atc.confusion).all()
    confident = new.max(axis=1).mean() - known.max(axis=1).mean()
    by_confidence = performance(quantifier, X_new, method="confidence", n_bootstrap=20)
    assert by_confidence.of("accuracy").estimate == pytest.approx(right.mean() + confident)
    # DoC: a regression over many prevalences, which has the closed form of the code.
    share = np.linspace(0, 1, 1001)[:, np.newaxis] * [[-1, 1]] + [[1, 0]]
    a = np.array([right[y == k].mean() for k in (0, 1)])
    c = np.array([known[y == k].max(axis=1).mean() for k in (0, 1)])
    plain = np.polyfit(share @ c, share @ a, 1)[0]
    spread = ((c - c.mean()) ** 2).sum()
    slope = (plain * spread + 1e-3) / (spread + 1e-3)
    doc = performance(quantifier, X_new, method="DoC", n_bootstrap=20).of("accuracy")
    change = new.max(axis=1).mean() - known.max(axis=1).mean()
    assert doc.estimate == pytest.approx(np.clip(right.mean() + slope * change, 0, 1), abs=1e-9)


def test_samples_weights_and_seeds() -> None:
    X, y = draw(400, np.array([0.5, 0.5]), 0)
    X_new, _ = draw(100, np.array([0.3, 0.7]), 1)
    quantifier = PACC().fit(X, y)
    rows = [np.arange(40), np.arange(30, 100)]
    items = Items(quantifier.items(X_new).posteriors)
    together = accuracies(quantifier, items, rows, n_bootstrap=20)
    assert together.accuracy.shape == (2,)
    assert together.f1.tables.shape == (2, 2, 2)
    for i, row in enumerate(rows):
        alone = accuracies(quantifier, items.take(row), [np.arange(len(row))], n_bootstrap=20)
        assert together.accuracy[i] == pytest.approx(alone.accuracy[0])
        # The other samples of a call do not change an interval.
        for name in ("low", "high"):
            one, other = getattr(together, name)[i], getattr(alone, name)[0]
            assert one == pytest.approx(other, abs=1e-9)
            one, other = (getattr(each.f1, f"by_class_{name}") for each in (together, alone))
            assert_allclose(one[i], other[0], atol=1e-9)
    again = accuracies(quantifier, items, rows, n_bootstrap=20)
    assert_allclose([again.low, again.high], [together.low, together.high], atol=0)
    weights = np.arange(100) % 3
    options = {"method": "LEAP", "n_bootstrap": 20}
    heavy = performance(quantifier, X_new, sample_weight=weights, **options)
    repeated = performance(quantifier, np.repeat(X_new, weights, axis=0), **options)
    assert heavy.of("accuracy").estimate == pytest.approx(repeated.of("accuracy").estimate)
    assert_allclose(heavy.confusion, repeated.confusion, atol=1e-12)


def test_groups_are_samples_of_their_own() -> None:
    X, y = draw(400, np.array([0.5, 0.5]), 0)
    X_new, _ = draw(100, np.array([0.3, 0.7]), 1)
    quantifier = PACC().fit(X, y)
    groups = np.where(np.arange(100) < 40, "a", "b")
    found = performance(quantifier, X_new, method="ATC", groups=groups, n_bootstrap=20)
    alone = performance(quantifier, X_new[:40], method="ATC", n_bootstrap=20)
    assert found.groups["a"].of("accuracy") == alone.of("accuracy")
    assert found.groups["b"].n_items == 60


def test_a_shifted_classifier_has_held_out_errors() -> None:
    X, y = draw(600, np.array([0.5, 0.5]), 0)
    X_new, y_new = draw(2000, np.array([0.2, 0.8]), 1)
    names = np.array(["ham", "spam"])
    model = ShiftedClassifier(assume="prior").fit(X, names[y])
    found = performance(model, X_new, method="LEAP")
    truth = (model.predict(X_new) == names[y_new]).mean()
    assert found.of("accuracy").estimate == pytest.approx(truth, abs=0.02)
    assert found.of("f1", "spam").estimate > found.of("f1", "ham").estimate
    for options in ({"costs": [[0, 1], [5, 0]]}, {"recall": 0.9}):
        other = ShiftedClassifier(assume="prior", **options).fit(X, names[y])
        with pytest.raises(UserError, match="without costs and target"):
            performance(other, X_new, method="LEAP")
    with pytest.raises(UserError, match="has its own held-out items"):
        performance(model, X_new, method="LEAP", held_out=(X, y))


def test_a_classifier_with_held_out_items() -> None:
    X, y = draw(600, np.array([0.5, 0.5]), 0)
    X_new, y_new = draw(2000, np.array([0.2, 0.8]), 1)
    names = np.array(["ham", "spam"])
    classifier = LogisticRegression().fit(X[:300], names[y[:300]])
    held_out = (X[300:], names[y[300:]])
    found = performance(classifier, X_new, held_out=held_out, method="LEAP", n_bootstrap=25)
    assert found.classes.tolist() == ["ham", "spam"]
    accuracy = found.of("accuracy")
    assert accuracy.low < (classifier.predict(X_new) == names[y_new]).mean() < accuracy.high


def test_one_item_and_a_class_never_predicted() -> None:
    y = np.repeat([0, 1, 2], 30)
    known = np.eye(3)[np.where(y == 1, 2, y)] * 0.7 + 0.1
    quantifier = PACC().fit_posteriors(known, y)
    for method in METHODS:
        found = accuracies(quantifier, Items(known[:1]), [[0]], method=method, n_bootstrap=10)
        assert 0 <= found.low <= found.accuracy <= found.high <= 1
        if found.f1 is not None:
            f1 = found.f1
            assert 0 <= f1.macro_low <= f1.macro <= f1.macro_high <= 1
    assert_allclose(f1_scores(np.array([[0.5, 0.0], [0.0, 0.0]])), [1.0, 0.0])


def test_what_cannot_be_is_refused() -> None:
    X, y = draw(100, np.array([0.5, 0.5]), 0)
    quantifier = PACC().fit(X, y)
    items = quantifier.items(X)
    with pytest.raises(UserError, match=r"give held_out=\(X, y\)"):
        performance(LogisticRegression().fit(X, y), X, method="LEAP")
    with pytest.raises(UserError, match="held_out is for a classifier"):
        performance(quantifier, X, held_out=(X, y), method="LEAP")
    for other in (CC(), HDx()):
        with pytest.raises(UserError, match="has no posteriors of held-out items"):
            performance(other.fit(X, y), X, method="LEAP")
    with pytest.raises(UserError, match="unknown method 'leap'"):
        performance(quantifier, X, method="leap")
    with pytest.raises(UserError, match="level"):
        performance(quantifier, X, method="ATC", level=1.0)
    with pytest.raises(UserError, match="ATC estimates accuracy, and not f1"):
        performance(quantifier, X, method="ATC", measures=["accuracy", "f1"])
    for options in ({"assume": "prior"}, {"costs": [[0, 1], [1, 0]]}):
        with pytest.raises(UserError, match="DoC has an assumption of its own"):
            performance(quantifier, X, method="DoC", **options)
    with pytest.raises(DataError, match="sample 1 is empty"):
        accuracies(quantifier, items, [[0], []])
    weights = (np.arange(100) > 0).astype(float)
    with pytest.raises(DataError, match="a sample is empty"):
        performance(quantifier, X, method="ATC", groups=weights, sample_weight=weights)
    for method in METHODS:
        with pytest.raises(DataError, match="sample 0 names items -2 to 100"):
            accuracies(quantifier, items, [[-2, 100]], method=method)
        with pytest.raises(DataError, match="must be integers, got float64"):
            accuracies(quantifier, items, [[0.7]], method=method)


def test_tables_of_samples_in_rows_and_columns() -> None:
    p, q = np.random.default_rng(0).dirichlet(np.ones(3), size=(2, 2, 4))
    rates = np.random.default_rng(1).dirichlet(np.ones(3), size=3)
    together = contingency_table(p, rates, q)
    for i in range(2):
        assert_allclose(together[i], contingency_table(p[i], rates, q[i]), atol=0)
