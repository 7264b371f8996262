"""Tables as people have them: every kind of column, gaps, ids, labels of many spellings, copies."""

import datetime

import numpy as np
import polars as pl
import pytest

from quantshift.answers.findings import RowFindings
from quantshift.answers.rows import Rows
from quantshift.errors import DataError, UserError
from quantshift.quantifying import load_model, quantify, save_model, train
from quantshift.quantifying.findings import SampleFindings, TrainingFindings
from quantshift.quantifying.training.classifiers import OnDense
from quantshift.quantifying.training.copies import copies
from quantshift.tables.columns.findings import TableFindings
from tests.found import codes_of, numbers_of, only
from tests.lab.data.made_workbooks import workbook

FAST = {"replicates": 20, "method": "PACC"}
N = 600


def people(n=N, seed=0, share=0.5):
    """Every kind of column; all but the id tell something of the class."""
    rng = np.random.default_rng(seed)
    bad = rng.random(n) < share
    words = np.array(["fine", "quick", "kind", "warm", "slow", "rude", "cold", "late"])
    texts = [
        " ".join(rng.choice(words[2 if b else 0 :][:6], 4)) + f" visit number {i} of the week"
        for i, b in enumerate(bad)
    ]
    income = rng.lognormal(8, 0.4, n) * np.where(bad, 0.8, 1)
    return pl.DataFrame(
        {
            "customerId": rng.permutation(10 * n)[:n] + 70_000,
            "row": np.arange(n) + 1,
            "age": rng.normal(40, 10, n) + 8 * bad,
            "income": pl.Series(np.where(rng.random(n) < 0.1, np.nan, income), nan_to_null=True),
            "town": np.where(rng.random(n) < np.where(bad, 0.7, 0.3), "north", "south"),
            "member": rng.random(n) < np.where(bad, 0.3, 0.6),
            "since": np.datetime64("2023-01-01") + rng.integers(0, 300, n),
            "note": texts,
            "same": ["x"] * n,
            "churn": np.where(bad, "yes", "no"),
        }
    )


def reasons(columns):
    return {column.name: column.reason for column in columns}


def shares(found, batch=0):
    return {share.label: share for share in found.batches[batch].shares}


def test_every_kind_of_column_is_used_and_the_others_are_named(tmp_path):
    people().write_csv(tmp_path / "a.csv")
    people(400, 1, 0.2).drop("churn").write_csv(tmp_path / "b.csv")
    found = quantify(tmp_path / "b.csv", train=tmp_path / "a.csv", label="churn", **FAST)
    assert {c.name: c.kind for c in found.used} == {
        "age": "number",
        "income": "number",
        "town": "category",
        "member": "truth value",
        "since": "date",
        "note": "text",
    }
    how = {c.name: c.how for c in found.used}
    assert how["income"].startswith("scaled; ")
    assert how["income"].endswith("missing values filled with the median and flagged")
    assert how["town"] == "2 levels"
    assert how["since"] == "by month and weekday"
    left_out = reasons(found.left_out_columns)
    assert set(left_out) == {"customerId", "row", "same"}
    assert left_out["row"] == "row numbers"
    assert left_out["same"] == "constant"
    assert found.training.rows == Rows(str(tmp_path / "a.csv"), N, N, {})
    assert found.sample_rows == (Rows(str(tmp_path / "b.csv"), 400, 400, {}),)
    assert 0.85 < found.training.accuracy < 0.99
    assert shares(found)["yes"].estimate == pytest.approx(0.2, abs=0.06)
    assert found.names == {"no": "churn = no", "yes": "churn = yes"}


def test_a_frame_and_its_csv_give_the_same(tmp_path):
    people().write_csv(tmp_path / "a.csv")
    frames = quantify(people(300, 1), train=people(), label="churn", **FAST)
    file = quantify(people(300, 1), train=tmp_path / "a.csv", label="churn", **FAST)
    assert [(c.name, c.kind) for c in frames.used] == [(c.name, c.kind) for c in file.used]
    one, other = shares(frames)["yes"].estimate, shares(file)["yes"].estimate
    assert one == pytest.approx(other, abs=1e-6)


def test_only_text_only_features_or_both():
    def names(**options):
        return train(people(), label="churn", method="PACC", **options).columns.content

    assert names(text="note") == ("note",)
    assert names(text=["note", "town"]) == ("note", "town")
    assert names(features=["age", "customerId"]) == ("age", "customerId")
    assert names(text="note", features=["age"]) == ("note", "age")
    assert "age" not in names(drop=["age"])
    assert "customerId" not in names()


def test_columns_that_are_not_named_are_left_out_as_such():
    model = train(people(), label="churn", features=["age"], method="PACC")
    assert reasons(model.columns.left_out)["note"] == "not named"


def test_by_id_and_weights_are_never_features():
    rng = np.random.default_rng(0)
    frame = people().with_columns(w=rng.integers(1, 4, N), who=pl.col("age").round(1))
    found = quantify(frame, train=frame, label="churn", by="town", id="who", weights="w", **FAST)
    left_out = reasons(found.left_out_columns)
    assert left_out["town"] == "divides the sample into batches"
    assert left_out["who"] == "the ids of the rows"
    assert left_out["w"] == "the weights of the rows"
    assert [batch.name for batch in found.batches] == ["north", "south"]
    assert not {"town", "who", "w"} & {column.name for column in found.used}


def test_a_model_that_uses_the_column_of_the_batches_is_a_warning():
    model = train(people(), label="churn", features=["age", "town"], method="PACC")
    found = quantify(people(100, 1).drop("churn"), model=model, by="town", replicates=10)
    assert only(found.findings, SampleFindings.DIVIDING_COLUMN).about.column == "town"


def test_weights_count_in_training_and_sample():
    frame = people(share=0.5).with_columns(w=pl.when(pl.col("churn") == "yes").then(3).otherwise(1))
    found = quantify(frame, train=frame, label="churn", weights="w", **FAST)
    truth = 3 * (frame["churn"] == "yes").sum() / frame["w"].sum()
    assert found.training.prevalence["yes"] == pytest.approx(truth)
    assert shares(found)["yes"].estimate == pytest.approx(truth, abs=0.05)


@pytest.mark.parametrize("cell", ["", "-1", "many", "inf"])
@pytest.mark.parametrize("side", ["train", "sample"])
def test_a_weight_that_is_none_names_its_row(tmp_path, cell, side):
    good = people(60).with_columns(w=pl.lit("1"))
    bad = good.with_columns(w=pl.when(pl.int_range(60) == 6).then(pl.lit(cell)).otherwise("w"))
    good.write_csv(tmp_path / "good.csv")
    bad.write_csv(tmp_path / "bad.csv")
    first, second = ("bad", "good") if side == "train" else ("good", "bad")
    with pytest.raises(DataError, match=r"bad\.csv: row 7, column 'w': .* is not a valid weight"):
        quantify(
            tmp_path / f"{second}.csv",
            train=tmp_path / f"{first}.csv",
            label="churn",
            features=["age"],
            weights="w",
            **FAST,
        )


def test_columns_missing_in_the_sample_are_left_out_before_training():
    found = quantify(people(300, 1).drop("note", "age"), train=people(), label="churn", **FAST)
    left_out = reasons(found.left_out_columns)
    assert left_out["note"] == left_out["age"] == "missing in the sample"
    renamed = people(300, 1).rename({"age": "Age"})
    found = quantify(renamed, train=people(), label="churn", **FAST)
    assert reasons(found.left_out_columns)["age"] == "missing in the sample, which has 'Age'"
    assert "income" in {column.name for column in found.used}
    with pytest.raises(DataError, match="the model needs a column that is not there: 'note'"):
        quantify(people(9).drop("note"), train=people(), label="churn", text="note", **FAST)


def test_a_model_names_the_columns_that_a_sample_lacks():
    model = train(people(), label="churn", method="PACC")
    with pytest.raises(
        DataError, match="the model needs columns that are not there: 'age', 'note'"
    ):
        quantify(people(9).drop("note", "age"), model=model, replicates=10)
    with pytest.raises(DataError, match="needs a column that is not there: 'age'; add it, or"):
        quantify(people(9).drop("age"), model=model, replicates=10)


def test_a_column_written_in_another_way_is_suggested():
    model = train(people(), label="churn", features=["age", "income"], method="PACC")
    with pytest.raises(DataError, match=r"there: 'income' \(did you mean 'Income'\?\); add it"):
        quantify(people(9).rename({"income": "Income"}), model=model, replicates=10)


def test_columns_that_training_lacks_and_labels_in_the_sample_are_mentioned():
    model = train(people(), label="churn", features=["age"], method="PACC")
    sample = people(50, 1).with_columns(color=pl.lit("red"), part=pl.lit("a"))
    found = quantify(sample, model=model, by="part", replicates=20)
    assert found.findings == (
        SampleFindings.UNUSED_COLUMNS.found(table="the sample", columns=("color",)),
        SampleFindings.LABELS_IGNORED.found(table="the sample"),
    )
    both = quantify([sample, sample.drop("churn")], model=model, replicates=20)
    unused = ("color", "part")
    assert both.findings == (
        SampleFindings.UNUSED_COLUMNS.found(table="sample 1 and 1 more", columns=unused),
        SampleFindings.LABELS_IGNORED.found(table="sample 1"),
    )
    assert quantify(people(50, 1).drop("churn"), model=model, replicates=20).findings == ()


@pytest.mark.parametrize(
    "classifier",
    ["logistic", "naive-bayes", pytest.param("forest", marks=pytest.mark.slow), "boosting"],
)
def test_every_classifier_takes_mixed_columns(classifier, tmp_path):
    model = train(people(300), label="churn", drop=["note"], classifier=classifier, method="PACC")
    assert model.training.accuracy > 0.7
    save_model(model, tmp_path / "m")
    sample = people(200, 1).drop("churn")
    again = load_model(tmp_path / "m")
    assert again.columns == model.columns
    assert again.training == model.training
    a, b = (m.posteriors(m.items(sample)) for m in (model, again))
    assert (a == b).all()


def test_text_beside_numbers_is_saved_and_read(tmp_path):
    model = train(people(), label="churn", text=["note", "town"], features=["age"], method="PACC")
    save_model(model, tmp_path / "m")
    again = load_model(tmp_path / "m")
    sample = people(50, 1)
    assert (again.items(sample).posteriors == model.items(sample).posteriors).all()
    assert again.preparation.names == model.preparation.names


@pytest.mark.slow
def test_boosting_sees_gaps_as_they_are():
    frame = people(300)
    model = train(
        frame, label="churn", features=["age", "income"], classifier="boosting", method="PACC"
    )
    boosting = model.scorer.classifier_
    assert isinstance(boosting, OnDense)
    assert boosting.gaps == model.preparation.gap_pairs == ((1, 2),)
    X = model.preparation.transform(frame)
    assert np.isfinite(X).all()
    seen = X.copy()
    seen[frame["income"].is_null().to_numpy(), 1] = np.nan
    assert (boosting.predict_proba(X) == boosting.classifier_.predict_proba(seen)).all()


def test_a_classifier_of_the_user_s_own():
    options = {"label": "churn", "features": ["age", "income"], "method": "PACC"}
    place = "sklearn.linear_model:LogisticRegression"
    own = train(people(), classifier=place, **options)
    assert own.training.classifier == place
    assert own.training.accuracy > 0.6
    from_object = train(people(), classifier=f"{__name__}:PIPELINE", **options)
    assert from_object.training.accuracy > 0.6
    from_factory = train(people(), classifier=f"{__name__}:make_tree", **options)
    assert from_factory.training.accuracy > 0.6


def make_tree():
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(max_depth=3)


def _pipeline():
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import QuantileTransformer

    return make_pipeline(QuantileTransformer(n_quantiles=50), LogisticRegression())


PIPELINE = _pipeline()


@pytest.mark.parametrize(
    ("place", "line"),
    [
        ("no.such.module:name", "cannot import 'no.such.module': ModuleNotFoundError"),
        ("sklearn.linear_model:Logistic", "did you mean 'LogisticRegression'?"),
        ("sklearn.pipeline:Pipeline", "cannot be made without arguments"),
        ("math:pi", "is not a classifier; it needs fit and predict"),
        ("sklearn.preprocessing:StandardScaler", "is not a classifier; it needs fit and predict"),
        ("logistik", "did you mean 'logistic'?"),
    ],
)
def test_a_classifier_that_cannot_be_used_is_one_line(place, line):
    with pytest.raises(UserError) as caught:
        train(people(40), label="churn", classifier=place)
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


# Labels


def test_missing_labels_are_counted_and_no_class(tmp_path):
    cells = ["", "NA", "N/A", "NaN", "NULL", "null", "None", "nan"]
    frame = people().with_columns(
        churn=pl.Series([cells[i % 8] if i < 40 else c for i, c in enumerate(people()["churn"])])
    )
    frame.write_csv(tmp_path / "a.csv")
    found = quantify(
        people(300, 1, 0.25).drop("churn"), train=tmp_path / "a.csv", label="churn", **FAST
    )
    assert found.classes == ("no", "yes")
    assert found.training.rows == Rows(str(tmp_path / "a.csv"), N, N - 40, {"no label": 40})
    left_out = only(found.findings, RowFindings.ROWS_LEFT_OUT)
    assert left_out.about.table == f"{tmp_path}/a.csv"
    assert left_out.numbers == {"n": 40, "n_read": 600, "reasons": {"no label": 40}}
    assert shares(found)["yes"].estimate == pytest.approx(0.25, abs=0.07)


def test_what_is_missing_can_be_said():
    frame = people().with_columns(
        churn=pl.when(pl.int_range(N) < 30).then(pl.lit("unknown")).otherwise("churn")
    )
    options = {"label": "churn", "features": ["age"], "method": "PACC"}
    assert train(frame, **options).classes == ("no", "unknown", "yes")
    model = train(frame, missing=["unknown"], **options)
    assert model.classes == ("no", "yes")
    assert model.training.rows.left_out == {"no label": 30}
    na = frame.with_columns(churn=pl.col("churn").replace("unknown", "NA"))
    assert train(na, missing=["unknown"], **options).classes == ("NA", "no", "yes")


def test_one_and_one_point_zero_are_one_class(tmp_path):
    codes = [("1", "1.0", "0", "0.0")[i % 4] for i in range(N)]
    people().with_columns(churn=pl.Series(codes)).write_csv(tmp_path / "a.csv")
    floats = people().with_columns(churn=pl.Series([float(c) for c in codes]))
    for source in (tmp_path / "a.csv", floats, people().with_columns(churn=pl.Series(codes))):
        model = train(source, label="churn", features=["age"], method="PACC")
        assert model.classes == ("0", "1")
        assert model.names == {"0": "churn = 0", "1": "churn = 1"}


def written_oddly():
    """People whose labels are written in several ways; the truth is in `churn` of `people()`."""
    return people().with_columns(
        churn=pl.when(pl.int_range(N) % 4 == 0)
        .then(pl.col("churn").str.to_uppercase())
        .when(pl.int_range(N) % 4 == 1)
        .then(" " + pl.col("churn"))
        .otherwise("churn")
    )


def test_labels_that_differ_in_case_or_blanks_are_one_class_and_counted(tmp_path):
    frame = written_oddly()
    frame.write_csv(tmp_path / "odd.csv")
    options = {"label": "churn", "features": ["age"], "method": "PACC"}
    plain = train(people(), **options)
    for source in (frame, tmp_path / "odd.csv"):
        model = train(source, **options)
        assert model.classes == plain.classes == ("no", "yes")
        assert model.training.counts == plain.training.counts
        respelt = numbers_of(model.training.findings, TableFindings.RESPELT_LABELS)
        assert respelt["n"] == N // 2
        assert "' yes' (" in "".join(respelt["spellings"])
        assert "'YES' (" in "".join(respelt["spellings"])
    assert train(frame, positive="YES", **options).classes == ("no", "YES")


def test_labels_that_look_mistyped_are_pointed_out():
    frame = people().with_columns(
        churn=pl.when(pl.int_range(N) < 5).then(pl.lit("yess")).otherwise("churn")
    )
    model = train(frame, label="churn", features=["age"], method="PACC")
    mistyped = numbers_of(model.training.findings, TableFindings.MISTYPED_LABEL)
    assert (mistyped["label"], mistyped["n"], mistyped["usual"]) == ("yess", 5, "yes")
    with pytest.raises(DataError, match=r"class 'yess' has 2 labelled rows.*if it is 'yes', corr"):
        train(frame[3:], label="churn", features=["age"], method="PACC")


def test_a_label_that_may_mean_none_is_pointed_out():
    frame = people().with_columns(
        churn=pl.when(pl.int_range(N) % 3 == 0).then(pl.lit("Unknown")).otherwise("churn")
    )
    model = train(frame, label="churn", features=["age"], method="PACC")
    placeholder = numbers_of(model.training.findings, TableFindings.PLACEHOLDER_LABEL)
    assert placeholder["label"] == "Unknown"


def test_an_audit_may_write_labels_in_another_case():
    model = train(people(), label="churn", features=["age"], method="PACC")
    sample = people(60, 1)
    sheet = sample.with_columns(pl.col("churn").str.to_uppercase())
    (batch,) = quantify(sample.drop("churn"), model=model, audit=sheet, replicates=100).batches
    assert batch.audit is not None
    assert batch.audit.n_labelled == 60


def test_the_positive_class_is_the_headline():
    options = {"train": people(), "label": "churn", "features": ["age"], **FAST}
    assert quantify(people(50, 1), **options).headline == "yes"
    found = quantify(people(50, 1), positive="no", **options)
    assert found.headline == "no"
    assert found.classes == ("yes", "no")
    with pytest.raises(UserError, match="unknown class in column 'churn': 'yess'; did you mean"):
        quantify(people(50, 1), positive="yess", **options)


# Rows


def test_rows_with_gaps_are_used():
    holes = people(300, 1).with_columns(
        pl.when(pl.int_range(300) % 4 > 0).then(pl.col("age", "income", "town"))
    )
    found = quantify(holes, train=people(), label="churn", **FAST)
    assert found.sample_rows == (Rows("the sample", 300, 300, {}),)
    assert found.batches[0].n_items == 300


def test_rows_without_any_content_are_left_out_by_batch():
    options = {"label": "churn", "features": ["age", "town"], "by": "part", **FAST}
    sample = people(300, 1).with_columns(
        pl.when(pl.int_range(300) >= 30).then(pl.col("age", "town")),
        part=pl.when(pl.int_range(300) < 150).then(pl.lit("a")).otherwise(pl.lit("b")),
    )
    found = quantify(sample, train=people(), **options)
    assert [(b.name, b.n_items, b.left_out) for b in found.batches] == [
        ("a", 120, 30),
        ("b", 150, 0),
    ]
    assert found.sample_rows == (Rows("the sample", 300, 270, {"no content": 30}),)
    whole = quantify(sample[30:], train=people(), **options)
    for wide, plain in zip(found.batches[0].shares, whole.batches[0].shares, strict=True):
        assert wide.low == pytest.approx(plain.low * 0.8)
        assert wide.high == pytest.approx(plain.high * 0.8 + 0.2)
    assert found.batches[1].shares == whole.batches[1].shares


def test_ragged_rows_of_training_and_sample_are_reported(tmp_path):
    def write(frame, name, n_ragged):
        lines = frame.select("age", "town", "churn").write_csv().splitlines()
        lines[5 : 5 + n_ragged] = [line + ",more" for line in lines[5 : 5 + n_ragged]]
        (tmp_path / name).write_text("\n".join(lines) + "\n")
        return str(tmp_path / name)

    a, b = write(people(), "a.csv", 147), write(people(300, 1), "b.csv", 15)
    found = quantify(b, train=a, label="churn", **FAST)
    ragged = "too many or too few cells"
    assert found.training.rows == Rows(a, N, N - 147, {ragged: 147})
    assert found.sample_rows == (Rows(b, 300, 285, {ragged: 15}),)
    assert found.batches[0].left_out == 15
    # More than a tenth is said first.
    assert found.findings[0].code is RowFindings.MANY_ROWS_LEFT_OUT
    assert found.findings[0].numbers == {"n": 147, "n_read": 600, "reasons": {ragged: 147}}
    few = only(found.findings, RowFindings.ROWS_LEFT_OUT)
    assert (few.about.table, few.numbers["n"]) == (b, 15)


def test_all_rows_ragged_is_no_silence(tmp_path):
    (tmp_path / "b.csv").write_text("age,town\n" + "1,north,more\n" * 20)
    model = train(people(), label="churn", features=["age", "town"], method="PACC")
    found = quantify(tmp_path / "b.csv", model=model, replicates=10)
    assert found.batches[0].left_out == 20
    left_out = numbers_of(found.findings, RowFindings.MANY_ROWS_LEFT_OUT)
    assert (left_out["n"], left_out["n_read"]) == (20, 20)


# Hostile cells


@pytest.mark.parametrize("cell", ["inf", "NA", "1e308", "-1e308", "many"])
def test_one_bad_cell_does_not_remove_a_feature(tmp_path, cell):
    frame = people().select("age", "town", "churn").with_columns(pl.col("age").cast(pl.String))
    bad = frame.with_columns(age=pl.when(pl.int_range(N) == 5).then(pl.lit(cell)).otherwise("age"))
    bad.write_csv(tmp_path / "a.csv")
    plain = train(frame, label="churn", method="PACC")
    model = train(tmp_path / "a.csv", label="churn", method="PACC")
    assert model.columns.content == ("age", "town")
    assert model.training.n_items == N
    assert model.training.accuracy == pytest.approx(plain.training.accuracy, abs=0.02)
    how = model.columns.used[0].how
    told = {
        "inf": "1 cell of another type",
        "many": "1 cell of another type",
        "NA": "1 missing value filled",
    }
    assert told.get(cell, "1 outlier clipped") in how


@pytest.mark.parametrize("cell", ["inf", "1e308", "many"])
def test_a_bad_cell_of_the_sample_is_told_and_costs_no_row(tmp_path, cell):
    frame = people(300, 1).drop("churn").with_columns(pl.col("age").cast(pl.String))
    frame.with_columns(
        age=pl.when(pl.int_range(300) == 5).then(pl.lit(cell)).otherwise("age")
    ).write_csv(tmp_path / "b.csv")
    found = quantify(
        tmp_path / "b.csv", train=people(), label="churn", features=["age", "town"], **FAST
    )
    assert found.batches[0].n_items == 300
    expected = (
        ()
        if cell == "1e308"
        else (
            SampleFindings.ODD_CELLS.found(
                table=f"{tmp_path}/b.csv", column="age", n=1, row=6, example=cell
            ),
        )
    )
    assert found.findings == expected


def with_commas(frame):
    return frame.with_columns(
        pl.col("age", "income").round(2).cast(pl.String).str.replace(".", ",", literal=True)
    )


def test_decimal_commas_in_all_tables_are_numbers(tmp_path):
    options = {"label": "churn", "features": ["age", "income", "town"], "method": "PACC"}
    plain = people().with_columns(pl.col("age", "income").round(2))
    sample = people(100, 1).with_columns(pl.col("age", "income").round(2)).drop("churn")
    with_commas(plain).write_csv(tmp_path / "labelled.csv", separator=";")
    with_commas(sample).write_csv(tmp_path / "new.csv", separator=";")
    model = train(tmp_path / "labelled.csv", **options)
    save_model(model, tmp_path / "model")
    found = quantify(tmp_path / "new.csv", model=load_model(tmp_path / "model"), replicates=20)
    expected = quantify(sample, model=train(plain, **options), replicates=20)
    assert found.batches[0].shares == expected.batches[0].shares
    assert found.batches[0].changes == expected.batches[0].changes
    assert {column.kind for column in found.used if column.name != "town"} == {"number"}
    commas = only(found.findings, TrainingFindings.DECIMAL_COMMAS)
    assert commas.about.table == f"{tmp_path}/labelled.csv"
    assert commas.numbers == {"n": 2, "columns": ("age", "income")}
    # Numbers of a typed file are numbers too.
    typed = quantify(sample, model=model, replicates=20)
    assert typed.batches[0].shares == expected.batches[0].shares


def test_commas_on_one_side_only_are_one_line():
    options = {"label": "churn", "features": ["age", "town"], "method": "PACC"}
    plain = people().with_columns(pl.col("age").round(2).cast(pl.String))
    with pytest.raises(DataError, match=r"'age' holds decimal commas such as .* write them alike"):
        quantify(with_commas(people(50, 1)), model=train(plain, **options), replicates=20)
    with pytest.raises(DataError, match="but numbers with a decimal comma in training; write th"):
        quantify(plain[:50], model=train(with_commas(people()), **options), replicates=20)


def test_a_column_scaled_by_a_huge_factor_is_what_it_was():
    a, b = people(), people(300, 1)
    a, b = a.select("age", "income", "churn"), b.select("age", "income", "churn")
    options = {"label": "churn", **FAST}
    plain = quantify(b, train=a, **options)
    huge = quantify(
        b.with_columns(pl.col("age") * 1e200),
        train=a.with_columns(pl.col("age") * 1e200),
        **options,
    )
    assert [column.name for column in huge.used] == ["age", "income"]
    assert shares(huge)["yes"].estimate == pytest.approx(shares(plain)["yes"].estimate, abs=1e-6)


def test_constant_features_are_no_traceback():
    frame = people().with_columns(age=pl.lit(1.0), income=pl.lit(2.0))
    found = quantify(frame, train=frame, label="churn", features=["age", "income"], replicates=20)
    assert TrainingFindings.LITTLE_SEPARATION in codes_of(found.findings)


# Copies


def test_copies_of_texts_share_a_fold_and_are_reported():
    few = people(60, share=0.5).select("note", "churn")
    many = pl.concat([few] * 20)
    model = train(many, label="churn", text="note", method="PACC")
    assert numbers_of(model.training.findings, TrainingFindings.COPIED_ROWS) == {
        "n": 1140,
        "n_rows": 1200,
    }
    folds = model.scorer.cv
    assert (folds.reshape(20, 60) == folds[:60]).all()
    alone = train(few, label="churn", text="note", method="PACC")
    assert model.training.accuracy < alone.training.accuracy + 0.1


def test_copies_that_learn_nothing_are_not_taken_for_knowledge():
    """Words that say nothing of the label: with copies in other folds all would be known."""
    rng = np.random.default_rng(0)
    words = np.array([f"word{k}" for k in range(400)])
    few = pl.DataFrame(
        {"note": [" ".join(rng.choice(words, 8)) for _ in range(60)], "y": ["a", "b"] * 30}
    )
    model = train(pl.concat([few] * 20), label="y", text="note", method="PACC")
    assert model.training.accuracy < 0.8


def numbers(n, rng, decimals=None):
    table = rng.normal(size=(n, 3))
    return table if decimals is None else table.round(decimals)


@pytest.mark.parametrize("decimals", [None, 1])
def test_equal_rows_of_numbers_are_copies_if_chance_does_not_explain_them(decimals):
    rng = np.random.default_rng(1)
    few = pl.DataFrame(numbers(60, rng, decimals), schema=["a", "b", "c"]).with_columns(
        y=pl.Series(["p", "q"] * 30)
    )
    model = train(pl.concat([few] * 20), label="y", method="PACC")
    assert numbers_of(model.training.findings, TrainingFindings.COPIED_ROWS)["n"] == 1140
    assert model.training.accuracy < 0.8


def test_equal_rows_of_a_few_categories_are_different_people():
    rng = np.random.default_rng(2)
    n = 2000
    levels = np.array(["a", "b", "c"])
    frame = pl.DataFrame({f"q{k}": levels[rng.integers(0, 3, n)] for k in range(4)})
    # Also if the answers determine the label.
    for noise in (0.0, 0.2):
        y = ((frame["q0"] == "a").to_numpy() ^ (rng.random(n) < noise)).astype(int)
        model = train(frame.with_columns(y=pl.Series(y)), label="y", method="PACC")
        assert TrainingFindings.COPIED_ROWS not in codes_of(model.training.findings)
        assert np.ndim(model.scorer.cv) == 0


def test_whole_numbers_of_one_column_are_no_copies():
    from quantshift.tables.columns.kinds import choose

    frame = pl.DataFrame({"age": [i % 60 for i in range(600)]})
    codes = (frame["age"].to_numpy() > 30).astype(int)
    assert copies(frame, choose(frame)[0], codes) is None


# Doubts


def test_a_column_that_gives_the_label_away_is_named():
    frame = people().with_columns(
        refund=pl.when(pl.col("churn") == "yes").then(pl.int_range(N) % 7 + 1).otherwise(0)
    )
    model = train(frame, label="churn", drop=["note"], method="PACC")
    assert _revealing(model) == "refund"
    coded = frame.with_columns(refund=pl.when(pl.col("refund") > 0).then(pl.lit("r")))
    model = train(coded, label="churn", drop=["note"], method="PACC")
    assert _revealing(model) == "refund"


def _revealing(model):
    return only(model.training.findings, TrainingFindings.REVEALING_COLUMN).about.column


def test_columns_that_all_tell_much_are_not_accused():
    assert train(people(), label="churn", drop=["note"], method="PACC").training.findings == ()
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    easy = pl.DataFrame({f"x{k}": 9 * y + rng.normal(size=400) for k in range(3)} | {"y": y})
    found = train(easy, label="y", method="PACC").training.findings
    # But nobody is right on all unseen rows.
    assert codes_of(found) == [TrainingFindings.TOO_ACCURATE]


def test_a_rare_class_gives_no_column_away():
    rng = np.random.default_rng(0)
    y = (np.arange(1000) % 50 == 0).astype(int)
    frame = pl.DataFrame({"a": rng.normal(size=1000), "b": rng.normal(size=1000), "y": y})
    assert train(frame, label="y", method="PACC").training.findings == ()


def test_posteriors_of_rows_the_model_has_seen_are_questioned():
    y = np.arange(200) % 2
    seen = pl.DataFrame({"p": y.astype(float), "y": y})
    found = train(seen, label="y", posteriors=["p"]).training.findings
    assert TrainingFindings.PERFECT_POSTERIORS in codes_of(found)
    wrong = np.where(np.arange(200) % 10 == 0, 1 - y, y)
    hard = pl.DataFrame({"p": wrong.astype(float), "y": y})
    found = train(hard, label="y", posteriors=["p"]).training.findings
    assert codes_of(found) == [TrainingFindings.HARD_POSTERIORS]
    soft = hard.with_columns(p=0.1 + 0.8 * pl.col("p"))
    assert train(soft, label="y", posteriors=["p"]).training.findings == ()


@pytest.mark.parametrize("factor", [1e-300, 1e300])
def test_weights_of_another_order_of_magnitude_are_one_line(factor):
    """They used to end in "cannot convert float NaN to integer"."""
    table = pl.DataFrame({"p": [0.1, 0.9, 0.4], "w": [factor, 2 * factor, factor]})
    line = r"^the weights of the sample sum to 4e.300; scale them so that they sum to the number"
    with pytest.raises(DataError, match=line):
        quantify(table, posteriors=["p"], weights="w")
    labelled = people(60).with_columns(w=pl.Series([factor, 2 * factor] * 30))
    with pytest.raises(DataError, match=r"^the training table: the weights sum to 9e.(299|301)"):
        train(labelled, label="churn", weights="w", features=["age"], method="PACC")


def test_a_column_of_posteriors_named_twice_is_one_line():
    """It used to be a DuplicateError of another library."""
    table = pl.DataFrame({"p_yes": [0.1, 0.9], "p_no": [0.9, 0.1]})
    with pytest.raises(UserError, match=r"^the column 'p_yes' is named twice; name one column of"):
        quantify(table, posteriors=["p_yes", "p_yes"])


@pytest.fixture(scope="module")
def model_of_numbers_and_truths():
    frame = people(200)
    return train(frame, label="churn", features=["age", "member"], method="PACC")


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet", "xlsx", "frame"])
def test_every_format_passes_the_same_gate(ending, tmp_path, model_of_numbers_and_truths):
    """Truth values where training has numbers were 0 and 1 in Parquet and Excel."""
    frame = people(100, seed=1).select(age=pl.col("age") > 40, member=pl.lit(1))
    with pytest.raises(DataError, match=r"column 'age' holds truth values such as '[Tt]rue', but"):
        quantify(written(frame, ending, tmp_path), model=model_of_numbers_and_truths, **REPLICATES)
    # Zero and one are truth values in each of them.
    found = [
        quantify(written(table, ending, tmp_path), model=model_of_numbers_and_truths, **REPLICATES)
        for table in (
            people(100, seed=1).select("age", "member"),
            people(100, seed=1).select("age", pl.col("member").cast(pl.Int64)),
        )
    ]
    assert shares(found[0])["yes"].estimate == pytest.approx(shares(found[1])["yes"].estimate)


REPLICATES = {"replicates": 20}


def written(frame, ending, folder):
    """The frame as a file of this format, or as it is."""
    path = folder / f"t.{ending}"
    if ending == "frame":
        return frame
    if ending == "xlsx":
        return workbook(path, [frame.columns, *frame.rows()])
    writers = {"csv": frame.write_csv, "jsonl": frame.write_ndjson, "parquet": frame.write_parquet}
    writers[ending](path)
    return path


@pytest.mark.parametrize("cells", [[True, False], [datetime.date(2026, 1, 1)] * 2])
def test_posteriors_and_weights_of_other_types_are_refused(cells):
    """Truth values and dates used to be taken for numbers in files with types."""
    table = pl.DataFrame({"p": [0.1, 0.9], "odd": cells})
    with pytest.raises(DataError, match=r"row 1, column 'odd': '.*' is not a number; fix the cell"):
        quantify(table, posteriors=["odd"])
    with pytest.raises(DataError, match=r"row 1, column 'odd': '.*' is not a valid weight"):
        quantify(table, posteriors=["p"], weights="odd")


@pytest.mark.parametrize(("form", "shown"), [("no\u200b", "no"), ("\ufeffno", "no")])
def test_labels_that_differ_in_what_cannot_be_seen_are_one_class(form, shown):
    """There used to be two classes called `no`."""
    frame = people(200).select("age", "churn")
    odd = frame.with_columns(
        pl.when(pl.int_range(pl.len()) % 9 == 0)
        .then(pl.col("churn").replace({"no": form}))
        .otherwise("churn")
        .alias("churn")
    )
    model = train(odd, label="churn", method="PACC")
    assert model.classes == ("no", "yes")
    respelt = numbers_of(model.training.findings, TableFindings.RESPELT_LABELS)
    assert respelt["unseen"]
    (spelling,) = respelt["spellings"]
    assert spelling.startswith(f"{form!r} (")
    assert spelling.endswith(f"as {shown!r}")


def test_labels_with_accents_composed_in_two_ways_are_one_class():
    frame = people(200).select("age", "churn")
    names = {"no": "caf\u00e9", "yes": "th\u00e9"}
    composed = frame.with_columns(pl.col("churn").replace(names))
    rest = composed[150:].with_columns(pl.col("churn").str.normalize("NFD"))
    model = train(pl.concat([composed[:150], rest]), label="churn", method="PACC")
    assert model.classes == ("caf\u00e9", "th\u00e9")
