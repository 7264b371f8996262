"""`quantshift probabilities` and `quantify --rows` on the command line."""

import polars as pl
import pytest
from typer.testing import CliRunner

from quantshift import train
from quantshift.cli.app import app_with
from quantshift.quantifying import save_model
from tests.quantifying.rows.test_rows_file import table


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("score")
    model = train(table(300, 0.4, 0), label="churned", id="id", drop="site", classifier="logistic")
    save_model(model, place / "model")
    table(200, 0.6, 1, labelled=False).write_csv(place / "new.csv")
    return place


def called(*words):
    return CliRunner().invoke(app_with([words[0]]), [str(word) for word in words])


def test_scores_are_written_and_feed_a_sketch(folder):
    done = called(
        "probabilities",
        folder / "model",
        folder / "new.csv",
        "--out",
        folder / "s.csv",
        "--keep",
        "site",
    )
    assert done.exit_code == 0, done.output
    assert "200 read, all used" in done.output
    assert f"probabilities in {folder / 's.csv'}" in done.output
    made = called(
        *("sketch", folder / "s.csv", "--score", "probability yes", "--batch", "site"),
        *("--out", folder / "week.parquet"),
    )
    assert made.exit_code == 0, made.output
    assert pl.read_parquet(folder / "week.parquet").height > 0


def test_quantify_writes_the_rows_and_says_where(folder):
    done = called(
        *("quantify", "--model", folder / "model", "--sample", folder / "new.csv", "--id", "id"),
        *("--rows", folder / "rows.csv", "--replicates", "100", "--assume", "prior"),
    )
    assert done.exit_code == 0, done.output
    assert f"rows in {folder / 'rows.csv'}" in done.output
    rows = pl.read_csv(folder / "rows.csv")
    assert rows.columns == [
        *("batch", "row", "id", "probability yes", "corrected yes", "correction"),
        *("predicted", "cluster", "flag"),
    ]
    assert rows.height == 200


def test_a_file_cannot_be_two_outputs_nor_a_sketch_have_rows(folder):
    both = called(
        *("quantify", "--model", folder / "model", "--sample", folder / "new.csv"),
        *("--rows", folder / "o.csv", "--csv", folder / "o.csv"),
    )
    assert both.exit_code != 0
    assert "two outputs" in str(both.exception)
    counts = called("quantify", "--sketch", "x.parquet", "--rows", folder / "o.csv")
    assert "no rows" in str(counts.exception)
