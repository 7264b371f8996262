"""Sketches are sums: no order and no division into parts changes them, and no row is lost."""

from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quantshift.sketches import about, sketch
from quantshift.sketches.cells import score as cells
from quantshift.sketches.cells.items import spread_items

scores = st.one_of(
    st.none(),
    st.floats(allow_nan=True, allow_infinity=True),
    st.floats(0.0, 1.0),
    st.sampled_from([0.0, 0.5, 1.0]),
)
rows = st.lists(
    st.tuples(scores, st.sampled_from(["a", "b", None]), st.sampled_from([0, 1, None])),
    min_size=1,
    max_size=60,
)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    rows=rows,
    cuts=st.lists(st.integers(0, 60), max_size=4),
    seed=st.integers(0, 99),
    labelled=st.booleans(),
)
def test_any_order_and_any_parts_give_the_same_sketch(rows, cuts, seed, labelled):
    schema = {"p": pl.Float64, "day": pl.String, "y": pl.Int64}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    options = {"score": "p", "batch": "day", "label": "y"}
    # So few that some of the examples have more.
    values, about.MOST_LABELLED, about.MOST_VALUES = about.MOST_LABELLED, 8, 8
    sizes, cells.BY_SIZE = cells.BY_SIZE, ((8, cells.NARROW), (20, cells.MIDDLE))
    if not labelled:
        del options["label"]
    try:
        whole = sketch(frame, **options)
        order = np.random.default_rng(seed).permutation(len(frame))
        borders = [0, *sorted(min(cut, len(frame)) for cut in cuts), len(frame)]
        parts = [
            sketch(frame[order[start:end]], **options)
            for start, end in pairwise(borders)
            if end > start
        ]
        first, *rest = parts
        merged = first.merge(*rest)
        one_by_one = first
        for other in rest:
            one_by_one = other.merge(one_by_one)
    finally:
        about.MOST_LABELLED, about.MOST_VALUES, cells.BY_SIZE = values, 1024, sizes
    assert merged.to_bytes() == whole.to_bytes() == one_by_one.to_bytes()
    used = int(whole.usable()["n"].sum())
    assert used + sum(whole.left_out.values()) == whole.n_rows == len(frame)


@settings(max_examples=60, deadline=None)
@given(
    n_classes=st.integers(3, 6),
    n_cells=st.integers(1, 5),
    alpha=st.floats(0.05, 30.0),
    seed=st.integers(0, 999),
)
def test_spread_items_have_the_moments_of_their_cells(n_classes, n_cells, alpha, seed):
    rng = np.random.default_rng(seed)
    members = [rng.dirichlet([alpha] * n_classes, rng.integers(2, 9)) for _ in range(n_cells)]
    means = np.array([rows.mean(axis=0) for rows in members])
    covariances = np.array([np.cov(rows.T, bias=True) for rows in members])
    counts = np.array([float(len(rows)) for rows in members])
    items = spread_items(means, covariances, counts)
    n_items = 2 * (n_classes - 1)
    posteriors = items.posteriors.reshape(n_items, n_cells, n_classes)
    weights = items.weights.reshape(n_items, n_cells)
    # Every item is on the simplex, and no weight is lost.
    assert (posteriors >= 0).all()
    np.testing.assert_allclose(posteriors.sum(axis=2), 1.0, atol=1e-12)
    np.testing.assert_allclose(weights.sum(axis=0), counts, rtol=1e-12)
    shares = weights / counts
    found = np.einsum("ic,ick->ck", shares, posteriors)
    np.testing.assert_allclose(found, means, atol=1e-9)
    centred = posteriors - means
    spread = np.einsum("ic,icj,ick->cjk", shares, centred, centred)
    # The spread is right, or smaller where the simplex ends.
    inside = (posteriors > 1e-9).all(axis=(0, 2))
    np.testing.assert_allclose(spread[inside], covariances[inside], atol=1e-9)
    trace, wanted = np.trace(spread, axis1=1, axis2=2), np.trace(covariances, axis1=1, axis2=2)
    assert (trace <= wanted + 1e-9).all()
