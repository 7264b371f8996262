"""Labels of several people: majority, agreement, undecided items, long and wide tables."""

import numpy as np
import polars as pl
import pytest

from quantshift.errors import UserError
from quantshift.judging import judge
from quantshift.judging.findings import JudgeFindings
from quantshift.judging.items.annotators import agreement_of, panel_error, true_share
from tests.found import numbers_of


def people(n=600, labelled=150, errors=(0.1, 0.1, 0.1), seed=0):
    """A judge's verdicts, the truth, and the labels of people who err."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.7
    said = np.where(rng.random(n) < 0.85, truth, ~truth)
    hidden = pl.Series(~np.isin(np.arange(n), rng.choice(n, labelled, replace=False)))
    columns = {
        name: pl.Series(np.where((rng.random(n) < error) ^ truth, "good", "bad")).set(hidden, None)
        for name, error in zip(("ann", "ben", "cyd"), errors, strict=False)
    }
    frame = pl.DataFrame(
        {"id": [f"q{i}" for i in range(n)], "judge": np.where(said, "pass", "fail"), **columns}
    )
    return frame, truth


ASKED = {"verdict": "judge", "labels": "random", "positive": "good"}


def share(result):
    return next(s for s in result.overall.shares if s.label == "good")


def votes_of(*rows):
    return tuple(
        {f"p{j}": label for j, label in enumerate(row) if label is not None} for row in rows
    )


def test_alpha_is_krippendorffs():
    # The example of Krippendorff's "Computing Krippendorff's alpha-reliability" (2011), part C.
    a = [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None]
    b = [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3]
    c = [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None]
    d = [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None]
    rows = [[None if x is None else str(x) for x in row] for row in zip(a, b, c, d, strict=True)]
    found = agreement_of(votes_of(*rows), range(1, 13), None, level=0.95, seed=0)
    assert found.alpha.estimate == pytest.approx(0.743, abs=0.0005)
    assert found.alpha.low < 0.743 < found.alpha.high
    assert found.n_items == 11
    assert [item.row for item in found.disputed] == [6, 2, 8]
    assert found.n_undecided == 1


@pytest.mark.slow
def test_two_who_err_independently_show_how_often():
    rng = np.random.default_rng(0)
    truth = rng.random(40_000) < 0.5
    given = [np.where((rng.random(40_000) < 0.1) ^ truth, "yes", "no") for _ in range(2)]
    found = agreement_of(
        votes_of(*zip(*given, strict=True)), range(40_000), None, level=0.9, seed=0
    )
    assert found.agreement == pytest.approx(0.82, abs=0.01)
    assert found.error_rate == pytest.approx(0.1, abs=0.005)


def test_a_panel_errs_less_than_one_person():
    one, three = votes_of(["a"]), votes_of(["a", "a", "b"])
    assert panel_error(0.1, one) == pytest.approx(0.1)
    assert panel_error(0.1, three) == pytest.approx(3 * 0.01 * 0.9 + 0.001)
    assert panel_error(0.1, votes_of(["a", "b"])) == pytest.approx(0.1)
    assert true_share(0.1 * 0.3 + 0.9 * 0.7, 0.1) == pytest.approx(0.7)


def test_columns_of_several_people_are_one_label():
    frame, _ = people()
    result = judge(frame, label=["ann", "ben", "cyd"], **ASKED)
    assert result.people.people == ("ann", "ben", "cyd")
    assert (result.people.n_items, result.overall.n_labelled) == (150, 150)
    most = frame.with_columns(
        label=pl.Series([max(set(row), key=row.count) for row in frame["ann", "ben", "cyd"].rows()])
    )
    assert share(result) == share(judge(most, label="label", **ASKED))
    text = result.to_text(details=True)
    assert "People   3, of whom two agree on" in text
    assert "to decide together: rows" in text
    (other,) = result.overall.alternatives
    assert "if each person errs" in other.assumption
    assert other.low <= share(result).low
    assert other.high >= share(result).high


def test_a_row_for_each_item_and_person_is_the_same():
    frame, _ = people()
    wide = judge(frame, label=["ann", "ben", "cyd"], id="id", **ASKED)
    rows = frame.unpivot(
        index=["id", "judge"], on=["ann", "ben", "cyd"], variable_name="who", value_name="human"
    )
    long = judge(rows, label="human", annotator="who", id="id", **ASKED)
    assert share(long) == share(wide)
    assert long.people.alpha.estimate == pytest.approx(wide.people.alpha.estimate)
    assert long.overall.n_items == 600
    for wrong, words in (
        ({"id": None}, "needs the id"),
        ({"table": pl.concat([rows, rows])}, "labels the item 'q.*' twice"),
        (
            {"table": rows.with_columns(judge=pl.Series(["pass"] * 600 + ["fail"] * 1200))},
            "has another verdict than in row",
        ),
    ):
        asked = {"table": rows, "id": "id", **wrong}
        with pytest.raises(UserError, match=words):
            judge(asked["table"], label="human", annotator="who", id=asked["id"], **ASKED)


def with_favoured(frame, favoured):
    """One column of labels; where ann and ben differ it says the favoured one, or nothing."""
    return frame.with_columns(
        label=pl.when(pl.col("ann") == pl.col("ben"))
        .then(pl.col("ann"))
        .when(pl.col("ann").is_not_null())
        .then(pl.lit(favoured, dtype=pl.String))
    )


def test_undecided_items_count_half_for_either_label():
    frame, _ = people(errors=(0.1, 0.1))
    result = judge(frame, label=["ann", "ben"], **ASKED)
    assert result.people.n_undecided > 10
    good, bad = (
        share(judge(with_favoured(frame, favoured), label="label", **ASKED))
        for favoured in ("good", "bad")
    )
    found = share(result)
    assert found.estimate == pytest.approx((good.estimate + bad.estimate) / 2)
    assert (found.low, found.high) == pytest.approx(
        ((good.low + bad.low) / 2, (good.high + bad.high) / 2)
    )
    either = result.overall.alternatives[0]
    assert "whichever way people decide" in either.assumption
    assert (either.low, either.high) == pytest.approx((bad.low, good.high))
    split = numbers_of(result.overall.findings, JudgeFindings.SPLIT_ITEMS)
    assert split["n"] == result.people.n_undecided


def test_judges_are_rated_by_items_that_people_have_decided():
    frame, _ = people(errors=(0.1, 0.1))
    asked = {**ASKED, "insist": True}
    result = judge(frame, label=["ann", "ben"], **asked)
    decided = judge(with_favoured(frame, None), label="label", **asked)
    (one,), (other,) = result.overall.judges, decided.overall.judges
    assert one.rates == other.rates
    assert one.agreement == other.agreement
    assert one.counts == other.counts
    assert result.misjudged == decided.misjudged
    assert result.overall.labels_alone.narrower > 0
    tied = frame.with_columns(
        ben=pl.col("ann").replace_strict({"good": "bad", "bad": "good"}, default=None)
    )
    share_of_ties = share(judge(tied, label=["ann", "ben"], **asked)).estimate
    assert share_of_ties == pytest.approx(0.5, abs=0.1)


def test_people_and_another_table_of_labels_do_not_go_together():
    frame, _ = people()
    with pytest.raises(UserError, match="leave out the other table"):
        judge(frame, label=["ann", "ben"], labelled=frame, **ASKED)
    with pytest.raises(UserError, match="no column 'eve'"):
        judge(frame, label=["ann", "eve"], **ASKED)


def test_rows_of_annotators_without_any_verdict_are_refused_in_a_line():
    nothing = pl.DataFrame(
        {"id": ["a", "b"], "who": ["x", "y"], "judge": [None, None], "human": ["0", "1"]},
        schema_overrides={"judge": pl.String},
    )
    with pytest.raises(UserError, match="no row has a verdict"):
        judge(nothing, verdict="judge", label="human", annotator="who", id="id")
