"""Natural shift: train on one group of a real table, estimate every other group.

    python benchmarks/natural.py [--tables development] [--training-groups 3] [--first-group 0]
        [--most-rows 2000] [--leave-one-out | --artificial | --selected] [--csv FILE]

--tables is `development`, `kept` or names separated by commas. For every group column the
--training-groups largest groups (after the --first-group largest) are trained on, at most
--most-rows random rows each, and every other group of at least 100 rows is estimated whole. The
group column is not a feature. With --leave-one-out these groups are estimated instead, each after
training on all the others. A group needs 150 rows and 25 of either class to be trained on.

With --artificial only the prevalence changes, as in `benchmarks/refutation.py`: the cost of the
guard where SubclassSLD is right. A task is then one of --training-groups random training sets of
--most-rows rows.

With --selected P(Y|X) stays and P(X) changes: samples of 500 random rows, chosen with probability
proportional to exp(score), the score being a random direction of the prepared columns with standard
deviation 1. The truth is that of the population from which they are drawn. The method tested is PCC
with its limits (`if_covariate`), as in `quantify --assume covariate`.

Errors are absolute errors of the share of positives, for GuardedSLD and the methods it chooses
from; `nothing` returns the training prevalence. Coverage and width are those of the hull after a
refutation, and of the hull of all samples. Means are over tasks (a training group), standard errors
over tasks too. Tables in `real_tables.DEVELOPMENT` may choose constants, the others only report.
"""

import argparse
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from parts.real_tables import DEVELOPMENT, KEPT_ASIDE, LabelledTable, load
from quantshift import GuardedSLD
from quantshift.base.seeding import generator
from quantshift.tables.preparation import TableColumns
from refutation import SIZE, prior_shift, split

BY_CLASS = ("covariate", "mixed", "covariate_by_classifier", "prior_by_classifier")

GROUPS = {
    "bank_churn": ("Geography", "Gender", "NumOfProducts"),
    "communities_crime": ("state",),
    "dutch_census": ("cur_eco_activity", "household_position", "age", "edu_level"),
    "hospital_readmission": ("medical_specialty", "age", "diag_1"),
    "law_school": ("tier", "fam_inc", "race"),
    "student_grade": ("school", "subject", "Mjob"),
    "support_hospital_death": ("dzgroup", "dzclass", "race", "income"),
    "telco_churn": ("Contract", "InternetService", "PaymentMethod"),
    "weather_australia": ("Location", "Year", "Month"),
}
TABLES = {"development": DEVELOPMENT, "kept": KEPT_ASIDE}
SMALLEST, SMALLEST_TRAINING, SMALLEST_CLASS = 100, 150, 25
ERRORS = ("GuardedSLD", "PCC", "SLD", "SubclassSLD", "nothing")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tables", default="development")
    parser.add_argument("--training-groups", type=int, default=3)
    parser.add_argument("--first-group", type=int, default=0)
    parser.add_argument("--most-rows", type=int, default=2000)
    parser.add_argument("--leave-one-out", action="store_true")
    parser.add_argument("--artificial", action="store_true")
    parser.add_argument("--selected", action="store_true")
    parser.add_argument("--csv", help="write the estimates to this file")
    options = parser.parse_args()
    begun = time.perf_counter()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        estimates = pd.DataFrame(list(run(options)))
    if options.csv:
        estimates.to_csv(options.csv, index=False)
    for title, columns in (("by table", ["table"]), ("all", [])):
        print(f"\n{title}\n{summarise(estimates, columns)}")
    print(f"\n{time.perf_counter() - begun:.0f} s")


def run(options: Any) -> Iterator[dict[str, Any]]:
    """A row for every sample."""
    for name in TABLES.get(options.tables) or options.tables.split(","):
        table = load(name)
        if options.artificial or options.selected:
            kind = of_selected_rows if options.selected else of_random_rows
            yield from kind(table, options)
            continue
        if name not in GROUPS:
            continue
        for column in GROUPS[name]:
            groups = table.columns[column].astype(str).to_numpy()
            groups[table.columns[column].isna().to_numpy()] = ""
            for trained in training_groups(groups, table.codes, options):
                key = {"table": name, "column": column, "trained": trained}
                for row in of_training_group(table, groups, key, options):
                    yield {**key, **row}


def training_groups(groups: Any, codes: Any, options: Any) -> list[str]:
    """The groups to train on, largest first."""
    names, sizes = np.unique(groups[groups != ""], return_counts=True)
    order = np.lexsort([names, -sizes])
    able = [
        str(name)
        for name in names[order]
        if (groups == name).sum() >= SMALLEST_TRAINING
        and np.bincount(codes[groups == name], minlength=2).min() >= SMALLEST_CLASS
    ]
    return able[options.first_group : options.first_group + options.training_groups]


def of_training_group(
    table: LabelledTable, groups: Any, key: dict[str, str], options: Any
) -> Iterator[dict[str, Any]]:
    """The estimates of all other groups; or of that group, after training on all others."""
    rng = generator(0, purpose="natural shift", **key)
    inside = groups == key["trained"]
    if options.leave_one_out:
        inside = ~inside & (groups != "")
    train = rng.permutation(np.flatnonzero(inside))[: options.most_rows]
    names, sizes = np.unique(groups, return_counts=True)
    others = [g for g in names[sizes >= SMALLEST] if g not in ("", key["trained"])]
    if options.leave_one_out:
        others = [key["trained"]]
    rows = [np.flatnonzero(groups == g) for g in others]
    if rows:
        yield from estimated(table, table.columns.drop(columns=key["column"]), train, others, rows)


def of_random_rows(table: LabelledTable, options: Any) -> Iterator[dict[str, Any]]:
    """The estimates of samples in which only the prevalence has changed."""
    for repeat in range(options.first_group, options.first_group + options.training_groups):
        rng = generator(0, purpose="artificial shift", table=table.name, repeat=repeat)
        train, pool = split(table.codes, options.most_rows, rng)
        prevalences, samples = prior_shift(table.codes, pool, 4, rng)
        rows = [pool[sample] for sample in samples]
        key = {"table": table.name, "column": "", "trained": repeat}
        if rows:
            for row in estimated(table, table.columns, train, list(map(str, prevalences)), rows):
                yield {**key, **row}


def of_selected_rows(table: LabelledTable, options: Any) -> Iterator[dict[str, Any]]:
    """The estimates of samples that were selected by their features."""
    for repeat in range(options.first_group, options.first_group + options.training_groups):
        rng = generator(0, purpose="selected rows", table=table.name, repeat=repeat)
        train, pool = split(table.codes, options.most_rows, rng)
        X = TableColumns.of(pl.from_pandas(table.columns)).view(train).transform(pool)
        rows, truths = [], []
        for _ in range(8):
            score = np.asarray(X @ rng.standard_normal(X.shape[1]))
            odds = np.exp(np.clip((score - score.mean()) / score.std(), -3, 3))
            rows.append(rng.choice(pool, SIZE, p=odds / odds.sum()))
            truths.append(np.average(table.codes[pool], weights=odds))
        key = {"table": table.name, "column": "", "trained": repeat}
        names = list(map(str, range(len(rows))))
        for row, p in zip(estimated(table, table.columns, train, names, rows), truths, strict=True):
            yield {**key, **row, "truth": p}


def estimated(
    table: LabelledTable, features: pd.DataFrame, train: Any, others: list[str], rows: list[Any]
) -> Iterator[dict[str, Any]]:
    """The estimates of samples after training on some rows."""
    view = TableColumns.of(pl.from_pandas(features)).view(train)
    begun = time.perf_counter()
    quantifier = GuardedSLD(mode="columns").fit(view.transform(train), table.codes[train])
    fitted = time.perf_counter()
    used, positions = np.unique(np.concatenate(rows), return_inverse=True)
    ends = np.cumsum([len(r) for r in rows])[:-1]
    estimate = quantifier.estimate(view.transform(used), np.split(positions, ends))
    done = time.perf_counter()
    diagnostics = {
        name: values[..., 1] if name in BY_CLASS else values
        for name, values in estimate.diagnostics.items()
    }
    n_rivals, best = len(quantifier.learnt_), quantifier.chosen_
    sizes = np.array([float(len(r)) for r in rows])
    grounds = quantifier.examined(estimate)
    low, high = grounds.if_covariate(sizes)
    diagnostics |= {"low": grounds.low[:, 1], "high": grounds.high[:, 1]}
    for i, group in enumerate(others):
        pcc = diagnostics["covariate_by_classifier"][i]
        sld = diagnostics["prior_by_classifier"][i]
        yield {
            "group": group,
            "n_train": len(train),
            "size": len(rows[i]),
            "truth": table.codes[rows[i]].mean(),
            "GuardedSLD": estimate.prevalence[i, 1],
            "PCC": diagnostics["covariate"][i],
            "SLD": sld[best],
            "SubclassSLD": diagnostics["mixed"][i],
            "nothing": quantifier.prior_[1],
            **{f"PCC {k}": pcc[k] for k in range(n_rivals)},
            **{f"SLD {k}": sld[k] for k in range(n_rivals)},
            "best": best,
            **{f"loss {k}": learnt.loss for k, learnt in enumerate(quantifier.learnt_)},
            **{
                name: diagnostics[name][i]
                for name in ("refuted", "auc", "z", "explained", "low", "high")
            },
            "PCC low": low[i, 1],
            "PCC high": high[i, 1],
            "fit_seconds": fitted - begun,
            "seconds": (done - fitted) / len(others),
        }


def summarise(estimates: pd.DataFrame, columns: list[str]) -> str:
    """Errors, coverage and width, means over tasks with their standard errors."""
    frame = estimates.copy()
    for name in ERRORS:
        frame[name] = (frame[name] - frame["truth"]).abs()
    frame["coverage"] = ((frame["low"] <= frame["truth"]) & (frame["truth"] <= frame["high"])) * 1.0
    frame["width"] = frame["high"] - frame["low"]
    frame["coverage PCC"] = frame["truth"].between(frame["PCC low"], frame["PCC high"]) * 1.0
    frame["width PCC"] = frame["PCC high"] - frame["PCC low"]
    frame["coverage refuted"] = frame["coverage"].where(frame["refuted"])
    frame["refuted"] = frame["refuted"] * 1.0
    frame["refuted >= 500"] = frame["refuted"].where(frame["size"] >= 500)
    shown = [*ERRORS, "coverage", "width", "coverage refuted", "coverage PCC", "width PCC"]
    shown += ["refuted", "refuted >= 500"]
    tasks = frame.groupby(["table", "column", "trained"])[shown].mean().reset_index()
    lines = []
    for key, part in tasks.groupby(columns) if columns else [((), tasks)]:
        where = " ".join(map(str, key))
        lines.append(f"{where} ({len(part)} tasks)")
        means, errors = part[shown].mean(), part[shown].sem()
        lines += [f"    {name:18} {means[name]:.3f} +- {errors[name]:.3f}" for name in shown]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
