"""Which items to label next, and how many: at random, or more where the judge is unsure.

In strata with rates r_h and shares W_h, labels do most where W_h * sqrt(r_h (1 - r_h)) is large
(Neyman): few in strata that are all of one class, many where the verdict leaves the class open. But
a large stratum that seems clean may hide some items of the class, and the interval allows for one
in the stratum whose labels stand for the most items. So no stratum has less than a certain share of
its items labelled, the share for which the interval to expect is the narrowest.

A rare class is found at one end of a score. The strata begin there with a few items and grow by a
constant factor; beyond a third of the items the rest is one stratum. Rates to plan with come from
the labels so far (by a curve through the strata, see `_smooth`), else from scores between 0 and 1
taken at their word, else from a guess that falls from stratum to stratum as these grow.

The list is in an order in which labelling may stop at any time: strata take turns.

A second plan keeps the strata of the first, because labels are random draws only within the strata
they were drawn in. Strata by score depend on the scores, and on labels only as far as these are
random ones. If it is known with what probability each label was drawn, strata are used in which
all labels have the same.

Reference: J. Neyman, "On the two different aspects of the representative method", 1934.
"""

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit

from quantshift.base.seeding import generator
from quantshift.base.types import Codes, Indices, Reals
from quantshift.errors import DataError, UserError, unknown_name
from quantshift.judging.estimating.designs import check
from quantshift.judging.estimating.items import JudgedItems
from quantshift.labelling.strata import stratified

PLANS = ("random", "by-verdict", "by-score")
GROWTH = 1.8
"""Of a stratum of scores over the one before."""
SMALLEST = 20
"""Items of a stratum."""
RARE = 0.1
"""Share of a class from which on strata of scores are alike in size."""
N_QUANTILES = 5
LARGEST_TAIL = 0.3
"""Share of the items from which on the rest is one stratum."""
GUESSED_ERROR = 0.1
"""Share of wrong verdicts to plan with while nothing is known."""
PRIOR_LABELS = 2.0
"""How many labels the guess counts for, in addition to the labels so far."""
SHARED_LABELS = 20.0
"""How many labels the error rate of all verdicts counts for in the rates of each.

If each verdict had the rate of its own labels, one with no error by chance would get hardly any
more labels and one with some errors many more: errors would be underestimated."""
FEWEST = 10
"""Labels of a plan."""
LEAST = 3.0
"""Labels of a stratum."""
SAME = 1e-6
"""Relative difference of probabilities that are the same but for rounding on a sheet."""
FLOORS = np.concatenate([[0.0], np.geomspace(0.003, 0.5, 16)])
"""Standard deviations that strata are taken to have at least; the best of them is used."""


@dataclass(frozen=True, eq=False)
class JudgePlan:
    """Items to label.

    items: positions in the order of labelling; labelling may stop at any point of the list.
    strata: of every item, (n_items,); names: of the strata, in words, as "verdict 1" with codes
        of verdicts, or "score 0.2 to 0.4"; all items are of one stratum in a random plan.
    inclusion: with what probability an item is labelled, (n_items,), now or earlier. To be kept
        with the labels, with `strata`, and given to `estimate`.
    per_stratum: new labels in each stratum.
    half_width: to expect of the interval, of the class with the widest.
    n_random: labels of random items for the same; as many as there are items if they are too few.
    """

    how: str
    items: Indices
    strata: Codes
    names: tuple[str, ...]
    inclusion: Reals
    per_stratum: NDArray[np.int64]
    half_width: float
    n_random: int
    level: float


def plan(
    verdicts: ArrayLike | None,
    n_classes: int,
    *,
    score: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    inclusion: ArrayLike | None = None,
    precision: float | None = None,
    n_labels: int | None = None,
    how: str | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> JudgePlan:
    """About how many items to label for limits `precision` to either side, or which `n_labels`.

    verdicts: codes, (n_items,); score: (n_items,), of two classes.
    labels: so far, (n_items,), -1 where not labelled; they show how good the verdicts are. They
        have to be random within the strata of the plan: random items, or those of an earlier plan
        by verdict for one by verdict, and by score for one by score.
    inclusion: with what probability each label so far was drawn, (n_items,), NaN where there is
        none; `JudgePlan.inclusion` of the earlier plan. Probabilities that differ within the strata
        of the plan are an error.
    precision: half the width of the interval; n_labels: new labels. One of them.
    how: one of `PLANS`; None: by score if there is one, else by verdict.
    """
    if verdicts is None and score is None:
        raise UserError("give the verdicts of a judge or a score", arguments=["verdict", "score"])
    n_items = len(np.asarray(score if verdicts is None else verdicts))
    y = np.full(n_items, -1) if labels is None else np.asarray(labels, dtype=np.int64)
    classes = None if verdicts is None else [np.arange(int(np.max(verdicts, initial=0)) + 1)]
    data = JudgedItems.of(
        verdicts,
        np.full(n_items, -1),
        max(n_classes, len(classes[0]) if classes else 2),
        score,
        None,
        classes,
    )
    if how is None:
        how = "by-verdict" if score is None else "by-score"
    if how not in PLANS:
        raise unknown_name("plan", how, PLANS)
    if (precision is None) == (n_labels is None):
        raise UserError(
            "a plan is for a precision (0.03: plus or minus 3 points) or for a number of labels: "
            "give one of them",
            arguments=["precision", "n_labels"],
        )
    if precision is not None and not 0 < precision < 1:
        raise UserError(
            f"a precision is between 0 and 1 (0.03: plus or minus 3 points), got {precision}"
        )
    if (score if how == "by-score" else verdicts) is None and how != "random":
        raise UserError(f"a plan {how} needs the {how[3:]} of every item", arguments=[how[3:]])
    if y.shape != (n_items,) or (n_items and y.max() >= n_classes):
        raise DataError(f"labels are codes from 0 to {n_classes - 1}, or -1, one for each item")
    drawn = None if inclusion is None else np.asarray(inclusion, dtype=np.float64)[y >= 0]
    if drawn is not None and not ((drawn > 0) & (drawn <= 1)).all():
        raise DataError(
            "every label so far needs the probability, above 0, with which it was drawn"
        )
    known = _strata(
        data,
        np.asarray(score, dtype=np.float64) if score is not None else None,
        y,
        drawn,
        n_classes,
        by_score=how == "by-score" or verdicts is None,
    )
    if drawn is not None and not _constant(
        drawn, known.codes[y >= 0] if how != "random" else np.zeros(len(drawn), dtype=np.int64)
    ):
        raise UserError(
            f"labels so far have different probabilities within the strata of a plan {how}: they "
            "were drawn by another plan; plan in the way of the first one",
            arguments=["how"],
        )
    had = np.bincount(known.codes[y >= 0], minlength=len(known.sizes))

    def of(n: int) -> Reals:
        """Labels of each stratum, n of them new."""
        total = min(n + int(had.sum()), n_items)
        if how == "random":
            return np.asarray(total * known.sizes / n_items)
        return known.allocated(total, had, level)

    if n_labels is None:
        assert precision is not None
        n_labels = bisect_left(
            range(n_items - int(had.sum())),
            -precision,
            lo=min(FEWEST, n_items - int(had.sum())),
            key=lambda n: -known.half_width(of(n), level),
        )
    n_labels = min(n_labels, n_items - int(had.sum()))
    half_width = known.half_width(of(n_labels), level)
    n_random = bisect_left(
        range(n_items),
        -half_width - 1e-12,
        lo=1,
        key=lambda n: (
            -min(
                known.half_width(n * known.sizes / n_items, level),
                known.together().half_width(np.array([float(n)]), level),
            )
        ),
    )
    rng = generator(seed, purpose="judge plan", n_items=n_items)
    if how == "random":
        codes, names = np.zeros(n_items, dtype=np.int64), known.together().names
        sizes, before = np.array([n_items]), np.array([int(had.sum())])
        new = np.array([n_labels])
    else:
        codes, names, sizes, before = known.codes, known.names, known.sizes, had
        new = _whole(of(n_labels) - had, n_labels, sizes - had)
    return JudgePlan(
        how=how,
        items=_in_turns(codes, y < 0, new, rng),
        strata=codes,
        names=names,
        inclusion=((new + before) / np.maximum(sizes, 1))[codes],
        per_stratum=new,
        half_width=half_width,
        n_random=n_random,
        level=level,
    )


@dataclass(frozen=True, eq=False)
class _Strata:
    """codes: of all items; rates: of the classes to expect, (n_strata, n_classes).

    cautious: the rates by which labels are divided among the strata, nearer to each other.
    """

    codes: Codes
    sizes: NDArray[np.int64]
    names: tuple[str, ...]
    rates: Reals
    cautious: Reals

    def allocated(self, total: float, had: NDArray[np.int64], level: float) -> Reals:
        """Labels of the strata, `had` of which exist already."""
        spread = np.sqrt((self.cautious * (1 - self.cautious)).max(axis=1))
        most = np.asarray(self.sizes, dtype=np.float64)
        least = np.asarray(np.minimum(np.maximum(had, LEAST), most), dtype=np.float64)
        found = [
            _between(self.sizes * np.maximum(spread, floor), total, least, most) for floor in FLOORS
        ]
        return min(found, key=lambda n: self.half_width(n, level))

    def half_width(self, n: Reals, level: float) -> float:
        """To expect with n labels in the strata, of the class with the widest interval."""
        shares = self.sizes / self.sizes.sum()
        found = stratified(shares, n[:, np.newaxis] * self.rates, self.sizes.sum(), level=level)
        return float((found.high - found.low).max() / 2)

    def together(self) -> "_Strata":
        """All in one stratum: plain counting."""
        rates = self.sizes @ self.rates / self.sizes.sum()
        one = np.zeros_like(self.codes), self.sizes.sum(keepdims=True), ("all items",)
        return _Strata(*one, rates[np.newaxis], rates[np.newaxis])


def _strata(
    data: JudgedItems,
    score: Reals | None,
    y: Codes,
    drawn: Reals | None,
    n_classes: int,
    *,
    by_score: bool,
) -> _Strata:
    """drawn: with what probability each label so far was, if that is known."""
    known = y >= 0
    if not by_score:
        assert data.verdicts is not None
        values, codes = np.unique(data.verdicts[:, 0], return_inverse=True)
        names = tuple(f"verdict {v}" for v in values)
        right = np.eye(n_classes)[np.minimum(values, n_classes - 1)]
        wrong = 1 - right[codes[known], y[known]].sum() / max(known.sum(), 1)
        part = known.sum() / (known.sum() + PRIOR_LABELS)
        error = part * wrong + (1 - part) * GUESSED_ERROR
        guess = (1 - error) * right + error / n_classes
    else:
        assert score is not None
        if n_classes != 2:
            raise UserError("a plan by score is for two classes: plan by verdict")
        for share in _expected_shares(data, score, y, drawn):
            edges, rare_high, geometric = _edges(score, share)
            codes = np.searchsorted(edges, score, side="right")
            if drawn is None or _constant(drawn, codes[known]):
                break
        used, codes = np.unique(codes, return_inverse=True)
        ends = np.concatenate([[score.min()], edges, [score.max()]])
        names = tuple(f"score {ends[u]:.4g} to {ends[u + 1]:.4g}" for u in used)
        if score.min() >= 0 and score.max() <= 1:
            rate = np.asarray(np.bincount(codes, weights=score) / np.bincount(codes))
        elif geometric:
            steps = np.arange(len(used))[::-1] if rare_high else np.arange(len(used))
            rate = np.asarray(0.5 / GROWTH**steps)
            rate = rate if rare_high else 1 - rate
        else:
            rate = np.asarray((np.arange(len(used)) + 0.5) / len(used))
        guess = np.column_stack([1 - rate, rate])
    codes = codes.ravel()
    flat = np.bincount(codes[known] * n_classes + y[known], minlength=len(names) * n_classes)
    counts, sizes = flat.reshape(-1, n_classes), np.bincount(codes)
    expected = counts + PRIOR_LABELS * guess
    if by_score and known.any():
        rates = cautious = _smooth(expected, sizes)
    else:
        rates = cautious = _shares(expected)
        if not by_score:
            cautious = _shares(counts + SHARED_LABELS * guess)
    return _Strata(codes, sizes, names, rates, cautious)


def _shares(counts: Reals) -> Reals:
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def _smooth(counts: Reals, sizes: NDArray[np.int64]) -> Reals:
    """Rates of two classes that rise or fall with the score: a logistic curve through the strata.

    If each stratum had the rate of its own labels, one in which by chance none of a class was seen
    would get hardly any more, and one with some many more: what the labels say together would be
    too low.
    """
    below = np.cumsum(sizes) - sizes / 2
    height = logit(below / sizes.sum())
    X = np.column_stack([np.ones_like(height), height / max(float(np.abs(height).max()), 1e-9)])
    n, seen = counts.sum(axis=1), counts[:, 1]
    share = float(seen.sum() / n.sum())
    b = np.array([logit(np.clip(share, 1e-6, 1 - 1e-6)), 0.0])
    for _ in range(50):
        rate = expit(X @ b)
        slope = X.T @ (seen - n * rate)
        curvature = (X * (n * rate * (1 - rate))[:, np.newaxis]).T @ X + 1e-9 * np.eye(2)
        step = np.linalg.solve(curvature, slope)
        b = b + step * min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-9))
        if float(np.abs(step).max()) < 1e-8:
            break
    rate = expit(X @ b)
    return np.column_stack([1 - rate, rate])


def _expected_shares(data: JudgedItems, score: Reals, y: Codes, drawn: Reals | None) -> list[float]:
    """Shares of class 1 that strata may be made for, the most likely first.

    Labels tell the share if they are random ones, or if it is known how they were drawn. Otherwise
    strata are those that a plan without labels has.
    """
    known = y >= 0
    share = 0.01
    if score.min() >= 0 and score.max() <= 1:
        share = float(score.mean())
    elif data.verdicts is not None:
        share = float((data.verdicts[:, 0] == 1).mean())
    if known.sum() < FEWEST:
        return [share]
    if drawn is not None:
        seen = float((y[known] / drawn).sum() / (1 / drawn).sum())
        return [share, seen, 0.01, 0.99, 0.5]
    if not check("random", None, y, 2, score=score).ok:
        return [share]
    return [float((y[known].sum() + share) / (known.sum() + 1))]


def _constant(probabilities: Reals, codes: Codes) -> bool:
    """Whether the probabilities in each stratum are the same."""
    groups = [probabilities[codes == code] for code in np.unique(codes)]
    return all(group.max() <= group.min() * (1 + SAME) for group in groups)


def _edges(score: Reals, share: float) -> tuple[Reals, bool, bool]:
    """Between the strata; whether the rare class has the high scores; whether there is one."""
    high = share < 0.5
    if min(share, 1 - share) > RARE:
        return np.unique(np.quantile(score, np.arange(1, N_QUANTILES) / N_QUANTILES)), high, False
    part, parts = max(SMALLEST / len(score), 0.001), []
    while part < LARGEST_TAIL:
        parts.append(part)
        part *= GROWTH
    at = 1 - np.array(parts[::-1]) if high else np.array(parts)
    return np.unique(np.quantile(score, at)), high, True


def _between(wanted: Reals, total: float, least: Reals, most: Reals) -> Reals:
    """In proportion to `wanted`, within bounds, with the given sum as far as they allow."""
    low, high = 0.0, float(most.max() / max(wanted[wanted > 0].min(initial=1.0), 1e-300))
    for _ in range(60):
        middle = (low + high) / 2
        if np.clip(middle * wanted, least, most).sum() < total:
            low = middle
        else:
            high = middle
    return np.asarray(np.clip(high * wanted, least, most))


def _whole(n: Reals, total: int, most: NDArray[np.int64]) -> NDArray[np.int64]:
    """Whole numbers near n, at most `most`, that sum to the total."""
    n = np.clip(n, 0, most)
    whole = np.floor(n).astype(np.int64)
    for h in np.argsort(whole - n, kind="stable"):
        if whole.sum() < total and whole[h] < most[h]:
            whole[h] += 1
    while whole.sum() < total and (whole < most).any():
        whole[int(np.argmax(most - whole))] += 1
    while whole.sum() > total:
        whole[int(np.argmax(whole))] -= 1
    return whole


def _in_turns(
    codes: Codes, free: NDArray[np.bool_], new: NDArray[np.int64], rng: np.random.Generator
) -> Indices:
    """Random items of each stratum, in an order in which strata take turns."""
    rows, turns = [], []
    for h, n in enumerate(new):
        unlabelled = np.flatnonzero((codes == h) & free)
        rows.append(rng.permutation(unlabelled)[:n])
        turns.append((np.arange(n) + rng.random()) / max(int(n), 1))
    return np.concatenate(rows)[np.argsort(np.concatenate(turns), kind="stable")]
