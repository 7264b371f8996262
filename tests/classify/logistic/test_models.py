"""The batched logistic regression: its equations, its independence of the batch, its errors."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array
from scipy.special import expit, logit, logsumexp, softmax, xlogy

from quantshift.base.seeding import generator
from quantshift.classify.logistic import arithmetic, binomial, multinomial, newton, sparse
from quantshift.classify.logistic.models import balanced_weights, fit_logistic, posteriors_of
from quantshift.errors import DataError, UserError

LOOSE, TIGHT = 1e-6, 1e-15  # products in single and in double precision


def make_data(n_items=120, n_features=90, prevalence=0.4, **axes):
    rng = generator(7, n_items=n_items, n_features=n_features, **axes)
    X = csr_array(random_array((n_items, n_features), density=0.15, rng=rng))
    X.data /= np.repeat(np.sqrt(X.multiply(X).sum(axis=1)), np.diff(X.indptr))
    truth = X @ rng.normal(size=n_features) + rng.normal(size=n_items) / 2
    return X, (truth > np.quantile(truth, 1 - prevalence)).astype(np.int64), rng


def make_problems(codes, rng):
    """A grid as in model selection: C x class weights x (all, three folds)."""
    folds = rng.permutation(len(codes)) % 3
    C, weights = [], []
    for c in (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0):
        for fold in (-1, 0, 1, 2):
            member = folds != fold
            C += [c, c]
            weights += [member.astype(float), balanced_weights(codes, member)]
    return np.array(C), np.array(weights)


def relative_gaps(X, codes, C, weights, models):
    """Objective minus dual objective, compared with the penalty and 1e-4 of the loss."""
    dense, gaps = X.toarray(), []
    for j, c in enumerate(C):
        w, cost = models.coef[:, j], c * weights[j]
        against = np.where(codes == 1, -1, 1) * (dense @ w + models.intercept[j])
        slopes = np.where(codes == 1, -cost, cost) * expit(against)
        curvatures = cost * expit(against) * expit(-against)
        feasible = slopes - curvatures * slopes.sum() / curvatures.sum()
        share = np.abs(feasible)[cost > 0] / cost[cost > 0]
        entropy = -xlogy(share, share) - xlogy(1 - share, 1 - share)
        penalty, loss = 0.5 * w @ w, cost @ np.logaddexp(0, against)
        dual = cost[cost > 0] @ entropy - 0.5 * np.sum((dense.T @ feasible) ** 2)
        gap = penalty + loss - dual
        gaps.append(gap / (penalty + 1e-4 * loss - gap))
    return np.array(gaps)


def assert_same_bits(one, other, positions):
    np.testing.assert_array_equal(one.coef, other.coef[:, positions])
    np.testing.assert_array_equal(one.intercept, other.intercept[positions])
    np.testing.assert_array_equal(one.training_scores, other.training_scores[positions])
    np.testing.assert_array_equal(one.iterations, other.iterations[positions])
    np.testing.assert_array_equal(one.gap, other.gap[positions])


@pytest.mark.parametrize("tol", [1e-3, 1e-5, LOOSE, 1e-8, 1e-11, TIGHT])
@pytest.mark.parametrize("prevalence", [0.5, 0.05])
def test_gap_is_within_tolerance(tol, prevalence):
    X, codes, rng = make_data(prevalence=prevalence)
    C, weights = make_problems(codes, rng)
    models = fit_logistic(X, codes, C, weights, tol=tol)
    assert models.converged.all()
    assert models.gap.max() <= tol
    # The chi-squared divergence is up to twice KL. A difference of two objectives has rounding,
    # which a small penalty magnifies.
    gaps = relative_gaps(X, codes, C, weights, models)
    assert (gaps <= models.gap * (1 + 1e-6) + 1e-11).all()
    assert (models.gap <= 2.01 * gaps + 1e-11).all()


def test_without_features_the_intercept_is_the_log_odds_of_the_weights():
    weights = np.array([[1.0, 2.0, 3.0, 4.0], [1.0, 0.0, 0.0, 99.0]])
    codes = np.array([0, 1, 0, 1])
    models = fit_logistic(csr_array((4, 3)), codes, [1.0, 1000.0], weights, tol=1e-10)
    np.testing.assert_allclose(models.intercept, [logit(0.6), logit(0.99)])
    np.testing.assert_array_equal(models.coef, np.zeros((3, 2)))
    assert models.converged.all()


def test_a_matrix_of_no_columns_is_allowed():
    models = fit_logistic(csr_array((3, 0)), np.array([0, 1, 1]), [1.0], np.ones((1, 3)))
    assert models.coef.shape == (0, 1)
    assert models.converged.all()


def test_symmetric_pair_has_its_closed_form():
    # x = -1, 1 with codes 0, 1: no intercept, and w solves w = 2 C / (1 + e^w).
    models = fit_logistic(
        csr_array([[-1.0], [1.0]]), np.array([0, 1]), [5.0], np.ones((1, 2)), tol=1e-12
    )
    w = models.coef[0, 0]
    assert w == pytest.approx(10 / (1 + np.exp(w)), rel=1e-10)
    assert models.intercept[0] == pytest.approx(0, abs=1e-10)


@pytest.mark.parametrize("tol", [LOOSE, TIGHT])
def test_a_problem_does_not_depend_on_its_batch(tol):
    X, codes, rng = make_data()
    C, weights = make_problems(codes, rng)
    assert len(C) > newton.LANES
    together = fit_logistic(X, codes, C, weights, tol=tol)
    for j in range(0, len(C), 5):
        alone = fit_logistic(X, codes, C[[j]], weights[[j]], tol=tol)
        assert_same_bits(alone, together, [j])
    for size in (3, 7, 20):
        some = rng.choice(len(C), size, replace=False)
        assert_same_bits(fit_logistic(X, codes, C[some], weights[some], tol=tol), together, some)


def test_lanes_do_not_change_the_result(monkeypatch):
    X, codes, rng = make_data()
    C, weights = make_problems(codes, rng)
    wide = fit_logistic(X, codes, C, weights)
    monkeypatch.setattr("quantshift.classify.logistic.models.LANES", 3)
    assert_same_bits(fit_logistic(X, codes, C, weights), wide, np.arange(len(C)))


def test_threads_do_not_change_the_result():
    X, codes, rng = make_data()
    C, weights = make_problems(codes, rng)
    first = fit_logistic(X, codes, C, weights)
    with ThreadPoolExecutor(2) as pool:
        for again in pool.map(lambda _: fit_logistic(X, codes, C, weights), range(4)):
            assert_same_bits(again, first, np.arange(len(C)))


def test_weight_zero_leaves_the_item_out():
    X, codes, rng = make_data()
    member = rng.random(len(codes)) < 0.7
    C = np.array([1.0, 100.0])
    weighted = fit_logistic(X, codes, C, np.array([member, member], dtype=float), tol=TIGHT)
    inside = np.flatnonzero(member)
    cut = fit_logistic(X[inside], codes[inside], C, np.ones((2, inside.size)), tol=TIGHT)
    np.testing.assert_allclose(weighted.coef, cut.coef, atol=1e-5)
    np.testing.assert_allclose(weighted.training_scores, cut.scores(X), atol=1e-5)


def test_weight_two_is_the_item_twice():
    X, codes, _ = make_data()
    twice = np.r_[np.arange(len(codes)), np.arange(20)]
    weights = np.ones((1, len(codes)))
    weights[:, :20] = 2
    weighted = fit_logistic(X, codes, [10.0], weights, tol=TIGHT)
    repeated = fit_logistic(X[twice], codes[twice], [10.0], np.ones((1, twice.size)), tol=TIGHT)
    np.testing.assert_allclose(weighted.coef, repeated.coef, atol=1e-6)


def test_classes_exchanged_change_the_sign_only():
    X, codes, _ = make_data()
    ones = np.ones((1, len(codes)))
    plain = fit_logistic(X, codes, [10.0], ones, tol=TIGHT)
    swapped = fit_logistic(X, 1 - codes, [10.0], ones, tol=TIGHT)
    np.testing.assert_allclose(plain.coef, -swapped.coef, atol=1e-9)


def test_too_few_iterations_are_admitted():
    X, codes, _ = make_data()
    models = fit_logistic(X, codes, [0.01, 1000.0], np.ones((2, len(codes))), max_iter=6)
    assert models.converged.tolist() == [True, False]
    assert models.iterations[1] == 6
    assert models.gap[1] > 1e-6


def test_single_precision_that_does_not_suffice_becomes_double(monkeypatch):
    # Columns far from zero: single-precision scores are off by more than the tolerance allows.
    rng = generator(0, case="offset")
    X = rng.normal(loc=[3e3, -2e3, 0, 1e3], size=(80, 4))
    codes = (X[:, 0] + rng.normal(size=80) > 3e3).astype(np.int64)
    precisions = []

    def spy(rows, *rest):
        precisions.append(rows.values.dtype)
        return newton.solve(rows, *rest)

    monkeypatch.setattr("quantshift.classify.logistic.models.solve", spy)
    C, weights = np.array([1.0]), np.ones((1, 80))
    models = fit_logistic(X, codes, C, weights, tol=1e-6, max_iter=20_000)
    assert precisions == [np.float32, np.float64]
    assert models.converged.all()
    assert relative_gaps(csr_array(X), codes, C, weights, models).max() <= 1.001e-6


def test_single_precision_does_not_use_up_the_iterations():
    # Far from zero, single precision may go on for hundreds of products; doubles need a few.
    rng = generator(0, case="far")
    X = rng.normal(loc=1000, size=(300, 5))
    codes = (X @ rng.normal(size=5) + rng.normal(size=300) > 0).astype(np.int64)
    codes[:2] = (0, 1)
    models = fit_logistic(X, codes, [0.01, 1.0, 100.0], np.ones((3, 300)), max_iter=50)
    assert models.converged.all()


def test_widely_separated_scores_do_not_overflow():
    X = csr_array(np.array([[-1e4], [-9e3], [9e3], [1e4]]))
    models = fit_logistic(X, np.array([0, 0, 1, 1]), [1e6], np.ones((1, 4)))
    assert models.converged.all()
    assert np.isfinite(models.coef).all()
    assert (models.training_posteriors[0].argmax(axis=1) == [0, 0, 1, 1]).all()


def test_scores_of_the_training_matrix_and_of_new_items():
    X, codes, _ = make_data()
    new, _, _ = make_data(n_items=50, case="new")
    models = fit_logistic(X, codes, [0.1, 1.0, 10.0], np.ones((3, len(codes))))
    np.testing.assert_array_equal(models.scores(X), models.training_scores)
    expected = (new @ models.coef + models.intercept).T
    np.testing.assert_allclose(models.scores(new), expected, atol=1e-12)
    np.testing.assert_allclose(models.scores(new.toarray()), expected, atol=1e-12)
    posteriors = models.posteriors(new)
    assert posteriors.shape == (3, 50, 2)
    np.testing.assert_allclose(posteriors[..., 1], expit(expected), atol=1e-12)
    np.testing.assert_allclose(posteriors.sum(axis=-1), 1, atol=1e-14)


def test_small_posteriors_keep_their_digits():
    np.testing.assert_allclose(posteriors_of(np.array([50.0]))[0, 0], np.exp(-50), rtol=1e-12)


def test_balanced_weights_refuse_a_missing_class():
    with pytest.raises(DataError, match="no member is of class 1"):
        balanced_weights(np.array([0, 0, 1]), np.array([True, True, False]))


def test_one_class_among_the_weighted_items_is_refused():
    X, codes, _ = make_data()
    weights = np.ones((3, len(codes)))
    weights[2, codes == 1] = 0
    with pytest.raises(DataError, match="problem 2 has no item of class 1 with a positive weight"):
        fit_logistic(X, codes, [1.0, 1.0, 1.0], weights)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"codes": np.array([0, 1, 2])}, DataError, "codes must be 3 whole numbers, from 0 to 1"),
        ({"codes": np.array([0, 1])}, DataError, "codes must be 3 whole numbers, from 0 to 1"),
        ({"C": [1.0, 1.0]}, DataError, r"got \(2,\) and \(1, 3\) for 3 items"),
        ({"C": [0.0]}, UserError, "every C must be positive"),
        ({"C": [np.inf]}, UserError, "every C must be positive"),
        ({"sample_weight": [[1.0, -1.0, 1.0]]}, DataError, "not negative"),
        ({"sample_weight": [[1.0, np.nan, 1.0]]}, DataError, "finite"),
        ({"sample_weight": [1.0, 1.0, 1.0]}, DataError, r"got \(1,\) and \(3,\)"),
        ({"X": [[1.0], [np.nan], [2.0]]}, DataError, "NaN or infinite"),
        ({"X": [["a"], ["b"], ["c"]]}, DataError, "not a matrix of numbers"),
        ({"X": np.zeros((0, 2))}, DataError, "at least one row"),
        ({"tol": 0.0}, UserError, "tol and max_iter must be positive"),
        ({"max_iter": 0}, UserError, "tol and max_iter must be positive"),
    ],
)
def test_unusable_input_is_refused(change, error, message):
    usual = {
        "X": [[1.0], [0.0], [2.0]],
        "codes": np.array([0, 1, 1]),
        "C": [1.0],
        "sample_weight": np.ones((1, 3)),
    }
    with pytest.raises(error, match=message):
        fit_logistic(**(usual | change))


def test_other_features_are_refused():
    X, codes, _ = make_data()
    models = fit_logistic(X, codes, [1.0], np.ones((1, len(codes))))
    with pytest.raises(DataError, match="X has 3 features but the models were fitted on 90"):
        models.scores(csr_array((2, 3)))


@pytest.mark.parametrize("width", [16, 32, 48])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_product_agrees_with_scipy(width, dtype):
    X, _, rng = make_data()
    right = rng.normal(size=(X.shape[1], width)).astype(dtype)
    out = np.empty((X.shape[0], width), dtype)
    matrix = sparse.Sparse(
        X.indptr.astype(np.uint32), X.indices.astype(np.uint32), X.data.astype(dtype)
    )
    sparse.product(matrix, right, out)
    np.testing.assert_allclose(out, X @ right, atol=20 * np.finfo(dtype).eps)


def test_odds_and_loss_are_accurate_to_rounding():
    scores = np.concatenate([np.linspace(-800, 800, 1001), np.linspace(-1, 1, 1001), [0.0]])
    odds = np.empty_like(scores)
    arithmetic.small_exponentials(scores, 0.25, odds)
    exact = np.exp(-np.abs(scores + 0.25))
    far = exact < np.exp(-700)
    np.testing.assert_allclose(odds[~far], exact[~far], rtol=5e-16)
    assert (odds[far] < 1e-300).all()
    positive = (np.arange(scores.size) % 2).astype(float)
    weight = np.zeros_like(scores)
    for i in range(0, scores.size, 97):
        weight[:] = 0
        weight[i] = 1.5
        wrong = (scores[i] + 0.25) * (1 - 2 * positive[i])
        found = binomial.loss_of(scores, 0.25, odds, positive, weight)
        assert found == pytest.approx(1.5 * np.logaddexp(0, wrong), rel=1e-14, abs=1e-300)


def test_no_problems_give_no_models():
    X, codes, _ = make_data()
    models = fit_logistic(X, codes, [], np.empty((0, len(codes))))
    assert models.coef.shape == (90, 0)
    assert models.posteriors(X).shape == (0, len(codes), 2)
    codes[0] = 2
    models = fit_logistic(X, codes, [], np.empty((0, len(codes))), n_classes=3)
    assert models.coef.shape == (90, 0, 3)
    assert models.posteriors(X).shape == (0, len(codes), 3)


def test_equal_problems_are_solved_once(monkeypatch):
    X, codes, _ = make_data(prevalence=0.5)
    everyone = np.ones(len(codes), dtype=bool)
    C = np.array([1.0, 1.0, 10.0, 1.0, 10.0])
    weights = np.array([everyone, balanced_weights(codes, everyone), *[everyone] * 3], dtype=float)
    weights[3, 0] = 2
    queues = []

    def spy(*arguments):
        queues.append(arguments[4])
        return newton.solve(*arguments)

    monkeypatch.setattr("quantshift.classify.logistic.models.solve", spy)
    together = fit_logistic(X, codes, C, weights)
    assert len(queues[0]) == 3
    for j in range(len(C)):
        assert_same_bits(fit_logistic(X, codes, C[[j]], weights[[j]]), together, [j])


# --- more than two classes ---------------------------------------------------------------------


def make_classes(n_classes, n_items=150, n_features=90):
    X, _, rng = make_data(n_items, n_features, n_classes=n_classes)
    truth = X @ rng.normal(size=(n_features, n_classes)) + rng.normal(size=(n_items, n_classes)) / 2
    codes = (truth + np.linspace(0, 1, n_classes)).argmax(axis=1)
    codes[: 3 * n_classes] = np.tile(np.arange(n_classes), 3)
    folds = rng.permutation(n_items) % 3
    folds[: 3 * n_classes] = np.repeat(np.arange(3), n_classes)
    C, weights = [], []
    for c in (0.01, 1.0, 10.0, 1000.0):
        for fold in (-1, 0, 1, 2):
            member = folds != fold
            C += [c, c]
            weights += [member.astype(float), balanced_weights(codes, member, n_classes)]
    return X, codes, np.array(C), np.array(weights)


def relative_gaps_of_classes(X, codes, C, weights, models):
    """Objective minus dual objective, compared with the penalty and 1e-4 of the loss."""
    dense, indicators, gaps = X.toarray(), np.eye(models.n_classes)[codes], []
    for j, c in enumerate(C):
        w, cost = models.coef[:, j], c * weights[j][:, np.newaxis]
        logits = dense @ w + models.intercept[j]
        p = softmax(logits, axis=1)
        hessian = np.diag((cost * p).sum(axis=0)) - p.T @ (cost * p)
        # The same system as without the constant, whose direction the right-hand side has not.
        t = np.linalg.solve(hessian + 1, (cost * (p - indicators)).sum(axis=0))
        q = p * (1 - (t - (p @ t)[:, np.newaxis]))
        assert q.min() >= 0
        feasible = cost * (q - indicators)
        penalty = 0.5 * np.sum(w**2)
        loss = np.sum(cost[:, 0] * (logsumexp(logits, axis=1) - logits[np.arange(len(p)), codes]))
        dual = -np.sum(cost * xlogy(q, q)) - 0.5 * np.sum((dense.T @ feasible) ** 2)
        gap = penalty + loss - dual
        gaps.append(gap / (penalty + 1e-4 * loss - gap))
    return np.array(gaps)


@pytest.mark.parametrize("tol", [1e-3, LOOSE, 1e-8, 1e-11, TIGHT])
@pytest.mark.parametrize("n_classes", [3, 4, 12])
def test_gap_of_many_classes_is_within_tolerance(tol, n_classes):
    X, codes, C, weights = make_classes(n_classes)
    models = fit_logistic(X, codes, C, weights, n_classes=n_classes, tol=tol)
    assert models.n_classes == n_classes
    assert models.converged.all()
    assert models.gap.max() <= tol
    gaps = relative_gaps_of_classes(X, codes, C, weights, models)
    assert (gaps <= models.gap * (1 + 1e-6) + 1e-10).all()
    assert (models.gap <= 2.01 * gaps + 1e-10).all()


@pytest.mark.parametrize("tol", [LOOSE, TIGHT])
@pytest.mark.parametrize("n_classes", [3, 12])
def test_a_problem_of_many_classes_does_not_depend_on_its_batch(tol, n_classes, monkeypatch):
    X, codes, C, weights = make_classes(n_classes)
    assert len(C) * (n_classes - 1) > newton.LANES
    together = fit_logistic(X, codes, C, weights, n_classes=n_classes, tol=tol)
    for some in ([0], [7], [30], [3, 8, 9, 21, 30]):
        few = fit_logistic(X, codes, C[some], weights[some], n_classes=n_classes, tol=tol)
        assert_same_bits(few, together, some)
    monkeypatch.setattr("quantshift.classify.logistic.models.LANES", 7)
    narrow = fit_logistic(X, codes, C, weights, n_classes=n_classes, tol=tol)
    assert_same_bits(narrow, together, np.arange(len(C)))


def test_without_features_the_posteriors_are_the_shares_of_the_weights():
    weights = np.array([[1.0, 2.0, 3.0, 4.0], [1.0, 0.0, 9.0, 90.0]])
    codes = np.array([0, 0, 1, 2])
    models = fit_logistic(csr_array((4, 3)), codes, [1.0, 9.0], weights, n_classes=3, tol=1e-10)
    expected = [[0.3, 0.3, 0.4], [0.01, 0.09, 0.9]]
    np.testing.assert_allclose(models.posteriors(csr_array((1, 3)))[:, 0], expected)
    np.testing.assert_array_equal(models.coef, np.zeros((3, 2, 3)))
    assert models.converged.all()


def test_symmetric_classes_have_their_closed_form():
    # An indicator per class: w_kk = a, w_kl = -a / (K - 1), and z, the lead of the item's own
    # class, is a K / (K - 1) with a = C (K - 1) / (K - 1 + e^z) by the gradient in w_kk.
    n_classes, C = 5, 3.0
    models = fit_logistic(
        np.eye(n_classes),
        np.arange(n_classes),
        [C],
        np.ones((1, n_classes)),
        n_classes=n_classes,
        tol=1e-14,
    )
    a = models.coef[0, 0, 0]
    expected = a * (n_classes * np.eye(n_classes) - 1) / (n_classes - 1)
    np.testing.assert_allclose(models.coef[:, 0], expected, atol=1e-7)
    lead = a * n_classes / (n_classes - 1)
    assert a == pytest.approx(C * (n_classes - 1) / (n_classes - 1 + np.exp(lead)), rel=1e-6)


def test_classes_in_another_order_are_the_same_classes():
    X, codes, C, weights = make_classes(4)
    order = np.array([2, 0, 3, 1])
    plain = fit_logistic(X, codes, C, weights, n_classes=4, tol=TIGHT)
    moved = fit_logistic(X, order[codes], C, weights, n_classes=4, tol=TIGHT)
    np.testing.assert_allclose(moved.coef[:, :, order], plain.coef, atol=1e-6)
    np.testing.assert_allclose(
        moved.training_posteriors[..., order], plain.training_posteriors, atol=1e-7
    )


def test_scores_of_many_classes_and_of_new_items():
    X, codes, C, weights = make_classes(4)
    new, _, _ = make_data(n_items=50, case="new")
    models = fit_logistic(X, codes, C, weights, n_classes=4)
    np.testing.assert_array_equal(models.scores(X), models.training_scores)
    expected = np.einsum("if,fjk->jik", new.toarray(), models.coef) + models.intercept[:, None]
    np.testing.assert_allclose(models.scores(new), expected, atol=1e-12)
    np.testing.assert_allclose(models.posteriors(new), softmax(expected, axis=-1), atol=1e-12)
    np.testing.assert_allclose(models.coef.sum(axis=-1), 0, atol=1e-12)


def test_too_few_iterations_of_many_classes_are_admitted():
    X, codes, _, _ = make_classes(4)
    ones = np.ones((2, len(codes)))
    models = fit_logistic(X, codes, [0.01, 1000.0], ones, n_classes=4, max_iter=6)
    assert models.converged.tolist() == [True, False]
    assert models.iterations[1] == 6


def test_many_classes_far_from_zero_and_widely_separated():
    rng = generator(0, case="far classes")
    codes = np.arange(90) % 3
    X = rng.normal(loc=1000, size=(90, 4)) + 2 * np.eye(3, 4)[codes]
    models = fit_logistic(X, codes, [0.01, 1.0, 100.0], np.ones((3, 90)), n_classes=3)
    assert models.converged.all()
    line = np.linspace(-1e4, 1e4, 9)[:, np.newaxis]
    apart = fit_logistic(line, np.repeat([0, 1, 2], 3), [1e6], np.ones((1, 9)), n_classes=3)
    assert apart.converged.all()
    assert (apart.training_posteriors[0].argmax(axis=1) == np.repeat([0, 1, 2], 3)).all()


def test_a_missing_class_of_many_is_refused():
    X, codes, C, weights = make_classes(4)
    weights[5, codes == 3] = 0
    with pytest.raises(DataError, match="problem 5 has no item of class 3 with a positive weight"):
        fit_logistic(X, codes, C, weights, n_classes=4)
    with pytest.raises(DataError, match="whole numbers, from 0 to 2"):
        fit_logistic(X, codes, C, weights, n_classes=3)
    with pytest.raises(UserError, match="n_classes must be at least 2, got 1"):
        fit_logistic(X, codes, C, weights, n_classes=1)


def test_contrasts_are_an_orthonormal_basis():
    basis = np.empty((6, 5))
    multinomial.expand(np.eye(5), basis)
    np.testing.assert_allclose(basis.T @ basis, np.eye(5), atol=1e-14)
    np.testing.assert_allclose(basis.sum(axis=0), 0, atol=1e-14)
    values = generator(0, case="contrasts").normal(size=(6, 9))
    contrasts = np.empty((5, 9))
    multinomial.contract(values, contrasts)
    np.testing.assert_allclose(contrasts, basis.T @ values, atol=1e-14)


def test_links_of_any_size_are_solved_accurately():
    # A chain of classes whose links are 1, 1e-150, 1e-300: the flow along it is the solution.
    chain = [1.0, 1e-150, 1e-300]
    links = np.diag(chain, 1) + np.diag(chain, -1)
    solution = multinomial._solve(links, np.array([-1.0, 0.0, 0.0, 1.0]))
    np.testing.assert_allclose(np.diff(solution), 1 / np.array(chain), rtol=1e-14)
