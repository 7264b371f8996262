import json

import numpy as np
import polars as pl
import pytest

from quantshift.errors import DataError, UserError
from quantshift.history import watch
from quantshift.labelling.audit import reweigh
from quantshift.labelling.findings import SheetFindings
from quantshift.labelling.sequence import confidence_sequence
from quantshift.quantifiers.base import catalogue
from quantshift.quantifiers.base.estimator import AbstractClassifying
from quantshift.quantifying import save_model, train
from quantshift.quantifying.estimating.evidence import FAR_SURER
from quantshift.sketches import quantify_sketch, sketch
from quantshift.sketches.cells import rounded
from quantshift.sketches.estimating.batches import batches_of
from quantshift.sketches.estimating.counts import point_estimates
from quantshift.sketches.findings import SketchFindings
from tests.found import numbers_of
from tests.sketches.made import batches, labelled

SHARES = {"day 1": 0.1, "day 2": 0.1, "day 3": 0.5}


@pytest.fixture(scope="module")
def training():
    return sketch(labelled(4000), score="p", label="y")


@pytest.fixture(scope="module")
def week():
    return sketch(batches(SHARES), score="p", batch="day")


@pytest.fixture(scope="module")
def answer(week, training):
    return quantify_sketch(week, training, replicates=100, assume="prior")


def test_shares_are_found_with_intervals_and_changes(answer):
    for batch in answer.batches:
        spam = batch.shares[1]
        assert (spam.label, batch.n_items) == ("spam", 5000)
        # Seven standard errors of 5,000 items and 4,000 training items.
        assert spam.estimate == pytest.approx(SHARES[batch.name], abs=0.06)
        assert spam.low < spam.estimate < spam.high
        assert 0.01 < spam.high - spam.low < 0.12
        assert (batch.kind, batch.reason) == ("conditional", "declared")
    assert [bool(batch.change) for batch in answer.batches] == [False, False, True]


@pytest.mark.slow
def test_scores_alone_are_no_evidence(training):
    """Features may have changed too, of which a sketch has nothing."""
    counted = sketch(batches(SHARES), score="p", batch="day")
    found = quantify_sketch(counted, training, replicates=100)
    declared = quantify_sketch(counted, training, replicates=100, assume="prior")
    for one, other in zip(found.batches, declared.batches, strict=True):
        if one.reason == "agreement":
            continue
        assert one.reason == "no_evidence"
        assert one.kind in ("range", "cannot")
        assert one.shares[1].low <= SHARES[one.name] <= one.shares[1].high
        assert one.shares[1].high - one.shares[1].low > other.shares[1].high - other.shares[1].low
    with pytest.raises(UserError, match="only prior shift can be assumed"):
        quantify_sketch(counted, training, assume="covariate")


def test_the_answer_is_text_json_and_csv(answer):
    assert "spam" in answer.to_text(details=True)
    assert len(json.loads(answer.to_json())["batches"]) == 3
    assert answer.to_csv().count("\n") == 7


def test_a_batch_has_the_same_answer_alone(answer, training):
    alone = sketch(batches(SHARES).filter(pl.col("day") == "day 3"), score="p", batch="day")
    found = quantify_sketch(alone, training, replicates=100, assume="prior").batches[0]
    for one, other in zip(found.shares, answer.batches[2].shares, strict=True):
        # Sums of the same numbers with zeros between them.
        assert [one.estimate, one.low, one.high] == pytest.approx(
            [other.estimate, other.low, other.high], abs=1e-9
        )
    assert found.shift == answer.batches[2].shift


def test_scores_that_no_mixture_explains_are_told(training):
    frame = batches({"day 1": 0.3}).with_columns(pl.col("p") ** 2)
    batch = quantify_sketch(sketch(frame, score="p", batch="day"), training, replicates=50).batches[
        0
    ]
    assert batch.shift.rejected
    held = [a.prevalence["spam"] for a in batch.alternatives]
    assert batch.shares[1].low <= min(held)
    assert batch.shares[1].high >= max(held)


@pytest.mark.slow
def test_scores_far_beyond_those_of_training_are_no_estimate(training):
    sure = pl.DataFrame({"p": [1e-9] * 60 + [1 - 1e-9] * 40 + [0.5]})
    for method in ("auto", "PCC"):
        (batch,) = quantify_sketch(
            sketch(sure, score="p"), training, replicates=50, method=method
        ).batches
        assert not batch.can_be_estimated
        assert batch.no_estimate_reason == FAR_SURER
        assert (batch.shares[1].low, batch.shares[1].high) == (0, 1)


def test_the_mix_of_a_further_column_is_tested():
    rng = np.random.default_rng(0)
    train = labelled(6000).with_columns(site=rng.choice(["x", "y"], 6000))
    same = batches({"a": 0.3}).with_columns(site=rng.choice(["x", "y"], 5000))
    other = batches({"b": 0.3}).with_columns(site=rng.choice(["x", "y"], 5000, p=[0.9, 0.1]))
    options = {"score": "p", "by": ["site"]}
    trained = sketch(train, label="y", **options)
    made = sketch(pl.concat([same, other]), batch="day", **options)
    found = quantify_sketch(made, trained, replicates=50).batches
    assert [batch.shift.rejected for batch in found] == [False, True]


def test_an_audit_corrects_the_estimate(week, training):
    rng = np.random.default_rng(5)
    # Labels that nothing in the scores explains: half of the items are spam.
    drawn = batches(SHARES).filter(pl.col("day") == "day 1").sample(80, seed=0)
    labels = pl.Series("label", rng.choice(["ham", "spam"], 80))
    audit = drawn.rename({"day": "batch"}).with_columns(labels)
    found = quantify_sketch(week, training, replicates=50, audit=audit).batches
    assert found[0].audit.n_labelled == 80
    assert found[0].audit.contradicts
    assert found[0].shares[1].low > 0.3
    assert found[1].audit is None


def test_without_training_the_mean_of_the_scores_is_no_estimate(week):
    batch = quantify_sketch(week, replicates=50).batches[2]
    mean = batches(SHARES).filter(pl.col("day") == "day 3")["p"].mean()
    (named,) = batch.alternatives
    assert named.prevalence[batch.shares[1].label] == pytest.approx(mean, abs=1e-5)
    assert (batch.kind, batch.reason) == ("cannot", "no_evidence")
    assert [(s.estimate, s.low, s.high) for s in batch.shares] == [(None, 0, 1)] * 2
    trusted = quantify_sketch(week, method="PCC", replicates=50).batches[2]
    assert (trusted.kind, trusted.reason) == ("conditional", "declared")
    assert trusted.shares[1].low < mean < trusted.shares[1].high


def test_rows_left_out_widen_the_limits(training):
    frame = batches({"day 1": 0.1}).with_columns(
        pl.when(pl.int_range(pl.len()) % 5 != 0).then(pl.col("p")).alias("p")
    )
    batch = quantify_sketch(sketch(frame, score="p", batch="day"), training, replicates=50).batches[
        0
    ]
    assert (batch.n_items, batch.left_out) == (4000, 1000)
    assert batch.shares[1].high > 0.25


def test_numbered_batches_are_in_order_and_gaps_are_last(training):
    frame = batches({"9": 0.1, "10": 0.1, "11": 0.1, "": 0.6}, 500)
    frame = frame.with_columns(pl.col("day").replace({"": None}))
    answer = quantify_sketch(sketch(frame, score="p", batch="day"), training, replicates=50)
    assert [batch.name for batch in answer.batches] == ["9", "10", "11", "(missing)"]
    assert answer.in_sequence
    # Rows without a batch do not follow the eleventh.
    assert not any(batch.change for batch in answer.batches)
    assert watch(answer).summary_line().startswith("RANGE 11 (last of 4 batches)")


def test_sketches_that_do_not_fit_are_refused(week, training):
    with pytest.raises(DataError, match="the sketch has no rows"):
        quantify_sketch(sketch(labelled(20).clear(), score="p"), training)
    with pytest.raises(UserError, match="no labels"):
        quantify_sketch(week, week)
    with pytest.raises(UserError, match="a sketch with labels"):
        quantify_sketch(training, training)
    renamed = sketch(batches(SHARES, 50).rename({"p": "q"}), score="q")
    with pytest.raises(DataError, match="the same names"):
        quantify_sketch(renamed, training)
    with pytest.raises(UserError, match="needs features, not posteriors"):
        quantify_sketch(week, training, method="HDx")
    with pytest.raises(UserError, match="SLD needs labelled rows to learn from") as refused:
        quantify_sketch(week, method="SLD")
    assert refused.value.arguments == ("train_sketch", "method")


SMOOTH = {"DMy": 0.0, "PACC": 1e-4, "PCC": 1e-4, "SLD": 1e-4, "EDy": 1e-4, "MS": 1e-3, "T50": 1e-3}


@pytest.mark.parametrize("method", SMOOTH)
def test_cells_hardly_change_an_estimate(method):
    binning_error(method, 20_000, SMOOTH[method])


SLOW = {"BayesianKDEy", "LEIP"}

DRAWN = {"PQ"}
"""Draws at random, and all draws change if a single item changes sides, as with another seed."""


@pytest.mark.slow
@pytest.mark.parametrize("n", [20_000, 60_000, 300_000])
@pytest.mark.parametrize(
    "method",
    [
        name
        for name, cls in catalogue.quantifiers().items()
        if issubclass(cls, AbstractClassifying) and not cls.tags.sees - {"posteriors"}
        if name not in SLOW
    ],
)
def test_cells_hardly_change_any_estimate(method, n):
    # A row on the other side of a border changes all draws: their Monte Carlo error is 0.4%.
    binning_error(method, n, 2e-2 if method in DRAWN else 1e-3)


def binning_error(method: str, n: int, bound: float) -> None:
    """Compare the estimate from cells with that from all rows, as a part of the latter."""
    train = labelled(4000)
    y = (train["y"] == "spam").cast(pl.Int64).to_numpy()
    sample = batches({"a": 0.1}, n)

    def rows(frame: pl.DataFrame) -> np.ndarray:
        return np.column_stack([1 - frame["p"], frame["p"]])

    fitted = catalogue.quantifiers()[method]().fit_posteriors(rows(train), y)
    exact = fitted.aggregate(rows(sample))
    (batch,) = batches_of(sketch(sample, score="p", bins=True), [0, 1]).values()
    found = point_estimates(fitted, batch.sample)[0]
    assert np.abs(found - exact).max() <= bound * exact.min()


CLASSES = "abc"
ROUNDED = {
    "ACC": 0.0,
    "CC": 0.0,
    "PACC": 1e-5,
    "SLD": 1e-5,
    "KDEyCS": 1e-5,
    "DyS": 1e-3,
    "PQ": 1e-3,
}
JOINT = {**ROUNDED, "SLD": 1e-3, "KDEyCS": 1e-3, "IBU": 4e-3, "DyS": 4e-3, "MS": 4e-3, "PQ": 0.2}
"""One item of 20,000 on the wrong side of a border is 2.5e-3 of a class of 2%; PQ draws."""


def three_classes(n: int, shares: list[float], seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    codes = rng.choice(3, n, p=shares)
    scores = rng.normal(size=(n, 3))
    scores[np.arange(n), codes] += 2.2
    odds = np.exp(2.2 * scores)
    return odds / odds.sum(axis=1, keepdims=True), codes


@pytest.mark.parametrize("method", ROUNDED)
def test_rounded_rows_of_three_classes_hardly_change_an_estimate(method):
    error_of_three_classes(method, ROUNDED[method])


@pytest.mark.parametrize("method", JOINT)
def test_joint_cells_of_three_classes_hardly_change_an_estimate(method, monkeypatch):
    monkeypatch.setattr(rounded, "MOST_ROWS", 1000)
    error_of_three_classes(method, JOINT[method])


def error_of_three_classes(method: str, bound: float) -> None:
    p, codes = three_classes(2000, [0.4, 0.3, 0.3], 0)
    sample, _ = three_classes(20_000, [0.02, 0.49, 0.49], 1)
    fitted = catalogue.quantifiers()[method]().fit_posteriors(p, codes)
    exact = fitted.aggregate(sample)
    made = sketch(pl.DataFrame(sample, schema=list(CLASSES)), posteriors=list(CLASSES))
    (batch,) = batches_of(made, [0, 1, 2]).values()
    found = point_estimates(fitted, batch.sample)[0]
    assert np.abs(found - exact).max() <= bound * exact.min()


@pytest.mark.parametrize("method", ["SLD", "DyS", "IBU", "PQ", "ACC"])
def test_classes_in_another_order_than_the_columns_have_their_own_cells(method, monkeypatch):
    """The estimate from joint and marginal cells is that of the classes as they are ordered."""
    monkeypatch.setattr(rounded, "MOST_ROWS", 1000)
    p, codes = three_classes(2000, [0.4, 0.3, 0.3], 0)
    sample, _ = three_classes(6000, [0.1, 0.3, 0.6], 1)
    made = sketch(pl.DataFrame(sample, schema=list(CLASSES)), posteriors=list(CLASSES))
    for order in ([2, 1, 0], [1, 2, 0]):
        place = np.argsort(order)
        fitted = catalogue.quantifiers()[method]().fit_posteriors(p[:, order], place[codes])
        (batch,) = batches_of(made, order).values()
        found = point_estimates(fitted, batch.sample)[0]
        # PQ draws at random; the others are off by a few of 6,000 items.
        assert found == pytest.approx(fitted.aggregate(sample[:, order]), abs=3e-3)


def test_three_classes_in_another_order_of_columns_have_the_same_estimates():
    p, codes = three_classes(1500, [0.4, 0.3, 0.3], 0)
    sample, _ = three_classes(6000, [0.1, 0.3, 0.6], 1)
    labels = pl.Series("y", [CLASSES[code] for code in codes])
    answers = []
    for columns in ("abc", "cab"):
        training = sketch(
            pl.DataFrame(p, schema=list(CLASSES)).with_columns(labels),
            posteriors=list(columns),
            label="y",
        )
        made = sketch(pl.DataFrame(sample, schema=list(CLASSES)), posteriors=list(columns))
        (batch,) = quantify_sketch(made, training, replicates=20, method="DyS").batches
        assert not batch.shift.rejected
        answers.append([share.estimate for share in batch.shares])
    # Sums of posteriors in another order.
    assert answers[0] == pytest.approx(answers[1], abs=1e-6)
    assert answers[0] == pytest.approx([0.1, 0.3, 0.6], abs=0.05)


@pytest.fixture(scope="module")
def model():
    return train(labelled(4000), label="y", posteriors=["p"])


@pytest.mark.slow
def test_a_model_that_was_trained_on_the_scores_answers_as_a_training_sketch(
    model, week, answer, tmp_path
):
    save_model(model, tmp_path / "model")
    found = quantify_sketch(week, model=tmp_path / "model", replicates=100, assume="prior")
    for one, other in zip(found.batches, answer.batches, strict=True):
        assert one.shares[1].estimate == pytest.approx(other.shares[1].estimate, abs=1e-9)
        # Items are in another order, and other ones are drawn.
        assert one.shares[1].low == pytest.approx(other.shares[1].low, abs=0.01)
        assert one.shift.p_value == pytest.approx(other.shift.p_value, rel=1e-6)


def test_models_that_do_not_fit_are_refused(model, week, training):
    with pytest.raises(UserError, match="not both"):
        quantify_sketch(week, training, model=model)
    with pytest.raises(UserError, match="trained for SLD"):
        quantify_sketch(week, model=model, method="PACC")
    with pytest.raises(UserError, match="positive class already"):
        quantify_sketch(week, model=model, positive="ham")
    renamed = sketch(batches(SHARES, 50).rename({"p": "q"}), score="q")
    with pytest.raises(DataError, match="columns of these names"):
        quantify_sketch(renamed, model=model)
    featured = train(labelled(200), label="y", features=["p"], method="SLD")
    with pytest.raises(UserError, match="makes its scores from columns"):
        quantify_sketch(week, model=featured)


def audited_days(n: int = 80) -> pl.DataFrame:
    """Labelled items of the batches of `week`."""
    labels = np.random.default_rng(5).choice(["ham", "spam"], n)
    drawn = batches(SHARES).sample(n, seed=0).rename({"day": "batch"})
    return drawn.with_columns(pl.Series("label", labels))


@pytest.mark.slow
def test_rows_of_an_audit_that_are_not_used_are_told(week, training):
    """Labels of `spam` alone gave 100% without a word: the other rows were passed over."""
    audit = audited_days()
    assert quantify_sketch(week, training, replicates=50, audit=audit).findings == ()
    spam_only = audit.with_columns(label=pl.when(pl.col("label") == "spam").then("label"))
    n_ham = spam_only["label"].null_count()
    found = quantify_sketch(week, training, replicates=50, audit=spam_only)
    assert found.findings == (SheetFindings.ROWS_WITHOUT_LABEL.found(table="the audit", n=n_ham),)
    # It said `ok` and no more.
    assert watch(found).summary_line().endswith(found.findings[0].sentence)
    unscored = audit.with_columns(p=pl.when(pl.int_range(pl.len()) > 2).then("p"))
    found = quantify_sketch(week, training, replicates=50, audit=unscored)
    assert found.findings == (SketchFindings.UNSCORED_LABELS.found(table="the audit", n=3),)


@pytest.mark.parametrize("classes", [2, 3])
def test_audited_items_that_were_not_counted_are_told(classes):
    """Scores of another model, and items given twice, were used without a word."""
    if classes == 2:
        frame = batches({"day 1": 0.2}, 3000)
        options = {"score": "p"}
    else:
        posteriors = np.random.default_rng(0).dirichlet([0.5] * 3, 3000)
        frame = pl.DataFrame(posteriors, schema=["a", "b", "c"]).with_columns(day=pl.lit("day 1"))
        options = {"posteriors": ["a", "b", "c"]}
    made = sketch(frame, batch="day", **options)
    names = ["not p", "p"] if classes == 2 else ["a", "b", "c"]
    labels = np.random.default_rng(1).choice(names, 60)
    audit = frame.sample(60, seed=2).rename({"day": "batch"})
    audit = audit.with_columns(pl.Series("label", labels))
    assert quantify_sketch(made, replicates=50, audit=audit).findings == ()
    moved = [pl.col("p") * 0.9]
    if classes == 3:
        moved = [pl.col("a") * 0.9, pl.col("b") + pl.col("a") * 0.1]
    for wrong in (audit.with_columns(moved), pl.concat([audit, audit])):
        findings = quantify_sketch(made, replicates=50, audit=wrong).findings
        found = numbers_of(findings, SketchFindings.UNCOUNTED_ITEMS)
        assert found["n_items"] == len(wrong)
        assert found["n"] > 30


@pytest.mark.slow
def test_an_audit_with_many_looks_is_that_of_the_items_themselves(training):
    frame = batches({"day 1": 0.2}, 900).with_columns(item=pl.int_range(pl.len()))
    made = sketch(frame, score="p", batch="day")
    rng = np.random.default_rng(1)
    drawn = rng.permutation(900)[:120]
    audit = frame[drawn].with_columns(
        pl.Series("label", rng.choice(["ham", "spam"], 120, p=[0.8, 0.2])), batch=pl.col("day")
    )
    asked = {
        "audit": audit.with_columns(place=pl.int_range(1, 121)).sort("label"),
        "sequential": True,
        "precision": 0.05,
    }
    found = quantify_sketch(made, training, replicates=50, **asked).batches[0]
    table = {"item": frame["item"], "p": frame["p"]}
    codes = (audit["label"] == "spam").cast(pl.Int64).to_numpy()
    told = reweigh(
        np.column_stack([1 - table["p"], table["p"]]),
        prior_of(training),
        np.array([share.estimate for share in found.unaudited]),
    )
    expected = confidence_sequence(codes, 2, posteriors=told, items=drawn)
    # The scores are few and kept as they are, so that items differ from these in their order alone.
    assert found.audit.shares[1].low == pytest.approx(expected.low[-1, 1], abs=1e-6)
    assert found.audit.shares[1].high == pytest.approx(expected.high[-1, 1], abs=1e-6)
    assert found.audit.progress.half_width == pytest.approx(expected.half_width, abs=1e-6)
    with pytest.raises(UserError, match="needs labels: give the audited table"):
        quantify_sketch(made, training, sequential=True)
    # It was "valid at every look".
    gap = {**asked, "audit": asked["audit"].filter(pl.col("place") != 7)}
    with pytest.raises(DataError, match=r"1 row before the last label .* \(place 7\)"):
        quantify_sketch(made, training, **gap)
    with pytest.raises(DataError, match="not among those"):
        quantify_sketch(
            made, training, **{**asked, "audit": asked["audit"].with_columns(p=0.123456)}
        )
    # The order of labelling was taken to be that of the rows.
    with pytest.raises(DataError, match="number the items in a column 'place', from 1"):
        quantify_sketch(made, training, **{**asked, "audit": audit})
    for place, words in ((pl.lit(7), "place 7 is labelled twice"), (pl.lit("x"), "not a place")):
        with pytest.raises(DataError, match=words):
            quantify_sketch(made, training, **{**asked, "audit": audit.with_columns(place=place)})
    blank = audit.with_columns(label=pl.lit(None, pl.String))
    with pytest.raises(DataError, match="no row with a label and a score; fill in the column 'la"):
        quantify_sketch(made, training, replicates=50, audit=blank)


def prior_of(training) -> np.ndarray:
    counts = training.table.group_by("label").agg(pl.col("n").sum()).sort("label")["n"].to_numpy()
    return counts / counts.sum()
