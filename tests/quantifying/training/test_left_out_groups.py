"""Groups of the training table, each left out in turn."""

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from quantshift.answers.columns import LeftOutColumn
from quantshift.claims import Assumption, Kind
from quantshift.errors import DataError, UserError
from quantshift.quantifying import load_model, quantify, save_model, train
from quantshift.quantifying.findings import GroupFindings
from quantshift.quantifying.group_errors import groups_text
from quantshift.quantifying.training import left_out_groups
from quantshift.quantifying.training.groups import _sides
from quantshift.quantifying.training.left_out_groups import reach

FAST = {"replicates": 100}
LEARN = {"label": "relapse", "classifier": "logistic"}


def causes(n, *, move=0.0, seed=0):
    """An outcome that follows from two columns: P(Y|X) is always the same."""
    rng = np.random.default_rng(seed)
    income, age = rng.normal(move, 1, n), rng.normal(size=n)
    p = 1 / (1 + np.exp(-(1.5 * income - 0.5 * age - 1)))
    relapse = np.where(rng.random(n) < p, "yes", "no")
    return pl.DataFrame({"income": income, "age": age, "relapse": relapse})


def regions(names=("a", "b", "c", "d"), n=200):
    """A group for each name; they differ in income."""
    parts = [
        causes(n, move=1.5 * i - 1.5, seed=i).with_columns(region=pl.lit(name))
        for i, name in enumerate(names)
    ]
    return pl.concat(parts)


@pytest.fixture(scope="module")
def model():
    return train(regions(), groups="region", **LEARN)


@pytest.mark.slow
def test_each_group_is_estimated_by_models_that_have_not_seen_it(model):
    told = model.groups
    assert (told.column, told.design, told.method) == ("region", "leave-one-out", "GuardedSLD")
    assert [group.name for group in told.groups] == ["a", "b", "c", "d"]
    table = regions()
    for group in told.groups:
        own = table.filter(pl.col("region") == group.name)
        assert group.n_items == 200
        assert group.n_trained == 600
        assert group.prevalence["yes"] == pytest.approx((own["relapse"] == "yes").mean())
        for method, shares in group.estimates.items():
            assert sum(shares.values()) == pytest.approx(1)
            error = abs(shares["yes"] - group.prevalence["yes"])
            assert group.errors[method] == pytest.approx(error)
        others = table.filter(pl.col("region") != group.name)
        p_others = (others["relapse"] == "yes").mean()
        assert group.estimates["MLPE"]["yes"] == pytest.approx(p_others)
    # Causes of the label: covariate shift by construction.
    assert told.errors["PCC"] < 0.06 < told.errors["MLPE"]
    assert told.errors["PCC"] < told.errors["SLD"]
    assert list(told.errors) == ["MLPE", "CC", "PCC", "PACC", "SLD", "SubclassSLD", "GuardedSLD"]


def test_the_column_is_no_feature(model):
    assert "region" not in model.columns.content
    (reason,) = (c.reason for c in model.columns.left_out if c.name == "region")
    assert reason == "the groups that are left out in turn"


@pytest.mark.slow
def test_the_errors_reach_every_output(model, tmp_path):
    sample = causes(300, move=1.5, seed=9).drop("relapse")
    found = quantify(sample, model=model, **FAST)
    told = found.to_text(details=True)
    assert "Groups   On your own 'region' (4 groups, each left out in turn) GuardedSLD" in told
    assert "mean error" in told
    written = json.loads(found.to_json())["groups"]
    assert written["errors"] == pytest.approx(dict(model.groups.errors))
    frame = found.groups.to_frame()
    assert len(frame) == 4 * 7 * 2
    by_method = frame[frame["class"] == "yes"].groupby("method")["error"].mean()
    assert by_method["PCC"] == pytest.approx(model.groups.errors["PCC"])
    page = found.page()
    assert 'id="plot-groups"' in page
    assert 'id="plot-left-out"' in page
    assert "The others are too few to give a range." in page
    assert groups_text(model.groups).split(" (")[1] in page
    axes = found.groups.plot()
    assert [t.get_text() for t in axes.get_yticklabels()][-1] != "PCC"
    save_model(model, tmp_path / "m")
    assert load_model(tmp_path / "m").groups == model.groups
    assert quantify(sample, model=load_model(tmp_path / "m"), groups="region", **FAST) == found


@pytest.mark.slow
def test_after_a_refutation_the_range_is_as_wide_as_the_errors(model):
    sample = causes(600, move=2.0, seed=2).drop("relapse")
    worse = tuple(
        replace(g, estimates={**g.estimates, "PCC": {"no": 0.0, "yes": 1.0}})
        for g in model.groups.groups
    )
    plain = replace(model, groups=None)
    without, usual, wide = (
        quantify(sample, model=m, **FAST).batches[0]
        for m in (plain, model, replace(model, groups=replace(model.groups, groups=worse)))
    )
    assert without.kind == "range"
    for narrow, wider in ((without, usual), (usual, wide)):
        for inner, outer in zip(narrow.shares, wider.shares, strict=True):
            assert outer.low <= inner.low
            assert outer.high >= inner.high
    distance = max(1 - g.prevalence["yes"] for g in worse)
    assert wide.shares[1].low == pytest.approx(max(without.shares[1].estimate - distance, 0))
    assert wide.kind == Kind.CANNOT
    assert "errors as large as on your own 'region'" in usual.basis


@pytest.mark.slow
def test_the_errors_are_those_of_the_method_that_the_estimate_rests_on(model, monkeypatch):
    """Where it lies between PCC and SubclassSLD, they are what GuardedSLD did on the groups."""
    sample = causes(600, move=2.0, seed=2).drop("relapse")

    def width(method):
        worse = tuple(
            replace(g, estimates={**g.estimates, method: {"no": 0.0, "yes": 1.0}})
            for g in model.groups.groups
        )
        changed = replace(model, groups=replace(model.groups, groups=worse))
        batch = quantify(sample, model=changed, **FAST).batches[0]
        names = [alternative.assumption for alternative in batch.alternatives]
        return batch.shares[1].high - batch.shares[1].low, names

    by_pcc, names = width("PCC")
    assert by_pcc > width("GuardedSLD")[0]
    assert names[:2] == ["covariate", "prior"]
    after = "quantshift.quantifiers.likelihood.guarded_sld.AFTER_REFUTATION"
    monkeypatch.setattr(after, {"columns": Assumption.BETWEEN})
    by_both, names = width("GuardedSLD")
    assert by_both > width("PCC")[0]
    assert "between" in names


def test_the_quantile_is_the_conformal_one(model):
    (group, *_) = model.groups.groups

    def at(errors):
        shares = [{"no": 0.5 + e, "yes": 0.5 - e} for e in errors]
        half = {"no": 0.5, "yes": 0.5}
        made = tuple(replace(group, prevalence=half, estimates={"PCC": s}) for s in shares)
        return reach(replace(model.groups, groups=made), "PCC", 0.95)

    assert at([0.1, 0.3, 0.2]) == pytest.approx([0.3, 0.3])
    # Of 39 errors the 38th smallest: ceil(40 x 0.95).
    assert at(np.arange(1, 40) / 100) == pytest.approx([0.38, 0.38])


def test_nothing_is_learnt_from_the_future():
    table = regions(("2019", "2020", "2021"), n=120)
    told = train(table, time="region", **LEARN).groups
    assert told.design == "forward"
    assert [(g.name, g.n_trained) for g in told.groups] == [("2020", 120), ("2021", 240)]
    assert "(2 years, each estimated from those before it)" in groups_text(told)


def test_years_are_groups_unless_they_are_named_as_time():
    told = train(regions(("2019", "2020", "2021"), n=120), groups="region", **LEARN).groups
    assert told.design == "leave-one-out"
    assert [(g.name, g.n_trained) for g in told.groups] == [
        ("2019", 240),
        ("2020", 240),
        ("2021", 240),
    ]


def test_numbered_periods_are_times_if_they_are_named_so(tmp_path):
    """Other than groups, they are in order, and those of few rows are joined."""
    waves = regions(("2", "10", "9"), n=120).rename({"region": "wave"})
    told = train(waves, time="wave", **LEARN).groups
    assert (told.design, told.noun) == ("forward", "period")
    assert [(g.name, g.n_trained) for g in told.groups] == [("9", 120), ("10", 240)]
    assert "(2 periods, each estimated from those before it)" in groups_text(told)
    days = causes(240).with_columns(day=pl.Series(np.arange(240) // 2))
    model = train(days, time="day", **LEARN)
    # A day has two rows, and a twelfth of them twenty, which are too few.
    assert [g.name for g in model.groups.groups][-1] == "100 to 119"
    assert {g.n_items for g in model.groups.groups} == {40}
    assert model.columns.left_out == (
        LeftOutColumn("day", "the times, each estimated from those before it"),
    )


@pytest.mark.slow
def test_dates_are_put_together():
    days = np.datetime64("2024-01-01") + np.arange(480) // 2
    table = causes(480).with_columns(day=pl.Series(days))
    told = train(table, groups="day", **LEARN).groups
    # 240 days are one year and three quarters, but eight months.
    assert (told.design, told.every) == ("forward", "month")
    assert told.groups[0].name == "2024-02"
    assert told.groups[-1].n_trained > 400


def test_small_groups_are_one_and_many_are_not_all_tried(monkeypatch):
    monkeypatch.setattr(left_out_groups, "MOST_GROUPS", 2)
    table = pl.concat(
        [
            regions(),
            causes(20, seed=7).with_columns(region=pl.lit("e")),
            causes(25, seed=8).with_columns(region=pl.lit("f")),
            causes(5, seed=9).with_columns(region=pl.lit(None, dtype=pl.String)),
        ]
    )
    told = train(table, groups="region", **LEARN).groups
    assert len(told.groups) == 2
    assert told.findings == (
        GroupFindings.ROWS_WITHOUT_GROUP.found(n=5),
        GroupFindings.GROUPS_POOLED.found(n=2, fewest=30, name="(small groups)"),
        GroupFindings.LARGEST_GROUPS.found(n=2, n_groups=5),
    )


def test_long_groups_are_sampled(monkeypatch):
    monkeypatch.setattr(left_out_groups, "MOST_ROWS", 150)
    told = train(regions(), groups="region", **LEARN).groups
    assert {(g.n_items, g.n_trained) for g in told.groups} == {(150, 150)}
    assert told.findings == (GroupFindings.ROWS_OF_GROUPS_DRAWN.found(most=150),)


@pytest.mark.slow
def test_posteriors_and_other_methods():
    rng = np.random.default_rng(0)
    table = regions(n=100)
    y = (table["relapse"] == "yes").to_numpy()
    table = table.with_columns(
        p=pl.Series(np.clip(0.25 + 0.5 * y + 0.1 * rng.normal(size=400), 0, 1))
    )
    given = train(table, label="relapse", posteriors=["p"], groups="region").groups
    assert list(given.errors) == ["MLPE", "CC", "PCC", "PACC", "SLD"]
    assert given.groups[0].refuted is None
    named = train(table, groups="region", drop=["p"], method="DyS", **LEARN).groups
    assert named.method == "DyS"
    assert "DyS" in named.errors
    weighted = table.with_columns(w=pl.Series(np.where(y, 2.0, 1.0)))
    heavy = train(weighted, label="relapse", posteriors=["p"], groups="region", weights="w").groups
    p = given.groups[0].prevalence["yes"]
    assert heavy.groups[0].prevalence["yes"] == pytest.approx(2 * p / (1 + p))


def test_wrong_input_is_one_line(model):
    sample = causes(50).drop("relapse")
    with pytest.raises(DataError, match="needs at least two groups of 30 rows or more"):
        train(regions(("a",)), groups="region", **LEARN)
    with pytest.raises(UserError, match="'relapse' is the label: it cannot name the groups too"):
        train(regions(), groups="relapse", **LEARN)
    with pytest.raises(UserError, match="is named as part of the items, but has another use"):
        train(regions(), groups="region", features=["region", "age"], **LEARN)
    with pytest.raises(DataError, match="regoin"):
        train(regions(), groups="regoin", **LEARN)
    with pytest.raises(DataError, match="'region' holds 'a', which is neither a date, a year nor"):
        train(regions(), time="region", **LEARN)
    with pytest.raises(UserError, match="learn from groups or from time, not from both"):
        train(regions(), groups="region", time="age", **LEARN)
    with pytest.raises(UserError, match="the model was not trained with time region"):
        quantify(sample, model=model, time="region", **FAST)
    with pytest.raises(UserError, match="the model was not trained with groups age"):
        quantify(sample, model=model, groups="age", **FAST)


def test_groups_of_posteriors_are_left_out_in_turn():
    rng = np.random.default_rng(3)
    n = 600
    y = rng.random(n) < np.repeat([0.2, 0.5, 0.8], n // 3)
    p = 1 / (1 + np.exp(-(rng.normal(size=n) + 3.0 * y - 1.5)))
    frame = pl.DataFrame(
        {
            "no": 1 - p,
            "yes": p,
            "region": np.repeat(["a", "b", "c"], n // 3),
            "relapse": np.where(y, "yes", "no"),
        }
    )
    told = train(frame, label="relapse", posteriors=["no", "yes"], groups="region").groups
    assert [group.name for group in told.groups] == ["a", "b", "c"]
    for group, truth in zip(told.groups, (0.2, 0.5, 0.8), strict=True):
        assert group.prevalence["yes"] == pytest.approx(truth, abs=0.08)
        assert min(group.errors.values()) < 0.1


def test_forward_each_training_set_is_followed_by_as_many_groups_as_are_asked_for():
    sides = _sides(["a", "b", "c", "d"], "forward", 2)
    assert [(side.train, side.tests) for side in sides] == [((0,), (1, 2)), ((0, 1), (2, 3))]
