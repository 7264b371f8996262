"""Tables that mislead a judge's reader, each given to `judge` as a user would give it.

    python benchmarks/judge_situations.py [--repeats 300] [--seed 1] [--only transfer ...]

In each situation a table is made and given to `judge`, end to end: labels of disputed items, quotas
that nobody states, labels from elsewhere with a weak judge, two rows an item, several people, other
spellings, rates that the verdicts contradict; and honest tables with the design stated. A row has
the coverage of the intervals with its Monte Carlo standard error, their width, how often an
interval, a range, no estimate or a refusal came out (`asked`: how labels were chosen has to be
said), and the share of ranges that hold the truth. Of an honest table every refusal is false.
Beside it the coverage (width) of ppi-python, truescore and GLIDE with the same labels, where they
are installed (`parts/judge_rivals.py`) and the situation is one they can be asked about. The share
is that of the items; intervals are of 95%.
"""

import argparse
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from parts.judge_rivals import Limits, Rival, installed, limits_of
from quantshift import judge
from quantshift.base.seeding import generator
from quantshift.claims import Kind
from quantshift.errors import UserError

Ints = NDArray[np.int64]
Rates = list[tuple[float, float]]
NAMES = np.array(["bad", "good"])
VERDICTS = np.array(["fail", "pass"])
WEAK: Rates = [(0.75, 0.7), (0.7, 0.75)]
GOOD: Rates = [(0.95, 0.8), (0.95, 0.8)]
REFUSED, ASKED = "refused", "asked"


@dataclass
class Asked:
    """A call of `judge`, the true share, and what a rival is given."""

    call: dict[str, Any]
    truth: float
    verdicts: Ints | None = None
    labels: Ints | None = None


Make = Callable[[np.random.Generator], Asked]


def judged(n: int, share: float, rates: Rates, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Classes, and verdicts of each judge, (n, n_judges)."""
    y = (rng.random(n) < share).astype(np.int64)
    right = [rng.random(n) < np.where(y == 1, se, sp) for se, sp in rates]
    return y, np.column_stack([np.where(r, y, 1 - y) for r in right])


def chosen(rows: Ints, k: int, rng: np.random.Generator) -> Ints:
    return rng.choice(rows, min(k, len(rows)), replace=False)


def table(y: Ints, v: Ints, rows: Ints, **said: Any) -> Asked:
    """A table of which some rows are labelled."""
    labels = np.full(len(y), -1)
    labels[rows] = y[rows]
    columns = {f"judge{j}": VERDICTS[v[:, j]] for j in range(v.shape[1])}
    human = [NAMES[label] if label >= 0 else None for label in labels]
    call = {"table": pl.DataFrame({**columns, "human": human}), "verdict": list(columns), **said}
    return Asked({"label": "human", "positive": "good", **call}, y.mean(), v[:, 0], labels)


def disputed(share: float, rates: Rates, k: int, more: int) -> Make:
    def make(rng: np.random.Generator) -> Asked:
        y, v = judged(1000, share, rates, rng)
        apart = chosen(np.flatnonzero(v[:, 0] != v[:, 1]), k, rng)
        return table(y, v, np.concatenate([apart, chosen(np.arange(1000), more, rng)]))

    return make


def quotas(k: int, m: int, by: str = "verdict", **said: Any) -> Make:
    def make(rng: np.random.Generator) -> Asked:
        y, v = judged(1000, 0.8, GOOD[:1], rng)
        of = v[:, 0] if by == "verdict" else y
        rows = [chosen(np.flatnonzero(of == c), size, rng) for c, size in ((0, k), (1, m))]
        return table(y, v, np.concatenate(rows), **said)

    return make


def random(k: int, n: int, rates: Rates, **said: Any) -> Make:
    def make(rng: np.random.Generator) -> Asked:
        y, v = judged(n, 0.7, rates, rng)
        return table(y, v, chosen(np.arange(n), k, rng), **said)

    return make


def transfer(share: float, there: float, rates: Rates, names: Any = VERDICTS, **said: Any) -> Make:
    """Labels of 300 other items with the same error rates; names: of verdicts in their table."""

    def make(rng: np.random.Generator) -> Asked:
        y, v = judged(2000, share, rates, rng)
        y2, v2 = judged(300, there, rates, rng)
        call = {
            "table": pl.DataFrame({"judge0": VERDICTS[v[:, 0]]}),
            "labelled": pl.DataFrame({"judge0": names[v2[:, 0]], "human": NAMES[y2]}),
            "verdict": "judge0",
        }
        return Asked({"label": "human", "positive": "good", **call, **said}, y.mean())

    return make


def moved(**said: Any) -> Make:
    """Labels of 300 other items among which the judge errs half as often."""

    def make(rng: np.random.Generator) -> Asked:
        y, v = judged(2000, 0.6, [(0.8, 0.7)], rng)
        y2, v2 = judged(300, 0.6, [(0.9, 0.85)], rng)
        call = {
            "table": pl.DataFrame({"judge0": VERDICTS[v[:, 0]]}),
            "labelled": pl.DataFrame({"judge0": VERDICTS[v2[:, 0]], "human": NAMES[y2]}),
            "verdict": "judge0",
        }
        return Asked({"label": "human", "positive": "good", **call, **said}, y.mean())

    return make


def twice(rng: np.random.Generator) -> Asked:
    """Every item has two rows, with the labels of two people who err 5% of the time."""
    y, v = judged(400, 0.7, GOOD[:1], rng)
    rows = chosen(np.arange(400), 80, rng)
    frames, labels, shares = [], np.full(800, -1), []
    for person in range(2):
        said = np.where(rng.random(400) < 0.95, y, 1 - y)
        labels[400 * person + rows] = said[rows]
        shares.append(said.mean())
        human = [NAMES[said[i]] if i in set(rows.tolist()) else None for i in range(400)]
        ids = [f"q{i}" for i in range(400)]
        frames.append(pl.DataFrame({"id": ids, "judge0": VERDICTS[v[:, 0]], "human": human}))
    call = {"table": pl.concat(frames), "verdict": "judge0", "id": "id", "labels": "random"}
    both = np.concatenate([v[:, 0], v[:, 0]])
    return Asked(
        {"label": "human", "positive": "good", **call}, float(np.mean(shares)), both, labels
    )


def people(n_people: int) -> Make:
    """As many columns of labels of people who err 5% of the time; undecided items stay so."""

    def make(rng: np.random.Generator) -> Asked:
        y, v = judged(1000, 0.7, GOOD[:1], rng)
        rows = set(chosen(np.arange(1000), 150, rng).tolist())
        said = [np.where(rng.random(1000) < 0.95, y, 1 - y) for _ in range(n_people)]
        columns = {
            f"person{i}": [NAMES[one[j]] if j in rows else None for j in range(1000)]
            for i, one in enumerate(said)
        }
        votes = np.sum(said, axis=0)
        truth = ((votes > n_people / 2) + 0.5 * (votes == n_people / 2)).mean()
        call = {
            "table": pl.DataFrame({"judge0": VERDICTS[v[:, 0]], **columns}),
            "verdict": "judge0",
            "label": list(columns),
            "labels": "random",
            "positive": "good",
        }
        return Asked(call, float(truth))

    return make


def given(share: float, rates: tuple[float, float], stated: tuple[float, float]) -> Make:
    """No labels, but rates that are stated."""

    def make(rng: np.random.Generator) -> Asked:
        y, v = judged(1000, share, [rates], rng)
        call = {"table": pl.DataFrame({"judge0": VERDICTS[v[:, 0]]}), "verdict": "judge0"}
        known = {"sensitivity": stated[0], "specificity": stated[1], "positive": "pass"}
        return Asked({**call, **known}, y.mean())

    return make


HONEST = "honest: "
SITUATIONS: dict[str, Make] = {
    "only disputed items, weak judges": disputed(0.6, WEAK, 100, 0),
    "only disputed items, judges of .95 and .8": disputed(0.8, GOOD, 100, 0),
    "half disputed, half random, share .8": disputed(0.8, GOOD, 50, 50),
    "half disputed, half random, share .95": disputed(0.95, GOOD, 50, 50),
    "60 and 40 of the verdicts, nothing said": quotas(60, 40),
    "63 and 41 of the verdicts, nothing said": quotas(63, 41),
    "transfer, weak judge (.56, .56), share .4": transfer(0.4, 0.42, [(0.56, 0.56)]),
    "transfer, weak judge, labels of share .7": transfer(0.4, 0.7, [(0.56, 0.56)]),
    "transfer, good judge, labels of share .4": transfer(0.8, 0.4, GOOD[:1]),
    "transfer, the judge errs twice as often here": moved(),
    "transfer declared (rates), good judge": transfer(0.8, 0.4, GOOD[:1], assume="rates"),
    "transfer, verdicts spelled 1 and 0 there": transfer(0.7, 0.6, GOOD[:1], np.array(["0", "1"])),
    "transfer, verdicts spelled otherwise there": transfer(
        0.7, 0.6, GOOD[:1], np.array(["poor", "fine"])
    ),
    "two rows an item with its id": twice,
    "labels of two people": people(2),
    "labels of three people": people(3),
    "rates .6 and .9 given, contradicted": given(0.8, (0.9, 0.92), (0.6, 0.9)),
    "600 random of 876, nothing said": random(600, 876, GOOD[:1]),
    f"{HONEST}rates .9 and .8 given": given(0.7, (0.9, 0.8), (0.9, 0.8)),
    f"{HONEST}100 random of 1,000, nothing said": random(100, 1000, GOOD[:1]),
    f"{HONEST}100 random, stated": random(100, 1000, GOOD[:1], labels="random"),
    f"{HONEST}100 random, two judges, stated": random(100, 1000, GOOD, labels="random"),
    f"{HONEST}50 and 50 of the verdicts, stated": quotas(50, 50, labels="by-verdict"),
    f"{HONEST}60 and 40 of the verdicts, stated": quotas(60, 40, labels="by-verdict"),
    f"{HONEST}50 and 50 of the labels, stated": quotas(50, 50, "label", labels="by-label"),
}


@dataclass
class Tally:
    """Whether intervals hold the truth, and their widths."""

    inside: list[bool] = field(default_factory=list)
    widths: list[float] = field(default_factory=list)

    def add(self, limits: Limits, truth: float) -> None:
        low, high = limits
        self.inside.append(bool(low - 1e-12 <= truth <= high + 1e-12))
        self.widths.append(high - low)

    @property
    def coverage(self) -> str:
        if not self.inside:
            return f"{'-':>12}"
        p, n = float(np.mean(self.inside)), len(self.inside)
        return f"{p:.3f} +-{np.sqrt(max(p * (1 - p), 0.25 / n) / n):.3f}"

    @property
    def width(self) -> str:
        return f"{np.mean(self.widths):.3f}" if self.widths else "-"


def tried(make: Make, repeats: int, seed: int, name: str, rivals: dict[str, Rival]) -> str:
    kinds: Counter[str] = Counter()
    intervals, ranges = Tally(), Tally()
    theirs = {rival: Tally() for rival in rivals}
    for repeat in range(repeats):
        asked = make(generator(seed, purpose="judge situations", name=name, repeat=repeat))
        if asked.verdicts is not None and asked.labels is not None:
            for rival, tool in rivals.items():
                theirs[rival].add(limits_of(tool, asked.verdicts, asked.labels, None), asked.truth)
        try:
            found = judge(**asked.call)
        except UserError as error:
            kinds[ASKED if "say how they were chosen" in str(error) else REFUSED] += 1
            continue
        share, kind = found[asked.call["positive"]], found.overall.kind
        kinds[kind] += 1
        (intervals if kind == Kind.INTERVAL else ranges).add((share.low, share.high), asked.truth)
    shares = ", ".join(f"{kind} {n / repeats:.2f}" for kind, n in kinds.most_common())
    held = f"; ranges hold {np.mean(ranges.inside):.2f}" if ranges.inside else ""
    beside = "".join(
        f" | {rival} {t.coverage.split()[0]} ({t.width})" for rival, t in theirs.items() if t.inside
    )
    return f"{name:46} {intervals.coverage} width {intervals.width:>5}  {shares}{held}{beside}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=[], help="parts of names of situations")
    asked = parser.parse_args()
    rivals = installed()
    with threadpool_limits(1):
        for name, make in SITUATIONS.items():
            if not asked.only or any(part in name for part in asked.only):
                print(tried(make, asked.repeats, asked.seed, name, rivals), flush=True)


if __name__ == "__main__":
    main()
