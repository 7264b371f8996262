"""Sums of Gaussians between many points, compiled: most of the work of KDEyML, KDEyCS and KDEyHD.

Items are stored coordinate by coordinate, so that the processor works on several at a time, in
chunks of neighbours. A chunk whose box is so far from a point that its Gaussians are below e^-30 is
skipped. The exponential function is computed here because a call for each number costs more than
everything else: in powers of two, the whole part of the exponent sets the bits of a number, and the
rest is a Taylor polynomial of degree 9, which is right to 1e-11.
"""

import math

import numpy as np
from numpy.typing import NDArray

from quantshift.base.compiled import compiled
from quantshift.base.types import Indices, Ints, Reals
from quantshift.prevalence.weights import Weights
from quantshift.statistics.fixed_sums import multiply_add, sum_of_products

CHUNK = 32
"""Items that are computed together, or skipped together."""

BLOCK, TILE = 64, 512
"""Points and items whose Gaussians are held at once: few enough for the processor's cache."""

FARTHEST = 30.0
"""Minus the exponent beyond which a chunk or an item is skipped."""

FAINT = 1e-4
"""Sums of weight one that are all below this are computed again with all items."""

LEAST = -1021.0
"""Smaller exponents of two are raised to this one, whose power is 4e-308."""

NOTHING = 1e-300
"""Sums below this consist of such powers and are set to zero."""

_SHIFT = 1.5 * 2.0**52
"""Added to a number, it leaves the nearest whole number in the last bits."""

_INVERSE = 1.0 / math.log(2.0)
_1, _2, _3, _4, _5, _6, _7, _8, _9 = (math.log(2.0) ** i / math.factorial(i) for i in range(1, 10))
"""Coefficients of the Taylor polynomial of powers of two."""


def neighbours(points: Reals) -> Ints:
    """An order of points, (n_points, n_dimensions), in which neighbours are often near.

    By the largest coordinate, and by how large it is: posteriors crowd in the corners.
    """
    largest = points.max(axis=1)
    return np.asarray(np.lexsort((-largest, points.argmax(axis=1))), dtype=np.int64)


@compiled
def sums_of_gaussians(
    items: Reals,
    ends: Ints,
    weights: Reals,
    points: Reals,
    precision: float,
    farthest: float = FARTHEST,
) -> Reals:
    """Sums over groups of items of weight * exp(-precision / 2 |x - s|^2), (n_groups, n_points).

    items: (n_dimensions, n_items), at least two dimensions, one group after the other, neighbours
    together; ends: where each group ends; points: (n_points, n_dimensions). The weights of a group
    sum to one. farthest: minus the exponent beyond which chunks are skipped.
    """
    sums, log_weights = np.empty((len(ends), len(points))), np.log2(weights)
    _set_sums(items, ends, log_weights, points, precision, farthest, sums)
    faint = np.empty(len(points), dtype=np.int64)
    n_faint = 0
    for i in range(len(points)):
        largest = 0.0
        for g in range(len(ends)):
            largest = max(largest, sums[g, i])
        if largest < FAINT:
            faint[n_faint] = i
            n_faint += 1
    if n_faint > 0:
        some = np.empty((n_faint, points.shape[1]))
        for i in range(n_faint):
            some[i] = points[faint[i]]
        again = np.empty((len(ends), n_faint))
        _set_sums(items, ends, log_weights, some, precision, np.inf, again)
        for g in range(len(ends)):
            for i in range(n_faint):
                sums[g, faint[i]] = again[g, i] if again[g, i] > NOTHING else 0.0
    return sums


def blocks_of_neighbours(points: Reals) -> Ints:
    """An order of points, (n_points, n_dimensions), in which each `BLOCK` is a box of near points.

    The points are halved at a multiple of `BLOCK` along their widest dimension, again and again.
    """
    parts, done = [np.arange(len(points))], []
    while parts:
        rows = parts.pop()
        if len(rows) <= BLOCK:
            done.append(rows)
            continue
        widest = np.ptp(points[rows], axis=0).argmax()
        half = BLOCK * (-(-len(rows) // BLOCK) // 2)
        order = np.argsort(points[rows, widest], kind="stable")
        parts += [rows[order[half:]], rows[order[:half]]]
    return np.concatenate(done)


def sample_gaussians(
    pool: Reals, index: Indices, weights: Weights | None, points: Reals, precision: float
) -> Reals:
    """Means over samples of exp(-precision / 2 |x - s|^2), (n_samples, n_points).

    pool: (n_dimensions, n_items); index: (n_samples, size); weights: of the items of the pool;
    points: (n_points, n_dimensions), best in the order of `blocks_of_neighbours`. An item that is
    in several samples is looked at once. The items of a sample are added up in the order of their
    coordinates, so that its mean depends on nothing else in the pool.
    """
    used = np.zeros(pool.shape[1], dtype=bool)
    used[index.ravel()] = True
    items = np.flatnonzero(used)
    keys = pool[:, items] if weights is None else np.vstack([pool[:, items], weights[items]])
    items = items[np.lexsort(keys)]
    rank = np.empty(pool.shape[1], dtype=np.int32)
    rank[items] = np.arange(len(items), dtype=np.int32)
    n_points = len(points)
    # The last block is filled up with copies of the last point.
    filled = np.minimum(np.arange(-(-n_points // BLOCK) * BLOCK), n_points - 1)
    sums = _sums_of_samples(
        np.ascontiguousarray(pool[:, items].T),
        np.ones(len(items)) if weights is None else weights[items],
        np.sort(rank[index], axis=1),
        np.ascontiguousarray(points[filled].T),
        precision,
    )[:, :n_points]
    size = index.shape[1] if weights is None else weights[index].sum(axis=1, keepdims=True)
    sums /= size
    return sums


@compiled
def _sums_of_samples(
    items: Reals, weights: Reals, samples: NDArray[np.int32], points: Reals, precision: float
) -> Reals:
    """Sums over samples of weight * exp(-precision / 2 |x - s|^2), (n_samples, n_points).

    items: (n_items, n_dimensions); samples: positions of items, each row sorted; points:
    (n_dimensions, n_points), a multiple of `BLOCK`.

    Block by block of the points, and tile by tile of the items, the Gaussians are computed once and
    added to the samples that have the item. Whether an item is too far from a block depends on the
    two alone, not on the other items.
    """
    n_items, (n_samples, size), n_points = len(items), samples.shape, points.shape[1]
    sums = np.empty((n_samples, n_points))
    parts, done = np.empty((n_samples, BLOCK)), np.empty(n_samples, dtype=np.int64)
    near, row_of_item = np.empty(TILE, dtype=np.int64), np.empty(TILE, dtype=np.int64)
    tile, powers = np.empty((TILE, BLOCK)), np.empty(CHUNK * BLOCK)
    values, bits, zeros = tile.ravel(), powers.view(np.int64), np.zeros(n_points)
    limit, scale = 2.0 * FARTHEST / precision, -0.5 * precision * _INVERSE
    for begin in range(0, n_points, BLOCK):
        parts[:] = 0.0
        done[:] = 0
        for first in range(0, n_items, TILE):
            last = min(first + TILE, n_items)
            n_near = _find_near(items, first, last, points, begin, limit, near, row_of_item)
            for start in range(0, n_near, CHUNK):
                end = min(start + CHUNK, n_near)
                part = values[start * BLOCK : end * BLOCK]
                for i in range(start, end):
                    _set_exponents(points, begin, zeros, items[near[i]], scale, tile[i])
                _split_exponents(part, powers, len(part))
                _shift(bits, len(part))
                _set_rests(part, len(part))
                for j in range(len(part)):
                    part[j] *= powers[j]
            for i in range(n_near):
                tile[i] *= weights[near[i]]
            for s in range(n_samples):
                n_done = done[s]
                while n_done < size and samples[s, n_done] < last:
                    row = row_of_item[samples[s, n_done] - first]
                    if row >= 0:
                        _add(parts[s], tile[row])
                    n_done += 1
                done[s] = n_done
        sums[:, begin : begin + BLOCK] = parts
    return sums


@compiled
def _find_near(
    items: Reals,
    first: int,
    last: int,
    points: Reals,
    begin: int,
    limit: float,
    near: Ints,
    row_of_item: Ints,
) -> int:
    """Set which items are within a squared distance of the box of a block; return how many are.

    near: positions of these items; row_of_item: of every item, its row among them, or -1.
    """
    n_dimensions, n_near = len(points), 0
    low, high = np.empty(n_dimensions), np.empty(n_dimensions)
    for k in range(n_dimensions):
        block = points[k, begin : begin + BLOCK]
        low[k], high[k] = block.min(), block.max()
    for i in range(first, last):
        distance = 0.0
        for k in range(n_dimensions):
            beyond = max(max(low[k] - items[i, k], items[i, k] - high[k]), 0.0)
            distance += beyond * beyond
        row_of_item[i - first] = -1
        if distance <= limit:
            near[n_near] = i
            row_of_item[i - first] = n_near
            n_near += 1
    return n_near


@compiled
def _add(total: Reals, values: Reals) -> None:
    # Not of a constant length: the compiler would unroll the loop and add one number at a time.
    for j in range(len(total)):
        total[j] += values[j]


@compiled
def _set_sums(
    items: Reals,
    ends: Ints,
    log_weights: Reals,
    points: Reals,
    precision: float,
    farthest: float,
    sums: Reals,
) -> None:
    """Set the sums over the chunks that are not too far."""
    n_dimensions, n_items = items.shape
    first, n_chunks = np.empty(n_items + 1, dtype=np.int64), 0
    group_ends = np.empty(len(ends), dtype=np.int64)
    j = 0
    for g in range(len(ends)):
        while j < ends[g]:
            first[n_chunks] = j
            corner = _corner(items, j)
            j += 1
            while j < ends[g] and j - first[n_chunks] < CHUNK and _corner(items, j) == corner:
                j += 1
            n_chunks += 1
        group_ends[g] = n_chunks
    first[n_chunks] = n_items
    low, high = np.empty((n_dimensions, n_chunks)), np.empty((n_dimensions, n_chunks))
    for c in range(n_chunks):
        for k in range(n_dimensions):
            coordinates = items[k, first[c] : first[c + 1]]
            low[k, c], high[k, c] = coordinates.min(), coordinates.max()
    values, powers, distances = np.empty(n_items), np.empty(n_items), np.empty(n_chunks)
    bits = powers.view(np.int64)
    limit, scale = 2.0 * farthest / precision, -0.5 * precision * _INVERSE
    for i in range(len(points)):
        point = points[i]
        _set_distances(low, high, point, distances)
        c = 0
        for g in range(len(ends)):
            n = 0
            while c < group_ends[g]:
                if distances[c] > limit:
                    c += 1
                    continue
                # Chunks that follow each other are one.
                begin = first[c]
                while c < group_ends[g] and distances[c] <= limit:
                    c += 1
                many = first[c] - begin
                _set_exponents(items, begin, log_weights, point, scale, values[n : n + many])
                n += many
            _split_exponents(values, powers, n)
            _shift(bits, n)
            _set_rests(values, n)
            sums[g, i] = sum_of_products(values, powers, n)


@compiled
def _set_distances(low: Reals, high: Reals, point: Reals, distances: Reals) -> None:
    """Set the squared distance of a point from each box."""
    distances[:] = 0.0
    for k in range(len(low)):
        below, above, x = low[k], high[k], point[k]
        for c in range(len(distances)):
            beyond = max(max(below[c] - x, x - above[c]), 0.0)
            distances[c] += beyond * beyond


@compiled
def _set_exponents(
    items: Reals, begin: int, log_weights: Reals, point: Reals, scale: float, exponents: Reals
) -> None:
    """Set scale * |x - s|^2 plus the logarithm of the weight of the items from `begin` on."""
    n_dimensions, end = len(items), begin + len(exponents)
    one, two, added = items[0, begin:end], items[1, begin:end], log_weights[begin:end]
    a, b = point[0], point[1]
    done = 2
    if n_dimensions >= 3:
        three, c = items[2, begin:end], point[2]
        for j in range(len(exponents)):
            x, y, z = one[j] - a, two[j] - b, three[j] - c
            square = multiply_add(x, x, multiply_add(y, y, z * z))
            exponents[j] = multiply_add(scale, square, added[j])
        done = 3
    else:
        for j in range(len(exponents)):
            x, y = one[j] - a, two[j] - b
            exponents[j] = multiply_add(scale, multiply_add(x, x, y * y), added[j])
    while done + 1 < n_dimensions:
        one, two = items[done, begin:end], items[done + 1, begin:end]
        a, b = point[done], point[done + 1]
        for j in range(len(exponents)):
            x, y = one[j] - a, two[j] - b
            exponents[j] = multiply_add(scale, multiply_add(x, x, y * y), exponents[j])
        done += 2
    if done < n_dimensions:
        one, a = items[done, begin:end], point[done]
        for j in range(len(exponents)):
            x = one[j] - a
            exponents[j] = multiply_add(scale, x * x, exponents[j])


@compiled
def _split_exponents(values: Reals, powers: Reals, n: int) -> None:
    """Split exponents of two into whole numbers, in the last bits of `powers`, and the rest."""
    for j in range(n):
        exponent = max(values[j], LEAST)
        powers[j] = exponent + _SHIFT
        values[j] = exponent - (powers[j] - _SHIFT)


@compiled
def _shift(bits: Ints, n: int) -> None:
    """Turn numbers with a whole exponent in their last bits into that power of two."""
    for j in range(n):
        bits[j] = (bits[j] + 1023) << 52


@compiled
def _set_rests(rests: Reals, n: int) -> None:
    """Set each rest to two to the rest."""
    for j in range(n):
        r = rests[j]
        high = multiply_add(multiply_add(multiply_add(_9, r, _8), r, _7), r, _6)
        middle = multiply_add(multiply_add(multiply_add(high, r, _5), r, _4), r, _3)
        rests[j] = multiply_add(multiply_add(multiply_add(middle, r, _2), r, _1), r, 1.0)


@compiled
def _corner(items: Reals, j: int) -> int:
    """The largest coordinate of an item."""
    best = 0
    for k in range(1, len(items)):
        if items[k, j] > items[best, j]:
            best = k
    return best
