"""The columns of the table that an answer rests on: which are used, and which are not, and why."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from quantshift.answers.text import column_names, some


@dataclass(frozen=True)
class UsedColumn:
    """A column that items are made of.

    kind: number, category, truth value (boolean), date, text or posterior.
    how: "scaled; 3 missing values filled with the median and flagged".
    """

    name: str
    kind: str
    how: str


@dataclass(frozen=True)
class LeftOutColumn:
    """A column that is not used, and why."""

    name: str
    reason: str


def column_lines(
    columns: Sequence[UsedColumn], left_out_columns: Sequence[LeftOutColumn]
) -> Iterator[str]:
    """Which columns were used, and which were not; those used the same way share a line."""
    used: dict[tuple[str, str], list[str]] = defaultdict(list)
    for column in columns:
        used[column.kind, column.how].append(column.name)
    left_out: dict[str, list[str]] = defaultdict(list)
    for other in left_out_columns:
        left_out[other.reason].append(other.name)
    if not used and not left_out:
        return
    others = f", {len(left_out_columns):,} left out" if left_out else ""
    yield f"Columns  {len(columns):,} used{others}"
    kinds = [kind for kind, _ in used]
    if left_out:
        kinds.append("left out")
    width = max(map(len, kinds))
    yield from some(
        f"         {kind:{width}}  {column_names(names)}" + (f" ({how})" if how else "")
        for (kind, how), names in used.items()
    )
    yield from some(
        f"         {'left out':{width}}  {column_names(names)} ({reason})"
        for reason, names in left_out.items()
    )
