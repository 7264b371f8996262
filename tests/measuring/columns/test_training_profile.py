"""What is kept of training columns: counts, no rows; written and read without pickle."""

from io import BytesIO

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_array_equal

from quantshift.errors import DataError
from quantshift.measuring.columns import training_profile as column_profiles
from quantshift.measuring.columns.training_profile import (
    MOST_THRESHOLDS,
    LevelsProfile,
    ScaleProfile,
    TrainingProfile,
    WordsProfile,
    training_profile,
    words_in,
)
from quantshift.tables.columns.kinds import CATEGORY, DATE, NUMBER, TEXT, TRUTH, Column

COLUMNS = [
    Column("age", NUMBER, 1),
    Column("city", CATEGORY, 0),
    Column("member", TRUTH, 0),
    Column("day", DATE, 0, format="%d.%m.%Y"),
    Column("review", TEXT, 0),
    Column("", NUMBER, 0),
]
FRAME = pl.DataFrame(
    {
        "age": ["31", "40", None, "x", "52", "31"],
        "city": ["Oslo", "Oslo", "Rome", "Bonn", None, "Rome"],
        "member": ["true", "false", "TRUE", "true", "", "false"],
        "day": ["01.02.2026", "02.02.2026", "?", "04.02.2026", "05.02.2026", "06.02.2026"],
        "review": ["good film", "good good book", "bad book", "Alice", "", "good"],
        "": [1.0, 2.0, 3.0, 4.0, float("inf"), 1e308],
    }
)
CODES = np.array([0, 0, 0, 1, 1, 1])


@pytest.fixture(scope="module")
def profile() -> TrainingProfile:
    return training_profile(FRAME, CODES, COLUMNS)


def test_counts_by_class(profile: TrainingProfile) -> None:
    age, city, member, day, review, plain = profile.columns
    assert isinstance(age, ScaleProfile)
    assert_array_equal(age.thresholds, [31, 40, 52])
    assert_array_equal(age.at_most, [[1, 2, 2], [1, 1, 2]])
    assert_array_equal(age.gaps, [1, 1])
    assert (age.lowest, age.highest) == (31, 52)
    assert isinstance(city, LevelsProfile)
    assert city.levels == ("Oslo", "Rome", "Bonn")
    assert_array_equal(city.counts, [[2, 1, 0], [0, 1, 1]])
    assert_array_equal(city.gaps, [0, 1])
    assert_array_equal(city.once, [0, 1])
    assert isinstance(member, LevelsProfile)
    assert dict(zip(member.levels, member.counts.T.tolist(), strict=True)) == {
        "true": [2, 1],
        "false": [1, 1],
    }
    assert isinstance(day, ScaleProfile)
    assert day.lowest == np.datetime64("2026-02-01").astype(int)
    assert isinstance(review, WordsProfile)
    assert review.words == ("good", "book")
    assert_array_equal(review.counts, [[2, 2], [1, 0]])
    assert_array_equal(review.pairs, [6, 2])
    assert_array_equal(review.once, [2, 1])
    assert_array_equal(review.gaps, [0, 1])
    assert isinstance(plain, ScaleProfile)
    assert plain.highest == 1e308


def test_a_word_of_a_single_text_is_not_kept(profile: TrainingProfile) -> None:
    assert b"alice" not in profile.to_bytes().lower()
    table = pl.read_parquet(BytesIO(profile.to_bytes()))
    assert "alice" not in table["name"].to_list()


def test_no_more_than_quantiles_of_many_numbers_are_kept() -> None:
    rng = np.random.default_rng(0)
    codes = (rng.random(5000) < 0.02).astype(np.int64)
    numbers = rng.normal(size=5000) + 10 * codes
    (own,) = training_profile(pl.DataFrame({"x": numbers}), codes, [Column("x", NUMBER, 0)]).columns
    assert isinstance(own, ScaleProfile)
    assert len(own.thresholds) <= MOST_THRESHOLDS
    assert own.highest == numbers.max()
    # A rare class has thresholds of its own: its shares between them are small.
    assert np.diff(own.at_most[1], prepend=0).max() <= 0.05 * codes.sum()
    assert np.diff(own.at_most[0], prepend=0).max() <= 0.02 * 5000


def test_of_many_texts_a_part_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(column_profiles, "MOST_TEXTS", 100)
    texts = pl.DataFrame({"review": ["good"] * 300 + ["bad"] * 300})
    codes = np.repeat([0, 1], 300)
    (own,) = training_profile(texts, codes, [Column("review", TEXT, 0)]).columns
    assert isinstance(own, WordsProfile)
    assert own.items.sum() == 100
    assert own.items.min() > 30
    assert_array_equal(own.counts.sum(axis=1), own.items)


def test_the_most_frequent_words_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(column_profiles, "MOST_WORDS", 1)
    (own,) = training_profile(FRAME, CODES, [COLUMNS[4]]).columns
    assert isinstance(own, WordsProfile)
    assert own.words == ("good",)
    assert own.most_left_out == 2


def test_written_and_read(profile: TrainingProfile) -> None:
    again = TrainingProfile.from_bytes(profile.to_bytes(), 2)
    assert_array_equal(again.items, profile.items)
    assert_array_equal(again.sizes, profile.sizes)
    assert again.to_bytes() == profile.to_bytes()
    assert [c.column.name for c in again.columns] == [c.name for c in COLUMNS]
    assert again.columns[3].column.format == "%d.%m.%Y"
    none = training_profile(FRAME, CODES, [])
    assert TrainingProfile.from_bytes(none.to_bytes(), 2).columns == ()


def forged(profile: TrainingProfile, change: pl.Expr) -> bytes:
    file = BytesIO()
    table = pl.read_parquet(BytesIO(profile.to_bytes()))
    table.with_columns(change).write_parquet(file)
    return file.getvalue()


@pytest.mark.parametrize(
    "change",
    [
        pl.col("counts").list.head(1),
        pl.lit(None, dtype=pl.List(pl.Float64)).alias("counts"),
        pl.col("counts").list.eval(-pl.element()),
        pl.col("counts").list.eval(pl.element() * float("nan")),
        pl.lit("word").alias("name"),
        pl.lit(None, dtype=pl.String).alias("name"),
        pl.lit(1.0).alias("number"),
        pl.lit(float("inf")).alias("number"),
        pl.lit("image").alias("kind"),
        pl.lit("something").alias("what"),
        pl.lit("age").alias("column"),
        pl.col("number").cast(pl.String),
        pl.lit(1).alias("more"),
    ],
    ids=str,
)
def test_a_forged_file_is_refused(profile: TrainingProfile, change: pl.Expr) -> None:
    with pytest.raises(DataError, match="train again"):
        TrainingProfile.from_bytes(forged(profile, change), 2)


@pytest.mark.parametrize("data", [b"", b"PAR1", b"no parquet at all" * 20])
def test_a_damaged_file_is_refused(data: bytes) -> None:
    with pytest.raises(DataError, match="train again"):
        TrainingProfile.from_bytes(data, 2)


def test_words_after_the_longest_text_and_long_ones_are_not_read() -> None:
    text = "ab " * 6_660 + "last" + " " * 100 + "beyond"
    words = words_in(pl.Series([text, "w" * 40 + " " + "v" * 41]), Column("t", TEXT, 0))
    assert len("ab " * 6_660 + "last") < 20_000 < len(text)
    assert [sorted(each) for each in words.to_list()] == [["ab", "last"], ["w" * 40]]


def test_the_most_frequent_levels_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(column_profiles, "MOST_LEVELS", 2)
    (city,) = training_profile(FRAME, CODES, [COLUMNS[1]]).columns
    assert isinstance(city, LevelsProfile)
    assert city.levels == ("Oslo", "Rome")
    assert_array_equal(city.counts, [[2, 1], [0, 1]])
    assert_array_equal(city.rest, [0, 1])


def test_sizes_are_those_of_items_of_equal_weight() -> None:
    weights = np.array([0.1, 0.1, 0.1, 1.0, 2.0, 3.0])
    weighted = training_profile(FRAME, CODES, COLUMNS, weights=weights)
    assert weighted.items == pytest.approx([0.3, 6.0])
    assert weighted.sizes == pytest.approx([3.0, 36 / 14])
    again = TrainingProfile.from_bytes(weighted.to_bytes(), 2)
    assert_array_equal(again.items, weighted.items)
    assert_array_equal(again.sizes, weighted.sizes)
