"""PretrainedQuantifier on real tables: errors, coverage and width beside those of other rules.

    python benchmarks/pretrained.py [--tables new] [--worlds natural,time,prior,covariate,score]
        [--weights FILE...] [--training-groups 1] [--samples 3] [--csv FILE] [--figures FOLDER]

--tables is `new` (`package_tables.py`: tables of installed packages, which have chosen nothing),
`known` (`real_tables.py`), or names separated by commas. Several --weights are networks of several
seeds of training.

natural: train on a group of a table, estimate others. time: train on the first half of the periods,
estimate later ones. prior: only the prevalence changes. covariate: rows are selected by a random
direction in the columns; score: by the rank of a logistic regression's score. At most --samples
samples a training set, of at most 500 rows; training sets have at most --most-rows rows.

`hull` is the range of GuardedSLD. Score is Winkler's for intervals of 90 %: width + 20 times the
miss. With k labels of random items: `audit` is our design-based interval, `PPI++` that of
Angelopoulos et al. (2023) on the posteriors, `as trained` the network without its hedge. Means are
over tables, each of which counts the same, and over seeds; `+-` are standard errors over tables,
`seeds` is the standard deviation between seeds. --figures writes them, coverages at all levels and
what was asked of the method to CSV files.
"""

import argparse
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from scipy import stats
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

import package_tables
import real_tables
from natural import GROUPS, SMALLEST, SMALLEST_CLASS, SMALLEST_TRAINING, training_groups
from pretrained_figures import LEVEL, figures, shown, write
from quantshift import SLD, GuardedSLD, PretrainedQuantifier
from quantshift.base.seeding import generator
from quantshift.labelling.audit import audit_interval
from quantshift.quantifiers.pretrained.distribution import HEDGE, ShareDistribution
from quantshift.tables.preparation import TableColumns, TableView
from real_tables import LabelledTable
from refutation import prior_shift, split

LABELS = (0, 10, 30, 100)
SIZE = 500
WORLDS = ("natural", "time", "prior", "covariate", "score")
LEVELS = np.arange(1, 100) / 100
COLUMNS = (
    *("world", "table", "column", "trained", "sample", "truth", "k", "method", "seed"),
    *("estimate", "low", "high", "covers_from"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--worlds", default=",".join(WORLDS))
    parser.add_argument("--tables", default="new")
    parser.add_argument("--training-groups", type=int, default=1)
    parser.add_argument("--first-group", type=int, default=0)
    parser.add_argument("--samples", type=int, default=3)
    parser.add_argument("--most-rows", type=int, default=1000)
    parser.add_argument("--weights", nargs="+", help="instead of the network of the package")
    parser.add_argument("--csv", help="estimates; a run goes on where it had ended")
    parser.add_argument("--figures", type=Path, help="write the figures to this folder")
    options = parser.parse_args()
    begun = time.process_time()
    csv = Path(options.csv) if options.csv else None
    parts = (
        [pd.read_csv(csv, dtype={"column": str, "trained": str})] if csv and csv.exists() else []
    )
    done = set(parts[0]["table"]) if parts else set()
    for name in names_of(options.tables):
        if name in done:
            continue
        parts.append(of_worlds(load(name), options))
        if csv:
            parts[-1].to_csv(csv, mode="a", header=not csv.exists(), index=False)
    if not parts:
        return
    estimates = pd.concat(parts)
    if options.figures:
        write(estimates, options.figures, options.tables)
    print(shown(figures(estimates)))
    print(f"\n{estimates['table'].nunique()} tables, {time.process_time() - begun:.0f} s")


def of_worlds(table: LabelledTable, options: Any) -> pd.DataFrame:
    """The estimates of all worlds of a table."""
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        rows = [
            {"world": world, "table": table.name, **row}
            for world in options.worlds.split(",")
            for row in of_table(table, world, options)
        ]
    return pd.DataFrame(rows, columns=COLUMNS)


def names_of(tables: str) -> tuple[str, ...]:
    """The names of the tables of a collection."""
    if tables == "new":
        return package_tables.available()
    return tuple(real_tables.TARGETS) if tables == "known" else tuple(tables.split(","))


def load(name: str) -> LabelledTable:
    """A table of either collection."""
    return (package_tables if name in package_tables.TABLES else real_tables).load(name)


def of_table(table: LabelledTable, world: str, options: Any) -> Iterator[dict[str, Any]]:
    """A row for every sample, method and number of labels."""
    new = package_tables.TABLES.get(table.name)
    if world == "natural":
        for column in new.groups if new else GROUPS.get(table.name, ()):
            yield from of_groups(table, column, options)
    elif world == "time":
        if new and new.time:
            yield from of_periods(table, new.time, options)
    else:
        yield from of_drawn_rows(table, world, options)


def of_drawn_rows(table: LabelledTable, world: str, options: Any) -> Iterator[dict[str, Any]]:
    """Samples of the same table: only the prevalence changes, or rows are selected."""
    for repeat in range(options.first_group, options.first_group + options.training_groups):
        rng = generator(0, purpose="pretrained", table=table.name, world=world, repeat=repeat)
        train, pool = split(table.codes, options.most_rows, rng)
        view = TableColumns.of(pl.from_pandas(table.columns)).view(train)
        if world == "prior":
            _, drawn = prior_shift(table.codes, pool, 1, rng, size=min(SIZE, len(pool) // 3))
            drawn = [drawn[i] for i in rng.permutation(len(drawn))[: options.samples]]
        else:
            X = view.transform(pool)
            drawn = selected(X, table.codes[pool], world, rng, options.samples)
        key = {"column": "", "trained": str(repeat)}
        samples = [pool[rows] for rows in drawn]
        if samples:
            yield from estimated(table, table.columns, train, samples, key, options)


def of_groups(table: LabelledTable, column: str, options: Any) -> Iterator[dict[str, Any]]:
    """Samples of other groups than the one that was trained on."""
    groups = table.columns[column].astype(str).to_numpy()
    groups[table.columns[column].isna().to_numpy()] = ""
    for trained in training_groups(groups, table.codes, options):
        key = {"column": column, "trained": trained}
        rng = generator(0, purpose="pretrained", table=table.name, **key)
        train = rng.permutation(np.flatnonzero(groups == trained))[: options.most_rows]
        names, sizes = np.unique(groups, return_counts=True)
        others = [g for g in names[sizes >= SMALLEST] if g not in ("", trained)]
        others = rng.permutation(others)[: options.samples]
        samples = [rng.permutation(np.flatnonzero(groups == g))[:SIZE] for g in others]
        if samples:
            features = table.columns.drop(columns=column)
            yield from estimated(table, features, train, samples, key, options)


def of_periods(table: LabelledTable, column: str, options: Any) -> Iterator[dict[str, Any]]:
    """Samples of later periods, after training on the first half of all periods."""
    times = table.columns[column].to_numpy()
    periods = np.unique(times)
    last = periods[(len(periods) - 1) // 2]
    rng = generator(0, purpose="pretrained", table=table.name, column=column)
    train = rng.permutation(np.flatnonzero(times <= last))[: options.most_rows]
    later = [p for p in periods[periods > last] if (times == p).sum() >= SMALLEST]
    able = len(train) >= SMALLEST_TRAINING
    if not able or np.bincount(table.codes[train], minlength=2).min() < SMALLEST_CLASS:
        return
    later = sorted(rng.permutation(later)[: options.samples].tolist())
    samples = [rng.permutation(np.flatnonzero(times == p))[:SIZE] for p in later]
    key = {"column": column, "trained": f"to {last}"}
    features = table.columns.drop(columns=column)
    yield from estimated(table, features, train, samples, key, options)


def selected(X: Any, y: Any, world: str, rng: np.random.Generator, n_samples: int) -> list[Any]:
    """Rows selected by a direction, or by the score of a regression on half of the rows."""
    X = np.asarray(X.todense() if hasattr(X, "todense") else X)
    rows = np.arange(len(X))
    if world == "score":
        half = rng.random(len(X)) < 0.5
        model = LogisticRegression(max_iter=300).fit(X[half], y[half])
        rows = np.flatnonzero(~half)
    samples = []
    for _ in range(n_samples):
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
    quantifier = PretrainedQuantifier(classifier).fit(X, y)
    sld = SLD(classifier).fit(X, y)
    ranges = guarded_ranges(view, (X, y), samples)
    for number, rows in enumerate(samples):
        sample, codes = view.transform(rows), table.codes[rows]
        truth = codes.mean()
        posteriors = sld.classifier_.predict_proba(sample)[:, 1]
        common = {**key, "sample": number, "truth": truth}
        yield {**common, "k": 0, "method": "hull", **ranges[number]}
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
            found = distributions(quantifier, options.weights, sample, labelled, labels)
            for seed, shares in enumerate(found):
                row = {**common, "k": k, "seed": seed}
                yield {**row, "method": "pretrained", **described(shares, truth)}
                if k:
                    as_trained = described(shares.hedged(1 / HEDGE), truth)
                    yield {**row, "method": "as trained", **as_trained}
            if k:
                yield {**common, "k": k, "method": "audit", **audited(posteriors, labelled, labels)}
                yield {**common, "k": k, "method": "PPI++", **ppi(posteriors, labelled, labels)}


def guarded_ranges(view: TableView, training: Any, samples: list[Any]) -> list[dict[str, float]]:
    """Estimates and ranges of GuardedSLD."""
    guarded = GuardedSLD(mode="columns").fit(*training)
    used, positions = np.unique(np.concatenate(samples), return_inverse=True)
    ends = np.cumsum([len(rows) for rows in samples])[:-1]
    estimate = guarded.estimate(view.transform(used), np.split(positions, ends))
    grounds = guarded.grounds(estimate)
    limits = np.stack([estimate.prevalence[:, 1], grounds.low[:, 1], grounds.high[:, 1]], axis=1)
    return [dict(zip(("estimate", "low", "high"), row, strict=True)) for row in limits.tolist()]


def distributions(
    quantifier: PretrainedQuantifier, networks: Any, sample: Any, labelled: Any, labels: Any
) -> Iterator[ShareDistribution]:
    """What each of the networks says; what they see is the same and is computed once."""
    items = quantifier.items(sample, None)
    known = quantifier._known_labels(labelled, labels, len(items))
    seen = quantifier._seen_of(items, np.arange(len(items)), known)
    for network in networks or [None]:
        yield quantifier.set_params(network=network)._answer(*seen)


def described(found: ShareDistribution, truth: float) -> dict[str, float]:
    """Estimate and interval, and the smallest level at which the interval covers the truth."""
    low, high = (limit[1] for limit in found.interval(LEVEL))
    limits = np.array([[limit[1] for limit in found.interval(level)] for level in LEVELS])
    covers = (limits[:, 0] <= truth) & (truth <= limits[:, 1])
    at_least = LEVELS[np.argmax(covers)] if covers.any() else 1.0
    return {"estimate": found.share[1], "low": low, "high": high, "covers_from": at_least}


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


if __name__ == "__main__":
    main()
