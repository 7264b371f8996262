"""Items that are unlike all labelled ones, and rates that cannot be: what is not known is shown."""

import numpy as np
import polars as pl
import pytest

from quantshift.errors import DataError, UserError
from quantshift.judging import judge, plan_judge
from quantshift.judging.estimating.estimation import estimate
from quantshift.judging.findings import JudgeFindings
from quantshift.judging.items.judged_items import ExternalLabels
from quantshift.tables.columns.findings import TableFindings
from tests.found import codes_of, numbers_of
from tests.judging.made import coded, drawn, halves, verdicts

ASKED = {"verdict": "judge", "label": "human"}


@pytest.fixture(scope="module")
def table():
    return verdicts()


@pytest.fixture(scope="module")
def older():
    return verdicts(200, share=0.4, seed=9).rename({"truth": "human"})


def spelled(frame, spelling):
    return frame.with_columns(pl.col("judge").replace(spelling))


def share(result, label="pass"):
    return next(s for s in result.overall.shares if s.label == label)


def test_case_and_blanks_of_verdicts_are_forgiven(table, older):
    """Verdicts PASS and FAIL of the labelled items were others than pass and fail."""
    right = judge(table.drop("truth"), labelled=older, **ASKED)
    shouted = spelled(older, {"pass": "PASS ", "fail": "Fail"})
    found = judge(table.drop("truth"), labelled=shouted, **ASKED)
    assert found.overall == right.overall
    assert numbers_of(found.findings, TableFindings.RESPELT_VERDICTS)["n"] == 200
    mapped = {"Pass": "good", "FAIL": "bad"}
    named = shouted.with_columns(pl.col("human").replace({"pass": "good", "fail": "bad"}))
    found = judge(table.drop("truth"), labelled=named, map=mapped, **ASKED)
    assert share(found, "good").low == share(right).low
    with pytest.raises(UserError, match="'pass' is mapped to 'good' and to 'bad'"):
        judge(
            table.drop("truth"),
            labelled=named,
            map={"Pass": "good", "PASS": "bad"},
            **ASKED,
        )


@pytest.mark.parametrize("spelling", [{"pass": "PASSED", "fail": "FAILED"}, {"pass": 1, "fail": 0}])
def test_verdicts_that_no_labelled_item_has_are_matched_or_refused(table, older, spelling):
    """46.1% (36.9 to 53.9%) where 67% were true, and "Nothing in the data contradicts it"."""
    spelling = {name: str(other) for name, other in spelling.items()}
    words = r"the labelled items have verdicts \(.*\) that none of the others has .* alike$"
    found = judge(table.drop("truth"), labelled=spelled(older, spelling), **ASKED)
    assert share(found) == share(judge(table.drop("truth"), labelled=older, **ASKED))
    chosen = halves(table, "truth", 45)
    part = pl.col("human").is_not_null()
    other = pl.col("judge").replace(spelling)
    mixed = chosen.with_columns(judge=pl.when(part).then(other).otherwise("judge"))
    for design in ("by-label", "elsewhere"):
        with pytest.raises(DataError, match=words):
            judge(mixed, labels=design, **ASKED)


def test_the_headline_names_verdicts_that_no_labelled_item_has():
    """It blamed the judge, which "treats these items differently"."""
    table = verdicts(2000).drop("truth")
    labelled = verdicts(800, share=0.6, seed=9).rename({"truth": "human"})
    with pytest.raises(DataError, match=r"verdicts 'wrong' where the table has 'fail': .* alike"):
        judge(table, labelled=spelled(labelled, {"fail": "wrong"}), **ASKED)


def with_unsure(table, part=0.15, seed=3):
    """Some items have a verdict of their own."""
    unsure = np.random.default_rng(seed).random(len(table)) < part
    said = pl.when(pl.Series(unsure)).then(pl.lit("unsure")).otherwise("judge")
    return table.with_columns(judge=said)


def without_labels_of(frame, verdict):
    return frame.with_columns(human=pl.when(pl.col("judge") != verdict).then("human"))


@pytest.mark.parametrize("design", ["elsewhere", "by-label", "random", "by-verdict", "planned"])
def test_limits_allow_for_verdicts_without_labels(table, older, design, tmp_path):
    """Their share was divided among the classes as if it were known."""
    whole = with_unsure(table)
    unsure = (whole["judge"] == "unsure").mean()
    options = dict(ASKED)
    if design == "elsewhere":
        frame, options["labelled"] = whole.drop("truth"), older
    elif design == "planned":
        frame = whole.drop("truth")
        plan_judge(frame, n_labels=100, **ASKED).write(tmp_path / "sheet.csv")
        sheet = pl.read_csv(tmp_path / "sheet.csv")
        filled = sheet.with_columns(human=whole["truth"].gather(sheet["item"] - 1))
        options["labelled"] = filled.filter(pl.col("judge") != "unsure")
    else:
        chosen = halves(whole, "truth", 60) if design == "by-label" else drawn(whole, 120)
        frame = without_labels_of(chosen, "unsure")
        options |= {"labels": design, "insist": True}
    found = judge(frame, **options)
    assert found.overall.labels.design == design
    known = whole.filter(pl.col("judge") != "unsure")
    least = (known["truth"] == "pass").sum() / len(whole)
    own = share(found)
    assert own.low < least < least + unsure < own.high
    if own.estimate is not None:
        assert own.low <= own.estimate <= own.high
    code = JudgeFindings.ITEMS_UNLIKE_LABELLED
    if design == "by-verdict":
        code = JudgeFindings.STRATA_WITHOUT_LABEL
    unlike = numbers_of(found.overall.findings, code)
    assert unlike["share"] == pytest.approx(unsure)
    if design in ("elsewhere", "by-label"):
        rates = [r for r in found.overall.judges[0].rates if r.verdict == "unsure"]
        assert [(r.low, r.high) for r in rates] == [(0, 1), (0, 1)]


def test_random_labels_may_miss_a_rare_verdict(table):
    rare = with_unsure(table, 0.01)
    frame = without_labels_of(drawn(rare), "unsure")
    found = judge(frame, labels="random", **ASKED)
    assert JudgeFindings.ITEMS_UNLIKE_LABELLED not in codes_of(found.overall.findings)
    assert share(found).high - share(found).low < 0.2


def test_verdicts_that_hardly_a_labelled_item_has(table, older):
    """A single label made them known."""
    others = pl.concat([spelled(older, {"pass": "PASSED", "fail": "FAILED"}), older[:1]])
    with pytest.raises(DataError, match="write them alike in both tables"):
        judge(table.drop("truth"), labelled=others, **ASKED)


def test_a_group_of_which_nothing_is_known(table, older):
    split = table.drop("truth").with_columns(
        judge=pl.when(pl.col("system") == "A").then(pl.lit("unsure")).otherwise("judge")
    )
    found = judge(split, labelled=older, by="system", **ASKED)
    unknown, known = found.batches
    assert not unknown.can_be_estimated
    assert (
        unknown.no_estimate_reason
        == "none of them has a verdict or a score that a labelled item has"
    )
    assert unknown.shares[0].estimate is None
    assert known.shares[1].high - known.shares[1].low < 0.8


def test_systems_with_verdicts_without_labels_are_compared(table, older):
    whole = with_unsure(table.drop("truth")).with_columns(q=pl.int_range(pl.len()) // 2)
    options = {"labelled": older, "by": "system", "compare": ("A", "B"), "id": "q"}
    certain = table.drop("truth").with_columns(q=pl.int_range(pl.len()) // 2)
    wide, narrow = (
        judge(frame, **options, **ASKED, labels="elsewhere").differences[1]
        for frame in (whole, certain)
    )
    assert wide.paired
    assert wide.high - wide.low > narrow.high - narrow.low


def test_scores_of_any_scale_elsewhere(table, older):
    """Those outside 0 to 1 were compared with ranks: 0.0% (0.0 to 0.0%)."""
    options = {"score": "score", "label": "human"}
    right = judge(table.drop("truth"), labelled=older, **options)
    for scale in (100, -1):
        new, old = (
            frame.with_columns(score=pl.col("score") * scale)
            for frame in (table.drop("truth"), older)
        )
        found = judge(new, labelled=old, **options)
        assert share(found).estimate == pytest.approx(share(right).estimate, abs=0.03)
    # Percents here and shares there: the labelled items are all in the lowest bin.
    found = judge(
        table.drop("truth").with_columns(score=pl.col("score") * 100), labelled=older, **options
    )
    assert not found.overall.can_be_estimated or share(found).high - share(found).low > 0.6


@pytest.mark.parametrize("rates", [(0.6, 0.9), (0.99, 0.2)])
def test_verdicts_that_cannot_come_from_the_rates(rates):
    """100.0% (100.0 to 100.0%), and 0.0% (0.0 to 0.0%)."""
    said = ["pass"] * 735 + ["fail"] * 265
    with pytest.raises(UserError, match="whatever is true; check the sensitivity"):
        judge(verdict=said, sensitivity=rates[0], specificity=rates[1])


def test_rates_of_a_coin_say_nothing():
    """It said that there are fewer verdicts of a class than false ones alone would make."""
    said = ["pass", "fail"] * 500
    found = judge(verdict=said, sensitivity=0.5, specificity=0.5)
    assert not found.overall.can_be_estimated
    assert (share(found).low, share(found).high) == (0.0, 1.0)
    assert "verdicts say nothing about the shares" in found.to_text(details=True).splitlines()[0]


def test_no_interval_is_narrower_than_that_of_counting(older):
    """Intervals of items all of one verdict had no width."""
    said, of = ["pass"] * 400, "population"
    rates = {"sensitivity": 0.999, "specificity": 0.999}
    given = judge(verdict=said, classes=["fail", "pass"], of=of, **rates)
    perfect = older.with_columns(judge=pl.col("human"))
    asked = {**ASKED, "of": of, "assume": "rates"}
    carried = judge(pl.DataFrame({"judge": said}), labelled=perfect, **asked)
    for found in (given, carried):
        assert share(found).estimate > 0.95
        assert share(found).low < 0.993


@pytest.mark.parametrize("all_are", [0, 1])
def test_limits_hold_whatever_is_true_of_unknown_items(all_are):
    """They held in none of the repetitions."""
    rng = np.random.default_rng(all_are)
    held = 0
    for _ in range(40):
        y = (rng.random(600) < 0.6).astype(np.int64)
        right = rng.random(600) < np.where(y == 1, 0.9, 0.8)
        said = np.where(right, y, 1 - y)
        unsure = rng.random(600) < 0.12
        y[unsure], said[unsure] = all_are, 2
        other = rng.integers(0, 2, 150)
        of_other = np.where(rng.random(150) < np.where(other == 1, 0.9, 0.8), other, 1 - other)
        external = ExternalLabels(other, of_other)
        items = coded(said, np.full(600, -1), says=[[0, 1, -1]], external=external)
        found = estimate(items).shares
        held += found.low[1] <= y.mean() <= found.high[1]
    assert held >= 36
