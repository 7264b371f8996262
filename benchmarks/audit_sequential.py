"""Audits with many looks: do the limits hold at all of them, and how much wider are they?

    python benchmarks/audit_sequential.py [--repeats 4000] [--widths 30] [--labels 500]

Samples of N items with a share p of positives are labelled one after the other in random order. *At
every label*: how often the capital against the true share stays below 20 throughout, which is how
often the confidence sequence holds at all looks, whenever they happen. *Usual interval*: how often
the interval of counting (`count_interval`) holds at all looks after every 10 labels. Width at the
end (or with half of the items labelled), as a ratio to the usual interval for the share of the N
items (its finite-population factor applied), and after a fifth of the labels. Scores: none; good
(an area under the curve of about .9); useless; and inverted ("upside down"). *Predicted*: the
number of labels for +-8 points as predicted after 50 labels, as a ratio to the number it took.
Standard errors are binomial, or over repeats. Seeds are fixed.
"""

import argparse
import time
from functools import cache

import numpy as np
from numpy.typing import NDArray

from quantshift.base.seeding import generator
from quantshift.labelling.audit import count_interval
from quantshift.labelling.sequence import Scores, capital, confidence_sequence

LEVEL = 0.95
KINDS = ("none", "good", "useless", "upside down")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeats", type=int, default=4000)
    parser.add_argument("--widths", type=int, default=30)
    parser.add_argument("--labels", type=int, default=500)
    options = parser.parse_args()
    begun = time.perf_counter()
    print("   N     p  scores        at every label  usual, 50 looks    width/usual (at a fifth)")
    for n_items in (500, 5000):
        for p in (0.02, 0.1, 0.5):
            for kind in KINDS:
                row(n_items, p, kind, options)
    print(f"{time.perf_counter() - begun:.0f} s")


def row(n_items: int, p: float, kind: str, options: argparse.Namespace) -> None:
    """One line of the table."""
    # With all items labelled the share is known: look before that.
    k = min(options.labels, n_items - 1)
    rng = generator(0, purpose="sequential audits", n_items=n_items, p=p, kind=kind)
    repeats = options.repeats if kind == "none" else options.repeats // 4
    y = np.zeros(n_items)
    y[: round(p * n_items)] = 1.0
    f = made_scores(y, kind, rng)
    orders = np.argsort(rng.random((repeats, n_items)), axis=1)[:, :k].T
    labels = y[orders]
    scores = None if f is None else batch_scores(f, orders, labels)
    grown = capital(labels, np.full(repeats, y.mean()), n_items, scores)
    held = (grown.max(axis=0) < 1 / (1 - LEVEL)).mean()
    usual = ""
    if kind == "none":
        looks = np.arange(10, k + 1, 10)
        counts = np.cumsum(labels, axis=0)[looks - 1].astype(int)
        inside = np.array(
            [
                [within(int(c), int(n), n_items, y.mean()) for c in at_look]
                for n, at_look in zip(looks, counts, strict=True)
            ]
        )
        usual = f"{inside.all(axis=0).mean():.3f}"
    ratios, early, predicted = [], [], []
    for i in range(options.widths):
        rows = orders[:, i]
        codes = y[rows].astype(int)
        posteriors = None if f is None else np.column_stack([1 - f, f])
        found = confidence_sequence(
            codes, 2, n_items=n_items, posteriors=posteriors, items=None if f is None else rows
        )
        widths = found.high[:, 1] - found.low[:, 1]
        end = min(k, n_items // 2)
        ratios.append(widths[end - 1] / usual_width(int(codes[:end].sum()), end, n_items))
        fifth = k // 5
        early.append(widths[fifth - 1] / usual_width(int(codes[:fifth].sum()), fifth, n_items))
        took = found.reached(0.08)
        if took is not None and took > 50:
            after_50 = confidence_sequence(
                codes[:50],
                2,
                n_items=n_items,
                posteriors=posteriors,
                items=None if f is None else rows[:50],
            )
            predicted.append(after_50.labels_needed(0.08) / took)
    error = np.sqrt(0.05 * 0.95 / repeats)
    spread = np.std(ratios) / np.sqrt(len(ratios))
    guess = f"  predicted/took {np.mean(predicted):.2f}" if predicted else ""
    print(
        f"{n_items:5} {p:5} {kind:13} {held:.3f} +- {error:.3f}    {usual:8} "
        f"   {np.mean(ratios):.2f} +- {spread:.2f} ({np.mean(early):.2f}){guess}",
        flush=True,
    )


def made_scores(
    y: NDArray[np.float64], kind: str, rng: np.random.Generator
) -> NDArray[np.float64] | None:
    """Scores of all items."""
    if kind == "none":
        return None
    if kind == "useless":
        return rng.random(len(y))
    signal = rng.normal(1.8 * y, 1.0) - 0.9
    score = 1 / (1 + np.exp(-1.8 * signal - np.log(y.mean() / (1 - y.mean()))))
    return 1 - score if kind == "upside down" else score


def batch_scores(
    f: NDArray[np.float64], orders: NDArray[np.int64], labels: NDArray[np.float64]
) -> Scores:
    """`Scores` of many audits at once: arrays (n_labels, n_audits)."""
    each = [Scores.of(f, rows, y) for rows, y in zip(orders.T, labels.T, strict=True)]
    stacked = {
        name: np.stack([getattr(one, name) for one in each], axis=1)
        for name in ("weight", "labelled", "remaining", "mean")
    }
    return Scores(**stacked, least=each[0].least, most=each[0].most, all_mean=each[0].all_mean)


@cache
def limits(count: int, n: int) -> tuple[float, float, float]:
    """Share and limits by counting, of an infinite population."""
    found = count_interval(np.repeat([0, 1], [n - count, count]), 2, level=LEVEL)
    return float(found.prevalence[1]), float(found.low[1]), float(found.high[1])


def within(count: int, n: int, n_items: int, truth: float) -> bool:
    """Whether the usual interval for the share of the items holds."""
    p, low, high = limits(count, n)
    factor = np.sqrt(1 - n / n_items)
    return bool(p - factor * (p - low) <= truth <= p + factor * (high - p))


def usual_width(count: int, n: int, n_items: int) -> float:
    """The width of that interval."""
    _, low, high = limits(count, n)
    return float((high - low) * np.sqrt(1 - n / n_items))


if __name__ == "__main__":
    main()
