"""Categories of a sample: other spellings are matched, unknown levels are not guessed at."""

import numpy as np
import polars as pl
import pytest
import typer
from typer.testing import CliRunner

from quantshift.claims import Reason
from quantshift.cli.commands.answers.quantify import quantify as quantify_command
from quantshift.cli.declared import with_options
from quantshift.quantifying import load_model, quantify, save_model, train
from quantshift.quantifying.columns import NO_NAMES, TableItems
from quantshift.quantifying.findings import Advice, BatchFindings, SampleFindings
from quantshift.quantifying.reading.levels import LevelReader
from tests.found import numbers_of

CODES = {"Month-to-month": "M2M", "One year": "1Y", "Two year": "2Y"}
FAST = {"method": "PACC", "replicates": 100}


def customers(n, share, seed):
    """n customers, a share of whom leave; leavers have monthly contracts and short tenures."""
    rng = np.random.default_rng(seed)
    left = rng.random(n) < share
    contract = np.where(
        rng.random(n) < np.where(left, 0.85, 0.3),
        "Month-to-month",
        np.where(rng.random(n) < 0.5, "One year", "Two year"),
    )
    return pl.DataFrame(
        {
            "contract": contract,
            "billing": np.where(rng.random(n) < np.where(left, 0.6, 0.2), "Paper bill", "Online"),
            "tenure": rng.normal(30 - 12 * left, 10).round(1),
            "left": np.where(left, "yes", "no"),
        }
    )


LABELLED = customers(600, 0.3, seed=0)
SAMPLE = customers(400, 0.4, seed=1).drop("left")
SHOUTED = SAMPLE.with_columns(
    pl.col("contract").str.to_uppercase(), pl.col("billing").str.replace(" ", "  ") + " "
)
RECODED = SAMPLE.with_columns(pl.col("contract").replace(CODES))


@pytest.fixture(scope="module")
def model():
    return train(LABELLED, label="left", method="PACC")


def test_other_case_and_blanks_are_the_same_level_and_counted_once(model):
    plain = quantify(SAMPLE, model=model, replicates=100)
    shouted = quantify(SHOUTED, model=model, replicates=100)
    assert shouted.batches[0] == plain.batches[0]
    n = len(SAMPLE) + int((SAMPLE["billing"] == "Paper bill").sum())
    spellings = (
        "contract: 'MONTH-TO-MONTH' as 'Month-to-month'",
        "billing: 'Paper  bill' as 'Paper bill'",
    )
    respelt = SampleFindings.RESPELT_LEVELS.found(table="the sample", n=n, spellings=spellings)
    assert shouted.findings == (respelt,)
    assert plain.findings == ()


def test_a_spelling_that_fits_two_levels_of_training_is_not_guessed():
    reader = LevelReader.of({"size": ("Big", "big", "small")}, None)
    frame = pl.DataFrame({"size": ["BIG", "SMALL", "big", None]})
    read = reader.read(_items(frame), ["a"] * 4)
    assert read.values["size"].to_list() == ["BIG", "small", "big", None]
    assert reader.unknown["a"]["size"] == {"BIG": 1}
    assert reader.gaps["a"]["size"] == 1


def test_a_column_coded_in_another_way_gives_no_number(model, tmp_path):
    save_model(model, tmp_path / "model")
    for found in (
        quantify(RECODED, model=load_model(tmp_path / "model"), replicates=100),
        quantify(RECODED, train=LABELLED, label="left", **FAST),
    ):
        (batch,) = found.batches
        assert not batch.can_be_estimated
        assert batch.reason is Reason.GONE
        assert {(s.estimate, s.low, s.high) for s in batch.shares} == {(None, 0.0, 1.0)}
        assert batch.no_estimate_reason == (
            "100% of the values in column 'contract' are unknown from training ('M2M', where "
            "training has 'Month-to-month'); recode them as in training, or drop the column"
        )
        assert numbers_of(batch.findings, Advice.REPAIR_OR_LABEL)["columns"] == ("contract",)


def test_without_the_column_there_is_a_number():
    found = quantify(RECODED, train=LABELLED, label="left", drop=["contract"], **FAST)
    assert found.batches[0].can_be_estimated


def test_other_batches_keep_their_answers(model):
    parts = {"first": SAMPLE[:200], "second": RECODED[:200], "third": SAMPLE[200:]}
    rows = pl.concat(part.with_columns(part=pl.lit(name)) for name, part in parts.items())
    by_part = quantify(rows, model=model, by="part", replicates=100)
    assert [batch.can_be_estimated for batch in by_part.batches] == [True, False, True]
    tables = quantify(list(parts.values()), model=model, replicates=100)
    assert [batch.can_be_estimated for batch in tables.batches] == [True, False, True]
    assert not any(batch.change for batch in by_part.batches)
    alone = quantify(parts["first"], model=model, replicates=100)
    assert tables.batches[0].shares == alone.batches[0].shares


def test_an_audit_still_gives_a_number(model):
    labels = customers(400, 0.4, seed=1)["left"]
    sheet = RECODED.with_columns(left=labels)[:60]
    (batch,) = quantify(RECODED, model=model, audit=sheet, replicates=100).batches
    assert batch.can_be_estimated
    assert batch.audit is not None
    assert not batch.audit.contradicts


def test_a_few_unknown_levels_are_only_a_warning(model):
    some = SAMPLE.with_columns(
        pl.when(pl.int_range(pl.len()) % 5 == 0)
        .then(pl.lit("Weekly"))
        .otherwise("contract")
        .alias("contract")
    )
    (batch,) = quantify(some, model=model, replicates=100).batches
    assert batch.can_be_estimated
    assert numbers_of(batch.findings, BatchFindings.NEW_LEVELS)["example"] == "Weekly"


def test_two_rows_prove_nothing(model):
    # With a tenth of unknown levels two of two rows have them in one of a hundred samples.
    assert quantify(RECODED[:2], model=model, replicates=100).batches[0].can_be_estimated
    assert not quantify(RECODED[:4], model=model, replicates=100).batches[0].can_be_estimated


def test_a_column_in_which_new_levels_are_usual_is_used():
    rng = np.random.default_rng(2)
    streets = LABELLED.with_columns(street=pl.Series(rng.integers(0, 900, 600).astype(str)) + " St")
    new = SAMPLE.with_columns(street=pl.Series(rng.integers(900, 1800, 400).astype(str)) + " St")
    found = quantify(new, train=streets, label="left", **FAST)
    assert "street" in {column.name for column in found.used}
    assert found.batches[0].can_be_estimated


def test_the_first_line_and_the_exit_code_say_so(tmp_path):
    LABELLED.write_csv(tmp_path / "labelled.csv")
    RECODED.write_csv(tmp_path / "new.csv")
    app = typer.Typer()
    app.command("quantify")(with_options(quantify_command))
    command = ["--train", tmp_path / "labelled.csv", "--label", "left", "--method", "PACC"]
    command += ["--sample", tmp_path / "new.csv", "--replicates", 100]
    done = CliRunner().invoke(app, [str(word) for word in command])
    assert done.exit_code == 4
    assert done.stdout.startswith(
        "left = yes: cannot be estimated from these columns: 100% of the values in column "
        "'contract' are unknown from training"
    )


def _items(frame):
    return TableItems(np.arange(1, len(frame) + 1), frame, NO_NAMES, NO_NAMES)
