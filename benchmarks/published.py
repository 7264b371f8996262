"""Our tuned choice beside published results: `fried` (ordered classes) and six UCI tables.

    python -m benchmarks.published fried      # about 2 minutes of CPU time
    python -m benchmarks.published uci        # about 2 minutes a seed; needs QUANTSHIFT_TABLES
    python -m benchmarks.published uci --seed 21 --seed 22 --seed 23
    python -m benchmarks.published uci --table cmc --samples 200
    python -m benchmarks.published splits     # 5 minutes; needs quantshift[datasets]
    python -m benchmarks.published fried --seed 1

Candidates are compared on the training part only. Posteriors of its items come from models of other
folds; the quantifier is fitted on two thirds of them and tried on samples of the last third, for
every third of `--splits` random splits (a third has few items of a rare class, so one split is not
enough). A candidate is a setting of a classifier with a method and its options. "Our choice" is the
candidate with the smallest mean error. If there are several classifiers, "our mean" is the mean of
the estimates of the best candidates of each classifier, `BEST` of each: the best candidate on few
validation items is often not the best on others, and classifiers err in different directions. Below
these, for comparison, are the best candidate of the first classifier and of each method.

Test samples are drawn as for the published results: uniform prevalences (for `fried` also the
smoothest fifth), without replacement unless a class has too few items. Errors are means over the
test samples of one training set; the number after ± is their Monte Carlo error, which does not
include the choice of the training set. `--seed` is the seed of all draws and of the validation
splits; given several times, each is run, and the summary has the mean over seeds and its standard
error. The split of a UCI table into training and test items has a seed of its own, `--split-seed`.

`splits` shows how much a figure of one split says: SLD without tuning, with a logistic regression
and with a forest, on ten splits of the tables of packages, the published one among them where a
package has the rows in the order of UCI's file. What differs from the published setups is in
`experiments/library/<suite>/published.csv`.
"""

import argparse
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from benchmarks.parts.real_tables import tables_dir
from quantshift import SLD, KDEyML, OrdinalSLD, metrics
from quantshift.base.seeding import generator
from quantshift.classify.folds import stratified_folds
from quantshift.classify.learners import AbstractLearner, LogisticLearner, SklearnLearner
from quantshift.lab.data import EMBEDDED
from quantshift.lab.data.packaged.packaged import UCI as OF_PACKAGES
from quantshift.lab.data.packaged.packaged import packaged_set
from quantshift.lab.shifts.uniform import jaggedness
from quantshift.prevalence import simplex
from quantshift.quantifiers import IBU, RUN, OrdinalLikelihood, OrdinalPACC
from quantshift.texts import MatrixView

UCI = ("cmc", "page_block", "yeast", "abalone", "waveform-v1", "image_seg")
"""The tables of `uci`."""

ALL_UCI = tuple(data_set.name for data_set in OF_PACKAGES)
"""The tables of `splits`."""

FEWEST, MOST_TRAINING = 100, 25_000
CHOICE, MEAN, FIRST = "our choice", "our mean", "logistic alone"
N_PARTS = 3

BEST = 3
"""Candidates of each classifier whose estimates are averaged."""

LOGISTIC_PRIOR, FOREST_PRIOR, MEAN_OF_TWO = "SLD, prior 2", "SLD, prior 2, forest", "mean of both"

N_SPLITS = 10
"""Splits of a table into training and test items, from seed 0 on."""

LIKELIHOODS = {
    f"SLD(calibration={name!r}, prior={prior:g})": SLD(calibration=name, prior=prior)
    for name in ("none", "bcts", "vs")
    for prior in (1.0, 2.0, 5.0, 10.0)
}
DENSITIES = {
    f"KDEyML(bandwidth={width:g})": KDEyML(bandwidth=width)
    for width in (0.02, 0.03, 0.04, 0.05, 0.07, 0.1, 0.15)
}
UCI_CANDIDATES = {
    **{
        f"SLD(calibration={name!r}, prior={prior:g})": SLD(calibration=name, prior=prior)
        for name in ("none", "bcts")
        for prior in (1.0, 2.0, 5.0, 10.0)
    },
    **{f"KDEyML(bandwidth={width:g})": KDEyML(bandwidth=width) for width in (0.05, 0.1, 0.15)},
}
ORDERED = {
    **{
        f"OrdinalSLD(smoothing={part:g})": OrdinalSLD(calibration="vs", smoothing=part)
        for part in (0.1, 0.03, 0.01)
    },
    **{f"OrdinalPACC(tau={tau:g})": OrdinalPACC(tau=tau) for tau in (1e-3, 1e-4, 1e-5)},
    **{
        f"OrdinalLikelihood(tau_1={tau:g})": OrdinalLikelihood(calibration="vs", tau_1=tau)
        for tau in (0.1, 0.01)
    },
    **{f"RUN(n_cells={n})": RUN(n_cells=n) for n in (40, 80)},
    **{f"IBU(n_cells={n})": IBU(n_cells=n) for n in (40, 80)},
}


@dataclass(frozen=True)
class Samples:
    """Positions of the items of samples, (n_samples, size), and their true prevalences."""

    index: NDArray[np.int64]
    p_true: NDArray[np.float64]


@dataclass(frozen=True)
class Problem:
    """Items of a training part and a test pool, as one matrix: training items come first."""

    name: str
    features: NDArray[np.float64]
    codes: NDArray[np.int64]
    n_train: int

    @property
    def n_classes(self) -> int:
        """Classes are numbered from 0."""
        return int(self.codes.max()) + 1


def fried(n_train: int, seed: int) -> Problem:
    """The embedded data set, in a random order."""
    content = EMBEDDED["fried"].make()
    order = generator(seed, purpose="published", data="fried").permutation(len(content.labels))
    return Problem(
        "fried",
        content.columns.to_numpy()[order],
        content.labels.to_numpy()[order].astype(np.int64),
        n_train,
    )


def shared_table(name: str, split_seed: int) -> Problem:
    """A table of QUANTSHIFT_TABLES; its rows are in another order than UCI's, so its splits differ.

    No seed gives the split of the published results.
    """
    frame = pl.read_csv(tables_dir() / f"uci_{name}.csv")
    frame = frame.filter(pl.len().over("label") >= FEWEST)
    columns = frame.drop("label")
    if name == "abalone":  # the one category among them: sex
        columns = columns.with_columns(pl.col("x0").cast(pl.String))
    return split(name, columns, frame["label"], split_seed)


def packaged_table(name: str, split_seed: int) -> Problem:
    """A table of a package; where it has the order of UCI's file, split 0 is the published one."""
    content = packaged_set(name).make()
    return split(name, content.columns, content.labels, split_seed)


def split(name: str, columns: pl.DataFrame, labels: pl.Series, split_seed: int) -> Problem:
    """By the conventions of the field: 70% for training, stratified; then standardised."""
    codes = np.unique(labels.to_numpy(), return_inverse=True)[1].astype(np.int64)
    train, test = train_test_split(
        np.arange(len(codes)), train_size=0.7, stratify=codes, random_state=split_seed
    )
    train = train[:MOST_TRAINING]
    numbers = columns.to_dummies(pl.selectors.string(), drop_first=True).to_numpy()
    features = StandardScaler().fit(numbers[train]).transform(numbers[np.append(train, test)])
    return Problem(name, features, codes[np.append(train, test)], len(train))


def draw(
    codes: NDArray[np.int64], n: int, size: int, *, seed: int, smooth: bool, **axes: Any
) -> Samples:
    """Samples with uniform prevalences, or with the smoothest fifth of them."""
    n_classes = int(codes.max()) + 1
    rng = generator(seed, purpose="published", smooth=smooth, **axes)
    points = simplex.uniform(5 * n if smooth else n, n_classes, rng)
    if smooth:
        points = points[np.argsort(jaggedness(points), kind="stable")[:n]]
    members = [np.flatnonzero(codes == k) for k in range(n_classes)]
    counts = np.stack([simplex.whole_counts(point, size) for point in points])
    index = [
        np.concatenate(
            [
                rng.choice(pool, k, replace=bool(k > len(pool)))
                for pool, k in zip(members, counts_of_sample, strict=True)
            ]
        )
        for counts_of_sample in counts
    ]
    return Samples(np.stack(index), counts / size)


def estimates(
    quantifier: Any,
    known: NDArray[np.float64],
    codes: NDArray[np.int64],
    pool: NDArray[np.float64],
    samples: Samples,
) -> NDArray[np.float64]:
    """Estimates of all samples by a quantifier that is fitted on known items."""
    return np.asarray(quantifier.fit_posteriors(known, codes).aggregate(pool, samples.index))


def compare(
    problem: Problem,
    learners: Sequence[tuple[AbstractLearner, Sequence[Mapping[str, Any]]]],
    candidates: Mapping[str, Any],
    *,
    n_samples: int,
    size: int,
    n_validation: int,
    measure: str,
    kinds: Mapping[str, bool],
    n_splits: int,
    seed: int,
) -> dict[tuple[str, str], float]:
    """Choose, and print what was chosen and its error; the errors by kind of samples and choice.

    learners: classifiers and their settings, all of which are tried.
    """
    started = time.process_time()
    train, codes = np.arange(problem.n_train), problem.codes[: problem.n_train]
    test_codes = problem.codes[problem.n_train :]
    view = MatrixView(problem.features)
    folds = stratified_folds(codes, 5, seed=seed)
    models = [
        learner.learn(view, train, codes, settings, folds, problem.n_classes)
        for learner, settings in learners
    ]
    out_of_fold = [known for fitted in models for known in fitted.out_of_fold]
    test = np.arange(problem.n_train, len(problem.codes))
    pool = [posteriors for fitted in models for posteriors in fitted.posteriors(view, test)]
    settings = [setting for _, settings in learners for setting in settings]
    learner_of = np.repeat(np.arange(len(learners)), [len(settings) for _, settings in learners])
    splits = [stratified_folds(codes, N_PARTS, seed=seed + 1 + n) for n in range(n_splits)]
    parts = [parts == part for parts in splits for part in range(N_PARTS)]
    names = np.array(list(candidates))
    methods = np.array([name.partition("(")[0] for name in names])

    def error_of(p_hat: NDArray[np.float64], samples: Samples) -> NDArray[np.float64]:
        return metrics.measure(measure, samples.p_true, p_hat, smoothing=0.001)

    found = {}
    for kind, smooth in kinds.items():
        tried = np.zeros((len(settings), len(candidates)))
        for number, part in enumerate(parts):
            fitting, trying = np.flatnonzero(~part), np.flatnonzero(part)
            samples = draw(codes[trying], n_validation, size, seed=seed, smooth=smooth, part=number)
            for s, held_out in enumerate(out_of_fold):
                for c, quantifier in enumerate(candidates.values()):
                    p_hat = estimates(
                        quantifier, held_out[fitting], codes[fitting], held_out[trying], samples
                    )
                    tried[s, c] += error_of(p_hat, samples).mean() / len(parts)
        tried[np.isnan(tried)] = np.inf  # a candidate that fails on a sample is left out
        samples = draw(test_codes, n_samples, size, seed=seed, smooth=smooth, side="test")
        everything = np.ones(tried.shape, dtype=bool)
        of_learner = [everything & (learner_of == n)[:, np.newaxis] for n in range(len(learners))]
        chosen = {CHOICE: best_of(tried, everything, 1)}
        if len(learners) > 1:
            chosen[MEAN] = [pair for own in of_learner for pair in best_of(tried, own, BEST)]
            chosen[FIRST] = best_of(tried, of_learner[0], 1)
        for method in dict.fromkeys(methods.tolist()):
            chosen[method] = best_of(tried, everything & (methods == method), 1)
        for name, pairs in chosen.items():
            p_hat = np.mean(
                [
                    estimates(candidates[names[c]], out_of_fold[s], codes, pool[s], samples)
                    for s, c in pairs
                ],
                axis=0,
            )
            error = error_of(p_hat, samples)
            spread = error.std() / np.sqrt(len(error))
            found[kind, name] = float(error.mean())
            listed = ", ".join(
                f"{names[c]} with {dict(settings[s])} ({tried[s, c]:.4f})" for s, c in pairs
            )
            print(
                f"{problem.name:12} {kind:7} {name:17} {error.mean():.4f} ± {spread:.4f}   {listed}"
            )
        print(f"{time.process_time() - started:.0f} s of CPU time", flush=True)
    return found


def best_of(
    tried: NDArray[np.float64], allowed: NDArray[np.bool_], n_best: int
) -> list[tuple[int, int]]:
    """Setting and candidate of the smallest errors among the allowed, smallest first.

    >>> best_of(np.array([[3.0, 1.0], [2.0, 4.0]]), np.array([[True, False], [True, True]]), 2)
    [(1, 0), (0, 0)]
    """
    errors = np.where(allowed, tried, np.inf)
    order = np.argsort(errors, axis=None, kind="stable")[:n_best]
    places = zip(*np.unravel_index(order, tried.shape), strict=True)
    return [(int(s), int(c)) for s, c in places if np.isfinite(errors[s, c])]


def published(suite: str, names: Iterable[str]) -> pl.DataFrame:
    """The published results on these data sets, printed."""
    path = resources.files("quantshift.lab.experiments") / "library" / suite / "published.csv"
    frame = pl.read_csv(path.read_bytes()).filter(pl.col("dataset").is_in(list(names)))
    for row in frame.iter_rows(named=True):
        print(f"{row['dataset']:12} {row['experiment']:20} {row['value']:.4f}   {row['method']}")
    print(f"published: {frame['source'][0]}; what differs: {frame['differs'][0]}")
    return frame


def run_fried(options: argparse.Namespace) -> None:
    """APP and APP-OQ, normalised match distance."""
    published("ordinal", ["fried"])
    forest = RandomForestClassifier(100, max_features=3, random_state=0)
    for seed in options.seed or [0]:
        compare(
            fried(options.train, seed),
            [(SklearnLearner(forest), [{"min_samples_leaf": n} for n in options.leaf or [5]])],
            {**LIKELIHOODS, **DENSITIES, **ORDERED},
            n_samples=options.samples or 2000,
            size=1000,
            n_validation=options.validation,
            n_splits=options.splits or 4,
            seed=seed,
            measure="nmd",
            kinds={"APP": False, "APP-OQ": True},
        )


def run_uci(options: argparse.Namespace) -> None:
    """Mean absolute error, 1,000 samples of 500 of each table.

    Published results are for logistic regression; ours with it alone are printed as well.
    """
    tables = options.table or UCI
    frame = published("multiclass", tables)
    settings = [{"C": C} for C in (0.1, 1.0, 10.0, 100.0, 1000.0)]
    forest = SklearnLearner(RandomForestClassifier(200, random_state=0))
    learners = [(LogisticLearner(), settings), (forest, [{"min_samples_leaf": n} for n in (1, 5)])]
    by_seed: dict[str, list[dict[str, float]]] = {CHOICE: [], MEAN: [], FIRST: []}
    for seed in options.seed or [0]:
        found = {
            table: compare(
                shared_table(table, options.split_seed),
                learners,
                UCI_CANDIDATES,
                n_samples=options.samples or 1000,
                size=500,
                n_validation=options.validation,
                n_splits=options.splits or 2,
                seed=seed,
                measure="ae",
                kinds={"uniform": False},
            )
            for table in tables
        }
        for choice, errors in by_seed.items():
            errors.append({table: found[table]["uniform", choice] for table in tables})
            summary(f"seed {seed}, {choice}", errors[-1:], frame)
    if len(by_seed[CHOICE]) > 1:
        for choice, errors in by_seed.items():
            summary(f"mean over seeds, {choice}", errors, frame)


def summary(name: str, by_seed: Sequence[Mapping[str, float]], frame: pl.DataFrame) -> None:
    """Errors by table, with their standard error over seeds, compared with published ones."""
    tables = list(by_seed[0])
    errors = np.array([[errors[table] for table in tables] for errors in by_seed])
    means = errors.mean(axis=0)
    for place, table in enumerate(tables if len(by_seed) > 1 else []):
        deviation = errors[:, place].std(ddof=1) / np.sqrt(len(errors))
        print(f"{name}: {table:12} {means[place]:.4f} ± {deviation:.4f} (over seeds)")
    for (method,), rows in frame.group_by("method", maintain_order=True):
        values = dict(zip(rows["dataset"], rows["value"], strict=True))
        theirs = np.array([values[table] for table in tables])
        print(
            f"{name}: mean of {len(tables)} {means.mean():.4f}, {method} {theirs.mean():.4f} "
            f"(ratio {means.mean() / theirs.mean():.2f}); at most theirs on "
            f"{int((means <= theirs).sum())} of {len(tables)}"
        )


def run_splits(options: argparse.Namespace) -> None:
    """The same untuned methods on ten splits of each table: what a published figure depends on."""
    tables = options.table or ALL_UCI
    frame = published("uci", tables)
    (seed,) = options.seed or [0]
    for table in tables:
        errors: dict[str, list[float]] = {}
        for split_seed in range(N_SPLITS):
            problem = packaged_table(table, split_seed)
            train, test = np.split(np.arange(len(problem.codes)), [problem.n_train])
            samples = draw(
                problem.codes[test], options.samples or 200, 500, seed=seed, smooth=False
            )
            p_hat = {
                name: quantifier.fit(problem.features[train], problem.codes[train]).predict(
                    problem.features[test], samples.index
                )
                for name, quantifier in untuned().items()
            }
            p_hat[MEAN_OF_TWO] = (p_hat[LOGISTIC_PRIOR] + p_hat[FOREST_PRIOR]) / 2
            for name, estimate in p_hat.items():
                error = float(np.abs(estimate - samples.p_true).mean())
                errors.setdefault(name, []).append(error)
        theirs = frame.filter(pl.col("dataset") == table).select("method", "value").iter_rows()
        print(f"{table}, published: " + ", ".join(f"{name} {value:.4f}" for name, value in theirs))
        for name, values in errors.items():
            print(
                f"{table:12} {name:26} split 0 {values[0]:.4f}, mean of {N_SPLITS} splits "
                f"{np.mean(values):.4f}, standard deviation {np.std(values, ddof=1):.4f} "
                f"({min(values):.4f} to {max(values):.4f})",
                flush=True,
            )


def untuned() -> dict[str, SLD]:
    """SLD as published, and the two members of the example on the page of the suite multiclass."""
    logistic = LogisticRegression(max_iter=1000)
    return {
        "SLD": SLD(logistic, calibration="none"),
        LOGISTIC_PRIOR: SLD(logistic, calibration="none", prior=2),
        FOREST_PRIOR: SLD(RandomForestClassifier(random_state=0), calibration="none", prior=2),
    }


RUNS = {"fried": run_fried, "uci": run_uci, "splits": run_splits}


def main() -> None:
    """One of the comparisons."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=list(RUNS))
    parser.add_argument("--table", action="append", choices=sorted({*UCI, *ALL_UCI}))
    parser.add_argument("--train", type=int, default=20_000, help="training items of fried")
    parser.add_argument("--leaf", type=int, action="append", help="min_samples_leaf to try (5)")
    parser.add_argument("--samples", type=int, help="test samples (default: as published)")
    parser.add_argument("--validation", type=int, default=30, help="validation samples of a part")
    parser.add_argument("--splits", type=int, help="splits into three parts (fried: 4, uci: 2)")
    parser.add_argument("--seed", type=int, action="append", help="seed of all draws (0)")
    parser.add_argument("--split-seed", type=int, default=0, help="of training and test items (0)")
    options = parser.parse_args()
    RUNS[options.what](options)


if __name__ == "__main__":
    main()
