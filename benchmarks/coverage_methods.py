"""Coverage of the 95% intervals of every quantifier of the catalogue, by simulation.

    python benchmarks/coverage_methods.py [--methods SLD,ACC] [--settings 2x300,3x1000]
        [--trainings 50] [--cap 6] [--replicates 100] [--folds 5] [--seed 0] [--each] [--csv FILE]
    python benchmarks/coverage_methods.py --merge FILE FILE ...

Prior shift holds by construction. Items of class k are Gaussian, with the identity as covariance,
in three dimensions; the means of two classes are 2 apart, of three or five classes 2.5 from each
other. A training set has `n_train` items of equal shares; a logistic regression and its out-of-fold
posteriors (5 folds, as is the default, or --folds) are fitted on it. Each training set is used for
one sample of 500 items at each of some prevalences, and every repetition draws training set and
samples anew, so that errors of the training side count. The truth is the prevalence that a sample
was drawn from (for PQ, the share among its own items).

coverage: share of (sample, class) within its limits; the classes of two have one share. Errors are
standard errors over training sets, each of which is one observation (its mean over samples and
classes). lowest: coverage at the prevalence where it is lowest. width: mean distance of the limits.
error: mean absolute error. bias: of the first class of three, second of two, where it is rare.

--cap stops a method in a setting after so many seconds of processor time, so that slow methods have
fewer training sets. Replicates: by default 200 for two classes, whose limits are those of 1,000,
because both simulate 200 samples at each known prevalence, and 300 for more. Methods that see
features have the same classifier. SubclassSLD takes 20 s a training set and has benchmarks of its
own (coverage.py, coverage_tables.py). --merge prints a table of earlier results as Markdown.
"""

import argparse
import csv
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from quantshift.base.seeding import generator
from quantshift.intervals.prediction import item_interval
from quantshift.quantifiers.base import catalogue
from quantshift.quantifiers.likelihood.sld import SLD

SIZE, LEVEL, DIMENSIONS = 500, 0.95, 3

SHARES: dict[int, tuple[tuple[float, ...], ...]] = {
    2: ((0.95, 0.05), (0.75, 0.25), (0.5, 0.5), (0.2, 0.8)),
    3: ((0.05, 0.25, 0.7), (0.2, 0.5, 0.3), (0.4, 0.2, 0.4)),
    5: ((0.05, 0.1, 0.15, 0.3, 0.4), (0.2, 0.2, 0.2, 0.2, 0.2)),
}
"""Prevalences of the samples, by the number of classes."""

ORDERED = ("IBU", "OrdinalACC", "OrdinalLikelihood", "OrdinalPACC", "OrdinalSLD", "RUN")
"""Methods for ordered classes: three at least, in a line."""

COLUMNS = ("method", "setting", "seed", "training", "p", "covered", "width", "error", "bias")


def means(n_classes: int, ordered: bool) -> np.ndarray:
    """Of the classes, (n_classes, DIMENSIONS)."""
    if ordered:
        return np.outer(np.arange(n_classes), np.eye(DIMENSIONS)[0]) * 2.0
    if n_classes == 2:
        return np.outer([0.0, 2.0], np.eye(DIMENSIONS)[0])
    corners = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1], [0, 0, 0]], dtype=float)
    return corners[:n_classes] * 2.5 / 8**0.5


def drawn(n: int, p: Any, middles: np.ndarray, rng: np.random.Generator) -> tuple[Any, Any]:
    y = rng.choice(len(p), n, p=p)
    return middles[y] + rng.normal(size=(n, DIMENSIONS)), y


class TrainingSet:
    """A training set, one sample at each prevalence, and what all methods share of them."""

    def __init__(
        self, n_classes: int, n_train: int, *, ordered: bool, folds: int, number: int, seed: int
    ) -> None:
        rng = generator(seed, purpose="coverage", classes=n_classes, size=n_train, number=number)
        middles = means(n_classes, ordered)
        self.y = np.arange(n_train) % n_classes
        self.X = middles[self.y] + rng.normal(size=(n_train, DIMENSIONS))
        self.number, self.shares = number, np.array(SHARES[n_classes])
        samples = [drawn(SIZE, p, middles, rng) for p in self.shares]
        self.pool = np.concatenate([X for X, _ in samples])
        self.counted = np.array([np.bincount(y, minlength=n_classes) / SIZE for _, y in samples])
        self.index = np.arange(len(self.pool)).reshape(len(samples), SIZE)
        self.folds = folds
        self.scorer = SLD(LogisticRegression(), cv=folds).fit(self.X, self.y)
        self.items = self.scorer.items(self.pool)

    def rows(self, method: str, replicates: int) -> list[tuple[Any, ...]]:
        """Rows of COLUMNS but for the first four."""
        cls, items = catalogue.quantifiers()[method], self.items
        if "features" in cls.tags.sees:
            quantifier = cls()
            options = {"classifier": LogisticRegression(), "cv": self.folds}
            known = quantifier.get_params()
            quantifier.set_params(**{k: v for k, v in options.items() if k in known})
            items = quantifier.fit(self.X, self.y).items(self.pool)
        else:
            quantifier = cls().fit_posteriors(self.scorer.held_out_posteriors_, self.y)
        found = item_interval(
            quantifier,
            items,
            self.index,
            level=LEVEL,
            n_bootstrap=replicates,
            random_state=self.number,
        )
        truth = self.counted if method == "PQ" else self.shares
        covered = (found.low <= truth + 1e-12) & (truth <= found.high + 1e-12)
        width, away = found.high - found.low, found.prevalence - truth
        first = 1 if truth.shape[1] == 2 else 0
        return [
            (i, covered[i, first:].mean(), width[i].mean(), abs(away[i]).mean(), away[i, first])
            for i in range(len(truth))
        ]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--methods", default="")
    parser.add_argument("--without", default="SubclassSLD")
    parser.add_argument("--settings", default="2x300,2x1000,3x300,3x1000")
    parser.add_argument("--trainings", type=int, default=50)
    parser.add_argument("--cap", type=float, default=6.0)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--replicates", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--each", action="store_true")
    parser.add_argument("--csv", type=Path)
    parser.add_argument("--merge", type=Path, nargs="+")
    options = parser.parse_args()
    if options.merge:
        print(merged(options.merge))
        return
    known = catalogue.quantifiers()
    names = [n for n in options.methods.split(",") if n] or [
        n
        for n, cls in known.items()
        if not cls.tags.no_interval and n not in options.without.split(",")
    ]
    header = f"{'method':18} {'setting':8} {'coverage':>15} {'lowest':>7} {'width':>7}"
    print(f"{header} {'error':>7} {'bias':>7} {'sets':>5} {'s each':>7}")
    with threadpool_limits(1):
        for setting in options.settings.split(","):
            for name, rows, each in measured(setting, names, options):
                if options.csv:
                    with open(options.csv, "a", newline="") as stream:
                        csv.writer(stream).writerows(rows)
                print(
                    f"{name:18} {setting:8} {summary(rows, options.each)} {each:7.3f}", flush=True
                )


def measured(setting: str, names: list[str], options: Any) -> Any:
    """Yields every method, its rows and its processor time for a training set."""
    n_classes, n_train = map(int, setting.split("x"))
    replicates = options.replicates or (200 if n_classes == 2 else 300)
    rows: dict[str, list[tuple[Any, ...]]] = {name: [] for name in names}
    taken: dict[str, list[float]] = {name: [] for name in names}
    for ordered in (False, True):
        chosen = [name for name in names if (name in ORDERED) == ordered]
        for number in range(options.trainings if chosen and (n_classes > 2 or not ordered) else 0):
            drawn_set = TrainingSet(
                n_classes,
                n_train,
                ordered=ordered,
                folds=options.folds,
                number=number,
                seed=options.seed,
            )
            for name in chosen:
                # The first time has the compilation in it.
                if sum(taken[name][1:]) > options.cap:
                    continue
                begun = time.process_time()
                measured_rows = drawn_set.rows(name, replicates)
                taken[name].append(time.process_time() - begun)
                rows[name] += [(name, setting, options.seed, number, *row) for row in measured_rows]
    for name in names:
        if rows[name]:
            yield name, rows[name], float(np.median(taken[name]))


def figures(rows: list[tuple[Any, ...]]) -> tuple[float, float, float, float, float, float, int]:
    """Coverage, its standard error, lowest coverage, width, error, bias, training sets."""
    table = np.array([row[3:] for row in rows], dtype=float)
    by_set = np.array([table[table[:, 0] == t, 2].mean() for t in np.unique(table[:, 0])])
    by_p = [table[table[:, 1] == p, 2].mean() for p in np.unique(table[:, 1])]
    error = by_set.std(ddof=1) / len(by_set) ** 0.5 if len(by_set) > 1 else np.nan
    bias = table[table[:, 1] == 0, 5].mean()
    width, absolute = table[:, 3].mean(), table[:, 4].mean()
    return by_set.mean(), error, min(by_p), width, absolute, bias, len(by_set)


def summary(rows: list[tuple[Any, ...]], each: bool) -> str:
    coverage, se, lowest, width, error, bias, n = figures(rows)
    text = (
        f"{coverage:7.3f} +- {se:4.3f} {lowest:7.2f} {width:7.3f} {error:7.4f} {bias:+7.3f} {n:5d}"
    )
    if each:
        table = np.array([row[3:] for row in rows], dtype=float)
        text += "  " + " ".join(
            f"{table[table[:, 1] == p, 2].mean():.2f}" for p in np.unique(table[:, 1])
        )
    return text


def merged(files: list[Path]) -> str:
    """Markdown: a row per method, coverage and width in every setting."""
    rows: dict[str, dict[str, list[Any]]] = {}
    for file in files:
        with open(file, newline="") as stream:
            for row in csv.reader(stream):
                rows.setdefault(row[0], {}).setdefault(row[1], []).append(
                    # Training sets of another seed are other training sets.
                    (*row[:3], float(row[2]) * 1e6 + float(row[3]), *row[4:])
                )
    settings = sorted(
        {s for by_setting in rows.values() for s in by_setting}, key=lambda s: s.split("x")
    )
    lines = [
        "| method | " + " | ".join(s.replace("x", " classes, ") for s in settings) + " |",
        "|---|" + "---|" * len(settings),
    ]
    for name in sorted(rows, key=str.casefold):
        cells = []
        for s in settings:
            measured_rows = rows[name].get(s)
            if measured_rows is None:
                cells.append("")
                continue
            coverage, se, _, width, _, _, _ = figures(measured_rows)
            cells.append(f"{coverage:.3f} ± {se:.3f} ({100 * width:.0f})")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
