"""Concept shift: the items stay the same, but a cluster of them changes class.

P(X) stays; P(X|Y), P(Y|X) and, here, P(Y) change. The unlabelled items do not show it.
"""

from dataclasses import replace

from matplotlib.figure import Figure

from quantshift.lab.report.illustrations.clusters import Cluster, Scenario
from quantshift.lab.report.illustrations.panels import draw_scenarios

_BEFORE = (
    Cluster(centre=(-1.7, 1.7), positive=True),
    Cluster(centre=(1.9, 1.2), positive=True),
    Cluster(centre=(-1.9, -1.2), positive=False),
    Cluster(centre=(1.7, -1.7), positive=False),
)
_AFTER = (_BEFORE[0], replace(_BEFORE[1], positive=False), *_BEFORE[2:])

SCENARIOS = (
    Scenario(name="a", title="as learnt", clusters=_BEFORE, shares=(0.25,) * 4),
    Scenario(name="b", title="one cluster changes class", clusters=_AFTER, shares=(0.25,) * 4),
)


def concept_illustration(*, seed: int = 0) -> Figure:
    """Four equal clusters; then one of the positive clusters counts as negative."""
    return draw_scenarios(SCENARIOS, extent=(-4.4, 4.4, -3.9, 3.9), seed=seed)
