import matplotlib.cbook
import numpy as np
import polars as pl
import pytest

from quantshift.errors import UserError
from quantshift.lab.analysis import summarise, with_errors
from tests.outcomes import vector_outcomes

POINTS = [
    {"p_train": p_train, "p_test": 0.3, "degree": round(0.3 - p_train, 1)}
    for p_train in (0.1, 0.5, 0.9)
]


def clustered(n_cells, *, rng, n_strata=1, between=0.05, within=0.01, size=20):
    """Errors with an effect of the training set; `size` samples per training set."""
    effect = rng.normal(0, between, (n_strata, n_cells, 1))
    level = np.linspace(0.1, 0.5, n_strata)[:, None, None]
    error = level + effect + rng.normal(0, within, (n_strata, n_cells, size))
    stratum, cell, _ = np.indices(error.shape)
    return pl.DataFrame(
        {
            "experiment": "prior",
            "method": "M",
            "dataset": "reviews",
            "stratum": stratum.ravel(),
            "cell": [f"{s}-{c}" for s, c in zip(stratum.ravel(), cell.ravel(), strict=True)],
            "error": error.ravel(),
            "signed": error.ravel(),
        }
    )


def test_boxes_are_those_of_matplotlib(outcomes):
    frame = with_errors(outcomes({"A": 0.1, "B": 0.02}, points=POINTS, noise=0.05, seed=3))
    summary = summarise(frame, ["p_train", "method"])
    assert len(summary) == 6
    for row in summary.iter_rows(named=True):
        own = frame.filter(
            (pl.col("p_train") == row["p_train"]) & (pl.col("method") == row["method"])
        )
        box = matplotlib.cbook.boxplot_stats(own["error"].to_numpy())[0]
        expected = [box[name] for name in ("mean", "med", "q1", "q3", "whislo", "whishi")]
        ours = [row[k] for k in ("mean", "median", "q1", "q3", "whisker_low", "whisker_high")]
        np.testing.assert_allclose(ours, expected)
        assert row["n"] == len(own)
        assert row["training_sets"] == 3
        assert row["bias"] == pytest.approx(own["signed"].mean())


def test_whiskers_never_lie_inside_the_box():
    frame = clustered(1, rng=np.random.default_rng(0), size=4).with_columns(
        error=pl.Series([0.0, 10.0, 11.0, 12.0])
    )
    box = summarise(frame, ["method"]).row(0, named=True)
    assert box["q1"] == box["whisker_low"] == 7.5


def test_limits_have_the_width_of_the_cluster_means():
    # With equal clusters the standard error of the mean is sd(cluster means) / sqrt(K).
    frame = clustered(40, rng=np.random.default_rng(1))
    row = summarise(frame, ["method"], n_bootstrap=4000).row(0, named=True)
    means = frame.group_by("cell").agg(pl.col("error").mean())["error"].to_numpy()
    width = 2 * 1.96 * means.std(ddof=1) / np.sqrt(len(means))
    assert row["high"] - row["low"] == pytest.approx(width, rel=0.06)
    assert (row["high"] + row["low"]) / 2 == pytest.approx(row["mean"], abs=0.1 * width)


def test_limits_ignore_differences_between_points_of_the_grid():
    # The strata lie far apart (0.1 to 0.5); only the spread within them is chance.
    frame = clustered(10, n_strata=5, rng=np.random.default_rng(2))
    row = summarise(frame, ["method"], n_bootstrap=4000).row(0, named=True)
    means = frame.group_by("stratum", "cell").agg(pl.col("error").mean())
    within = means.group_by("stratum").agg(pl.col("error").var())["error"].mean()
    assert row["high"] - row["low"] == pytest.approx(2 * 1.96 * np.sqrt(within / 50), rel=0.08)


def test_single_training_sets_per_point_are_resampled_together():
    frame = clustered(1, n_strata=8, rng=np.random.default_rng(2))
    row = summarise(frame, ["method"], n_bootstrap=4000).row(0, named=True)
    means = frame.group_by("cell").agg(pl.col("error").mean())["error"].to_numpy()
    width = 2 * 1.96 * means.std(ddof=1) / np.sqrt(8)
    assert row["high"] - row["low"] == pytest.approx(width, rel=0.15)


def test_one_training_set_has_no_limits(outcomes):
    row = summarise(outcomes({"A": 0.1}, train_repeats=1), ["method"]).row(0, named=True)
    assert (row["low"], row["high"]) == (None, None)
    assert row["mean"] == pytest.approx(0.1)


def test_unequal_clusters_weigh_by_their_size():
    rng = np.random.default_rng(5)
    frame = pl.concat([clustered(6, rng=rng), clustered(1, rng=rng, size=500)])
    row = summarise(frame, ["method"]).row(0, named=True)
    assert row["mean"] == pytest.approx(frame["error"].mean())
    assert row["low"] < row["mean"] < row["high"]


@pytest.mark.slow
def test_limits_cover_the_mean_about_as_often_as_they_say():
    hits = 0
    for seed in range(400):
        frame = clustered(10, n_strata=3, rng=np.random.default_rng(seed), size=5)
        row = summarise(frame, ["method"], n_bootstrap=500).row(0, named=True)
        hits += row["low"] <= 0.3 <= row["high"]
    # Ten per point: a little too narrow (percentiles of a t-like spread), never grossly so.
    assert 0.90 <= hits / 400 <= 0.975


def test_the_order_of_rows_does_not_matter(outcomes):
    frame = outcomes({"A": 0.1, "B": 0.02}, points=POINTS, noise=0.05)
    shuffled = frame.sample(fraction=1.0, shuffle=True, seed=1)
    one, other = (summarise(f, ["degree", "method"]) for f in (frame, shuffled))
    for name in one.columns:
        if one.schema[name] == pl.Float64:
            np.testing.assert_allclose(one[name], other[name], atol=1e-12)
        else:
            assert one[name].to_list() == other[name].to_list()


def test_seed_changes_limits_only(outcomes):
    frame = outcomes({"A": 0.1}, points=POINTS, noise=0.05)
    one, other = (summarise(frame, ["method"], seed=seed) for seed in (0, 1))
    assert one["mean"].to_list() == other["mean"].to_list()
    assert one["low"].to_list() != other["low"].to_list()


def test_wider_confidence_wider_limits(outcomes):
    frame = outcomes({"A": 0.1}, points=POINTS, noise=0.05)
    narrow, wide = (
        summarise(frame, ["method"], confidence=c).row(0, named=True) for c in (0.5, 0.99)
    )
    assert wide["low"] < narrow["low"] < narrow["high"] < wide["high"]


def test_groups_with_null_coordinates_keep_their_limits(outcomes):
    frame = outcomes({"A": 0.1}, noise=0.01)
    row = summarise(frame, ["alpha_train", "method"]).row(0, named=True)
    assert row["alpha_train"] is None
    assert row["low"] < row["high"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": ["colour"]}, "unknown result column 'colour'"),
        ({"by": []}, "at least one column"),
        ({"by": ["method"], "confidence": 95}, "between 0 and 1"),
        ({"by": ["method"], "n_bootstrap": 0}, "at least one resample"),
    ],
)
def test_wrong_options(outcomes, options, message):
    with pytest.raises(UserError, match=message):
        summarise(outcomes({"A": 0.1}), **options)


def test_training_sets_of_two_data_sets_are_resampled_apart(outcomes):
    # Equal cells on data sets that differ: the spread between the sets is not chance.
    frames = [outcomes({"A": error}, dataset=name) for name, error in (("one", 0.1), ("two", 0.4))]
    row = summarise(pl.concat(frames), ["method"]).row(0, named=True)
    assert row["training_sets"] == 6
    assert row["low"] == pytest.approx(row["high"]) == pytest.approx(0.25)


def test_more_than_two_classes_have_no_bias_in_one_number():
    row = summarise(vector_outcomes({"A": 0.1}), ["method"]).row(0, named=True)
    assert row["bias"] is None
    assert row["mean"] == pytest.approx(0.2 / 3, abs=0.01)
