"""Where a judge errs: a scan of columns whose p-values can be believed."""

import json

import numpy as np
import polars as pl
import pytest
from scipy import stats

from quantshift.errors import UserError
from quantshift.judging import json_schema, judge
from tests.judging.made import labelled
from tests.quantifying.output.test_result import check

ASKED = {"verdict": "judge", "label": "human", "labels": "random", "insist": True}


def answers(n=1000, k=250, *, likes_long=0.0, by_verdict=False, seed=0):
    """A judge that passes long answers more easily, and fails short ones, by `likes_long`."""
    rng = np.random.default_rng(seed)
    truth, length = rng.random(n) < 0.5, rng.lognormal(5, 0.5, n).round()
    long = length > np.median(length)
    towards = np.where(truth == long, -likes_long, likes_long)
    said = truth ^ (rng.random(n) < 0.25 + towards)
    table = pl.DataFrame(
        {
            "id": [f"a{i:04}" for i in range(n)],
            "answer": ["x" * int(size) for size in length],
            "topic": rng.choice(["law", "code", "art"], n),
            "year": rng.integers(2000, 2026, n),
            "judge": np.where(said, "pass", "fail"),
            "truth": np.where(truth, "pass", "fail"),
        }
    )
    if by_verdict:
        sides = [rng.choice(np.flatnonzero(said == side), k // 2, replace=False) for side in (0, 1)]
        return labelled(table, np.concatenate(sides))
    return labelled(table, rng.choice(n, k, replace=False))


def p_values(table, columns="all", **options):
    found = judge(table, **{**ASKED, **options}, errors_by=columns, id="id")
    return {pattern.column: pattern.p_value for pattern in found.error_patterns}


def test_the_p_value_is_about_that_of_the_chi_square_test():
    for seed in range(3):
        table = answers(seed=seed)
        found = p_values(table, ["topic"])["topic"]
        statistic, freedom = 0.0, 0
        known = table.drop_nulls("human")
        for verdict in ("pass", "fail"):
            part = known.filter(pl.col("judge") == verdict)
            counts = pl.DataFrame(
                {"topic": part["topic"], "wrong": part["human"] != verdict}
            ).to_dummies("topic")
            wrong = counts["wrong"].to_numpy()
            flags = counts.drop("wrong").to_numpy()
            test = stats.chi2_contingency([wrong @ flags, ~wrong @ flags], correction=False)
            statistic, freedom = statistic + test.statistic, freedom + test.dof
        assert found == pytest.approx(stats.chi2.sf(statistic, freedom), abs=0.02)


def test_of_numbers_it_is_about_that_of_a_trend():
    table = answers(seed=4)
    known = table.drop_nulls("human")
    statistic = 0.0
    ranks = stats.rankdata(known["year"].to_numpy())
    for verdict in ("pass", "fail"):
        part = (known["judge"] == verdict).to_numpy()
        wrong = (known["human"] != verdict).to_numpy()[part]
        statistic += (part.sum()) * stats.pearsonr(ranks[part], wrong).statistic ** 2
    assert p_values(table, "year")["year"] == pytest.approx(stats.chi2.sf(statistic, 2), abs=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("by_verdict", [False, True])
def test_without_a_pattern_p_values_are_those_of_chance(by_verdict):
    labels = "by-verdict" if by_verdict else "random"
    tables = (answers(400, 100, by_verdict=by_verdict, seed=seed) for seed in range(120))
    found = [p_values(table, labels=labels) for table in tables]
    assert set(found[0]) == {"length of answer", "topic", "year"}
    for column in found[0]:
        rate = np.mean([p[column] < 0.1 for p in found])
        assert 0.03 <= rate <= 0.19, column


def test_a_judge_that_likes_long_answers_is_seen_though_it_errs_on_short_ones_as_often():
    table = answers(likes_long=0.22, seed=3)
    answer = judge(table, **ASKED, errors_by="all", id="id")
    first = answer.error_patterns[0]
    assert first.column == "length of answer"
    assert first.more_than_chance
    assert first.wrong / first.n > first.wrong_elsewhere / first.n_elsewhere
    assert [p.more_than_chance for p in answer.error_patterns[1:]] == [False, False]
    known = table.drop_nulls("human")
    wrong = (known["judge"] != known["human"]).to_numpy()
    together = stats.pearsonr(known["answer"].str.len_chars().to_numpy(), wrong)
    assert together.pvalue > 0.05, "all errors together do not show it"
    text = answer.to_text(details=True)
    assert "Errors   by length of answer (p = " in text
    assert f"{first.wrong} of {first.n} are wrong if length of answer is" in text
    assert "no pattern that is more than chance by" in text
    assert "wrong if length of answer is" in answer.page()
    content, schema = json.loads(answer.to_json()), json_schema()
    check(content, schema, schema["$defs"])


def test_the_category_with_most_errors_is_named():
    table = answers(seed=1)
    wrong = pl.col("judge") != pl.col("human")
    law = pl.when(wrong & (pl.col("judge") == "pass")).then(pl.lit("law")).otherwise("topic")
    asked = {**ASKED, "errors_by": ["topic", "topic"]}
    (found,) = judge(table.with_columns(topic=law), **asked).error_patterns
    assert (found.among, found.where) == ("verdicts 'pass'", "topic is 'law'")
    known = table.with_columns(topic=law).drop_nulls("human").filter(pl.col("judge") == "pass")
    inside = known.filter(pl.col("topic") == "law")
    assert (found.n, found.wrong) == (len(inside), int((inside["human"] == "fail").sum()))
    assert found.n + found.n_elsewhere == len(known)
    assert found.wrong_elsewhere == 0


@pytest.mark.slow
def test_errors_that_come_in_clusters_are_not_taken_for_a_pattern():
    """40 questions of 10 answers, errors by question, and a column that is one of questions."""
    apart, together = [], []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        question = np.repeat(np.arange(40), 10)
        hard = rng.random(40) < 0.3
        wrong = rng.random(400) < np.where(hard, 0.8, 0.05)[question]
        truth = rng.random(400) < 0.5
        table = pl.DataFrame(
            {
                "question": question,
                "subject": rng.choice(["a", "b"], 40)[question],
                "judge": np.where(truth ^ wrong, "pass", "fail"),
                "human": np.where(truth, "pass", "fail"),
            }
        )
        for found, options in ((apart, {}), (together, {"cluster": "question"})):
            answer = judge(table, **ASKED, errors_by="subject", **options)
            found.append(answer.error_patterns[0].p_value)
    assert np.mean(np.array(apart) < 0.05) > 0.3
    assert np.mean(np.array(together) < 0.05) <= 0.15


def test_by_class_where_labels_were_chosen_by_class():
    table = answers(seed=2).with_columns(truth=pl.col("human"))
    (found,) = judge(table, **{**ASKED, "labels": "by-label"}, errors_by="topic").error_patterns
    assert found.among in ("items labelled 'pass'", "items labelled 'fail'")


def test_several_judges_are_scanned_together():
    table = answers(likes_long=0.2).with_columns(second=pl.col("judge").reverse())
    answer = judge(table, **{**ASKED, "verdict": ["judge", "second"]}, errors_by="answer")
    assert [p.judge for p in answer.error_patterns] == ["judge", "second"]
    assert answer.error_patterns[0].p_adjusted == pytest.approx(
        2 * answer.error_patterns[0].p_value
    )
    assert "judge, by length of answer" in answer.to_text(details=True)


def test_what_cannot_be_scanned_is_said_in_a_line():
    table = answers()
    with pytest.raises(UserError, match="no column 'nope'"):
        judge(table, **ASKED, errors_by="nope")
    other = table.drop_nulls("human")
    asked = {"verdict": "judge", "label": "human", "labelled": other.drop("topic")}
    with pytest.raises(UserError, match="where the labels are, has no column 'topic'"):
        judge(table.drop("human"), **asked, errors_by="topic")
    rates = {"verdict": "judge", "sensitivity": 0.75, "specificity": 0.75, "positive": "pass"}
    with pytest.raises(UserError, match="both a verdict and a label"):
        judge(table, **rates, errors_by="topic")


def test_labels_of_another_table_are_scanned_by_its_own_columns():
    """The same items as a table of their own: class by class, as labels by class are."""
    table = answers(likes_long=0.2)
    other = table.drop_nulls("human")
    asked = {"verdict": "judge", "label": "human", "labelled": other, "labels": "elsewhere"}
    asked |= {"id": "id", "errors_by": "all"}
    found = judge(table.select("id", "judge"), **asked).error_patterns
    within = judge(
        table, **{**ASKED, "labels": "by-label"}, id="id", errors_by="all"
    ).error_patterns
    assert {(p.column, p.p_value) for p in found} == {(p.column, p.p_value) for p in within}
    assert {p.column for p in found} == {"length of answer", "topic", "year"}
    assert found[0].column == "length of answer"
    assert found[0].more_than_chance
    assert found[0].among.startswith("items labelled")


def test_misjudged_items_and_their_file(tmp_path):
    table = answers().with_columns(row=pl.lit("mine"), topic=pl.lit("=1+1"))
    file = tmp_path / "misjudged.csv"
    answer = judge(table, **ASKED, id="id", misjudged=file)
    known = table.with_row_index("number", offset=1).drop_nulls("human")
    wrong = known.filter(pl.col("judge") != pl.col("human"))
    assert [item.row for item in answer.misjudged] == wrong["number"].to_list()
    first = answer.misjudged[0]
    assert (first.id, first.judge) == (wrong["id"][0], "judge")
    assert (first.verdict, first.label) == (wrong["judge"][0], wrong["human"][0])
    written = pl.read_csv(file)
    assert written.columns == [
        *("row", "id", "judge", "verdict", "label"),
        *("answer", "topic", "year", "judge (column)", "row (column)"),
    ]
    assert written["row"].to_list() == wrong["number"].to_list()
    assert written["answer"].to_list() == wrong["answer"].to_list()
    assert written["topic"][0] == "'=1+1", "no formula"
    judge(table, **ASKED, id="id", misjudged=file)
    file.write_text("mine\n")
    with pytest.raises(UserError, match="exists"):
        judge(table, **ASKED, misjudged=file)
    judge(table, **ASKED, misjudged=file, overwrite=True)
    assert file.read_text().startswith("row,id,judge,verdict,label,")


def test_errors_of_one_verdict_and_those_of_clusters_of_one_are_tested_as_others_are():
    """Only passes are wrong; without clusters, or with one for each item."""
    rng = np.random.default_rng(3)
    said, topic = np.arange(300) % 2 == 0, rng.choice(["a", "b"], 300)
    wrong = said & (rng.random(300) < 0.3)
    table = pl.DataFrame(
        {
            "topic": topic,
            "id": np.arange(300),
            "judge": np.where(said, "pass", "fail"),
            "human": np.where(said & ~wrong, "pass", "fail"),
        }
    )
    counts = [
        [(wrong & said & (topic == t)).sum(), (~wrong & said & (topic == t)).sum()] for t in "ab"
    ]
    expected = stats.chi2_contingency(counts, correction=False).pvalue
    for options in ({}, {"cluster": "id"}):
        assert p_values(table, "topic", **options)["topic"] == pytest.approx(expected, abs=0.08)
