"""Sums of Gaussians between many points, compiled: most of the work of KDEyCS and KDEyHD.

Items are held coordinate by coordinate, so that the processor works on several at a time, in chunks
of neighbours. A chunk whose box is so far from a point that its Gaussians are below e^-30 is not
looked at. The exponential function is computed here because a call for each number costs more than
all the rest: exponents are those of two; the whole part becomes a number by its bits, the rest by
a Taylor polynomial of degree 9, which is right to 1e-11.
"""

import math

import numpy as np
from numpy.typing import NDArray

from quantshift.compiled import compiled, compiled_sums

Reals = NDArray[np.float64]
Ints = NDArray[np.int64]

CHUNK = 32
"""Items that are looked at together, or not at all."""

FARTHEST = 30.0
"""Minus the exponent beyond which a chunk is left out."""

FAINT = 1e-4
"""Sums of weight one that are all below this are computed again with all items."""

LEAST = -1021.0
"""Powers of two below this are taken for it, which is 4e-308."""

NOTHING = 1e-300
"""What sums of such powers may come to is zero."""

_SHIFT = 1.5 * 2.0**52
"""Added to a number, it leaves the nearest whole number in the last bits."""

_INVERSE = 1.0 / math.log(2.0)
_1, _2, _3, _4, _5, _6, _7, _8, _9 = (math.log(2.0) ** i / math.factorial(i) for i in range(1, 10))
"""Of the Taylor polynomial of powers of two."""


def neighbours(points: Reals) -> Ints:
    """An order of points, (n_points, n_dimensions), in which neighbours are often near.

    By the largest coordinate, and by how large it is: posteriors crowd in the corners.
    """
    largest = points.max(axis=1)
    return np.asarray(np.lexsort((-largest, points.argmax(axis=1))), dtype=np.int64)


@compiled
def sums_of_gaussians(
    items: Reals, ends: Ints, weights: Reals, points: Reals, precision: float
) -> Reals:
    """Sums over groups of items of weight * exp(-precision / 2 |x - s|^2), (n_groups, n_points).

    items: (n_dimensions, n_items), at least two dimensions, one group after the other, neighbours
    together; ends: where each group ends; points: (n_points, n_dimensions). The weights of a group
    sum to one.
    """
    sums, log_weights = np.empty((len(ends), len(points))), np.log2(weights)
    _set_sums(items, ends, log_weights, points, precision, FARTHEST, sums)
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


@compiled
def sample_gaussians(
    pool: Reals, index: Ints, weights: Reals | None, points: Reals, precision: float
) -> Reals:
    """Means over samples of exp(-precision / 2 |x - s|^2), (n_samples, n_points).

    pool: (n_dimensions, n_items); index: (n_samples, size); weights: of the items of the pool.
    """
    n_dimensions, (n_samples, size) = len(pool), index.shape
    means = np.empty((n_samples, len(points)))
    items, heft = np.empty((n_dimensions, size)), np.empty(size)
    key, end = np.empty(size), np.full(1, size)
    for s in range(n_samples):
        total = 0.0
        for j in range(size):
            item, best = index[s, j], 0
            for k in range(1, n_dimensions):
                if pool[k, item] > pool[best, item]:
                    best = k
            key[j] = 2.0 * best - pool[best, item]
            total += 1.0 if weights is None else weights[item]
        order = np.argsort(key)
        for j in range(size):
            item = index[s, order[j]]
            heft[j] = math.log2((1.0 if weights is None else weights[item]) / total)
            for k in range(n_dimensions):
                items[k, j] = pool[k, item]
        _set_sums(items, end, heft, points, precision, FARTHEST, means[s : s + 1])
    return means


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
    """Set the sums over what is not too far."""
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
            own = items[k, first[c] : first[c + 1]]
            low[k, c], high[k, c] = own.min(), own.max()
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
            sums[g, i] = _total(values, powers, n)


@compiled
def _set_distances(low: Reals, high: Reals, point: Reals, distances: Reals) -> None:
    """Set the squared distance of a point from each box."""
    distances[:] = 0.0
    for k in range(len(low)):
        below, above, x = low[k], high[k], point[k]
        for c in range(len(distances)):
            beyond = max(max(below[c] - x, x - above[c]), 0.0)
            distances[c] += beyond * beyond


@compiled_sums
def _set_exponents(
    items: Reals, begin: int, log_weights: Reals, point: Reals, scale: float, exponents: Reals
) -> None:
    """Set scale * |x - s|^2 plus the logarithm of the weight of the items from `begin` on."""
    n_dimensions, end = len(items), begin + len(exponents)
    one, two, own = items[0, begin:end], items[1, begin:end], log_weights[begin:end]
    a, b = point[0], point[1]
    done = 2
    if n_dimensions >= 3:
        three, c = items[2, begin:end], point[2]
        for j in range(len(exponents)):
            square = (one[j] - a) ** 2 + (two[j] - b) ** 2 + (three[j] - c) ** 2
            exponents[j] = scale * square + own[j]
        done = 3
    else:
        for j in range(len(exponents)):
            exponents[j] = scale * ((one[j] - a) ** 2 + (two[j] - b) ** 2) + own[j]
    while done + 1 < n_dimensions:
        one, two = items[done, begin:end], items[done + 1, begin:end]
        a, b = point[done], point[done + 1]
        for j in range(len(exponents)):
            exponents[j] += scale * ((one[j] - a) ** 2 + (two[j] - b) ** 2)
        done += 2
    if done < n_dimensions:
        one, a = items[done, begin:end], point[done]
        for j in range(len(exponents)):
            exponents[j] += scale * (one[j] - a) ** 2


@compiled
def _split_exponents(values: Reals, powers: Reals, n: int) -> None:
    """In the place of exponents of two, what is left of them beside whole ones.

    powers: in their last bits, the whole ones.
    """
    for j in range(n):
        exponent = max(values[j], LEAST)
        powers[j] = exponent + _SHIFT
        values[j] = exponent - (powers[j] - _SHIFT)


@compiled
def _shift(bits: Ints, n: int) -> None:
    """Of numbers with whole exponents in their last bits, make those powers of two."""
    for j in range(n):
        bits[j] = (bits[j] + 1023) << 52


@compiled_sums
def _total(rests: Reals, powers: Reals, n: int) -> float:
    """Sum of the powers times two to the rest."""
    total = 0.0
    for j in range(n):
        r = rests[j]
        high = (((_9 * r + _8) * r + _7) * r + _6) * r + _5
        total += (((((high * r + _4) * r + _3) * r + _2) * r + _1) * r + 1.0) * powers[j]
    return total


@compiled
def _corner(items: Reals, j: int) -> int:
    """The largest coordinate of an item."""
    best = 0
    for k in range(1, len(items)):
        if items[k, j] > items[best, j]:
            best = k
    return best
