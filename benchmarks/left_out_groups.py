"""Can the errors on left-out groups choose the method, and do they improve the range?

    python benchmarks/left_out_groups.py --tables development [--most-groups 6] [--most-rows 1000]
        [--csv FILE]
    python benchmarks/left_out_groups.py --tables kept

--tables is `development`, `kept` or names separated by commas. For every group column of
`benchmarks/natural.py` the --most-groups largest groups of at least 100 rows are taken in turn as
the sample. A user has the other groups, leaves each of them out as well and sees which method has
the lowest error (`quantshift quantify --groups`). Training sets are --most-rows random rows; the
group column is not a feature. Every pair of groups is left out once; the fit serves both as
samples.

Prints mean absolute errors of every method on the samples, of the method with the lowest mean error
on the user's own groups, of the default unless another error is lower by a quarter there, of the
best method known in hindsight, and of what `quantify --groups` learns from the user's own groups
(`learnt`, with five of them or more). Then coverage and width, after a refutation, of the range of
the assumptions, of PCC plus or minus the quantile of its own left-out errors, of both together, and
of what is learnt. --read: print what --csv has written instead.
Means are over group columns, standard errors over them too.
"""

import argparse
import itertools
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from natural import GROUPS, SMALLEST, SMALLEST_CLASS, TABLES
from quantshift import GuardedSLD
from quantshift.base.seeding import generator
from quantshift.quantifiers.baselines import BASELINE
from quantshift.quantifying.training.group_errors import LEAVE_ONE_OUT, GroupErrors, LeftOutGroup
from quantshift.quantifying.training.learnt_from_groups import GroupLesson
from quantshift.tables.preparation import TableColumns
from real_tables import LabelledTable, load

METHODS = ("nothing", "PCC", "SLD", "SubclassSLD", "GuardedSLD")
LEVEL = 0.95


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tables", default="development")
    parser.add_argument(
        "--most-groups", type=int, default=6, help="of which the user has one fewer"
    )
    parser.add_argument("--most-rows", type=int, default=1000)
    parser.add_argument("--csv", help="write the estimates to this file")
    parser.add_argument("--read", nargs="+", help="print the estimates in these files")
    options = parser.parse_args()
    begun = time.perf_counter()
    if options.read:
        estimates = pd.concat([pd.read_csv(path) for path in options.read], ignore_index=True)
        estimates["beside"] = estimates["beside"].fillna("").astype(str)
        estimates["group"] = estimates["group"].astype(str)
    else:
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            estimates = pd.DataFrame(list(run(options)))
    if options.csv:
        estimates.to_csv(options.csv, index=False)
    report(pd.DataFrame(list(samples(estimates))))
    print(f"{time.perf_counter() - begun:.0f} s")


def run(options: Any) -> Iterator[dict[str, Any]]:
    """A row for every group, alone and with every other group that was left out with it."""
    for name in TABLES.get(options.tables) or options.tables.split(","):
        if name not in GROUPS:
            continue
        table = load(name)
        for column in GROUPS[name]:
            groups = table.columns[column].astype(str).to_numpy()
            groups[table.columns[column].isna().to_numpy()] = ""
            known, sizes = np.unique(groups[groups != ""], return_counts=True)
            order = np.lexsort([known, -sizes])[: options.most_groups]
            names = [str(known[k]) for k in order if sizes[k] >= SMALLEST]
            if len(names) < 3:
                continue
            for left_out in (*((g,) for g in names), *itertools.combinations(names, 2)):
                key = {"table": name, "column": column}
                yield from without(table, groups, left_out, key, options)


def without(
    table: LabelledTable, groups: Any, left_out: tuple[str, ...], key: Any, options: Any
) -> Iterator[dict[str, Any]]:
    """The estimates of the groups that are left out."""
    rng = generator(0, purpose="left-out groups", left_out=",".join(left_out), **key)
    train_pool = np.flatnonzero(~np.isin(groups, [*left_out, ""]))
    train = rng.permutation(train_pool)[: options.most_rows]
    codes = table.codes
    if np.bincount(codes[train], minlength=2).min() < SMALLEST_CLASS:
        return
    view = TableColumns.of(pl.from_pandas(table.columns.drop(columns=key["column"]))).view(train)
    quantifier = GuardedSLD(mode="columns").fit(view.transform(train), codes[train])
    for group in left_out:
        rows = rng.permutation(np.flatnonzero(groups == group))[:2000]
        (found,) = quantifier.grounds(quantifier.estimate(view.transform(np.sort(rows))))
        yield {
            **key,
            "group": group,
            "beside": next((g for g in left_out if g != group), ""),
            "truth": codes[rows].mean(),
            "nothing": quantifier.prior_[1],
            "PCC": found.covariate[1],
            "SLD": found.prior[1],
            "SubclassSLD": found.mixed[1],
            "GuardedSLD": found.estimate[1],
            "refuted": found.refuted,
            "low": found.low[1],
            "high": found.high[1],
        }


def samples(estimates: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """A row for every group taken as the sample, with the choices of the user's own groups."""
    errors = estimates.copy()
    for name in METHODS:
        errors[name] = (errors[name] - errors["truth"]).abs()
    for (table, column), part in errors.groupby(["table", "column"]):
        for place, sample in part[part["beside"] == ""].iterrows():
            own_groups = part[(part["beside"] == sample["group"])]
            if len(own_groups) < 2:
                continue
            means = own_groups[list(METHODS)].mean()
            lowest = str(means.idxmin())
            cautious = lowest if means[lowest] < 0.75 * means["GuardedSLD"] else "GuardedSLD"
            whole = estimates.loc[place]
            n = len(own_groups)
            rank = min(n, int(np.ceil((n + 1) * LEVEL)))
            margin = float(np.sort(own_groups["PCC"])[rank - 1])
            low, high = max(whole["PCC"] - margin, 0), min(whole["PCC"] + margin, 1)
            ranges = {
                "range": (whole["low"], whole["high"]),
                "left-out errors": (low, high),
                "both": (min(low, whole["low"]), max(high, whole["high"])),
            }
            row = {"table": table, "column": column, "own groups": n, "refuted": whole["refuted"]}
            row |= {name: sample[name] for name in METHODS}
            row["lowest on own groups"] = sample[lowest]
            row["lowest if by a quarter"] = sample[cautious]
            row["best in hindsight"] = sample[list(METHODS)].min()
            lesson = GroupLesson.of(own_errors(estimates.loc[own_groups.index]), "PCC", "SLD")
            if lesson is not None:
                names = ("nothing", "PCC", "SLD")
                shares = (np.array([1 - whole[name], whole[name]]) for name in names)
                p_hat = lesson.estimate(*shares)
                row["learnt"] = abs(p_hat[1] - whole["truth"])
                limits = lesson.limits(p_hat, LEVEL)
                assert limits is not None
                ranges["learnt"] = (limits[0][1], limits[1][1])
            for name, (lower, upper) in ranges.items():
                covered = float(lower <= whole["truth"] <= upper)
                row[f"{name}: covers"] = covered if whole["refuted"] else np.nan
                row[f"{name}: width"] = upper - lower if whole["refuted"] else np.nan
            yield row


def own_errors(groups: pd.DataFrame) -> GroupErrors:
    """The estimates of the user's own groups as `quantify` has them."""

    def named(share: float) -> dict[str, float]:
        return {"no": 1 - share, "yes": share}

    methods = {BASELINE: "nothing", "PCC": "PCC", "SLD": "SLD"}
    found = tuple(
        LeftOutGroup(
            name=str(row["group"]),
            n_items=0,
            n_trained=0,
            prevalence=named(row["truth"]),
            estimates={method: named(row[column]) for method, column in methods.items()},
            errors={},
            refuted=None,
        )
        for _, row in groups.iterrows()
    )
    return GroupErrors("", LEAVE_ONE_OUT, "", "", found, {}, ())


def report(found: pd.DataFrame) -> None:
    """Means over group columns, with standard errors over them."""
    shown = [c for c in found.columns if c not in ("table", "column")]
    found = found.astype(dict.fromkeys(shown, float))
    by_column = found.groupby(["table", "column"])[shown].mean()
    print(
        by_column[[*METHODS, "lowest on own groups", "lowest if by a quarter"]].round(3).to_string()
    )
    print(f"{len(by_column)} group columns, {len(found)} samples")
    for name in shown:
        print(f"    {name:24} {by_column[name].mean():.3f} +- {by_column[name].sem():.3f}")


if __name__ == "__main__":
    main()
