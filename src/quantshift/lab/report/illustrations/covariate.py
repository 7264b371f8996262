"""Global pure covariate shift: one category of items becomes rarer or more common in both classes.

There are two categories, each with a positive and a negative cluster; the prevalence is always 0.5.
P(X) and P(X|Y) change, P(Y|X) stays. When one category nearly vanishes, a classifier trained on
such data learns another boundary.
"""

from matplotlib.figure import Figure

from quantshift.lab.report.illustrations.clusters import Cluster, Scenario
from quantshift.lab.report.illustrations.panels import draw_scenarios

_CLUSTERS = (
    Cluster(centre=(-1.9, 1.5), positive=True, group="category 1"),
    Cluster(centre=(-1.9, -0.9), positive=False, group="category 1"),
    Cluster(centre=(2.6, 0.7), positive=True, group="category 2"),
    Cluster(centre=(0.9, -1.3), positive=False, group="category 2"),
)


def _scenario(name: str, title: str, share: float) -> Scenario:
    """Both classes with this share of category 2."""
    other = (1 - share) / 2
    return Scenario(
        name=name, title=title, clusters=_CLUSTERS, shares=(other, other, share / 2, share / 2)
    )


SCENARIOS = (
    _scenario("a", "balanced categories", 0.5),
    _scenario("b", "category 2 shrinks", 0.2),
    _scenario("c", "category 2 grows abruptly", 0.95),
)


def covariate_illustration(*, seed: int = 0) -> Figure:
    """Balanced categories, category 2 at 20% of the items, and at 95%."""
    return draw_scenarios(SCENARIOS, extent=(-4.4, 5.1, -3.8, 4.0), seed=seed)
