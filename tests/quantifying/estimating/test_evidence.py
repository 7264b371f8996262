"""Number, interval and verdict tell one story; what says nothing is not estimated."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quantshift import SubclassSLD
from quantshift.claims import Assumption, Kind, Reason
from quantshift.quantifying import quantify
from quantshift.quantifying.declaration import Declaration
from quantshift.quantifying.estimating.batches import allow_for_left_out, batch_of
from quantshift.quantifying.estimating.evidence import (
    ALL_ALIKE,
    FAR_SURER,
    MOST_TESTED,
    TEST_REPLICATES,
    _subclasses,
    _tested,
    examine,
)
from quantshift.quantifying.estimating.performance import PerformanceOfBatches
from quantshift.quantifying.estimating.sample import ScoredBatch
from quantshift.quantifying.estimating.unlabelled import allow_for_unknown
from quantshift.quantifying.findings import Advice
from quantshift.quantifying.options import AuditOptions, EstimationOptions
from quantshift.quantifying.output.quantification import Quantification
from quantshift.quantifying.result import Batch
from quantshift.quantifying.training.train import train
from tests.found import codes_of


def _numbers(
    n: int, p: float, seed: int, *, gap: float = 2.0, columns: int = 3, group: float = 0.5
) -> pl.DataFrame:
    """Rows of two classes in two groups that are far apart; `group` is the share of the second."""
    rng = np.random.default_rng(seed)
    y, g = rng.random(n) < p, rng.random(n) < group
    X = rng.normal(size=(n, columns))
    X[:, 0] += gap * y
    X[:, 1] += 6 * g
    table = {f"x{i}": X[:, i] for i in range(columns)}
    return pl.DataFrame({**table, "label": np.where(y, "yes", "no")})


def _unknown(batch: Batch) -> bool:
    return (
        not batch.can_be_estimated
        and bool(batch.no_estimate_reason)
        and batch.no_estimate_reason in batch.verdict
        and all((s.estimate, s.low, s.high) == (None, 0.0, 1.0) for s in batch.shares)
    )


def _quantify(train: pl.DataFrame, sample: pl.DataFrame, **options: object) -> Quantification:
    return quantify(
        sample,
        train=train,
        label="label",
        replicates=100,
        **options,  # type: ignore[arg-type]
    )


def test_constant_posteriors_are_no_estimate() -> None:
    labels = ["yes", "no", "no", "no"] * 125
    known = pl.DataFrame({"p": [0.5] * 500, "label": labels})
    found = _quantify(known, pl.DataFrame({"p": [0.5] * 300}), posteriors=["p"])
    assert _unknown(found.batches[0])
    assert "better than chance" in found.batches[0].no_estimate_reason


@pytest.mark.parametrize("method", ["auto", "SLD", "PACC", "ACC", "CC", "PCC", "DyS", "HDx"])
def test_columns_that_say_nothing_are_no_estimate(method: str) -> None:
    found = _quantify(_numbers(400, 0.5, 3, gap=0), _numbers(200, 0.5, 4, gap=0), method=method)
    assert _unknown(found.batches[0])
    codes = codes_of(found.batches[0].findings)
    assert {Advice.ADD_COLUMNS_OR_LABEL, Advice.LABEL_SOME} & set(codes)


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 3])
def test_chance_is_rarely_taken_for_information(n_classes: int) -> None:
    rng = np.random.default_rng(7)
    answered = 0
    for _ in range(40):
        table = pl.DataFrame({"a": rng.normal(size=300), "b": rng.normal(size=300)})
        labels = [f"c{k}" for k in rng.integers(n_classes, size=300)]
        model = train(table.with_columns(label=pl.Series(labels)), label="label", method="SLD")
        items = model.items(table)
        found = examine(model, items, [np.arange(100)], EstimationOptions(replicates=2), seed=0)
        answered += not found[0].no_estimate_reason
    assert answered <= 2  # half a percent expected, at most


@pytest.mark.parametrize("method", ["auto", "PACC", "HDx"])
def test_a_sample_whose_items_look_all_the_same_is_no_estimate(method: str) -> None:
    known = _numbers(500, 0.5, 5)
    empty = pl.DataFrame({f"x{i}": [0.0] * 100 for i in range(3)})
    found = _quantify(known, empty, method=method)
    assert _unknown(found.batches[0])
    assert found.batches[0].reason is Reason.GONE


def test_posteriors_that_are_all_the_same_are_no_estimate() -> None:
    rng = np.random.default_rng(0)
    p = rng.random(400)
    known = pl.DataFrame({"p": p, "label": np.where(rng.random(400) < p, "yes", "no")})
    found = _quantify(known, pl.DataFrame({"p": [0.9] * 100}), posteriors=["p"])
    assert _unknown(found.batches[0])
    assert found.batches[0].no_estimate_reason == ALL_ALIKE


@pytest.mark.parametrize("method", ["auto", "PCC", "PACC", "SLD", "HDx"])
def test_a_column_in_another_unit_is_no_estimate(method: str) -> None:
    """By PCC it was 56.0% (56.0 to 56.0%): probabilities of 0 and 1 leave nothing to chance."""
    known, sample = _numbers(500, 0.5, 5), _numbers(300, 0.5, 6).drop("label")
    assert _quantify(known, sample, method=method).batches[0].can_be_estimated
    sample = sample.with_columns(pl.col("x0") * 1e5)
    found = _quantify(known, sample, method=method)
    assert _unknown(found.batches[0])
    assert found.batches[0].no_estimate_reason == FAR_SURER


@pytest.mark.parametrize("share", [0.1, 0.9])
def test_a_large_shift_of_sure_items_is_estimated(share: float) -> None:
    """A tenth of a class in training and nine tenths of it in the sample."""
    known = _numbers(300, 1 - share, 5, gap=2)
    found = _quantify(known, _numbers(300, share, 6, gap=2), method="SLD")
    assert found.batches[0].can_be_estimated


def test_few_equal_items_may_be_what_they_seem() -> None:
    rng = np.random.default_rng(8)
    y = rng.random(600) < 0.5
    said = np.where(rng.random(600) < 0.95, y, ~y)
    known = pl.DataFrame({"x": said.astype(float), "label": np.where(y, "yes", "no")})
    found = _quantify(known, pl.DataFrame({"x": [1.0] * 20}))
    share = found.batches[0].shares[1]
    assert found.batches[0].can_be_estimated
    assert share.low > 0.4


def test_an_audit_answers_where_the_columns_do_not() -> None:
    sample = _numbers(200, 0.5, 4, gap=0)
    rows = np.arange(0, 200, 2)
    audit = pl.DataFrame({"item": rows + 1, "label": sample["label"].to_numpy()[rows]})
    known = _numbers(400, 0.5, 3, gap=0)
    model = train(known, label="label")
    items = model.items(sample.drop("label"))
    evidence = examine(model, items, [np.arange(200)], EstimationOptions(replicates=50), seed=0)[0]
    codes = {int(row): int(label == "yes") for row, label in zip(rows, audit["label"], strict=True)}
    scored = ScoredBatch("a", items.posteriors, 200, labelled=codes)
    batch = batch_of(model, scored, evidence, (), AuditOptions())
    assert evidence.no_estimate_reason
    assert batch.can_be_estimated
    assert batch.unaudited[1].estimate is None
    assert batch.shares[1].estimate == pytest.approx(np.mean(list(codes.values())), abs=0.05)
    assert batch.audit is not None
    assert not batch.audit.contradicts


@pytest.mark.parametrize(
    ("p", "group", "move"),
    [(0.5, 0.5, 0), (0.9, 0.5, 0), (0.5, 0.95, 0), (0.8, 0.1, 0), (0.5, 0.5, 2.5)],
)
def test_the_number_the_interval_and_the_verdict_tell_one_story(
    p: float, group: float, move: float
) -> None:
    known = _numbers(1000, 0.5, 11)
    sample = _numbers(400, p, 12, group=group).with_columns(pl.col("x2") + move)
    batch = _quantify(known, sample, method="SubclassSLD").batches[0]
    assert batch.shift is not None
    assert batch.shift.p_floor == 1 / (TEST_REPLICATES + 1) <= batch.shift.p_value
    for share in batch.shares:
        assert share.estimate is not None
        assert share.low <= share.estimate <= share.high
        for assumption in batch.alternatives:
            if not (assumption.refuted or assumption.for_comparison):
                assert share.low <= assumption.prevalence[share.label] <= share.high
    allowed = [a for a in batch.alternatives if not a.refuted]
    assert allowed
    shown = batch.shares[1].estimate
    values = [a.prevalence["yes"] for a in allowed]
    assert min(values) - 1e-9 <= shown <= max(values) + 1e-9
    weights = [a.weight or 0.0 for a in batch.alternatives]
    assert not batch.alternatives[int(np.argmax(weights))].refuted
    assert "topics" not in batch.verdict


def test_refuted_prior_shift_is_not_the_number_shown() -> None:
    rng = np.random.default_rng(2)
    # Within the second group alone the classes change: a local shift.
    known = pl.concat([_numbers(1500, 0.5, 21, group=0.0), _numbers(1500, 0.5, 22, group=1.0)])
    sample = pl.concat([_numbers(400, 0.1, 23, group=0.0), _numbers(400, 0.9, 24, group=1.0)])
    batch = _quantify(known, sample[rng.permutation(800)], method="SubclassSLD").batches[0]
    assert batch.shift is not None
    assert batch.shift.kind == "local"
    told = {a.assumption: a for a in batch.alternatives}
    assert told[Assumption.PRIOR].refuted
    assert not told[Assumption.LOCAL].refuted
    assert batch.shares[1].estimate == pytest.approx(told[Assumption.LOCAL].prevalence["yes"])
    assert "if only the shares of the classes changed" in batch.verdict
    assert "(contradicted)" in batch.verdict


def test_resampling_is_reported_with_its_total() -> None:
    model = train(_numbers(200, 0.5, 1), label="label", method="PACC")
    items = model.items(_numbers(50, 0.5, 2).drop("label"))
    told: list[tuple[str, int, int]] = []
    examine(
        model,
        items,
        [np.arange(50)],
        EstimationOptions(replicates=30),
        seed=0,
        progress=lambda *report: told.append(report),
    )
    resampled = [report for report in told if report[0] == "resampling"]
    assert resampled[-1][1] == resampled[-1][2] == 30
    assert [done for _, done, _ in resampled] == sorted(done for _, done, _ in resampled)


@given(
    st.lists(st.booleans(), min_size=1, max_size=50),
    st.lists(st.booleans(), max_size=50),
    st.floats(0, 1),
    st.floats(0, 1),
)
def test_limits_that_hold_for_used_rows_hold_for_all(
    used: list[bool], left_out: list[bool], down: float, up: float
) -> None:
    share = float(np.mean(used))
    low, high = share * (1 - down), share + (1 - share) * up
    wider = allow_for_left_out(low, high, len(used), len(left_out))
    whole = float(np.mean([*used, *left_out]))
    assert wider[0] - 1e-9 <= whole <= wider[1] + 1e-9
    assert wider[0] <= low + 1e-9
    assert wider[1] >= high - 1e-9
    assert 0 <= wider[0] <= wider[1] <= 1 + 1e-9
    if not left_out:
        assert wider == (low, high)


@pytest.mark.slow
def test_rows_left_out_widen_the_shares_of_a_batch() -> None:
    model = train(_numbers(400, 0.5, 1), label="label")
    items = model.items(_numbers(90, 0.5, 2).drop("label"))
    evidence = examine(model, items, [np.arange(90)], EstimationOptions(replicates=50), seed=0)[0]
    codes = {i: i % 2 for i in range(60)}
    plain, wider = (
        batch_of(
            model,
            ScoredBatch("a", items.posteriors, 90, n_left_out=n, labelled=codes),
            evidence,
            (),
            AuditOptions(),
        )
        for n in (0, 10)
    )
    assert wider.left_out == 10
    assert plain.audit is not None
    assert wider.audit is not None
    pairs = [
        (plain.unaudited, wider.unaudited),
        (plain.audit.shares, wider.audit.shares),
        (plain.audit.counted, wider.audit.counted),
    ]
    for before, after in pairs:
        for one, other in zip(before, after, strict=True):
            assert other.estimate == one.estimate
            assert (other.low, other.high) == allow_for_left_out(one.low, one.high, 90, 10)


def test_items_like_those_of_no_class_leave_a_range_that_allows_for_any_class() -> None:
    model = train(_numbers(600, 0.5, 1), label="label")
    items = model.items(_numbers(200, 0.5, 2).drop("label"))
    (evidence,) = examine(model, items, [np.arange(200)], EstimationOptions(replicates=50), seed=0)
    assert evidence.grounds.kind == Kind.INTERVAL
    assert evidence.with_unlike(None).grounds == evidence.grounds
    unlike = evidence.with_unlike(0.1)
    assert (unlike.grounds.kind, unlike.grounds.reason) == (Kind.RANGE, Reason.REFUTED)
    assert unlike.none_of_these == 0.1
    np.testing.assert_allclose(unlike.interval.low, 0.9 * evidence.interval.low)
    np.testing.assert_allclose(unlike.interval.high, 0.9 * evidence.interval.high + 0.1)
    assert evidence.with_unlike(0.5).grounds.kind is Kind.CANNOT
    # Predictions for these items may all be wrong: the range of the accuracy did not allow for it.
    performances = PerformanceOfBatches(model, level=0.95, n_bootstrap=20, seed=0)
    of_all, of_known = (
        performances.of(items, each, None) for each in (unlike, replace(unlike, none_of_these=None))
    )
    assert of_all is not None
    assert of_known is not None
    for every, known in zip(of_all.as_trained, of_known.as_trained, strict=True):
        assert (every.low, every.high) == allow_for_unknown(known.low, known.high, 0.1)
    scored = ScoredBatch("a", model.posteriors(items), 200)
    batch = batch_of(model, scored, unlike, (), AuditOptions())
    assert "items that look like those of no class" in batch.basis
    assert "cannot explain" in batch.verdict
    declared = EstimationOptions(replicates=50, declared=Declaration("covariate"))
    (by_mean,) = examine(model, items, [np.arange(200)], declared, seed=0)
    assert by_mean.with_unlike(0.1).grounds == by_mean.grounds


def test_of_many_rows_as_many_different_ones_are_tested() -> None:
    rows = np.arange(MOST_TESTED + 50) + 7
    found = _tested(rows, 0)
    assert len(np.unique(found)) == MOST_TESTED
    assert set(found.tolist()) <= set(rows.tolist())
    assert _tested(rows[:100], 0) is not None


@pytest.mark.parametrize(("n_clusters", "offers"), [(1, False), (2, True)])
def test_two_clusters_can_distinguish_kinds_of_shift(n_clusters: int, offers: bool) -> None:
    p = np.linspace(0.05, 0.95, 40)
    quantifier = SubclassSLD().fit_posteriors(np.column_stack([1 - p, p]), np.arange(40) // 20)
    quantifier.model_ = replace(quantifier.model_, shares=np.full(n_clusters, 1 / n_clusters))
    assert (_subclasses(quantifier) is quantifier) == offers
