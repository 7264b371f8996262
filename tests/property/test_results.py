"""Whatever rows the schema allows, they are the same after writing and reading."""

import tempfile
from itertools import pairwise
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quantshift.lab.results import CORE, ResultStore, conform, schema_of, verify
from quantshift.lab.results.parts import encode
from quantshift.lab.results.schema import TYPES
from quantshift.lab.shifts.parts.coordinate import Coordinate

NUMBERS = st.floats(allow_nan=False)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
FREE = {
    "float": NUMBERS,
    "int": st.integers(-(2**63), 2**63 - 1),
    "bool": st.booleans(),
    "string": TEXTS,
    "vector": st.lists(NUMBERS, max_size=4),
}
COUNTS = st.integers(0, 2**31 - 1)
SHARES = st.lists(st.integers(0, 999), min_size=3, max_size=3).filter(any)
PREVALENCES = SHARES.map(lambda counts: [count / sum(counts) for count in counts])
CORE_VALUES = {
    "method": st.sampled_from(["A", "B ü/,"]),
    "facet": TEXTS,
    "degree": st.none() | NUMBERS,
    "size": COUNTS,
    "p_true": PREVALENCES,
    "p_hat": PREVALENCES,
    "setting": st.none() | TEXTS,
    "classifier_converged": st.none() | st.booleans(),
}


@st.composite
def results(draw: st.DrawFn) -> tuple[list[Coordinate], dict[str, str], pl.DataFrame]:
    """Declared coordinates and diagnostics, and rows that have them."""
    kinds = st.dictionaries(st.sampled_from("abcdef"), st.sampled_from(list(TYPES)), max_size=5)
    declared = draw(kinds)
    coordinates = {n: kind for n, kind in declared.items() if n < "d"}
    values = {n: st.none() | FREE[kind] for n, kind in declared.items()}
    rows = draw(st.lists(st.fixed_dictionaries(CORE_VALUES | values), min_size=1, max_size=12))
    fixed: dict[str, Any] = {"experiment": "mine", "shift": "own", "dataset": "d", "cell": "c"}
    fixed |= {"stratum": draw(COUNTS), "train_repeat": draw(COUNTS)}
    named = [Coordinate(n, "test", kind, "", "") for n, kind in coordinates.items()]
    diagnostics = {n: kind for n, kind in declared.items() if n >= "d"}
    numbered = [fixed | row | {"sample": number} for number, row in enumerate(rows)]
    frame = pl.DataFrame(numbered, schema=dict(schema_of(named, diagnostics)))
    return named, diagnostics, frame


@given(made=results())
@settings(max_examples=25)
def test_rows_survive_the_store(made):
    coordinates, diagnostics, frame = made
    methods = {method: f"s {method}" for method in set(frame["method"])}
    experiment = {
        "shift": {"kind": "own"},
        "datasets": {"d": {"classes": ["x", "y", "z"]}},
        "coordinates": [coordinate.as_json() for coordinate in coordinates],
        "diagnostics": diagnostics,
        "methods": [{"name": name, "signature": signature} for name, signature in methods.items()],
    }
    with tempfile.TemporaryDirectory() as folder:
        store = ResultStore.create(folder, {"experiments": {"mine": experiment}})
        store.write_part("mine", "d", "c", methods, frame)
        assert verify(store) == []
        assert store.finished("mine", "d", "c") == methods
        assert store.read().collect().equals(frame)


@pytest.mark.slow
@given(made=results(), cuts=st.lists(st.integers(0, 12), max_size=3))
def test_bytes_depend_on_the_rows_alone(made, cuts):
    coordinates, diagnostics, frame = made
    bounds = [0, *sorted(cuts), len(frame)]
    pieces = [frame[a:b] for a, b in pairwise(bounds) if a < b]
    again = conform(pl.concat(pieces, rechunk=False), schema_of(coordinates, diagnostics))
    assert encode(again) == encode(frame)
    told = [n for n in frame.columns if n in CORE or frame[n].null_count() < len(frame)]
    assert encode(frame.select(told)) == encode(frame)
