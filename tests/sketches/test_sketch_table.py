import io
import json

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_array_equal

from quantshift import Sketch, load_sketch, sketch
from quantshift.errors import DataError, UserError
from quantshift.sketches import tally
from quantshift.sketches.making import Columns, Counter
from tests.sketches.made import batches, labelled


def test_few_scores_are_kept_as_they_are():
    frame = pl.DataFrame({"p": [0.1, 0.9, 0.1, None], "day": ["a", "a", "b", "b"]})
    made = sketch(frame, score="p", batch="day")
    assert made.is_exact
    assert made.n_rows == 4
    assert made.left_out == {"no score": 1}
    items = made.to_items("a")
    assert_array_equal(items.posteriors[:, 1], [0.1, 0.9])
    assert_array_equal(items.weights, [1, 1])


def test_a_sketch_comes_back_from_its_file_and_equal_ones_have_equal_bytes(tmp_path):
    frame = batches({"a": 0.2, "b": 0.6})
    made = sketch(frame, score="p", batch="day")
    made.save(tmp_path / "s.parquet")
    again = load_sketch(tmp_path / "s.parquet")
    assert again.about == made.about
    assert again.table.equals(made.table)
    shuffled = sketch(frame.sample(fraction=1.0, shuffle=True, seed=3), score="p", batch="day")
    assert shuffled.to_bytes() == made.to_bytes()
    assert len(made.to_bytes()) < 2 * 10_000


def test_parts_merge_to_the_whole_in_any_order():
    frame = labelled(4000)
    whole = sketch(frame, score="p", by=["y"])
    parts = [sketch(part, score="p", by=["y"]) for part in frame.iter_slices(700)]
    assert parts[0].is_exact
    assert not whole.is_exact
    for order in (parts, parts[::-1]):
        first, *rest = order
        assert first.merge(*rest).to_bytes() == whole.to_bytes()


def test_labelled_scores_are_kept_as_they_are():
    """A method's thresholds come from them, and there is one set for all batches."""
    frame = labelled(4000)
    made = sketch(frame, score="p", label="y")
    assert made.is_exact
    assert_array_equal(np.sort(made.to_items().posteriors[:, 1]), np.sort(frame["p"]))
    assert not sketch(frame, score="p", label="y", bins=True).is_exact


def test_more_batches_than_the_tally_has_room_for_are_counted_all_the_same(monkeypatch):
    frame = pl.concat(
        [batches({"a": 0.2, "b": 0.6}), batches({"c": 0.3, "d": 0.1}), batches({"a": 0.5})]
    )
    parts = list(frame.iter_slices(4000))
    first, *rest = [sketch(part, score="p", batch="day", bins=True) for part in parts]
    expected = first.merge(*rest).to_bytes()
    for room in (1, 2, 3, 4):
        monkeypatch.setattr(tally, "MOST_PLACES", room * tally.WIDTH)
        counter = Counter(Columns(("p",), "day"), bins=True)
        for part in parts:
            counter.add(part)
        assert counter.sketch().to_bytes() == expected


def test_files_of_every_format_give_the_same_counts(tmp_path):
    frame = batches({"a": 0.2, "b": 0.6}, 1500)
    frame.write_parquet(tmp_path / "x.parquet", row_group_size=400)
    frame.write_csv(tmp_path / "x.csv")
    expected = sketch(frame, score="p", batch="day").to_bytes()
    for name in ("x.parquet", "x.csv"):
        assert sketch(tmp_path / name, score="p", batch="day").to_bytes() == expected


def test_three_classes_keep_the_mean_posteriors():
    posteriors = np.random.default_rng(0).dirichlet([0.5] * 3, 3000)
    frame = pl.DataFrame({f"p_{c}": posteriors[:, k] for k, c in enumerate("abc")})
    made = sketch(frame, posteriors=["p_a", "p_b", "p_c"])
    items = made.to_items()
    assert (made.n_rows, items.weights.sum()) == (3000, 3000)
    assert made.marginal()["n"].sum() == 3 * 3000
    assert len(items) < 1000
    mean = items.weights @ items.posteriors / items.weights.sum()
    # Sums are in units of 2**-30.
    assert np.abs(mean - posteriors.mean(axis=0)).max() < 1e-8


def test_parts_of_three_classes_merge_to_the_whole():
    posteriors = np.random.default_rng(0).dirichlet([0.5] * 3, 3000)
    frame = pl.DataFrame(posteriors, schema=list("abc"))
    options = {"posteriors": list("abc")}
    whole = sketch(frame, **options)
    first, *rest = [sketch(part, **options) for part in frame.iter_slices(700)]
    assert first.is_exact
    assert not whole.is_exact
    assert first.merge(*rest).to_bytes() == whole.to_bytes()
    assert sketch(frame[:900], **options).binned().n_rows == 900


def written_by_version_1(made, path):
    """The file of a sketch as version 1 would have described it."""
    table = pq.read_table(io.BytesIO(made.to_bytes()))
    about = {**json.loads(table.schema.metadata[b"quantshift"]), "version": 1}
    metadata = {b"quantshift": json.dumps(about).encode()}
    pq.write_table(table.replace_schema_metadata(metadata), path)


def test_sketches_of_version_1_are_read_or_refused_in_a_line(tmp_path):
    two = sketch(batches({"a": 0.2}), score="p", batch="day")
    written_by_version_1(two, tmp_path / "two.parquet")
    assert load_sketch(tmp_path / "two.parquet").to_bytes() == two.to_bytes()
    posteriors = np.random.default_rng(0).dirichlet([0.5] * 3, 3000)
    frame = pl.DataFrame(posteriors, schema=list("abc"))
    few = sketch(frame[:500], posteriors=list("abc"))
    # Version 1 numbered the cells in another way.
    other = Sketch(few.about, few.table.with_columns(cell=pl.lit(7, dtype=pl.Int64)))
    written_by_version_1(other, tmp_path / "few.parquet")
    assert load_sketch(tmp_path / "few.parquet").merge(few).n_rows == 1000
    assert load_sketch(tmp_path / "few.parquet").binned().to_bytes() == few.binned().to_bytes()
    written_by_version_1(sketch(frame, posteriors=list("abc")), tmp_path / "many.parquet")
    with pytest.raises(DataError, match=r"version 1.*make it again from the rows"):
        load_sketch(tmp_path / "many.parquet")


def test_what_is_no_sketch_is_refused_in_a_line(tmp_path):
    csv, parquet = tmp_path / "x.csv", tmp_path / "x.parquet"
    labelled(20).write_csv(csv)
    labelled(20).write_parquet(parquet)
    for path in (csv, parquet):
        with pytest.raises(DataError, match="not a sketch"):
            load_sketch(path)
    with pytest.raises(DataError, match="no such file"):
        load_sketch(tmp_path / "y.parquet")
    made = sketch(labelled(2000), score="p")
    (tmp_path / "cut.parquet").write_bytes(made.to_bytes()[:-100])
    with pytest.raises(DataError, match="broken"):
        load_sketch(tmp_path / "cut.parquet")


def test_sketches_of_other_columns_do_not_merge():
    frame = labelled(50)
    with pytest.raises(DataError, match="cannot be merged"):
        sketch(frame, score="p").merge(sketch(frame, score="p", label="y"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "name the column of the score"),
        ({"score": "q"}, "no column 'q'"),
        ({"posteriors": ["p"]}, "a column for each class"),
        ({"score": "p", "batch": "p"}, "decimal numbers"),
    ],
)
def test_wrong_columns_are_refused(options, message):
    with pytest.raises(UserError, match=message):
        sketch(labelled(20), **options)
