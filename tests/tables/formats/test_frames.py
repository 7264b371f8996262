"""What is known of the columns of an Arrow schema before a row is read."""

import polars as pl
import pyarrow as pa

from quantshift.tables.formats.frames import arrow_types


def test_types_and_nested_columns_of_a_schema():
    schema = pa.schema(
        {
            "id": pa.int64(),
            "price": pa.decimal128(9, 2),
            "level": pa.dictionary(pa.int8(), pa.string()),
            "day": pa.date32(),
            "is new": pa.bool_(),
            "words": pa.list_(pa.string()),
            "place": pa.struct({"x": pa.float32(), "y": pa.float32()}),
        }
    )
    types, nested = arrow_types(schema)
    assert list(types) == schema.names
    known = ("id", "price", "level", "day", "is new")
    assert [types[name] for name in known] == [int, float, str, pl.Date, bool]
    assert nested == {"words", "place"}
