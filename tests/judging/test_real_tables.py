"""Real verdicts of machines and labels of people: what a new user would try, and the truth."""

import numpy as np
import polars as pl
import pytest

from quantshift.judging import judge
from tests.judging.made import halves, labelled


def holds(answer, truth):
    """Whether all shares of the truth are within their limits."""
    shares = dict(truth.value_counts(normalize=True).iter_rows())
    return all(s.low <= shares.get(s.label, 0) <= s.high for s in answer.overall.shares)


@pytest.mark.parametrize("design", ["random", "by-verdict", "by-label"])
def test_preferences_between_answers(tables_dir, design):
    table = pl.read_csv(tables_dir / "llm_judge_mtbench.csv").rename({"human": "truth"})
    right = 0
    for seed in range(12):
        if design == "random":
            rows = np.random.default_rng(seed).choice(len(table), 150, replace=False)
            chosen = labelled(table, rows)
        else:
            chosen = halves(table, "judge" if design == "by-verdict" else "truth", 40, seed)
        # The check of a design may be wrong once in a while.
        answer = judge(chosen, verdict="judge", label="human", labels=design, insist=True)
        assert answer.classes == ("model_a", "model_b", "tie")
        assert answer.overall.judges[0].says == ("model_a", "model_b", "tie", None)
        right += holds(answer, table["truth"])
    # Three intervals of 95% at once hold in about nine of ten draws.
    assert right >= 8


def test_grades_of_passages_by_several_judges(tables_dir):
    table = pl.read_csv(tables_dir / "llm_judge_relevance.csv").filter(pl.col("split") == "test")
    table = table.with_columns(truth=pl.col("human").cast(pl.String)).drop("human")
    rows = np.random.default_rng(0).choice(len(table), 300, replace=False)
    judges = ["judge_questions", "judge_nuggets", "judge_direct"]
    answer = judge(labelled(table, rows), verdict=judges, label="human", labels="random")
    assert answer.classes == ("0", "1", "2", "3")
    assert answer.ordered
    assert holds(answer, table["truth"])
    mean = answer.overall.mean
    assert mean.low <= table["truth"].cast(pl.Float64).mean() <= mean.high
    assert "mean: " in answer.to_text(details=True)
    assert answer.overall.judges[0].says == ("0", "1", "3")
    kappas = {q.name: q.agreement.estimate for q in answer.overall.judges}
    assert kappas["judge_direct"] > kappas["judge_questions"]
