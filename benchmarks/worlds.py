"""What `quantify` says in worlds of known change, whether it holds, and what it is worth.

    python benchmarks/worlds.py [--tables development] [--worlds prior,feature,...]
        [--sizes 50,200,1000] [--natural-sizes 120,500] [--first-repeat 0] [--repeats 2]
        [--samples 2] [--replicates 200] [--csv FILE] [--read FILE [FILE ...]]

Every repetition trains on at most 2,000 random rows of a table and draws samples of the others:

    prior      the classes in a share that is uniform from .05 to .95
    feature    with probability e^(b x) of one standardised feature, |b| from 1 to 2
    score      with probability e^(b rank) of another model's score, |b| from 1 to 3.5
    half       from the upper or the lower half of these scores
    picked     with probability equal to this score, or to one minus it
    mixed      as `feature`, and the classes in another share
    opposed    as `score`, and the classes in another share, which the selection can hide
    natural    groups: trained on one (two of each column), estimated on the others
    time       a column of years: trained on the earlier ones, estimated on the next

and damages them, with the classes in another share:

    copies     every row five times
    dead       the column that says most is empty, or always the same; the fit knows the sample
    saved      the same, with a saved model that does not
    units      a column of numbers times 1,000
    gaps       a third of all cells empty
    renamed    the most frequent level of a category has another name
    mislabelled a tenth of the training labels are wrong

Printed by world: how many answers are of each kind; how often intervals and `either` hold, and all
answers; their length; the error where a share is named; the interval score; the cost of decisions;
both beside PCC +- .20, the cost also beside PCC, SLD and doing nothing (the share of training).
The interval score is the width plus 40 times the distance of a miss; of two intervals their length
together, and the distance from the nearer one. The cost is that of "is the share above t?",
t = .05 ... .95: a wrong act costs 1, asking for labels .1; limits on one side of t act, others ask;
of two intervals both must agree. Standard errors are over training sets.

Then the aims: label shifts with an AUC of .8 or more and 200 items or more that get an interval,
an `either` or a range of at most .25, by how far the share has moved; and the length of `either`.

--tables: "development" (to choose constants), "kept" (to report), or names. --read: print what
--csv has written instead of simulating.
"""

import argparse
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import OrdinalEncoder
from threadpoolctl import threadpool_limits

from coverage_tables import TABLES, clustered_error
from natural import GROUPS, SMALLEST, SMALLEST_CLASS, SMALLEST_TRAINING
from parts.real_tables import LabelledTable, load
from quantshift import quantify, train
from quantshift.base.seeding import generator
from quantshift.claims import WIDEST, Kind, Reason

TILTED = ("prior", "feature", "score", "half", "picked", "mixed", "opposed")
DAMAGED = ("copies", "dead", "saved", "units", "gaps", "renamed", "mislabelled")
GIVEN = ("natural", "time")
TIME = {"weather_australia": "Year"}
MOST_TRAINING, TRAINING_GROUPS, MOST_GROUPS = 2000, 2, 6
DAMAGED_SIZE, COPIES, WRONG_LABELS = 500, 5, 0.1
LABEL, POSITIVE = "is positive", "yes"
RIVAL = 0.2
"""What is added to PCC and subtracted from it."""

Parts = list[tuple[float, float]]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tables", default="development")
    parser.add_argument("--worlds", default=",".join([*TILTED, *GIVEN, *DAMAGED]))
    parser.add_argument("--sizes", default="50,200,1000")
    parser.add_argument("--natural-sizes", default="120,500")
    parser.add_argument("--first-repeat", type=int, default=0)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--samples", type=int, default=2, help="of each world and size")
    parser.add_argument("--replicates", type=int, default=200)
    parser.add_argument("--csv", help="write the answers to this file, table by table")
    parser.add_argument("--read", nargs="+", help="print the answers in these files")
    options = parser.parse_args()
    begun = time.process_time()
    if options.read:
        answers = pd.concat([pd.read_csv(path) for path in options.read], ignore_index=True)
    else:
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answers = run(options)
    print(by_world(answers))
    print(aims(answers))
    print(f"{time.process_time() - begun:.0f} s of processor time")


def run(options: argparse.Namespace) -> pd.DataFrame:
    """A row for every sample."""
    worlds = options.worlds.split(",")
    found: list[dict[str, Any]] = []
    for name in TABLES.get(options.tables) or options.tables.split(","):
        table = load(name)
        for repeat in range(options.first_repeat, options.first_repeat + options.repeats):
            found += of_random_rows(table, repeat, worlds, options)
        for world, columns in (("natural", GROUPS.get(name, ())), ("time", [TIME.get(name)])):
            for column in columns if world in worlds else ():
                if column is not None:
                    found += of_groups(table, column, options, in_time=world == "time")
        if options.csv:
            pd.DataFrame(found).to_csv(options.csv, index=False)
    return pd.DataFrame(found)


@dataclass(frozen=True, eq=False)
class Trained:
    """A model and the rows it was trained on. auc: of its held-out posteriors."""

    table: LabelledTable
    training: pl.DataFrame
    model: Any
    auc: float
    key: dict[str, Any]

    @classmethod
    def on(cls, table: LabelledTable, rows: Any, codes: Any, key: dict[str, Any]) -> "Trained":
        """Trained on these rows of a table, with these codes as labels."""
        labels = pd.Series(np.where(codes == 1, POSITIVE, "no"), index=rows, name=LABEL)
        columns = table.columns.iloc[rows].reset_index(drop=True)
        training = pl.from_pandas(columns).with_columns(pl.Series(LABEL, labels.to_numpy()))
        model = train(training, label=LABEL, positive=POSITIVE)
        posteriors, held_out_codes = model.held_out
        auc = float(roc_auc_score(held_out_codes, posteriors[:, 1]))
        return cls(table, training, model, auc, {"table": table.name, **key})

    def answered(
        self, world: str, sample: pd.DataFrame, codes: Any, options: Any, *, fitted: bool = False
    ) -> dict[str, Any]:
        """A row: what is said about a sample. fitted: whether the fit knows it."""
        frame = pl.from_pandas(sample.reset_index(drop=True))
        trained_by: dict[str, Any] = (
            {"train": self.training, "label": LABEL, "positive": POSITIVE}
            if fitted
            else {"model": self.model}
        )
        found = quantify(frame, replicates=options.replicates, **trained_by)
        (batch,) = found.batches  # type: ignore[union-attr]
        share = next(each for each in batch.shares if each.label == POSITIVE)
        ends = [(part.low, part.high) for part in (share.either or (share,))]
        posteriors = self.model.posteriors(self.model.items(frame))
        return {
            **self.key,
            "world": world,
            "n": len(frame),
            "model_auc": self.auc,
            "truth": float(np.mean(codes)),
            "kind": batch.kind.value,
            "reason": batch.reason.value,
            "estimate": share.estimate,
            "first_low": ends[0][0],
            "first_high": ends[0][1],
            "second_low": ends[-1][0],
            "second_high": ends[-1][1],
            "PCC": float(posteriors[:, 1].mean()),
            "SLD": float(self.model.base.aggregate(posteriors)[1]),
            "nothing": float(self.model.base.prior_[1]),
        }


def of_random_rows(
    table: LabelledTable, repeat: int, worlds: Sequence[str], options: argparse.Namespace
) -> Iterator[dict[str, Any]]:
    """Answers about samples drawn from the rows that are not trained on."""
    rng = generator(0, purpose="worlds", table=table.name, repeat=repeat)
    order = rng.permutation(len(table.codes))
    rows, pool = np.split(order, [min(MOST_TRAINING, len(order) // 2)])
    chosen = [world for world in (*TILTED, *DAMAGED) if world in worlds]
    if not chosen:
        return
    key = {"set": f"{table.name}/{repeat}"}
    trained = Trained.on(table, rows, table.codes[rows], key)
    y, columns = table.codes[pool], table.columns.iloc[pool]
    X = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1).fit(table.columns)
    coded = X.transform(table.columns)
    rival = HistGradientBoostingClassifier(max_iter=50, random_state=0)
    scores = rival.fit(coded[rows], table.codes[rows]).predict_proba(coded[pool])[:, 1]
    for world in (world for world in TILTED if world in chosen):
        for size in (n for n in map(int, options.sizes.split(",")) if n <= len(pool)):
            for _ in range(options.samples):
                at = drawn(world, size, y, scores, coded[pool], rng)
                yield trained.answered(world, columns.iloc[at], y[at], options)
    for world in (world for world in DAMAGED if world in chosen):
        for _ in range(options.samples):
            at = drawn("prior", min(DAMAGED_SIZE, len(pool) // 2), y, scores, coded[pool], rng)
            yield damaged(trained, world, rows, columns.iloc[at], y[at], (options, rng))


def drawn(world: str, n: int, y: Any, scores: Any, X: Any, rng: np.random.Generator) -> Any:
    """Positions in the pool of a sample of a world."""
    rank = scores.argsort().argsort() / len(scores)
    if world == "prior":
        n_positive = rng.binomial(n, rng.uniform(0.05, 0.95))
        members, wanted = [np.flatnonzero(y == k) for k in (0, 1)], [n - n_positive, n_positive]
        # No row is drawn twice: what cannot be had of a class is left out of both.
        part = min(1.0, *(len(m) / max(k, 1) for m, k in zip(members, wanted, strict=True)))
        return np.concatenate(
            [
                rng.choice(m, int(part * k), replace=False)
                for m, k in zip(members, wanted, strict=True)
            ]
        )
    if world == "half":
        half = np.flatnonzero((rank > 0.5) == (rng.random() < 0.5))
        return rng.choice(half, min(n, len(half)), replace=False)
    if world == "picked":
        odds = np.maximum(scores if rng.random() < 0.5 else 1 - scores, 1e-6)
    elif world in ("score", "opposed"):
        odds = np.exp(rng.choice([-1, 1]) * rng.uniform(1, 3.5) * rank)
    else:
        spread = X.std(axis=0)
        j = rng.choice(np.flatnonzero(spread > 0))
        x = np.clip((X[:, j] - X[:, j].mean()) / spread[j], -3, 3)
        odds = np.exp(rng.choice([-1, 1]) * rng.uniform(1, 2) * x)
    if world in ("opposed", "mixed"):
        p = rng.uniform(0.05, 0.95)
        odds = odds * np.where(y == 1, p / odds[y == 1].sum(), (1 - p) / odds[y == 0].sum())
    return rng.choice(len(y), min(n, len(y) // 3), replace=False, p=odds / odds.sum())


def damaged(
    trained: Trained, world: str, rows: Any, sample: pd.DataFrame, codes: Any, context: Any
) -> dict[str, Any]:
    """The answer about a sample that is damaged, or by a model that was trained on wrong labels."""
    options, rng = context
    sample, numbers = sample.copy(), sample.select_dtypes("number").columns
    if world == "copies":
        part = rng.permutation(len(sample))[: len(sample) // COPIES]
        at = np.repeat(part, COPIES)
        return trained.answered(world, sample.iloc[at], codes[at], options)
    if world in ("dead", "saved"):
        column = best_column(trained, rows)
        sample[column] = trained.table.columns[column].mode()[0] if rng.random() < 0.5 else None
    elif world == "units" and len(numbers):
        column = rng.choice(numbers)
        sample[column] = sample[column] * 1000
    elif world == "gaps":
        sample = sample.mask(rng.random(sample.shape) < 1 / 3)
    elif world == "renamed" and len(numbers) < sample.shape[1]:
        column = rng.choice([name for name in sample if name not in numbers])
        usual = sample[column].mode()[0]
        sample[column] = sample[column].replace(usual, f"{usual} (new)")
    elif world == "mislabelled":
        labels = trained.table.codes[rows]
        wrong = rng.random(len(labels)) < WRONG_LABELS
        key = {name: value for name, value in trained.key.items() if name != "table"}
        by_wrong = Trained.on(trained.table, rows, np.where(wrong, 1 - labels, labels), key)
        return by_wrong.answered(world, sample, codes, options)
    return trained.answered(world, sample, codes, options, fitted=world == "dead")


def best_column(trained: Trained, rows: Any) -> str:
    """The column that says most about the label on its own."""
    columns, y = trained.table.columns.iloc[rows], trained.table.codes[rows]
    tree = HistGradientBoostingClassifier(max_iter=10, random_state=0)
    areas = {}
    for name in columns:
        x = columns[[name]]
        if not pd.api.types.is_numeric_dtype(x[name]):
            x = x[name].astype("category").cat.codes.to_frame()
        half = len(x) // 2
        scores = tree.fit(x[:half], y[:half]).predict_proba(x[half:])[:, 1]
        areas[str(name)] = roc_auc_score(y[half:], scores)
    return max(areas, key=lambda name: areas[name])


def of_groups(
    table: LabelledTable, column: str, options: argparse.Namespace, *, in_time: bool
) -> Iterator[dict[str, Any]]:
    """Answers about groups of a column, or about years by a model of the earlier ones."""
    groups = table.columns[column].astype(str).to_numpy()
    groups[table.columns[column].isna().to_numpy()] = ""
    names, sizes = np.unique(groups[groups != ""], return_counts=True)
    large = [str(name) for name in names[sizes >= SMALLEST]]
    bare = LabelledTable(table.name, table.columns.drop(columns=column), table.codes)
    world = "time" if in_time else "natural"
    if in_time:
        sides = [(large[:k], [large[k]]) for k in range(2, len(large))]
    else:
        able = [
            name
            for name in sorted(large, key=lambda name: (-(groups == name).sum(), name))
            if (groups == name).sum() >= SMALLEST_TRAINING
        ]
        sides = [
            ([name], [other for other in large if other != name][:MOST_GROUPS])
            for name in able[:TRAINING_GROUPS]
        ]
    for trained_on, others in sides:
        key = {"set": f"{table.name}/{column}/{trained_on[-1]}"}
        rng = generator(0, purpose="worlds", table=table.name, column=column, set=key["set"])
        rows = rng.permutation(np.flatnonzero(np.isin(groups, trained_on)))[:MOST_TRAINING]
        if np.bincount(table.codes[rows], minlength=2).min() < SMALLEST_CLASS:
            continue
        trained = Trained.on(bare, rows, table.codes[rows], key)
        for other in others:
            members = rng.permutation(np.flatnonzero(groups == other))
            for size in map(int, options.natural_sizes.split(",")):
                at = members[:size]
                if len(at) == size:
                    yield trained.answered(world, bare.columns.iloc[at], table.codes[at], options)


def measured(answers: pd.DataFrame) -> pd.DataFrame:
    """The answers with what they are worth."""
    frame = answers.copy()
    shown = [shown_parts(row) for row in frame.itertuples()]
    rival = [[(max(p - RIVAL, 0.0), min(p + RIVAL, 1.0))] for p in frame["PCC"]]
    truths = frame["truth"].to_numpy()
    for name, parts in (("", shown), (" of rival", rival)):
        frame[f"length{name}"] = [sum(high - low for low, high in ends) for ends in parts]
        misses = [missed(ends, truth) for ends, truth in zip(parts, truths, strict=True)]
        frame[f"held{name}"] = (np.array(misses) <= 1e-9) * 1.0
        frame[f"score{name}"] = frame[f"length{name}"] + 40 * np.array(misses)
        frame[f"cost{name}"] = [cost(ends, t) for ends, t in zip(parts, truths, strict=True)]
    for name in ("PCC", "SLD", "nothing"):
        points: Any = zip(frame[name], truths, strict=True)
        frame[f"cost of {name}"] = [cost([(p, p)], truth) for p, truth in points]
    frame["error"] = (frame["estimate"] - frame["truth"]).abs()
    frame["claims"] = frame["kind"].isin([Kind.INTERVAL.value, Kind.EITHER.value])
    return frame


def shown_parts(row: Any) -> Parts:
    """The limits that a user sees, of one interval or of two."""
    first, second = (row.first_low, row.first_high), (row.second_low, row.second_high)
    return [first, second] if row.kind == Kind.EITHER.value else [first]


def missed(parts: Parts, truth: float) -> float:
    """How far the truth is from the nearest interval."""
    return min(max(low - truth, truth - high, 0.0) for low, high in parts)


def cost(parts: Parts, truth: float) -> float:
    """The mean cost of decisions by limits."""
    costs = []
    for threshold in np.arange(0.05, 0.96, 0.05):
        above = all(low > threshold for low, _ in parts)
        below = all(high <= threshold for _, high in parts)
        costs.append(float(above != (truth > threshold)) if above or below else 0.1)
    return float(np.mean(costs))


def by_world(answers: pd.DataFrame) -> str:
    """A table in Markdown with a line for each world."""
    frame = measured(answers)
    kinds = [kind.value for kind in (Kind.INTERVAL, Kind.EITHER, Kind.RANGE, Kind.CANNOT)]
    head = ["world", "samples", ", ".join(kinds), "refuted", "interval or either holds"]
    head += ["all hold", "length", "error", "interval score, of PCC ± .20"]
    head += ["cost of decisions, of PCC ± .20", "of PCC, SLD, nothing"]
    rows = []
    for world, part in frame.groupby("world", sort=False):
        means = part.mean(numeric_only=True)
        cells = [
            joined([(part["kind"] == kind).mean() for kind in kinds]),
            joined([(part["reason"] == Reason.REFUTED.value).mean()]),
            with_error(part[part["claims"]], "held"),
            with_error(part, "held"),
            joined([means["length"]]),
            joined([means["error"]], digits=3),
            joined([means["score"], means["score of rival"]]),
            joined([means["cost"], means["cost of rival"]], digits=3),
            joined([means[f"cost of {name}"] for name in ("PCC", "SLD", "nothing")], digits=3),
        ]
        rows.append([str(world), str(len(part)), *cells])
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def joined(values: Sequence[float], *, digits: int = 2) -> str:
    """Numbers without their leading zeros."""
    texts = (f"{value:.{digits}f}" for value in values)
    return ", ".join(text[1:] if text.startswith("0.") else text for text in texts)


def aims(answers: pd.DataFrame) -> str:
    """How useful the answers to label shifts are, and how long `either` is."""
    frame = measured(answers)
    told = frame[(frame["world"] == "prior") & (frame["n"] >= 180) & (frame["model_auc"] >= 0.8)]
    short = (told["kind"] == Kind.RANGE.value) & (told["length"] <= 0.25)
    told = told.assign(useful=(told["claims"] | short) * 1.0)
    moved = (told["truth"] - told["nothing"]).abs()
    lines = [f"\nlabel shifts, AUC >= .8, n >= 200: useful {with_error(told, 'useful')}"]
    for low, high in ((0.0, 0.15), (0.15, 0.35), (0.35, 1.0)):
        part = told[(moved >= low) & (moved < high)]
        lines.append(f"  moved by {low:.2f} to {high:.2f}: {with_error(part, 'useful')}")
    either = frame[frame["kind"] == Kind.EITHER.value]
    lines.append(
        f"either: holds {with_error(either, 'held')}, length {either['length'].mean():.2f}"
    )
    natural = frame[frame["world"] == "natural"]
    none = (natural["length"] > WIDEST).mean()
    lines.append(f"natural: none {none:.2f}, all hold {with_error(natural, 'held')}")
    return "\n".join(lines)


def with_error(part: pd.DataFrame, column: str) -> str:
    """A mean, its standard error over training sets, and of how many."""
    if part.empty:
        return "-"
    mean = joined([part[column].mean()])
    if part["set"].nunique() < 2:
        return f"{mean} ({len(part)})"
    error = clustered_error(part[column].to_numpy(dtype=float), part["set"].to_numpy())
    return f"{mean} ± {joined([float(error)])} ({len(part)})"


if __name__ == "__main__":
    main()
