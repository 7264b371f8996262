"""Several labels with verdicts of their own: each is judged as if it were alone."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from pydantic import TypeAdapter

from quantshift import History, __version__, judge, watch
from quantshift.answers.conditions import Condition
from quantshift.answers.outputs import OUTPUTS
from quantshift.answers.outputs.output import Circumstances
from quantshift.answers.shares import share_of
from quantshift.answers.show.answer import json_schema_of
from quantshift.answers.targets.answer import TargetAnswers
from quantshift.errors import UserError
from quantshift.judging import Judgement, plan_judge
from quantshift.judging.findings import JudgeTableFindings
from tests.found import only
from tests.quantifying.output.test_result import check

Answers = TargetAnswers[Judgement]

PAIRS = {"spam_judge": "spam", "abuse_judge": "abuse"}
TAGS: dict[str, Any] = {"verdict": "judge_tags", "label": "people_tags", "separator": ";"}


def _made(n: int = 600, seed: int = 0) -> pl.DataFrame:
    """Posts that two judges have seen, of which people have labelled a fifth."""
    rng = np.random.default_rng(seed)
    spam = rng.random(n) < 0.3
    abuse = rng.random(n) < np.where(spam, 0.4, 0.1)
    is_labelled = rng.random(n) < 0.2
    columns: dict[str, Any] = {"id": range(n), "site": rng.choice(["north", "south"], n)}
    for name, truth, right in (("spam", spam, 0.9), ("abuse", abuse, 0.8)):
        verdict = np.where(rng.random(n) < right, truth, ~truth)
        columns[f"{name}_judge"] = verdict.astype(int)
        columns[name] = [
            int(t) if known else None for t, known in zip(truth, is_labelled, strict=True)
        ]
    return pl.DataFrame(columns)


def _with_tags(frame: pl.DataFrame) -> pl.DataFrame:
    """The same posts with all labels of a post in one cell."""
    rows = frame.rows(named=True)
    verdicts = ["; ".join(name for name in PAIRS.values() if r[f"{name}_judge"]) for r in rows]
    people = ["; ".join(name for name in PAIRS.values() if r[name]) or "none" for r in rows]
    people = [cell if r["spam"] is not None else "" for cell, r in zip(people, rows, strict=True)]
    columns = pl.Series("judge_tags", verdicts), pl.Series("people_tags", people)
    return frame.select("id", "site", *columns)


POSTS = _made()


@pytest.fixture(scope="module")
def found() -> Answers:
    answer = judge(POSTS, pairs=PAIRS, labels="random", by="site")
    assert isinstance(answer, TargetAnswers)
    return answer


@pytest.mark.parametrize("label", ["spam", "abuse"])
def test_each_label_is_judged_as_if_it_were_alone(found: Answers, label: str) -> None:
    given = {"verdict": f"{label}_judge", "label": label, "labels": "random", "by": "site"}
    alone, wider = judge(POSTS, **given), judge(POSTS, **given, level=0.975)
    for batch, single, wide in zip(found.batches, alone.batches, wider.batches, strict=True):
        rate = next(rate for rate in batch.shares if rate.label == label)
        own = found.own_batch(batch, label)
        own_share, wide_share = share_of(single, "1"), share_of(wide, "1")
        assert batch.name == single.name
        assert (rate.estimate, rate.low, rate.high) == (
            own_share.estimate,
            own_share.low,
            own_share.high,
        )
        assert (rate.low_for_all, rate.high_for_all) == (wide_share.low, wide_share.high)
        assert rate.reference == single.naive("1")
        assert own.judges[0].agreement.estimate == single.judges[0].agreement.estimate
        assert own.n_labelled == single.n_labelled
        assert rate.low_for_all < rate.low < rate.high < rate.high_for_all
    assert found.level_for_all == pytest.approx(0.975)


def test_labels_in_one_cell_are_those_of_columns(found: Answers) -> None:
    tags = judge(_with_tags(POSTS), **TAGS, labels="random", by="site")
    assert tags.targets == ("abuse", "spam")
    for batch, other in zip(tags.batches, found.batches, strict=True):
        assert batch.shares == other.shares


def test_verdicts_in_words_are_mapped() -> None:
    # The lower case of ß is ß, and the case folded is ss.
    words = POSTS.with_columns(pl.col("spam_judge").replace_strict({1: "Groß", 0: "pass on"}))
    mapped = judge(words, pairs=PAIRS, labels="random", map={"Groß": 1, "pass on": 0})
    plain = judge(POSTS, pairs=PAIRS, labels="random")
    assert mapped.batches == plain.batches
    unmapped = judge(words, pairs=PAIRS, labels="random")
    assert share_of(unmapped.batches[0], "spam").reference is None
    unfit = only(unmapped.findings, JudgeTableFindings.VERDICTS_WITHOUT_LABEL)
    assert unfit.about.target == "spam"


def test_labels_of_another_table_are_found_by_id() -> None:
    items = POSTS.drop("spam", "abuse")
    labels = POSTS.drop_nulls("spam").select("id", "spam", "abuse")
    joined = judge(items, labelled=labels, id="id", pairs=PAIRS, labels="random")
    assert joined.batches == judge(POSTS, pairs=PAIRS, labels="random", id="id").batches
    tags = _with_tags(POSTS)
    beside = tags.filter(pl.col("people_tags") != "").drop("judge_tags")
    apart = judge(tags.drop("people_tags"), labelled=beside, id="id", **TAGS, labels="random")
    assert apart.batches[0].shares == judge(tags, **TAGS, labels="random").batches[0].shares


def test_a_sheet_may_have_a_column_for_each_label(tmp_path: Path) -> None:
    items = POSTS.drop("spam", "abuse")
    plan_judge(items, verdict="spam_judge", label="spam", n_labels=60).write(tmp_path / "s.csv")
    sheet = pl.read_csv(tmp_path / "s.csv")
    ones = pl.Series([i % 3 == 0 for i in range(len(sheet))]).cast(pl.Int64)
    filled = sheet.with_columns(spam=ones, abuse=1 - ones)
    answers = judge(items, labelled=filled, pairs=PAIRS).answers.values()
    found = [(answer.overall.labels.design, answer.overall.n_labelled) for answer in answers]
    assert found == [("planned", 60)] * 2


def test_a_label_that_nobody_gave_has_a_rate_near_zero() -> None:
    never = POSTS.with_columns(pl.when(pl.col("abuse").is_not_null()).then(0).alias("abuse"))
    rate = share_of(judge(never, pairs=PAIRS, labels="random").batches[0], "abuse")
    assert rate.estimate == 0
    assert 0 < rate.high < rate.high_for_all < 0.1


def test_a_group_without_verdicts_on_a_label_cannot_be_estimated() -> None:
    silent = POSTS.with_columns(
        pl.when(pl.col("site") == "south").then("spam_judge").alias("spam_judge")
    )
    found = judge(silent, pairs=PAIRS, labels="random", by="site")
    north, south = found.batches
    assert south.can_be_estimated
    assert not north.can_be_estimated
    reasons = [found.own_batch(north, name).no_estimate_reason for name in ("spam", "abuse")]
    assert reasons == ["no verdict", ""]
    unknown = share_of(north, "spam")
    assert (unknown.estimate, unknown.low, unknown.high) == (None, 0, 1)
    assert (unknown.low_for_all, unknown.high_for_all) == (0, 1)
    assert north.n_items > 200
    assert "Unknown  spam in north: no verdict" in found.to_text()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"pairs": {}}, "name a pair"),
        ({"pairs": {"spam_judge": "spma"}}, "no column 'spma'; did you mean 'spam'"),
        ({"pairs": {"spam_judge": "spam", "spam": "abuse"}}, "'spam' is named twice"),
        ({"pairs": {"site": "id"}}, "row 3, column 'id': '2' does not say"),
        ({"pairs": PAIRS, "separator": ";"}, "leave separator out"),
        ({"pairs": PAIRS, "verdict": "spam_judge"}, "leave verdict out"),
        ({"pairs": PAIRS, "score": "id"}, "score is for one label"),
        ({"pairs": PAIRS, "errors_by": "site"}, "errors_by is for one label"),
        ({"pairs": PAIRS, "map": {"2": "1"}}, "unknown verdict '2'"),
        ({"pairs": PAIRS, "map": {"1": "good"}}, "map verdicts to 1 and 0"),
        ({"pairs": PAIRS, "level": 95}, "^a level is between"),
        ({"pairs": PAIRS, "labels": "elsewhere"}, "^label 'spam': "),
        ({"separator": ";", "verdict": "spam_judge"}, "name both"),
        ({**TAGS, "separator": " "}, "such as ';'"),
    ],
    ids=str,
)
def test_what_cannot_be_meant_is_refused(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(UserError, match=problem):
        judge(POSTS.head(40) if "labels" not in options else POSTS.drop_nulls(), **options)


@pytest.mark.parametrize(
    ("tags", "options", "problem"),
    [
        (_with_tags(POSTS), {"separator": "|"}, "never contains the separator"),
        (_with_tags(POSTS), {"map": {"a": "b"}}, "leave it out"),
        (
            _with_tags(POSTS).with_columns(pl.col("people_tags").replace("none", "")),
            {},
            "every item that people have labelled has a label",
        ),
        (
            pl.DataFrame({"judge_tags": ["", ""], "people_tags": ["none", ""]}),
            {},
            "no item has a label",
        ),
        (
            pl.DataFrame({"judge_tags": [f"t{i};" for i in range(1001)], "people_tags": "none"}),
            {},
            "has 1,001 labels",
        ),
    ],
    ids=["separator", "map", "none", "nothing", "too many"],
)
def test_cells_that_cannot_be_meant_are_refused(
    tags: pl.DataFrame, options: dict[str, Any], problem: str
) -> None:
    with pytest.raises(UserError, match=problem):
        judge(tags, **{**TAGS, **options})


def test_values_need_a_table() -> None:
    with pytest.raises(UserError, match="need a table"):
        judge(verdict=["a"], label=["a"], separator=";")


def test_every_item_may_have_a_label_if_the_user_insists() -> None:
    tags = _with_tags(POSTS).with_columns(pl.col("people_tags").replace("none", "other"))
    rates = judge(tags, **TAGS, insist=True).batches[0].shares
    assert sorted(rate.label for rate in rates) == ["abuse", "other", "spam"]


def test_every_output_names_every_label(found: Answers) -> None:
    circumstances = Circumstances((Condition.parse("spam>1%"),), (("command", "judge"),))
    for output in OUTPUTS:
        text = output.render(found, circumstances)
        assert "spam" in text
        assert "abuse" in text
    assert "for all labels at once: at the level 97.5% (Bonferroni)" in found.to_text(details=True)
    frame = found.to_frame()
    assert len(frame) == 4
    assert "spam" in repr(found)
    assert "<table" in found._repr_html_()
    assert found.plot().get_xlim() == (0, 1)


def test_the_page_is_small_and_stresses_the_shares(found: Answers) -> None:
    """It held a chart library without a chart, and stressed the share by the verdicts alone."""
    page = found.page()
    assert len(page) < 200_000
    stressed = re.findall(r'<td class="number strong">(.*?)</td>', page)
    rates = [rate for batch in found.batches for rate in batch.shares]
    assert stressed == [f"{100 * rate.estimate:.1f}%" for rate in rates]
    # Nothing may make code from text where no chart needs that.
    assert "unsafe-eval" not in page


def test_json_is_as_its_schema_says(found: Answers) -> None:
    content = json.loads(found.to_json())
    schema = json_schema_of(Answers)
    check(content, schema, schema["$defs"])
    assert content.pop("format") == schema["properties"]["format"]["const"] == 1
    assert content.pop("version") == __version__
    assert TypeAdapter(Answers).validate_json(json.dumps(content)) == found


def test_each_label_has_a_history(found: Answers, tmp_path: Path) -> None:
    watched = watch(found, history=tmp_path / "h", at="2026-03-02", fail_if="spam>1%")
    assert [call.headline for call in History(tmp_path / "h" / "spam").calls()] == ["spam"]
    assert watched.exit_code == 3
    assert all(": spam>1% (" in line for line in watched.conditions)
    assert "spam" in watched.summary_line()
    assert set(json.loads(watched.to_json())["history"]) == {"spam", "abuse"}


def _seen_by_two(frame: pl.DataFrame) -> pl.DataFrame:
    """A second judge of spam, and a second person, who differ from the first now and then."""
    rng = np.random.default_rng(1)
    flips = [pl.Series((rng.random(len(frame)) < 0.1).astype(int)) for _ in range(2)]
    return frame.with_columns(
        (pl.col("spam_judge") ^ flips[0]).alias("second+judge"),
        (pl.col("spam") ^ flips[1]).alias("spam_ben"),
    )


@pytest.mark.parametrize(
    "spam", [("spam_judge", "second+judge"), "spam_judge + second_judge"], ids=["names", "text"]
)
def test_several_judges_and_people_of_a_label_are_those_of_that_label_alone(spam: Any) -> None:
    frame = _seen_by_two(POSTS)
    if isinstance(spam, str):
        frame = frame.rename({"second+judge": "second_judge"})
    judges = [name for name in frame.columns if name.endswith("judge") and name != "abuse_judge"]
    pairs = {spam: "spam+spam_ben", "abuse_judge": "abuse"}
    found = judge(frame, pairs=pairs, labels="random")
    alone = judge(frame, verdict=judges, label=["spam", "spam_ben"], labels="random", positive="1")
    rate, other = (share_of(found.batches[0], name) for name in found.targets)
    own = share_of(alone.overall, "1")
    assert (rate.estimate, rate.low, rate.high) == (own.estimate, own.low, own.high)
    assert rate.label == "spam+spam_ben"
    assert found.answers[rate.label].judges == tuple(judges)
    assert other == share_of(judge(POSTS, pairs=PAIRS, labels="random").batches[0], "abuse")
    assert found.answers[rate.label].people == replace(
        alone.people, disputed=found.answers[rate.label].people.disputed
    )
    text = found.to_text(details=True)
    assert all(f"{name}: kappa 0." in text for name in judges)
    assert "People   spam+spam_ben: two agree on " in text


def test_a_row_for_each_person_is_one_for_each_item() -> None:
    frame = _seen_by_two(POSTS)
    people = [
        frame.with_columns(who=pl.lit(name), spam=pl.col(column))
        for name, column in (("ann", "spam"), ("ben", "spam_ben"))
    ]
    long = judge(pl.concat(people), pairs=PAIRS, annotator="who", id="id", labels="random")
    wide = {"spam_judge": "spam+spam_ben", "abuse_judge": "abuse"}
    expected = judge(frame, pairs=wide, labels="random")
    for name, same in zip(long.targets, expected.targets, strict=True):
        rate, other = share_of(long.batches[0], name), share_of(expected.batches[0], same)
        assert (rate.estimate, rate.low, rate.high) == (other.estimate, other.low, other.high)
    assert long.answers["spam"].people.n_undecided > 5
    with pytest.raises(UserError, match="'spam' is named twice"):
        judge(frame, pairs={"spam_judge+spam": "spam"})
