"""Positions drawn at random from consecutive groups."""

from collections.abc import Callable, Sequence

import numpy as np

from quantshift.base.types import Indices


def positions(
    counts: Sequence[int], sizes: Sequence[int], *, replace: bool
) -> Callable[[np.random.Generator], Indices]:
    """A function that draws `counts` items from consecutive groups of the given sizes."""
    offsets = np.cumsum([0, *sizes[:-1]])
    if not replace and any(2 * count > size for count, size in zip(counts, sizes, strict=True)):
        return lambda rng: _dense(counts, sizes, offsets, rng)
    starts, spans = np.repeat(offsets, counts), np.repeat(sizes, counts)
    return lambda rng: _sparse(starts, spans, rng, replace=replace)


def _sparse(starts: Indices, spans: Indices, rng: np.random.Generator, *, replace: bool) -> Indices:
    # Draws from all groups in one call, and redraws duplicates until there are none. The procedure
    # treats all items of a group alike, so all sets of that size are equally likely. Groups are
    # ascending, so sorting keeps every position in its group.
    drawn = np.sort(starts + (rng.random(spans.size) * spans).astype(np.int64))
    while not replace and (duplicates := np.flatnonzero(drawn[1:] == drawn[:-1])).size:
        redrawn = (rng.random(duplicates.size) * spans[duplicates]).astype(np.int64)
        drawn[duplicates] = starts[duplicates] + redrawn
        drawn.sort()
    return drawn


def _dense(
    counts: Sequence[int], sizes: Sequence[int], offsets: Indices, rng: np.random.Generator
) -> Indices:
    # For more than half of a group, redrawing duplicates would take many rounds.
    parts = [
        offset + np.sort(rng.permutation(size)[:count])
        for count, size, offset in zip(counts, sizes, offsets, strict=True)
        if count
    ]
    return np.concatenate(parts)
