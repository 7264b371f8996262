from datetime import date, datetime, timedelta

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_array_equal

from quantshift.errors import DataError, UserError
from quantshift.sketches import load_sketch, quantify_sketch, sketch
from quantshift.sketches.cells import rounded
from quantshift.sketches.cells import score as cells
from quantshift.sketches.counting import tally
from quantshift.sketches.counting.counter import Counter, ScoreColumns
from tests.sketches.made import batches, labelled


def cells_and_counts(made):
    """What the usable cells of a sketch stand for, and how many rows are in each."""
    usable = made.usable()
    return made.posteriors_of(usable), usable["n"].to_numpy()


def test_few_scores_are_kept_as_they_are():
    frame = pl.DataFrame({"p": [0.1, 0.9, 0.1, None], "day": ["a", "a", "b", "b"]})
    made = sketch(frame, score="p", batch="day")
    assert made.is_exact
    assert made.n_rows == 4
    assert made.left_out == {"no score, or not a number": 1}
    posteriors, counts = cells_and_counts(made)
    assert_array_equal(posteriors[:, 1], [0.1, 0.9, 0.1])
    assert_array_equal(counts, [1, 1, 1])


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
    assert_array_equal(np.sort(cells_and_counts(made)[0][:, 1]), np.sort(frame["p"]))
    assert sketch(frame, score="p", label="y", bins=True).to_bytes() == made.to_bytes()


def test_more_batches_than_the_tally_has_room_for_are_counted_all_the_same(monkeypatch):
    frame = pl.concat(
        [batches({"a": 0.2, "b": 0.6}), batches({"c": 0.3, "d": 0.1}), batches({"a": 0.5})]
    )
    monkeypatch.setattr(cells, "MOST_NARROW", 4_500)  # the tally is for many rows
    parts = list(frame.iter_slices(4000))
    first, *rest = [sketch(part, score="p", batch="day", bins=True) for part in parts]
    expected = first.merge(*rest).to_bytes()
    for room in (1, 2, 3, 4):
        monkeypatch.setattr(tally, "MOST_PLACES", room * tally.WIDTH)
        counter = Counter(ScoreColumns(("p",), "day"), bins=True)
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


def test_three_classes_keep_the_mean_posteriors(monkeypatch):
    posteriors = np.random.default_rng(0).dirichlet([0.5] * 3, 3000)
    frame = pl.DataFrame({f"p_{c}": posteriors[:, k] for k, c in enumerate("abc")})
    made = sketch(frame, posteriors=["p_a", "p_b", "p_c"])
    cell_posteriors, counts = cells_and_counts(made)
    assert (made.n_rows, counts.sum()) == (3000, 3000)
    mean = counts @ cell_posteriors / counts.sum()
    # Posteriors are rounded by up to 1/4096, and the errors of 3,000 rows are averaged.
    assert np.abs(mean - posteriors.mean(axis=0)).max() < 1e-5
    monkeypatch.setattr(rounded, "MOST_ROWS", 1000)
    wide = sketch(frame, posteriors=["p_a", "p_b", "p_c"])
    cell_posteriors, counts = cells_and_counts(wide)
    assert (wide.n_rows, counts.sum()) == (3000, 3000)
    assert len(counts) < 500
    again = counts @ cell_posteriors / counts.sum()
    # Means of the rounded rows, in units of 2**-20.
    assert np.abs(again - mean).max() < 2e-6


def test_parts_of_three_classes_merge_to_the_whole():
    posteriors = np.random.default_rng(0).dirichlet([0.5] * 3, 3000)
    frame = pl.DataFrame(posteriors, schema=list("abc"))
    options = {"posteriors": list("abc")}
    whole = sketch(frame, **options)
    first, *rest = [sketch(part, **options) for part in frame.iter_slices(700)]
    assert first.is_exact
    assert not whole.is_exact
    assert first.merge(*rest).to_bytes() == whole.to_bytes()
    assert sketch(frame[:900], **options, bins=True).n_rows == 900


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
        ({"score": "p", "batch": "p"}, "column 'p' is named twice"),
        ({"score": "p", "batch": "fraction"}, "'fraction' holds decimal numbers"),
        ({"score": "p", "batch": "bytes"}, "'bytes' holds bytes"),
        ({"score": "p", "by": ["duration"]}, "'duration' holds durations"),
        ({"score": "bytes"}, "'bytes' holds bytes: a score is a number"),
        ({"score": "date"}, "'date' holds dates or times: a score is a number"),
    ],
)
def test_wrong_columns_are_refused(options, message):
    frame = labelled(20).with_columns(
        pl.lit(0.5).alias("fraction"),
        pl.lit(b"a").alias("bytes"),
        pl.lit(timedelta(1)).alias("duration"),
        pl.lit(date(2026, 3, 2)).alias("date"),
    )
    with pytest.raises(UserError, match=message):
        sketch(frame, **options)


def test_categories_are_texts(tmp_path):
    frame = pl.DataFrame({"p": ["0.25", "0.5", "x"], "day": ["a", "b", "b"]})
    frame.with_columns(pl.all().cast(pl.Categorical)).write_parquet(tmp_path / "t.parquet")
    made = sketch(tmp_path / "t.parquet", score="p", batch="day")
    assert made.to_bytes() == sketch(frame, score="p", batch="day").to_bytes()
    assert sum(made.left_out.values()) == 1


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_times_are_written_as_in_databases(unit):
    times = [datetime(2026, 3, 2), datetime(2026, 3, 2, 10, 20, 30, 500_000)]
    column = pl.Series("at", times).cast(pl.Datetime(unit))
    made = sketch(pl.DataFrame([pl.Series("p", [0.1, 0.9]), column]), score="p", batch="at")
    assert made.batches == ["2026-03-02 00:00:00", "2026-03-02 10:20:30.5"]
    zoned = column.dt.replace_time_zone("Europe/Berlin")
    made = sketch(pl.DataFrame([pl.Series("p", [0.1, 0.9]), zoned]), score="p", batch="at")
    assert made.batches == ["2026-03-02 00:00:00+01:00", "2026-03-02 10:20:30.5+01:00"]


def test_lines_that_cannot_be_read_are_counted_and_left_out_of_every_batch(tmp_path):
    lines = ["p,day", *["0.3,2026-03-02", "0.4,2026-03-03"] * 30, "0.1", "0.2,a,b", "0.5"]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    made = sketch(tmp_path / "t.csv", score="p", batch="day")
    assert made.n_rows == 63
    assert sum(made.left_out.values()) == 3
    # The batches of these lines are unknown: half of three, rounded up.
    answer = quantify_sketch(made, replicates=20)
    assert [(batch.name, batch.n_items, batch.left_out) for batch in answer.batches] == [
        ("2026-03-02", 30, 2),
        ("2026-03-03", 30, 2),
    ]


def test_a_file_is_counted_once(tmp_path):
    labelled(20).write_csv(tmp_path / "t.csv")
    with pytest.raises(UserError, match=r"t\.csv is named twice"):
        sketch([tmp_path / "t.csv", f"{tmp_path}/*.csv"], score="p")
    labelled(200).write_csv(tmp_path / "u.csv")
    labelled(200).write_csv(tmp_path / "v.csv")
    with pytest.warns(UserWarning, match=r"u\.csv and v\.csv have the same content"):
        assert sketch(f"{tmp_path}/[uv].csv", score="p").n_rows == 400
    sketch(tmp_path / "t.csv", score="p").save(tmp_path / "s.parquet")
    with pytest.raises(DataError, match="a sketch, whose rows are counted already"):
        sketch(tmp_path / "s.parquet", score="p")


def test_a_file_that_is_still_being_written_is_refused(tmp_path):
    file = tmp_path / "t.csv"
    labelled(20).write_csv(file)

    def append(*_):
        with file.open("a") as end:
            end.write("0.5,ham\n")

    with pytest.raises(DataError, match=r"t\.csv: the file changed while it was counted"):
        sketch(file, score="p", progress=append)
    assert sketch(file, score="p").n_rows > 20


def test_keys_in_the_names_of_folders_are_columns(tmp_path):
    """Warehouses write a table into a folder for each day."""
    frame = batches({"2026-03-02": 0.1, "2026-03-03": 0.3}, 50)
    frame = frame.with_columns(pl.when(pl.int_range(pl.len()) != 7).then("day").alias("day"))
    for (day,), rows in frame.group_by("day"):
        folder = tmp_path / f"day={day or '__HIVE_DEFAULT_PARTITION__'}"
        folder.mkdir()
        rows.drop("day").write_parquet(folder / "part-0.parquet")
    made = sketch(f"{tmp_path}/**/*.parquet", score="p", batch="day")
    assert made.to_bytes() == sketch(frame, score="p", batch="day").to_bytes()
    with pytest.raises(DataError, match="no column 'days'; did you mean 'day'"):
        sketch(f"{tmp_path}/**/*.parquet", score="p", batch="days")
    with pytest.raises(DataError, match=r"give files, or a pattern such as '.*/\*\*/\*\.parquet'"):
        sketch(tmp_path, score="p")


def test_empty_lines_of_a_single_column_are_counted(tmp_path):
    """They used to be skipped, though every row is said to be counted."""
    frame = pl.DataFrame({"p": [0.1, None, 0.9, None]})
    frame.write_csv(tmp_path / "t.csv")
    made = sketch(tmp_path / "t.csv", score="p")
    assert made.n_rows == 4
    assert made.to_bytes() == sketch(frame, score="p").to_bytes()
