"""Warnings about a sample's columns, and which changes are listed."""

from io import BytesIO
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from quantshift.claims.findings import About, Finding
from quantshift.measuring.columns.sample_profile import SampleCells
from quantshift.measuring.columns.training_profile import TrainingProfile, training_profile
from quantshift.quantifying import quantify, save_model, train
from quantshift.quantifying.estimating.changes import (
    MOST_CHANGES,
    columns_that_moved,
    compare,
)
from quantshift.quantifying.findings import Advice, BatchFindings
from quantshift.quantifying.reading import pool
from quantshift.quantifying.result import ColumnChange
from quantshift.tables.columns.kinds import CATEGORY, DATE, NUMBER, TEXT, Column
from tests.found import codes_of, numbers_of, only

KINDS = {"age": NUMBER, "income": NUMBER, "city": CATEGORY, "day": DATE, "review": TEXT}
CITIES = np.array(["Rome", "Bonn", "Lyon"])
WORDS = np.array([f"word{i}" for i in range(300)])
P, LOW, HIGH = [0.5, 0.5], [0.45, 0.45], [0.55, 0.55]


def table(n: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": rng.integers(18, 66, n).astype(float),
            "income": np.where(rng.random(n) < 0.05, np.nan, rng.lognormal(size=n)),
            "city": CITIES[rng.integers(0, 3, n)],
            "day": np.datetime64("2026-01-01") + rng.integers(0, 60, n),
            "review": [" ".join(row) for row in WORDS[rng.integers(0, 300, (n, 12))]],
        }
    )


@pytest.fixture(scope="module")
def profile() -> TrainingProfile:
    codes = np.arange(1000) % 2
    return training_profile(table(1000, 0), codes, [Column(n, k, 0) for n, k in KINDS.items()])


def findings(profile: TrainingProfile, *changes: pl.Expr, n: int = 400) -> tuple[Finding, ...]:
    sample = table(n, 1).with_columns(*changes)
    return compare(profile, SampleCells.of(profile, sample), P, LOW, HIGH)[1]


def every(n: int) -> pl.Expr:
    return pl.int_range(pl.len()) % n == 0


def test_a_sample_like_training_is_not_remarked_on(profile: TrainingProfile) -> None:
    for seed in range(1, 21):
        cells = SampleCells.of(profile, table(300, seed))
        assert compare(profile, cells, P, LOW, HIGH) == ((), ())


def test_columns_that_make_items_of_every_class_look_new(profile: TrainingProfile) -> None:
    def moved(*changes: pl.Expr) -> set[str]:
        sample = table(400, 1).with_columns(*changes)
        return columns_that_moved(profile, SampleCells.of(profile, sample))

    assert moved() == set()
    assert moved(pl.col("age") + 50, pl.when(every(2)).then(pl.col("city"))) == {"age", "city"}
    assert moved(pl.when(every(8)).then(80.0).otherwise("age").alias("age")) == set()


def test_values_outside_the_range_of_training(profile: TrainingProfile) -> None:
    older = pl.when(every(8)).then(80.0).otherwise("age").alias("age")
    (found,) = findings(profile, older)
    assert (found.code, found.about.column) == (BatchFindings.OUTSIDE_THE_RANGE, "age")
    assert found.numbers == {"share": pytest.approx(0.125), "low": 18.0, "high": 65.0}
    younger = pl.when(every(8)).then(17.0).otherwise("age").alias("age")
    assert findings(profile, younger) == findings(profile, older)
    assert findings(profile, pl.when(every(400)).then(80.0).otherwise("age").alias("age")) == ()


def test_later_dates_are_news_only_in_months_that_training_does_not_have(
    profile: TrainingProfile,
) -> None:
    next_year = pl.col("day").dt.offset_by("1y")
    assert findings(profile, next_year) == ()
    (said,) = findings(profile, pl.col("day").dt.offset_by("6mo"))
    assert (said.code, said.about.column) == (BatchFindings.OUTSIDE_THE_DATES, "day")
    assert said.numbers == {"share": 1.0, "low": "2026-01-01", "high": "2026-03-01"}
    # If the day itself is used, every later one is outside; also by a model that was saved.
    day = Column("day", DATE, 0, parts=("month", "day"))
    by_day = training_profile(table(1000, 0), np.arange(1000) % 2, [day])
    read = TrainingProfile.from_bytes(by_day.to_bytes(), 2)
    assert len(findings(by_day, next_year)) == 1
    assert findings(read, next_year) == findings(by_day, next_year)


def test_levels_never_seen(profile: TrainingProfile) -> None:
    oslo = pl.when(every(3)).then(pl.lit("Oslo")).otherwise("city").alias("city")
    (found,) = findings(profile, oslo, n=300)
    assert (found.code, found.about.column) == (BatchFindings.NEW_LEVELS, "city")
    assert found.numbers == {"share": pytest.approx(1 / 3), "example": "Oslo"}


def test_rare_levels_lead_to_new_ones() -> None:
    rng = np.random.default_rng(2)
    streets = [f"street {i}" for i in rng.zipf(1.3, 1500)]
    frame = pl.DataFrame({"street": streets})
    profile = training_profile(frame[:1000], np.arange(1000) % 2, [Column("street", CATEGORY, 0)])
    cells = SampleCells.of(profile, frame[1000:])
    (own,) = cells.columns.values()
    assert (own.positions >= len(profile.columns[0].levels)).mean() > 0.05
    assert compare(profile, cells, P, LOW, HIGH) == ((), ())


def test_words_never_seen(profile: TrainingProfile) -> None:
    foreign = pl.col("review").str.replace_all("word", "palabra")
    (found,) = findings(profile, foreign)
    assert (found.code, found.about.column) == (BatchFindings.NEW_WORDS, "review")
    assert found.numbers == {"share": 1.0, "expected": 0.0}


def test_nothing_but_gaps(profile: TrainingProfile) -> None:
    gone = pl.lit(None, dtype=pl.Float64).alias("income")
    numbers = numbers_of(findings(profile, gone), BatchFindings.NO_VALUES)
    assert numbers == {"expected": pytest.approx(0.06, abs=0.005)}
    assert findings(profile, pl.lit("").alias("review")) == (
        BatchFindings.NO_VALUES.found(column="review", expected=0.0),
    )


def test_more_gaps_than_expected(profile: TrainingProfile) -> None:
    few = pl.when(~every(2)).then("income").alias("income")
    (found,) = findings(profile, few)
    assert (found.code, found.about.column) == (BatchFindings.MORE_GAPS, "income")
    assert 0.5 <= found.numbers["share"] < 0.6
    assert found.numbers["expected"] == pytest.approx(0.06, abs=0.005)


def test_the_worst_columns_come_first() -> None:
    rng = np.random.default_rng(3)
    frame = pl.DataFrame({f"x{i}": rng.random(1000) for i in range(14)})
    codes = np.arange(1000) % 2
    profile = training_profile(frame, codes, [Column(name, NUMBER, 0) for name in frame.columns])
    moved = frame.select(pl.col(f"x{i}") + 0.05 * i for i in range(14))
    changes, said = compare(profile, SampleCells.of(profile, moved), P, LOW, HIGH)
    assert len(changes) == MOST_CHANGES
    assert all(isinstance(change, ColumnChange) for change in changes)
    assert [change.name for change in changes] == [f"x{i}" for i in range(13, 3, -1)]
    outside = [f"x{i}" for i in range(13, 13 - len(said), -1)]
    assert [found.about.column for found in said] == outside
    assert len(outside) > 10


def test_what_the_prevalence_explains_is_not_listed() -> None:
    rng = np.random.default_rng(4)
    codes = np.repeat([0, 1], [800, 200])
    column = [Column("x", NUMBER, 0)]
    profile = training_profile(
        pl.DataFrame({"x": rng.normal(size=1000) + 2 * codes}), codes, column
    )
    sample = pl.DataFrame({"x": rng.normal(size=500) + 2.0 * (np.arange(500) < 400)})
    cells = SampleCells.of(profile, sample)
    assert compare(profile, cells, [0.2, 0.8], [0.15, 0.75], [0.25, 0.85]) == ((), ())
    changes, _ = compare(profile, cells, [0.8, 0.2], [0.75, 0.15], [0.85, 0.25])
    assert [change.name for change in changes] == ["x"]


def test_no_rows(profile: TrainingProfile) -> None:
    cells = SampleCells.of(profile, table(5, 1)).take(np.array([], dtype=np.int64))
    assert compare(profile, cells, P, LOW, HIGH) == ((), ())


@pytest.fixture(scope="module")
def churn() -> pl.DataFrame:
    """Customers with columns of every kind, of which some tell something of the class."""
    rng = np.random.default_rng(5)
    left = rng.random(1500) < 0.3
    return table(1500, 6).with_columns(
        pl.Series("income", rng.normal(size=1500) + 2 * left),
        pl.Series("age", (rng.normal(40, 8, 1500) - 4 * left).round()),
        pl.Series("member", rng.random(1500) < 0.7 - 0.4 * left),
        pl.Series("left", np.where(left, "yes", "no")),
    )


def test_quantify_tells_what_changed(churn: pl.DataFrame, tmp_path: Path) -> None:
    before, after = churn[:1000], churn[1000:].drop("left")
    moved = after.with_columns(
        pl.col("age") + 10, pl.Series("city", ["Oslo"] * 200 + ["Rome"] * 300)
    )
    model = train(before, label="left", drop=["day"], method="PACC")
    unchanged, changed = (
        quantify(sample, model=model, replicates=50).batches[0] for sample in (after, moved)
    )
    assert unchanged.changes == ()
    assert codes_of(unchanged.findings) == [Advice.AUDIT_WOULD_CONFIRM]
    # The larger a change, the less it can be an effect of another on the estimated prevalence.
    assert [change.name for change in changed.changes[:2]] == ["city", "age"]
    assert "median 4" in next(c.description for c in changed.changes if c.name == "age")
    new = only(changed.findings, BatchFindings.NEW_LEVELS)
    assert new.about == About(batch=changed.name, column="city")
    assert new.numbers == {"share": pytest.approx(0.4), "example": "Oslo"}
    save_model(model, tmp_path / "model")
    again = quantify(moved, model=tmp_path / "model", replicates=50).batches[0]
    assert again == changed


@pytest.mark.slow
def test_batches_are_compared_each_on_its_own(churn: pl.DataFrame, tmp_path: Path) -> None:
    model = train(churn[:1000], label="left", drop=["day"], features=["age", "income"])
    first, second = churn[1000:1250], churn[1250:].with_columns(pl.col("age") + 10)
    both = pl.concat([first.with_columns(week=pl.lit("1")), second.with_columns(week=pl.lit("2"))])
    by_week = quantify(both, model=model, by="week", replicates=50)
    assert [[c.name for c in batch.changes] for batch in by_week.batches] == [[], ["age"]]
    # Tables whose columns have other types are batches too.
    second.write_csv(tmp_path / "second.csv")
    tables = quantify([first, tmp_path / "second.csv"], model=model, replicates=50)
    assert [[c.name for c in batch.changes] for batch in tables.batches] == [[], ["age"]]


def test_of_a_long_sample_a_random_part_is_compared(
    churn: pl.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "MOST_COMPARED", 200)
    monkeypatch.setattr(pool, "FEWEST_COMPARED", 1)
    model = train(churn[:1000], label="left", features=["age", "income"], method="PACC")
    read = pool.read_pool(
        pool.open_samples(churn[1000:]), model, None, seed=0, progress=lambda *_: None
    )
    (compared,) = read.compared.values()
    assert compared.cells().n_rows == 200
    assert read.sizes == {"the sample": 500}


@pytest.mark.slow
def test_what_cannot_be_estimated_may_have_changed_all_the_same() -> None:
    rng = np.random.default_rng(8)
    labelled = pl.DataFrame({"x": rng.normal(size=400), "label": ["no", "yes"] * 200})
    options = {"train": labelled, "label": "label", "features": ["x"], "replicates": 50}
    for moved, names in ((0, []), (1, ["x"])):
        sample = pl.DataFrame({"x": rng.normal(size=200) + moved})
        batch = quantify(sample, **options).batches[0]
        assert not batch.can_be_estimated
        assert [change.name for change in batch.changes] == names


def test_posteriors_may_have_changed(churn: pl.DataFrame) -> None:
    rng = np.random.default_rng(7)
    scores = 1 / (1 + np.exp(1 - churn["income"].to_numpy()))
    scored = churn.select("left", p_yes=pl.Series(scores))
    model = train(scored[:1000], label="left", posteriors=["p_yes"])
    assert quantify(scored[1000:], model=model, replicates=50).batches[0].changes == ()
    hard = scored[1000:].with_columns(p_yes=pl.Series(rng.random(500).round()))
    (change,) = quantify(hard, model=model, replicates=50).batches[0].changes
    assert (change.name, change.kind) == ("p_yes", "posterior")


def test_without_training_there_is_nothing_to_compare_with() -> None:
    sample = pl.DataFrame({"p": np.linspace(0, 1, 100)})
    assert quantify(sample, posteriors=["p"], replicates=50).batches[0].changes == ()


def test_a_saved_model_holds_no_row_of_training(churn: pl.DataFrame, tmp_path: Path) -> None:
    marked = churn.with_columns(
        review=pl.concat_str("review", pl.Series([f" secret{i}" for i in range(1500)]))
    )
    model = train(marked, label="left", text="review", method="PACC")
    save_model(model, tmp_path / "model")
    assert model.profile is not None
    for file in (tmp_path / "model").iterdir():
        assert b"secret123" not in file.read_bytes()
    table = pl.read_parquet(BytesIO(model.profile.to_bytes()))
    assert not table["name"].fill_null("").str.starts_with("secret").any()


def test_a_column_has_moved_if_a_tenth_more_or_fewer_values_are_missing_and_not_before() -> None:
    frame = pl.DataFrame({"x": [None, *range(1, 10)] * 10}, schema={"x": pl.Float64})
    known = training_profile(frame, np.arange(100) % 2, [Column("x", NUMBER, 0)])
    for gaps, moved in ((20, set()), (21, {"x"}), (0, set())):
        values = [None] * gaps + [5.0] * (100 - gaps)
        sample = pl.DataFrame({"x": values}, schema={"x": pl.Float64})
        assert columns_that_moved(known, SampleCells.of(known, sample)) == moved


def test_a_column_has_moved_if_nearly_all_values_lie_on_one_side_of_training() -> None:
    known = training_profile(
        pl.DataFrame({"x": np.arange(100.0)}), np.arange(100) % 2, [Column("x", NUMBER, 0)]
    )
    for value in (-1.0, 100.0):
        for n_beyond, moved in ((98, set()), (99, {"x"}), (100, {"x"})):
            sample = pl.DataFrame({"x": [value] * n_beyond + [50.0] * (100 - n_beyond)})
            assert columns_that_moved(known, SampleCells.of(known, sample)) == moved


def test_of_few_known_values_in_training_many_new_ones_lie_outside() -> None:
    """A new value lies outside of n others with probability 2 / (n + 1)."""
    for n_known, expected in ((10, 0), (1000, 1)):
        values = [float(i % 10) if i < n_known else None for i in range(1000)]
        known = training_profile(
            pl.DataFrame({"x": values}, schema={"x": pl.Float64}),
            np.arange(1000) % 2,
            [Column("x", NUMBER, 0)],
        )
        outside = [20.0] * 15 + [5.0] * (85 * n_known // 1000) + [-1.0] * 5
        gaps = [None] * (100 - len(outside))
        sample = pl.DataFrame({"x": [*outside, *gaps]}, schema={"x": pl.Float64})
        said = compare(known, SampleCells.of(known, sample), P, LOW, HIGH)[1]
        assert codes_of(said).count(BatchFindings.OUTSIDE_THE_RANGE) == expected
