"""Labels of other items: implied by a table of their own, or stated."""

import numpy as np
import polars as pl
import pytest

from quantshift.errors import DataError, UserError
from quantshift.judging import judge
from quantshift.judging.designs.parts.judge_quality import cohens_kappa
from quantshift.judging.estimating.estimation import estimate
from quantshift.judging.items.judged_items import ExternalLabels, Settings
from tests.judging.made import coded


def older(n=200, seed=5):
    """Other items, half of them of each class, with the judge of the fixture."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.5).astype(int)
    return ExternalLabels(y, np.where(rng.random(n) < np.where(y == 1, 0.95, 0.8), y, 1 - y))


def test_a_table_of_its_own(judging):
    none = np.full(2000, -1)
    found = estimate(coded(judging.verdicts, none, external=older()))
    assert found.design.name == "elsewhere"
    assert found.shares.low[1] <= judging.y.mean() <= found.shares.high[1]
    # A verdict does not mean the same where classes have other shares.
    rates, verdicts = found.shares.alternatives
    assert (verdicts.low <= verdicts.high).all()
    assert verdicts.high[1] < rates.high[1]
    assert (found.n_items, found.n_labelled) == (2000, 200)
    with pytest.raises(UserError, match="is elsewhere, not random: leave it out"):
        estimate(coded(judging.verdicts, none, external=older()), "random")


def test_kappa_is_that_of_the_labelled_items_whatever_the_shares_here():
    other = older()
    among_labelled = cohens_kappa(
        np.histogram2d(other.labels, other.verdicts, bins=2)[0], ordered=False
    )
    rng = np.random.default_rng(3)
    for share in (0.05, 0.5, 0.97):
        y = (rng.random(1000) < share).astype(int)
        said = np.where(rng.random(1000) < np.where(y == 1, 0.95, 0.8), y, 1 - y)
        for assume in ("auto", "rates", "verdicts"):
            settings = Settings(assume=assume)
            (judge,) = estimate(
                coded(said, np.full(1000, -1), external=other), None, settings
            ).judges
            assert judge.kappa == pytest.approx(float(among_labelled), abs=1e-12)
            assert judge.kappa_low < judge.kappa < judge.kappa_high


def test_a_declared_assumption_has_both_beside_it_and_holds_where_the_other_fits_nothing():
    none = np.full(400, -1)
    # More wrong verdicts than any shares give: rates do not carry over, verdicts may.
    for assume, known in (("auto", False), ("rates", False), ("verdicts", True)):
        found = estimate(
            coded(np.zeros(400, int), none, external=older()), None, Settings(assume=assume)
        )
        assert bool(found.shares.no_estimate_reason) is not known
        assert [a.assumption[-10:] for a in found.shares.alternatives] == ["(verdicts)"]
        assert "Nothing in the data" not in found.check.sentence or known
    y = np.arange(400) % 2
    for assume in ("rates", "verdicts"):
        found = estimate(coded(y, none, external=older()), None, Settings(assume=assume))
        shown = {
            a.assumption.split("(")[1][:-1]: (a.low[1], a.high[1])
            for a in found.shares.alternatives
        }
        assert set(shown) == {"rates", "verdicts"}
        assert shown[assume] == pytest.approx((found.shares.low[1], found.shares.high[1]))


def test_items_of_the_table_itself_are_not_part_of_the_sample(judging):
    found = estimate(coded(judging.verdicts, judging.by_label(200)), "elsewhere")
    assert found.n_items == 1800
    assert found.shares.influence.shape == (1800, 2)


def test_scores_that_take_the_place_of_verdicts_are_needed_elsewhere_too(judging):
    none = np.full(2000, -1)
    with pytest.raises(DataError, match="labelled elsewhere need a score"):
        coded(None, none, score=judging.score, external=older())
    other = ExternalLabels(judging.y[:200], score=judging.score[:200])
    found = estimate(coded(None, none, score=judging.score, external=other))
    assert found.shares.low[1] <= judging.y.mean() <= found.shares.high[1]
    assert found.judges == ()


@pytest.mark.parametrize(("right", "end"), [(0, 0), (400, 1)])
def test_limits_reach_0_and_1_where_there_may_be_none_of_a_class(right, end):
    """All of 400 items are of one class: the interval ended .0003 before 0 or 1."""
    rng = np.random.default_rng(1)
    passed = rng.binomial(right, 0.9) + rng.binomial(400 - right, 0.3)
    verdicts = ["right"] * passed + ["wrong"] * (400 - passed)
    known = [("right", "right")] * 225 + [("wrong", "right")] * 25
    known += [("wrong", "wrong")] * 175 + [("right", "wrong")] * 75
    labelled = pl.DataFrame(known, schema=["judge", "human"], orient="row")
    answer = judge(
        pl.DataFrame({"judge": verdicts}),
        verdict="judge",
        label="human",
        labelled=labelled,
        positive="right",
        assume="rates",
        of="population",
    )
    (share,) = (s for s in answer.overall.shares if s.label == "right")
    assert (share.low if end == 0 else share.high) == end
    assert 0.02 < share.high - share.low < 0.2
