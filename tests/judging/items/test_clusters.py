"""Items in clusters, repeated ids and weights: rows that are not independent are not counted so."""

import numpy as np
import polars as pl
import pytest
from scipy import stats

from quantshift.errors import UserError
from quantshift.judging import judge
from quantshift.judging.designs.guessing import check_design
from quantshift.judging.designs.registry import design_named
from quantshift.judging.estimating.estimation import estimate
from quantshift.judging.findings import JudgeTableFindings
from quantshift.judging.items.clusters import (
    LabelledClusters,
    chances_by_cell,
    design_effect,
    labelled_together,
)
from quantshift.judging.items.judged_items import ExternalLabels, Settings
from tests.found import codes_of, numbers_of
from tests.judging.made import coded

SIZE = 5
ITEMS = Settings(of="items", insist=True)
POPULATION = Settings(of="population", insist=True)


def clustered(n_clusters=200, correlation=0.5, share=0.7, seed=0):
    """Verdicts, classes and clusters; errors and classes come together."""
    rng = np.random.default_rng(seed)

    def normal():
        own, shared = rng.normal(size=(n_clusters, SIZE)), rng.normal(size=(n_clusters, 1))
        return (np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * own).ravel()

    y = (normal() < stats.norm.ppf(share)).astype(int)
    right = normal() < stats.norm.ppf(0.85)
    return np.where(right, y, 1 - y), y, np.repeat(np.arange(n_clusters), SIZE)


def whole_clusters(y, clusters, n_labelled, rng):
    chosen = rng.choice(clusters.max() + 1, n_labelled, replace=False)
    return np.where(np.isin(clusters, chosen), y, -1)


def width(found):
    return float(found.shares.high[1] - found.shares.low[1])


def test_the_design_effect_of_copies_is_their_number():
    values = np.random.default_rng(0).normal(size=(30, 2))
    copies, clusters = np.repeat(values, 4, axis=0), np.repeat(np.arange(30), 4)
    labelled = LabelledClusters.of(clusters)
    assert (labelled.n, labelled.size) == (30, 4.0)
    effect = design_effect(copies, clusters, labelled, np.zeros(2))
    assert effect.ratio == pytest.approx(4 * 30 / 29)
    assert effect.freedom == pytest.approx(29)


def test_without_an_error_the_labels_of_a_cluster_count_as_one():
    clusters = np.repeat(np.arange(10), 4)
    effect = design_effect(np.zeros((40, 1)), clusters, LabelledClusters.of(clusters), np.ones(1))
    assert effect.ratio == pytest.approx(4)


def test_the_freedom_of_two_parts_is_that_of_their_sum():
    """Satterthwaite: of 10 clusters of labels and 60 of items."""
    few, many = np.full((10, 1), 3.0), np.ones((60, 1))
    labelled = LabelledClusters.of(np.arange(10))
    others = many, np.arange(60)
    effect = design_effect(few, np.arange(10), labelled, np.zeros(1), others=others)
    variances = np.array([90 * 10 / 9, 60 * 60 / 59])
    assert effect.ratio == pytest.approx(variances.sum() / 150)
    assert effect.freedom == pytest.approx(variances.sum() ** 2 / (variances**2 / [9, 59]).sum())
    nothing = design_effect(few, np.arange(10), labelled, np.zeros(1), others=(0 * many, others[1]))
    assert nothing.freedom == pytest.approx(9)


def test_few_clusters_have_the_quantile_of_student():
    factor = LabelledClusters(10, 5.0).student(0.95)
    assert factor == pytest.approx(2.2622 / 1.9600, abs=1e-4)
    assert LabelledClusters(1, 5.0).student(0.95) == np.inf


def test_whole_clusters_are_told_from_single_items():
    v, y, clusters = clustered()
    rng = np.random.default_rng(1)
    together = whole_clusters(y, clusters, 40, rng) >= 0
    one_by_one = np.isin(np.arange(1000), rng.choice(1000, 200, replace=False))
    for known, expected in ((together, True), (one_by_one, False)):
        assert labelled_together(known, clusters, chances_by_cell(known, v)) is expected


@pytest.mark.slow
@pytest.mark.parametrize("settings", [ITEMS, POPULATION], ids=["items", "population"])
def test_labels_of_whole_clusters_cover_as_often_as_they_should(settings):
    rng, inside, alone, n = np.random.default_rng(3), 0, 0, 150
    for seed in range(n):
        v, y, clusters = clustered(seed=seed)
        labels = whole_clusters(y, clusters, 40, rng)
        truth = y.mean() if settings.of_items else 0.7
        for use in (clusters, None):
            shares = estimate(coded(v, labels, clusters=use), "random", settings).shares
            covers = shares.low[1] <= truth <= shares.high[1]
            inside, alone = inside + (covers and use is not None), alone + (covers and use is None)
    # 95% less three standard errors; as independent rows they hold less often.
    assert inside / n > 0.95 - 3 * np.sqrt(0.95 * 0.05 / n)
    assert alone < inside


def test_single_items_of_clusters_are_a_random_sample_of_these_items():
    v, y, clusters = clustered()
    labels = np.where(np.isin(np.arange(1000), np.random.default_rng(5).choice(1000, 150)), y, -1)
    with_clusters, without = (
        estimate(coded(v, labels, clusters=use), "random", ITEMS) for use in (clusters, None)
    )
    assert width(with_clusters) == width(without)
    # For the population they are not: its clusters are a sample too.
    assert width(estimate(coded(v, labels, clusters=clusters), "random", POPULATION)) > width(
        estimate(coded(v, labels), "random", POPULATION)
    )


def test_clusters_of_one_item_change_nothing():
    v, y, _ = clustered()
    labels = np.where(np.arange(1000) < 100, y, -1)
    for settings in (ITEMS, POPULATION):
        alone = estimate(coded(v, labels, clusters=np.arange(1000)), "random", settings)
        assert width(alone) == width(estimate(coded(v, labels), "random", settings))


def test_labels_of_one_cluster_say_nothing_about_the_others():
    v, y, clusters = clustered()
    labels = np.where(clusters == 0, y, -1)
    shares = estimate(coded(v, labels, clusters=clusters), "random", ITEMS).shares
    assert "one cluster" in shares.no_estimate_reason
    assert (shares.low == 0).all()
    assert (shares.high == 1).all()


def test_clusters_elsewhere_widen_what_is_carried_over():
    v, _, _ = clustered()
    v2, y2, clusters2 = clustered(40, correlation=0.9, share=0.5, seed=7)
    none = np.full(1000, -1)
    alone = estimate(coded(v, none, external=ExternalLabels(y2, v2)), "elsewhere", ITEMS)
    there = ExternalLabels(y2, v2, clusters=clusters2 + 10_000)
    assert width(estimate(coded(v, none, external=there), "elsewhere", ITEMS)) > 1.3 * width(alone)


def test_honest_labels_of_clusters_are_seldom_refused():
    rng, refused, n = np.random.default_rng(11), 0, 300
    for seed in range(n):
        v, y, clusters = clustered(correlation=0.8, seed=seed)
        items = coded(v, whole_clusters(y, clusters, 30, rng), clusters=clusters)
        refused += not check_design(design_named("random"), items).ok
    # 2% plus three standard errors.
    assert refused / n <= 0.02 + 3 * np.sqrt(0.02 * 0.98 / n)


def table(n=300, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.7
    said = np.where(rng.random(n) < 0.85, truth, ~truth)
    labelled = np.isin(np.arange(n), rng.choice(n, 80, replace=False))
    human = pl.Series(np.where(truth, "pass", "fail"))
    return pl.DataFrame(
        {
            "id": [f"q{i}" for i in range(n)],
            "judge": np.where(said, "pass", "fail"),
            "human": human.set(pl.Series(~labelled), None),
            "views": rng.integers(1, 50, n),
        }
    )


ASKED = {"verdict": "judge", "label": "human", "labels": "random"}


def share(result):
    return next(s for s in result.overall.shares if s.label == "pass")


def test_rows_of_one_id_are_not_counted_twice():
    once = table()
    twice = pl.concat([once, once])
    counted, known = judge(twice, **ASKED), judge(twice, id="id", **ASKED)
    alone = share(judge(once, id="id", of="population", **ASKED))
    assert numbers_of(known.findings, JudgeTableFindings.REPEATED_IDS)["n"] == len(once)
    assert JudgeTableFindings.REPEATED_IDS not in codes_of(counted.findings)
    assert share(known).estimate == pytest.approx(alone.estimate)
    of_population = judge(twice, id="id", of="population", **ASKED)
    assert share(of_population).high - share(of_population).low == pytest.approx(
        alone.high - alone.low, rel=0.1
    )


def test_a_column_of_clusters_does_what_repeated_ids_do():
    twice = pl.concat([table(), table()])
    by_id, by_cluster = judge(twice, id="id", **ASKED), judge(twice, cluster="id", **ASKED)
    assert share(by_id) == share(by_cluster)
    assert by_cluster.findings == ()


@pytest.mark.parametrize("design", ["random", "by-verdict"])
def test_weights_give_the_shares_of_weighted_verdicts(design):
    frame = table()
    found = judge(frame, weights="views", insist=True, **{**ASKED, "labels": design})
    w, said = frame["views"].to_numpy(), frame["judge"].to_numpy()
    human = frame["human"].to_numpy()
    expected = 0.0
    for verdict in ("pass", "fail"):
        of = said == verdict
        labelled = of & np.array([h is not None for h in human])
        right = w[labelled & (human == "pass")].sum() / w[labelled].sum()
        expected += w[of].sum() / w.sum() * right
    assert share(found).estimate == pytest.approx(expected)
    alike = judge(frame.with_columns(views=pl.lit(3)), weights="views", **ASKED)
    assert share(alike) == share(judge(frame, **ASKED))


def test_weights_count_in_every_design():
    frame = table()
    moved = frame.with_columns(views=pl.when(pl.col("judge") == "pass").then(9).otherwise(1))
    for design in ("random", "by-verdict", "by-label", "elsewhere"):
        asked = {**ASKED, "labels": design, "insist": True}
        assert share(judge(moved, weights="views", **asked)).low > share(judge(moved, **asked)).low
    rates = {"verdict": "judge", "sensitivity": 0.9, "specificity": 0.8, "positive": "pass"}
    assert share(judge(moved, weights="views", **rates)).low > share(judge(moved, **rates)).low


@pytest.mark.parametrize(
    ("weights", "line"),
    [(["x", *["1"] * 299], "row 1: the weight 'x'"), ([0] * 300, "all weights are 0")],
)
def test_weights_that_are_none_are_refused_in_a_line(weights, line):
    frame = table().with_columns(views=pl.Series(weights))
    with pytest.raises(UserError, match=line):
        judge(frame, weights="views", **ASKED)
