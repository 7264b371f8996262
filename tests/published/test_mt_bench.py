"""truescore's study of MT-bench: how far GPT-4's win rates are from people's.

github.com/SaifPunjwani/truescore, analysis/mt_bench/FINDINGS.md (commit 2899699), of 1,814
comparisons. Our table, read from the folder QUANTSHIFT_TABLES, has 1,751 votes of people on 1,232
of these, so that win rates differ by what the other 582 say; a win rate of 400 comparisons has a
standard error of about .02, and the overlap of two thirds makes it about .012 for a difference. It
has every comparison of GPT-4 with the verdicts as they count them: .8521 is the same to the last
digit. As there, several votes on a comparison are one label, that of most, and a tie counts a half.
"""

from collections import Counter

import numpy as np
import polars as pl
import pytest

from quantshift.judging import judge
from tests.published.numbers import Ours, Printed

STUDY = "truescore's study of MT-bench"
FEWER = "1,232 of their 1,814 comparisons"
KEY = ["question_id", "turn", "model_a", "model_b"]
WIN_RATES = {
    "alpaca-13b": (0.2388, 0.2938),
    "claude-v1": (0.7146, 0.6776),
    "gpt-3.5-turbo": (0.6158, 0.6431),
    "gpt-4": (0.8521, 0.7249),
    "llama-13b": (0.1154, 0.1776),
    "vicuna-13b-v1.2": (0.4615, 0.4735),
}
COVERAGE = {60: 0.962, 100: 0.965, 150: 0.978}
"""How often truescore's 95% intervals from so many labels hold the win rate of all labels."""
DRAWS = 1000


@pytest.fixture(scope="module")
def comparisons(tables_dir):
    table = pl.read_csv(tables_dir / "llm_judge_mtbench.csv").with_columns(
        judge=pl.when(pl.col("judge").str.starts_with("tie"))
        .then(pl.lit("tie"))
        .otherwise(pl.col("judge"))
    )
    votes = table.group_by(KEY, maintain_order=True).agg(pl.col("judge").first(), "human")
    return votes.with_columns(pl.col("human").map_elements(_of_most, return_dtype=pl.String))


def _of_most(votes: pl.Series) -> str:
    counts = Counter(votes).most_common()
    return "tie" if len(counts) > 1 and counts[0][1] == counts[1][1] else counts[0][0]


def of_model(comparisons: pl.DataFrame, model: str) -> pl.DataFrame:
    """The model's comparisons, in words of its own."""

    def own(column: str) -> pl.Expr:
        mine = (
            pl.when(pl.col("model_a") == model).then(pl.lit("model_a")).otherwise(pl.lit("model_b"))
        )
        return (
            pl.when(pl.col(column) == "tie")
            .then(pl.lit("tie"))
            .when(pl.col(column) == mine)
            .then(pl.lit("win"))
            .otherwise(pl.lit("loss"))
        )

    rows = comparisons.filter((pl.col("model_a") == model) | (pl.col("model_b") == model))
    return rows.select(judge=own("judge"), human=own("human"))


def win_rate(table: pl.DataFrame, **options):
    asked = {"verdict": "judge", "label": "human", "labels": "random", "wins": ("win", "loss")}
    return judge(table, **asked, **options).overall.win_rate


@pytest.mark.parametrize("model", WIN_RATES)
def test_win_rates_of_the_judge_and_of_people(model, comparisons, meets):
    theirs = dict(zip(("GPT-4", "people"), WIN_RATES[model], strict=True))
    rate = win_rate(of_model(comparisons, model))
    for who, value in (("GPT-4", rate.naive), ("people", rate.estimate)):
        printed = Printed(STUDY, f"win rate of {model} by {who}", theirs[who], 4)
        meets(printed, Ours(value, apart=0.036, why=FEWER))


@pytest.mark.slow
@pytest.mark.parametrize("k", COVERAGE)
def test_intervals_from_a_few_labels_hold_the_rate_of_all(k, comparisons, meets):
    table = of_model(comparisons, "gpt-4")
    truth = win_rate(table).estimate
    rng = np.random.default_rng(k)
    held = np.zeros((DRAWS, 2), dtype=bool)
    for i in range(DRAWS):
        chosen = np.zeros(len(table), dtype=bool)
        chosen[rng.choice(len(table), k, replace=False)] = True
        some = table.with_columns(human=pl.when(pl.Series(chosen)).then(pl.col("human")))
        for j, of in enumerate(("population", "items")):
            # One draw in a hundred does not look like one at random.
            found = win_rate(some, classes=["win", "loss", "tie"], insist=True, of=of)
            held[i, j] = found.low <= truth <= found.high
    for_all, for_these = (float(part) for part in held.mean(axis=0))
    error = float(np.sqrt(for_all * (1 - for_all) / DRAWS + 0.96 * 0.04 / 600))
    printed = Printed(STUDY, f"coverage of 95% intervals from {k} labels", COVERAGE[k])
    meets(printed, Ours(for_all, error=error, why=FEWER))
    # For these items, of which a quarter is labelled, theirs are wider than they need be.
    assert for_these >= 0.95 - 4 * np.sqrt(0.95 * 0.05 / DRAWS)
