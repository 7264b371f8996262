"""Other tools and ours on the same inputs: error, coverage, width, and processor time.

    python benchmarks/rivals.py methods [--methods CC,HDy] [--classes 2] [--repeats 5] [--small]
    python benchmarks/rivals.py intervals [--samples 210]
    python benchmarks/rivals.py judges [--draws 300]
    python benchmarks/rivals.py performance [--tables development] [--repeats 1]
    python benchmarks/rivals.py table [--tables development] [--write]

They need Python 3.12, for which all of them can be installed, in an environment of their own:

    pip install -e . quapy==0.2.3 mlquantify==0.5.1 quantificationlib==0.1.2 abstention quadprog \\
        cvxpy ppi-python truescore glide-py judgy evalstats 'pandas<3'
    pip install 'qunfold @ git+https://github.com/mirkobunse/qunfold'   # not the one on PyPI
    pip install --no-deps nannyml    # it wants an older rich
    pip install 'FLAML[automl]' 'plotly<6' category-encoders 'lightgbm<4.6' seaborn APScheduler \\
        segment-analytics-python python-dotenv 'pyfiglet<0.9' gcsfs s3fs

glide-py is for 3.12 and later, nannyml for 3.12 and before. A tool that cannot be imported, or
refuses a method, is left out with a line that says why.

`methods`: the same posteriors, the same samples, one thread, the declarations of
`parts/library_methods.py`. Each library runs its own implementation of the methods it shares with
ours, fitted once on the posteriors of labelled items and then given one sample after the other,
which is the only way to call it. Ours is called both ways: all samples in one call, and one by one.
Those that want a classifier get one that returns the posteriors it is given; methods that use
features get ten columns. Times are milliseconds per sample, the lowest of several repeats, in each
of which all take turns; fitting is not counted. A slow library gets fewer samples, at least three.
Then the mean absolute error, and the largest difference of a library's estimates from ours, in
brackets the mean and the number of samples; the reasons are in docs/compared.md.

`intervals`: 95% intervals for the share of samples of 500, from posteriors of 1,000 labelled items.
`judges`: 1,000 verdicts, 100 labels of random items, at four shares; the tools of
`parts/judge_rivals.py`. `performance`: see `parts/performance_rival.py`. `table`: a row for each
tool and estimator; with --write the table of docs/compared.md.
"""

import argparse
import csv
import math
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from parts import performance_rival
from parts.judge_rivals import found_by, installed
from parts.library_methods import LIBRARIES, METHODS, QUAPY, Estimator, Given, Method
from quantshift import judge
from quantshift.base.text_tables import Table, text_table
from quantshift.prevalence.simplex import uniform, whole_counts

SIZE, POOL, KNOWN, N_FEATURES = 500, 50_000, 5_000, 10
SECONDS = 0.25
"""Time of one contestant per repeat, unless `FEWEST` samples take longer."""
FEWEST = 3
AIM = 50
"""How many times as fast as QuaPy a method should be in one call."""
LONGEST = 10.0
"""Seconds of one call of ours above which it is not repeated."""


@dataclass(frozen=True)
class Samples:
    """The data that all libraries get: a pool, samples of it, and labelled items.

    known, pool: posteriors, or features. labels: of the pool.
    """

    known: np.ndarray
    codes: np.ndarray
    pool: np.ndarray
    index: np.ndarray
    labels: np.ndarray


class Contestant:
    """A library's method that gets samples one by one."""

    def __init__(self, estimate: Estimator, samples: Samples) -> None:
        self.estimate = estimate
        self.samples = [samples.pool[rows] for rows in samples.index]
        self.p_hat = [estimate(self.samples[0])]  # the first call may compile or import
        if len(self.p_hat[0]) != len(np.unique(samples.codes)):
            raise ValueError(f"returns {len(self.p_hat[0])} shares")
        begun = time.process_time()
        self.p_hat += [estimate(sample) for sample in self.samples[1:FEWEST]]
        used = (time.process_time() - begun) / (FEWEST - 1)
        self.n_samples = min(len(self.samples), max(FEWEST, int(SECONDS / max(used, 1e-6))))
        self.least = math.inf

    def take_turn(self) -> None:
        chosen = self.samples[: self.n_samples]
        begun = time.process_time()
        self.p_hat = [self.estimate(sample) for sample in chosen]
        self.least = min(self.least, (time.process_time() - begun) / len(chosen))


@dataclass(frozen=True)
class Row:
    """What a tool achieves in one of the questions. ms: of one estimate, with its interval."""

    question: str
    tool: str
    estimator: str
    error: float
    coverage: float | None
    width: float | None
    ms: float

    def cells(self) -> tuple[str, ...]:
        coverage, width = ("" if x is None else f"{x:.3f}" for x in (self.coverage, self.width))
        named = (self.question, with_version(self.tool), self.estimator)
        return (*named, f"{self.error:.4f}", coverage, width, f"{self.ms:.3g}")


HEADER = ("question", "tool", "estimator", "mean absolute error", "coverage", "width", "ms")
TABLE = Path(__file__).parents[1] / "docs" / "figures" / "as-shown" / "compared-rivals.csv"
SHOWN = ("PACC", "SLD")
"""The methods of the table: those that all libraries have."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=("methods", "intervals", "judges", "performance", "table"))
    parser.add_argument("--methods", help="names separated by commas (default: all)")
    parser.add_argument("--classes", type=int, default=2)
    parser.add_argument("--samples", type=int, help="with 2 classes, a multiple of 21")
    parser.add_argument("--repeats", type=int, help="of times (5), or of training sets (1)")
    parser.add_argument("--draws", type=int, default=300, help="of tables of verdicts, at a share")
    parser.add_argument("--tables", default="development")
    parser.add_argument("--worlds", default=performance_rival.WORLDS)
    parser.add_argument("--small", action="store_true", help="a trial: four methods, few samples")
    parser.add_argument("--write", action="store_true", help="write the table of the page")
    options = parser.parse_args()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if options.what == "methods":
            speed(options, parser)
        elif options.what == "performance":
            options.repeats = options.repeats or 1
            performance_rival.report(performance_rival.drawn(options))
        else:
            cells = tuple(row.cells() for row in rows_of(options))
            print(text_table(Table(f"{date.today():%B %Y}", HEADER, cells)))
            if options.write:
                with TABLE.open("w", encoding="utf-8", newline="") as file:
                    csv.writer(file, lineterminator="\n").writerows([HEADER, *cells])


def rows_of(options: argparse.Namespace) -> Iterator[Row]:
    if options.what in {"intervals", "table"}:
        yield from shares(options.samples or 210)
    if options.what in {"judges", "table"}:
        yield from rates(options.draws)
    if options.what == "table":
        options.repeats = options.repeats or 1
        yield from measures(performance_rival.drawn(options))


def shares(n_samples: int) -> Iterator[Row]:
    """Estimates of SLD and PACC by all libraries, and the intervals that two of them have."""
    question, drawn = "share of a sample of 500", draw(2, n_samples)
    few = np.random.default_rng(1).choice(len(drawn.codes), 1000, replace=False)
    samples = replace(drawn, known=drawn.known[few], codes=drawn.codes[few])
    truth = samples.labels[samples.index].mean(axis=1)
    for method in (m for m in METHODS if m.name in SHOWN):
        quantifier: Any = method.ours().fit_posteriors(samples.known, samples.codes)
        quantifier.aggregate_interval(samples.pool, samples.index[:1], of="items")  # compiles
        begun = time.process_time()
        found = [
            quantifier.aggregate_interval(samples.pool, [rows], of="items")
            for rows in samples.index
        ]
        ms = 1e3 * (time.process_time() - begun) / n_samples
        limits = np.array([(each.low[0, 1], each.high[0, 1]) for each in found])
        p_hat = quantifier.aggregate(samples.pool, samples.index)[:, 1]
        yield of_limits(question, "quantshift", method.name, p_hat, limits, truth, ms)
        for library, build in method.peers.items():
            try:
                peer = build(samples.known, samples.codes)
            except ImportError as error:
                print(f"{library}: left out ({error})")
                continue
            if library == QUAPY:
                yield by_bootstrap(question, method.name, samples, truth)
                continue
            begun = time.process_time()
            p_hat = np.array([peer(samples.pool[rows])[1] for rows in samples.index])
            ms = 1e3 * (time.process_time() - begun) / n_samples
            error = float(np.abs(p_hat - truth).mean())
            yield Row(question, library, method.name, error, None, None, ms)
    yield from by_abstention(question, samples, truth)


def of_limits(
    question: str,
    tool: str,
    estimator: str,
    estimates: np.ndarray,
    limits: np.ndarray,
    truth: Any,
    ms: float,
) -> Row:
    held = (limits[:, 0] <= truth + 1e-9) & (truth <= limits[:, 1] + 1e-9)
    error, width = np.nanmean(np.abs(estimates - truth)), np.diff(limits).mean()
    return Row(question, tool, estimator, float(error), float(held.mean()), float(width), ms)


def by_bootstrap(question: str, name: str, samples: Samples, truth: np.ndarray) -> Row:
    """QuaPy's intervals: percentiles of 500 resamples of the sample, its default."""
    from joblib import parallel_config
    from quapy.method import aggregative
    from quapy.method.confidence import AggregativeBootstrap

    given = Given().fit(samples.known, samples.codes)
    options = {} if name == "SLD" else {"val_split": None}
    inner = {"SLD": aggregative.EMQ, "PACC": aggregative.PACC}[name](
        given, fit_classifier=False, **options
    )
    if name == "SLD":
        inner.train_prevalence = np.bincount(samples.codes) / len(samples.codes)
    method = AggregativeBootstrap(inner, random_state=0)
    method.aggregation_fit(samples.known, samples.codes)
    begun = time.process_time()
    with parallel_config(backend="threading"):  # the time of other processes would not be counted
        found = [method.aggregate_conf(samples.pool[rows]) for rows in samples.index]
    ms = 1e3 * (time.process_time() - begun) / len(samples.index)
    limits = np.array([(region.I_low[1], region.I_high[1]) for _, region in found])
    estimates = np.array([p_hat[1] for p_hat, _ in found])
    return of_limits(question, QUAPY, name, estimates, limits, truth, ms)


def by_abstention(question: str, samples: Samples, truth: np.ndarray) -> Iterator[Row]:
    """EM with its options for the prior of the labelled items."""
    try:
        from abstention.label_shift import EMImbalanceAdapter
    except ImportError as error:
        print(f"abstention: left out ({error})")
        return
    adapter = EMImbalanceAdapter(estimate_priors_from_valid_labels=True)
    labels = np.eye(2)[samples.codes]
    prior = labels.mean(axis=0)
    begun = time.process_time()
    p_hat = np.array(
        [
            (adapter(samples.pool[rows], samples.known, labels).multipliers * prior)[1]
            for rows in samples.index
        ]
    )
    ms = 1e3 * (time.process_time() - begun) / len(samples.index)
    yield Row(question, "abstention", "SLD", float(np.abs(p_hat - truth).mean()), None, None, ms)


SHARES = (0.05, 0.2, 0.5, 0.9)
N_ITEMS, N_LABELS, RIGHT = 1000, 100, 0.85


def rates(draws: int) -> Iterator[Row]:
    """The share behind verdicts that are right in 85% of the items of both classes."""
    question = "share behind 1,000 verdicts, 100 random labels"
    tools = {"quantshift": by_judge, **installed()}
    found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in tools}
    seconds, truth = dict.fromkeys(tools, 0.0), []
    for share in SHARES:
        for number in range(draws):
            rng = np.random.default_rng([number, round(100 * share)])
            y = (rng.random(N_ITEMS) < share).astype(int)
            v = np.where(rng.random(N_ITEMS) < RIGHT, y, 1 - y)
            labels = np.full(N_ITEMS, -1)
            chosen = rng.choice(N_ITEMS, N_LABELS, replace=False)
            labels[chosen] = y[chosen]
            truth.append(share)
            for name, tool in tools.items():
                begun = time.process_time()
                found[name].append(found_by(tool, v, labels, None))
                seconds[name] += time.process_time() - begun
    for name, each in found.items():
        values, ms = np.array(each), 1e3 * seconds[name] / len(truth)
        yield of_limits(
            question, name, "mean of labels", values[:, 0], values[:, 1:], np.array(truth), ms
        )


def by_judge(v: np.ndarray, labels: np.ndarray, clusters: Any) -> tuple[float, float, float]:
    names = np.array(["no", "yes"])
    answer = judge(
        verdict=names[v].tolist(),
        label=[None if label < 0 else str(names[label]) for label in labels],
        labels="random",
        of="population",
        insist=True,
        classes=["no", "yes"],
    )
    (share,) = (s for s in answer.overall.shares if s.label == "yes")
    return share.estimate, share.low, share.high


def measures(found: Any) -> Iterator[Row]:
    """Accuracy without labels, of the samples for which both have an estimate."""
    question = "accuracy without labels, real tables"
    told = found[found["ours accuracy"].notna() & found["cbpe accuracy"].notna()]
    tools = {"ours": ("quantshift", "performance"), "cbpe": ("nannyml", "CBPE")}
    for key, (tool, name) in tools.items():
        low, high = (told[f"{key} {end} accuracy"].astype(float) for end in ("low", "high"))
        yield Row(
            question,
            tool,
            name,
            performance_rival.by_task(told, key, "accuracy")[0],
            performance_rival.covered(told, key, "accuracy"),
            float((high - low).mean()),
            float(told[f"{key} ms"].mean()),
        )


def speed(options: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    """The table of all methods."""
    options.samples, options.repeats = options.samples or 1050, options.repeats or 5
    if options.small:
        options.methods = options.methods or "CC,PACC,SLD,DyS"
        options.samples, options.repeats = 105, 1
    names = [method.name for method in METHODS]
    wanted = options.methods.split(",") if options.methods else names
    if unknown := sorted(set(wanted) - set(names)):
        parser.error(f"no method {', '.join(unknown)}; there are {', '.join(names)}")
    drawn = {
        from_features: draw(options.classes, options.samples, from_features=from_features)
        for from_features in (False, True)
    }
    rows, outcomes, skipped = [], {}, []
    for method in METHODS:
        if method.name in wanted:
            row = compared(method, drawn[method.from_features], options.repeats, skipped)
            rows.append((method.name, *row.cells()))
            print(*rows[-1], sep=" | ", flush=True)
            outcomes[method.name] = row
    for line in skipped:
        print(line)
    title = (
        f"ms of processor time per sample of {SIZE}, {options.classes} classes, lowest of "
        f"{options.repeats}; {len(drawn[False].index)} samples in one call"
    )
    libraries = map(with_version, LIBRARIES)
    header = ("", "one call", "one by one", *libraries, "error", "largest difference")
    print("\n" + text_table(Table(title, header, tuple(rows))))
    print(f"times {QUAPY} in one call: {listed(outcomes, Outcome.times_quapy)}")
    short = {n: outcome for n, outcome in outcomes.items() if (outcome.times_quapy() or AIM) < AIM}
    print(f"below {AIM} times {QUAPY} in one call: {listed(short, Outcome.times_quapy)}")
    behind = {n: outcome for n, outcome in outcomes.items() if (outcome.times_fastest() or 1) < 1}
    print(f"slower than a peer one by one: {listed(behind, Outcome.times_fastest)}")


def listed(outcomes: Mapping[str, "Outcome"], times: Callable[["Outcome"], float | None]) -> str:
    """Names with how many times as fast we are, the slowest first."""
    known = {name: times(each) for name, each in outcomes.items()}
    ordered = sorted((factor, name) for name, factor in known.items() if factor is not None)
    return ", ".join(f"{name} ({factor:.3g})" for factor, name in ordered) or "none"


@dataclass(frozen=True)
class Outcome:
    """Seconds per sample, our mean absolute error, and largest differences from ours."""

    one_call: float
    one_by_one: float
    peers: Mapping[str, float]
    error: float
    gaps: Mapping[str, np.ndarray]

    def cells(self) -> tuple[str, ...]:
        return (
            milliseconds(self.one_call),
            milliseconds(self.one_by_one),
            *(milliseconds(self.peers[n]) if n in self.peers else "" for n in LIBRARIES),
            f"{self.error:.4f}",
            ", ".join(
                f"{name} {gap.max():.0e} ({gap.mean():.0e}; {len(gap)})"
                for name, gap in self.gaps.items()
            ),
        )

    def times_quapy(self) -> float | None:
        """How many times as fast we are in one call."""
        return self.peers[QUAPY] / self.one_call if QUAPY in self.peers else None

    def times_fastest(self) -> float | None:
        """How many times as fast as the fastest peer we are one by one."""
        return min(self.peers.values()) / self.one_by_one if self.peers else None


def milliseconds(seconds: float) -> str:
    """Three digits, but at most five decimals: the processor's clock ticks are not finer."""
    decimals = min(5, 2 - math.floor(math.log10(1e3 * seconds)))
    return f"{1e3 * seconds:.{max(decimals, 0)}f}"


def compared(method: Method, samples: Samples, repeats: int, skipped: list[str]) -> Outcome:
    estimate = ours(method, samples)
    alone = Contestant(estimate, samples)
    estimate(samples.pool, samples.index[:FEWEST])  # compiles the path for many samples
    begun = time.process_time()
    reference = estimate(samples.pool, samples.index)
    one_call = (time.process_time() - begun) / len(samples.index)
    others = {}
    for title, build in method.peers.items():
        try:
            others[title] = Contestant(build(samples.known, samples.codes), samples)
        except Exception as error:  # a library may raise anything; the others continue
            why = str(error).splitlines()[0] if str(error) else type(error).__name__
            skipped.append(f"{method.name}, {title}: left out ({why})")
    for _ in range(repeats):
        if one_call * len(samples.index) < LONGEST:
            begun = time.process_time()
            estimate(samples.pool, samples.index)
            one_call = min(one_call, (time.process_time() - begun) / len(samples.index))
        for contestant in (alone, *others.values()):
            contestant.take_turn()
    gaps = {
        title: np.abs(np.array(other.p_hat) - reference[: len(other.p_hat)]).max(axis=1)
        for title, other in others.items()
    }
    times = {title: other.least for title, other in others.items()}
    truth = np.eye(samples.codes.max() + 1)[samples.labels[samples.index]].mean(axis=1)
    error = float(np.abs(reference - truth).mean())
    return Outcome(one_call, alone.least, times, error, gaps)


def ours(method: Method, samples: Samples) -> Any:
    """Our method, fitted: a function of one sample, or of a pool and samples of it."""
    quantifier: Any = method.ours()
    if method.from_features:
        return quantifier.fit(samples.known, samples.codes).predict
    return quantifier.fit_posteriors(samples.known, samples.codes).aggregate


def draw(n_classes: int, n_samples: int, *, from_features: bool = False) -> Samples:
    rng = np.random.default_rng(0)
    items = features if from_features else posteriors
    known, codes = items(rng, KNOWN, n_classes)
    pool, labels = items(rng, POOL, n_classes)
    members = [np.flatnonzero(labels == k) for k in range(n_classes)]
    index = [
        np.concatenate(
            [
                rng.choice(of_class, count, replace=False)
                for of_class, count in zip(members, whole_counts(p, SIZE), strict=True)
            ]
        )
        for p in prevalences(rng, n_classes, n_samples)
    ]
    # Random order, so that a library that gets only the first few gets all kinds.
    return Samples(known, codes, pool, rng.permutation(np.stack(index)), labels)


def prevalences(rng: np.random.Generator, n_classes: int, n_samples: int) -> np.ndarray:
    """21 from 0 to 1 with two classes, uniform on the simplex with more."""
    if n_classes > 2:
        return uniform(n_samples, n_classes, rng)
    p = np.repeat(np.linspace(0, 1, 21), n_samples // 21)
    return np.column_stack([1 - p, p])


def posteriors(
    rng: np.random.Generator, n_items: int, n_classes: int
) -> tuple[np.ndarray, np.ndarray]:
    """Posteriors, calibrated or nearly so; with two classes the accuracy is 83%."""
    y = rng.integers(0, n_classes, n_items)
    if n_classes == 2:
        p = 1 / (1 + np.exp(-1.2 * rng.normal(1.2 * (2 * y - 1), 1.3)))
        return np.column_stack([1 - p, p]), y
    odds = np.exp(2 * (rng.normal(size=(n_items, n_classes)) + 2 * np.eye(n_classes)[y]))
    return odds / odds.sum(axis=1, keepdims=True), y


def features(
    rng: np.random.Generator, n_items: int, n_classes: int
) -> tuple[np.ndarray, np.ndarray]:
    """Columns between 0 and 1, as mlquantify expects; each class shifts one of them."""
    y = rng.integers(0, n_classes, n_items)
    X = rng.normal(size=(n_items, N_FEATURES))
    X[np.arange(n_items), y % N_FEATURES] += 1.5
    return 1 / (1 + np.exp(-X)), y


def with_version(title: str) -> str:
    try:
        return f"{title} {version(title)}"
    except PackageNotFoundError:
        return title


if __name__ == "__main__":
    main()
