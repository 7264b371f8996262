"""What changed: expectations, p-values under prior shift, power, and what is said."""

import datetime
import itertools
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from quantshift.base.seeding import generator
from quantshift.measuring.columns.column_changes import LEVEL, Change, Expectation, what_changed
from quantshift.measuring.columns.sample_profile import SampleCells
from quantshift.measuring.columns.training_profile import TrainingProfile, training_profile
from quantshift.measuring.findings import ColumnFindings
from quantshift.tables.columns.kinds import CATEGORY, DATE, NUMBER, TEXT, TRUTH, Column, choose
from tests.found import codes_of, numbers_of

KINDS = {"x": NUMBER, "wide": NUMBER, "count": NUMBER, "shop": CATEGORY, "member": TRUTH}
KINDS |= {"day": DATE, "review": TEXT}
SHOPS = np.array([f"shop {i}" for i in range(60)])
WORDS = np.array([f"word{i}" for i in range(400)])


def table(counts: list[int], rng: np.random.Generator) -> tuple[pl.DataFrame, np.ndarray]:
    """Items of classes whose columns all differ: x and shop much, the others less."""
    codes = rng.permutation(np.repeat(np.arange(len(counts)), counts))
    n = len(codes)
    x = rng.normal(size=n) + codes
    words = (rng.pareto(1 + 0.2 * codes[:, None], (n, 20)) * 5).astype(int).clip(max=399)
    frame = pl.DataFrame(
        {
            "x": np.where(rng.random(n) < 0.05 + 0.1 * codes, np.nan, x),
            "wide": rng.standard_cauchy(n) * (1 + codes),
            "count": rng.poisson(2 + codes).astype(float),
            "shop": SHOPS[np.minimum(rng.geometric(0.1 + 0.2 * codes), 60) - 1],
            "member": rng.random(n) < 0.3 + 0.2 * codes,
            "day": np.datetime64("2026-01-01") + rng.integers(0, 60 + 30 * codes),
            "review": [" ".join(row) for row in WORDS[words]],
        }
    )
    return frame, codes


def columns(frame: pl.DataFrame) -> list[Column]:
    """What the columns of such a table hold."""
    return [Column(name, KINDS[name], 0) for name in frame.columns]


def changes(
    frame: pl.DataFrame, codes: np.ndarray, sample: pl.DataFrame, *prevalences: list[float]
) -> list[Change]:
    """What changed between a training table and a sample."""
    profile = training_profile(frame, codes, columns(frame))
    return what_changed(profile, SampleCells.of(profile, sample), *prevalences)


def profile_of(sizes: list[int]) -> TrainingProfile:
    """A profile without columns."""
    return training_profile(pl.DataFrame(), np.repeat(np.arange(len(sizes)), sizes), [])


def test_expected_shares_are_those_of_reweighted_training_items() -> None:
    rng = np.random.default_rng(0)
    frame, codes = table([600, 200, 100], rng)
    profile = training_profile(frame, codes, columns(frame))
    p = np.array([0.2, 0.5, 0.3])
    expected = Expectation.of(profile, SampleCells.of(profile, frame), p, None, None)
    known = profile.columns[0]
    weights = (p / np.bincount(codes))[codes]
    x = frame["x"].to_numpy()
    by_hand = [(weights * (x <= t)).sum() for t in known.thresholds]
    assert_allclose(expected.shares(known.at_most), by_hand, rtol=1e-12)
    # The size that a sample of equal weights would have, at most that of the weights (Kish).
    assert expected.n_expected == pytest.approx(1 / weights.max())
    assert expected.n_expected <= weights.sum() ** 2 / (weights**2).sum()


def test_range_of_an_expected_share_over_the_interval() -> None:
    p, low, high = [0.2, 0.5, 0.3], np.array([0.1, 0.35, 0.0]), np.array([0.3, 0.6, 0.4])
    profile = profile_of([10, 10, 10])
    expected = Expectation.of(profile, SampleCells.of(profile, pl.DataFrame()), p, low, high)
    counts = np.random.default_rng(1).integers(0, 11, (3, 40)).astype(float)
    grid = [q for q in itertools.product(np.linspace(0, 1, 201), repeat=2) if sum(q) <= 1]
    simplex = np.array([[a, b, 1 - a - b] for a, b in grid])
    inside = simplex[((simplex >= low - 1e-9) & (simplex <= high + 1e-9)).all(axis=1)]
    shares = inside @ counts / 10
    lowest, highest = expected.range(counts)
    assert_allclose(lowest, shares.min(axis=0), atol=1e-9)
    assert_allclose(highest, shares.max(axis=0), atol=1e-9)


def test_without_a_change_of_prevalence_it_is_the_test_of_two_samples() -> None:
    rng = np.random.default_rng(2)
    codes = np.repeat([0, 1], [400, 400])
    frame = pl.DataFrame({"x": rng.integers(0, 200, 800).astype(float)})
    sample = pl.DataFrame({"x": rng.integers(0, 200, 500).astype(float) + 12})
    (change,) = changes(frame, codes, sample, [0.5, 0.5])
    test = stats.ks_2samp(frame["x"], sample["x"], method="asymp")
    assert change.size == pytest.approx(test.statistic)
    assert change.p_value == pytest.approx(test.pvalue, rel=0.3)


def false_alarms(sizes: list[int], p: np.ndarray, n: int, repeats: int, seed: int) -> float:
    """The share of samples in which any column is listed although only the prevalence changed.

    The estimate of the prevalence errs as an interval of 95% says.
    """
    alarms = []
    for repeat in range(repeats):
        rng = generator(seed, purpose="false alarms", repeat=repeat)
        frame, codes = table(sizes, rng)
        sample, _ = table(rng.multinomial(n, p).tolist(), rng)
        error = rng.normal(scale=0.02, size=len(p))
        estimate = np.maximum(p + error - error.mean(), 0)
        estimate /= estimate.sum()
        low, high = np.maximum(estimate - 0.04, 0), np.minimum(estimate + 0.04, 1)
        found = changes(frame, codes, sample, estimate, low, high)
        alarms.append(found[0].p_value < LEVEL)
    return float(np.mean(alarms))


@pytest.mark.parametrize(
    ("sizes", "p"),
    [
        ([300, 100], [0.2, 0.8]),
        pytest.param([400, 200, 50], [0.1, 0.3, 0.6], marks=pytest.mark.slow),
    ],
)
def test_prior_shift_is_no_change(sizes: list[int], p: list[float]) -> None:
    # At most 5%, and three standard errors of 60 repetitions.
    assert false_alarms(sizes, np.array(p), 300, 60, seed=0) <= 0.05 + 3 * 0.028


@pytest.mark.slow
@pytest.mark.parametrize("n_train", [100, 1000])
@pytest.mark.parametrize("p", [0.05, 0.5, 0.95])
def test_prior_shift_is_no_change_in_many_samples(n_train: int, p: float) -> None:
    sizes = [n_train * 3 // 4, n_train // 4]
    assert false_alarms(sizes, np.array([1 - p, p]), 400, 400, seed=1) <= 0.05 + 3 * 0.011


@pytest.fixture(scope="module")
def known() -> tuple[pl.DataFrame, np.ndarray]:
    """A training table of 1,000 items, three of four of the first class."""
    return table([750, 250], np.random.default_rng(3))


def sample_of(p: float, n: int, seed: int) -> pl.DataFrame:
    """A sample with a share of p of the second class."""
    n_second = round(p * n)
    return table([n - n_second, n_second], np.random.default_rng(seed))[0]


def test_the_change_of_prevalence_is_taken_into_account(
    known: tuple[pl.DataFrame, np.ndarray],
) -> None:
    sample = sample_of(0.8, 600, seed=4)
    assert changes(*known, sample, [0.2, 0.8])[0].p_value >= LEVEL
    unadjusted = [c.name for c in changes(*known, sample, [0.75, 0.25]) if c.p_value < LEVEL]
    assert {"x", "shop"} <= set(unadjusted)


def test_an_unsure_prevalence_raises_no_alarm(known: tuple[pl.DataFrame, np.ndarray]) -> None:
    sample = sample_of(0.8, 2000, seed=5)
    assert changes(*known, sample, [0.5, 0.5])[0].p_value < LEVEL
    assert changes(*known, sample, [0.5, 0.5], [0.15, 0.15], [0.85, 0.85])[0].p_value >= LEVEL


@pytest.mark.parametrize("name", ["x", "count"])
def test_a_column_that_moved_by_half_a_standard_deviation_comes_first(
    known: tuple[pl.DataFrame, np.ndarray], name: str
) -> None:
    for seed in range(5):
        sample = sample_of(0.6, 500, seed=10 + seed)
        moved = sample.with_columns(pl.col(name) + 0.5 * sample[name].fill_nan(None).std())
        found = changes(*known, moved, [0.4, 0.6], [0.35, 0.55], [0.45, 0.65])
        assert found[0].name == name
        assert found[0].p_value < LEVEL
        assert found[1].p_value >= LEVEL


def first(known: tuple[pl.DataFrame, np.ndarray], change: pl.Expr | pl.Series) -> Change:
    """The largest change of a sample in which one column was replaced."""
    sample = sample_of(0.6, 500, seed=20).with_columns(change)
    found = changes(*known, sample, [0.4, 0.6], [0.35, 0.55], [0.45, 0.65])[0]
    assert found.p_value < LEVEL
    assert 0 < found.size <= 1
    return found


def test_numbers_are_told_by_their_median(known: tuple[pl.DataFrame, np.ndarray]) -> None:
    found = first(known, pl.col("count") + 3)
    assert (found.name, found.kind) == ("count", NUMBER)
    assert found.findings == (ColumnFindings.MEDIAN_MOVED.found(median=5.0, expected=2.0),)


def test_numbers_that_spread_are_told_where_they_differ(
    known: tuple[pl.DataFrame, np.ndarray],
) -> None:
    found = first(known, pl.col("wide") * 20)
    assert codes_of(found.findings) == [ColumnFindings.SMALL_VALUES_MOVED]


def test_gaps_are_a_change(known: tuple[pl.DataFrame, np.ndarray]) -> None:
    few = pl.when(pl.int_range(pl.len()) % 2 == 0).then(pl.col("x")).alias("x")
    found = first(known, few)
    assert found.name == "x"
    numbers = numbers_of(found.findings, ColumnFindings.MISSING_VALUES_MOVED)
    assert 0.5 <= numbers["share"] < 0.6
    assert numbers["expected"] == pytest.approx(0.12, abs=0.005)


def test_numbers_that_became_small_are_no_gaps(known: tuple[pl.DataFrame, np.ndarray]) -> None:
    """The first values differ most, and as many are missing as before."""
    found = first(known, pl.lit(0.0).alias("count"))
    assert found.name == "count"
    assert found.size > 0.5
    assert found.findings == (ColumnFindings.MEDIAN_MOVED.found(median=0.0, expected=2.0),)


def test_levels_are_told_by_their_share(known: tuple[pl.DataFrame, np.ndarray]) -> None:
    web = pl.when(pl.int_range(pl.len()) % 2 == 0).then(pl.lit("shop 1")).otherwise("shop")
    found = first(known, web.alias("shop"))
    assert (found.name, found.kind) == ("shop", CATEGORY)
    numbers = numbers_of(found.findings, ColumnFindings.LEVEL_MOVED)
    assert numbers["level"] == "shop 1"
    assert 0.5 <= numbers["share"] < 0.6


def test_new_levels_are_a_change(known: tuple[pl.DataFrame, np.ndarray]) -> None:
    new = pl.when(pl.int_range(pl.len()) % 3 == 0).then(pl.lit("web")).otherwise("shop")
    found = first(known, new.alias("shop"))
    assert found.name == "shop"
    assert codes_of(found.findings) == [ColumnFindings.RARE_LEVELS_MOVED]


def test_truth_values_are_told_by_their_share(known: tuple[pl.DataFrame, np.ndarray]) -> None:
    found = first(known, pl.lit(value=True).alias("member"))
    assert (found.name, found.kind) == ("member", TRUTH)
    numbers = numbers_of(found.findings, ColumnFindings.LEVEL_MOVED)
    assert (numbers["level"], numbers["share"]) in (("true", 1.0), ("false", 0.0))


def test_dates_are_told_by_their_median(known: tuple[pl.DataFrame, np.ndarray]) -> None:
    found = first(known, pl.col("day") + datetime.timedelta(days=60))
    assert (found.name, found.kind) == ("day", DATE)
    numbers = numbers_of(found.findings, ColumnFindings.MEDIAN_MOVED)
    assert numbers["median"].startswith("2026-04-")
    assert numbers["expected"].startswith("2026-02-")


@pytest.mark.parametrize("word", ["word50", "refund"])
def test_words_are_told_by_the_texts_that_hold_them(
    known: tuple[pl.DataFrame, np.ndarray], word: str
) -> None:
    every_fifth = pl.int_range(pl.len()) % 5 == 0
    longer = pl.when(every_fifth).then(pl.col("review") + f" {word.upper()}!").otherwise("review")
    found = first(known, longer.alias("review"))
    assert (found.name, found.kind) == ("review", TEXT)
    numbers = numbers_of(found.findings, ColumnFindings.WORD_MOVED)
    assert numbers["word"] == word
    assert 0.2 <= numbers["share"] < 0.3
    assert found.size > 0.1


def test_all_words_that_changed_are_told_or_else_the_one_that_differs_most(
    known: tuple[pl.DataFrame, np.ndarray],
) -> None:
    every_fifth = pl.int_range(pl.len()) % 5 == 0
    longer = pl.when(every_fifth).then(pl.col("review") + " refund word50").otherwise("review")
    words = {found.numbers["word"] for found in first(known, longer.alias("review")).findings}
    assert {"refund", "word50"} <= words
    unchanged = changes(*known, sample_of(0.6, 500, seed=20), [0.4, 0.6])
    (review,) = (change for change in unchanged if change.name == "review")
    assert review.p_value >= LEVEL
    assert len(review.findings) == 1


def test_texts_that_are_gone_are_a_change(known: tuple[pl.DataFrame, np.ndarray]) -> None:
    few = pl.when(pl.int_range(pl.len()) % 3 == 0).then(pl.lit("")).otherwise("review")
    found = first(known, few.alias("review")).findings
    gaps = numbers_of(found, ColumnFindings.GAPS_IN_TEXTS_MOVED)
    assert gaps == {"share": pytest.approx(0.334), "expected": 0.0}


def test_columns_may_be_strings(known: tuple[pl.DataFrame, np.ndarray]) -> None:
    sample = sample_of(0.6, 500, seed=20)
    as_words = sample.with_columns(pl.col("x").fill_nan(None)).cast(pl.String)
    profile = training_profile(*known, [Column(n, KINDS[n], 0) for n in ("x", "shop", "member")])
    found = [
        what_changed(profile, SampleCells.of(profile, frame), [0.4, 0.6])
        for frame in (sample, as_words)
    ]
    assert found[0] == found[1]


def test_batches_are_compared_like_tables_of_their_own(
    known: tuple[pl.DataFrame, np.ndarray],
) -> None:
    sample = sample_of(0.6, 500, seed=20)
    profile = training_profile(*known, columns(sample))
    rows = np.random.default_rng(6).permutation(500)[:200]
    taken = SampleCells.of(profile, sample).take(rows)
    own = SampleCells.of(profile, sample[rows])
    for p in ([0.4, 0.6], [0.75, 0.25]):
        assert what_changed(profile, taken, p) == what_changed(profile, own, p)


def test_weights_are_counts(known: tuple[pl.DataFrame, np.ndarray]) -> None:
    frame, codes = known
    frame, codes = frame[:200], codes[:200]  # few enough for a threshold at every value
    twice = np.where(np.arange(200) < 100, 2.0, 1.0)
    copies = np.repeat(np.arange(200), twice.astype(int))
    weighed = training_profile(frame, codes, columns(frame), weights=twice)
    copied = training_profile(frame[copies], codes[copies], columns(frame))
    assert_allclose(weighed.items, copied.items)
    assert (weighed.sizes < copied.sizes).all()
    for one, other in zip(weighed.columns, copied.columns, strict=True):
        assert_allclose(one.gaps, other.gaps)
        if one.column.kind == NUMBER:
            assert_allclose(one.thresholds, other.thresholds)
            assert_allclose(one.at_most, other.at_most)
    sample = sample_of(0.6, 500, seed=20)
    cells = SampleCells.of(weighed, sample, weights=np.full(500, 3.0))
    assert what_changed(weighed, cells, [0.4, 0.6]) == what_changed(
        weighed, SampleCells.of(weighed, sample), [0.4, 0.6]
    )


def test_a_few_rows_tell_nothing(known: tuple[pl.DataFrame, np.ndarray]) -> None:
    assert changes(*known, sample_of(0.6, 9, seed=7), [0.4, 0.6]) == []
    assert changes(*known, sample_of(0.6, 10, seed=7).drop("x"), [0.4, 0.6]) != []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "label", "positive"),
    [
        ("bank_churn", "Exited", "1"),
        ("communities_crime", "high_violent_crime", "1"),
        ("hospital_readmission", "readmitted", "yes"),
        ("telco_churn", "Churn", "Yes"),
        ("weather_australia", "RainTomorrow", "Yes"),
    ],
)
def test_prior_shift_of_real_tables_is_no_change(
    name: str, label: str, positive: str, tables_dir: Path
) -> None:
    path = tables_dir / f"{name}.csv"
    if not path.is_file():
        pytest.skip(f"no table {path}; set QUANTSHIFT_TABLES to run this test")
    frame = pl.read_csv(path, infer_schema=False)
    codes = (frame[label] == positive).to_numpy().astype(np.int64)
    frame = frame.drop(label)
    features, _ = choose(frame)
    alarms = []
    for repeat in range(50):
        rng = generator(0, purpose="what changed in tables", table=name, repeat=repeat)
        order = rng.permutation(len(codes))
        train, others = np.split(order, [min(1500, len(order) // 2)])
        profile = training_profile(frame[train], codes[train], features)
        for p in (0.1, 0.5, 0.8):
            counts = rng.multinomial(300, [1 - p, p])
            rows = [others[codes[others] == k][:n] for k, n in enumerate(counts)]
            cells = SampleCells.of(profile, frame[np.concatenate(rows)])
            alarms.append(what_changed(profile, cells, [1 - p, p])[0].p_value < LEVEL)
    assert np.mean(alarms) <= 0.05 + 3 * 0.018


@pytest.mark.parametrize(("rare", "alike"), [(50, True), (60, False)])
def test_levels_expected_less_than_five_times_are_one(rare: int, alike: bool) -> None:
    """Of 10,000 rows and 1,000: of 50 rows 4.5 are expected, by both errors, of 60 rows 5.5."""
    codes = np.arange(10_000) % 2
    names = ["a", "b", "c", "d"]
    frame = pl.DataFrame({"shop": np.repeat(names, [5000, 5000 - 2 * rare, rare, rare])})
    sample = pl.DataFrame({"shop": np.repeat(names, [500, 500 - rare // 5, 0, rare // 5])})
    (change,) = changes(frame, codes, sample, [0.5, 0.5])
    assert (change.p_value > 0.99) == alike
