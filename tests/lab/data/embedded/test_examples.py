"""The tables of `quantshift example` hold what their descriptions and true answers say."""

import hashlib

import numpy as np
import polars as pl
import pytest

from quantshift.cli.commands.first_steps.example import QUESTIONS
from quantshift.errors import UserError
from quantshift.lab.data.embedded import examples
from quantshift.lab.data.embedded.examples import EXAMPLES, write_examples
from quantshift.lab.data.embedded.synthetic import generate

PERCENT = {question.text: question.truth for question in QUESTIONS}


@pytest.fixture(scope="module")
def tables():
    return {name: pl.DataFrame(table.draw()) for name, table in EXAMPLES.items()}


def share(column: pl.Series, value: str) -> str:
    return f"{100 * (column == value).mean():.0f}"


def test_the_descriptions_count_the_rows(tables):
    for name, table in tables.items():
        assert f"{len(table):,} " in EXAMPLES[name].content, name


def test_new_tables_have_no_label(tables):
    assert tables["reviews.csv"].columns == ["review", "sentiment"]
    assert tables["new-reviews.csv"].columns == ["review"]
    assert {*tables["customers.csv"].columns} - {*tables["new-customers.csv"].columns} == {"left"}


def test_reviews_are_those_of_the_generator_and_the_truth_is_right(tables):
    corpus = generate(6_000, seed=0)
    star = dict(zip(corpus.texts(), corpus.stars, strict=True))
    stars = np.array([star[text] for text in tables["new-reviews.csv"]["review"]])
    assert (
        f"{100 * (stars > 3).mean():.0f}%" == PERCENT["How many of the new reviews are positive?"]
    )
    labels = tables["reviews.csv"]
    assert all((star[text] > 3) == (name == "positive") for text, name in labels.iter_rows())
    # Nobody trains on what is to be estimated.
    assert not {*labels["review"]} & {*tables["new-reviews.csv"]["review"]}


def test_the_truth_about_the_judge(tables):
    table = tables["verdicts.csv"]
    labelled = table.drop_nulls("human")
    assert len(labelled) == 120
    (question,) = (text for text in PERCENT if "judge" in text)
    assert f"passed {share(table['judge'], 'pass')}%" in question
    truth = np.random.default_rng(0).random(2000) < 0.7
    assert f"{100 * truth.mean():.0f}%" == PERCENT[question]
    numbers = labelled["question"].str.slice(1).cast(int).to_numpy()
    assert (np.where(truth[numbers], "good", "bad") == labelled["human"].to_numpy()).all()


def test_customers_have_gaps_categories_and_months(tables):
    table = tables["customers.csv"]
    assert table["income"].null_count() > 100
    assert table["channel"].null_count() > 10
    assert table["plan"].n_unique() == 4
    assert tables["new-customers.csv"]["date"].str.slice(0, 7).unique().sort().to_list() == [
        "2023-01",
        "2023-02",
        "2023-03",
    ]


def test_the_truth_about_customers():
    customers = pl.DataFrame(examples._customers("2023-01", "2023-04"))
    outcome = customers.with_columns(month=pl.col("date").str.slice(0, 7))
    *first, last = (
        share(outcome.filter(pl.col("month") == f"2023-0{month}")["left"], "yes")
        for month in (1, 2, 3)
    )
    assert f"{', '.join(first)} and {last}%" == PERCENT["How many customers left in each month?"]


def test_the_files_are_the_same_everywhere(tmp_path):
    # Other files would make the outputs of the pages wrong.
    digests = {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()[:12]
        for file in write_examples(tmp_path / "new" / "folder")
    }
    assert digests == {
        "reviews.csv": "664589c10af4",
        "new-reviews.csv": "c8a1a18a429f",
        "verdicts.csv": "b87c6a8dd2ae",
        "customers.csv": "f094685b29fd",
        "new-customers.csv": "77b4eb92e396",
    }


def test_the_files_are_what_polars_writes(tables, tmp_path):
    for file in write_examples(tmp_path):
        assert file.read_text(encoding="utf-8") == tables[file.name].write_csv(), file.name


@pytest.mark.parametrize("name", EXAMPLES)
def test_no_file_is_replaced_and_none_is_written(tmp_path, name):
    (tmp_path / name).write_text("mine", encoding="utf-8")
    with pytest.raises(UserError, match=f"{name} exists, and examples replace no file"):
        write_examples(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text(encoding="utf-8") == "mine"
