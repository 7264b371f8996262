import polars as pl
import pyarrow.parquet as pq

from quantshift.results import conform
from quantshift.results.parts import encode, part_name


def test_the_same_rows_give_the_same_bytes(rows):
    whole = conform(rows(n=300))
    pieces = pl.concat([whole[i : i + 7] for i in range(0, len(whole), 7)], rechunk=False)
    sliced = pl.concat([whole[:5], whole])[5:]
    assert pieces.n_chunks() > 1
    assert encode(whole) == encode(pieces) == encode(sliced)
    assert encode(whole) != encode(whole.reverse())


def test_the_name_of_a_part_does_not_depend_on_the_order_of_its_methods():
    name = part_name({"CC": "a", "SLD": "b"})
    assert name == part_name({"SLD": "b", "CC": "a"}) == "373565d2ebd1"
    assert len({name, part_name({"CC": "a"}), part_name({"CC": "b", "SLD": "a"})}) == 3


def test_any_tool_can_read_a_part(store, rows, cells):
    part, taken = next(store.parts())
    assert taken == ("CC", "SLD")
    assert pq.read_table(part.data).num_rows == 40
    assert pl.from_arrow(pq.read_table(part.data)).equals(conform(rows(cells[0])))
