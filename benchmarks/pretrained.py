"""PretrainedQuantifier on real tables: errors, coverage and width beside those of other rules.

    python benchmarks/pretrained.py [--worlds natural,prior,covariate,score] [--tables development]
        [--training-groups 2] [--network FILE] [--csv FILE]

natural: train on one group of a table, estimate up to five others (as in `benchmarks/natural.py`).
prior: only the prevalence changes. covariate: rows are selected by a random direction in the
columns; score: by the rank of a logistic regression's score. Samples have at most 500 rows.

`hull` is the range of GuardedSLD. Score is Winkler's for intervals of 90 %: width + 20 times the
miss. With k labels of random items: `audit` is our design-based interval, `PPI++` that of
Angelopoulos et al. (2023) on the posteriors. Means are over tasks (a training set), `+-` are
standard errors over tasks. No table chose anything of the network, which has seen none.
"""

import argparse
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from scipy import stats
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from natural import GROUPS, SMALLEST, TABLES, training_groups
from quantshift import SLD, GuardedSLD, PretrainedQuantifier
from quantshift.base.seeding import generator
from quantshift.labelling.audit import audit_interval
from quantshift.tables.preparation import TableColumns
from real_tables import LabelledTable, load
from refutation import prior_shift, split

LEVEL = 0.9
LABELS = (0, 10, 30, 100)
SIZE, MOST_GROUPS = 500, 5
WORLDS = ("natural", "prior", "covariate", "score")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--worlds", default=",".join(WORLDS))
    parser.add_argument("--tables", default="development")
    parser.add_argument("--training-groups", type=int, default=2)
    parser.add_argument("--first-group", type=int, default=0)
    parser.add_argument("--most-rows", type=int, default=1000)
    parser.add_argument("--network", help="a file of weights instead of those of the package")
    parser.add_argument("--csv", help="write the estimates to this file")
    options = parser.parse_args()
    begun = time.perf_counter()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        rows = [
            {"world": world, "table": name, **row}
            for name in TABLES.get(options.tables) or options.tables.split(",")
            for world in options.worlds.split(",")
            for row in of_table(load(name), world, options)
        ]
    estimates = pd.DataFrame(rows)
    if options.csv:
        estimates.to_csv(options.csv, index=False)
    print(summarise(estimates))
    print(f"\n{time.perf_counter() - begun:.0f} s")


def of_table(table: LabelledTable, world: str, options: Any) -> Iterator[dict[str, Any]]:
    """A row for every sample, method and number of labels."""
    if world == "natural":
        for column in GROUPS.get(table.name, ()):
            yield from of_groups(table, column, options)
        return
    for repeat in range(options.first_group, options.first_group + options.training_groups):
        rng = generator(0, purpose="pretrained", table=table.name, world=world, repeat=repeat)
        train, pool = split(table.codes, options.most_rows, rng)
        view = TableColumns.of(pl.from_pandas(table.columns)).view(train)
        X = view.transform(pool)
        if world == "prior":
            _, drawn = prior_shift(table.codes, pool, 1, rng)
            samples = [pool[sample] for sample in drawn][:MOST_GROUPS]
        else:
            samples = [pool[rows] for rows in selected(X, table.codes[pool], world, rng)]
        key = {"column": "", "trained": repeat}
        yield from estimated(table, table.columns, train, samples, key, options)


def of_groups(table: LabelledTable, column: str, options: Any) -> Iterator[dict[str, Any]]:
    groups = table.columns[column].astype(str).to_numpy()
    groups[table.columns[column].isna().to_numpy()] = ""
    for trained in training_groups(groups, table.codes, options):
        key = {"column": column, "trained": trained}
        rng = generator(0, purpose="pretrained", table=table.name, **key)
        train = rng.permutation(np.flatnonzero(groups == trained))[: options.most_rows]
        names, sizes = np.unique(groups, return_counts=True)
        others = [g for g in names[sizes >= SMALLEST] if g not in ("", trained)]
        others = rng.permutation(others)[:MOST_GROUPS]
        samples = [rng.permutation(np.flatnonzero(groups == g))[:SIZE] for g in others]
        if samples:
            features = table.columns.drop(columns=column)
            yield from estimated(table, features, train, samples, key, options)


def selected(X: Any, y: Any, world: str, rng: np.random.Generator) -> list[Any]:
    """Rows selected by a direction, or by the score of a regression on half of the rows."""
    X = np.asarray(X.todense() if hasattr(X, "todense") else X)
    rows = np.arange(len(X))
    if world == "score":
        half = rng.random(len(X)) < 0.5
        model = LogisticRegression(max_iter=300).fit(X[half], y[half])
        rows = np.flatnonzero(~half)
    samples = []
    for _ in range(MOST_GROUPS):
        if world == "score":
            ranks = stats.rankdata(model.decision_function(X[rows])) / len(rows)
            odds = np.exp(rng.choice([-1, 1]) * rng.uniform(1, 3.5) * ranks)
        else:
            score = X @ rng.standard_normal(X.shape[1])
            odds = np.exp(np.clip((score - score.mean()) / score.std(), -3, 3))
        size = min(SIZE, len(rows) // 3)
        samples.append(rng.choice(rows, size, replace=False, p=odds / odds.sum()))
    return samples


def estimated(
    table: LabelledTable,
    features: pd.DataFrame,
    train: Any,
    samples: list[Any],
    key: dict[str, Any],
    options: Any,
) -> Iterator[dict[str, Any]]:
    """Estimates and intervals of all samples after training on some rows."""
    view = TableColumns.of(pl.from_pandas(features)).view(train)
    X, y = view.transform(train), table.codes[train]
    classifier = LogisticRegression(max_iter=300)
    quantifier = PretrainedQuantifier(classifier, network=options.network).fit(X, y)
    sld = SLD(classifier).fit(X, y)
    guarded = GuardedSLD(mode="columns").fit(X, y)
    for number, rows in enumerate(samples):
        sample, codes = view.transform(rows), table.codes[rows]
        truth = codes.mean()
        estimate = guarded.estimate(sample)
        posteriors = sld.classifier_.predict_proba(sample)[:, 1]
        common = {**key, "sample": number, "truth": truth}
        hull = {name: np.ravel(estimate.diagnostics[name])[-1] for name in ("low", "high")}
        yield {**common, "k": 0, "method": "hull", "estimate": estimate.prevalence[1], **hull}
        for method, value in (
            ("nothing", y.mean()),
            ("PCC", posteriors.mean()),
            ("SLD", sld.predict(sample)[1]),
        ):
            yield {**common, "k": 0, "method": method, "estimate": value}
        rng = generator(0, purpose="labels", table=table.name, sample=number, **key)
        order = rng.permutation(len(rows))
        for k in LABELS:
            if 2 * k > len(rows):
                continue
            labelled = order[:k] if k else None
            labels = codes[labelled] if k else None
            found = quantifier.distribution(sample, labelled=labelled, labels=labels)
            low, high = (limit[1] for limit in found.interval(LEVEL))
            ours = {"estimate": found.share[1], "low": low, "high": high}
            yield {**common, "k": k, "method": "pretrained", **ours}
            if k:
                yield {**common, "k": k, "method": "audit", **audited(posteriors, labelled, labels)}
                yield {**common, "k": k, "method": "PPI++", **ppi(posteriors, labelled, labels)}


def audited(posteriors: Any, labelled: Any, labels: Any) -> dict[str, float]:
    """Our design-based interval, of the share of these items."""
    both = np.stack([1 - posteriors, posteriors], axis=1)
    found = audit_interval(both, labelled, labels, level=LEVEL, target="sample")
    return {"estimate": found.prevalence[1], "low": found.low[1], "high": found.high[1]}


def ppi(posteriors: Any, labelled: Any, labels: Any) -> dict[str, float]:
    """PPI++ for a mean, with the power-tuned multiple of the posteriors."""
    n, N = len(labelled), len(posteriors)
    known = posteriors[labelled]
    covariance = np.cov(labels, known)
    factor = covariance[0, 1] / (covariance[1, 1] * (1 + n / N)) if covariance[1, 1] > 0 else 0.0
    factor = float(np.clip(factor, 0, 1))
    estimate = labels.mean() + factor * (posteriors.mean() - known.mean())
    variance = np.var(labels - factor * known, ddof=1) / n + factor**2 * posteriors.var() / N
    half = stats.norm.ppf((1 + LEVEL) / 2) * np.sqrt(variance)
    return {
        "estimate": float(np.clip(estimate, 0, 1)),
        "low": max(0.0, estimate - half),
        "high": min(1.0, estimate + half),
    }


def summarise(estimates: pd.DataFrame) -> str:
    """Errors, coverage, width and Winkler's score: means over tasks with standard errors."""
    frame = estimates.copy()
    frame["error"] = (frame["estimate"] - frame["truth"]).abs()
    frame["width"] = frame["high"] - frame["low"]
    miss = (frame["low"] - frame["truth"]).clip(lower=0) + (frame["truth"] - frame["high"]).clip(
        lower=0
    )
    frame["score"] = frame["width"] + 2 / (1 - LEVEL) * miss
    inside = (frame["low"] <= frame["truth"]) & (frame["truth"] <= frame["high"])
    frame["coverage"] = inside.where(frame["low"].notna()) * 1.0
    shown = ["error", "coverage", "width", "score"]
    tasks = frame.groupby(["world", "k", "method", "table", "column", "trained"])[shown].mean()
    lines = []
    for (world, k, method), part in tasks.groupby(level=["world", "k", "method"]):
        values = "  ".join(
            f"{name} {part[name].mean():.3f} +- {part[name].sem():.3f}"
            for name in shown
            if part[name].notna().all()
        )
        lines.append(f"{world:10} k={k:<4} {method:11} ({len(part)} tasks)  {values}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
