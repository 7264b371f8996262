"""What a method that tests itself may claim of samples, and what is said of them."""

import json
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from quantshift.claims import WIDEST, Assumption, Explanation, Facts, Kind, decide
from quantshift.errors import UserError
from quantshift.quantifying import quantify, train
from quantshift.quantifying.estimating.guarded_evidence import GuardedSamples, replicates_of
from quantshift.quantifying.findings import Advice
from tests.found import codes_of

FAST = {"replicates": 100}

DOUBTFUL = 0.1
"""Added to a column: little beside an extreme change of prevalence."""


def causes(n: int, *, move: float = 0.0, seed: int = 0) -> pl.DataFrame:
    """An outcome that follows from two columns, as in most tables: P(Y|X) is always the same."""
    rng = np.random.default_rng(seed)
    income, age = rng.normal(move, 1, n), rng.normal(size=n)
    p = 1 / (1 + np.exp(-(1.5 * income - 0.5 * age - 1)))
    relapse = np.where(rng.random(n) < p, "yes", "no")
    return pl.DataFrame({"income": income, "age": age, "relapse": relapse})


def at_prevalence(frame: pl.DataFrame, p: float, n: int, *, seed: int = 0) -> pl.DataFrame:
    """A sample in which only the prevalence is another."""
    rng = np.random.default_rng(seed)
    y = frame["relapse"].to_numpy() == "yes"
    n_yes = round(p * n)
    rows = [rng.choice(np.flatnonzero(y), n_yes), rng.choice(np.flatnonzero(~y), n - n_yes)]
    return frame[np.concatenate(rows)]


@pytest.fixture(scope="module")
def model():
    return train(causes(1500), label="relapse")


def share(batch):
    return next(s for s in batch.shares if s.label == "yes")


@pytest.mark.slow
def test_what_prior_shift_explains_in_part_is_in_doubt(model):
    sample = at_prevalence(causes(20_000, seed=1), 0.97, 900).unique(maintain_order=True)
    sample = sample.with_columns(pl.col("age") + DOUBTFUL).drop("relapse")
    answer = quantify(sample, model=model, **FAST)
    (batch,) = answer.batches
    assert batch.shift.kind == Explanation.IN_DOUBT
    assert batch.shift.explained > 0.5
    assert batch.reason == "refuted"
    assert batch.unaudited_grounds.kind in (Kind.RANGE, Kind.CANNOT)
    assert share(batch).low <= 0.97 <= share(batch).high
    assert "interval" not in answer.to_text(details=True).splitlines()[0]


def test_evidence_for_a_change_of_prevalence_gives_an_interval(model):
    sample = at_prevalence(causes(40_000, seed=1), 0.1, 800, seed=1)
    (batch,) = quantify(sample.drop("relapse"), model=model, **FAST).batches
    assert not batch.shift.rejected
    assert (batch.kind, batch.reason) == (Kind.INTERVAL, "evidence")
    assert batch.shift.p_doubles <= 0.005
    assert share(batch).low <= 0.1 <= share(batch).high
    assert "the items support that" in batch.basis


def test_progress_counts_the_replicates(model):
    sample = at_prevalence(causes(40_000, seed=1), 0.1, 800, seed=1)
    seen = []
    quantify(
        sample.drop("relapse"),
        model=model,
        progress=lambda what, done, whole: seen.append((what, done, whole)),
        **FAST,
    )
    resampled = [(done, whole) for what, done, whole in seen if what == "resampling"]
    assert resampled[-1] == (100, 100)
    assert [done for done, _ in resampled] == sorted({done for done, _ in resampled})


def test_a_sample_selected_by_its_score_is_never_an_interval_around_sld(model):
    """Of such intervals none contained the truth."""
    pool = causes(6000, seed=7)
    score = (1.5 * pool["income"] - 0.5 * pool["age"]).to_numpy()
    rank = score.argsort().argsort() / len(score)
    for seed, tilt in enumerate((-3.0, -2.0, 2.0, 3.0)):
        chance = np.exp(tilt * rank)
        rows = np.random.default_rng(seed).choice(6000, 600, p=chance / chance.sum())
        sample = pool[rows]
        truth = float((sample["relapse"] == "yes").mean())
        (batch,) = quantify(sample.drop("relapse"), model=model, **FAST).batches
        assert batch.reason != "evidence"
        assert share(batch).low <= truth <= share(batch).high
        calm = Advice.AUDIT_WOULD_CONFIRM in codes_of(batch.findings)
        assert not calm or batch.reason == "agreement"


def test_after_a_refutation_there_is_a_range(model):
    sample = causes(1000, move=2.5, seed=2)
    truth = float((sample["relapse"] == "yes").mean())
    (batch,) = quantify(sample.drop("relapse"), model=model, **FAST).batches
    assert batch.shift.rejected
    assert batch.shift.kind == Explanation.UNEXPLAINED
    assert (batch.kind, batch.reason) == (Kind.RANGE, "refuted")
    assert batch.shift.auc > 0.52
    assert 0 <= batch.shift.explained < 0.5
    assert f"explain {batch.shift.explained:.0%} of the difference" in batch.verdict
    told = {a.assumption: a.prevalence["yes"] for a in batch.alternatives}
    assert share(batch).estimate == pytest.approx(told[Assumption.COVARIATE])
    assert share(batch).estimate == pytest.approx(truth, abs=0.04)
    assert share(batch).low <= truth <= share(batch).high
    assert next(a for a in batch.alternatives if a.assumption is Assumption.PRIOR).refuted
    assert "in a way that changed shares of the classes cannot explain" in batch.verdict
    assert "items that look alike have the label as often as in training" in batch.basis


@pytest.mark.slow
def test_intervals_are_for_the_items_or_for_the_population(model):
    sample = at_prevalence(causes(4000, seed=1), 0.1, 800).drop("relapse")
    items, population = (
        share(quantify(sample, model=model, assume="prior", of=of, **FAST).batches[0])
        for of in ("items", "population")
    )
    assert items.estimate == population.estimate
    assert items.high - items.low < population.high - population.low
    with pytest.raises(UserError, match="unknown value of `of` 'item'; did you mean 'items'"):
        quantify(sample, model=model, of="item")


@pytest.mark.slow
def test_what_is_assumed_can_be_said(model):
    sample = causes(1000, move=2.5, seed=2).drop("relapse")
    found = {
        assume: quantify(sample, model=model, assume=assume, **FAST).batches[0]
        for assume in ("auto", "prior", "covariate")
    }
    assert share(found["covariate"]).estimate == share(found["auto"]).estimate
    width = {name: share(batch).high - share(batch).low for name, batch in found.items()}
    assert 0 < width["covariate"] < width["auto"]
    by_prior = next(a for a in found["prior"].alternatives if a.assumption is Assumption.PRIOR)
    assert by_prior.prevalence["yes"] > share(found["auto"]).estimate + 0.03
    assert "as you declared" in found["covariate"].basis


@pytest.mark.slow
def test_a_declaration_that_the_items_contradict_is_a_range(model):
    sample = causes(1000, move=2.0, seed=2).drop("relapse")
    (batch,) = quantify(sample, model=model, assume="prior", **FAST).batches
    assert batch.reason == "refuted"
    assert batch.kind in (Kind.RANGE, Kind.CANNOT)
    sample = at_prevalence(causes(4000, seed=1), 0.1, 800).drop("relapse")
    (batch,) = quantify(sample, model=model, assume="prior", **FAST).batches
    assert (batch.kind, batch.reason) == (Kind.CONDITIONAL, "declared")
    assert (
        batch.basis
        == "assumes, as you declared, that items of a class look as they did in training. This "
        "holds only if labels still mean the same"
    )


def test_the_assumption_of_another_method_is_its_own():
    (batch,) = quantify(
        causes(300, seed=3).drop("relapse"),
        train=causes(300),
        label="relapse",
        method="CC",
        **FAST,
    ).batches
    assert batch.basis == (
        "rests on an untested assumption: the classifier's errors cancel out in the sample. The "
        "interval shows the error of drawing the items, not the bias of the method. This holds "
        "only if labels still mean the same"
    )


def test_other_methods_and_words_are_refused(model):
    sample = causes(100, seed=3).drop("relapse")
    with pytest.raises(UserError, match="unknown assumption 'priors'; did you mean 'prior'"):
        quantify(sample, model=model, assume="priors", **FAST)
    other = train(causes(300), label="relapse", method="PACC")
    with pytest.raises(UserError, match="PACC makes its own assumption"):
        quantify(sample, model=other, assume="prior", **FAST)


def test_a_wide_range_asks_for_labels_first(model):
    sample = causes(600, move=1.0, seed=4).drop("relapse")
    found = quantify(sample, model=model, **FAST)
    (batch,) = found.batches
    assert share(batch).high - share(batch).low > WIDEST
    assert batch.kind == Kind.CANNOT
    assert share(batch).estimate is None
    # So far from the training items, some also look like no class that they have.
    first = found.to_text(details=True).splitlines()[0]
    assert "of the items look like nothing in training" in found.to_text(details=True)
    assert "cannot be estimated without labels" in first
    low, high = 100 * share(batch).low, 100 * share(batch).high
    assert f"anything from {low:.1f} to {high:.1f}% is possible" in first
    assert "% if only the mix of items changed" in first
    assert "random labels are enough for about plus or minus" in first
    assert "95% interval" not in first
    assert "share   95% interval" not in found.to_text(details=True)
    told = json.loads(found.to_json())["batches"][0]
    assert told["grounds"]["kind"] == "cannot"


def test_the_page_promises_no_confidence_after_a_refutation(model):
    found = quantify(causes(1000, move=2.0, seed=2).drop("relapse"), model=model, **FAST)
    page = found.page()
    assert "% confidence" not in page
    assert "95% interval" not in page
    assert "cannot explain" in page


@pytest.mark.slow
def test_a_wider_level_is_a_wider_interval(model):
    sample = causes(1000, move=2.0, seed=2).drop("relapse")
    usual, wider = (
        share(quantify(sample, model=model, level=level, **FAST).batches[0])
        for level in (0.95, 0.99)
    )
    assert wider.low < usual.low
    assert wider.high >= usual.high
    assert wider.estimate == usual.estimate


@pytest.mark.slow
def test_the_better_of_two_classifiers_is_taken():
    rng = np.random.default_rng(0)
    x = rng.uniform(-2, 2, (1200, 2))
    y = np.where((x[:, 0] * x[:, 1] > 0) ^ (rng.random(1200) < 0.1), "yes", "no")
    made = train(pl.DataFrame({"a": x[:, 0], "b": x[:, 1], "y": y}), label="y")
    assert made.training.classifier == "boosting"
    assert made.training.accuracy > 0.8
    straight = np.where(x[:, 0] + 0.5 * rng.normal(size=1200) > 0, "yes", "no")
    made = train(pl.DataFrame({"a": x[:, 0], "b": x[:, 1], "y": straight}), label="y")
    assert made.training.classifier == "logistic"


def test_what_is_declared_is_an_interval_in_every_output(model):
    sample = causes(400, move=1.2, seed=2).drop("relapse")
    result = quantify(sample, model=model, assume="covariate", **FAST)
    batch = result.batches[0]
    assert (batch.kind, batch.reason) == (Kind.CONDITIONAL, "declared")
    assert batch.basis.startswith("assumes, as you declared, that items that look alike")
    assert "share   95% interval" in result.to_text(details=True)
    told = json.loads(result.to_json())["batches"][0]
    assert told["grounds"]["reason"] == "declared"
    condition = "if items that look alike have the label as often as in training"
    assert batch.condition == told["condition"] == condition
    first, undeclared, *_ = result.to_text(details=True).splitlines()
    assert f"in the sample, {condition} (95% interval " in first
    # Without the declaration the items contradict label shift, and leave a range.
    (alone,) = quantify(sample, model=model, **FAST).batches
    assert batch.undeclared.grounds.kind in (Kind.RANGE, Kind.CANNOT)
    assert batch.undeclared.grounds.reason is alone.reason
    limits = [(share.low, share.high) for share in batch.undeclared.shares]
    np.testing.assert_allclose(limits, [(s.low, s.high) for s in alone.shares], atol=1e-9)
    assert undeclared.startswith("  if nothing were declared, ")
    page = result.page()
    assert condition in page
    assert "if nothing were declared, " in page
    assert "confidence interval" not in repr(result)
    assert condition in repr(result)


@pytest.mark.slow
def test_rows_of_uneven_weight_are_fewer_items():
    rng = np.random.default_rng(5)
    known = causes(600).with_columns(w=1.0)
    sample = causes(400, move=1.2, seed=2).drop("relapse")
    heavy = np.where(rng.random(400) < 0.02, 50.0, 1.0)
    widths = [
        share(
            quantify(
                sample.with_columns(w=pl.Series(w)),
                train=known,
                label="relapse",
                weights="w",
                assume="covariate",
                **FAST,
            ).batches[0]
        )
        for w in (np.ones(400), heavy)
    ]
    even, uneven = (found.high - found.low for found in widths)
    assert uneven > 1.3 * even


def test_replicates_of_batches_share_what_the_training_items_add():
    members = np.array([[0.30, 0.70], [0.34, 0.66], [0.38, 0.62], [0.30, 0.70], [0.38, 0.62]])
    alone = np.repeat(members.mean(axis=0, keepdims=True), 5, axis=0)
    p_hat, n = members.mean(axis=0), 100_000
    first, second = (replicates_of(p_hat, members, size, 2000, 0) for size in (n, 2 * n))
    # Of such large samples nearly all of the error is that of training, and it cancels.
    assert np.std(first[:, 0]) == pytest.approx(
        np.sqrt(4 / 5 * np.sum((members[:, 0] - p_hat[0]) ** 2)), rel=0.1
    )
    assert np.std(first[:, 0] - second[:, 0]) < 0.1 * np.std(first[:, 0])
    assert np.std(replicates_of(p_hat, alone, n, 2000, 0)[:, 0]) == pytest.approx(
        np.sqrt(p_hat[0] * p_hat[1] / n), rel=0.1
    )


@pytest.mark.parametrize(
    ("rests_on", "names"),
    [
        (Assumption.PRIOR, [Assumption.PRIOR, Assumption.COVARIATE]),
        (Assumption.COVARIATE, [Assumption.COVARIATE, Assumption.PRIOR]),
        (
            Assumption.BETWEEN,
            [Assumption.PRIOR, Assumption.COVARIATE, Assumption.BETWEEN],
        ),
    ],
)
def test_assumptions_are_told_with_their_methods_that_of_the_estimate_first(rests_on, names):
    prior, covariate, between = np.array([[0.6, 0.4], [0.7, 0.3], [0.65, 0.35]])
    grounds = SimpleNamespace(
        prior=prior,
        covariate=covariate,
        mixed=prior,
        estimate=between,
        grounds=decide(Facts(rests_on)),
    )
    base = SimpleNamespace(prior_=np.array([0.5, 0.5]))
    model = SimpleNamespace(classes=("no", "yes"), method="Guarded", base=base)
    found = GuardedSamples._alternatives(SimpleNamespace(model=model), grounds)
    assert [one.assumption for one in found] == [*names, Assumption.NOTHING]
    told = {one.assumption: one for one in found}
    assert told[Assumption.PRIOR].prevalence == {"no": 0.6, "yes": 0.4}
    assert told[Assumption.COVARIATE].prevalence["yes"] == 0.3
    assert told[Assumption.NOTHING].prevalence["yes"] == 0.5
    if Assumption.BETWEEN in told:
        assert told[Assumption.BETWEEN].method == "Guarded"
        assert told[Assumption.BETWEEN].prevalence["yes"] == 0.35
