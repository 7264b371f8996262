"""How often the limits of a cut of a score hold: of agreement, precision and recall on new items.

    python benchmarks/judge_cuts.py [--repeats 300] [--first-seed 5000]

Scores are normal, of mean `apart` for items of the class and 0 for the others, so that agreement,
precision and recall of any cut are known in closed form. In each repeat a cut is chosen on labels
of random items, and the limits that `judge --cut` gives out of sample are compared with the truth
for the cut that it names. The constant in `judging` that widens the limits was chosen on other
settings and seeds.
"""

import argparse
from itertools import product

import numpy as np
import polars as pl
from scipy import stats

from quantshift import judge

LABELS = (60, 120, 400)
SHARES = (0.25, 0.5)
APART = (1.0, 2.0)
GOALS = ("agreement", "precision=0.85", "recall=0.85")
N_ITEMS = 2000


def truth(cut: float, share: float, apart: float) -> dict[str, float]:
    """Agreement, precision and recall of a cut on new items."""
    recall, wrong = float(stats.norm.sf(cut - apart)), float(stats.norm.sf(cut))
    called = share * recall + (1 - share) * wrong
    return {
        "agreement": share * recall + (1 - share) * (1 - wrong),
        "precision": share * recall / called,
        "recall": recall,
    }


def held(n_labels: int, share: float, apart: float, goal: str, seed: int) -> dict[str, bool] | None:
    """Whether each limit holds; None if the labels are too few for a cut or no cut reaches it."""
    rng = np.random.default_rng(seed)
    is_good = rng.random(N_ITEMS) < share
    known = np.isin(np.arange(N_ITEMS), rng.choice(N_ITEMS, n_labels, replace=False))
    table = pl.DataFrame(
        {
            "score": rng.normal(size=N_ITEMS) + apart * is_good,
            "human": [
                ("good" if g else "bad") if k else None for g, k in zip(is_good, known, strict=True)
            ],
        }
    )
    found = judge(
        table, score="score", label="human", labels="random", cut=goal, positive="good", insist=True
    ).threshold
    if found is None or found.cut is None or not found.out_of_sample:
        return None
    true = truth(found.cut, share, apart)
    return {p.measure: p.low <= true[p.measure] <= p.high for p in found.out_of_sample}


def main() -> None:
    """Print a row for each setting."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=300)
    parser.add_argument("--first-seed", type=int, default=5000)
    options = parser.parse_args()
    print("labels  share  apart  goal             agreement  precision  recall  (+- Monte Carlo)")
    for n_labels, share, apart, goal in product(LABELS, SHARES, APART, GOALS):
        seeds = range(options.first_seed, options.first_seed + options.repeats)
        rows = [row for s in seeds if (row := held(n_labels, share, apart, goal, s)) is not None]
        if not rows:
            print(f"{n_labels:6}  {share:5}  {apart:5}  {goal:15}  no cut", flush=True)
            continue
        rates = {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}
        error = max(float(np.sqrt(p * (1 - p) / len(rows))) for p in rates.values())
        cells = "  ".join(f"{p:9.3f}" for p in rates.values())
        print(f"{n_labels:6}  {share:5}  {apart:5}  {goal:15}  {cells}  +- {error:.3f}", flush=True)


if __name__ == "__main__":
    main()
