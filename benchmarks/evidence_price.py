"""What honest claims cost: intervals that label shifts keep, and false ones, as thresholds move.

    python benchmarks/evidence_price.py FILE [FILE ...] [--picture docs/pictures/price.svg]

The files are those that `evidence.py --csv` writes. An answer is called a confidence interval if no
test refutes label shift and either doubles of the sample are unlikely to look like it (the level of
evidence), or the assumptions differ by less than a threshold and the range is not too wide. Printed
in Markdown: the share of label shifts that keep an interval, by the size of the sample, the
classifier's AUC and the distance between the shares in training and sample; and, as each threshold
moves, that share and the share of all samples of other worlds that get an interval that does not
hold the truth. Intervals by agreement that are not reported at today's thresholds are taken as
those of label shift, extended to PCC; they would be longer, so that false ones are overstated.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from quantshift.claims import AGREEING, EVIDENCE_LEVEL, WIDEST, Kind
from quantshift.quantifiers.likelihood.score_test import LEVEL

LEVELS = (0.0034, 0.005, 0.01, 0.02, 0.05, 0.1)
THRESHOLDS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3)
AREAS = (0.0, 0.8, 0.9, 1.01)
DISTANCES = (0.0, 0.15, 0.35, 1.0)
OTHERS = ("none", "score", "half", "feature", "both", "natural")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--picture", type=Path)
    options = parser.parse_args()
    if absent := [path for path in options.files if not Path(path).is_file()]:
        parser.error(f"no such file: {absent[0]}; `evidence.py --csv` writes one")
    answers = Claims(pd.concat([pd.read_csv(path) for path in options.files], ignore_index=True))
    print(answers.by_kind())
    print()
    print(answers.as_thresholds_move())
    if options.picture:
        draw(answers, options.picture)


def holds(answers: pd.DataFrame, low: str, high: str) -> pd.Series:
    """Whether the truth is between two columns."""
    inside = (answers[low] <= answers["truth"] + 1e-9) & (answers["truth"] <= answers[high] + 1e-9)
    return inside.where(answers[low].notna()).astype(float)


class Claims:
    """The answers that would be called confidence intervals at other thresholds."""

    def __init__(self, answers: pd.DataFrame) -> None:
        self.frame = frame = answers[answers["p_doubles"].notna()].reset_index(drop=True)
        tests = frame[["p_score", "p_fit", "p_column", "p_columns"]].min(axis=1)
        self.free = ~(frame["refuted"] | (tests < LEVEL))
        self.apart = (frame["prior"] - frame["covariate"]).abs()
        self.narrow = frame["range_high"] - frame["range_low"] <= WIDEST
        self.is_prior = frame["world"] == "prior"
        extended = frame.assign(
            low=np.minimum(frame["items_low"], frame["covariate"]),
            high=np.maximum(frame["items_high"], frame["covariate"]),
        )
        self.wrong = holds(frame, "items_low", "items_high") == 0
        reported = frame["kind"] == Kind.INTERVAL
        held = holds(frame, "low", "high").where(reported, holds(extended, "low", "high"))
        self.wrong_extended = held == 0

    def claimed(self, level: float, agreeing: float) -> tuple[pd.Series, pd.Series]:
        """Which samples get an interval, and which of these do not hold the truth."""
        evident = self.free & (self.frame["p_doubles"] <= level)
        agree = self.free & ~evident & self.narrow & (self.apart < agreeing)
        return evident | agree, (evident & self.wrong) | (agree & self.wrong_extended)

    def sizes(self) -> list[int]:
        """Of the samples of label shift."""
        return sorted(self.frame.loc[self.is_prior, "n"].unique())

    def moved(self, level: float, agreeing: float) -> tuple[list[float], list[float]]:
        """Label shifts that keep an interval, by size; false intervals, by world."""
        called, false = self.claimed(level, agreeing)
        kept = [called[self.is_prior & (self.frame["n"] == n)].mean() for n in self.sizes()]
        return kept, [false[self.frame["world"] == world].mean() for world in self.worlds()]

    def worlds(self) -> list[str]:
        """Those in which label shift does not hold, as far as there are answers."""
        return [world for world in OTHERS if (self.frame["world"] == world).any()]

    def by_kind(self) -> str:
        """Label shifts that keep an interval, by AUC, distance and size, as a table."""
        called, _ = self.claimed(EVIDENCE_LEVEL, AGREEING)
        auc = pd.cut(self.frame["model_auc"], AREAS, right=False)
        distance = pd.cut((self.frame["truth"] - self.frame["nothing"]).abs(), DISTANCES)
        rows = []
        for (area, away), part in self.frame[self.is_prior].groupby([auc, distance], observed=True):
            cells = []
            for n in self.sizes():
                chosen = called[part.index[part["n"] == n]]
                cells.append(f"{chosen.mean():.2f} ({len(chosen)})" if len(chosen) else "")
            far = f"{away.left:g} to {away.right:g}"
            rows.append([f"{area.left:g} to {min(area.right, 1):g}", far, *cells])
        return table(["AUC", "distance", *(f"n = {n}" for n in self.sizes())], rows)

    def as_thresholds_move(self) -> str:
        """Both figures at other levels of evidence, and at other thresholds of agreement."""
        rows = []
        for level, agreeing in [
            *((level, AGREEING) for level in LEVELS),
            *((EVIDENCE_LEVEL, threshold) for threshold in THRESHOLDS),
        ]:
            kept, false = self.moved(level, agreeing)
            shares = [f"{share:.2f}" for share in kept] + [f"{share:.3f}" for share in false]
            rows.append([f"{level:g}", f"{agreeing:g}", *shares])
        head = [f"kept, n = {n}" for n in self.sizes()] + [f"false: {w}" for w in self.worlds()]
        return table(["level of evidence", "agreement", *head], rows)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def draw(answers: Claims, place: Path) -> None:
    """The curves as an SVG file."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "price"
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, 2, figsize=(8.4, 3.6), sharey=True, layout="constrained")
    panel: Any
    for panel, title, values, used, settings in (
        (panels[0], "level of evidence", LEVELS, EVIDENCE_LEVEL, [(v, AGREEING) for v in LEVELS]),
        (
            panels[1],
            "points apart that still agree",
            [100 * v for v in THRESHOLDS],
            100 * AGREEING,
            [(EVIDENCE_LEVEL, v) for v in THRESHOLDS],
        ),
    ):
        moved = [answers.moved(*setting) for setting in settings]
        for i, n in enumerate(answers.sizes()):
            kept = [share[i] for share, _ in moved]
            panel.plot(values, kept, "o-", label=f"label shifts kept, n = {n}")
        worst = [max(false, default=0.0) for _, false in moved]
        panel.plot(values, worst, "ks--", label="false intervals, worst other world")
        panel.axvline(used, color="0.6", linewidth=1)
        panel.set_xlabel(title)
        panel.set_ylim(0, 1)
        panel.grid(alpha=0.3)
    panels[0].set_xscale("log")
    panels[0].set_ylabel("share of samples")
    panels[1].legend(fontsize=7, loc="upper left")
    figure.savefig(place, metadata={"Date": None})
    print(f"\n{place}")


if __name__ == "__main__":
    main()
