"""`judge`: tables, arrays and frames in, one answer out; joins, designs, groups, comparisons."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

import quantshift
from quantshift.errors import DataError, UserError
from quantshift.judging import Judgement, json_schema, judge
from quantshift.judging.findings import JudgeFindings, JudgeTableFindings
from quantshift.judging.plans.sheet import plan_judge
from quantshift.statistics.multiple_tests import holm
from quantshift.tables.columns.findings import TableFindings
from tests.found import codes_of, numbers_of
from tests.judging.made import drawn, halves, labelled, verdicts
from tests.quantifying.output.test_result import check


@pytest.fixture(scope="module")
def table():
    return verdicts()


@pytest.fixture(scope="module")
def found(table) -> Judgement:
    return judge(drawn(table), verdict="judge", label="human", labels="random")


def share(result, label="pass"):
    return next(s for s in result.overall.shares if s.label == label)


def refused(*arguments, **options):
    with pytest.raises(UserError) as caught:
        judge(*arguments, **options)
    line = str(caught.value)
    assert "\n" not in line
    assert "--" not in line
    return line


def test_the_front_door_is_the_same_function():
    assert quantshift.judge is judge


def test_the_answer(found, table):
    truth = (table["truth"] == "pass").mean()
    own = share(found)
    assert own.low <= truth <= own.high
    assert found.headline == "pass"
    (quality,) = found.overall.judges
    assert quality.naive["pass"] == pytest.approx((table["judge"] == "pass").mean())
    assert found.overall.labels.design == "random"
    assert found.overall.labels.stated
    assert found.rows[0].read == found.rows[0].used == 400
    rates = {(r.label, r.verdict): r for r in quality.rates}
    assert rates["pass", "pass"].low < 0.95 < rates["pass", "pass"].high
    assert quality.agreement.low <= quality.agreement.estimate <= quality.agreement.high


def test_arrays_and_frames_give_what_a_file_gives(found, table, tmp_path):
    frame = drawn(table)
    frame.write_csv(tmp_path / "v.csv")
    options = {"verdict": "judge", "label": "human", "labels": "random"}
    human = frame["human"].to_list()
    nan = [np.nan if value is None else value for value in human]
    answers = [
        judge(tmp_path / "v.csv", **options),
        judge(frame.to_pandas(), **options),
        judge(verdict=frame["judge"].to_list(), label=human, labels="random"),
        judge(
            verdict=frame["judge"].to_numpy(), label=np.array(nan, dtype=object), labels="random"
        ),
        judge(verdict=pd.Series(frame["judge"].to_list()), label=pd.Series(human), labels="random"),
        judge(verdict={"gpt": frame["judge"]}, label=frame["human"], labels="random"),
    ]
    for answer in answers:
        assert answer.overall.shares == found.overall.shares


def test_numbers_and_truth_values_are_labels_too(found, table):
    frame = drawn(table)
    number = {"pass": 1.0, "fail": 0.0, None: np.nan}
    labels = [number[value] for value in frame["human"]]
    answer = judge(verdict=(frame["judge"] == "pass").to_numpy(), label=labels, labels="random")
    assert answer.classes == ("0", "1")
    assert answer.names["1"] == "label = 1"
    assert share(answer, "1").estimate == share(found).estimate
    assert answer.overall.judges[0].naive["1"] == found.overall.judges[0].naive["pass"]


def test_arrays_of_different_lengths_are_refused():
    assert "need the same length" in refused(verdict=[0, 1, 1], label=[0, 1])
    assert "give its table too" in refused(verdict="judge", label=[0, 1])


@pytest.mark.parametrize(("column", "design"), [("judge", "by-verdict"), ("truth", "by-label")])
def test_halves_are_recognised_and_a_contradiction_is_one_line(table, column, design):
    chosen = halves(table, column, 60)
    guess = judge(chosen, verdict="judge", label="human")
    assert guess.overall.labels.design == design
    assert not guess.overall.labels.stated
    assert (guess.overall.kind, guess.overall.reason) == ("conditional", "guessed")
    line = refused(chosen, verdict="judge", label="human", labels="random")
    assert f"it looks like {design}" in line
    insisted = judge(chosen, verdict="judge", label="human", labels="random", insist=True)
    assert not insisted.overall.labels.ok
    assert (insisted.overall.kind, insisted.overall.reason) == ("conditional", "declared")
    assert insisted.overall.condition.endswith("chosen at random, which the data contradict")


def test_labels_of_another_table_are_joined_by_id(found, table):
    frame = drawn(table)
    beside = frame.filter(pl.col("human").is_not_null()).select("id", "human").reverse()
    bare = frame.drop("human")
    options = {"verdict": "judge", "label": "human", "id": "id", "labels": "random"}
    answer = judge(bare, labelled=beside, **options)
    assert answer.overall.shares == found.overall.shares
    assert answer.rows[1].read == 80
    ghosts = beside.with_columns(id=pl.when(pl.int_range(80) < 3).then(pl.lit("z")).otherwise("id"))
    line = refused(bare, labelled=ghosts.unique("id", maintain_order=True), **options)
    assert "1 of 78 labelled ids are not in the table, the first in row 1 ('z')" in line
    assert "labelled twice (row 1 too)" in refused(bare, labelled=ghosts, **options)
    twice = pl.concat([bare, bare])
    assert "is that of several rows" in refused(twice, labelled=beside, **options)
    other = beside.with_columns(human=pl.col("human").replace({"pass": "fail", "fail": "pass"}))
    assert "decide on one" in refused(frame, labelled=other, **options)


def test_items_labelled_elsewhere(table):
    other = verdicts(200, share=0.4, seed=9).rename({"truth": "human"})
    answer = judge(table.drop("truth"), verdict="judge", label="human", labelled=other)
    assert answer.overall.labels.design == "elsewhere"
    # It was "as you say" where the user had said nothing.
    assert not answer.overall.labels.stated
    assert "labelled elsewhere, for another purpose (they are in a table" in answer.to_text(
        details=True
    )
    told = judge(
        table.drop("truth"), verdict="judge", label="human", labelled=other, labels="elsewhere"
    )
    assert "labelled elsewhere, for another purpose (as stated)" in told.to_text(details=True)
    assert answer.overall.n_items == 400
    assert share(answer).low <= (table["truth"] == "pass").mean() <= share(answer).high
    assert len(answer.overall.alternatives) == 2
    assert "labelled elsewhere" in refused(
        table.drop("truth"), verdict="judge", label="human", labelled=other, labels="random"
    )


def test_labels_of_both_kinds_are_joined_if_the_judge_treats_them_alike(table):
    same = verdicts(200, share=0.4, seed=9).rename({"truth": "human"})
    both = judge(drawn(table), verdict="judge", label="human", labelled=same)
    assert both.overall.n_labelled == 280
    assert JudgeFindings.ELSEWHERE_USED in codes_of(both.overall.findings)
    assert both.overall.labels.design == "random"
    worse = verdicts(300, sensitivity=0.5, specificity=0.5, seed=9).rename({"truth": "human"})
    alone = judge(drawn(table), verdict="judge", label="human", labelled=worse)
    assert alone.overall.n_labelled == 80
    assert JudgeFindings.TREATED_DIFFERENTLY in codes_of(alone.overall.findings)


def test_scores_and_several_judges(table):
    frame = drawn(table).with_columns(second=pl.lit("pass"))
    by_score = judge(frame, score="score", label="human", labels="random", of="population")
    assert by_score.overall.judges == ()
    assert share(by_score).low < 0.7 < share(by_score).high
    both = judge(frame, verdict=["judge", "second"], label="human", labels="random")
    assert [q.name for q in both.overall.judges] == ["judge", "second"]
    assert "not a number" in refused(frame, score="id", label="human")


def test_three_classes_and_a_verdict_of_its_own():
    rng = np.random.default_rng(0)
    truth = rng.choice(["a", "b", "tie"], 600, p=[0.3, 0.5, 0.2])
    said = np.where(rng.random(600) < 0.7, truth, rng.choice(["a", "b", "tie", "tie (?)"], 600))
    labels = np.where(np.arange(600) < 150, truth, None)
    answer = judge(verdict=said, label=labels, labels="random")
    assert answer.classes == ("a", "b", "tie")
    (quality,) = answer.overall.judges
    assert quality.says == ("a", "b", "tie", None)
    assert quality.naive is None
    unfit = numbers_of(answer.findings, JudgeTableFindings.VERDICTS_WITHOUT_LABEL)
    assert unfit["verdicts"] == ("tie (?)",)
    mapped = judge(verdict=said, label=labels, labels="random", map={"tie (?)": "tie"})
    assert sum(mapped.overall.judges[0].naive.values()) == pytest.approx(1)
    assert "tie (?)" in mapped.to_text(details=True)


@pytest.mark.parametrize(
    "pairs",
    [{"1": "pass", 1: "fail"}, {"pass": "1", "fail": "1"}],
    ids=["verdict twice", "verdict twice, labels first"],
)
def test_a_verdict_mapped_to_two_labels_is_refused(table, pairs):
    """The last pair won, and the naive rate and kappa were 0."""
    numbered = drawn(table).with_columns(judge=pl.col("judge").replace({"pass": "1", "fail": "0"}))
    line = refused(numbered, verdict="judge", label="human", map=pairs)
    assert line == "the verdict '1' is mapped to 'pass' and to 'fail'; map it to one of them"


def test_groups_and_their_difference(table):
    answer = judge(
        drawn(table, 160),
        verdict="judge",
        label="human",
        labels="random",
        by="system",
        compare=("A", "B"),
    )
    assert [batch.name for batch in answer.batches] == ["A", "B"]
    assert answer.overall.n_items == 400
    found = next(d for d in answer.differences if d.label == "pass")
    first, second = (next(s for s in b.shares if s.label == "pass") for b in answer.batches)
    assert found.estimate == pytest.approx(first.estimate - second.estimate)
    assert not found.paired
    assert "unknown system 'C'" in refused(
        drawn(table), verdict="judge", label="human", by="system", compare=("A", "C")
    )
    assert "distinguishes them" in refused(
        drawn(table), verdict="judge", label="human", compare=("A", "C")
    )


def test_the_same_questions_make_pairs(table):
    rng = np.random.default_rng(4)
    hard = rng.random(300)
    parts = []
    for system, skill in (("A", 0.8), ("B", 0.7)):
        truth = np.where(hard < skill, "pass", "fail")
        said = np.where(rng.random(300) < 0.9, truth, "pass")
        parts.append(
            pl.DataFrame({"q": np.arange(300), "system": system, "judge": said, "truth": truth})
        )
    both = labelled(pl.concat(parts), np.r_[0:100, 300:400])
    options = {"verdict": "judge", "label": "human", "labels": "random", "by": "system"}
    paired = judge(both, **options, id="q", compare=("A", "B")).differences[1]
    apart = judge(both, **options, compare=("A", "B")).differences[1]
    assert paired.paired
    assert (paired.n_items, paired.n_other) == (300, 300)
    assert paired.high - paired.low < apart.high - apart.low
    assert paired.low < 0.1 < paired.high


def three_systems(n=300, skills=(("A", 0.8), ("B", 0.6), ("C", 0.79))):
    """Answers of three systems to the same questions, 100 of which are labelled."""
    rng = np.random.default_rng(6)
    hard = rng.random(n)
    parts = []
    for system, skill in skills:
        truth = np.where(hard + rng.normal(0, 0.03, n) < skill, "pass", "fail")
        said = np.where(rng.random(n) < 0.9, truth, "pass")
        parts.append(
            pl.DataFrame({"q": np.arange(n), "system": system, "judge": said, "truth": truth})
        )
    rows = np.concatenate([np.arange(100) + i * n for i in range(len(skills))])
    return labelled(pl.concat(parts), rows)


def test_several_systems_are_compared_in_pairs_with_adjusted_p_values():
    options = {"verdict": "judge", "label": "human", "labels": "random", "by": "system", "id": "q"}
    table = three_systems()
    answer = judge(table, **options, compare="all")
    leading = next(d for d in answer.differences if d.label == answer.headline)
    assert f"{100 * leading.estimate:+.1f} points" in answer.to_text()
    assert "larger mean" not in answer.to_text()
    found = [d for d in answer.differences if d.label == "pass"]
    assert [(d.system, d.other) for d in found] == [("A", "B"), ("A", "C"), ("B", "C")]
    assert [d.p_adjusted for d in found] == pytest.approx(holm([d.p_value for d in found]))
    assert [d.more_than_chance for d in found] == [True, False, True]
    alone = judge(table, **options, compare=("A", "C"))
    pair = next(d for d in alone.differences if d.label == "pass")
    assert (pair.estimate, pair.low, pair.p_value) == pytest.approx(
        (found[1].estimate, found[1].low, found[1].p_value)
    )
    assert pair.p_adjusted == pair.p_value
    assert pair.labels_to_decide > 200
    text = answer.to_text(details=True)
    assert "Compared shares of pass in 3 pairs, p-values adjusted for their number (Holm):" in text
    assert "A minus C" in text
    assert f"about {pair.labels_to_decide:,} labels in all would decide" in alone.to_text(
        details=True
    )
    assert "A minus C" in answer.page()
    assert judge(table, **options, compare="A,B,C").differences == answer.differences
    assert "name two groups or more" in refused(table, **options, compare="A")
    assert "compared with itself" in refused(table, **options, compare="A,B,A")


def test_means_of_grades_are_compared():
    rng = np.random.default_rng(5)
    parts = []
    for system, skill in (("new", 0.6), ("old", 0.0)):
        grade = np.digitize(rng.normal(size=300) + skill, [-1, 0, 1]) + 1
        said = np.clip(grade + rng.choice([-1, 0, 0, 0, 1], size=300), 1, 4)
        parts.append(
            pl.DataFrame(
                {"q": np.arange(300), "system": system, "judge": said, "truth": grade.astype(int)}
            )
        )
    both = labelled(pl.concat(parts), np.r_[0:120, 300:420])
    options = {"verdict": "judge", "label": "human", "labels": "random", "by": "system"}
    answer = judge(both, **options, id="q", compare=("new", "old"))
    found, means = answer.mean_difference, [batch.mean for batch in answer.batches]
    assert found.paired
    assert found.estimate == pytest.approx(means[0].estimate - means[1].estimate)
    assert found.naive == pytest.approx(means[0].naive - means[1].naive)
    assert found.low < found.estimate < found.high
    assert f"mean {found.estimate:+.2f} ({found.low:+.2f} to" in answer.to_text(details=True)
    assert json.loads(answer.to_json())["mean_differences"][0]["estimate"] == found.estimate
    assert found.probability > 0.975
    assert found.more_than_chance
    last = list(answer.records())[-1]
    assert (last["batch"], last["quantity"]) == ("new minus old", "mean difference")
    assert answer.to_csv().splitlines()[-1].startswith("new minus old,300,,mean,")
    schema = json_schema()
    check(json.loads(answer.to_json()), schema, schema["$defs"])


def test_the_mean_of_grades_comes_first():
    rng = np.random.default_rng(5)
    grade = rng.integers(1, 5, 300)
    table = pl.DataFrame({"judge": np.clip(grade + 1, 1, 4), "truth": grade})
    answer = judge(labelled(table, np.arange(100)), verdict="judge", label="human", labels="random")
    mean = answer.overall.mean
    line = (
        f"mean: {mean.estimate:.2f} over the 300 items in the table (95% interval {mean.low:.2f} to"
    )
    assert answer.to_text(details=True).startswith(line)
    assert repr(answer).startswith(line)
    assert f">The mean of the 300 items in the table is {mean.estimate:.2f}</h1>" in answer.page()


def test_classes_without_an_order_have_no_mean_to_compare(table):
    options = {"verdict": "judge", "label": "human", "labels": "random", "by": "system"}
    answer = judge(drawn(table, 160), **options, compare=("A", "B"))
    assert answer.mean_difference is None
    kinds = [row["quantity"] for row in answer.records()]
    assert kinds == ["share"] * 4 + ["difference"] * 2


def test_a_group_without_labels_cannot_be_estimated(table):
    frame = drawn(table).with_columns(human=pl.when(pl.col("system") == "A").then(pl.col("human")))
    answer = judge(frame, verdict="judge", label="human", labels="random", by="system")
    known, unknown = answer.batches
    assert known.can_be_estimated
    assert not unknown.can_be_estimated
    assert unknown.shares[0].estimate is None
    assert (unknown.shares[0].low, unknown.shares[0].high) == (0, 1)


def test_labels_are_compared_with_the_other_items_of_their_group(table):
    # In the groups together the labelled items are as all items; in each of them they are not.
    frame = drawn(table, 200).with_columns(
        group=pl.when(pl.col("human").is_null() == (pl.col("judge") == "pass"))
        .then(pl.lit("x"))
        .otherwise(pl.lit("y"))
    )
    options = {"verdict": "judge", "label": "human", "labels": "random"}
    line = refused(frame, by="group", **options)
    assert "in one of the groups 100% of the labelled items have the verdict" in line
    answer = judge(frame, by="group", insist=True, **options)
    assert [batch.can_be_estimated for batch in answer.batches] == [True, True]
    assert not answer.batches[0].labels.ok


def test_labels_by_label_serve_all_groups(table):
    answer = judge(
        halves(table, "truth"), verdict="judge", label="human", labels="by-label", by="system"
    )
    assert all(batch.can_be_estimated for batch in answer.batches)
    assert "The labels of all groups are used for each of them." in answer.batches[0].assumed


def test_known_rates_instead_of_labels(table):
    answer = judge(
        table.drop("truth"), verdict="judge", sensitivity=(0.95, 0.9, 0.98), specificity=0.75
    )
    assert answer.overall.labels.design == "given"
    assert share(answer).low <= (table["truth"] == "pass").mean() <= share(answer).high
    assert "give both" in refused(table, verdict="judge", sensitivity=0.9)
    assert "not between its limits" in refused(
        table, verdict="judge", sensitivity=(0.9, 0.1, 0.2), specificity=0.9
    )
    assert "is a share" in refused(table, verdict="judge", sensitivity=90, specificity=0.9)


def test_a_judge_with_one_verdict(table):
    answer = judge(drawn(table).with_columns(judge=pl.lit("pass")), verdict="judge", label="human")
    assert share(answer).high - share(answer).low > 0.15
    assert JudgeFindings.ONE_VERDICT in codes_of(answer.overall.findings)


def test_labels_of_one_class(table):
    frame = drawn(table).with_columns(
        human=pl.when(pl.col("human") == "pass").then(pl.col("human"))
    )
    answer = judge(frame, verdict="judge", label="human", labels="by-label")
    assert share(answer, "fail").high - share(answer, "fail").low > 0.3
    assert JudgeFindings.ONE_CLASS_LABELLED in codes_of(answer.overall.findings)


def test_labels_that_equal_the_verdicts(table):
    frame = drawn(table).with_columns(
        human=pl.when(pl.col("human").is_not_null()).then(pl.col("judge"))
    )
    answer = judge(frame, verdict="judge", label="human", labels="random")
    own = share(answer)
    assert own.low < own.estimate < own.high
    assert JudgeFindings.PERFECT_AGREEMENT in codes_of(answer.overall.findings)


def test_three_labels(table):
    answer = judge(drawn(table, 3), verdict="judge", label="human", labels="random")
    assert share(answer).high - share(answer).low > 0.5
    assert "label some" in refused(drawn(table, 0), verdict="judge", label="human")


def test_rows_are_never_lost_silently(table, tmp_path):
    frame = drawn(table).with_columns(
        judge=pl.when(pl.int_range(400) < 40).then(pl.lit("NA")).otherwise("judge")
    )
    frame.write_csv(tmp_path / "v.csv")
    with (tmp_path / "v.csv").open("a") as file:
        file.write("q400,pass\n")
    answer = judge(tmp_path / "v.csv", verdict="judge", label="human")
    (rows,) = answer.rows
    assert rows.left_out == {"no verdict": 40, "too many or too few cells": 1}
    assert rows.read == rows.used + 41 == 401
    lost = frame[:40]["human"].is_not_null().sum()
    assert numbers_of(answer.findings, JudgeTableFindings.LABELLED_BUT_LEFT_OUT) == {"n": lost}
    assert answer.to_text(details=True).startswith("v.csv: 41 of 401 rows were left out")


def test_missing_labels_are_those_of_quantify(table):
    frame = drawn(table).with_columns(pl.col("human").fill_null("?"))
    assert judge(frame, verdict="judge", label="human", missing=["?"]).overall.n_labelled == 80
    assert "?" in judge(frame, verdict="judge", label="human", labels="random").classes


def test_labels_that_differ_in_case_are_one_and_slips_are_pointed_out(table):
    frame = drawn(table).with_columns(
        human=pl.when(pl.int_range(400) < 200)
        .then(pl.col("human").str.to_uppercase())
        .otherwise("human")
    )
    answer = judge(frame, verdict="judge", label="human", labels="random")
    plain = judge(drawn(table), verdict="judge", label="human", labels="random")
    assert {c.casefold() for c in answer.classes} == set(plain.classes)
    assert len(answer.classes) == len(plain.classes)
    assert answer.overall.shares[0].low == pytest.approx(plain.overall.shares[0].low)
    assert TableFindings.RESPELT_LABELS in codes_of(answer.findings)
    assert (
        judge(frame, verdict="judge", label="human", labels="random", classes=plain.classes).classes
        == plain.classes
    )


def test_columns_have_one_role(table):
    frame = drawn(table)
    assert "cannot be the label as well" in refused(frame, verdict="judge", label="judge")
    assert "cannot be a label as well" in refused(frame, verdict="judge", label="human,human")
    for role in ("id", "cluster"):
        message = refused(frame, verdict="judge", label="human", **{role: "judge"})
        assert f"is a verdict and cannot be the {role} as well" in message
    assert "did you mean 'judge'" in refused(frame, verdict="jugde", label="human")
    assert "name the column of the labels" in refused(frame, verdict="judge")
    assert "unknown way to choose labels" in refused(
        frame, verdict="judge", label="human", labels="balanced"
    )


def test_the_same_twice(found, table):
    again = judge(drawn(table), verdict="judge", label="human", labels="random")
    assert again.to_json() == found.to_json()


def test_json_follows_its_schema(found, table):
    grouped = judge(drawn(table), verdict="judge", label="human", by="system", compare=("A", "B"))
    for answer in (found, grouped):
        schema = json_schema()
        check(json.loads(answer.to_json()), schema, schema["$defs"])
        assert "NaN" not in answer.to_json()


def test_frames_charts_and_short_texts(found, tmp_path):
    frame = found.to_frame()
    assert list(frame["class"]) == ["fail", "pass"]
    assert repr(found).startswith("pass: ")
    assert found._repr_html_().startswith("<div><p><strong>pass: ")
    found.to_html(tmp_path / "page.html")
    assert "<title>" in (tmp_path / "page.html").read_text("utf-8")
    assert found.plot().get_xlim() == (0, 1)
    assert found.to_csv().splitlines()[0] == ",".join(frame.columns)
    with pytest.raises(UserError, match="unknown class 'x'"):
        found.plot("x")


def test_the_text_has_the_rate_first(found):
    lines = found.to_text(details=True).splitlines()
    assert lines[0].startswith("pass: ")
    assert "of the 400 items" in lines[0]
    assert lines[1].startswith("counting the verdicts of judge alone: ")
    text = "\n".join(lines)
    for word in ("kappa", "sensitivity", "specificity", "Assumed", "Needed", "Next"):
        assert word in text


def test_a_table_without_rows(tmp_path):
    (tmp_path / "v.csv").write_text("judge,human\n")
    with pytest.raises(DataError, match="no row has a verdict"):
        judge(tmp_path / "v.csv", verdict="judge", label="human")


def test_a_second_sheet_goes_on_where_the_first_ended(tmp_path):
    rng = np.random.default_rng(7)
    y = rng.random(4000) < 0.01
    truth = pl.Series("breaks", np.where(y, "yes", "no"))
    posts = tmp_path / "posts.csv"
    pl.DataFrame({"post": np.arange(4000), "score": rng.normal(3.0 * y, 1.0)}).write_csv(posts)
    filled = None
    for number, total in enumerate((200, 350)):
        planned = plan_judge(
            posts, score="score", label="breaks", labelled=filled, n_labels=total - 200 * number
        )
        planned.write(tmp_path / f"sheet{number}.csv")
        rows = pl.read_csv(tmp_path / f"sheet{number}.csv")
        assert len(rows) == total
        filled = tmp_path / f"filled{number}.csv"
        rows.with_columns(breaks=truth.gather(rows["item"] - 1)).write_csv(filled)
    found = judge(posts, score="score", label="breaks", labelled=filled)
    assert found.overall.n_labelled == 350
    low, high = (getattr(found.overall.shares[1], end) for end in ("low", "high"))
    assert low < 0.01 < high
    with pytest.raises(UserError, match="were drawn by another plan"):
        plan_judge(posts, score="score", label="breaks", labelled=filled, n_labels=50, how="random")


def test_a_group_that_a_plan_left_out_is_still_planned(table, tmp_path):
    """It was said to be chosen by verdict."""
    bare = table.drop("truth")
    plan_judge(bare, verdict="judge", n_labels=60).write(tmp_path / "sheet.csv")
    sheet = pl.read_csv(tmp_path / "sheet.csv").filter(pl.col("system") == "A")
    filled = sheet.with_columns(label=table["truth"].gather(sheet["item"] - 1))
    found = judge(bare, verdict="judge", label="label", labelled=filled, by="system")
    assert [batch.labels.design for batch in found.batches] == ["planned", "planned"]
    assert [batch.can_be_estimated for batch in found.batches] == [True, False]


def test_what_is_stated_beside_the_sheet_of_a_plan_is_refused(table, tmp_path):
    bare = table.drop("truth")
    plan_judge(bare, verdict="judge", n_labels=60).write(tmp_path / "sheet.csv")
    sheet = pl.read_csv(tmp_path / "sheet.csv")
    filled = sheet.with_columns(label=table["truth"].gather(sheet["item"] - 1))
    asked = {"verdict": "judge", "label": "label", "labelled": filled}
    assert judge(bare, **asked).batches[0].labels.design == "planned"
    with pytest.raises(UserError, match="the sheet of a plan says how its labels were chosen"):
        judge(bare, labels="random", **asked)


def test_a_sheet_whose_items_have_one_verdict_by_now(table, tmp_path):
    bare = table.drop("truth")
    plan_judge(bare, verdict="judge", n_labels=60).write(tmp_path / "sheet.csv")
    sheet = pl.read_csv(tmp_path / "sheet.csv").drop("judge")
    filled = sheet.with_columns(label=table["truth"].gather(sheet["item"] - 1))
    judged_again = bare.with_columns(judge=pl.lit("pass"))
    answer = judge(judged_again, verdict="judge", label="label", labelled=filled)
    share = answer.overall.shares[1]
    assert share.low < (table["truth"] == "pass").mean() < share.high


def test_a_sheet_has_no_two_columns_of_one_name(table, tmp_path):
    sheet = plan_judge(table.drop("truth"), verdict="judge", label="item", n_labels=60)
    with pytest.raises(UserError, match="a sheet has a column 'item' of its own"):
        sheet.write(tmp_path / "sheet.csv")
    assert not (tmp_path / "sheet.csv").exists()


def test_weighted_shares_say_so_and_labels_without_weight_are_refused(table):
    table = drawn(table)
    views = table.with_columns(views=pl.Series(range(len(table))))
    asked = {"verdict": "judge", "label": "human", "weights": "views", "insist": True}
    answer = judge(views, **asked, labels="random")
    assert f"items in the table, weighted by views ({100 * answer.level:g}%" in answer.to_text(
        details=True
    )
    assert answer.overall.weights == "views"
    none = table.with_columns(views=pl.col("human").is_null().cast(int))
    assert "all labelled items have the weight 0" in refused(none, **asked)


@pytest.mark.parametrize("with_scores", [True, False])
def test_a_heavy_item_without_a_label_can_be_either(with_scores):
    """It decides the share of the weight, whatever the labels of the others say."""
    rng = np.random.default_rng(0)
    y = rng.random(300) < 0.7
    labels = np.where(np.arange(300) < 60, y.astype(object), None)
    says = {"score": y + rng.normal(size=300)} if with_scores else {"verdict": y}
    for heavy, is_wide in [(299, True), (0, False)]:
        weights = np.where(np.arange(300) == heavy, 1e6, 1.0)
        answer = judge(**says, label=labels, labels="random", insist=True, weights=weights)
        share = answer.overall.shares[1]
        assert (share.high - share.low > 0.5) == is_wide
        assert is_wide or share.low - 1e-3 <= y[0] <= share.high + 1e-3


def test_labels_of_the_table_itself_count_once(table, tmp_path):
    table = drawn(table)
    path = tmp_path / "v.csv"
    table.write_csv(path)
    asked = {"verdict": "judge", "label": "human"}
    with pytest.raises(UserError, match=r"v.csv is named twice, and would be counted twice"):
        judge(path, labelled=path, **asked)
    assert "the labelled table is the table itself" in refused(table, labelled=table, **asked)


def test_ids_of_other_items_are_noticed_by_their_verdicts(table):
    """Rows that are numbered in both tables have the same ids, and are other items."""
    bare = table.drop("truth")
    sheet = table.select("id", "judge", human="truth")
    asked = {"verdict": "judge", "label": "human", "id": "id", "labels": "random", "insist": True}
    same = judge(bare, labelled=sheet[:100], **asked)
    others = sheet.with_columns(pl.struct("judge", "human").shuffle(1).struct.unnest())[:100]
    assert "another verdict in 'judge' than in the table" in refused(bare, labelled=others, **asked)
    first = pl.int_range(pl.len()) == 0
    otherwise = pl.when(pl.col("judge") == "pass").then(pl.lit("fail")).otherwise(pl.lit("pass"))
    changed = sheet.with_columns(judge=pl.when(first).then(otherwise).otherwise("judge"))[:100]
    answer = judge(bare, labelled=changed, **asked)
    changed = numbers_of(answer.findings, JudgeTableFindings.CHANGED_VERDICTS)
    assert (changed["n"], changed["n_items"]) == (1, 100)
    without = judge(bare, labelled=sheet[:100].drop("judge"), **asked)
    assert without.overall.shares == same.overall.shares == answer.overall.shares


def test_gaps_of_every_kind_of_array_are_gaps(table):
    """The values under the mask of an array are not labels."""
    human = drawn(table)["human"].to_list()
    is_gap, said = np.equal(human, None), np.equal(human, "pass")
    judged, asked = (table["judge"] == "pass").to_numpy(), {"labels": "random", "insist": True}
    expected = judge(verdict=judged, label=np.where(is_gap, None, said), **asked).overall.shares
    for label in (
        np.ma.masked_array(said, mask=is_gap),
        pd.array(np.where(is_gap, None, said), dtype="boolean"),
        pd.Categorical(np.where(is_gap, None, said)),
    ):
        assert judge(verdict=judged, label=label, **asked).overall.shares == expected
    with pytest.raises(UserError, match=r"give one value for each item, got shape \(400, 2\)"):
        judge(verdict=np.column_stack([judged, judged]), label=human)


def test_all_items_labelled(table):
    """Nothing is guessed, assumed or advised."""
    every = drawn(table).with_columns(human=pl.col("human").fill_null("pass"))
    text = judge(every, verdict="judge", label="human").to_text(details=True)
    assert f"Labels   {len(table):,}, of all items\nAssumed  Nothing.\nNeeded   all items" in text
    assert "guess" not in text.casefold()
    assert "Next" not in text


def test_few_labels_are_no_surprise_and_have_a_singular(table):
    table = drawn(table)
    known = table.filter(pl.col("human") == pl.col("judge")).head(1)
    few = pl.concat([known, table.filter(pl.col("human").is_null()).head(5)])
    text = judge(few, verdict="judge", label="human", classes=["pass", "fail"]).to_text(
        details=True
    )
    assert "with 1 label the interval" in text
    assert "without seeing them" not in text
    assert "Needed   labels of all items, since these are few" in text


def test_lower_case_gaps_are_no_class(table):
    table = drawn(table)
    gaps = table.with_columns(human=pl.col("human").fill_null("n/a"))
    asked = {"verdict": "judge", "label": "human", "labels": "random"}
    assert judge(gaps, **asked).overall.shares == judge(table, **asked).overall.shares


def test_a_label_that_may_mean_none_is_pointed_out(table):
    frame = drawn(table).with_columns(pl.col("human").fill_null("-"))
    options = {"verdict": "judge", "label": "human", "labels": "random"}
    placeholder = numbers_of(judge(frame, **options).findings, TableFindings.PLACEHOLDER_LABEL)
    assert placeholder == {"label": "-", "n": 320, "n_labels": 400}
    assert judge(frame, missing=["-"], **options).findings == ()


def test_of_three_classes_the_headline_is_the_first_unless_one_is_named(table):
    asked = {"verdict": "judge", "label": "human", "labels": "random", "insist": True}
    letters = {"pass": "a", "fail": "b"}
    plain = drawn(table).with_columns(
        pl.col("judge").replace(letters), pl.col("human").replace(letters)
    )
    assert judge(plain, **asked).headline == "b"
    more = judge(plain, **asked, classes=("c", "a", "b"))
    assert (more.headline, more.classes[0]) == ("a", "a")
    assert judge(plain, **asked, classes=("c", "a", "b"), positive="b").headline == "b"
