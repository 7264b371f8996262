"""Labels that are not spread over the groups as the items are, such as 50 of each system.

Within a group they may still be random ones. For all items together each label then stands for as
many items of its group as there are for each label of the group.
"""

import numpy as np

from quantshift.base.types import Flags, Reals
from quantshift.judging.designs.parts.label_evidence import SURELY
from quantshift.judging.designs.parts.share_estimate import missed_by_chance
from quantshift.judging.items.judged_items import JudgedItems
from quantshift.statistics.contingency import chi_square


def weights_of_groups(items: JudgedItems) -> Reals | None:
    """How many items each labelled one stands for; None if they are spread as the items are."""
    if items.groups is None or items.is_labelled.all():
        return None
    sizes = np.bincount(items.groups)
    labelled = np.bincount(items.groups[items.is_labelled], minlength=len(sizes))
    table = np.stack([labelled, sizes - labelled])[:, sizes > 0]
    if table.shape[1] < 2 or chi_square(table).p_value >= SURELY:
        return None
    each = sizes / np.maximum(labelled, 1)
    return np.asarray(each[items.groups[items.is_labelled]])


def groups_without_labels(items: JudgedItems) -> Flags:
    """Items of groups without a label, unless random labels may well have missed them."""
    if items.groups is None:
        return np.zeros(len(items), dtype=bool)
    unlike = ~np.isin(items.groups, items.groups[items.is_labelled])
    return np.zeros_like(unlike) if missed_by_chance(items, unlike) else unlike
