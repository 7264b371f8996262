"""How many labels decide between the two numbers of an answer without evidence, and how often the
decision is wrong.

    python benchmarks/deciding_labels.py [--tables development] [--worlds prior,score,feature,mixed]
        [--sizes 200,1000] [--first-repeat 0] [--repeats 1] [--samples 6] [--orders 10]
        [--most 80]

Samples are drawn as in `worlds.py`. Where `GuardedSLD` has no evidence and its two named numbers
are apart, the labels of random items are given one by one, in `--orders` random orders, until the
test of `quantshift.labelling.deciding` decides, or `--most` labels are given. A decision is wrong
if the number that is settled is further from the truth than the other one; `other_world` counts
those for the number of the assumption that does not hold, which may be the nearer one. By table
and by world, with standard errors clustered by sample: how often the answer names two numbers, how
far they are apart, labels (all `--most` where nothing is decided), outcomes and wrong decisions;
`covered` is the coverage of the audit's interval that holds at every look, when the test ends.

--tables: "development" (to choose constants), "kept" (to report), names, or "synthetic", which is
the default without QUANTSHIFT_TABLES.
"""

import argparse
import os
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from coverage_tables import TABLES
from parts.guarded_tables import MOST_TRAINING, Trained
from parts.real_tables import LabelledTable, load
from quantshift.base.seeding import generator
from quantshift.claims import AGREEING, Reason
from quantshift.labelling.audit import reweigh
from quantshift.labelling.deciding import ERROR, FIRST, OPEN, SECOND, TRUST, decide
from quantshift.labelling.sequence import Scores, confidence_sequence
from refutation import dense
from worlds import drawn


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    known = "QUANTSHIFT_TABLES" in os.environ
    parser.add_argument("--tables", default="development" if known else "synthetic")
    parser.add_argument("--worlds", default="prior,score,feature,mixed")
    parser.add_argument("--sizes", default="200,1000")
    parser.add_argument("--first-repeat", type=int, default=0)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--samples", type=int, default=6, help="of each world and size")
    parser.add_argument("--orders", type=int, default=10, help="of labelling, for each sample")
    parser.add_argument("--most", type=int, default=80, help="labels")
    options = parser.parse_args()
    begun = time.perf_counter()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = pd.DataFrame(list(run(options)))
    for keys in (["table"], ["world"], ["size"]):
        print(summary(found, keys).to_string(float_format="%.3f"), "\n")
    by_table = summary(found, ["table"])
    print(f"mean over tables: {by_table['labels'].mean():.1f} labels, ", end="")
    print(f"{by_table['wrong'].mean():.3f} wrong; {time.perf_counter() - begun:.0f} s")


def run(options: Any) -> Iterator[dict[str, Any]]:
    """A row for every sample and, where it names two numbers, for every order of labelling."""
    names = TABLES.get(options.tables) or options.tables.split(",")
    for name in names:
        table = synthetic_table() if name == "synthetic" else load(name)
        for repeat in range(options.first_repeat, options.first_repeat + options.repeats):
            yield from of_table(table, repeat, options)


def of_table(table: LabelledTable, repeat: int, options: Any) -> Iterator[dict[str, Any]]:
    """What labels decide on samples of the rows that are not trained on."""
    rng = generator(0, purpose="deciding labels", table=table.name, repeat=repeat)
    n = len(table.codes)
    train = rng.permutation(n)[: min(MOST_TRAINING, n // 2)]
    pool = np.setdiff1d(np.arange(n), train)
    trained = Trained.on(table, train)
    quantifier = trained.quantifier
    items = quantifier.items(trained.view.transform(pool))
    posteriors = quantifier.unguarded_items(items).posteriors
    X = dense(trained.view.transform(pool))
    y = table.codes[pool]
    samples, keys = [], []
    for size in map(int, options.sizes.split(",")):
        for world in options.worlds.split(","):
            for _ in range(options.samples if size <= len(pool) else 0):
                samples.append(drawn(world, size, y, posteriors[:, 1], X, rng))
                keys.append({"table": table.name, "world": world, "size": size})
    found = quantifier.examined(quantifier.estimate_items(items, samples))
    for i, (rows, key) in enumerate(zip(samples, keys, strict=True)):
        first, second = (float(p[i, 1]) for p in (found.prior, found.covariate))
        # A range that is too wide names the two numbers as well.
        asked = found.grounds[i].reason is Reason.NO_EVIDENCE
        asked = asked and abs(first - second) >= AGREEING
        key = {**key, "sample": f"{table.name}/{repeat}/{i}", "asked": float(asked)}
        if not asked:
            yield key
            continue
        scores = reweigh(posteriors[rows], quantifier.plain_.prior_, found.estimate[i])
        for _ in range(options.orders):
            order = rng.permutation(len(rows))[: options.most]
            yield {**key, **decided(y[rows], scores, order, (first, second), key["world"])}


def synthetic_table(n: int = 8000) -> LabelledTable:
    """Two classes of mixed normal features, of which a model can know about AUC .88."""
    rng = generator(0, purpose="evidence", table="synthetic")
    y = (rng.random(n) < 0.35).astype(np.int64)
    X = rng.normal(size=(n, 6)) + np.outer(y, [1.2, 0.8, 0.6, 0.0, 0.0, 0.0])
    X[:, 4] += 0.7 * X[:, 0]
    return LabelledTable("synthetic", pd.DataFrame(X, columns=list("abcdef")), y)


def decided(
    y: Any, posteriors: Any, order: Any, shares: tuple[float, float], world: str
) -> dict[str, Any]:
    """What the labels decide if they are given in this order."""
    first, second = shares
    labels = y[order].astype(float)
    scores = Scores.of(posteriors[:, 1], order, labels, trust=TRUST)
    found = decide(labels, first, second, n_items=len(y), scores=scores)
    against = np.stack([found.against_first, found.against_second]) >= 1 / ERROR
    ended = np.flatnonzero(against.any(axis=0))
    n_labels = int(ended[0]) + 1 if len(ended) else len(order)
    # People stop when something is decided; both may be rejected by the same label.
    rejected = against[:, n_labels - 1]
    outcome = OPEN if not rejected.any() else SECOND if rejected[0] else FIRST
    outcome = "neither" if rejected.all() else outcome
    truth = float(y.mean())
    right = {"prior": FIRST, "score": SECOND, "feature": SECOND}.get(world)
    errors = {FIRST: abs(first - truth), SECOND: abs(second - truth)}
    other = {FIRST: SECOND, SECOND: FIRST}
    sequence = confidence_sequence(
        y[order[:n_labels]], 2, posteriors=posteriors, items=order[:n_labels]
    )
    return {
        "apart": abs(first - second),
        "labels": n_labels,
        "open": float(outcome == OPEN),
        "neither": float(outcome == "neither"),
        "wrong": float(outcome in errors and errors[outcome] > errors[other[outcome]]),
        "other_world": float(right is not None and outcome == other[right]),
        "covered": float(sequence.low[-1, 1] <= truth <= sequence.high[-1, 1]),
    }


def summary(found: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Means over samples, each of which counts once."""
    samples = found.groupby([*keys, "sample"]).mean(numeric_only=True)
    asked = samples[samples["asked"] > 0].groupby(keys)
    table = asked[["apart", "labels", "open", "neither", "wrong", "other_world", "covered"]].mean()
    table["wrong_se"] = asked["wrong"].sem()
    table["labels_se"] = asked["labels"].sem()
    table.insert(0, "asked", samples.groupby(keys)["asked"].mean())
    return table


if __name__ == "__main__":
    main()
