"""Whatever rows the schema allows, they are the same after writing and reading."""

import tempfile
from itertools import pairwise

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from quantshift.results import SCHEMA, ResultStore, conform, verify
from quantshift.results.parts import encode

FREE = {
    pl.Float64: st.floats(allow_nan=False),
    pl.Int32: st.integers(-(2**31), 2**31 - 1),
    pl.Boolean: st.booleans(),
    pl.String: st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
}
FINITE = st.floats(allow_nan=False, allow_infinity=False)
FIXED = {
    "experiment": st.just("mine"),
    "cell": st.just("train_repeat=0"),
    "method": st.sampled_from(["A", "B ü/,"]),
    "size": st.integers(0, 2**31 - 1),
    "p_true": FINITE,
    "p_hat": FINITE,
}
row = st.fixed_dictionaries(
    {
        name: FIXED[name] if name in FIXED else st.none() | FREE[type(kind)]
        for name, kind in SCHEMA.items()
    }
)
frames = st.lists(row, min_size=1, max_size=12).map(lambda rows: pl.DataFrame(rows, schema=SCHEMA))


@given(frame=frames)
@settings(max_examples=25)
def test_rows_survive_the_store(frame):
    methods = {method: f"s {method}" for method in set(frame["method"])}
    records = [{"name": name, "signature": signature} for name, signature in methods.items()]
    with tempfile.TemporaryDirectory() as folder:
        store = ResultStore.create(folder, {"experiments": {"mine": {"methods": records}}})
        store.write_part("mine", "train_repeat=0", methods, frame)
        assert verify(store) == []
        assert store.finished("mine", "train_repeat=0") == methods
        assert store.read().collect().equals(frame)


@given(frame=frames, cuts=st.lists(st.integers(0, 12), max_size=3))
def test_bytes_depend_on_the_rows_alone(frame, cuts):
    bounds = [0, *sorted(cuts), len(frame)]
    pieces = [frame[a:b] for a, b in pairwise(bounds) if a < b]
    again = conform(pl.concat(pieces, rechunk=False))
    assert encode(again) == encode(frame)
