"""Coverage of `judge` where rows come in clusters, designs are not stated or labels are elsewhere.

    python benchmarks/judge_unstated.py clusters [--repeats 300]
    python benchmarks/judge_unstated.py designs [--repeats 200]
    python benchmarks/judge_unstated.py tables [--repeats 200]

`clusters`: five answers a question; classes and errors of the judge are correlated within it. Whole
questions are labelled, 10, 40 or 200 of them, in four designs: at random, in random order until
there are enough of each verdict or of each class, or elsewhere. The share is that of the items.
`refused`: honest tables that the check of the design contradicts. `designs`: what `judge` guesses
and answers if nothing is said of how labels were chosen. `tables`: real verdicts (see
`real_tables.py`), labels drawn in each design, and transfers between all pairs of systems or
queries; `missed`: by more than the width of the interval. Intervals are of 95%; `+-` is the Monte
Carlo standard error.
"""

import argparse
from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import stats
from threadpoolctl import threadpool_limits

from quantshift.answers.kinds import is_range
from quantshift.errors import UserError
from quantshift.judging.designs.guessing import check_design, guess_design
from quantshift.judging.designs.parts.share_estimate import ShareEstimate
from quantshift.judging.designs.registry import design_named
from quantshift.judging.estimating.clustering import allowing_for_clusters
from quantshift.judging.judged_items import RATES, ExternalLabels, JudgedItems, Settings
from quantshift.judging.meaning import Meaning
from real_tables import tables_dir

Ints = NDArray[np.int64]
Table = tuple[Ints, Ints, Ints | None]
"""Verdicts, (n_items, n_judges), labels, and the classes of all items."""

SIZE = 5
N_CLUSTERS = (10, 40, 200)
CORRELATIONS = (0.05, 0.3, 0.6)
DESIGNS = ("random", "by-verdict", "by-label", "elsewhere")


def shares(items: JudgedItems, design: str, settings: Settings) -> ShareEstimate:
    """What `estimate` finds, without the quality of the judge."""
    chosen = design_named(design)
    found = chosen.estimate(items, settings).within_limits()
    return allowing_for_clusters(found, items, chosen, settings)


def row(name: str, inside: list[bool], widths: list[float], more: str = "") -> None:
    n = max(len(inside), 1)
    p = sum(inside) / n
    print(
        f"{name:44} {p:.3f} +-{np.sqrt(p * (1 - p) / n):.3f}  width {np.mean(widths):.3f}  {more}",
        flush=True,
    )


def clustered(
    n: int, share: float, correlation: float, rng: np.random.Generator
) -> tuple[Ints, Ints, Ints]:
    """Verdicts, classes and clusters; a judge of .9 and .8."""

    def normal() -> NDArray[np.float64]:
        own, shared = rng.normal(size=(n, SIZE)), rng.normal(size=(n, 1))
        return (np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * own).ravel()

    y = (normal() < stats.norm.ppf(share)).astype(np.int64)
    right = normal() < stats.norm.ppf(np.where(y == 1, 0.9, 0.8))
    return np.where(right, y, 1 - y), y, np.repeat(np.arange(n), SIZE)


def questions(
    design: str, n_labelled: int, correlation: float, rng: np.random.Generator
) -> tuple[JudgedItems, Ints]:
    """Items of which whole questions are labelled, and their classes."""
    n = max(5 * n_labelled, 60)
    v, y, clusters = clustered(n, 0.7, correlation, rng)
    labels, meaning = np.full(len(y), -1), Meaning.of_codes(2)
    if design == "elsewhere":
        v2, y2, others = clustered(n_labelled, 0.6, correlation, rng)
        external = ExternalLabels(y2, v2, clusters=others + n)
        return JudgedItems.of(v, labels, meaning, external=external, clusters=clusters), y
    order = np.argsort(rng.permutation(n)[clusters], kind="stable")
    k = n_labelled * SIZE
    by = {"random": np.zeros_like(y), "by-verdict": v, "by-label": y}[design]
    for value in np.unique(by):
        rows = order[by[order] == value][: k // len(np.unique(by))]
        labels[rows] = y[rows]
    return JudgedItems.of(v, labels, meaning, clusters=clusters), y


def clusters(repeats: int) -> None:
    settings = Settings(insist=True, assume=RATES)
    for design in DESIGNS:
        for n_labelled in N_CLUSTERS:
            for correlation in CORRELATIONS:
                rng = np.random.default_rng([n_labelled, int(100 * correlation)])
                inside, widths, refused = [], [], 0
                for _ in range(repeats):
                    items, y = questions(design, n_labelled, correlation, rng)
                    found = shares(items, design, settings)
                    inside.append(bool(found.low[1] <= y.mean() <= found.high[1]))
                    widths.append(float(found.high[1] - found.low[1]))
                    refused += not check_design(design_named(design), items, settings).ok
                name = f"{design}, {n_labelled} questions, correlation {correlation}"
                row(name, inside, widths, f"refused {refused / repeats:.3f}")


def judged(
    n: int, share: float, rates: list[tuple[float, float]], rng: np.random.Generator
) -> tuple[Ints, Ints]:
    y = (rng.random(n) < share).astype(np.int64)
    right = [rng.random(n) < np.where(y == 1, se, sp) for se, sp in rates]
    return y, np.column_stack([np.where(r, y, 1 - y) for r in right])


def unstated(rng: np.random.Generator) -> Iterator[tuple[str, Callable[[], Table]]]:
    """Tables of which nothing is said, each with what was done."""

    def labelled(y: Ints, v: Ints, *chosen: Ints) -> Table:
        labels = np.full(len(y), -1)
        for rows in chosen:
            labels[rows] = y[rows]
        return v, labels, y

    def of(rows: Ints, k: int) -> Ints:
        return rng.choice(rows, min(k, len(rows)), replace=False)

    def disputed(share: float, rates: list[tuple[float, float]], k: int, more: int) -> Table:
        y, v = judged(1000, share, rates, rng)
        return labelled(y, v, of(np.flatnonzero(v[:, 0] != v[:, 1]), k), of(np.arange(1000), more))

    def quotas(k: int, m: int) -> Table:
        y, v = judged(1000, 0.8, [(0.9, 0.8)], rng)
        rows = (of(np.flatnonzero(v[:, 0] == c), size) for c, size in ((0, k), (1, m)))
        return labelled(y, v, *rows)

    def random(k: int, n: int, rates: list[tuple[float, float]]) -> Table:
        y, v = judged(n, 0.7, rates, rng)
        return labelled(y, v, of(np.arange(n), k))

    weak, good = [(0.75, 0.7), (0.7, 0.75)], [(0.95, 0.8), (0.95, 0.8)]
    yield "only disputed items, weak judges", lambda: disputed(0.6, weak, 100, 0)
    yield "only disputed items, judges of .95 and .8", lambda: disputed(0.8, good, 100, 0)
    yield "half disputed, half random, share .8", lambda: disputed(0.8, good, 50, 50)
    yield "half disputed, half random, share .95", lambda: disputed(0.95, good, 50, 50)
    yield "60 and 40 of the verdicts", lambda: quotas(60, 40)
    yield "63 and 41 of the verdicts", lambda: quotas(63, 41)
    yield "100 random of 1,000", lambda: random(100, 1000, good[:1])
    yield "100 random of 1,000, two judges", lambda: random(100, 1000, good)
    yield "600 random of 876", lambda: random(600, 876, good[:1])


def designs(repeats: int) -> None:
    rng = np.random.default_rng(0)
    for name, make in unstated(rng):
        kinds: Counter[str] = Counter()
        inside: dict[bool, list[bool]] = {False: [], True: []}
        widths: dict[bool, list[float]] = {False: [], True: []}
        for _ in range(repeats):
            v, labels, y = make()
            assert y is not None
            items = JudgedItems.of(v, labels, Meaning.of_codes(2, n_judges=v.shape[1]))
            try:
                design = guess_design(items).design.name
            except UserError:
                kinds["asked"] += 1
                continue
            found = shares(items, design, Settings())
            kinds[design] += 1
            ranged = is_range(found.kind)
            inside[ranged].append(bool(found.low[1] <= y.mean() <= found.high[1]))
            widths[ranged].append(float(found.high[1] - found.low[1]))
        guessed = ", ".join(f"{kind} {n / repeats:.2f}" for kind, n in kinds.most_common())
        for ranged, what in ((False, "intervals"), (True, "ranges")):
            if inside[ranged]:
                n = len(inside[ranged])
                row(f"{name}: {n} {what}", inside[ranged], widths[ranged], guessed)


def real() -> Iterator[tuple[str, Ints, Ints, NDArray[np.str_]]]:
    """Name, verdicts, classes and groups of real tables, as two classes."""
    mtbench = pl.read_csv(tables_dir() / "llm_judge_mtbench.csv")
    for group in ("model_a", "category"):
        v, y = ((mtbench[c] == "model_b").to_numpy().astype(int) for c in ("judge", "human"))
        yield f"mtbench by {group}", v, y, mtbench[group].cast(str).to_numpy()
    relevance = pl.read_csv(tables_dir() / "llm_judge_relevance.csv")
    v, y = ((relevance[c] >= 1).to_numpy().astype(int) for c in ("judge_questions", "human"))
    yield "relevance by query", v, y, relevance["query"].cast(str).to_numpy()
    yield "relevance by split", v, y, relevance["split"].cast(str).to_numpy()


def tables(repeats: int) -> None:
    meaning = Meaning.of_codes(2)
    for name, v, y, groups in real():
        rng = np.random.default_rng(0)
        if name in ("mtbench by model_a", "relevance by query"):
            for design in DESIGNS[:3]:
                inside, widths = [], []
                by = {"random": np.zeros_like(y), "by-verdict": v, "by-label": y}[design]
                for _ in range(repeats):
                    labels, order = np.full(len(y), -1), rng.permutation(len(y))
                    for value in np.unique(by):
                        rows = order[by[order] == value][: 200 // len(np.unique(by))]
                        labels[rows] = y[rows]
                    found = shares(JudgedItems.of(v, labels, meaning), design, Settings())
                    inside.append(bool(found.low[1] <= y.mean() <= found.high[1]))
                    widths.append(float(found.high[1] - found.low[1]))
                row(f"{name.split(' by ')[0]}, 200 labels {design}", inside, widths)
        names = [g for g in np.unique(groups) if (groups == g).sum() >= 100]
        counts: Counter[str] = Counter()
        intervals: list[bool] = []
        widths = []
        for here in names:
            for there in names:
                if here == there:
                    continue
                a, b = groups == here, groups == there
                external = ExternalLabels(y[b], v[b])
                items = JudgedItems.of(v[a], np.full(a.sum(), -1), meaning, external=external)
                found = shares(items, "elsewhere", Settings())
                low, high, truth = found.low[1], found.high[1], y[a].mean()
                off = max(low - truth, truth - high, 0.0)
                kind = "range" if is_range(found.kind) or found.no_estimate_reason else "interval"
                counts[kind] += 1
                counts[f"{kind} missed"] += bool(off > high - low)
                if kind == "interval":
                    intervals.append(bool(off == 0))
                    widths.append(float(high - low))
        said = ", ".join(f"{kind} {n}" for kind, n in sorted(counts.items()))
        row(f"{name}, transfers: {len(intervals)} intervals", intervals, widths or [0.0], said)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["clusters", "designs", "tables"])
    parser.add_argument("--repeats", type=int)
    asked = parser.parse_args()
    with threadpool_limits(1):
        if asked.what == "clusters":
            clusters(asked.repeats or 300)
        elif asked.what == "designs":
            designs(asked.repeats or 200)
        else:
            tables(asked.repeats or 200)


if __name__ == "__main__":
    main()
