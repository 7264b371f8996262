"""Plans for items in clusters and with weights: what they foresee is what the labels give."""

import numpy as np
import polars as pl
import pytest
from scipy import stats

from quantshift.errors import UserError
from quantshift.judging import judge, plan_judge
from quantshift.judging.designs.parts.plan_strata import strata_by_verdict
from quantshift.judging.estimating.estimation import estimate
from quantshift.judging.items.judged_items import KnownDraw, Settings
from quantshift.judging.plans.plan_clusters import ASSUMED_CORRELATION, PlanClusters
from quantshift.judging.plans.planning import Goal, plan
from tests.judging.made import coded

SIZE = 5


def clustered(n_clusters=200, correlation=0.5, seed=0):
    """Verdicts, classes and clusters; errors and classes come together."""
    rng = np.random.default_rng(seed)

    def normal():
        own, shared = rng.normal(size=(n_clusters, SIZE)), rng.normal(size=(n_clusters, 1))
        return (np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * own).ravel()

    y = (normal() < stats.norm.ppf(0.7)).astype(int)
    right = normal() < stats.norm.ppf(0.85)
    return np.where(right, y, 1 - y), y, np.repeat(np.arange(n_clusters), SIZE)


def whole(y, clusters, n):
    """Labels of the first clusters."""
    return np.where(clusters < n, y, -1)


def clusters_of(v, labels, clusters):
    items = coded(v, labels, clusters=clusters)
    strata = strata_by_verdict(items)
    return PlanClusters.of(items, strata.codes, strata.rates)


def test_whole_clusters_are_drawn_one_after_the_other():
    v, _, clusters = clustered()
    found = plan(coded(v, np.full(1000, -1), clusters=clusters), Goal(n_labels=100))
    assert found.n_clusters == 20
    assert found.inclusion == pytest.approx(np.full(1000, 0.1))
    drawn = clusters[found.items].reshape(20, SIZE)
    assert (drawn == drawn[:, :1]).all()
    assert len(set(drawn[:, 0].tolist())) == 20


def test_without_labels_the_correlation_is_an_assumption():
    v, _, clusters = clustered()
    found = clusters_of(v, np.full(1000, -1), clusters)
    assert (found.correlation, found.n_seen) == (ASSUMED_CORRELATION, 0)
    assert found.effect == pytest.approx(1 + 4 * ASSUMED_CORRELATION)


def test_the_correlation_of_copies_is_one_as_far_as_the_assumption_allows():
    v, y, _ = clustered(correlation=0.0)
    copies, clusters = np.repeat(v[:200], SIZE), np.repeat(np.arange(200), SIZE)
    found = clusters_of(copies, np.repeat(y[:200], SIZE), clusters)
    # 200 clusters with a correlation of 1, and 10 with the assumed one.
    assert found.correlation == pytest.approx((200 + 10 * ASSUMED_CORRELATION) / 210, abs=1e-6)
    assert found.n_seen == 200


def test_independent_errors_have_hardly_a_correlation():
    v, y, clusters = clustered(n_clusters=400, correlation=0.0)
    assert clusters_of(v, y, clusters).correlation < 0.05


def test_a_plan_of_clusters_meets_the_precision_that_it_promises():
    halves = []
    for seed in range(8):
        v, y, clusters = clustered(n_clusters=400, seed=seed)
        labels = whole(y, clusters, 40)
        found = plan(coded(v, labels, clusters=clusters), Goal(precision=0.05))
        assert found.half_width <= 0.051
        labels[found.items] = y[found.items]
        judged = estimate(coded(v, labels, clusters=clusters), "random", Settings(insist=True))
        halves.append((judged.shares.high - judged.shares.low)[1] / 2)
    assert np.mean(halves) == pytest.approx(0.05, rel=0.12)


def test_single_items_do_with_fewer_labels_than_whole_clusters():
    v, y, clusters = clustered()
    labels = whole(y, clusters, 40)
    found = plan(coded(v, labels, clusters=clusters), Goal(precision=0.05))
    assert found.n_random < 0.8 * (200 + len(found.items))
    of_population = plan(
        coded(v, labels, clusters=clusters),
        Goal(precision=0.05),
        settings=Settings(of="population"),
    )
    assert len(of_population.items) > len(found.items)


def test_a_cluster_that_is_labelled_in_part_comes_first():
    v, y, clusters = clustered()
    labels = whole(y, clusters, 10)
    labels[50:52] = y[50:52]
    found = plan(coded(v, labels, clusters=clusters), Goal(n_labels=30))
    assert found.items[:3].tolist() == [52, 53, 54]
    assert (np.bincount(clusters[found.items])[clusters[found.items[3:]]] == SIZE).all()


@pytest.mark.parametrize(
    ("n_labels", "how", "line"),
    [(8, None, "less than 2 whole clusters"), (100, "by-verdict", "draws single items")],
)
def test_what_whole_clusters_cannot_do_is_refused(n_labels, how, line):
    v, _, clusters = clustered()
    items = coded(v, np.full(1000, -1), clusters=clusters)
    with pytest.raises(UserError, match=line):
        plan(items, Goal(n_labels=n_labels), how=how)


def test_a_few_more_labels_are_at_least_a_whole_cluster():
    v, y, clusters = clustered()
    labels = whole(y, clusters, 10)
    found = plan(coded(v, labels, clusters=clusters), Goal(n_labels=1))
    assert (found.n_clusters, len(found.items)) == (1, SIZE)
    assert found.inclusion[0] == pytest.approx(11 / 200)
    precise = plan(coded(v, labels, clusters=clusters), Goal(precision=0.5))
    assert len(precise.items) % SIZE == 0


def test_rows_of_one_id_are_drawn_one_by_one_unless_clusters_are_named():
    v, y, clusters = clustered()
    frame = table(v, y, clusters, np.ones(1000)).drop("truth", "views")
    asked = {"verdict": "judge", "label": "human", "n_labels": 100}
    assert plan_judge(frame, id="question", **asked).plan.how == "by-verdict"
    assert plan_judge(frame, cluster="question", **asked).plan.n_clusters == 20


def test_labels_of_single_items_are_no_labels_of_clusters():
    v, y, clusters = clustered()
    labels = np.where(np.arange(1000) % SIZE == 0, y, -1)
    with pytest.raises(UserError, match="some of their items only"):
        plan(coded(v, labels, clusters=clusters), Goal(n_labels=100))


def test_the_labels_needed_for_half_the_width_halve_it():
    ratios = []
    for seed in range(8):
        v, y, clusters = clustered(n_clusters=400, seed=seed)
        first = estimate(coded(v, whole(y, clusters, 20), clusters=clusters), "random")
        assert first.clusters_for_half_width == np.ceil(first.labels_for_half_width / SIZE)
        then = whole(y, clusters, first.clusters_for_half_width)
        second = estimate(coded(v, then, clusters=clusters), "random", Settings(insist=True))
        widths = [found.shares.high[1] - found.shares.low[1] for found in (second, first)]
        ratios.append(widths[0] / widths[1])
    assert np.mean(ratios) == pytest.approx(0.5, abs=0.06)


def weighted(seed, n=2000):
    """Verdicts, classes and weights of which a few are heavy."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.7).astype(int)
    v = np.where(rng.random(n) < 0.85, y, 1 - y)
    return v, y, rng.lognormal(sigma=1.5, size=n)


def by_plan(v, y, w, found):
    labels = np.full(len(y), -1)
    labels[found.items] = y[found.items]
    inclusion = np.where(labels >= 0, found.inclusion, np.nan)
    return estimate(coded(v, labels, weights=w, drawn=KnownDraw(inclusion))).shares


@pytest.mark.slow
def test_heavy_items_are_labelled_and_the_interval_is_narrower_for_it():
    halves = {"by-verdict": [], "random": []}
    inside, foreseen = 0, []
    for seed in range(40):
        v, y, w = weighted(seed)
        for how, found_halves in halves.items():
            items = coded(v, np.full(2000, -1), weights=w)
            found = plan(items, Goal(n_labels=200), how=how)
            shares = by_plan(v, y, w, found)
            found_halves.append((shares.high - shares.low)[1] / 2)
            if how == "by-verdict":
                assert w[found.items].mean() > 1.5 * w.mean()
                foreseen.append(found.half_width)
                truth = w @ y / w.sum()
                inside += bool(shares.low[1] <= truth <= shares.high[1])
    assert np.mean(halves["by-verdict"]) < 0.75 * np.mean(halves["random"])
    assert inside >= 35
    # It has to guess how often the judge errs, which is too little here: .1 for .15.
    assert np.mean(halves["by-verdict"]) == pytest.approx(np.mean(foreseen), rel=0.6)


def test_random_labels_for_the_same_count_by_their_weight():
    v, _, w = weighted(0)
    none = np.full(2000, -1)
    found = plan(coded(v, none, weights=w), Goal(n_labels=200), how="by-verdict")
    assert found.n_random > 1.5 * 200
    alike = plan(coded(v, none, weights=np.ones(2000)), Goal(n_labels=200), how="by-verdict")
    without = plan(coded(v, none), Goal(n_labels=200), how="by-verdict")
    assert alike.names == without.names
    assert alike.half_width == pytest.approx(without.half_width)


def test_random_items_of_a_plan_are_helped_by_their_verdicts():
    v, y, _ = clustered(correlation=0.0)
    found = plan(coded(v, np.full(1000, -1)), Goal(n_labels=200), how="random")
    labels = np.full(1000, -1)
    labels[found.items] = y[found.items]
    drawn = KnownDraw(np.where(labels >= 0, found.inclusion, np.nan))
    planned = estimate(coded(v, labels, drawn=drawn)).shares
    random = estimate(coded(v, labels), "random").shares
    assert planned.low == pytest.approx(random.low)
    assert planned.high == pytest.approx(random.high)


def table(v, y, clusters, w):
    names = np.array(["bad", "good"])
    return pl.DataFrame({"question": clusters, "judge": names[v], "truth": names[y], "views": w})


def test_sheets_of_whole_clusters_are_judged_with_their_clusters(tmp_path):
    v, y, clusters = clustered()
    frame = table(v, y, clusters, np.ones(1000)).drop("views")
    bare = frame.drop("truth")
    asked = {"verdict": "judge", "label": "human", "cluster": "question"}
    sheet = plan_judge(bare, n_labels=150, **asked)
    sheet.write(tmp_path / "sheet.csv")
    filled = pl.read_csv(tmp_path / "sheet.csv")
    filled = filled.with_columns(human=frame["truth"].gather(filled["item"] - 1))
    found = judge(bare, labelled=filled, **asked)
    alone = judge(bare, labelled=filled, verdict="judge", label="human")
    assert found["good"].high - found["good"].low > 1.15 * (alone["good"].high - alone["good"].low)
    assert f"in {found.overall.clusters_for_half_width:,} clusters" in found.to_text(details=True)
    more = plan_judge(bare, labelled=filled, precision=0.03, **asked)
    assert more.plan.clusters.n_seen == 30


def test_weights_of_a_sheet_are_those_of_the_table(tmp_path):
    v, y, w = weighted(3)
    frame = table(v, y, np.arange(2000), w)
    bare, asked = frame.drop("truth"), {"verdict": "judge", "label": "human", "weights": "views"}
    plan_judge(bare, n_labels=300, **asked).write(tmp_path / "sheet.csv")
    filled = pl.read_csv(tmp_path / "sheet.csv")
    filled = filled.with_columns(human=frame["truth"].gather(filled["item"] - 1))
    found = judge(bare, labelled=filled, **asked)["good"]
    assert found.low <= w @ y / w.sum() <= found.high
    assert found.high - found.low < 0.12
