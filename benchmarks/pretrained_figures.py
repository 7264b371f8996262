"""The figures of `pretrained.py`: from a row for every estimate to means over tables.

Every table counts the same: means over its samples, then over its tasks (training sets), then over
tables. Standard errors are over tables.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

LEVEL = 0.9
MEASURES = ("error", "coverage", "width", "score")
TASK = ["table", "column", "trained"]
SHOWN_LEVELS = np.arange(5, 100, 5) / 100
ARTIFICIAL = ("prior", "covariate")


def figures(estimates: pd.DataFrame) -> pd.DataFrame:
    """A row for every world, number of labels and method, with means and standard errors."""
    rows = []
    by_method = measured(estimates).groupby(["world", "k", "method"], sort=False)
    for (world, k, method), part in by_method:
        seeds = part.groupby("seed").apply(lambda rows: _of_tables(rows).mean())
        tables = _of_tables(part)
        row = {"world": world, "k": k, "method": method, "tables": len(tables)}
        for name in MEASURES:
            if tables[name].notna().all():
                row[name] = tables[name].mean()
                row[f"{name}_se"] = tables[name].sem()
                row[f"{name}_seeds"] = seeds[name].std() if len(seeds) > 1 else np.nan
        rows.append(row)
    return pd.DataFrame(rows)


def measured(estimates: pd.DataFrame) -> pd.DataFrame:
    """The estimates with error, coverage, width and Winkler's score of each."""
    frame = estimates.fillna({"column": ""})
    frame["seed"] = frame["seed"].fillna(0).astype(int)
    frame["error"] = (frame["estimate"] - frame["truth"]).abs()
    frame["width"] = frame["high"] - frame["low"]
    below, above = frame["low"] - frame["truth"], frame["truth"] - frame["high"]
    miss = below.clip(lower=0) + above.clip(lower=0)
    frame["score"] = frame["width"] + 2 / (1 - LEVEL) * miss
    frame["coverage"] = (miss == 0).where(frame["low"].notna()) * 1.0
    return frame


def levels(estimates: pd.DataFrame) -> pd.DataFrame:
    """Coverage of the pre-trained quantifier's intervals at many levels, by world and labels."""
    frame = estimates[estimates["method"] == "pretrained"].fillna({"column": ""})
    rows = []
    for (world, k), part in frame.groupby(["world", "k"], sort=False):
        for level in SHOWN_LEVELS:
            covered = part.assign(coverage=(part["covers_from"] <= level + 1e-9) * 1.0)
            tables = _of_tables(covered, ["coverage"])["coverage"]
            row = {"world": world, "k": k, "level": level, "coverage": tables.mean()}
            rows.append({**row, "coverage_se": tables.sem()})
    return pd.DataFrame(rows)


def criteria(estimates: pd.DataFrame) -> pd.DataFrame:
    """What was asked of the method before it was measured, and what was found."""
    return pd.DataFrame(list(_criteria(estimates)))


def _criteria(estimates: pd.DataFrame) -> Iterator[dict[str, Any]]:
    frame = measured(estimates)
    mean = figures(estimates).set_index(["world", "k", "method"])
    worlds = [w for w in ("natural", "time") if (w, 0, "hull") in mean.index]
    for world in worlds:
        ours, hull = (mean.loc[world, 0, name] for name in ("pretrained", "hull"))
        lower = _share_of_tasks_with_lower_score(frame[frame["world"] == world])
        gain = 1 - ours["score"] / hull["score"]
        yield _asked(world, 0, "interval score below the range's, share of tasks", 0.67, lower, 1)
        yield _asked(world, 0, "interval score below the range's by", 0.15, gain, 1)
    if "natural" in worlds:
        off = abs(mean.loc["natural", 0, "pretrained"]["coverage"] - LEVEL)
        yield _asked("natural", 0, "distance of coverage from .90", 0.04, off, -1)
    for world, rival in zip(ARTIFICIAL, ("SLD", "PCC"), strict=True):
        if (world, 0, rival) in mean.index:
            more = mean.loc[world, 0, "pretrained"]["error"] - mean.loc[world, 0, rival]["error"]
            yield _asked(world, 0, f"error above that of {rival}", 0.005, more, -1)
    for world, least in (("score", 0.9), ("time", 0.85)):
        if (world, 0, "pretrained") in mean.index:
            found = mean.loc[world, 0, "pretrained"]["coverage"]
            yield _asked(world, 0, "coverage of intervals of 90%", least, found, 1)
    for world in worlds:
        for k in (10, 30, 100):
            if (world, k, "pretrained") not in mean.index:
                continue
            ours = mean.loc[world, k, "pretrained"]
            for measure in ("error", "width"):
                rivals = [mean.loc[world, k, name][measure] for name in ("audit", "PPI++")]
                text = f"{measure} at most that of audit and PPI++"
                yield _asked(world, k, text, min(rivals), ours[measure], -1)
            for border, sign in ((0.9, 1), (0.97, -1)):
                yield _asked(
                    world, k, "coverage of intervals of 90%", border, ours["coverage"], sign
                )


def _asked(world: str, k: int, what: str, border: float, found: float, sign: int) -> dict[str, Any]:
    """sign: 1 if at least the border is asked for, -1 if at most."""
    met = "yes" if sign * (found - border) >= 0 else "no"
    asked = {"world": world, "k": k, "asked": what, "kind": "least" if sign > 0 else "most"}
    return {**asked, "border": border, "found": found, "met": met}


def _share_of_tasks_with_lower_score(frame: pd.DataFrame) -> float:
    scores = frame[frame["k"] == 0].groupby(["method", *TASK])["score"].mean()
    return float((scores["pretrained"] < scores["hull"]).mean())


def _of_tables(frame: pd.DataFrame, names: Any = MEASURES) -> pd.DataFrame:
    """Means of every table: over samples and seeds, then over tasks."""
    return frame.groupby(TASK)[list(names)].mean().groupby("table").mean()


def write(estimates: pd.DataFrame, folder: Path, tables: str) -> None:
    """The figures as CSV files."""
    for name, made in (("errors", figures), ("levels", levels), ("criteria", criteria)):
        path = folder / f"pretrained-{tables}-{name}.csv"
        made(estimates).to_csv(path, index=False, float_format="%.4f", lineterminator="\n")


def shown(means: pd.DataFrame) -> str:
    """The figures as lines of text."""
    lines = []
    for row in means.to_dict("records"):
        values = "  ".join(
            f"{name} {row[name]:.3f} +- {row[f'{name}_se']:.3f}"
            + (f" (seeds {row[f'{name}_seeds']:.3f})" if row[f"{name}_seeds"] >= 0 else "")
            for name in MEASURES
            if not pd.isna(row.get(name))
        )
        head = f"{row['world']:10} k={row['k']:<4} {row['method']:11} ({row['tables']} tables)"
        lines.append(f"{head}  {values}")
    return "\n".join(lines)
