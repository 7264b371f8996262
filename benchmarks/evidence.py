"""What `GuardedSLD` claims, and whether it is true, in worlds of known shift.

    python benchmarks/evidence.py [--tables development] [--worlds prior,none,score,half,feature,
        both,natural,posteriors] [--sizes 50,200,1000] [--natural-sizes 30,60,120,500]
        [--first-repeat 0] [--repeats 2] [--first-group 0] [--samples 6] [--bootstrap 200]
        [--csv FILE] [--read FILE [FILE ...]]

Every repetition trains on at most 2,000 random rows of a table and draws samples of the others:

    prior      the classes in a share that is uniform from .05 to .95
    none       at random
    score      with probability e^(b rank) of the model's own score, |b| from 1 to 3.5
    half       from the upper or the lower half of the scores
    feature    with probability e^(b x) of one standardised feature, |b| from 1 to 2
    both       the same, and the classes in another share
    natural    groups: trained on one (two of each column, after the --first-group largest),
               estimated on the others, 30 to 500 rows of each
    posteriors natural, where only posteriors are known

and, if --worlds names them,

    picked     with probability equal to the model's own score, or to one minus it
    opposed    as `score`, and the classes in another share, which the selection can hide

Printed by world, with standard errors that are clustered by training set: kinds of answers, and how
often they hold, how long they are, their interval score and the cost of decisions by them, beside
PCC +- .20. By world and size: how often label
shift is refuted, how often the answer is called a confidence interval and why, how often intervals
hold the share among the items, coverage and width of all answers, of the hull of all estimates
(what there was before) and of a constant around PCC with the same coverage; and errors of the
estimate and the named numbers, and of the accuracy that is estimated without labels.
`evidence_price.py` shows what the thresholds cost.

--tables: "development" (to choose constants), "kept" (to report), names, or "synthetic", which is
the default without QUANTSHIFT_TABLES. --read: print what --csv has written instead of simulating.
"""

import argparse
import os
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score
from threadpoolctl import threadpool_limits

from coverage_tables import TABLES, clustered_error
from evidence_price import holds
from natural import GROUPS, SMALLEST, SMALLEST_CLASS, SMALLEST_TRAINING
from parts.real_tables import LabelledTable, load
from quantshift import GuardedSLD
from quantshift.base.seeding import generator
from quantshift.claims import Assumption, Kind, Reason
from quantshift.intervals.prediction import item_interval
from quantshift.items.items import Items
from quantshift.measuring.accuracy import LEAP, METHODS, accuracies
from quantshift.measuring.adapting.correction import smoothed
from quantshift.measuring.estimate import Measured, PerformanceEstimator, Sample, Use
from quantshift.measuring.measures.registry import chosen_measures
from quantshift.quantifiers.base.guarding import ExaminedSamples
from quantshift.quantifiers.likelihood.examined_posteriors import examined_posteriors
from quantshift.quantifiers.likelihood.guarded_intervals import answer_limits, guarded_intervals
from quantshift.quantifying.estimating.performance import MOST_ITEMS, MOST_REPLICATES
from quantshift.tables.preparation import TableColumns
from refutation import dense

ARTIFICIAL = ("prior", "none", "score", "half", "feature", "both")
ADVERSE = ("picked", "opposed")
MOST_TRAINING, TRAINING_GROUPS = 2000, 2
HULL_MARGIN = 0.04


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    known = "QUANTSHIFT_TABLES" in os.environ
    parser.add_argument("--tables", default="development" if known else "synthetic")
    parser.add_argument("--worlds", default=",".join([*ARTIFICIAL, "natural", "posteriors"]))
    parser.add_argument("--sizes", default="50,200,1000")
    parser.add_argument("--natural-sizes", default="30,60,120,500")
    parser.add_argument("--first-repeat", type=int, default=0)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--first-group", type=int, default=0)
    parser.add_argument("--samples", type=int, default=6, help="of each world and size")
    parser.add_argument("--bootstrap", type=int, default=200)
    parser.add_argument("--csv", help="write the answers to this file")
    parser.add_argument("--read", nargs="+", help="print the answers in these files")
    options = parser.parse_args()
    begun = time.perf_counter()
    if options.read:
        answers = pd.concat([pd.read_csv(path) for path in options.read], ignore_index=True)
    else:
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            answers = pd.DataFrame(list(run(options)))
    if options.csv:
        answers.to_csv(options.csv, index=False)
    print(summary(answers))
    print(kinds_summary(answers))
    print(accuracy_summary(answers))
    print(f"\n{time.perf_counter() - begun:.0f} s")


def run(options: Any) -> Iterator[dict[str, Any]]:
    """A row for every sample."""
    names = TABLES.get(options.tables) or options.tables.split(",")
    worlds = options.worlds.split(",")
    artificial = [world for world in worlds if world in (*ARTIFICIAL, *ADVERSE)]
    for name in names:
        table = synthetic_table() if name == "synthetic" else load(name)
        for repeat in range(options.first_repeat, options.first_repeat + options.repeats):
            if artificial:
                yield from of_random_rows(table, repeat, artificial, options)
        if {"natural", "posteriors"} & set(worlds):
            yield from of_groups(table, worlds, options)


@dataclass(frozen=True, eq=False)
class Trained:
    """A quantifier, and the table it was trained on."""

    table: LabelledTable
    view: Any
    quantifier: GuardedSLD
    n_train: int

    @classmethod
    def on(cls, table: LabelledTable, columns: pd.DataFrame, train: Any) -> "Trained":
        view = TableColumns.of(pl.from_pandas(columns)).view(train)
        quantifier = GuardedSLD(mode="columns").fit(view.transform(train), table.codes[train])
        return cls(table, view, quantifier, len(train))

    def pooled(self, samples: list[Any]) -> tuple[Items, list[Any]]:
        """The items of all samples, and the positions of each sample's."""
        used, positions = np.unique(np.concatenate(samples), return_inverse=True)
        ends = np.cumsum([len(rows) for rows in samples])[:-1]
        return self.quantifier.items(self.view.transform(used)), np.split(positions, ends)


def of_random_rows(
    table: LabelledTable, repeat: int, worlds: list[str], options: Any
) -> Iterator[dict[str, Any]]:
    """Answers about samples drawn from the rows that are not trained on."""
    rng = generator(0, purpose="evidence", table=table.name, repeat=repeat)
    n = len(table.codes)
    train = rng.permutation(n)[: min(MOST_TRAINING, n // 2)]
    pool = np.setdiff1d(np.arange(n), train)
    trained = Trained.on(table, table.columns, train)
    X = dense(trained.view.transform(pool))
    items = trained.quantifier.items(trained.view.transform(pool))
    scores = trained.quantifier.unguarded_items(items).posteriors[:, 1]
    samples, keys = [], []
    for size in map(int, options.sizes.split(",")):
        for world in worlds:
            for _ in range(options.samples if size <= len(pool) else 0):
                samples.append(pool[drawn(world, size, table.codes[pool], scores, X, rng)])
                keys.append({"world": world, "set": f"{table.name}/{repeat}"})
    yield from answered(trained, samples, keys, options)


def drawn(world: str, n: int, y: Any, scores: Any, X: Any, rng: np.random.Generator) -> Any:
    """Positions in the pool of a sample of a world."""
    rank = scores.argsort().argsort() / len(scores)
    if world == "none":
        return rng.choice(len(y), n, replace=False)
    if world == "prior":
        n_positive = rng.binomial(n, rng.uniform(0.05, 0.95))
        members, wanted = [np.flatnonzero(y == k) for k in (0, 1)], [n - n_positive, n_positive]
        return np.concatenate(
            [rng.choice(m, k, replace=k > len(m)) for m, k in zip(members, wanted, strict=True)]
        )
    if world == "picked":
        odds = scores if rng.random() < 0.5 else 1 - scores
        return rng.choice(len(y), n, p=odds / odds.sum())
    if world in ("score", "opposed"):
        odds = np.exp(rng.choice([-1, 1]) * rng.uniform(1, 3.5) * rank)
        if world == "opposed":
            odds = _with_share(odds, y, rng.uniform(0.05, 0.95))
        return rng.choice(len(y), n, p=odds / odds.sum())
    if world == "half":
        return rng.choice(np.flatnonzero((rank > 0.5) == (rng.random() < 0.5)), n)
    spread = X.std(axis=0)
    j = rng.choice(np.flatnonzero(spread > 0))
    x = np.clip((X[:, j] - X[:, j].mean()) / spread[j], -3, 3)
    odds = np.exp(rng.choice([-1, 1]) * rng.uniform(1, 2) * x)
    if world == "both":
        odds = _with_share(odds, y, rng.uniform(0.05, 0.95))
    return rng.choice(len(y), n, p=odds / odds.sum())


def _with_share(odds: Any, y: Any, p: float) -> Any:
    """Odds by which a share p of the items drawn is positive."""
    return odds * np.where(y == 1, p / odds[y == 1].sum(), (1 - p) / odds[y == 0].sum())


def of_groups(table: LabelledTable, worlds: list[str], options: Any) -> Iterator[dict[str, Any]]:
    """Answers about groups of a column, after training on one of them."""
    for column in GROUPS.get(table.name, ()):
        groups = table.columns[column].astype(str).to_numpy()
        groups[table.columns[column].isna().to_numpy()] = ""
        names, sizes = np.unique(groups[groups != ""], return_counts=True)
        able = [
            group
            for group in names[np.lexsort([names, -sizes])]
            if (groups == group).sum() >= SMALLEST_TRAINING
            and np.bincount(table.codes[groups == group], minlength=2).min() >= SMALLEST_CLASS
        ]
        for group in able[options.first_group :][:TRAINING_GROUPS]:
            key = {"table": table.name, "column": column, "trained": str(group)}
            rng = generator(0, purpose="evidence of groups", **key)
            train = rng.permutation(np.flatnonzero(groups == group))[:MOST_TRAINING]
            samples, keys = [], []
            for other in names[(sizes >= SMALLEST) & (names != group)]:
                rows = np.flatnonzero(groups == other)
                for size in map(int, options.natural_sizes.split(",")):
                    if size <= len(rows):
                        samples.append(rng.permutation(rows)[:size])
                        keys.append({"world": "natural", "set": "/".join(key.values())})
            if samples:
                trained = Trained.on(table, table.columns.drop(columns=column), train)
                if "natural" in worlds:
                    yield from answered(trained, samples, keys, options)
                if "posteriors" in worlds:
                    yield from answered_by_posteriors(trained, samples, keys, options)


def answered(
    trained: Trained, samples: list[Any], keys: list[Any], options: Any
) -> Iterator[dict[str, Any]]:
    """A row for every sample: the answer, what it stands on, and today's."""
    quantifier = trained.quantifier
    items, positions = trained.pooled(samples)
    begun = time.perf_counter()
    estimate = quantifier.estimate_items(items, positions)
    seconds = (time.perf_counter() - begun) / len(samples)
    found = guarded_intervals(quantifier, items, positions, n_bootstrap=options.bootstrap)
    population = item_interval(
        quantifier.unguarded_,
        quantifier.unguarded_items(items),
        positions,
        n_bootstrap=options.bootstrap,
    )
    by_items = item_interval(
        quantifier.unguarded_,
        quantifier.unguarded_items(items),
        positions,
        n_bootstrap=options.bootstrap,
        of="items",
    )
    auc = roc_auc_score(quantifier.held_out_codes_, quantifier.best_.out_of_fold[:, 1])
    accuracies = accuracy_columns(trained, items, samples, positions, found.examined, options)
    for i, (rows, key) in enumerate(zip(samples, keys, strict=True)):
        told = found.examined[i]
        every = np.concatenate(
            [
                told.covariate_by_classifier[:, 1],
                estimate.diagnostics["prior_by_classifier"][i, :, 1],
                [quantifier.prior_[1]],
            ]
        )
        margin = np.hypot(
            HULL_MARGIN, 1.96 * np.sqrt(told.covariate[1] * told.covariate[0] / len(rows))
        )
        yield {
            **common(trained, rows, key, told, found.low[i, 1], found.high[i, 1], auc),
            **{f"p_{name}": float(value) for name, value in told.p_values.items()},
            "z": float(told.z),
            "separation": float(told.auc),
            "explained": float(told.explained),
            "hull_low": max(every.min() - margin, 0.0),
            "hull_high": min(every.max() + margin, 1.0),
            "population_low": population.low[i, 1],
            "population_high": population.high[i, 1],
            "items_low": by_items.low[i, 1],
            "items_high": by_items.high[i, 1],
            "range_low": told.low[1],
            "range_high": told.high[1],
            **{name: float(values[i]) for name, values in accuracies.items()},
            "seconds": seconds,
        }


def accuracy_columns(
    trained: Trained,
    items: Items,
    samples: list[Any],
    positions: list[Any],
    examined: ExaminedSamples,
    options: Any,
) -> dict[str, Any]:
    """The classifier's accuracy on each sample: the truth, and estimates with their limits."""
    quantifier = trained.quantifier
    seen = quantifier.unguarded_items(items).posteriors
    found = {
        method: accuracies(
            quantifier.plain_,
            Items(seen),
            positions,
            method=method,
            n_bootstrap=min(options.bootstrap, 100),
        )
        for method in METHODS
    }
    estimator = PerformanceEstimator(
        quantifier.plain_,
        chosen_measures(["accuracy"], costs=False),
        classes=quantifier.classes_,
        n_replicates=MOST_REPLICATES,
        most_items=MOST_ITEMS,
    )
    answers = [accuracy_answer(estimator, seen[at], examined[i]) for i, at in enumerate(positions)]
    right = seen.argmax(axis=1)
    truth = [
        (right[at] == trained.table.codes[rows]).mean()
        for at, rows in zip(positions, samples, strict=True)
    ]
    return {
        "accuracy": truth,
        "accuracy_training": [found[LEAP].training] * len(samples),
        **{
            f"accuracy_{method}{end}": getattr(each, name)
            for method, each in found.items()
            for end, name in (("", "accuracy"), ("_low", "low"), ("_high", "high"))
        },
        **{
            f"accuracy_answer{end}": [getattr(each, name) for each in answers]
            for end, name in (("", "estimate"), ("_low", "low"), ("_high", "high"))
        },
    }


def accuracy_answer(
    estimator: PerformanceEstimator, posteriors: Any, told: ExaminedSamples
) -> Measured:
    """The accuracy on a sample as `quantify` estimates it."""
    shares = smoothed(estimator.trained.aggregate(posteriors), len(posteriors))
    sample = Sample(posteriors, shares, told.facts, support=float(told.support))
    use = Use(posteriors, posteriors.argmax(axis=1))
    return estimator.of(sample, [use], np.full(1, np.nan))[0].measured[0]


def answered_by_posteriors(
    trained: Trained, samples: list[Any], keys: list[Any], options: Any
) -> Iterator[dict[str, Any]]:
    """A row for every sample, where only posteriors are known."""
    quantifier = trained.quantifier
    items, positions = trained.pooled(samples)
    posteriors = quantifier.unguarded_items(items).posteriors
    told = examined_posteriors(quantifier.plain_, posteriors, positions)
    interval = item_interval(
        quantifier.plain_, Items(posteriors), positions, n_bootstrap=options.bootstrap, of="items"
    )
    sizes = np.array([float(len(rows)) for rows in samples])
    low, high = answer_limits(
        told, None, (interval.low, interval.high), sizes, of="items", level=0.95
    )
    auc = roc_auc_score(quantifier.held_out_codes_, quantifier.best_.out_of_fold[:, 1])
    for i, (rows, key) in enumerate(zip(samples, keys, strict=True)):
        row = common(trained, rows, key, told[i], low[i, 1], high[i, 1], auc)
        yield {**row, "world": "posteriors"}


def common(
    trained: Trained, rows: Any, key: dict[str, Any], told: Any, low: float, high: float, auc: float
) -> dict[str, Any]:
    """The columns of every row."""
    return {
        "table": trained.table.name,
        **key,
        "n": len(rows),
        "n_train": trained.n_train,
        "model_auc": auc,
        "truth": trained.table.codes[rows].mean(),
        "kind": told.grounds.kind.value,
        "reason": told.grounds.reason.value,
        "refuted": bool(told.refuted),
        "estimate": told.estimate[1],
        "prior": told.prior[1],
        "covariate": told.covariate[1],
        "mixed": told.mixed[1],
        "nothing": trained.quantifier.prior_[1],
        "low": low,
        "high": high,
        "allowed_low": told.low[1],
        "allowed_high": told.high[1],
        **{
            f"if_{name}_{end}": limits[k, 1]
            for end, limits in (("low", told.either_low), ("high", told.either_high))
            for k, name in enumerate((Assumption.PRIOR, Assumption.COVARIATE))
        },
        "support": float(told.support),
    }


def synthetic_table(n: int = 8000) -> LabelledTable:
    """Two classes of mixed normal features, of which a model can know about AUC .88."""
    rng = generator(0, purpose="evidence", table="synthetic")
    y = (rng.random(n) < 0.35).astype(np.int64)
    X = rng.normal(size=(n, 6)) + np.outer(y, [1.2, 0.8, 0.6, 0.0, 0.0, 0.0])
    X[:, 4] += 0.7 * X[:, 0]
    return LabelledTable("synthetic", pd.DataFrame(X, columns=list("abcdef")), y)


def summary(answers: pd.DataFrame) -> str:
    """Claims, coverage, widths and errors by world and size."""
    frame = answers.copy()
    frame["interval"] = (frame["kind"] == Kind.INTERVAL) * 1.0
    frame["evidence"] = (frame["reason"] == Reason.EVIDENCE) * 1.0
    frame["covered"], frame["hull"] = holds(frame, "low", "high"), np.nan
    frame["width"] = frame["high"] - frame["low"]
    if "hull_low" in frame:
        frame["hull"] = holds(frame, "hull_low", "hull_high")
        frame["hull width"] = frame["hull_high"] - frame["hull_low"]
        frame["of items"] = holds(frame, "items_low", "items_high")
        frame["items width"] = frame["items_high"] - frame["items_low"]
        frame["population width"] = frame["population_high"] - frame["population_low"]
    frame["refuted"] = frame["refuted"] * 1.0
    for name in ("estimate", "prior", "covariate", "mixed", "nothing"):
        frame[f"|{name}|"] = (frame[name] - frame["truth"]).abs()
    lines = [
        f"{'world':>10} {'n':>5} {'N':>5} {'refuted':>7} {'+-':>4} {'called':>6} {'evid.':>5} "
        f"{'covers':>6} {'+-':>4} {'all':>5} {'+-':>4} {'width':>5} {'hull':>5} {'width':>5} "
        f"{'const':>5} {'estim.':>6} {'SLD':>5} {'PCC':>5} {'Subcl':>5} {'noth.':>5}"
    ]
    for (world, n), part in frame.groupby(["world", "n"], sort=False):
        called = part[part["interval"] == 1]
        means = part.mean(numeric_only=True)
        lines.append(
            f"{world:>10} {n:5d} {len(part):5d} {means['refuted']:7.3f} "
            f"{error(part, 'refuted'):4.2f} {means['interval']:6.3f} {means['evidence']:5.2f} "
            f"{called['covered'].mean():6.3f} {error(called, 'covered'):4.2f} "
            f"{means['covered']:5.2f} {error(part, 'covered'):4.2f} {means['width']:5.2f} "
            f"{means.get('hull', np.nan):5.2f} {means.get('hull width', np.nan):5.2f} "
            f"{constant_width(part):5.2f} "
            + " ".join(
                f"{means[f'|{name}|']:{width}.3f}"
                for name, width in zip(
                    ("estimate", "prior", "covariate", "mixed", "nothing"),
                    (6, 5, 5, 5, 5),
                    strict=True,
                )
            )
        )
    if "items_low" in frame:
        lines.append("\nIntervals of label shift for the items, where there is label shift")
        chosen = frame[frame["world"] == "prior"]
        for (table, n), part in chosen.groupby(["table", "n"], sort=False):
            lines.append(
                f"{table:>24} AUC {part['model_auc'].mean():.2f} {n:5d} {len(part):4d} covers "
                f"{part['of items'].mean():.3f} +- {error(part, 'of items'):.3f}, width "
                f"{part['items width'].mean():.3f} (population "
                f"{part['population width'].mean():.3f}), kept "
                f"{part['interval'].mean():.2f} +- {error(part, 'interval'):.2f}"
            )
    return "\n".join(lines)


def kinds_summary(answers: pd.DataFrame) -> str:
    """Kinds of answers by world, and what they are worth beside PCC +- .20.

    The interval score is the width plus 40 times the distance of a miss; of two intervals their
    length together, and the distance from the nearer one. The cost of decisions is that of "is the
    share above t?", t = .05 ... .95: a wrong act costs 1, asking for labels .1.
    """
    if "if_prior_low" not in answers:
        return ""
    frame = answers.copy()
    shown = pd.DataFrame([_shown_limits(row) for row in frame.itertuples()], index=frame.index)
    mean = frame["covariate"]
    rival = pd.DataFrame({"parts": [[(p - 0.2, p + 0.2)] for p in mean]}, index=frame.index)
    for name, parts in (("answer", shown["parts"]), ("PCC +- .20", rival["parts"])):
        pairs = list(zip(parts, frame["truth"], strict=True))
        frame[f"length {name}"] = [sum(high - low for low, high in ends) for ends, _ in pairs]
        frame[f"miss {name}"] = [
            min(max(low - truth, truth - high, 0.0) for low, high in ends) for ends, truth in pairs
        ]
        frame[f"score {name}"] = frame[f"length {name}"] + 40 * frame[f"miss {name}"]
        frame[f"held {name}"] = (frame[f"miss {name}"] < 1e-9) * 1.0
        frame[f"cost {name}"] = [_cost(ends, truth) for ends, truth in pairs]
    kinds = [kind.value for kind in Kind if (frame["kind"] == kind.value).any()]
    lines = [
        f"\n{'world':>10} {'N':>5} {' '.join(f'{kind:>8}' for kind in kinds)}   "
        + "   ".join(f"{name}: holds +- length score +- cost" for name in ("answer", "PCC +- .20"))
    ]
    for world, part in frame.groupby("world", sort=False):
        shares = " ".join(f"{(part['kind'] == kind).mean():8.2f}" for kind in kinds)
        texts = [
            f"{part[f'held {name}'].mean():.3f} {error(part, f'held {name}'):.3f} "
            f"{part[f'length {name}'].mean():.2f} {part[f'score {name}'].mean():.2f} "
            f"{error(part, f'score {name}'):.2f} {part[f'cost {name}'].mean():.3f}"
            for name in ("answer", "PCC +- .20")
        ]
        lines.append(f"{world:>10} {len(part):5d} {shares}   {'   '.join(texts)}")
    return "\n".join(lines)


def _shown_limits(row: Any) -> dict[str, Any]:
    """The limits that a user sees, of one interval or of two."""
    if row.kind != Kind.EITHER:
        return {"parts": [(row.low, row.high)]}
    names = (Assumption.PRIOR, Assumption.COVARIATE)
    return {"parts": [(getattr(row, f"if_{a}_low"), getattr(row, f"if_{a}_high")) for a in names]}


def _cost(parts: list[tuple[float, float]], truth: float) -> float:
    """The mean cost of decisions by limits; of two intervals both must agree."""
    costs = []
    for threshold in np.arange(0.05, 0.96, 0.05):
        above = {low > threshold for low, _ in parts}
        below = {high < threshold for _, high in parts}
        if above == {True} or below == {True}:
            costs.append(float((above == {True}) != (truth > threshold)))
        else:
            costs.append(0.1)
    return float(np.mean(costs))


def accuracy_summary(answers: pd.DataFrame) -> str:
    """Errors of the accuracy without labels by world, and coverage of what is called an interval.

    There is no answer if a range is too wide. Errors are on the samples that have one, whose share
    is in the column `answered`.
    """
    if "accuracy_answer" not in answers:
        return ""
    frame = answers[answers["accuracy"].notna()].copy()
    frame["held"] = (frame["accuracy_answer_low"] <= frame["accuracy"] + 1e-9) & (
        frame["accuracy"] <= frame["accuracy_answer_high"] + 1e-9
    )
    frame["interval"] = frame["kind"] == Kind.INTERVAL
    names = [*METHODS, "training", "answer"]
    head = " ".join(f"{name:>10}" for name in names)
    lines = [
        f"\nAccuracy without labels\n{'world':>10} {head} {'+-':>5} answered interval covers, range"
    ]
    for world, part in frame.groupby("world", sort=False):
        told = part[part["accuracy_answer"].notna()]
        errors = {name: (told[f"accuracy_{name}"] - told["accuracy"]).abs() for name in names}
        cells = " ".join(f"{each.mean():10.3f}" for each in errors.values())
        off = error(told.assign(off=errors["answer"]), "off")
        held = [part.loc[part["interval"] == called, "held"] for called in (True, False)]
        covers = ", ".join(f"{each.mean():.2f} ({len(each)})" for each in held)
        lines.append(f"{world:>10} {cells} {off:5.3f} {len(told) / len(part):8.2f} {covers}")
    return "\n".join(lines)


def constant_width(part: pd.DataFrame) -> float:
    """The width of PCC plus and minus a constant that covers as much as the answers do."""
    away = np.sort(np.abs(part["truth"] - part["covariate"]).to_numpy())
    covered = holds(part, "low", "high").mean()
    c = away[min(int(np.ceil(covered * len(away))), len(away)) - 1] if covered > 0 else 0.0
    low, high = (part["covariate"] - c).clip(0, 1), (part["covariate"] + c).clip(0, 1)
    return float((high - low).mean())


def error(part: pd.DataFrame, column: str) -> float:
    """Standard error of a mean, clustered by training set; NaN for a single set."""
    if part["set"].nunique() < 2:
        return float("nan")
    return float(clustered_error(part[column].to_numpy(dtype=float), part["set"].to_numpy()))


if __name__ == "__main__":
    main()
