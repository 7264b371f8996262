"""A sketch that was damaged, cut off, forged or copied is refused in a line."""

import io
import json

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest

from quantshift.base.storage.integrity import sealed, table_checksum
from quantshift.errors import DataError
from quantshift.sketches import load_sketch, sketch, sketch_sql
from quantshift.sketches.about import CHECKSUM
from quantshift.sketches.sketch_table import _checked, counted_by_query
from tests.sketches.made import batches, labelled

DAYS = {"2026-03-02": 0.1, "2026-03-03": 0.3}


@pytest.fixture(scope="module")
def made():
    return sketch(batches(DAYS, 400), score="p", batch="day")


def forged(made, path, table=None, **changed):
    """The file of a sketch with another description or table, and checksums that are right."""
    file = pq.read_table(io.BytesIO(made.to_bytes()))
    about = json.loads(file.schema.metadata[b"quantshift"])
    del about["seal"]
    if table is not None:
        file = table.to_arrow()
        about |= {CHECKSUM: table_checksum(table), "cells": table.height}
    described = json.dumps(sealed(about | changed)).encode()
    pq.write_table(file.replace_schema_metadata({b"quantshift": described}), path)
    return path


def test_a_value_out_of_range_is_refused_whatever_its_cell_says(made, tmp_path):
    """Values of a sketch with few rows are kept; their cells follow from them."""
    for value, cell in ((1.25, 0), (1.25, 90_000), (-0.5, 0)):
        table = made.table.with_columns(
            pl.when(pl.int_range(pl.len()) == 3).then(new).otherwise(name).alias(name)
            for name, new in (("value_0", pl.lit(value)), ("cell", pl.lit(cell)))
        )
        with pytest.raises(DataError, match="that no sketch has"):
            _checked(made.about, table, "s")
    assert _checked(made.about, made.table, "s").equals(made.table)


@pytest.mark.slow
def test_every_bit_of_a_sketch_counts(made, tmp_path):
    """Three of four flipped bits gave other estimates."""
    whole, path = made.to_bytes(), tmp_path / "s.parquet"
    refused = 0
    for position in range(0, len(whole), max(len(whole) // 300, 1)):
        changed = bytearray(whole)
        changed[position] ^= 1 << position % 8
        path.write_bytes(changed)
        try:
            same = load_sketch(path)
        except DataError:
            refused += 1
            continue
        assert same.table.equals(made.table), position
        assert same.about == made.about
    assert refused > 200


@pytest.mark.parametrize(
    "changed",
    [
        {"classes": [5]},
        {"classes": []},
        {"classes": ["p", "p"]},
        {"by": [5]},
        {"by": "day"},
        {"label": 1},
        {"rows": 1},
        {"rows": None},
    ],
    ids=str,
)
def test_a_forged_description_is_refused(made, tmp_path, changed):
    """Some of them were a TypeError."""
    with pytest.raises(DataError, match=r"sketch"):
        load_sketch(forged(made, tmp_path / "s.parquet", **changed))


def test_a_description_that_is_nested_deep_is_refused(made, tmp_path):
    file = pq.read_table(io.BytesIO(made.to_bytes()))
    for text in (b"[" * 100_000, b"\xff", b'{"format": "quantshift sketch", "version": 1}'):
        described = file.replace_schema_metadata({b"quantshift": text})
        pq.write_table(described, tmp_path / "s.parquet")
        with pytest.raises(DataError, match="sketch"):
            load_sketch(tmp_path / "s.parquet")


@pytest.mark.parametrize("version", [0, 2, None, "x" * 1000])
def test_a_sketch_of_another_version_is_to_be_made_again(made, tmp_path, version):
    with pytest.raises(DataError, match=r"a sketch of version .*make the sketch again"):
        load_sketch(forged(made, tmp_path / "s.parquet", version=version))


@pytest.mark.parametrize(
    "column",
    [
        pl.lit(-1, pl.Int64).alias("n"),
        pl.lit(1 << 62, pl.Int64).alias("n"),
        pl.lit(1 << 40, pl.Int64).alias("cell"),
        pl.lit(2.0).alias("value_0"),
        pl.lit(None, pl.Float64).alias("value_0"),
        pl.lit(float("nan")).alias("value_0"),
    ],
    ids=str,
)
def test_forged_numbers_are_refused(tmp_path, column):
    made = sketch(batches(DAYS, 40), score="p", batch="day")
    table = made.table.with_columns(column)
    with pytest.raises(DataError, match=r"cells or numbers that no sketch has|damaged"):
        load_sketch(forged(made, tmp_path / "s.parquet", table))


@pytest.mark.parametrize("n", [40, 400, 3000])
def test_forged_orders_and_doubled_lines_are_refused(tmp_path, n):
    """Batches are runs of the same name: of a shuffled table each was the last of its runs."""
    made = sketch(batches(DAYS, n), score="p", batch="day")
    assert load_sketch(forged(made, tmp_path / "s.parquet", made.table)).n_rows == 2 * n
    for table in (
        made.table.sample(fraction=1.0, shuffle=True, seed=1),
        made.table.reverse(),
        pl.concat([made.table, made.table]),
        pl.concat([made.table, made.table]).sort(made.table.columns),
    ):
        rows = int(table["n"].sum())
        with pytest.raises(DataError, match="has been changed or damaged"):
            load_sketch(forged(made, tmp_path / "s.parquet", table, rows=rows))


def test_forged_sums_of_three_classes_are_refused(monkeypatch, tmp_path):
    posteriors = np.random.default_rng(0).dirichlet([0.5] * 3, 3000)
    monkeypatch.setattr("quantshift.sketches.cells.rounded.MOST_ROWS", 1000)
    made = sketch(pl.DataFrame(posteriors, schema=list("abc")), posteriors=list("abc"))
    assert load_sketch(forged(made, tmp_path / "s.parquet")).n_rows == 3000
    for name, value in {"sum_0": -1, "sum_1": 1 << 60, "product_0_0": 1 << 60}.items():
        table = made.table.with_columns(pl.lit(value, pl.Int64).alias(name))
        with pytest.raises(DataError, match="cells or numbers that no sketch has"):
            load_sketch(forged(made, tmp_path / "s.parquet", table))


def test_a_file_and_its_copy_are_not_merged(made):
    """All counts were doubled."""
    with pytest.raises(DataError, match=r"same counts of the batch '2026-03-0\d', as a sketch and"):
        made.merge(made)
    other = sketch(batches({"2026-03-04": 0.2}, 400), score="p", batch="day")
    together = made.merge(other)
    with pytest.raises(DataError, match="merge one of them"):
        together.merge(other)
    nothing = sketch(batches(DAYS, 40)[:0], score="p", batch="day")
    assert nothing.merge(nothing).n_rows == 0


def test_equal_counts_of_a_few_rows_may_be_chance():
    few = sketch(pl.DataFrame({"p": [0.2, 0.2, 0.7]}), score="p")
    assert few.merge(few).n_rows == 6


@pytest.fixture(scope="module")
def result():
    duckdb = pytest.importorskip("duckdb", reason="needs quantshift[warehouse]")
    scores = batches(DAYS, 400)
    assert scores.height
    return duckdb.sql(sketch_sql("duckdb", "scores", score="p", batch="day")).pl()


@pytest.fixture(scope="module")
def result_with_labels():
    duckdb = pytest.importorskip("duckdb", reason="needs quantshift[warehouse]")
    scores = labelled(60)
    assert scores.height
    return duckdb.sql(sketch_sql("duckdb", "scores", score="p", label="y")).pl()


def exported(frame, tmp_path):
    """The sketch in the result of a query, as a console exports it."""
    frame.write_csv(tmp_path / "s.csv")
    return load_sketch(tmp_path / "s.csv")


def test_a_part_of_it_is_no_sketch(result, tmp_path):
    """The first lines of an export were a sketch, without a word."""
    assert exported(result, tmp_path).n_rows == 800
    n = result.height
    with pytest.raises(DataError, match=rf"100 of the {n} lines .* export all of them"):
        exported(result[:100], tmp_path)
    for kept in (pl.col("batch") == "2026-03-02", pl.int_range(pl.len()) != 7):
        with pytest.raises(DataError, match="lines of the query's result"):
            exported(result.filter(kept), tmp_path)


def test_every_digit_counts(result, tmp_path):
    numbers = result["cell"], result["n"], result["batch_total"], result["total"]
    for column in (*numbers, result["lines"]):
        changed = column.to_list()
        changed[5] += 1
        with pytest.raises(DataError, match="changed or damaged; run the query again"):
            exported(result.with_columns(pl.Series(column.name, changed)), tmp_path)
    is_single = (pl.col("n") == 1) & (pl.col("batch") == "2026-03-02")
    single = result.filter(is_single)
    for again in (
        pl.concat([result, result[:1]]),
        pl.concat([result.filter(~is_single), single[:-1], single[:1]]),
    ):
        with pytest.raises(DataError, match="changed or damaged"):
            exported(again, tmp_path)
    for name, value in {
        "total": pl.lit([1.0]),
        "check": pl.lit([b"x"]),
        "lines": pl.lit("x"),
    }.items():
        with pytest.raises(DataError, match="changed or damaged"):
            counted_by_query(result.with_columns(value.alias(name)), "the result")
    other = pl.when(pl.int_range(pl.len()) == 3).then(pl.lit("x")).otherwise("batch")
    with pytest.raises(DataError, match="changed or damaged"):
        exported(result.with_columns(other.alias("batch")), tmp_path)


def test_scores_and_labels_count(result_with_labels, tmp_path):
    result = result_with_labels
    assert exported(result, tmp_path).n_rows == 60
    few_digits = result.with_columns(pl.col("value_0").round(12))
    assert exported(few_digits, tmp_path).n_rows == 60
    for changed in (
        pl.col("value_0") + 0.001,
        pl.col("label").reverse(),
        pl.lit(None, pl.Float64).alias("value_0"),
    ):
        with pytest.raises(DataError, match="changed or damaged"):
            exported(result.with_columns(changed), tmp_path)


def test_without_its_totals_it_is_no_sketch(result, tmp_path):
    """The error said nothing of columns or formats: only to make a sketch."""
    said = r"not a sketch, nor what its query returns with all columns, as Parquet or as CSV with "
    for name in ("check", "total", "batch_total", "lines"):
        with pytest.raises(DataError, match=said):
            exported(result.drop(name), tmp_path)
    result.write_csv(tmp_path / "semicolons.csv", separator=";")
    with pytest.raises(DataError, match=said):
        load_sketch(tmp_path / "semicolons.csv")


def test_a_description_that_is_no_text_is_one_line(made, tmp_path, capfd):
    """The panic of polars printed lines of its own before ours."""
    file = pq.read_table(io.BytesIO(made.to_bytes()))
    path = tmp_path / "s.parquet"
    pq.write_table(file.replace_schema_metadata({b"quantshift": b"\xff\xfe{}"}), path)
    with pytest.raises(DataError, match=r"a broken Parquet file; make the sketch again$"):
        load_sketch(path)
    assert capfd.readouterr().err == ""
