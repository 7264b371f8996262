"""Coverage and width of 95% intervals of rates behind verdicts, by how labelled items were chosen.

    python benchmarks/judge_coverage.py coverage [--repeats 700] [--labels 50 100 200] [--ours]
    python benchmarks/judge_coverage.py tables [--repeats 500]

`coverage`: verdicts with known error rates for 1,000 items (10,000 if a class is rare), of which 50
to 200 are labelled: at random, even numbers of each verdict, even numbers of each class, or items
of another time in which classes are as frequent as each other or nearly so. Ours knows the design;
ppi-python, judgy and truescore, which do not ask, are given the same labels, where they are
installed. Lang and Reiczigel's interval is that of Lee et al. (2025). `tables`: the same with real
verdicts of machines and labels of people (see `parts/real_tables.py`); the table is the population,
items are drawn from it with replacement. An error of a tool counts as the interval from 0 to 1.

Widths are compared with those of the narrowest tool that is meant for the design and covers 93% in
the cell. A limit that is too low may lie above the truth in one cell by luck. Tools that are
narrower than ours are therefore tried in neighbouring settings too: half and twice the rarest
class, three quarters and four thirds of the judge's errors. A tool of which one of these intervals
covers clearly less than 93% (by two standard errors) does not hold nearby.

`judge_checks.py` looks at error rates, labels of two sources, the check of the design, differences
and speed. `+-` is the Monte Carlo standard error; a lowest cell is low by chance too.
"""

import argparse
import itertools
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from threadpoolctl import threadpool_limits

from parts.real_tables import tables_dir
from quantshift.base.seeding import generator
from quantshift.claims import Assumption
from quantshift.judging.designs.registry import design_named
from quantshift.judging.items.judged_items import ExternalLabels, JudgedItems
from quantshift.judging.items.judged_items import Settings as EstimateSettings
from quantshift.judging.items.meaning import Meaning

Ints = NDArray[np.int64]
Limits = tuple[float, float]


def rates(sensitivity: float, specificity: float) -> list[list[float]]:
    return [[specificity, 1 - specificity], [1 - sensitivity, sensitivity]]


EVEN_ERRORS = [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]]
ORDERED_ERRORS = [[0.9, 0.08, 0.02], [0.2, 0.7, 0.1], [0.05, 0.25, 0.7]]
Settings = dict[str, tuple[list[float], list[list[float]]]]
SETTINGS: Settings = {
    "2: .9, rates .95 .75": ([0.1, 0.9], rates(0.95, 0.75)),
    "2: .5, rates .8 .8": ([0.5, 0.5], rates(0.8, 0.8)),
    "2: .97, rates .98 .8": ([0.03, 0.97], rates(0.98, 0.8)),
    "2: .02, rates .9 .95": ([0.98, 0.02], rates(0.9, 0.95)),
    "2: .96, rates .98 .8": ([0.04, 0.96], rates(0.98, 0.8)),
    "2: .04, rates .9 .95": ([0.96, 0.04], rates(0.9, 0.95)),
    "3: .5 .3 .2, even": ([0.5, 0.3, 0.2], EVEN_ERRORS),
    "3: .6 .3 .1, ordered": ([0.6, 0.3, 0.1], ORDERED_ERRORS),
    "3: .9 .08 .02, ordered": ([0.9, 0.08, 0.02], ORDERED_ERRORS),
}
OF_POPULATION = EstimateSettings(of="population", assume=Assumption.RATES)
"""The truth is that of the population, as for the other tools."""
DESIGNS = ("random", "by-verdict", "by-label", "elsewhere")
"""Those that `chosen` draws."""
RARE = 0.05
HOLDS = 0.93
FEWER = 40
"""Repeats of tools under designs for which they are not meant."""
SLOW = {"judgy": 100}
"""Repeats of a slow tool."""
NEARBY = 400
"""Repeats in a neighbouring setting."""


@dataclass
class Labelled:
    """Verdicts of all items and labels of some, -1 for none; or pairs labelled elsewhere."""

    verdicts: Ints
    labels: Ints
    n_classes: int
    elsewhere: tuple[Ints, Ints] | None = None

    @property
    def pairs(self) -> tuple[Ints, Ints]:
        if self.elsewhere is not None:
            return self.elsewhere
        known = self.labels >= 0
        return self.verdicts[known], self.labels[known]

    @property
    def items(self) -> JudgedItems:
        meaning = Meaning.of_codes(self.n_classes)
        other = None if self.elsewhere is None else ExternalLabels(*self.elsewhere[::-1])
        return JudgedItems.of(self.verdicts, self.labels, meaning, external=other)

    @property
    def unlabelled(self) -> Ints:
        return self.verdicts if self.elsewhere is not None else self.verdicts[self.labels < 0]


Draw = Callable[[NDArray[np.float64] | None, int, np.random.Generator], tuple[Ints, Ints]]
"""Verdicts and classes of so many items; of a prevalence, or None for that of the population."""


@dataclass
class Population:
    """truth: the shares of its classes; neighbours: similar ones, by what is different."""

    draw: Draw
    truth: NDArray[np.float64]
    neighbours: dict[str, "Population"] = field(default_factory=dict)


def chosen(
    design: str, draw: Draw, K: int, n_items: int, k: int, rng: np.random.Generator
) -> Labelled:
    v, y = draw(None, n_items, rng)
    labels = np.full(n_items, -1)
    if design == "elsewhere":
        older = np.array([0.4, 0.6]) if K == 2 else np.full(K, 1 / K)
        return Labelled(v, labels, K, draw(older, k, rng))
    by = {"random": np.zeros(n_items, dtype=int), "by-verdict": v, "by-label": y}[design]
    groups = np.unique(by)
    order = rng.permutation(n_items)
    for g, group in enumerate(groups):
        rows = order[by[order] == group][: k // len(groups) + (g < k % len(groups))]
        labels[rows] = y[rows]
    return Labelled(v, labels, K)


def ours(data: Labelled, design: str) -> list[Limits]:
    """What `estimate` finds, without the judge's quality, which `rates` looks at."""
    found = design_named(design).estimate(data.items, OF_POPULATION)
    return list(zip(found.low.tolist(), found.high.tolist(), strict=True))


def by_ppi(data: Labelled, design: str) -> list[Limits]:
    from ppi_py import ppi_mean_ci

    v, y = data.pairs
    found = []
    for c in range(data.n_classes):
        Y, f, rest = ((x == c).astype(float) for x in (y, v, data.unlabelled))
        low, high = ppi_mean_ci(Y, f, rest, alpha=0.05)
        found.append((float(np.squeeze(low)), float(np.squeeze(high))))
    return found


def by_judgy(data: Labelled, design: str) -> list[Limits]:
    from judgy import estimate_success_rate

    if data.n_classes > 2:
        return []
    v, y = data.pairs
    _, low, high = estimate_success_rate(y, v, data.unlabelled, bootstrap_iterations=400)
    return [(1 - high, 1 - low), (low, high)]


def by_truescore(data: Labelled, design: str) -> list[Limits]:
    from truescore.correct import ppi_estimate

    v, y = data.pairs
    found = []
    for c in range(data.n_classes):
        judge = (np.concatenate([v, data.unlabelled]) == c).astype(float)
        one = ppi_estimate(judge, (y == c).astype(float), np.arange(len(y)))
        found.append((one.low, one.high))
    return found


def by_truescore_rates(data: Labelled, design: str) -> list[Limits]:
    from truescore.correct import rogan_gladen_estimate

    if data.n_classes > 2:
        return []
    v, y = data.pairs
    judge = np.concatenate([v, data.unlabelled])
    one = rogan_gladen_estimate(judge, y, np.arange(len(y)))
    return [(1 - one.high, 1 - one.low), (one.low, one.high)]


def by_lang_reiczigel(data: Labelled, design: str) -> list[Limits]:
    """Two classes, by the formula of Lang and Reiczigel (2014)."""
    if data.n_classes > 2:
        return []
    v, y = data.pairs
    z = float(stats.norm.ppf(0.975))
    n1, n0, n = int((y == 1).sum()), int((y == 0).sum()), len(data.unlabelled)
    se = ((v[y == 1] == 1).sum() + 1) / (n1 + 2)
    sp = ((v[y == 0] == 0).sum() + 1) / (n0 + 2)
    q = (data.unlabelled.sum() + z * z / 2) / (n + z * z)
    slope = se + sp - 1
    p = (q + sp - 1) / slope
    move = 2 * z * z * (p * se * (1 - se) / (n1 + 2) - (1 - p) * sp * (1 - sp) / (n0 + 2))
    error = np.sqrt(
        q * (1 - q) / (n + z * z)
        + p**2 * se * (1 - se) / (n1 + 2)
        + (1 - p) ** 2 * sp * (1 - sp) / (n0 + 2)
    ) / abs(slope)
    low, high = np.clip([p + move - z * error, p + move + z * error], 0, 1)
    return [(1 - high, 1 - low), (low, high)]


def by_beta_draws(data: Labelled, design: str) -> list[Limits]:
    """Shares of the verdicts times rates, both drawn from Beta or Dirichlet distributions.

    The draws are others for other labels: the same 1,000 for all happen to be 5% too narrow.
    """
    (v, y), K = data.pairs, data.n_classes
    counts = np.bincount(v * K + y, minlength=K * K).reshape(K, K)
    rng = generator(0, purpose="beta draws", counts=",".join(map(str, counts.ravel())))
    shares = rng.dirichlet(np.bincount(data.verdicts, minlength=K) + 0.5, size=3000)
    total = sum(shares[:, [c]] * rng.dirichlet(counts[c] + 0.5, size=3000) for c in range(K))
    low, high = np.quantile(total, [0.025, 0.975], axis=0)
    return list(zip(low.tolist(), high.tolist(), strict=True))


TOOLS: dict[str, Callable[[Labelled, str], list[Limits]]] = {
    "quantshift": ours,
    "ppi-python": by_ppi,
    "judgy": by_judgy,
    "truescore": by_truescore,
    "truescore RG": by_truescore_rates,
    "Lang-Reiczigel": by_lang_reiczigel,
    "Beta draws": by_beta_draws,
}
RIGHT = {
    "random": ("ppi-python", "truescore", "truescore RG", "judgy", "Lang-Reiczigel"),
    "by-verdict": ("Beta draws",),
    "by-label": ("judgy", "Lang-Reiczigel"),
    "elsewhere": ("judgy", "Lang-Reiczigel"),
}
"""The designs under which a tool's formula is meant to hold; truescore names random labels."""


def installed(only_ours: bool) -> list[str]:
    found = []
    for name, module in zip(
        TOOLS, ("", "ppi_py", "judgy", "truescore", "truescore", "", ""), strict=True
    ):
        try:
            __import__(module or "numpy")
        except ImportError:
            print(f"{name} is not installed: left out")
            continue
        found.append(name)
    return found[:1] if only_ours else found


@dataclass
class Tally:
    """Of one tool, setting, number of labels and design: by class."""

    covered: list[NDArray[np.bool_]] = field(default_factory=list)
    width: list[NDArray[np.float64]] = field(default_factory=list)

    def add(self, limits: list[Limits], truth: NDArray[np.float64]) -> None:
        low, high = np.clip(np.array(limits).T, 0, 1)
        self.covered.append((low - 1e-12 <= truth) & (truth <= high + 1e-12))
        self.width.append(high - low)

    @property
    def coverage(self) -> float:
        """Of the class with the lowest."""
        return float(np.mean(self.covered, axis=0).min())

    @property
    def mean_width(self) -> float:
        return float(np.mean(self.width))

    def __str__(self) -> str:
        return f"{self.coverage:6.3f} {self.mean_width:6.3f}" if self.covered else f"{'-':>13}"


def simulated(prevalence: ArrayLike, rates_: ArrayLike) -> Draw:
    p, R = np.array(prevalence), np.cumsum(rates_, axis=1)

    def draw(
        wanted: NDArray[np.float64] | None, n: int, rng: np.random.Generator
    ) -> tuple[Ints, Ints]:
        y = rng.choice(len(p), size=n, p=p if wanted is None else wanted)
        return (rng.random(n)[:, None] > R[y]).sum(axis=1), y

    return draw


def with_neighbours(prevalence: list[float], rates_: list[list[float]]) -> Population:
    p, R = np.array(prevalence), np.array(rates_)
    rarest = np.arange(len(p)) == np.argmin(p)
    found = Population(simulated(p, R), p)
    for what, factor in (("half the rarest class", 0.5), ("twice the rarest class", 2.0)):
        share = min(factor * p.min(), (1 + p.min()) / 2)
        moved = np.where(rarest, share, p * (1 - share) / (1 - p.min()))
        found.neighbours[what] = Population(simulated(moved, R), moved)
    for what, factor in (("fewer errors", 0.75), ("more errors", 4 / 3)):
        errors = factor * R * (1 - np.eye(len(p)))
        other_rates = errors + np.diag(1 - errors.sum(axis=1))
        found.neighbours[what] = Population(simulated(p, other_rates), p)
    return found


def from_table(verdicts: Ints, classes: Ints) -> Draw:
    def draw(
        wanted: NDArray[np.float64] | None, n: int, rng: np.random.Generator
    ) -> tuple[Ints, Ints]:
        if wanted is None:
            rows = rng.integers(len(classes), size=n)
        else:
            weights = (wanted / np.bincount(classes))[classes]
            rows = rng.choice(len(classes), size=n, p=weights / weights.sum())
        return verdicts[rows], classes[rows]

    return draw


def tried(
    population: Population,
    k: int,
    design: str,
    repeats: int,
    tools: list[str],
    *,
    name: str,
    seed: int,
) -> dict[str, Tally]:
    """What tools find in draws of a population, each in as many as it has time for."""
    tallies, truth = {tool: Tally() for tool in tools}, population.truth
    for repeat in range(repeats):
        rng = generator(seed, purpose="judge", name=name, k=k, design=design, repeat=repeat)
        n_items = 10_000 if truth.min() < RARE else 1_000
        data = chosen(design, population.draw, len(truth), n_items, k, rng)
        for tool in tools:
            meant = tool == "quantshift" or tool in RIGHT[design]
            if repeat >= (SLOW.get(tool, repeats) if meant else FEWER):
                continue
            try:
                limits = TOOLS[tool](data, design)
            except (ValueError, RuntimeError, ZeroDivisionError):
                limits = [(0.0, 1.0)] * len(truth)
            if limits:
                tallies[tool].add(limits, truth)
    return tallies


@dataclass
class Rival:
    """A tool that holds in a cell: our width over its width, and where nearby it does not hold."""

    ratio: float
    tool: str
    fails: str = ""

    def __str__(self) -> str:
        return f"{self.ratio:.3f} {self.tool}{self.fails and f' (not nearby: {self.fails})'}"


def rivals(
    tallies: dict[str, Tally], population: Population, k: int, design: str, *, name: str, seed: int
) -> list[Rival]:
    """The narrowest tools that hold in the cell, up to one that holds nearby or is wider."""
    own, found = tallies["quantshift"], list[Rival]()
    held = [
        (tally.mean_width, tool)
        for tool, tally in tallies.items()
        if tool in RIGHT[design] and tally.covered and tally.coverage >= HOLDS
    ]
    for width, tool in sorted(held):
        rival = Rival(own.mean_width / width, tool)
        found.append(rival)
        if rival.ratio <= 1:
            break
        for what, neighbour in population.neighbours.items():
            repeats = SLOW.get(tool, NEARBY)
            near = tried(neighbour, k, design, repeats, [tool], name=f"{name}, {what}", seed=seed)[
                tool
            ]
            if near.coverage + 2 * np.sqrt(HOLDS * (1 - HOLDS) / repeats) < HOLDS:
                rival.fails = f"{near.coverage:.3f} with {what}"
                break
        if not rival.fails:
            break
    return found


def run(
    populations: dict[str, Population],
    labels: list[int],
    repeats: int,
    seed: int,
    tools: list[str],
    chosen_by: Sequence[str] = DESIGNS,
) -> None:
    print(f"{'':24} {'labels':>6} {'design':>10} " + " ".join(f"{t:>14}" for t in tools))
    compared: dict[str, list[tuple[str, list[Rival]]]] = {design: [] for design in chosen_by}
    lowest: list[tuple[float, str]] = []
    for (name, population), k, design in itertools.product(populations.items(), labels, chosen_by):
        tallies = tried(population, k, design, repeats, tools, name=name, seed=seed)
        cells = " ".join(f"{tallies[t]!s:>14}" for t in tools)
        print(f"{name:24} {k:6} {design:>10} {cells}", flush=True)
        for c, share in enumerate(np.mean(tallies["quantshift"].covered, axis=0)):
            lowest.append((float(share), f"{name}, {k} labels, {design}, class {c}"))
        compared[design].append(
            (f"{name}, {k} labels", rivals(tallies, population, k, design, name=name, seed=seed))
        )
    error = np.sqrt(0.95 * 0.05 / repeats)
    below = [cell for cell in lowest if cell[0] < HOLDS]
    print(
        f"quantshift: {len(lowest)} cells of {repeats} draws, +- {error:.3f}; below .93:", end=" "
    )
    print(len(below), "by more than two errors:", sum(c[0] + 2 * error < HOLDS for c in below))
    for share, cell in sorted(lowest)[:5]:
        print(f"  {share:.3f} {cell}")
    for design, cells_of_design in compared.items():
        print_ratios(design, cells_of_design)


def print_ratios(design: str, compared: list[tuple[str, list[Rival]]]) -> None:
    """Widths over those of the narrowest tool that holds in the cell, and nearby too."""
    here = [found[0].ratio for _, found in compared if found]
    nearby = [found[-1].ratio for _, found in compared if found and not found[-1].fails]
    for what, ratios in (("in the cell", here), ("in the cell and nearby", nearby)):
        if ratios:
            print(
                f"{design:>10}: width over that of the narrowest right tool that covers {HOLDS} "
                f"{what}: mean {np.mean(ratios):.3f}, most {max(ratios):.3f}, above 1 in "
                f"{sum(ratio > 1 for ratio in ratios)} of {len(ratios)} cells"
            )
    for cell, found in compared:
        if found and found[0].ratio > 1:
            print(f"    {cell}: " + "; ".join(map(str, found)))


def real_populations() -> dict[str, Population]:
    bench = pd.read_csv(tables_dir() / "llm_judge_mtbench.csv")
    names = ["model_a", "model_b", "tie"]
    judge = bench["judge"].str.replace(" (inconsistent)", "", regex=False)
    v, y = (column.map(names.index).to_numpy() for column in (judge, bench["human"]))
    relevance = pd.read_csv(tables_dir() / "llm_judge_relevance.csv")
    test = relevance[relevance["split"] == "test"]
    direct = test["judge_direct"].to_numpy(dtype=np.int64)
    human = test["human"].to_numpy(dtype=np.int64)
    pairs = {
        "mtbench, 3 classes": (v, y),
        "mtbench, model_a": ((v == 0).astype(int), (y == 0).astype(int)),
        "relevance >= 2": ((direct >= 2).astype(int), (human >= 2).astype(int)),
        "relevance, 4 classes": (direct, human),
    }
    return {
        name: Population(from_table(*pair), np.bincount(pair[1]) / len(pair[1]))
        for name, pair in pairs.items()
    }


WHAT = ("coverage", "tables")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=WHAT)
    parser.add_argument("--repeats", type=int, default=700)
    parser.add_argument("--labels", type=int, nargs="*", default=[50, 100, 200])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ours", action="store_true", help="leave the other tools out")
    parser.add_argument("--designs", nargs="*", default=DESIGNS, choices=DESIGNS)
    parser.add_argument("--settings", default="", help="the beginning of their names")
    options = parser.parse_args()
    warnings.filterwarnings("ignore", category=RuntimeWarning)
    with threadpool_limits(1):
        if options.what == "coverage":
            populations = {
                name: with_neighbours(*setting)
                for name, setting in SETTINGS.items()
                if name.startswith(options.settings)
            }
        else:
            populations = real_populations()
        tools = installed(options.ours)
        run(populations, options.labels, options.repeats, options.seed, tools, options.designs)


if __name__ == "__main__":
    main()
