"""The figures of the pre-trained quantifier: tables of its page, and two pictures.

    python -m website.pretrained [runs/worlds.csv]

Real tables: `python benchmarks/pretrained.py --figures docs/figures` has written the CSV files.
Simulated worlds: `python -m training.evaluate weights.npz runs/worlds.csv` has written a row for
every task, from which the figures are made here. Pictures: coverage at every level, by world and by
number of labels; and tasks of every family of shifts.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from quantshift.quantifiers.pretrained.distribution import HEDGE
from website.overview import FAINT, INK, add_card, save
from website.pages import DOCS
from website.tables import table

FIGURES = DOCS / "figures"
CALIBRATION = DOCS / "pictures" / "pretrained-calibration.svg"
FAMILIES_PICTURE = DOCS / "pictures" / "pretrained-families.svg"

WORLDS: Mapping[str, str] = {
    "natural": "other groups of a table",
    "time": "later periods",
    "prior": "only the prevalence changes",
    "covariate": "only the mix of rows changes",
    "score": "selection by a score",
}
PANELS: Mapping[str, str] = {
    "natural": "other groups",
    "time": "later periods",
    "prior": "prevalence",
    "covariate": "mix of rows",
    "score": "selection by a score",
}
"""Titles of the worlds' panels."""

FAMILIES: Mapping[str, str] = {
    "Selection": "selection",
    "SelectedEnvironment": "selected environment",
    "Environment": "environment",
    "Time": "time",
    "Prior": "prior",
    "Covariate": "covariate",
    "Score": "score",
    "Local": "local",
    "NoShift": "none",
}
LABELS: Mapping[int, str] = {0: "#8491a5", 10: "#d08a00", 30: "#4a90c2", 100: "#0b7a75"}
"""Colours of the numbers of labels."""

LEVELS = tuple(level / 100 for level in range(5, 100, 5))
SHOWN = 40
"""Tasks of each family in the picture."""


def main(arguments: Sequence[str]) -> None:
    """Figures of the simulated tasks, if a file is named; then the pictures."""
    for argument in arguments:
        tasks = pl.read_csv(argument)
        of_families(tasks).write_csv(FIGURES / "pretrained-families.csv", float_precision=4)
        some_tasks(tasks).write_csv(FIGURES / "pretrained-tasks.csv", float_precision=4)
    save(calibration_picture(FIGURES), CALIBRATION)
    save(families_picture(pl.read_csv(FIGURES / "pretrained-tasks.csv")), FAMILIES_PICTURE)


def of_families(tasks: pl.DataFrame) -> pl.DataFrame:
    """Errors, width and coverage by family and number of labels.

    `coverage` is that of intervals of 90 %, `hedged` the same after the hedge, and `c5` to `c95`
    the coverages at other levels after it (without labels there is none).
    """
    level = (2 * pl.col("below") - 1).abs()
    hedged = pl.when(pl.col("k") > 0).then(1 - (1 - level) ** HEDGE).otherwise(level)
    # A share of 0 or 1 is within an interval that ends closer to it than an item of 500.
    at_border = (pl.col("truth") == 0) & (pl.col("low") < 0.001)
    at_border |= (pl.col("truth") == 1) & (pl.col("high") > 0.999)
    error = {
        name: (pl.col(column) - pl.col("truth")).abs().mean().alias(name)
        for name, column in (("error", "median"), ("pcc_error", "pcc"), ("sld_error", "sld"))
    }
    return tasks.group_by("family", "k", maintain_order=True).agg(
        pl.len().alias("tasks"),
        *error.values(),
        (pl.col("high") - pl.col("low")).mean().alias("width"),
        ((level <= 0.9) | at_border).mean().alias("coverage"),
        ((hedged <= 0.9) | at_border).mean().alias("hedged"),
        *(((hedged <= at) | at_border).mean().alias(f"c{100 * at:.0f}") for at in LEVELS),
    )


def some_tasks(tasks: pl.DataFrame) -> pl.DataFrame:
    """The first tasks of every family, without labels."""
    columns = ["family", "training", "pcc", "sld", "truth"]
    return (
        tasks.filter(pl.col("k") == 0)
        .group_by("family", maintain_order=True)
        .head(SHOWN)
        .select(columns)
    )


def pretrained_blocks(folder: Path) -> dict[str, str]:
    """The tables of the page by the name of their block."""
    errors = pl.read_csv(folder / "pretrained-new-errors.csv")
    return {
        "pretrained-no-labels": without_labels(errors),
        "pretrained-labels": with_labels(errors),
        "pretrained-asked": asked(pl.read_csv(folder / "pretrained-new-criteria.csv")),
        "pretrained-families": families_table(pl.read_csv(folder / "pretrained-families.csv")),
    }


def without_labels(errors: pl.DataFrame) -> str:
    """A row per world: errors of all rules, and the intervals of the range and of the network."""
    rows = []
    for world, name in WORLDS.items():
        by_method = {
            row["method"]: row for row in errors.filter(world=world, k=0).iter_rows(named=True)
        }
        ours = by_method["pretrained"]
        rivals = " / ".join(
            _text(by_method[method]["error"]) for method in ("nothing", "PCC", "SLD")
        )
        error = f"{_with_error(ours, 'error')}, {_text(ours['error_seeds'])}"
        rows.append(
            [f"{name} ({ours['tables']})", rivals, error, _all(by_method["hull"]), _all(ours)]
        )
    header = ["tables", "error: training share / PCC / SLD", "this, between seeds"]
    return table([*header, "range of GuardedSLD: coverage, width, score", "this"], rows)


def with_labels(errors: pl.DataFrame) -> str:
    """A row per world and number of labels: error, coverage and width of every method."""
    rows = []
    for k in (10, 30, 100):
        for world, name in WORLDS.items():
            world_rows = errors.filter(world=world, k=k).iter_rows(named=True)
            by_method = {row["method"]: row for row in world_rows}
            methods = ("audit", "PPI++", "pretrained")
            cells = [_three(by_method[method]) for method in methods]
            trained = by_method["as trained"]
            before = f"{_with_error(trained, 'coverage')}, {_text(trained['width'])}"
            rows.append([f"{k}", f"{name} ({trained['tables']})", *cells, before])
    header = ["k", "tables", "our audit: error, coverage, width", "PPI++", "this"]
    return table([*header, "without the hedge: coverage, width"], rows)


def asked(criteria: pl.DataFrame) -> str:
    """A row for everything that was asked of the method."""
    rows = []
    for row in criteria.iter_rows(named=True):
        border = f"at {row['kind']} {_text(row['border'])}"
        cells = [WORLDS[row["world"]], str(row["k"]), row["asked"], border]
        rows.append([*cells, _text(row["found"]), row["met"]])
    return table(["tables", "k", "asked", "border", "found", "met"], rows)


def families_table(families: pl.DataFrame) -> str:
    """A row per family: errors without labels, coverage as trained and after the hedge."""
    rows = []
    for family, name in FAMILIES.items():
        by_labels = {row["k"]: row for row in families.filter(family=family).iter_rows(named=True)}
        none = by_labels[0]
        errors = " / ".join(_text(none[column]) for column in ("pcc_error", "sld_error", "error"))
        before = ", ".join(f"{by_labels[k]['coverage']:.2f}" for k in LABELS)
        after = ", ".join(f"{by_labels[k]['hedged']:.2f}" for k in LABELS if k)
        rows.append([name, str(none["tasks"]), errors, before, after])
    header = ["family", "tasks", "error: PCC / SLD / this", "coverage, k = 0, 10, 30, 100"]
    return table([*header, "after the hedge, k = 10, 30, 100"], rows)


def calibration_picture(folder: Path) -> Figure:
    """Coverage over the level: a panel per world of real tables, and per simulated family."""
    real = pl.read_csv(folder / "pretrained-new-levels.csv")
    families = pl.read_csv(folder / "pretrained-families.csv")
    figure = Figure(figsize=(9.2, 6.4))
    add_card(figure)
    panels = figure.subplots(3, 5, sharex=True, sharey=True).ravel()
    for axes, (world, name) in zip(panels, PANELS.items(), strict=False):
        for k, colour in LABELS.items():
            part = real.filter(world=world, k=k)
            axes.plot(part["level"], part["coverage"], color=colour, linewidth=1.4, label=f"{k}")
        _frame(axes, name)
    for axes, (family, name) in zip(panels[5:], FAMILIES.items(), strict=False):
        for k, colour in LABELS.items():
            part = families.filter(family=family, k=k).select(f"c{100 * at:.0f}" for at in LEVELS)
            axes.plot(LEVELS, part.row(0), color=colour, linewidth=1.4)
        _frame(axes, name)
    panels[-1].set_axis_off()
    handles, names = panels[0].get_legend_handles_labels()
    panels[-1].legend(handles, names, title="labels", loc="center", frameon=False, fontsize=9)
    for axes in panels[10:14]:
        axes.set_xlabel("level", fontsize=9, color=INK)
    for axes, kind in zip(panels[::5], ("real tables", "simulated", "simulated"), strict=True):
        axes.set_ylabel(f"coverage, {kind}", fontsize=9, color=INK)
    figure.tight_layout(pad=0.8)
    return figure


def families_picture(tasks: pl.DataFrame) -> Figure:
    """Tasks of every family: the true change of the share over the change that PCC sees."""
    figure = Figure(figsize=(9.2, 4.6))
    add_card(figure)
    panels = figure.subplots(2, 5, sharex=True, sharey=True).ravel()
    for axes, (family, name) in zip(panels, FAMILIES.items(), strict=False):
        part = tasks.filter(family=family)
        seen = part["pcc"] - part["training"]
        axes.plot(seen, part["truth"] - part["training"], ".", color="#4a90c2", markersize=4)
        _frame(axes, name)
        axes.set_xlim(-0.8, 0.8)
        axes.set_ylim(-0.8, 0.8)
    panels[-1].set_axis_off()
    for axes in panels[5:9]:
        axes.set_xlabel("change seen by PCC", fontsize=9, color=INK)
    for axes in panels[::5]:
        axes.set_ylabel("true change", fontsize=9, color=INK)
    figure.tight_layout(pad=0.8)
    return figure


def _frame(axes: Axes, name: str) -> None:
    axes.axline((0, 0), slope=1, color=FAINT, linewidth=0.8, zorder=0)
    axes.set_title(name, fontsize=8.5, loc="left", color=INK, pad=4)
    axes.set_facecolor("none")
    axes.tick_params(labelsize=8, colors=FAINT, length=2)
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color("#9aa1ad")


def _all(row: Mapping[str, float]) -> str:
    """Coverage, width and score."""
    return ", ".join([_with_error(row, "coverage"), _text(row["width"]), _with_error(row, "score")])


def _three(row: Mapping[str, float]) -> str:
    """Error, coverage and width."""
    return ", ".join([_with_error(row, "error"), _with_error(row, "coverage"), _text(row["width"])])


def _with_error(row: Mapping[str, float], name: str) -> str:
    return f"{_text(row[name])} +- {_text(row[f'{name}_se'])}"


def _text(value: float) -> str:
    return f"{value:.3f}".replace("0.", ".", 1)


if __name__ == "__main__":
    main(sys.argv[1:])
