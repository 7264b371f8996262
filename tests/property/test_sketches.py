"""Sketches are sums: no order and no division into parts changes them, and no row is lost."""

from itertools import pairwise

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from quantshift import sketch
from quantshift.sketches import sketch_table

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


@settings(max_examples=60, deadline=None)
@given(rows=rows, cuts=st.lists(st.integers(0, 60), max_size=4), seed=st.integers(0, 99))
def test_any_order_and_any_parts_give_the_same_sketch(rows, cuts, seed):
    schema = {"p": pl.Float64, "day": pl.String, "y": pl.Int64}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    options = {"score": "p", "batch": "day", "label": "y"}
    # So few that some of the examples have more.
    few, sketch_table.MOST_VALUES = sketch_table.MOST_VALUES, 8
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
        sketch_table.MOST_VALUES = few
    assert merged.to_bytes() == whole.to_bytes() == one_by_one.to_bytes()
    used = int(whole.usable()["n"].sum())
    assert used + sum(whole.left_out.values()) == whole.n_rows == len(frame)
