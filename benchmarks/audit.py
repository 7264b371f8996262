"""Coverage and width of 95% audit intervals, and whether audits come out as planned.

    python benchmarks/audit.py coverage [--kinds hard] [--prevalences 0.01] [--repeats 300]
    python benchmarks/audit.py plan [--repeats 100]
    python benchmarks/audit.py verdicts [--repeats 500]

`coverage`: samples of 500, 2,000 and 10,000 items in turn, drawn from a population of known
prevalence, with posteriors or hard verdicts of every quality; 20 to 500 of the items are labelled.
Widths are compared with those of Clopper and Pearson's interval of the labels alone, of Wilson's,
and of the formula of version 0.1.0. `plan`: half the width of an audit with as many labels as
planned, over the precision asked for; the plan knows 1,000 held-out items of another prevalence.
`verdicts`: real verdicts of machines with the labels of people (tables llm_judge_*, see
`parts/real_tables.py`); the table is the population, and samples are drawn from it with
replacement.

`+-` is the Monte Carlo standard error. The constants of `quantshift.labelling.audit` were chosen on
other draws, for the most part with other prevalences and error rates; nothing was chosen on the
real verdicts. A lowest cell is low by chance too: repeat it with another `--seed` and more
`--repeats`.
"""

import argparse
import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats
from scipy.special import expit, logit
from threadpoolctl import threadpool_limits

from parts.real_tables import tables_dir
from quantshift.base.seeding import generator
from quantshift.intervals.counted import wilson_limits
from quantshift.labelling.audit import audit_interval, count_interval, plan_audit

LEVEL = 0.95
SIZES = (500, 2_000, 10_000)
LABELLED = (20, 50, 100, 200, 500)
PREVALENCES = (0.01, 0.03, 0.08, 0.2, 0.35, 0.5)

Scores = Callable[[NDArray[np.int64], float, np.random.Generator], NDArray[np.float64]]
"""Posteriors of class 1 from the classes, the prevalence and a generator."""


def normal_scores(separation: float, *, scale: float = 1.0, shift: float = 0.0) -> Scores:
    """Calibrated posteriors of two normal classes, their log-odds then scaled and shifted."""

    def draw(y: NDArray[np.int64], p: float, rng: np.random.Generator) -> NDArray[np.float64]:
        score = rng.normal(size=y.shape) + separation * (y - 0.5)
        return np.asarray(expit(scale * (separation * score + logit(p)) + shift))

    return draw


def verdicts(sensitivity: float, specificity: float) -> Scores:
    """Hard verdicts with these rates."""

    def draw(y: NDArray[np.int64], p: float, rng: np.random.Generator) -> NDArray[np.float64]:
        u = rng.random(y.shape)
        return np.where(y == 1, u < sensitivity, u >= specificity).astype(float)

    return draw


KINDS: dict[str, Scores] = {
    "calibrated, fair": normal_scores(1.5),
    "calibrated, good": normal_scores(2.5),
    "calibrated, sharp": normal_scores(3.5),
    "hard, 97% and 98% right": verdicts(0.97, 0.98),
    "hard, 90% and 80% right": verdicts(0.9, 0.8),
    "hard, 75% and 97% right": verdicts(0.75, 0.97),
    "hard, misses 12%": verdicts(0.88, 1.0),
    "hard, 3% false": verdicts(1.0, 0.97),
    "hard, never wrong": verdicts(1.0, 1.0),
    "over-confident": normal_scores(2.0, scale=4.0),
    "over-confident, biased": normal_scores(3.0, scale=3.0, shift=4.0),
    "under-confident": normal_scores(2.0, scale=0.3),
    "constant": lambda y, p, rng: np.full(y.shape, 0.5),
    "uncorrelated": lambda y, p, rng: rng.random(y.shape),
    "hard, uncorrelated": verdicts(0.35, 0.65),
    "inverted": lambda y, p, rng: 1 - normal_scores(2.0)(y, p, rng),
    "hard, inverted": verdicts(0.15, 0.1),
}
INFORMATIVE = tuple(KINDS)[:12]


@dataclass
class Tally:
    """Sums over the audits of one cell."""

    n: int = 0
    covered: int = 0
    width: float = 0.0
    exact: float = 0.0
    wilson: float = 0.0
    former: float = 0.0
    widest: float = 0.0

    def add(self, covered: bool, widths: Sequence[float]) -> None:
        width, exact, wilson, former = widths
        self.n, self.covered = self.n + 1, self.covered + covered
        self.width, self.exact = self.width + width, self.exact + exact
        self.wilson, self.former = self.wilson + wilson, self.former + former
        self.widest = max(self.widest, width / exact)

    @property
    def coverage(self) -> float:
        return self.covered / self.n

    @property
    def error(self) -> float:
        return error_of(self.coverage, self.n)


def error_of(share: float, n: int) -> float:
    """Standard error of a share, not zero at 0 and 1."""
    smoothed = (share * n + 1) / (n + 2)
    return float(np.sqrt(smoothed * (1 - smoothed) / n))


def former_limits(f: NDArray[np.float64], y: NDArray[np.int64], k: int) -> tuple[float, float]:
    """The interval of version 0.1.0 for the population's share of class 1."""
    labels, labelled, n_items = y[:k].astype(float), f[:k], len(f)
    centred = labelled - labelled.mean()
    total = (centred**2).sum()
    weight = float(np.clip((labels * centred).sum() / total, 0, 1)) if total > 0 else 0.0
    p = float(np.clip(labels.mean() + weight * (f.mean() - labelled.mean()), 0, 1))
    residuals = labels - weight * labelled
    spread = (((residuals - residuals.mean()) ** 2).sum() + 0.25) / (k - 1)
    variance = (1 / k - 1 / n_items) * spread + max(p * (1 - p), spread) / n_items
    effective = p * (1 - p) / variance if 0 < p < 1 else float(k)
    low, high = wilson_limits(np.array([p]), effective, float(stats.t.ppf(0.975, k - 1)))
    return float(low[0]), float(high[0])


def coverage(kinds: Iterable[str], prevalences: Iterable[float], repeats: int, seed: int) -> None:
    cells: dict[tuple[str, float, int, str], Tally] = {}
    for kind, p, repeat in itertools.product(kinds, prevalences, range(repeats)):
        rng = generator(seed, purpose="audit coverage", kind=kind, p=p, repeat=repeat)
        n_items = SIZES[repeat % len(SIZES)]
        y = (rng.random(n_items) < p).astype(np.int64)
        f = KINDS[kind](y, p, rng)
        posteriors = np.column_stack([1 - f, f])
        for k in LABELLED:
            # Items are in random order already.
            exact = stats.binomtest(int(y[:k].sum()), k).proportion_ci(LEVEL)
            share = np.array([y[:k].mean()])
            wilson = np.subtract(*wilson_limits(share, k, float(stats.norm.ppf(0.975)))[::-1])[0]
            former = float(np.subtract(*former_limits(f, y, k)[::-1]))
            for target, truth in (("population", p), ("sample", y.mean())):
                found = audit_interval(posteriors, np.arange(k), y[:k], level=LEVEL, target=target)
                low, high = found.low[1], found.high[1]
                # With all items labelled the sample is known, but for rounding.
                covered = low - 1e-12 <= truth <= high + 1e-12
                widths = (high - low, exact.high - exact.low, wilson, former)
                cells.setdefault((kind, p, k, target), Tally()).add(covered, widths)
    print(f"{'posteriors':25} {'p':>5} {'coverage +-':>12} {'lowest +-':>12} {'at k':>14}", end=" ")
    print(f"{'/exact':>7} {'widest':>7} {'/Wilson':>7} {'/0.1.0':>7}")
    for kind, p in dict.fromkeys((kind, p) for kind, p, *_ in cells):
        part_cells = {key[2:]: cell for key, cell in cells.items() if key[:2] == (kind, p)}
        at, lowest = min(part_cells.items(), key=lambda item: item[1].coverage)
        population = [cell for (_, target), cell in part_cells.items() if target == "population"]
        mean = float(np.mean([cell.coverage for cell in population]))
        # The cells share samples, so their errors are dependent: one cell's error is the bound.
        error = float(np.mean([cell.error for cell in population]))
        width = sum(c.width for c in population)
        print(
            f"{kind:25} {p:5.2f} {mean:6.3f} {error:5.3f} {lowest.coverage:6.3f} "
            f"{lowest.error:5.3f} {at[0]:>3} {at[1]:10} "
            f"{width / sum(c.exact for c in population):7.2f} "
            f"{max(c.widest for c in part_cells.values()):7.3f} "
            f"{width / sum(c.wilson for c in population):7.2f} "
            f"{width / sum(c.former for c in population):7.2f}"
        )
    pooled = list(cells.values())
    print(f"cells of {pooled[0].n} audits: {len(pooled)}; below .93: ", end="")
    print(sum(cell.coverage < 0.93 for cell in pooled), end="; ")
    print("by more than two standard errors:", end=" ")
    print(sum(cell.coverage + 2 * cell.error < 0.93 for cell in pooled))
    informative = [
        (k, cell)
        for (kind, p, k, target), cell in cells.items()
        if kind in INFORMATIVE and p >= 0.2 and target == "population"
    ]
    for k in LABELLED if informative else ():
        with_k = [cell for labels, cell in informative if labels == k]
        print(
            f"informative, p >= .2, k = {k:3}: width over 0.1.0 "
            f"{sum(c.width for c in with_k) / sum(c.former for c in with_k):.3f}, over Wilson's "
            f"{sum(c.width for c in with_k) / sum(c.wilson for c in with_k):.3f}"
        )


def plans(repeats: int, seed: int) -> None:
    chosen = ("calibrated, good", "hard, 90% and 80% right", "hard, 97% and 98% right")
    chosen += ("over-confident", "uncorrelated")
    print(f"{'posteriors':25} {'p':>5} {'asked':>6} {'labels':>7} {'counting':>9} ", end="")
    print("half-width / asked +-")
    for kind, p, precision in itertools.product(chosen, (0.1, 0.3, 0.5), (0.02, 0.05, 0.1)):
        ratios, labels, counting = [], [], []
        for repeat in range(repeats):
            rng = generator(seed, purpose="audit plan", kind=kind, p=p, repeat=repeat)
            known = (rng.random(1_000) < 0.4).astype(np.int64)
            y = (rng.random(10_000) < p).astype(np.int64)
            # One model for both, made for the prevalence of the sample.
            f_known, f = KINDS[kind](known, p, rng), KINDS[kind](y, p, rng)
            posteriors = np.column_stack([1 - f, f])
            held_out = np.column_stack([1 - f_known, f_known])
            plan = plan_audit(posteriors, precision, held_out=(held_out, known), seed=repeat)
            found = audit_interval(posteriors, plan.items, y[plan.items])
            ratios.append((found.high[1] - found.low[1]) / 2 / precision)
            labels.append(plan.n_labels)
            counting.append(plan.n_counting)
        error = np.std(ratios) / np.sqrt(repeats)
        print(
            f"{kind:25} {p:5.2f} {precision:6.2f} {np.mean(labels):7.0f} "
            f"{np.mean(counting):9.0f} {np.mean(ratios):8.3f} {error:5.3f}"
        )


def real_verdicts() -> dict[str, tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Codes of verdicts and of people's labels."""
    bench = pd.read_csv(tables_dir() / "llm_judge_mtbench.csv")
    names = ["model_a", "model_b", "tie"]
    judge = bench["judge"].str.replace(" (inconsistent)", "", regex=False)
    judged = judge.map(names.index).to_numpy()
    preferred = bench["human"].map(names.index).to_numpy()
    found = {
        "mtbench, 3 classes": (judged, preferred),
        "mtbench, model_a": ((judged == 0).astype(np.int64), (preferred == 0).astype(np.int64)),
    }
    relevance = pd.read_csv(tables_dir() / "llm_judge_relevance.csv")
    test = relevance[relevance["split"] == "test"]
    human = test["human"].to_numpy(dtype=np.int64)
    for column in ("judge_questions", "judge_direct"):
        verdict = test[column].to_numpy(dtype=np.int64)
        for least in (1, 2, 3):
            found[f"{column} >= {least}"] = (
                (verdict >= least).astype(np.int64),
                (human >= least).astype(np.int64),
            )
        found[f"{column}, 4 classes"] = (verdict, human)
    return found


def on_real_verdicts(repeats: int, seed: int) -> None:
    print(f"{'verdicts':27} {'k':>4} {'class':>5} {'share':>6} {'coverage +-':>12}", end=" ")
    print(f"{'width':>6} {'counting':>8} {'widest/exact':>12}")
    for (name, (verdict, human)), k in itertools.product(
        real_verdicts().items(), (20, 50, 100, 300)
    ):
        n_classes = int(human.max()) + 1
        truth = np.bincount(human, minlength=n_classes) / len(human)
        covered, widths, counted = np.zeros(n_classes), np.zeros(n_classes), np.zeros(n_classes)
        widest = np.zeros(n_classes)
        for repeat in range(repeats):
            rng = generator(seed, purpose="audit verdicts", name=name, k=k, repeat=repeat)
            rows = rng.integers(len(human), size=1_500)
            labels = human[rows[:k]]
            found = audit_interval(np.eye(n_classes)[verdict[rows]], np.arange(k), labels)
            width = found.high - found.low
            covered += (found.low <= truth) & (truth <= found.high)
            widths += width / repeats
            alone = count_interval(labels, n_classes)
            counted += (alone.high - alone.low) / repeats
            limits = [
                stats.binomtest(int((labels == c).sum()), k).proportion_ci(LEVEL)
                for c in range(n_classes)
            ]
            widest = np.maximum(widest, width / [limit.high - limit.low for limit in limits])
        for c in range(n_classes) if n_classes > 2 else (1,):
            share = covered[c] / repeats
            print(
                f"{name:27} {k:4} {c:5} {truth[c]:6.3f} {share:6.3f} "
                f"{error_of(share, repeats):5.3f} {widths[c]:6.3f} {counted[c]:8.3f} "
                f"{widest[c]:12.3f}"
            )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("coverage", "plan", "verdicts"))
    parser.add_argument("--kinds", default="", help="beginnings of names, separated by semicolons")
    parser.add_argument("--prevalences", type=float, nargs="*", default=PREVALENCES)
    parser.add_argument("--repeats", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with threadpool_limits(1):
        if options.what == "coverage":
            wanted = tuple(options.kinds.split(";"))
            kinds = [kind for kind in KINDS if kind.startswith(wanted)]
            coverage(kinds, options.prevalences, options.repeats, options.seed)
        elif options.what == "plan":
            plans(options.repeats, options.seed)
        else:
            on_real_verdicts(options.repeats, options.seed)


if __name__ == "__main__":
    main()
