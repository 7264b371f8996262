"""Drawing scenarios: a row each, with a sample and its learnt boundary, P(X), and P(X | Y).

All rows share the axes and the density levels, so a difference between rows is a difference
between the scenarios. Below the densities of a later row there is a formula that relates them to
the first row; it is found by comparing the densities themselves.
"""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from sklearn.linear_model import LogisticRegression

from quantshift.base.types import Codes
from quantshift.lab.displays.drawing.ink import INK, MUTED
from quantshift.lab.report.figures.canvas import blank, house_style
from quantshift.lab.report.illustrations.clusters import Array, Scenario

POSITIVE = "#E69F00"
NEGATIVE = "#0072B2"
"""The two classes: Okabe and Ito's orange and blue, which differ in brightness too."""

SAMPLE_SIZE = 360

_LEVELS = (0.02, 0.1, 0.25, 0.42, 0.56, 0.78)
"""Contours as shares of the highest peak, avoiding 0.5 and 0.6, where other clusters peak."""

_GROUP_FILLS: tuple[Literal["full", "none"], ...] = ("full", "none")
_PANEL_WIDTH = 2.2


def draw_scenarios(
    scenarios: Sequence[Scenario], *, extent: tuple[float, float, float, float], seed: int
) -> Figure:
    """A row per scenario; extent is (left, right, bottom, top) of every panel."""
    with house_style():
        left, right, bottom, top = extent
        x, y = np.meshgrid(np.linspace(left, right, 121), np.linspace(bottom, top, 121))
        plane = np.stack([x, y], axis=-1)
        row_height = _PANEL_WIDTH * (top - bottom) / (right - left) + 0.3
        figure = blank(row_height * len(scenarios) + 0.7)
        grid = figure.subplots(len(scenarios), 3, squeeze=False, sharex=True, sharey=True)
        first = scenarios[0]
        top_marginal = max(s.marginal(plane).max() for s in scenarios)
        top_conditional = max(
            s.conditional(plane, positive=p).max() for s in scenarios for p in (False, True)
        )
        first_boundary = _boundary(first, seed=seed)
        for scenario, (sample, marginal, conditional) in zip(scenarios, grid, strict=True):
            _draw_sample(sample, scenario, seed=seed)
            if scenario is not first:
                sample.axline(*first_boundary, color=MUTED, linewidth=1.0, linestyle=":")
            _draw_marginal(marginal, plane, scenario, top_marginal)
            _draw_conditional(conditional, plane, scenario, top_conditional)
            if scenario is not first:
                marginal.set_xlabel(marginal_relation(first, scenario, plane))
                conditional.set_xlabel(conditional_relation(first, scenario, plane))
            sample.set_ylabel(f"({scenario.name})  {scenario.title}", labelpad=6)
        for axes in grid.flat:
            axes.set(xlim=(left, right), ylim=(bottom, top), aspect="equal", xticks=[], yticks=[])
        for axes, title in zip(
            grid[0], ("sample and learnt boundary", "$P(X)$", "$P(X\\,|\\,Y)$"), strict=True
        ):
            axes.set_title(title)
        figure.legend(handles=_legend(first), loc="outside lower center", ncols=3)
    return figure


def marginal_relation(first: Scenario, other: Scenario, plane: Array) -> str:
    """How P(X) of the other scenario relates to that of the first one, in TeX."""
    same = np.allclose(first.marginal(plane), other.marginal(plane))
    return _relation("X", first, other, same=same)


def conditional_relation(first: Scenario, other: Scenario, plane: Array) -> str:
    """The same for P(X | Y), naming the class if only one of them changes."""
    same = {
        positive: np.allclose(
            first.conditional(plane, positive=positive),
            other.conditional(plane, positive=positive),
        )
        for positive in (True, False)
    }
    if same[True] == same[False]:
        return _relation("X|Y", first, other, same=same[True])
    return "\n".join(
        _relation(f"X|Y={int(positive)}", first, other, same=same[positive])
        for positive in (True, False)
    )


def _relation(variable: str, first: Scenario, other: Scenario, *, same: bool) -> str:
    sign = "=" if same else "\\neq"
    return f"$P_{{{other.name}}}({variable}) {sign} P_{{{first.name}}}({variable})$"


def _draw_sample(axes: Axes, scenario: Scenario, *, seed: int) -> None:
    points, origin = scenario.draw(SAMPLE_SIZE, seed=seed)
    groups = _groups(scenario)
    for i, cluster in enumerate(scenario.clusters):
        style = _class_style(positive=cluster.positive)
        axes.plot(
            *points[origin == i].T,
            linestyle="none",
            fillstyle=_GROUP_FILLS[groups.index(cluster.group)],
            markersize=2.6,
            markeredgewidth=0.6,
            **style,
        )
    axes.axline(*_boundary(scenario, seed=seed), color=INK, linewidth=1.1, linestyle="--")


def _draw_marginal(axes: Axes, plane: Array, scenario: Scenario, peak: float) -> None:
    density = scenario.marginal(plane)
    levels = [level * peak for level in _LEVELS]
    x, y = np.moveaxis(plane, -1, 0)
    axes.contourf(x, y, density, [*levels, peak], cmap="Greys", vmin=0, vmax=1.3 * peak)
    axes.contour(x, y, density, levels, colors=INK, linewidths=0.4)


def _draw_conditional(axes: Axes, plane: Array, scenario: Scenario, peak: float) -> None:
    levels = [level * peak for level in _LEVELS]
    x, y = np.moveaxis(plane, -1, 0)
    for positive, colour, line in ((True, POSITIVE, "solid"), (False, NEGATIVE, "dashed")):
        density = scenario.conditional(plane, positive=positive)
        axes.contourf(x, y, density, [levels[0], np.inf], colors=[colour], alpha=0.15)
        axes.contourf(x, y, density, [levels[2], np.inf], colors=[colour], alpha=0.25)
        axes.contour(x, y, density, levels, colors=colour, linewidths=0.9, linestyles=line)


def _boundary(scenario: Scenario, *, seed: int) -> tuple[tuple[float, float], tuple[float, float]]:
    points, origin = scenario.draw(SAMPLE_SIZE, seed=seed)
    labels: Codes = np.array([int(c.positive) for c in scenario.clusters])[origin]
    model = LogisticRegression().fit(points, labels)
    (a, b), c = model.coef_[0], model.intercept_[0]
    # The point of the line a x + b y + c = 0 closest to the origin, and another point on it.
    x, y = -c * a / (a**2 + b**2), -c * b / (a**2 + b**2)
    return (x, y), (x - b, y + a)


def _groups(scenario: Scenario) -> list[str]:
    return list(dict.fromkeys(cluster.group for cluster in scenario.clusters))


def _class_style(*, positive: bool) -> dict[str, Any]:
    return {"color": POSITIVE, "marker": "o"} if positive else {"color": NEGATIVE, "marker": "^"}


def _legend(scenario: Scenario) -> list[Line2D]:
    groups = _groups(scenario)
    handles = [
        Line2D(
            [],
            [],
            linestyle="none",
            fillstyle=_GROUP_FILLS[groups.index(group)],
            markersize=4.5,
            label=", ".join(
                part for part in ("positive" if positive else "negative", group) if part
            ),
            **_class_style(positive=positive),
        )
        for group in groups
        for positive in (True, False)
    ]
    return [
        *handles,
        Line2D([], [], color=INK, linestyle="--", label="boundary learnt from this sample"),
        Line2D([], [], color=MUTED, linestyle=":", label=f"boundary of ({scenario.name})"),
    ]
