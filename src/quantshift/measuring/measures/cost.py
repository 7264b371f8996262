"""The expected cost of an item, by a cost matrix; negative costs are gains."""

from quantshift.measuring.measures.label_chances import LabelledScores
from quantshift.measuring.measures.measure import PerformanceMeasure


def _cost(items: LabelledScores) -> float:
    assert items.costs is not None
    return float((items.table * items.costs).sum())


COST = PerformanceMeasure(
    "cost",
    "cost of an item",
    overall=_cost,
    is_share=False,
    needs_costs=True,
)
