"""Positions drawn at random from groups that lie one after the other."""

from collections.abc import Callable, Sequence

import numpy as np

from quantshift.types import Indices


def positions(
    counts: Sequence[int], sizes: Sequence[int], *, replace: bool
) -> Callable[[np.random.Generator], Indices]:
    """A draw of `counts` from groups of the given sizes that lie one after the other."""
    offsets = np.cumsum([0, *sizes[:-1]])
    if not replace and any(2 * count > size for count, size in zip(counts, sizes, strict=True)):
        return lambda rng: _dense(counts, sizes, offsets, rng)
    starts, spans = np.repeat(offsets, counts), np.repeat(sizes, counts)
    return lambda rng: _sparse(starts, spans, rng, replace=replace)


def _sparse(starts: Indices, spans: Indices, rng: np.random.Generator, *, replace: bool) -> Indices:
    # All groups in one call; what was drawn twice is drawn again until nothing is. The procedure
    # treats all items of a group alike, hence all sets of the size are equally likely. Groups are
    # ascending, so sorting keeps every slot in its group.
    drawn = np.sort(starts + (rng.random(spans.size) * spans).astype(np.int64))
    while not replace and (twice := np.flatnonzero(drawn[1:] == drawn[:-1])).size:
        again = (rng.random(twice.size) * spans[twice]).astype(np.int64)
        drawn[twice] = starts[twice] + again
        drawn.sort()
    return drawn


def _dense(
    counts: Sequence[int], sizes: Sequence[int], offsets: Indices, rng: np.random.Generator
) -> Indices:
    # More than half of a group: drawing again what was drawn twice would take many rounds.
    parts = [
        offset + np.sort(rng.permutation(size)[:count])
        for count, size, offset in zip(counts, sizes, offsets, strict=True)
        if count
    ]
    return np.concatenate(parts)
