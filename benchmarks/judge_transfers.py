"""Labels of other sources: coverage and width of what `judge` says, between sources of real tables.

    QUANTSHIFT_TABLES=DIR QUANTSHIFT_JUDGES=DIR python benchmarks/judge_transfers.py
        [--tables kept|dev] [--pairs 12] [--seed 1]

Every pair of sources of a table (systems, topics, queries) with 50 items or more, 30 of JudgeBench,
is a transfer: the items of one are in question, and those of another, or of all others, are
labelled. `dev` are the tables that the spreads of `designs/parts/moving_rates.py` come from,
PandaLM by pair of systems and the relevance judgements of the development queries; nothing was
chosen on the `kept` ones: MT-bench by category and by either model, JudgeBench by source, and the
relevance judgements of the test queries. Beside the range: what the two assumptions would give, 30
labels of random items in question alone (ours, PPI and the formula of Rogan and Gladen with their
limits by the bootstrap), and these together with those of one other source.

Coverage and mean width; `+-` is the Monte Carlo standard error over transfers, as if these were
independent. About two minutes of processor time.
"""

import argparse
import csv
import gzip
import io
import os
import warnings
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from parts.real_tables import tables_dir
from quantshift.base.seeding import generator
from quantshift.judging.designs.parts.moving_rates import moving_shares
from quantshift.judging.estimating.estimation import estimate
from quantshift.judging.items.judged_items import ExternalLabels, JudgedItems, Settings
from quantshift.judging.items.meaning import Meaning

N_PROBES, WIDEST = 30, 0.4
Limits = tuple[float, float]


def rows(path: Path) -> list[dict[str, str]]:
    """The rows of a table."""
    content = path.read_bytes()
    text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode()
    return list(csv.DictReader(io.StringIO(text)))


def named_tables(which: str) -> Iterator[tuple[str, list[tuple[str, bool, bool]]]]:
    """Source, label and verdict of every item, for each table and judge."""
    tables = tables_dir()
    if "QUANTSHIFT_JUDGES" not in os.environ:
        print("skipped: this needs real verdicts; set QUANTSHIFT_JUDGES to their folder")
        raise SystemExit(0)
    judges = Path(os.environ["QUANTSHIFT_JUDGES"])
    relevance = rows(tables / "llm_judge_relevance.csv")
    split = "dev" if which == "dev" else "test"
    for judge in ("judge_questions", "judge_nuggets", "judge_direct", "judge_fitted"):
        for grade in (1, 2):
            found = [
                (r["query"], int(r["human"]) >= grade, int(r[judge]) >= grade)
                for r in relevance
                if r["split"] == split and r[judge]
            ]
            if found and (split == "test" or judge in ("judge_questions", "judge_nuggets")):
                yield f"relevance >= {grade}, {judge[6:]}", found
    if which == "dev":
        panda = rows(judges / "pandalm.csv.gz")
        for judge in ("gpt35", "pandalm7b"):
            for win in ("first", "second"):
                yield (
                    f"PandaLM {win}, {judge}",
                    [(r["pair"], r["human"] == win, r[judge] == win) for r in panda if r[judge]],
                )
        return
    bench = rows(tables / "llm_judge_mtbench.csv")
    for by in ("category", "model_a", "model_b"):
        won = [(r[by], r["human"] == "model_b", r["judge"] == "model_b") for r in bench]
        yield f"MT-bench by {by}", won
    pairs = rows(judges / "judgebench.csv.gz")
    for judge in (name for name in pairs[0] if name.endswith("_first_order")):
        agree = [(r["source"], r["label"] == "A>B", r[judge] == "A>B") for r in pairs if r[judge]]
        yield f"JudgeBench, {judge.removesuffix('_first_order')}", agree


def by_source(items: list[tuple[str, bool, bool]], fewest: int) -> np.ndarray:
    """Items by class and verdict of each source, (n_sources, 2, 2)."""
    counts: dict[str, np.ndarray] = defaultdict(lambda: np.zeros((2, 2)))
    for source, label, verdict in items:
        counts[source][int(label), int(verdict)] += 1
    return np.array(
        [c for c in counts.values() if c.sum() >= fewest and c.sum(axis=1).min() >= 3]
    ).reshape(-1, 2, 2)


def spelled_out(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Labels and verdicts of as many items."""
    n = counts.ravel().astype(int)
    return np.repeat([0, 0, 1, 1], n), np.repeat([0, 1, 0, 1], n)


def rivals(y: np.ndarray, v: np.ndarray, q: float, rng: np.random.Generator) -> dict[str, Limits]:
    """Of labels y and verdicts v of the probes; q: the share of the verdicts of all items."""
    gap = y - v
    ppi, error = q + gap.mean(), gap.std(ddof=1) / np.sqrt(len(y))
    drawn = rng.integers(len(y), size=(400, len(y)))
    Y, V = y[drawn], v[drawn]
    with np.errstate(invalid="ignore", divide="ignore"):
        right, wrong = (V * Y).sum(1) / Y.sum(1), (V * (1 - Y)).sum(1) / (1 - Y).sum(1)
        share = np.clip(np.nan_to_num((q - wrong) / (right - wrong), nan=0.5), 0, 1)
    return {
        "PPI, 30 here": (ppi - 1.96 * error, ppi + 1.96 * error),
        "Rogan-Gladen, 30 here": tuple(np.quantile(share, [0.025, 0.975])),
    }


def answers(sources: np.ndarray, i: int, j: int, rng: np.random.Generator) -> dict[str, Limits]:
    """What is said of the items of source j; i: of which source there are labels."""
    target, others = sources[j], np.delete(sources, j, axis=0)
    y, v = spelled_out(target)
    meaning, settings = Meaning.of_codes(2), Settings(insist=True)
    probes, labels = rng.permutation(len(y))[:N_PROBES], np.full(len(y), -1)
    labels[probes] = y[probes]
    other = ExternalLabels(*spelled_out(sources[i]))
    told: dict[str, Limits] = {}
    for name, there in (("range, one source", sources[[i]]), ("range, all others", others)):
        _, low, high = moving_shares(there, target.sum(axis=0), 0.95, 0)
        told[name] = (low[1], high[1])
    for assume in ("rates", "verdicts"):
        found = estimate(
            JudgedItems.of(v, np.full(len(y), -1), meaning, external=other),
            None,
            Settings(assume=assume),
        ).shares
        told[f"if {assume} carry over"] = (found.low[1], found.high[1])
    for name, external in (("30 here", None), ("30 here and one source", other)):
        found = estimate(
            JudgedItems.of(v, labels, meaning, external=external), "random", settings
        ).shares
        told[name] = (found.low[1], found.high[1])
    return told | rivals(y[probes], v[probes], v.mean(), rng)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", choices=("dev", "kept"), default="kept")
    parser.add_argument("--pairs", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    warnings.filterwarnings("ignore", category=RuntimeWarning)
    told: dict[str, list[tuple[bool, float]]] = defaultdict(list)
    for name, items in named_tables(asked.tables):
        sources = by_source(items, 30 if name.startswith("JudgeBench") else 50)
        rng = generator(asked.seed, purpose="judge transfers", table=name)
        pairs = [(i, j) for i in range(len(sources)) for j in range(len(sources)) if i != j]
        for pair in rng.permutation(len(pairs))[: asked.pairs]:
            i, j = pairs[pair]
            truth = sources[j][1].sum() / sources[j].sum()
            for how, (low, high) in answers(sources, i, j, rng).items():
                told[how].append((bool(low <= truth <= high), float(high - low)))
    print(f"{asked.tables}: {len(told['30 here'])} transfers, seed {asked.seed}")
    for how, found in told.items():
        held, width = np.array(found, dtype=float).T
        error = np.sqrt(max(held.mean() * (1 - held.mean()), 0.01) / len(held))
        narrow = (width <= WIDEST).mean()
        print(
            f"{how:24} {held.mean():.3f} +- {error:.3f}  width {width.mean():.2f}  "
            f"at most {100 * WIDEST:.0f} points: {narrow:.2f}"
        )


if __name__ == "__main__":
    main()
