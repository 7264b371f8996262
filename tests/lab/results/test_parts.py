import io

import polars as pl
import pyarrow.parquet as pq

from quantshift.lab.results import CORE
from quantshift.lab.results.parts import encode, part_name


def encodings(content: bytes) -> dict[str, tuple[str, ...]]:
    group = pq.ParquetFile(io.BytesIO(content)).metadata.row_group(0)
    columns = [group.column(i) for i in range(group.num_columns)]
    return {column.path_in_schema: column.encodings for column in columns}


def test_the_same_rows_give_the_same_bytes(rows):
    whole = rows(n=300)
    pieces = pl.concat([whole[i : i + 7] for i in range(0, len(whole), 7)], rechunk=False)
    sliced = pl.concat([whole[:5], whole])[5:]
    assert pieces.n_chunks() > 1
    assert encode(whole) == encode(pieces) == encode(sliced)
    assert encode(whole) != encode(whole.reverse())


def test_the_bytes_do_not_depend_on_columns_without_values(rows):
    frame = rows()
    empty = [name for name in frame.columns if frame[name].null_count() == len(frame)]
    assert set(empty) >= {"p_train", "distance", "degree"}
    fewer = frame.drop(name for name in empty if name not in CORE)
    more = frame.with_columns(pl.lit(None, dtype=pl.List(pl.Float64)).alias("else"))
    assert encode(frame) == encode(fewer) == encode(more)


def test_numbers_that_hardly_repeat_go_without_a_dictionary(rows):
    used = encodings(encode(rows(n=300).with_columns(distance=pl.col("p_hat").list.first())))
    split = {name for name, how in used.items() if "BYTE_STREAM_SPLIT" in how}
    assert split == {"p_hat.list.element", "distance"}
    dictionaries = {name for name, how in used.items() if "RLE_DICTIONARY" in how}
    assert dictionaries >= {"method", "p_true.list.element", "p_test", "size"}
    assert not split & dictionaries


def test_the_name_of_a_part_does_not_depend_on_the_order_of_its_methods():
    name = part_name({"CC": "a", "SLD": "b"})
    assert name == part_name({"SLD": "b", "CC": "a"}) == "373565d2ebd1"
    assert len({name, part_name({"CC": "a"}), part_name({"CC": "b", "SLD": "a"})}) == 3


def test_any_tool_can_read_a_part(store, rows, cells):
    part, taken = next(store.parts())
    assert taken == ("CC", "SLD")
    table = pq.ParquetFile(part.data).read()
    assert table.num_rows == 40
    expected = rows(cells[0]).drop("p_train", "distance")
    assert pl.from_arrow(table).equals(expected)
