"""Prior probability shift: the classes keep their shape, their prevalence changes.

One Gaussian per class. P(X) changes because P(Y) does; P(X|Y) stays, which is what adjusted and
matching quantifiers rely on. The boundary learnt from the rarer positives moves towards them.
"""

from matplotlib.figure import Figure

from quantshift.lab.report.illustrations.clusters import Cluster, Scenario
from quantshift.lab.report.illustrations.panels import draw_scenarios

_CLUSTERS = (
    Cluster(centre=(1.0, 0.8), deviation=1.0, positive=True),
    Cluster(centre=(-1.0, -0.8), deviation=1.0, positive=False),
)

SCENARIOS = (
    Scenario(name="A", title="$p = 0.5$", clusters=_CLUSTERS, shares=(0.5, 0.5)),
    Scenario(name="B", title="$p = 0.1$", clusters=_CLUSTERS, shares=(0.1, 0.9)),
)


def prior_illustration(*, seed: int = 0) -> Figure:
    """Scenario A at prevalence 0.5, scenario B at 0.1."""
    return draw_scenarios(SCENARIOS, extent=(-4.3, 4.3, -4.0, 4.0), seed=seed)
