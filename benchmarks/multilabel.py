"""Several labels at once: errors by the published protocol, beside the published errors.

    python benchmarks/multilabel.py [--tables dev] [--repeats 5] [--natural 500]
        [--methods NAMES] [--csv FILE] [--latex FILE] [--store DIR] [--coverage]

--tables is `dev`, `kept`, `all` or names separated by commas; see `parts/mulan_sets.py` for the
sets and the protocols. --repeats: samples of each label and share; --natural: random samples.
--methods: some of the methods, separated by commas.

All methods but SetsAsClasses (which classifies sets of labels) use the same classifiers, a logistic
regression for each label, so that only what is made of their posteriors differs. `X by label` is
the quantifier X for each label on its own. The error of a sample is the mean over its labels. Two
standard errors: over samples, and over labels (the errors of a label are averaged over samples
first), which is the larger one as labels are few.

Published errors are those of `lab/experiments/library/multilabel/published.csv`; "best" is the
smallest of a set, whichever method has it. With --store the estimates are written to a store of
results, which `quantshift report DIR` and `quantshift.lab.leaderboard.build_leaderboard(DIR)` show;
it has to be a new folder. With --coverage the intervals of TiltedLabelSets at the level 0.95 are
tried on the same samples: how often they hold for all labels, for the label whose share is set
(also without labels of fewer than five training items, which `quantify` leaves out), for the
others, and for labels that at least 5% of the test items have; then for random samples, if only
random samples made the limits, which is what they could be if it were known that nothing has
changed.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy.sparse import issparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from parts.mulan_sets import SIZE, TABLES, errors_by_label, load
from quantshift import MLPE, PACC, PCC, SLD
from quantshift.base.types import Flags, Indices, Posteriors, Reals
from quantshift.lab.experiments.label_results import (
    EACH_LABEL,
    NATURAL,
    SUITE,
    LabelProblem,
    LabelProtocols,
    create_label_store,
    write_label_estimates,
)
from quantshift.lab.report.tables.latex import latex
from quantshift.lab.report.tables.table import MISSING, Cell, ColumnGroup, ReportTable, Row
from quantshift.multilabel import RegressedShares, SetsAsClasses, TiltedLabelSets
from quantshift.multilabel.label_intervals import NO_LABEL, SimulatedWorlds, simulated_worlds
from quantshift.multilabel.label_models import LabelFolds, fit_label_models, with_absence

PUBLISHED = resources.files("quantshift.lab.experiments") / "library" / SUITE / "published.csv"
MEASURES = ("ae", "rae")
LEVEL = 0.95
FREQUENT = 0.05
"""Of a label this share of the test items has, a sample of 100 rarely has none."""

FEWEST_ITEMS = 5
"""Training items with a label that `quantify` needs."""

NAIVE = ("NaivePCC", "NaivePACC", "MLPE")
"""Published methods that are shown beside the best ones: ours of the same kind is in the table."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """The posteriors of a set, held out for training items, and direct for test items."""

    problem: LabelProblem
    held_out: Posteriors
    pool: Posteriors


Estimate = Callable[[Fitted, Indices], Reals]


def by_label(quantifier: Any) -> Estimate:
    """Each label on its own."""

    def estimate(fitted: Fitted, index: Indices) -> Reals:
        labels = fitted.problem.labels.has.T
        columns = [
            quantifier.fit_posteriors(with_absence(held_out), has).aggregate(
                with_absence(pool), index
            )[:, 1]
            for held_out, pool, has in zip(fitted.held_out.T, fitted.pool.T, labels, strict=True)
        ]
        return np.column_stack(columns)

    return estimate


def together(quantifier: Any) -> Estimate:
    """All labels at once, from their posteriors."""

    def estimate(fitted: Fitted, index: Indices) -> Reals:
        quantifier.fit_posteriors(fitted.held_out, fitted.problem.labels.has)
        return np.asarray(quantifier.aggregate(fitted.pool, index))

    return estimate


def sets_as_classes(fitted: Fitted, index: Indices) -> Reals:
    """Sets of labels as classes; dense features are standardised, as for the other methods."""
    problem = fitted.problem
    X, X_test = problem.X, problem.X_test
    if not issparse(X):
        scaling = StandardScaler().fit(X)
        X, X_test = scaling.transform(X), scaling.transform(X_test)
    return SetsAsClasses().fit(X, problem.labels.has).predict(X_test, index)


METHODS: Mapping[str, Estimate] = {
    "MLPE": by_label(MLPE()),
    "PCC by label": by_label(PCC()),
    "PACC by label": by_label(PACC()),
    "SLD by label": by_label(SLD()),
    "SetsAsClasses": sets_as_classes,
    "RegressedShares": together(RegressedShares()),
    "TiltedLabelSets": together(TiltedLabelSets()),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tables", default="dev")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--natural", type=int, default=500)
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--coverage", action="store_true")
    parser.add_argument("--csv", type=Path)
    parser.add_argument("--latex", type=Path)
    parser.add_argument("--store", type=Path)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    names = TABLES.get(arguments.tables, tuple(arguments.tables.split(",")))
    methods = {method: METHODS[method] for method in arguments.methods.split(",")}
    protocols = LabelProtocols(SIZE, repeats=arguments.repeats, n_natural=arguments.natural)
    rows, covered = [], []
    with threadpool_limits(1):
        for name in names:
            start = time.perf_counter()
            fitted = classified(load(name))
            estimates = estimated(fitted, protocols, methods)
            rows += measured(fitted, protocols, estimates)
            if arguments.csv is not None:
                pl.DataFrame(rows).write_csv(arguments.csv, float_precision=5)
            if arguments.store is not None:
                keep(arguments.store, fitted.problem, protocols, estimates)
            if arguments.coverage:
                covered += coverage(fitted, protocols)
            print(f"{name}: {time.perf_counter() - start:.0f} s", flush=True)
    errors = pl.DataFrame(rows)
    published = pl.read_csv(PUBLISHED.read_bytes())
    tables = [
        report_table(errors, published, experiment, measure)
        for experiment in (EACH_LABEL, NATURAL)
        for measure in MEASURES
    ]
    for table in tables:
        print(f"\n{as_text(table)}")
    if arguments.latex is not None:
        arguments.latex.write_text("\n".join(map(latex, tables)))
    if covered:
        with pl.Config(
            tbl_rows=-1,
            tbl_cols=-1,
            tbl_width_chars=140,
            tbl_hide_dataframe_shape=True,
            float_precision=3,
        ):
            print(f"\nIntervals of TiltedLabelSets at the level {LEVEL}\n{pl.DataFrame(covered)}")


def classified(problem: LabelProblem) -> Fitted:
    models, held_out = fit_label_models(None, problem.X, problem.labels.has, LabelFolds(5, 0))
    return Fitted(problem, held_out, models.posteriors(problem.X_test))


Estimates = dict[str, dict[str, Reals]]
"""Experiment -> method -> shares of the labels of every sample."""


def estimated(
    fitted: Fitted, protocols: LabelProtocols, methods: Mapping[str, Estimate]
) -> Estimates:
    """Each method is fitted once, for the samples of both experiments."""
    samples = dict(protocols.samples(fitted.problem.labels_test))
    ends = np.cumsum([len(index) for index in samples.values()])[:-1]
    every = np.concatenate(list(samples.values()))
    found: Estimates = {experiment: {} for experiment in samples}
    for method, estimate in methods.items():
        parts = np.split(estimate(fitted, every), ends)
        for experiment, part in zip(samples, parts, strict=True):
            found[experiment][method] = part
    return found


def keep(
    folder: Path, problem: LabelProblem, protocols: LabelProtocols, estimates: Estimates
) -> None:
    methods = next(iter(estimates.values()))
    store = create_label_store(folder, [problem], {m: f"{SUITE} {m}" for m in methods}, protocols)
    for experiment, of_methods in estimates.items():
        write_label_estimates(store, experiment, problem, protocols, of_methods)


def measured(
    fitted: Fitted, protocols: LabelProtocols, estimates: Estimates
) -> list[dict[str, Any]]:
    """Mean errors of all methods, with both standard errors."""
    labels, rows = fitted.problem.labels_test, []
    for experiment, index in protocols.samples(labels):
        p_true = labels.has[index].mean(axis=1)
        for method, p_hat in estimates[experiment].items():
            for measure in MEASURES:
                errors = errors_by_label(p_true, p_hat, measure)
                rows.append(
                    {
                        "experiment": experiment,
                        "measure": measure,
                        "dataset": fitted.problem.name,
                        "method": method,
                        "error": errors.mean(),
                        "se_samples": standard_error(errors.mean(axis=1)),
                        "se_labels": standard_error(errors.mean(axis=0)),
                        "samples": errors.shape[0],
                        "labels": errors.shape[1],
                    }
                )
    return rows


def coverage(fitted: Fitted, protocols: LabelProtocols) -> list[dict[str, Any]]:
    """How often the share of a label in a sample is within its limits."""
    labels = fitted.problem.labels_test
    quantifier = TiltedLabelSets().fit_posteriors(fitted.held_out, fitted.problem.labels.has)
    # The simulations depend on the size of a sample only, and are made once for all of them.
    worlds = simulated_worlds(quantifier, SIZE)
    unmoved = worlds.moved == NO_LABEL
    random_only = SimulatedWorlds(
        worlds.estimates[unmoved], worlds.shares[unmoved], worlds.moved[unmoved]
    )
    is_frequent = labels.shares() >= FREQUENT
    is_learnt = fitted.problem.labels.has.sum(axis=0) >= FEWEST_ITEMS
    rows = []
    for experiment, index in protocols.samples(labels):
        p_true, p_hat = labels.has[index].mean(axis=1), quantifier.aggregate(fitted.pool, index)
        inside, widths = within(worlds, p_true, p_hat)
        inside_random, widths_random = within(random_only, p_true, p_hat)
        names, _ = protocols.set_shares(experiment, labels)
        is_set = np.array(names)[:, np.newaxis] == labels.names.astype(str)
        rows.append(
            {
                "dataset": fitted.problem.name,
                "experiment": experiment,
                "holds": inside.mean(),
                "se labels": standard_error(inside.mean(axis=0)),
                "set label": inside[is_set].mean() if is_set.any() else None,
                "its se": _error_of_set(inside, is_set),
                "of 5 items": inside[is_set & is_learnt].mean() if is_set.any() else None,
                "others": inside[~is_set].mean(),
                "share >= .05": inside[:, is_frequent].mean() if is_frequent.any() else None,
                "width": widths.mean(),
                "by random": inside_random.mean(),
                "its width": widths_random.mean(),
            }
        )
    return rows


def within(worlds: SimulatedWorlds, p_true: Reals, p_hat: Reals) -> tuple[Flags, Reals]:
    """Whether each share is within its limits, and how wide these are, (n_samples, n_labels)."""
    limits = np.array(
        [[worlds.limits(j, share, 1 - LEVEL) for j, share in enumerate(row)] for row in p_hat]
    )
    low, high = np.clip(limits[..., 0], 0, p_hat), np.clip(limits[..., 1], p_hat, 1)
    # Shares are multiples of 1/100, and limits may equal them up to rounding.
    return (low - 1e-9 <= p_true) & (p_true <= high + 1e-9), high - low


def _error_of_set(inside: Flags, is_set: Flags) -> float | None:
    """The standard error, over labels, of how often the limits of the label that is set hold."""
    by_label = [i[s].mean() for i, s in zip(inside.T, is_set.T, strict=True) if s.any()]
    return standard_error(np.array(by_label)) if by_label else None


def standard_error(values: Reals) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values)))


def report_table(
    errors: pl.DataFrame, published: pl.DataFrame, experiment: str, measure: str
) -> ReportTable:
    """Our errors and the published ones of an experiment and a measure, a column for each set."""
    is_it = (pl.col("experiment") == experiment) & (pl.col("measure") == measure)
    ours, theirs = errors.filter(is_it), published.filter(is_it)
    datasets = ours["dataset"].unique(maintain_order=True).to_list()
    theirs = theirs.filter(pl.col("dataset").is_in(datasets))
    smallest = dict(theirs.group_by("dataset").agg(pl.col("value").min()).iter_rows())
    rows = [
        _row(method, _by_set(ours.filter(pl.col("method") == method), "error"), datasets, smallest)
        for method in ours["method"].unique(maintain_order=True)
    ]
    for name in NAIVE:
        values = _by_set(theirs.filter(pl.col("method") == name), "value")
        rows.append(_row(f"published: {name}", values, datasets))
    rows.append(_row("published: best of each set", smallest, datasets))
    samples = ours["samples"].unique().sort().to_list()
    return ReportTable(
        name=f"{experiment}-{measure}",
        caption=f"Mean {measure.upper()} over samples of 100 and their labels ({experiment}).",
        corner="method",
        groups=(ColumnGroup("", (*datasets, "mean")),),
        rows=tuple(rows),
        legend=(
            f"{' to '.join(str(n) for n in dict.fromkeys((samples[0], samples[-1])))} samples for "
            "each set; at most ten labels. Bold: at most the published best of the set, to the "
            "three digits that are printed.",
        ),
    )


def _by_set(frame: pl.DataFrame, column: str) -> dict[str, float]:
    return dict(frame.select("dataset", column).iter_rows())


def _row(
    label: str,
    values: Mapping[str, float],
    datasets: Sequence[str],
    smallest: Mapping[str, float] | None = None,
) -> Row:
    every = [values[name] for name in datasets if name in values]
    mean = float(np.mean(every)) if len(every) == len(datasets) else None
    bounds = dict(smallest or {})
    if len(bounds) == len(datasets):
        bounds["mean"] = float(np.mean(list(bounds.values())))
    cells = {**{name: values.get(name) for name in datasets}, "mean": mean}
    return Row(
        label,
        tuple(
            Cell(MISSING)
            if value is None
            else Cell(
                f"{value:.3f}",
                value,
                "best" if name in bounds and round(value, 3) <= round(bounds[name], 3) else "",
            )
            for name, value in cells.items()
        ),
    )


def as_text(table: ReportTable) -> str:
    """The table for a terminal; an asterisk stands for bold."""
    header = "".join(f"{name:>12}" for _, name in table.columns)
    lines = [table.caption, f"{table.corner:<30}{header}"]
    for row in table.rows:
        cells = (f"{cell.text}{'*' if cell.mark == 'best' else ' '}" for cell in row.cells)
        lines.append(f"{row.label:<30}" + "".join(f"{cell:>12}" for cell in cells))
    return "\n".join([*lines, *table.legend])


if __name__ == "__main__":
    main()
