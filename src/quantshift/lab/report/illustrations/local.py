"""Local covariate shift: one hidden cluster of the positive class grows, the others do not.

P(X|Y) changes only within the positives, and P(Y) changes with it. If the clusters were observed as
classes of their own, this would be prior shift.
"""

from matplotlib.figure import Figure

from quantshift.lab.report.illustrations.clusters import Cluster, Scenario
from quantshift.lab.report.illustrations.panels import draw_scenarios

_CLUSTERS = (
    Cluster(centre=(-1.7, 1.7), positive=True),
    Cluster(centre=(1.9, 1.2), positive=True),
    Cluster(centre=(-1.9, -1.2), positive=False),
    Cluster(centre=(1.7, -1.7), positive=False),
)

SCENARIOS = (
    Scenario(name="a", title="equal clusters", clusters=_CLUSTERS, shares=(0.25,) * 4),
    Scenario(
        name="b",
        title="one positive cluster grows",
        clusters=_CLUSTERS,
        shares=(5 / 8, 1 / 8, 1 / 8, 1 / 8),
    ),
)


def local_illustration(*, seed: int = 0) -> Figure:
    """Four equal clusters; then five times as many items in the first positive one."""
    return draw_scenarios(SCENARIOS, extent=(-4.4, 4.4, -3.9, 3.9), seed=seed)
