"""Coverage of `judge` where rows come in clusters, designs are not stated or labels are elsewhere.

    python benchmarks/judge_unstated.py clusters [--repeats 300] [--seed 1] [--only NAME ...]
    python benchmarks/judge_unstated.py designs [--repeats 200] [--seed 1]
    python benchmarks/judge_unstated.py plans [--repeats 500] [--seed 1]
    python benchmarks/judge_unstated.py tables [--repeats 500] [--seed 1]

`clusters`: five answers a question; classes and errors of the judge are correlated within it. Whole
questions are labelled, 10, 40 or 200 of them, in four designs: at random, in random order until
there are enough of each verdict or of each class, or elsewhere. The share is that of the items.
`refused`: honest tables that the check of the design contradicts. `designs`: what `judge` guesses
and answers if nothing is said of how labels were chosen. `plans`: labels that `plan judge` draws of
items in clusters, the second plan knowing the labels of the first, or of items with weights of
which a few are heavy (lognormal); `foreseen` is the width that the last plan promises, without
labels by a guess of how often the judge errs. `tables`: real verdicts (see `parts/real_tables.py`):
200 labels drawn in each design and without a word of it, whole questions drawn with their column as
clusters, and transfers between all pairs of systems or queries, undeclared and with either
assumption declared; `missed`: by more than the width of the interval.

Intervals are of 95%; `+-` is the Monte Carlo standard error. Beside ours the coverage (width) of
ppi-python, truescore and GLIDE with the same labels where they are installed
(`parts/judge_rivals.py`). Constants were chosen with seed 0. `judge_situations.py` has more
situations, end to end.
"""

import argparse
import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import stats
from threadpoolctl import threadpool_limits

from parts.judge_rivals import Rival, installed, limits_of
from parts.real_tables import tables_dir
from quantshift.claims import Assumption
from quantshift.errors import UserError
from quantshift.judging.designs.guessing import check_design, guess_design
from quantshift.judging.designs.parts.share_estimate import ShareEstimate
from quantshift.judging.designs.registry import design_named
from quantshift.judging.estimating.clustering import allowing_for_clusters
from quantshift.judging.items.judged_items import (
    AUTO,
    ExternalLabels,
    JudgedItems,
    KnownDraw,
    Settings,
)
from quantshift.judging.items.meaning import Meaning
from quantshift.judging.plans.planning import Goal, plan

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
    error = np.sqrt(max(p * (1 - p), 0.25 / n) / n)
    print(f"{name:50} {p:.3f} +-{error:.3f}  width {np.mean(widths):.3f}  {more}", flush=True)


class Beside:
    """What the rivals say of the same labels."""

    def __init__(self, rivals: dict[str, Rival]) -> None:
        self.rivals = rivals
        self.inside: dict[str, list[bool]] = {name: [] for name in rivals}
        self.widths: dict[str, list[float]] = {name: [] for name in rivals}

    def add(self, v: Ints, labels: Ints, truth: float, clusters: Ints | None = None) -> None:
        for name, rival in self.rivals.items():
            low, high = limits_of(rival, v, labels, clusters)
            self.inside[name].append(bool(low <= truth <= high))
            self.widths[name].append(high - low)

    def __str__(self) -> str:
        return "".join(
            f" | {name} {np.mean(inside):.3f} ({np.mean(self.widths[name]):.3f})"
            for name, inside in self.inside.items()
            if inside
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


def clusters(repeats: int, seed: int, only: list[str]) -> None:
    rivals = installed()
    settings = Settings(insist=True, assume=Assumption.RATES)
    for design in DESIGNS:
        for n_labelled in N_CLUSTERS:
            for correlation in CORRELATIONS:
                name = f"{design}, {n_labelled} questions, correlation {correlation}"
                if only and name not in only:
                    continue
                rng = np.random.default_rng([seed, n_labelled, int(100 * correlation)])
                inside, widths, refused, beside = [], [], 0, Beside(rivals)
                for _ in range(repeats):
                    items, y = questions(design, n_labelled, correlation, rng)
                    found = shares(items, design, settings)
                    inside.append(bool(found.low[1] <= y.mean() <= found.high[1]))
                    widths.append(float(found.high[1] - found.low[1]))
                    refused += not check_design(design_named(design), items, settings).ok
                    if design == "random" and items.verdicts is not None:
                        beside.add(items.verdicts[:, 0], items.labels, y.mean(), items.clusters)
                row(name, inside, widths, f"refused {refused / repeats:.3f}{beside}")


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


def designs(repeats: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
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
            ranged = found.kind.is_range
            inside[ranged].append(bool(found.low[1] <= y.mean() <= found.high[1]))
            widths[ranged].append(float(found.high[1] - found.low[1]))
        guessed = ", ".join(f"{kind} {n / repeats:.2f}" for kind, n in kinds.most_common())
        for ranged, what in ((False, "intervals"), (True, "ranges")):
            if inside[ranged]:
                n = len(inside[ranged])
                row(f"{name}: {n} {what}", inside[ranged], widths[ranged], guessed)


def planned(
    items: JudgedItems, y: Ints, numbers: list[int], how: str | None, seed: int
) -> tuple[ShareEstimate, float]:
    """The estimate from the labels of plans, one after the other, and the width foreseen."""
    for number, n_labels in enumerate(numbers):
        settings = Settings(seed=seed + number)
        found = plan(items, Goal(n_labels=n_labels), how=how, settings=settings)
        labels = items.labels.copy()
        labels[found.items] = y[found.items]
        drawn_with = KnownDraw(np.where(labels >= 0, found.inclusion, np.nan))
        items = replace(items, labels=labels, drawn=drawn_with)
    return shares(items, "planned", Settings()), 2 * found.half_width


def plans(repeats: int, seed: int) -> None:
    meaning = Meaning.of_codes(2)

    def in_clusters(correlation: float, rng: np.random.Generator) -> tuple[JudgedItems, Ints]:
        v, y, clusters_of = clustered(400, 0.7, correlation, rng)
        return JudgedItems.of(v, np.full(len(y), -1), meaning, clusters=clusters_of), y

    def weighted(rng: np.random.Generator) -> tuple[JudgedItems, Ints]:
        y, v = judged(2000, 0.7, [(0.9, 0.8)], rng)
        weights = rng.lognormal(sigma=1.5, size=2000)
        return JudgedItems.of(v, np.full(2000, -1), meaning, weights=weights), y

    for name, correlation, numbers, how in (
        *(
            (f"whole clusters, correlation {c}, {' + '.join(map(str, n))} labels", c, n, None)
            for c in CORRELATIONS
            for n in ([100], [100, 200])
        ),
        *(
            (f"weights, {n} labels {how}", None, [n], how)
            for how in ("random", "by-verdict")
            for n in (200, 400)
        ),
    ):
        rng = np.random.default_rng([seed, sum(numbers)])
        inside, widths, foreseen = [], [], []
        for repeat in range(repeats):
            items, y = weighted(rng) if correlation is None else in_clusters(correlation, rng)
            found, width = planned(items, y, numbers, how, 10 * repeat)
            truth = float(items.item_weights @ y / items.item_weights.sum())
            inside.append(bool(found.low[1] <= truth <= found.high[1]))
            widths.append(float(found.high[1] - found.low[1]))
            foreseen.append(width)
        row(name, inside, widths, f"foreseen {np.mean(foreseen):.3f}")


@dataclass
class Real:
    """A real table as two classes; groups: systems or queries; clusters: items that are alike."""

    name: str
    v: Ints
    y: Ints
    groups: dict[str, NDArray[np.str_]]
    clusters: Ints
    n_clusters: int


def real() -> Iterator[Real]:
    mtbench = pl.read_csv(tables_dir() / "llm_judge_mtbench.csv")
    v, y = ((mtbench[c] == "model_b").to_numpy().astype(int) for c in ("judge", "human"))
    groups = {
        name: mtbench[name].cast(str).to_numpy() for name in ("model_a", "model_b", "category")
    }
    yield Real("mtbench", v, y, groups, mtbench["question_id"].to_numpy(), 20)
    relevance = pl.read_csv(tables_dir() / "llm_judge_relevance.csv")
    v, y = ((relevance[c] >= 1).to_numpy().astype(int) for c in ("judge_questions", "human"))
    groups = {name: relevance[name].cast(str).to_numpy() for name in ("query", "split")}
    queries = np.unique(groups["query"], return_inverse=True)[1]
    yield Real("relevance", v, y, groups, queries, 12)


def drawn(table: Real, design: str, rng: np.random.Generator) -> Ints:
    """200 labels, or those of whole clusters."""
    y, labels = table.y, np.full(len(table.y), -1)
    if design == "clusters":
        chosen = rng.choice(np.unique(table.clusters), table.n_clusters, replace=False)
        return np.where(np.isin(table.clusters, chosen), y, -1)
    by = {"by-verdict": table.v, "by-label": y}.get(design, np.zeros_like(y))
    order = rng.permutation(len(y))
    for value in np.unique(by):
        rows = order[by[order] == value][: 200 // len(np.unique(by))]
        labels[rows] = y[rows]
    return labels


def labels_drawn(table: Real, repeats: int, seed: int, rivals: dict[str, Rival]) -> None:
    meaning, truth = Meaning.of_codes(2), table.y.mean()
    for number, design in enumerate((*DESIGNS[:3], "clusters", "by-verdict unstated")):
        rng = np.random.default_rng([seed, number])
        inside, widths, beside, missed = [], [], Beside(rivals), 0
        kinds: Counter[str] = Counter()
        whole = design == "clusters"
        for _ in range(repeats):
            labels = drawn(table, design.split()[0], rng)
            clusters_of = table.clusters if whole else None
            items = JudgedItems.of(table.v, labels, meaning, clusters=clusters_of)
            used = {"clusters": "random"}.get(design, design)
            if "unstated" in design:
                try:
                    used = guess_design(items).design.name
                except UserError:
                    kinds["asked"] += 1
                    continue
            kinds[used] += 1
            refused = not check_design(design_named(used), items).ok
            kinds["refused"] += refused
            found = shares(items, used, Settings())
            low, high = float(found.low[1]), float(found.high[1])
            inside.append(bool(low <= truth <= high))
            widths.append(high - low)
            missed += max(low - truth, truth - high, 0.0) > high - low
            beside.add(table.v, labels, truth, clusters_of)
        said = ", ".join(f"{kind} {n / repeats:.3f}" for kind, n in kinds.items() if n)
        what = f"{table.n_clusters} whole clusters" if whole else f"200 labels {design}"
        row(f"{table.name}, {what}", inside, widths or [0.0], f"missed {missed}, {said}{beside}")


def transfers(table: Real, grouped_by: str, assume: str) -> None:
    meaning, groups = Meaning.of_codes(2), table.groups[grouped_by]
    names = [g for g in np.unique(groups) if (groups == g).sum() >= 100]
    counts: Counter[str] = Counter()
    held: dict[str, list[bool]] = {"interval": [], "range": []}
    widths = []
    for here, there in itertools.permutations(names, 2):
        a, b = groups == here, groups == there
        external = ExternalLabels(table.y[b], table.v[b])
        items = JudgedItems.of(table.v[a], np.full(a.sum(), -1), meaning, external=external)
        found = shares(items, "elsewhere", Settings(assume=assume))
        low, high, truth = float(found.low[1]), float(found.high[1]), table.y[a].mean()
        off = max(low - truth, truth - high, 0.0)
        ranged = found.kind.is_range or bool(found.no_estimate_reason)
        kind = "range" if ranged else "interval"
        counts[kind] += 1
        counts[f"{kind} missed"] += bool(off > high - low)
        held[kind].append(off == 0)
        widths.append(high - low)
    said = ", ".join(f"{kind} {n}" for kind, n in sorted(counts.items()))
    ranges = f", ranges hold {np.mean(held['range']):.2f}" if held["range"] else ""
    name = f"{table.name} by {grouped_by}, transfers, {assume}"
    inside = held["interval"] if assume != AUTO else held["range"]
    row(name, inside, widths, f"{said}{ranges}")


def tables(repeats: int, seed: int) -> None:
    rivals = installed()
    for table in real():
        labels_drawn(table, repeats, seed, rivals)
        for grouped_by in table.groups:
            for assume in (AUTO, Assumption.RATES, Assumption.VERDICTS):
                transfers(table, grouped_by, assume)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["clusters", "designs", "plans", "tables"])
    parser.add_argument("--repeats", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=[], help="names of rows of `clusters`")
    asked = parser.parse_args()
    with threadpool_limits(1):
        if asked.what == "clusters":
            clusters(asked.repeats or 300, asked.seed, asked.only)
        elif asked.what == "designs":
            designs(asked.repeats or 200, asked.seed)
        elif asked.what == "plans":
            plans(asked.repeats or 500, asked.seed)
        else:
            tables(asked.repeats or 500, asked.seed)


if __name__ == "__main__":
    main()
