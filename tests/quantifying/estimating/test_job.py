"""The job from tables to findings: right numbers, batches, audits, and one line for bad input."""

import dataclasses
import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

from quantshift.answers.findings import RowFindings
from quantshift.answers.rows import Rows
from quantshift.errors import DataError, UserError
from quantshift.labelling.audit import audit_interval
from quantshift.quantifying import plan_quantify, quantify, train
from quantshift.quantifying.findings import (
    Advice,
    BatchFindings,
    SampleFindings,
    TrainingFindings,
)
from quantshift.quantifying.training.learning import n_folds
from quantshift.quantifying.training.model import column_order
from quantshift.tables.columns.labels import label_name
from tests.found import codes_of, numbers_of, only

FAST = {"replicates": 100}


def share(batch, label="positive"):
    return next(s for s in batch.shares if s.label == label)


@pytest.mark.slow
def test_the_share_is_found_within_its_interval(folder, model):
    found = quantify(folder / "new.csv", model=model, **FAST)
    (batch,) = found.batches
    assert (batch.name, batch.n_items) == ("new.csv", 300)
    assert found.method == "GuardedSLD"
    assert share(batch).low < 0.3 < share(batch).high
    assert batch.alternatives[0].assumption == "prior"
    for assumption in batch.alternatives:
        assert sum(assumption.prevalence.values()) == pytest.approx(1)
    assert found.training.n_items == 600
    assert found.training.prevalence == {"negative": 0.5, "positive": 0.5}
    assert sum(batch.scores["positive"]) == pytest.approx(1)
    assert found.findings == ()


def test_training_at_once_gives_what_the_model_gives(folder, plain_model):
    options = {"label": "sentiment", "features": ["length", "price"], "method": "PACC"}
    once = quantify(folder / "new.csv", train=folder / "labelled.csv", **options, **FAST)
    assert once == quantify(folder / "new.csv", model=plain_model, **FAST)


def test_data_frames_do_as_well_as_files(folder, model):
    frame = pl.read_csv(folder / "new.csv")
    from_file = quantify(folder / "new.csv", model=model, **FAST).batches[0]
    from_frame = quantify(frame, model=model, **FAST).batches[0]
    named = tuple(found.in_batch("the sample") for found in from_file.findings)
    assert from_frame == dataclasses.replace(from_file, name="the sample", findings=named)


@pytest.mark.slow
def test_columns_are_found_without_being_named(folder):
    model = train(folder / "labelled.csv", label="sentiment", drop=["review"])
    assert model.columns.content == ("date", "length", "price")
    assert [(c.name, c.reason) for c in model.columns.left_out] == [("review", "dropped")]
    (batch,) = quantify(folder / "new.csv", model=model, **FAST).batches
    assert share(batch).estimate == pytest.approx(0.3, abs=0.1)


# In the quick suite, all of them are trained, saved and used in test_folder.py.
@pytest.mark.parametrize(
    "classifier",
    [
        "naive-bayes",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("forest", "boosting")),
    ],
)
def test_classifiers_by_name(folder, classifier):
    model = train(
        folder / "labelled.csv",
        label="sentiment",
        features=["length", "price"],
        classifier=classifier,
        method="PACC",
    )
    assert model.method == "PACC"
    (batch,) = quantify(folder / "new.csv", model=model, **FAST).batches
    assert share(batch).estimate == pytest.approx(0.3, abs=0.12)
    assert [a.method for a in batch.alternatives] == ["PACC", "SLD", "PCC"]
    assert batch.verdict.startswith("Not tested for changes beyond the shares")


@pytest.fixture(scope="module")
def scored(folder):
    """labelled.csv and new.csv with the posteriors of somebody's model."""
    known = pl.read_csv(folder / "labelled.csv")
    new = pl.read_csv(folder / "new.csv")

    def with_posteriors(frame):
        p = 1 / (1 + (-(1.5 * pl.col("length") - pl.col("price") - 1.6)).exp())
        return frame.with_columns(p_positive=p).with_columns(p_negative=1 - pl.col("p_positive"))

    return with_posteriors(known), with_posteriors(new)


def test_posteriors_of_the_user_s_own_model(scored):
    known, new = scored
    found = quantify(
        new, train=known, label="sentiment", posteriors=["p_positive", "p_negative"], **FAST
    )
    assert found.method == "SLD"
    assert share(found.batches[0]).estimate == pytest.approx(0.3, abs=0.08)
    one = quantify(new, train=known, label="sentiment", posteriors=["p_positive"], **FAST)
    assert share(one.batches[0]) == share(found.batches[0])


def test_posteriors_without_training_are_no_evidence(scored):
    """Nothing shows that they are right.

    Their mean was once called a 95% interval, and then had a range, which held the truth in half of
    the samples with other shares of the classes.
    """
    _, new = scored
    posteriors = {"posteriors": ["p_negative", "p_positive"], **FAST}
    answer = quantify(new, **posteriors)
    assert answer.classes == ("p_negative", "p_positive")
    (batch,) = answer.batches
    assert (batch.kind, batch.reason) == ("cannot", "no_evidence")
    unknown = share(batch, "p_positive")
    assert (unknown.estimate, unknown.low, unknown.high) == (None, 0, 1)
    assert "nothing shows that your posteriors are right" in batch.no_estimate_reason
    mean = new["p_positive"].mean()
    (named,) = batch.alternatives
    assert named.prevalence["p_positive"] == pytest.approx(mean)
    assert f"({mean:.1%} if your posteriors are right)" in answer.to_text(details=True)
    assert "no way to tell" in batch.verdict
    assert codes_of(batch.findings) == [Advice.LABEL_SOME, Advice.DECLARE_POSTERIORS]
    assert numbers_of(batch.findings, Advice.LABEL_SOME)["why"] == "unchecked"
    for declared in ({"method": "PCC"}, {"assume": "covariate"}):
        (trusted,) = quantify(new, **posteriors, **declared).batches
        assert (trusted.kind, trusted.reason) == ("conditional", "declared")
        interval = share(trusted, "p_positive")
        assert 0 < interval.low < mean < interval.high < 1
        assert "as you declared" in trusted.basis
    with pytest.raises(UserError, match="give a training table"):
        quantify(new, **posteriors, assume="prior")


def test_columns_find_their_classes():
    assert column_order(["P_b", "P_a"], ["a", "b"]) == [1, 0]
    assert column_order(["pb", "b"], ["a", "b"]) == [0, 1]


def test_batches_by_value_and_by_date(folder, plain_model, tmp_path):
    months = quantify(folder / "new.csv", model=plain_model, by="date", every="month", **FAST)
    assert [b.name for b in months.batches] == ["2026-01", "2026-02", "2026-03"]
    assert sum(b.n_items for b in months.batches) == 300
    weeks = quantify(folder / "new.csv", model=plain_model, by="date", every="week", **FAST)
    assert weeks.batches[0].name == "2026-W01"
    days = quantify(folder / "new.csv", model=plain_model, by="date", every="day", **FAST)
    assert days.batches[0].name == "2026-01-01"
    frame = pl.read_csv(folder / "new.csv").with_columns(week=pl.int_range(300) % 3 + 9)
    frame.write_csv(tmp_path / "w.csv")
    by_value = quantify(tmp_path / "w.csv", model=plain_model, by="week", **FAST)
    assert [b.name for b in by_value.batches] == ["9", "10", "11"]
    both = quantify([tmp_path / "w.csv", folder / "new.csv"], model=plain_model, **FAST)
    assert [b.name for b in both.batches] == ["w.csv", "new.csv"]


def test_a_change_from_one_batch_to_the_next_is_marked(folder, model):
    truth = pl.read_csv(folder / "truth.csv")
    few = truth.filter(pl.col("sentiment") == "negative")[:120].with_columns(part=pl.lit(1))
    many = truth.filter(pl.col("sentiment") == "positive").with_columns(part=pl.lit(2))
    found = quantify(pl.concat([few, many]), model=model, by="part", **FAST)
    assert found.batches[0].change == ()
    assert found.batches[1].change == ("negative", "positive")
    assert "changed" in found.to_text(details=True)


@pytest.mark.slow
def test_audit_from_plan_to_estimate(folder, model, tmp_path):
    sheet = plan_quantify(folder / "new.csv", model=model, precision=0.08)
    assert 30 < sheet.plan.n_labels < 200
    sheet.write(tmp_path / "audit.csv")
    drawn = pl.read_csv(tmp_path / "audit.csv")
    assert drawn.columns[:3] == ["item", "sentiment", "review"]
    assert drawn["sentiment"].null_count() == len(drawn) == sheet.plan.n_labels
    truth = pl.read_csv(folder / "truth.csv")
    assert drawn["review"][0] == truth["review"][drawn["item"][0] - 1]
    labelled = drawn.with_columns(sentiment=truth["sentiment"].gather(drawn["item"] - 1))
    labelled.write_csv(tmp_path / "audited.csv")
    found = quantify(folder / "new.csv", model=model, audit=tmp_path / "audited.csv", **FAST)
    (batch,) = found.batches
    assert batch.audit.n_labelled == sheet.plan.n_labels
    assert share(batch).low <= 0.3 <= share(batch).high
    assert batch.shares == batch.audit.shares != batch.unaudited
    by_content = labelled.drop("item", "plan", "place", "check")
    again = quantify(folder / "new.csv", model=model, audit=by_content, **FAST)
    assert again.batches[0].audit == batch.audit


def test_a_plan_knows_from_training_how_often_hard_verdicts_err():
    rng = np.random.default_rng(0)

    def verdicts(n, share):
        bad = rng.random(n) < share
        said = np.where(rng.random(n) < 0.9, bad, ~bad)
        return pl.DataFrame({"p_bad": said.astype(float), "label": np.where(bad, "bad", "good")})

    labelled, new = verdicts(1000, 0.5), verdicts(4000, 0.3)
    options = {"label": "label", "posteriors": ["p_bad", "p_good"], "precision": 0.05}
    both = pl.lit(1.0) - pl.col("p_bad")
    sheet = plan_quantify(
        new.drop("label").with_columns(p_good=both),
        train=labelled.with_columns(p_good=both),
        **options,
    )
    rows = np.array(sheet.rows) - 1
    codes = (new["label"].to_numpy()[rows] == "good").astype(int)
    posteriors = np.column_stack([new["p_bad"], 1 - new["p_bad"]])
    found = audit_interval(posteriors, rows, codes)
    assert (found.high[0] - found.low[0]) / 2 == pytest.approx(0.05, rel=0.25)
    # Nothing is known of the errors of verdicts without training: counting.
    alone = plan_quantify(new.drop("label").with_columns(p_good=both), **options).plan
    assert sheet.plan.n_labels < 0.8 * alone.n_labels
    assert alone.n_labels == alone.n_counting


def test_an_audit_that_contradicts_is_believed(folder, model):
    truth = pl.read_csv(folder / "truth.csv")
    lies = truth[:80].with_columns(sentiment=pl.lit("positive"))
    (batch,) = quantify(folder / "new.csv", model=model, audit=lies, **FAST).batches
    assert batch.audit.contradicts
    assert share(batch).estimate > 0.9
    assert Advice.AUDIT_CONTRADICTS in codes_of(batch.findings)


def test_too_few_audited_items_are_said_to_be_too_few(folder, model):
    few = pl.read_csv(folder / "truth.csv")[:4]
    (batch,) = quantify(folder / "new.csv", model=model, audit=few, **FAST).batches
    assert batch.audit is None
    assert numbers_of(batch.findings, BatchFindings.TOO_FEW_LABELS) == {"n": 4, "fewest": 10}


def test_a_sample_without_rows_is_one_line_and_a_batch_without_rows_knows_nothing(
    folder, plain_model, tmp_path
):
    (tmp_path / "empty.csv").write_text("length,price\n")
    with pytest.raises(DataError, match=r"empty\.csv: the table has a header and no rows; give a"):
        quantify(tmp_path / "empty.csv", model=plain_model, **FAST)
    found = quantify([tmp_path / "empty.csv", folder / "new.csv"], model=plain_model, **FAST)
    batch, other = found.batches
    assert share(batch).estimate is None
    assert (share(batch).low, share(batch).high) == (0, 1)
    assert codes_of(batch.findings) == [BatchFindings.NO_ITEMS, Advice.GIVE_ITEMS]
    assert other.can_be_estimated
    assert "empty.csv: no rows\n" in found.to_text(details=True)


@pytest.mark.parametrize("n", [1, 7])
def test_a_tiny_sample_has_a_wide_interval_and_a_warning(folder, model, n):
    sample = pl.read_csv(folder / "new.csv")[:n]
    (batch,) = quantify(sample, model=model, **FAST).batches
    assert share(batch).high - share(batch).low > 0.3
    assert numbers_of(batch.findings, BatchFindings.FEW_ITEMS) == {"n": n}


def test_labelled_rows_without_a_score_are_counted_once():
    """Of 40 rows 5 had no score: "5 of 35 rows were left out", "trained on 35 of 30 rows"."""
    table = pl.DataFrame(
        {"p": [None] * 5 + [0.1, 0.4, 0.3, 0.8, 0.9, 0.7, 0.2] * 5, "label": ["no", "yes"] * 20}
    )
    trained = train(table, label="label", posteriors="p").training
    assert trained.rows == Rows("the training table", 40, 35, {"no content": 5})
    assert trained.findings == ()


def test_rows_without_a_text_are_left_out_with_a_warning(folder, model, tmp_path):
    sample = pl.read_csv(folder / "new.csv")
    holes = sample.with_columns(
        review=pl.when(pl.int_range(300) < 12).then(None).otherwise("review")
    )
    holes.write_csv(tmp_path / "holes.csv")
    found = quantify(tmp_path / "holes.csv", model=model, **FAST)
    assert found.batches[0].n_items == 288
    assert found.batches[0].left_out == 12
    assert numbers_of(found.findings, RowFindings.ROWS_LEFT_OUT) == {
        "n": 12,
        "n_read": 300,
        "reasons": {"no content": 12},
    }
    assert found.sample_rows == (Rows(f"{tmp_path}/holes.csv", 300, 288, {"no content": 12}),)
    whole = quantify(sample[12:], model=model, **FAST)
    known, lost = share(whole.batches[0]), 12 / 300
    assert share(found.batches[0]).low == pytest.approx(known.low * (1 - lost))
    assert share(found.batches[0]).high == pytest.approx(known.high * (1 - lost) + lost)


def test_mixed_encodings_are_read_with_a_warning(model, tmp_path):
    rows = ["review", *(f"good {i}" for i in range(40))]
    content = "\n".join(rows).encode() + "\ncafé\n".encode("latin-1")
    (tmp_path / "mixed.csv").write_bytes(content)
    found = quantify(tmp_path / "mixed.csv", model=model, **FAST)
    file = f"{tmp_path}/mixed.csv"
    assert found.findings == (RowFindings.UNDECODABLE_CELLS.found(table=file, n=1),)


def bad_tables(path, model, plain_model):
    """Bad input as (arguments, the exact line)."""
    good = {"label": "sentiment", "text": "review"}
    labelled, new = path / "labelled.csv", path / "new.csv"
    frame = pl.read_csv(labelled)
    frame.with_columns(sentiment=pl.lit("positive")).write_csv(path / "one.csv")
    frame.with_columns(sentiment=pl.int_range(600) % 500).write_csv(path / "500.csv")
    frame.with_columns(
        sentiment=pl.when(pl.int_range(600) < 3).then(pl.lit("odd")).otherwise("sentiment")
    ).write_csv(path / "rare.csv")
    frame.drop("review").write_csv(path / "textless.csv")
    pl.read_csv(new).drop("review").write_csv(path / "short.csv")
    pl.read_csv(new).with_columns(
        date=pl.when(pl.int_range(300) == 16).then(pl.lit("2026-13-01")).otherwise("date")
    ).write_csv(path / "dates.csv")
    pl.read_csv(new).with_columns(
        length=pl.when(pl.int_range(300) < 200)
        .then(pl.lit("long"))
        .otherwise(pl.col("length").cast(pl.String))
    ).write_csv(path / "words.csv")
    pl.DataFrame({"review": ["unheard of"], "sentiment": ["positive"]}).write_csv(path / "far.csv")
    pl.read_csv(path / "truth.csv")[:20].with_columns(sentiment=pl.lit("positiv")).write_csv(
        path / "misspelt.csv"
    )
    yield (
        {"sample": new, "train": labelled, "label": "sentimnt", "text": "review"},
        f"{labelled}: no column 'sentimnt'; did you mean 'sentiment'?",
    )
    yield (
        {"sample": new, "train": labelled, "label": "sentiment", "text": "reviews"},
        f"{labelled}: no column 'reviews'; did you mean 'review'?",
    )
    yield (
        {"sample": new, "train": path / "one.csv", **good},
        f"{path}/one.csv: all labels in column 'sentiment' are 'positive'; at least two classes "
        "are needed",
    )
    yield (
        {"sample": new, "train": path / "500.csv", **good},
        f"{path}/500.csv: column 'sentiment' has 500 different values; is it the label? (at most "
        "50 classes)",
    )
    yield (
        {"sample": new, "train": path / "rare.csv", **good},
        f"{path}/rare.csv: class 'odd' has 3 labelled rows, at least 5 are needed; add some, merge "
        "the class or leave it out",
    )
    yield (
        {"sample": path / "short.csv", "model": model},
        f"{path}/short.csv: the model needs a column that is not there: 'review'; add it, or train "
        "a model without it",
    )
    yield (
        {"sample": path / "dates.csv", "model": plain_model, "by": "date", "every": "week"},
        f"{path}/dates.csv: row 17, column 'date': '2026-13-01' is not a date; write "
        f"YYYY-MM-DD, or "
        "group by the values as they are, without `every`",
    )
    yield (
        {"sample": path / "words.csv", "model": plain_model},
        f"{path}/words.csv: column 'length' holds words such as 'long', but numbers in training; "
        "is it the same column?",
    )
    yield (
        {"sample": new, "model": model, "audit": path / "far.csv"},
        f"{path}/far.csv: row 1 is not an item of the sample; audit items of the sample itself "
        "(quantshift plan quantify draws them)",
    )
    yield (
        {"sample": new, "model": model, "audit": path / "misspelt.csv"},
        f"{path}/misspelt.csv: row 1: unknown label 'positiv'; did you mean 'positive'?",
    )
    yield ({"sample": new}, "give a training table, a model, or columns of posteriors")
    yield (
        {"sample": new, "train": labelled, "text": "review"},
        "name the column of the labels",
    )
    yield (
        {"sample": new, "model": model, "train": labelled},
        "give a training table or a model, not both",
    )
    yield (
        {"sample": new, "train": labelled, **good, "every": "week"},
        "`every` needs the column of the dates: give `by` too",
    )
    yield (
        {"sample": new, "model": model, "by": "date", "every": "weak"},
        "unknown stretch of time 'weak'; did you mean 'week'?",
    )
    yield (
        {"sample": new, "train": labelled, **good, "method": "SDL"},
        "unknown method 'SDL'; did you mean 'SLD'? "
        '(your own: "package.module:Class" or "FILE.py:Class")',
    )
    yield (
        {"sample": new, "train": labelled, **good, "classifier": "logistics"},
        "unknown classifier 'logistics'; did you mean 'logistic'? "
        '(your own: "package.module:name" or "FILE.py:name")',
    )
    yield (
        {"sample": new, "train": labelled, **good, "classifier": "boosting"},
        "boosting takes numbers, not words; for texts use logistic or naive-bayes",
    )
    yield (
        {"sample": new, "train": labelled, "label": "review", "text": "review"},
        "'review' is the label: it cannot be part of the items too",
    )
    yield (
        {"sample": [new, new], "model": model},
        "two samples are called 'new.csv'; rename one",
    )
    yield ({"sample": [], "model": model}, "name at least one sample")
    yield (
        {"sample": new, "posteriors": ["length", "price"]},
        f"{new}: posteriors of item ",
    )


def test_bad_input_is_one_exact_line(folder, model, plain_model):
    for arguments, line in bad_tables(folder, model, plain_model):
        options = dict(arguments)
        with pytest.raises(UserError) as caught:
            quantify(options.pop("sample"), **options, **FAST)
        message = str(caught.value)
        if line.endswith("item "):
            assert message.startswith(line)
        else:
            assert message == line
        assert "\n" not in message


def test_texts_without_a_word_are_one_line(tmp_path):
    pl.DataFrame({"t": ["?", "!"] * 10, "y": ["a", "b"] * 10}).write_csv(tmp_path / "t.csv")
    with pytest.raises(DataError, match="no words in common; is it the right column"):
        train(tmp_path / "t.csv", label="y", text="t")


def test_no_column_to_work_on_is_one_line(tmp_path):
    pl.DataFrame({"t": [7] * 20, "y": ["a", "b"] * 10}).write_csv(tmp_path / "t.csv")
    with pytest.raises(UserError, match=r"no column can be used: t \(constant\); name"):
        train(tmp_path / "t.csv", label="y")


@pytest.mark.parametrize("kind", [bool, int, float, str])
def test_labels_of_any_type(folder, kind):
    frame = pl.read_csv(folder / "labelled.csv")
    y = (frame["sentiment"] == "positive").cast(pl.Int64)
    values = (
        y.cast(pl.Boolean)
        if kind is bool
        else y.cast({int: pl.Int64, float: pl.Float64, str: pl.String}[kind])
    )
    model = train(frame.with_columns(sentiment=values), label="sentiment", features=["length"])
    assert model.classes == (("False", "True") if kind is bool else ("0", "1"))
    assert label_name(np.float64(2.0)) == "2"
    assert model.names["1" if kind is not bool else "True"].startswith("sentiment = ")


@pytest.mark.slow
def test_three_classes(folder):
    frame = pl.read_csv(folder / "labelled.csv")
    third = frame.with_columns(
        sentiment=pl.when(pl.col("price") > 0.5).then(pl.lit("dear")).otherwise("sentiment")
    )
    found = quantify(third, train=third, label="sentiment", features=["length", "price"], **FAST)
    truth = dict(third["sentiment"].value_counts(normalize=True).iter_rows())
    for each in found.batches[0].shares:
        assert each.low - 0.02 <= truth[each.label] <= each.high + 0.02
    assert found.classes == ("dear", "negative", "positive")


def test_intervals_of_all_classes_at_once_are_wider(folder):
    frame = pl.read_csv(folder / "labelled.csv")
    third = frame.with_columns(
        sentiment=pl.when(pl.col("price") > 0.5).then(pl.lit("dear")).otherwise("sentiment")
    )
    model = train(third, label="sentiment", features=["length", "price"], method="PACC")
    alone, together = (
        quantify(folder / "new.csv", model=model, simultaneous=joint, **FAST)
        for joint in (False, True)
    )
    assert (alone.simultaneous, together.simultaneous) == (False, True)
    assert json.loads(together.to_json())["simultaneous"] is True
    for one, other in zip(alone.batches[0].shares, together.batches[0].shares, strict=True):
        assert one.estimate == other.estimate
        assert other.low <= one.low
        assert other.high > one.high


def test_features_that_say_nothing_leave_any_share_possible():
    rng = np.random.default_rng(0)
    labelled = pl.DataFrame({"x": rng.normal(size=400), "label": ["no", "yes"] * 200})
    sample = pl.DataFrame({"x": rng.normal(size=200)})
    found = quantify(sample, train=labelled, label="label", features=["x"], **FAST)
    (batch,) = found.batches
    assert [(s.estimate, s.low, s.high) for s in batch.shares] == [(None, 0, 1), (None, 0, 1)]
    assert not batch.can_be_estimated
    told = found.to_text(details=True)
    assert told.startswith(
        f"label = yes: cannot be estimated from these columns: {batch.no_estimate_reason};"
    )


def twins(n, seed, classes):
    """Items of two kinds that differ in `x`; each kind has classes that nothing tells apart."""
    rng = np.random.default_rng(seed)
    second = rng.random(n) < 0.4
    names = np.where(second, rng.choice(classes[1], n), rng.choice(classes[0], n))
    return pl.DataFrame({"x": rng.normal(2.5 * second), "z": rng.normal(size=n), "kind": names})


def test_of_several_classes_one_that_may_have_any_share_has_no_estimate():
    classes = (["a1", "a2"], ["b"])
    options = {"label": "kind", "method": "PACC", "replicates": 100}
    found = quantify(twins(300, 1, classes).drop("kind"), train=twins(500, 0, classes), **options)
    (batch,) = found.batches
    assert batch.can_be_estimated
    a1, a2, b = batch.shares
    assert (a1.estimate, a1.low, a1.high) == (a2.estimate, a2.low, a2.high) == (None, 0.0, 1.0)
    assert b.estimate is not None
    assert 0 < b.low < b.estimate < b.high < 1
    assert found.to_text(details=True).startswith(
        "a2: cannot be estimated from these columns: in cross-validation the classifier cannot "
        "tell this class from another better than chance; between 0 and 100%"
    )


def test_if_each_of_several_classes_has_a_twin_nothing_is_estimated():
    classes = (["a1", "a2"], ["b1", "b2"])
    options = {"label": "kind", "method": "PACC", "replicates": 100}
    found = quantify(twins(300, 1, classes).drop("kind"), train=twins(500, 0, classes), **options)
    (batch,) = found.batches
    assert not batch.can_be_estimated
    assert "can tell no class from all the others" in batch.no_estimate_reason


def test_a_method_without_interval_is_refused_before_the_work(folder):
    with pytest.raises(UserError, match=r"HDy has no interval: .* use DyS"):
        train(folder / "labelled.csv", label="sentiment", text="review", method="HDy")


@pytest.mark.slow
def test_a_long_training_table_is_sampled(folder, monkeypatch):
    from quantshift.quantifying.training import train as module

    monkeypatch.setattr(module, "MOST_TRAINING", 200)
    made = train(folder / "labelled.csv", label="sentiment", features=["length", "price"])
    assert made.training.rows.read == 600
    assert made.training.n_items == 200
    found = quantify(folder / "new.csv", model=made, **FAST)
    assert numbers_of(found.findings, TrainingFindings.TRAINED_ON_A_PART) == {
        "n": 200,
        "n_rows": 600,
    }


def test_of_a_long_sample_a_random_part_is_used(folder, plain_model, monkeypatch):
    from quantshift.quantifying.reading import pool as module

    whole = quantify(folder / "new.csv", model=plain_model, by="date", every="month", **FAST)
    monkeypatch.setattr(module, "MOST_KEPT", 200)
    part = quantify(folder / "new.csv", model=plain_model, by="date", every="month", **FAST)
    assert [b.n_items for b in part.batches] == [b.n_items for b in whole.batches]
    assert part.findings == (SampleFindings.RANDOM_PART.found(n=199, n_items=300),)
    # The last month is short: its items are all there.
    assert whole.batches[-1].n_items < 60
    assert part.batches[-1].scores == whole.batches[-1].scores
    assert part.batches[0].scores != whole.batches[0].scores


@pytest.mark.parametrize("by_number", [True, False])
def test_audited_items_of_a_long_sample_are_kept(
    folder, plain_model, monkeypatch, by_number, tmp_path
):
    from quantshift.quantifying.reading import pool as module

    monkeypatch.setattr(module, "MOST_KEPT", 50)
    truth = pl.read_csv(folder / "truth.csv")
    audited = truth[100:140]
    if by_number:
        sheet = plan_quantify(folder / "new.csv", model=plain_model, n_labels=40)
        sheet.write(tmp_path / "audit.csv")
        rows = pl.read_csv(tmp_path / "audit.csv")
        audited = rows.with_columns(sentiment=truth["sentiment"].gather(rows["item"] - 1))
    (batch,) = quantify(folder / "new.csv", model=plain_model, audit=audited, **FAST).batches
    assert batch.n_items == 300
    assert batch.audit.n_labelled == 40


@pytest.mark.parametrize(
    ("option", "given"),
    [
        ("label", "mood"),
        ("text", "review"),
        ("features", ["length"]),
        ("posteriors", ["price"]),
        ("method", "SLD"),
        ("classifier", "forest"),
    ],
)
def test_a_model_is_what_it_was_trained_to_be(folder, plain_model, option, given):
    shown = given if isinstance(given, str) else given[0]
    with pytest.raises(UserError) as caught:
        quantify(folder / "new.csv", model=plain_model, **{option: given}, **FAST)
    assert str(caught.value) == (
        f"the model was not trained with {option} {shown}; leave it out, or train a model with it"
    )
    assert caught.value.arguments == (option,)


def test_names_are_texts_and_a_column_has_one_meaning():
    """A number was a TypeError; posteriors without training were their own weights."""
    new = pl.DataFrame({"a": [0.2, 0.8], "b": [0.8, 0.2]})
    with pytest.raises(UserError, match="3 is not a text; write names and values as texts"):
        quantify(new, posteriors=["a", 3], **FAST)
    with pytest.raises(UserError, match="'a' is one of posteriors, and cannot be the weights too"):
        quantify(new, posteriors=["a", "b"], weights="a", **FAST)


def test_a_sample_whose_weights_are_all_zero_is_refused():
    known = pl.DataFrame({"a": [0.2, 0.8] * 20, "y": ["no", "yes"] * 20, "w": [1.0, 2.0] * 20})
    new = pl.DataFrame({"a": [0.2, 0.8], "w": [0.0, 0.0], "day": ["mon", "tue"]})
    options = {"train": known, "label": "y", "posteriors": ["a"], "weights": "w", **FAST}
    with pytest.raises(DataError, match="the weights of the sample are zero for all items"):
        quantify(new, **options)
    one = new.with_columns(w=pl.Series([1.0, 0.0]))
    with pytest.raises(DataError, match="the weights of tue are zero"):
        quantify(one, by="day", **options)


def test_posteriors_of_a_model_cannot_be_dropped(folder):
    """The option was not heard: only features were looked at."""
    known = {"a": [0.2, 0.8] * 20, "y": ["no", "yes"] * 20}
    model = train(pl.DataFrame(known), label="y", posteriors=["a"])
    for option, given in (("drop", ["a"]), ("id", "a"), ("weights", "a")):
        with pytest.raises(UserError, match=f"the model was not trained with {option} a"):
            quantify(pl.DataFrame({"a": [0.5]}), model=model, **{option: given}, **FAST)


def test_options_that_repeat_the_model_s_are_heard(folder, plain_model):
    plain = quantify(folder / "new.csv", model=plain_model, **FAST)
    repeated = quantify(
        folder / "new.csv",
        model=plain_model,
        label="sentiment",
        features=["length", "price"],
        method="PACC",
        classifier="logistic",
        **FAST,
    )
    assert repeated == plain


def test_items_that_tell_nothing_are_a_warning(folder):
    frame = pl.read_csv(folder / "labelled.csv").with_columns(length=pl.lit(1.0))
    found = quantify(
        frame.drop("sentiment"), train=frame, label="sentiment", features=["length"], **FAST
    )
    little = only(found.findings, TrainingFindings.LITTLE_SEPARATION)
    assert little.about.table == "the training table"
    assert 0.4 < little.numbers["auc"] < 0.6


def test_columns_that_say_much_about_a_rare_class_are_no_cause_for_a_warning():
    """Always predicting the other class is about as accurate."""
    rng = np.random.default_rng(0)
    y = rng.random(600) < 0.05
    frame = pl.DataFrame({"x": rng.normal(size=600) + 1.2 * y, "y": np.where(y, "yes", "no")})
    found = quantify(frame.drop("y"), train=frame, label="y", classifier="logistic", **FAST)
    assert found.training.accuracy <= found.training.prevalence["no"]
    assert TrainingFindings.LITTLE_SEPARATION not in codes_of(found.findings)


@pytest.mark.parametrize(
    ("counts", "folds"),
    [((2500, 2500), 20), ((10_000, 10_000), 10), ((50_000, 50_000), 5), ((7, 100), 7), ((5, 5), 5)],
)
def test_the_fewer_items_the_more_folds(counts, folds):
    assert n_folds(np.repeat([0, 1], counts)) == folds


def test_rows_without_a_group_are_a_batch_of_their_own(folder, plain_model):
    sample = pl.read_csv(folder / "new.csv")
    holes = sample.with_columns(date=pl.when(pl.int_range(300) < 5).then(None).otherwise("date"))
    for every in ("month", None):
        found = quantify(holes, model=plain_model, by="date", every=every, replicates=10)
        assert sum(b.n_items for b in found.batches) == 300
        assert {b.name: b.n_items for b in found.batches}["(missing)"] == 5
        assert found.findings == ()


def test_many_batches_are_what_they_are_alone(folder, model):
    frame = pl.read_csv(folder / "new.csv").with_columns(part=pl.int_range(300) // 150)
    both = quantify(frame, model=model, by="part", **FAST)
    first = quantify(frame[:150], model=model, by="part", **FAST)
    assert both.batches[0] == first.batches[0]
    assert both.batches[0].shift.p_value != both.batches[1].shift.p_value


def test_json_holds_everything(folder, model):
    found = quantify(folder / "new.csv", model=model, **FAST)
    told = json.loads(found.to_json())
    assert told["format"] == 1
    assert told["batches"][0]["shares"][1]["label"] == "positive"
    assert told["batches"][0]["shift"]["p_value"] > 0
    assert told["training"]["n_items"] == 600


def test_the_folds_are_those_of_the_number_of_items(folder):
    """A method that looks at features as well needs no fewer; slow rivals have to do with few."""
    asked = {"label": "sentiment", "features": ["length", "price"]}
    made = {m: train(folder / "labelled.csv", method=m, **asked) for m in ("SubclassSLD", "PACC")}
    assert n_folds(np.repeat([0, 1], 300)) == 20
    assert made["SubclassSLD"].quantifier.cv == made["PACC"].scorer.cv == 20
    assert len(made["SubclassSLD"].quantifier.committee_) == 20
    by_default = train(folder / "labelled.csv", **asked)
    assert by_default.method == "GuardedSLD"
    assert [len(learnt.models) for learnt in by_default.quantifier.learnt_] == [10, 10]


def test_a_method_of_features_alone(folder):
    """Its items have the posteriors of another method beside them, for all else that is told."""
    model = train(
        folder / "labelled.csv", label="sentiment", features=["length", "price"], method="HDx"
    )
    found = quantify(folder / "new.csv", model=model, replicates=10)
    assert share(found.batches[0]).low < 0.3 < share(found.batches[0]).high
    assert {a.method for a in found.batches[0].alternatives} == {"HDx", "SLD", "PCC"}
    with pytest.raises(UserError, match="HDx needs features, not posteriors"):
        train(folder / "labelled.csv", label="sentiment", posteriors=["length"], method="HDx")


def test_progress_counts_rows_and_replicates(folder, plain_model):
    seen = []
    quantify(
        folder / "new.csv", model=plain_model, progress=lambda *said: seen.append(said), **FAST
    )
    assert ("reading new.csv", 300, 0) in seen
    counts = [done for what, done, total in seen if what == "resampling" and total == 100]
    assert counts == sorted(counts)
    assert counts[0] == 0
    assert counts[-1] == 100


def test_quotes_gone_wrong_stop_or_are_read_line_by_line(folder, tmp_path):
    """In training and in samples alike."""
    for name, n in (("labelled.csv", 600), ("new.csv", 300)):
        lines = (folder / name).read_text().splitlines()
        at = lines[0].split(",").index("date")
        cells = lines[100].split(",")
        lines[100] = ",".join([*cells[:at], '"' + cells[at], *cells[at + 1 :]])
        (tmp_path / name).write_text("\n".join(lines) + "\n")
        assert len(lines) == n + 1
    asked = {"label": "sentiment", "features": ["length", "price"], "method": "PACC"}
    good, bad = folder, tmp_path
    for labelled, sample in ((bad, good), (good, bad)):
        with pytest.raises(DataError, match="quote"):
            quantify(sample / "new.csv", train=labelled / "labelled.csv", **asked, **FAST)
    found = quantify(bad / "new.csv", train=bad / "labelled.csv", lenient=True, **asked, **FAST)
    assert (found.training.rows.used, found.sample_rows[0].used) == (600, 300)


def test_every_file_of_a_pattern_is_a_batch(folder, plain_model, tmp_path):
    frame = pl.read_csv(folder / "new.csv")
    for part in range(2):
        frame[150 * part : 150 * (part + 1)].write_csv(tmp_path / f"week-{part}.csv")
    found = quantify(str(tmp_path / "week-*.csv"), model=plain_model, **FAST)
    assert [batch.name for batch in found.batches] == ["week-0.csv", "week-1.csv"]


def test_pandas_and_polars_give_the_same(folder):
    asked = {"label": "sentiment", "features": ["length", "price"], "method": "PACC"}
    found = []
    for read in (pl.read_csv, pd.read_csv):
        labelled, new = read(folder / "labelled.csv"), read(folder / "new.csv")
        found.append(quantify(new, train=labelled, **asked, **FAST))
    assert found[0].batches == found[1].batches
