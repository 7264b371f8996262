"""All measures of performance by name; one of the user's own is added by a call."""

from collections.abc import Sequence

from quantshift.errors import UserError, unknown_name
from quantshift.measuring.measures.by_class import (
    ACCURACY,
    BALANCED_ACCURACY,
    F1,
    PRECISION,
    RECALL,
    SPECIFICITY,
)
from quantshift.measuring.measures.calibration import BRIER, CALIBRATION_ERROR, LOG_LOSS
from quantshift.measuring.measures.cost import COST
from quantshift.measuring.measures.measure import PerformanceMeasure
from quantshift.measuring.measures.ranking import AUC

MEASURES: dict[str, PerformanceMeasure] = {
    measure.name: measure
    for measure in (
        ACCURACY,
        BALANCED_ACCURACY,
        PRECISION,
        RECALL,
        SPECIFICITY,
        F1,
        AUC,
        LOG_LOSS,
        BRIER,
        CALIBRATION_ERROR,
        COST,
    )
}


def register_performance_measure(measure: PerformanceMeasure) -> None:
    """Add a measure, which `performance` then estimates as the others."""
    if measure.name in MEASURES:
        raise UserError(f"there is a measure called {measure.name!r} already; choose another name")
    MEASURES[measure.name] = measure


def chosen_measures(names: Sequence[str] | None, *, costs: bool) -> list[PerformanceMeasure]:
    """The measures of these names; without names all, except those that need costs not given."""
    if names is None:
        return [measure for measure in MEASURES.values() if costs or not measure.needs_costs]
    requested = [names] if isinstance(names, str) else list(names)
    for name in requested:
        if name not in MEASURES:
            raise unknown_name("measure", name, MEASURES)
        if MEASURES[name].needs_costs and not costs:
            raise UserError(f"{name} needs the costs of wrong predictions", arguments=["costs"])
    return [MEASURES[name] for name in requested]
