"""The true rate behind verdicts: the estimator that is right for how the labels were chosen.

A design (`quantshift.judging.designs`) is stated, implied by what is given, or guessed; it is
checked against the data and then makes the estimate. Labels of the items themselves and labels from
elsewhere are used together if the judge treats both kinds of items alike.
"""

from dataclasses import replace

from quantshift.errors import DataError, check_level
from quantshift.judging.designs.design import Design
from quantshift.judging.designs.registry import design_named
from quantshift.judging.estimating.combination import combined
from quantshift.judging.estimating.judged import Judged, estimate_by_design
from quantshift.judging.items.judged_items import AUTO, DEFAULTS, JudgedItems, Settings


def estimate(
    items: JudgedItems, design: Design | str | None = None, settings: Settings = DEFAULTS
) -> Judged:
    """The shares of the classes among all items, some of which are labelled.

    design: how the labels of these items were chosen, or its name; None: implied by what is given,
        or guessed. Data that contradict it are an error unless the settings `insist`.
        Items labelled "elsewhere" are not part of the sample, also if they are among these.
    """
    check_level(settings.level)
    if items.rates is None and items.n_labelled == 0:
        raise DataError(
            "no item is labelled: label some, or give the judge's sensitivity and specificity",
            arguments=["sensitivity", "specificity"],
        )
    stated = design_named(design) if isinstance(design, str) else design
    if items.rates is None and items.external is not None and items.is_labelled.any():
        by_items = estimate_by_design(items.without_external(), stated, settings)
        # Where both are labelled nothing has to be declared.
        moving = replace(settings, assume=AUTO)
        by_external = estimate_by_design(items.without_labels(), None, moving)
        return combined(by_items, by_external, items)
    return estimate_by_design(items, stated, settings)
