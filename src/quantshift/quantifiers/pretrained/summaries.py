"""What the network sees of a task: labelled training items, unlabelled items of a sample.

The same code runs on NumPy arrays when the quantifier is used and on PyTorch tensors when it is
trained, so that the network sees the same numbers in both: functions take `xp`, the namespace of
the arrays (`numpy`, or `array_api_compat.torch`). All arrays have a leading axis of tasks.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

LARGEST_LOGIT = 9.0
SMALLEST_SHARE = 1e-3
STEPS = 24
"""Halvings of an interval of shares or of intercepts."""

NEWTON_STEPS = 6
RIDGE = 5.0
"""Penalty of the regression that tells training items from those of the sample."""

SIZES, SAMPLE_SIZES = (200.0, 2000.0), (50.0, 1000.0)
"""Sizes of training sets and samples that the network has seen; others count as the nearest."""

ANCHORS = ("pcc", "sld", "pacc", "prior", "robust", "labelled")
"""Estimates at which components of the density are placed."""


@dataclass(frozen=True)
class TaskBatch:
    """Training items and items of a sample, for two classes; B tasks at once.

    X: standardised columns of the training items, (B, n, n_columns); sample: those of the sample's
        items, (B, m, n_columns). shown: 1 for columns that exist, 0 for padding, (B, n_columns).
    y: 1 for items of the class, (B, n). logits: of the class by models that have not seen the item,
        (B, n); sample_logits: (B, m).
    weights, sample_weights: shares of the items in their set; they sum to 1. size, sample_size: how
        many items they stand for, (B,).
    labelled: 1 for items of the sample whose label is known, (B, m); labels: 1 where it is known
        to be the class.
    """

    X: Any
    y: Any
    logits: Any
    sample: Any
    sample_logits: Any
    shown: Any
    weights: Any
    sample_weights: Any
    size: Any
    sample_size: Any
    labelled: Any
    labels: Any


def mirrored(task: TaskBatch) -> TaskBatch:
    """The same task, asking for the share of the rest."""
    return replace(
        task,
        y=1 - task.y,
        logits=-task.logits,
        sample_logits=-task.sample_logits,
        labels=(1 - task.labels) * task.labelled,
    )


@dataclass(frozen=True)
class Summaries:
    """What the network sees.

    overall: numbers about the task, (B, n_overall). columns: about each column, (B, n_columns,
    n_column). shown: as in the task. anchors: angles of the estimates in ANCHORS, (B, n_anchors).
    tilt, counts: the log-likelihoods of the labels in the sample over `shares`, (B, n_shares), if
    posteriors are right up to an intercept, and if nothing is known about them.
    """

    overall: Any
    columns: Any
    shown: Any
    anchors: Any
    tilt: Any
    counts: Any


def angle(share: Any, xp: Any) -> Any:
    """The angle of a share, in which its standard error hardly depends on it."""
    return xp.asin(xp.sqrt(xp.clip(share, 1e-5, 1 - 1e-5)))


def bounded_logit(share: Any, xp: Any) -> Any:
    """The logit of a share, bounded."""
    share = xp.clip(share, SMALLEST_SHARE, 1 - SMALLEST_SHARE)
    return xp.log(share) - xp.log1p(-share)


def sigmoid(logits: Any, xp: Any) -> Any:
    """The inverse of the logit."""
    return 1 / (1 + xp.exp(-xp.clip(logits, -30.0, 30.0)))


def weighted_mean(values: Any, weights: Any, xp: Any) -> Any:
    """Weighted means over items: values (B, n) or (B, n, k), weights (B, n)."""
    if values.ndim == 3:
        return xp.squeeze(weights[:, None, :] @ values, axis=1)
    return xp.sum(values * weights, axis=1)


def weighted_spread(values: Any, weights: Any, xp: Any) -> Any:
    """Weighted standard deviations over items."""
    centre = weighted_mean(values, weights, xp)
    return xp.sqrt(xp.clip(weighted_mean(values**2, weights, xp) - centre**2, 1e-8, None))


def logistic_regression(
    X: Any, y: Any, weights: Any, ridge: float, xp: Any, *, steps: int = NEWTON_STEPS
) -> Any:
    """Coefficients of a ridge regression by Newton's method, (B, k); the first is the intercept.

    weights: how many items each counts as; the intercept is hardly penalised.
    """
    k = X.shape[2]
    penalty = xp.full((k,), ridge, dtype=X.dtype, device=X.device)
    penalty = xp.where(xp.arange(k, device=X.device) == 0, 1e-3 * ridge, penalty)
    identity = xp.eye(k, dtype=X.dtype, device=X.device)
    coefficients = xp.zeros((X.shape[0], k), dtype=X.dtype, device=X.device)
    transposed = xp.matrix_transpose(X)
    for _ in range(steps):
        q = sigmoid(xp.squeeze(X @ coefficients[:, :, None], axis=2), xp)
        gradient = xp.squeeze(transposed @ (weights * (y - q))[:, :, None], axis=2)
        gradient = gradient - penalty * coefficients
        curvature = transposed @ (X * xp.clip(weights * q * (1 - q), 1e-9, None)[:, :, None])
        step = xp.linalg.solve(curvature + identity * penalty, gradient[:, :, None])
        step = xp.squeeze(step, axis=2)
        length = xp.sqrt(xp.sum(step**2, axis=1, keepdims=True))
        coefficients = coefficients + step * xp.clip(4 / (length + 1e-9), None, 1.0)
    return coefficients


def area_under_curve(scores: Any, y: Any, weights: Any, xp: Any) -> Any:
    """The weighted area under the ROC curve, (B,); equal scores count as half of a pair."""
    flipped = [xp.flip(values, axis=1) for values in (scores, y, weights)]
    backwards = _area_in_order(flipped[0], flipped[1], flipped[2], xp)
    return (_area_in_order(scores, y, weights, xp) + backwards) / 2


def _area_in_order(scores: Any, y: Any, weights: Any, xp: Any) -> Any:
    order = xp.argsort(scores, axis=1, stable=True)
    y, weights = (xp.take_along_axis(values, order, axis=1) for values in (y, weights))
    below = xp.cumulative_sum(weights * (1 - y), axis=1)
    above = weights * y
    total = xp.sum(above, axis=1) * below[:, -1]
    return xp.sum(above * below, axis=1) / xp.clip(total, 1e-9, None)


def largest_gap(first: Any, second: Any, weights: Any, other_weights: Any, xp: Any) -> Any:
    """Kolmogorov's distance of two weighted sets of scores, (B,)."""
    values = xp.concat([first, second], axis=1)
    steps = xp.concat([weights, -other_weights], axis=1)
    order = xp.argsort(values, axis=1, stable=True)
    values = xp.take_along_axis(values, order, axis=1)
    gaps = xp.cumulative_sum(xp.take_along_axis(steps, order, axis=1), axis=1)
    last = xp.astype(values[:, 1:] != values[:, :-1], values.dtype)  # of equal scores
    return xp.max(xp.abs(gaps[:, :-1] * last), axis=1)


def most_likely_share(logits: Any, prior: Any, weights: Any, xp: Any) -> tuple[Any, Any, Any]:
    """The most likely share under prior shift, by bisection.

    Also the information about it per item, and the gain in log-likelihood over the training share.
    """
    q = sigmoid(logits, xp)
    ratio = q / prior[:, None] - (1 - q) / (1 - prior[:, None])
    base = (1 - q) / (1 - prior[:, None])
    low = xp.full(prior.shape, SMALLEST_SHARE, dtype=prior.dtype, device=prior.device)
    high = 1 - low
    for _ in range(STEPS):
        middle = (low + high) / 2
        slope = weighted_mean(ratio / (middle[:, None] * ratio + base), weights, xp)
        low, high = xp.where(slope > 0, middle, low), xp.where(slope > 0, high, middle)
    share = (low + high) / 2
    density = xp.clip(share[:, None] * ratio + base, 1e-8, None)
    information = weighted_mean((ratio / density) ** 2, weights, xp)
    return share, information, weighted_mean(xp.log(density), weights, xp)


def intercepts_of(shares: Any, logits: Any, weights: Any, xp: Any) -> Any:
    """Intercepts that make the mean posterior of a sample equal to each of the shares, (B, G)."""
    low = xp.full(
        (logits.shape[0], shares.shape[0]), -16.0, dtype=logits.dtype, device=logits.device
    )
    high = -low
    for _ in range(STEPS):
        middle = (low + high) / 2
        q = sigmoid(logits[:, :, None] + middle[:, None, :], xp)
        below = xp.sum(q * weights[:, :, None], axis=1) < shares
        low, high = xp.where(below, middle, low), xp.where(below, high, middle)
    return (low + high) / 2


def _label_curves(task: TaskBatch, shares: Any, xp: Any) -> tuple[Any, Any]:
    """Log-likelihoods of the labels known in the sample, over shares, (B, G) each.

    Multiplied by m / (m - k), because the k labels are drawn without replacement from the m items
    whose share is estimated.
    """
    n_known = xp.sum(task.labelled, axis=1)
    size = task.labelled.shape[1]
    finite = (size / xp.clip(size - n_known, 0.5, None))[:, None]
    ones = xp.sum(task.labelled * task.labels, axis=1)[:, None]
    counts = ones * xp.log(shares) + (n_known[:, None] - ones) * xp.log1p(-shares)
    if not xp.any(task.labelled > 0):
        return xp.zeros_like(counts), xp.zeros_like(counts)  # most of the time would go into this
    intercepts = intercepts_of(shares, task.sample_logits, task.sample_weights, xp)
    tilted = task.sample_logits[:, :, None] + intercepts[:, None, :]
    q = xp.clip(sigmoid(tilted, xp), 1e-4, 1 - 1e-4)
    of_items = xp.where(task.labels[:, :, None] > 0, xp.log(q), xp.log1p(-q))
    tilt = xp.sum(of_items * task.labelled[:, :, None], axis=1)
    return tilt * finite, counts * finite


@dataclass(frozen=True)
class _Estimates:
    """Classic estimates, and what they are made of."""

    prior: Any
    pcc: Any
    sld: Any
    pacc: Any
    acc: Any
    information: Any
    gain: Any
    tilt: Any
    """Weights of the training items that make their share that of SLD; they sum to 1."""


def _estimates(task: TaskBatch, xp: Any) -> _Estimates:
    weights = task.weights
    prior = xp.clip(weighted_mean(task.y, weights, xp), 0.005, 0.995)
    q, q_sample = sigmoid(task.logits, xp), sigmoid(task.sample_logits, xp)
    pcc = weighted_mean(q_sample, task.sample_weights, xp)
    sld, information, gain = most_likely_share(task.sample_logits, prior, task.sample_weights, xp)
    other = (1 - task.y) * weights
    members = task.y * weights
    in_class = xp.sum(q * members, axis=1) / prior
    in_rest = xp.sum(q * other, axis=1) / (1 - prior)
    pacc = xp.clip((pcc - in_rest) / xp.clip(in_class - in_rest, 0.02, None), 0.0, 1.0)
    hard = xp.astype(q > prior[:, None], q.dtype)
    hit = xp.sum(hard * members, axis=1) / prior
    false = xp.sum(hard * other, axis=1) / (1 - prior)
    counted = weighted_mean(xp.astype(q_sample > prior[:, None], q.dtype), task.sample_weights, xp)
    acc = xp.clip((counted - false) / xp.clip(hit - false, 0.05, None), 0.0, 1.0)
    tilt = members * (sld / prior)[:, None] + other * ((1 - sld) / (1 - prior))[:, None]
    tilt = tilt / xp.sum(tilt, axis=1, keepdims=True)
    return _Estimates(prior, pcc, sld, pacc, acc, information, gain, tilt)


@dataclass(frozen=True)
class _Domain:
    """How well a regression on all columns tells training items from those of the sample."""

    area: Any
    evidence: Any
    deviation: Any
    coefficients: Any


def _domain(task: TaskBatch, weights: Any, xp: Any) -> _Domain:
    ones = [xp.ones_like(values[:, :, :1]) for values in (task.X, task.sample)]
    X = xp.concat(
        [xp.concat([ones[0], task.X], axis=2), xp.concat([ones[1], task.sample], axis=2)], axis=1
    )
    y = xp.concat([xp.zeros_like(task.logits), xp.ones_like(task.sample_logits)], axis=1)
    # Weights that differ from those of the items make a sample effectively smaller.
    effective = [task.size / xp.sum(weights**2 / task.weights, axis=1), task.sample_size]
    size = (effective[0] + effective[1])[:, None] / 2
    total = xp.concat([weights, task.sample_weights], axis=1) * size
    # A function of the score, so that neither order nor repeated items make a difference.
    fold = xp.floor(xp.concat([task.logits, task.sample_logits], axis=1) * 4096) % 2
    scores = []
    for held_out in (0, 1):
        learnt = total * xp.astype(fold != held_out, X.dtype)
        scores.append(
            xp.squeeze(X @ logistic_regression(X, y, learnt, RIDGE, xp)[:, :, None], axis=2)
        )
    score = xp.where(fold == 0, scores[0], scores[1])
    area = area_under_curve(score, y, total, xp)
    error = xp.sqrt((1 / effective[0] + 1 / effective[1]) / 12)
    coefficients = logistic_regression(X, y, total, RIDGE, xp)
    return _Domain(
        area,
        xp.asinh((area - 0.5) / error),
        weighted_spread(score, total / xp.sum(total, axis=1, keepdims=True), xp),
        coefficients,
    )


@dataclass(frozen=True)
class _Moments:
    """Means and variances of every column, (B, n_columns).

    in_class, in_rest: among training items of the class and the others. centre: of the sample.
    expected: of the sample if only the share of the class has changed, to that of SLD.
    """

    in_class: Any
    in_rest: Any
    centre: Any
    expected: Any
    var_class: Any
    var_rest: Any
    var_sample: Any
    var_expected: Any

    @property
    def difference(self) -> Any:
        """Between the means of the class and of the rest."""
        return self.in_class - self.in_rest


def _moments(task: TaskBatch, e: _Estimates, xp: Any) -> _Moments:
    members, other = task.y * task.weights, (1 - task.y) * task.weights
    prior, sld = e.prior[:, None], e.sld[:, None]
    in_class = weighted_mean(task.X, members, xp) / prior
    in_rest = weighted_mean(task.X, other, xp) / (1 - prior)
    squares = task.X**2
    var_class = xp.clip(weighted_mean(squares, members, xp) / prior - in_class**2, 1e-3, None)
    var_rest = xp.clip(weighted_mean(squares, other, xp) / (1 - prior) - in_rest**2, 1e-3, None)
    centre = weighted_mean(task.sample, task.sample_weights, xp)
    var_sample = xp.clip(
        weighted_mean(task.sample**2, task.sample_weights, xp) - centre**2, 1e-3, None
    )
    expected = sld * in_class + (1 - sld) * in_rest
    var_expected = xp.clip(
        sld * (var_class + in_class**2) + (1 - sld) * (var_rest + in_rest**2) - expected**2,
        1e-3,
        None,
    )
    return _Moments(
        in_class, in_rest, centre, expected, var_class, var_rest, var_sample, var_expected
    )


def _unexplained(task: TaskBatch, e: _Estimates, columns: _Moments, xp: Any) -> Any:
    """How far the mean of every column is from the expected one, in standard errors, shrunk."""
    prior, sld = e.prior[:, None], e.sld[:, None]
    size, sample_size = task.size[:, None], task.sample_size[:, None]
    error = xp.sqrt(
        columns.var_expected / sample_size
        + sld**2 * columns.var_class / (prior * size)
        + (1 - sld) ** 2 * columns.var_rest / ((1 - prior) * size)
    )
    return xp.asinh((columns.centre - columns.expected) / error)


def _with_scores(task: TaskBatch, columns: _Moments, xp: Any) -> tuple[Any, Any, Any]:
    """How every column goes with the score.

    Its covariance with the standardised score among training items, the same in the sample, and how
    far its mean moves with the mean of the score.
    """
    mean = weighted_mean(task.logits, task.weights, xp)
    mean_sample = weighted_mean(task.sample_logits, task.sample_weights, xp)
    score, score_sample = task.logits - mean[:, None], task.sample_logits - mean_sample[:, None]
    deviation = xp.clip(weighted_spread(task.logits, task.weights, xp), 0.05, None)[:, None]
    deviation_sample = xp.clip(
        weighted_spread(task.sample_logits, task.sample_weights, xp), 0.05, None
    )[:, None]
    with_score = weighted_mean(task.X * score[:, :, None], task.weights, xp) / deviation
    with_score_sample = weighted_mean(
        (task.sample - columns.centre[:, None, :]) * score_sample[:, :, None],
        task.sample_weights,
        xp,
    ) / (deviation_sample * xp.sqrt(columns.var_sample))
    return with_score, with_score_sample, with_score / deviation * (mean_sample - mean)[:, None]


def _columns(
    task: TaskBatch, e: _Estimates, domains: Sequence[_Domain], xp: Any
) -> tuple[Any, Any]:
    """Statistics of every column, (B, n_columns, n), and numbers over all columns, (B, n)."""
    columns = _moments(task, e, xp)
    prior, centre, difference = e.prior[:, None], columns.centre, columns.difference
    relevance = difference * xp.sqrt(prior * (1 - prior))
    z = _unexplained(task, e, columns, xp)
    with_score, with_score_sample, of_score = _with_scores(task, columns, xp)
    statistics = [
        xp.ones_like(centre),
        difference,
        relevance,
        centre,
        xp.log(columns.var_sample),
        centre - columns.expected,
        z,
        xp.clip((centre - columns.in_rest) * difference / (difference**2 + 0.01), -1.0, 2.0),
        centre - of_score,
        with_score,
        with_score_sample,
        xp.log(columns.var_class / columns.var_rest),
        xp.log(columns.var_sample / columns.var_expected),
        xp.clip(weighted_mean(task.X**3, task.weights, xp), -8.0, 8.0),
        xp.log1p(xp.clip(weighted_mean(task.X**4, task.weights, xp), 0.0, 60.0)) - 1.4,
        weighted_mean(xp.astype(xp.abs(task.sample) > 3, centre.dtype), task.sample_weights, xp),
        xp.astype(columns.var_sample < 2e-3, centre.dtype),
        domains[0].coefficients[:, 1:],
        domains[1].coefficients[:, 1:],
    ]
    per_column = xp.stack(statistics, axis=2) * task.shown[:, :, None]
    return per_column, _over_columns(columns, relevance, z, task.shown, xp)


def _over_columns(columns: _Moments, relevance: Any, z: Any, shown: Any, xp: Any) -> Any:
    """Numbers over all columns, (B, n)."""
    centre, in_rest, difference = columns.centre, columns.in_rest, columns.difference
    number = xp.sum(shown, axis=1)
    strength = xp.abs(relevance) * shown
    total = xp.clip(xp.sum(strength, axis=1), 1e-3, None)
    fitted = xp.sum((centre - in_rest) * difference * shown, axis=1)
    fitted = xp.clip(fitted / xp.clip(xp.sum(difference**2 * shown, axis=1), 1e-3, None), -1.0, 2.0)
    left = xp.sum((centre - in_rest - fitted[:, None] * difference) ** 2 * shown, axis=1)
    moved = xp.sum(centre**2 * shown, axis=1)
    overall = [
        xp.log(number),
        fitted,
        xp.clip(1 - left / (moved + 1e-3), -3.0, 1.0),
        xp.sum(xp.abs(centre) * shown, axis=1) / number,
        xp.sum(xp.abs(z) * shown, axis=1) / number,
        xp.sum(xp.abs(z) * strength, axis=1) / total,
        xp.sum(xp.abs(centre) * strength, axis=1) / total,
        xp.max(strength, axis=1),
    ]
    return xp.stack(overall, axis=1)


def _of_labels(task: TaskBatch, e: _Estimates, xp: Any) -> tuple[Any, Any]:
    """Numbers about labels known in the sample, all 0 without any, and PCC corrected by them."""
    n_known = xp.sum(task.labelled, axis=1)
    some = xp.clip(n_known, 1.0, None)
    q = sigmoid(task.sample_logits, xp)
    shift = (bounded_logit(e.sld, xp) - bounded_logit(e.prior, xp))[:, None]
    tilted = sigmoid(task.sample_logits + shift, xp)
    values = []
    for posterior in (q, tilted):
        residual = (task.labels - posterior) * task.labelled
        centre = xp.sum(residual, axis=1) / some
        error = xp.sqrt(xp.sum(posterior * (1 - posterior) * task.labelled, axis=1) + 1e-3) / some
        values += [centre, xp.asinh(centre / error)]
    has = xp.astype(n_known > 0, n_known.dtype)
    share = xp.sum(task.labels * task.labelled, axis=1) / some
    corrected = xp.clip(e.pcc + values[0], 0.0, 1.0)
    numbers = [has, xp.log1p(n_known) / 2, n_known / task.labelled.shape[1], share, *values]
    return xp.stack([number * has for number in numbers], axis=1), corrected


def task_summaries(task: TaskBatch, shares: Any, xp: Any) -> Summaries:
    """What the network sees of tasks; `shares` are those of its density, (G,)."""
    e = _estimates(task, xp)
    domains = [_domain(task, weights, xp) for weights in (task.weights, e.tilt)]
    similar = _similar_to_sample(task, domains[0], xp)
    residual = weighted_mean(task.y - sigmoid(task.logits, xp), similar, xp)
    labels, corrected = _of_labels(task, e, xp)
    columns, over_columns = _columns(task, e, domains, xp)
    numbers = [
        *_of_scores(task, e, xp),
        *(number for d in domains for number in (d.area, d.evidence, d.deviation)),
        residual,
        weighted_mean(task.y, similar, xp),
        xp.log(xp.clip(task.size, *SIZES)) - 6,
        xp.log(xp.clip(task.sample_size, *SAMPLE_SIZES)) - 5.5,
    ]
    overall = xp.concat([xp.stack(numbers, axis=1), over_columns, labels], axis=1)
    robust = xp.clip(e.pcc + residual, 0.0, 1.0)
    anchors = [e.pcc, e.sld, e.pacc, e.prior, robust, corrected]
    tilt, counts = _label_curves(task, shares, xp)
    return Summaries(
        overall=xp.clip(overall, -12.0, 12.0),
        columns=xp.clip(columns, -10.0, 10.0),
        shown=task.shown,
        anchors=xp.stack([angle(anchor, xp) for anchor in anchors], axis=1),
        tilt=tilt,
        counts=counts,
    )


def _similar_to_sample(task: TaskBatch, domain: _Domain, xp: Any) -> Any:
    """Weights of the training items by how much they look like the sample's, adding up to 1."""
    ones = xp.ones_like(task.X[:, :, :1])
    towards = xp.squeeze(
        xp.concat([ones, task.X], axis=2) @ domain.coefficients[:, :, None], axis=2
    )
    similar = xp.exp(xp.clip(towards, -3.0, 3.0)) * task.weights
    return similar / xp.sum(similar, axis=1, keepdims=True)


def _of_scores(task: TaskBatch, e: _Estimates, xp: Any) -> list[Any]:
    """Estimates of the share, and how the scores of the sample differ from those of training."""
    q, q_sample = sigmoid(task.logits, xp), sigmoid(task.sample_logits, xp)
    raw = largest_gap(task.logits, task.sample_logits, task.weights, task.sample_weights, xp)
    tilted = largest_gap(task.logits, task.sample_logits, e.tilt, task.sample_weights, xp)
    tilt_size = task.size / xp.sum(e.tilt**2 / task.weights, axis=1)
    chance = 0.75 * xp.sqrt(1 / tilt_size + 1 / task.sample_size)
    loss = -weighted_mean(
        task.y * xp.log(xp.clip(q, 1e-6, None)) + (1 - task.y) * xp.log(xp.clip(1 - q, 1e-6, None)),
        task.weights,
        xp,
    )
    entropy = -(e.prior * xp.log(e.prior) + (1 - e.prior) * xp.log(1 - e.prior))
    deviations = [
        weighted_spread(task.logits, task.weights, xp),
        weighted_spread(task.sample_logits, task.sample_weights, xp),
    ]
    highest = xp.max(task.logits, axis=1, keepdims=True)
    lowest = xp.min(task.logits, axis=1, keepdims=True)
    estimates = [e.prior, e.pcc, e.sld, e.pacc, e.acc]
    return [
        *estimates,
        *(bounded_logit(estimate, xp) for estimate in estimates),
        area_under_curve(task.logits, task.y, task.weights, xp),
        loss / entropy,
        xp.log(xp.clip(e.information, 1e-6, None)),
        5 * e.gain,
        xp.asinh(e.gain * task.sample_size),
        raw,
        tilted,
        xp.log(xp.clip(tilted, 1e-3, None) / chance),
        *deviations,
        xp.log(xp.clip(deviations[1], 0.02, None) / xp.clip(deviations[0], 0.02, None)),
        weighted_mean(task.logits, task.weights, xp),
        weighted_mean(task.sample_logits, task.sample_weights, xp),
        weighted_mean(xp.astype(task.sample_logits > highest, q.dtype), task.sample_weights, xp),
        weighted_mean(xp.astype(task.sample_logits < lowest, q.dtype), task.sample_weights, xp),
        weighted_mean(q_sample * (1 - q_sample), task.sample_weights, xp),
    ]
