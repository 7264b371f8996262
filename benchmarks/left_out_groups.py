"""Can the errors on left-out groups choose the method, and do they improve the range?

    python benchmarks/left_out_groups.py --tables development [--time] [--most-groups 6]
        [--fewest-groups 3] [--most-rows 1000] [--csv FILE]
    python benchmarks/left_out_groups.py --tables kept

--tables is `development`, `kept`, `new` (`parts/package_tables.py`) or names separated by commas.
For every group column of `benchmarks/natural.py` the --most-groups largest groups of at least 100
rows are taken in turn as the sample. A user has the other groups, leaves each of them out as well
and sees which method has the lowest error (`quantshift quantify --groups`). Training sets are
--most-rows random rows; the group column is not a feature. Every pair of groups is left out once;
the fit serves both as samples. Columns of fewer than --fewest-groups groups are left out.

With --time the column is one of years: each year of at least 100 rows is the sample of a model of
all earlier ones, and the user has the errors on these, each estimated from those before it
(`quantshift quantify --time`).

Prints mean absolute errors of every method on the samples, of the method with the lowest mean error
on the user's own groups, of the default unless another error is lower by a quarter there, of the
best method known in hindsight, and of what `quantify --groups` learns from the user's own groups
(`learnt`, with five of them or more; the default where the answer is a confidence interval that
they do not change). Then coverage and width, after a refutation, of the range of the assumptions,
of PCC plus or minus the quantile of its own left-out errors, of both together, and of what is
learnt.
--read: print what --csv has written instead. Means are over group columns, standard errors over
them too; those of the differences between learnt and default are over samples in each column.
"""

import argparse
import itertools
import time
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from natural import GROUPS, SMALLEST, SMALLEST_CLASS, TABLES
from parts import package_tables, real_tables
from parts.real_tables import LabelledTable
from quantshift import GuardedSLD
from quantshift.base.seeding import generator
from quantshift.claims import Kind, Reason
from quantshift.quantifiers.baselines import BASELINE
from quantshift.quantifying.group_errors import (
    FORWARD,
    LEAVE_ONE_OUT,
    GroupErrors,
    LeftOutGroup,
)
from quantshift.quantifying.training.learnt_from_groups import GroupLesson, GroupShares
from quantshift.tables.preparation import TableColumns

METHODS = ("nothing", "PCC", "SLD", "SubclassSLD", "GuardedSLD")
LEVEL = 0.95
TIME = {"weather_australia": "Year"}
"""The columns of years; the only one of the tables that chose no constants is among them."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tables", default="development")
    parser.add_argument("--time", action="store_true")
    parser.add_argument(
        "--most-groups", type=int, default=6, help="of which the user has one fewer"
    )
    parser.add_argument("--fewest-groups", type=int, default=3)
    parser.add_argument("--most-rows", type=int, default=1000)
    parser.add_argument("--csv", help="write the estimates to this file")
    parser.add_argument("--read", nargs="+", help="print the estimates in these files")
    options = parser.parse_args()
    begun = time.perf_counter()
    if options.read:
        estimates = pd.concat([pd.read_csv(path) for path in options.read], ignore_index=True)
        estimates["beside"] = estimates["beside"].astype(object).fillna("").astype(str)
        estimates["group"] = estimates["group"].astype(str)
    else:
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            estimates = pd.DataFrame(list(run(options)))
    if estimates.empty:
        print("skipped: none of these tables is here (pip install 'quantshift[datasets]')")
        return
    if options.csv:
        estimates.to_csv(options.csv, index=False)
    report(pd.DataFrame(list(samples(estimates))))
    print(f"{time.perf_counter() - begun:.0f} s")


def run(options: Any) -> Iterator[dict[str, Any]]:
    """A row for every group, alone and with every other group that was left out with it."""
    names = TABLES.get(options.tables) or options.tables.split(",")
    for name in package_tables.available() if options.tables == "new" else names:
        columns = _columns(name, in_time=options.time)
        if not columns:
            continue
        table = (package_tables if name in package_tables.TABLES else real_tables).load(name)
        for column in columns:
            groups = _names(table.columns[column])
            key = {"table": name, "column": column}
            for train_on, left_out in _divided(groups, options):
                yield from estimated(table, groups, (train_on, left_out), key, options)


def _columns(name: str, *, in_time: bool) -> Sequence[str]:
    """The columns of years, or of groups, of a table."""
    package = package_tables.TABLES.get(name)
    if in_time:
        year = TIME.get(name) if package is None else package.time
        return () if year is None else (year,)
    return GROUPS.get(name, ()) if package is None else package.groups


def _names(column: "pd.Series[Any]") -> Any:
    whole = pd.api.types.is_float_dtype(column) and (column.dropna() % 1 == 0).all()
    groups = (column.astype("Int64") if whole else column).astype(str).to_numpy(dtype=object)
    groups[column.isna().to_numpy()] = ""
    return groups.astype(str)


def _divided(groups: Any, options: Any) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Groups to train on, and those that are left out."""
    known, sizes = np.unique(groups[groups != ""], return_counts=True)
    if options.time:
        years = sorted(known[sizes >= SMALLEST].tolist(), key=float)
        for k in range(1, len(years) if len(years) >= options.fewest_groups else 0):
            yield tuple(years[:k]), (years[k],)
        return
    order = np.lexsort([known, -sizes])[: options.most_groups]
    names = [str(known[k]) for k in order if sizes[k] >= SMALLEST]
    if len(names) < options.fewest_groups:
        return
    for left_out in (*((g,) for g in names), *itertools.combinations(names, 2)):
        yield tuple(g for g in known.tolist() if g not in left_out), left_out


def estimated(
    table: LabelledTable,
    groups: Any,
    sides: tuple[tuple[str, ...], tuple[str, ...]],
    key: Any,
    options: Any,
) -> Iterator[dict[str, Any]]:
    """The estimates of the groups that are left out."""
    train_on, left_out = sides
    rng = generator(0, purpose="left-out groups", left_out=",".join(left_out), **key)
    train = rng.permutation(np.flatnonzero(np.isin(groups, train_on)))[: options.most_rows]
    codes = table.codes
    if np.bincount(codes[train], minlength=2).min() < SMALLEST_CLASS:
        return
    view = TableColumns.of(pl.from_pandas(table.columns.drop(columns=key["column"]))).view(train)
    quantifier = GuardedSLD(mode="columns").fit(view.transform(train), codes[train])
    for group in left_out:
        rows = rng.permutation(np.flatnonzero(groups == group))[:2000]
        (found,) = quantifier.examined(quantifier.estimate(view.transform(np.sort(rows))))
        yield {
            **key,
            "design": FORWARD if options.time else LEAVE_ONE_OUT,
            "group": group,
            "beside": next((g for g in left_out if g != group), ""),
            "size": len(rows),
            "truth": codes[rows].mean(),
            "nothing": quantifier.prior_[1],
            "PCC": found.covariate[1],
            "SLD": found.prior[1],
            "SubclassSLD": found.mixed[1],
            "GuardedSLD": found.estimate[1],
            "interval": found.grounds.kind is Kind.INTERVAL,
            "reason": found.grounds.reason.value,
            "refuted": found.refuted,
            "low": found.low[1],
            "high": found.high[1],
        }


def samples(estimates: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """A row for every group taken as the sample, with the choices of the user's own groups."""
    errors = estimates.copy()
    for name in METHODS:
        errors[name] = (errors[name] - errors["truth"]).abs()
    for (table, column, design), part in errors.groupby(["table", "column", "design"]):
        alone = part[part["beside"] == ""]
        for number, (place, sample) in enumerate(alone.iterrows()):
            by_others = part[part["beside"] == sample["group"]]
            own_groups = alone.iloc[:number] if design == FORWARD else by_others
            if len(own_groups) < 2:
                continue
            means = own_groups[list(METHODS)].mean()
            lowest = str(means.idxmin())
            cautious = lowest if means[lowest] < 0.75 * means["GuardedSLD"] else "GuardedSLD"
            whole = estimates.loc[place]
            row = {"table": table, "column": column, "own groups": len(own_groups)}
            row |= {"refuted": whole["refuted"], **{name: sample[name] for name in METHODS}}
            row["lowest on own groups"] = sample[lowest]
            row["lowest if by a quarter"] = sample[cautious]
            row["best in hindsight"] = sample[list(METHODS)].min()
            lesson = GroupLesson.of(
                own_errors(estimates.loc[own_groups.index], str(design)), "PCC", "SLD"
            )
            taught = learnt(lesson, whole)
            if taught is not None:
                row["learnt"] = abs(taught[0] - whole["truth"])
                row["learnt - default"] = row["learnt"] - row["GuardedSLD"]
            for name, (low, high) in ranges(own_groups["PCC"], whole, taught).items():
                covered = float(low <= whole["truth"] <= high)
                row[f"{name}: covers"] = covered if whole["refuted"] else np.nan
                row[f"{name}: width"] = high - low if whole["refuted"] else np.nan
            yield row


def learnt(lesson: GroupLesson | None, whole: Any) -> tuple[float, float, float] | None:
    """The share and its range as the lesson has them; None without one."""
    if lesson is None:
        return None
    limits = whole["low"], whole["high"]
    values = (whole[name] for name in ("nothing", "PCC", "SLD", "GuardedSLD"))
    shares = GroupShares(*(np.array([1 - value, value]) for value in values))
    reason = Reason(whole["reason"])
    if not lesson.applies(shares, reason):
        return whole["GuardedSLD"], *limits
    p_hat = lesson.estimate(shares, supported=reason is Reason.EVIDENCE)
    if reason is Reason.AGREEMENT:
        return p_hat[1], min(limits[0], p_hat[1]), max(limits[1], p_hat[1])
    low, high = (np.array([1 - limits[1], limits[0]]), np.array([1 - limits[0], limits[1]]))
    like_the_past = lesson.is_like_the_past(shares, reason)
    low, high = lesson.limits(
        p_hat, LEVEL, int(whole["size"]), low, high, like_the_past=like_the_past
    )
    return p_hat[1], low[1], high[1]


def ranges(
    errors: "pd.Series[float]", whole: Any, taught: tuple[float, float, float] | None
) -> dict[str, tuple[float, float]]:
    """The limits of the share, by their names. errors: of PCC on the user's own groups."""
    n = len(errors)
    rank = min(n, int(np.ceil((n + 1) * LEVEL)))
    margin = float(np.sort(errors)[rank - 1])
    low, high = max(whole["PCC"] - margin, 0), min(whole["PCC"] + margin, 1)
    found = {
        "range": (whole["low"], whole["high"]),
        "left-out errors": (low, high),
        "both": (min(low, whole["low"]), max(high, whole["high"])),
    }
    return found if taught is None else {**found, "learnt": taught[1:]}


def own_errors(groups: pd.DataFrame, design: str) -> GroupErrors:
    """The estimates of the user's own groups as `quantify` has them."""

    def named(share: float) -> dict[str, float]:
        return {"no": 1 - share, "yes": share}

    methods = {BASELINE: "nothing", **{name: name for name in ("PCC", "SLD", "GuardedSLD")}}
    found = tuple(
        LeftOutGroup(
            name=str(row["group"]),
            n_items=int(row["size"]),
            n_trained=0,
            prevalence=named(row["truth"]),
            estimates={method: named(row[column]) for method, column in methods.items()},
            errors={},
            refuted=bool(row["refuted"]),
        )
        for _, row in groups.iterrows()
    )
    return GroupErrors("", design, "", "GuardedSLD", found, {}, ())


def report(found: pd.DataFrame) -> None:
    """Means over group columns, with standard errors over them."""
    shown = [c for c in found.columns if c not in ("table", "column")]
    found = found.astype(dict.fromkeys(shown, float))
    by_column = found.groupby(["table", "column"])[shown].mean()
    choices = [*METHODS, "lowest on own groups", "lowest if by a quarter"]
    table = by_column[choices]
    if "learnt" in found:
        taught = found[found["learnt"].notna()].groupby(["table", "column"])
        table = table.assign(
            samples=taught.size(),
            learnt=taught["learnt"].mean(),
            default=taught["GuardedSLD"].mean(),
            change=taught["learnt - default"].mean(),
            error=taught["learnt - default"].sem(),
        )
    print(table.round(3).to_string())
    print(f"{len(by_column)} group columns, {len(found)} samples")
    for name in shown:
        print(f"    {name:24} {by_column[name].mean():.3f} +- {by_column[name].sem():.3f}")


if __name__ == "__main__":
    main()
