"""Several labels at once: each is answered alone or with the others, with limits for all."""

import csv
import io
import json
from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from pydantic import TypeAdapter
from scipy.special import ndtri

from quantshift import __version__, quantify
from quantshift.answers.conditions import Condition, failures_of
from quantshift.answers.outputs import OUTPUTS
from quantshift.answers.outputs.output import Circumstances
from quantshift.answers.shares import share_of
from quantshift.answers.show.answer import json_schema_of
from quantshift.answers.targets.answer import TargetAnswers
from quantshift.claims import Explanation, Kind, Reason
from quantshift.errors import UserError
from quantshift.quantifying import Quantification
from quantshift.quantifying.findings import SampleFindings
from quantshift.quantifying.targets.job import combined
from quantshift.quantifying.targets.parents import Parents
from quantshift.statistics.multiple_tests import level_for_all
from tests.found import numbers_of
from tests.quantifying.output.test_result import check
from tests.quantifying.targets.made import LABELS, QUICK, labelled, unlabelled, with_tags

Answers = TargetAnswers[Quantification]

TRAIN = labelled(400, seed=1)
NEW = labelled(300, seed=2, spam=0.6)
SAMPLE = unlabelled(NEW)


@pytest.fixture(scope="module")
def found() -> Answers:
    return quantify(SAMPLE, train=TRAIN, label=LABELS, parents={"hate": "abuse"}, **QUICK)


@pytest.fixture(scope="module")
def contradicted() -> Answers:
    """Items that no shares of the labels explain: a column has moved."""
    moved = SAMPLE.with_columns(x0=pl.col("x0") - 2 * pl.col("x1").abs())
    return quantify(moved, train=TRAIN, label=LABELS, **QUICK)


@pytest.fixture(scope="module")
def by_month() -> Answers:
    return quantify(SAMPLE, train=TRAIN, label=LABELS, by="month", **QUICK)


def _positive(result: Any, label: str) -> list[tuple[float | None, float, float]]:
    """The estimates of a label and its limits, batch by batch."""
    shares = [share_of(batch, label) for batch in result.batches]
    return [(share.estimate, share.low, share.high) for share in shares]


@pytest.mark.parametrize("label", LABELS)
def test_a_label_with_an_interval_of_its_own_is_answered_as_if_it_were_alone(
    by_month: Answers, label: str
) -> None:
    others = [name for name in LABELS if name != label]
    alone = quantify(SAMPLE, train=TRAIN, label=label, drop=others, by="month", **QUICK)
    answer = by_month.answers[label]
    shares = zip(_positive(by_month, label), _positive(alone, "1"), strict=True)
    for (ours, own), batch, by_itself in zip(shares, answer.batches, alone.batches, strict=True):
        assert batch.shift is not None
        if batch.shift.kind is Explanation.JOINT:
            assert by_itself.kind != Kind.INTERVAL
            assert batch.kind == Kind.INTERVAL or ours[1] <= own[1] <= own[2] <= ours[2]
        else:
            assert (ours, batch.kind, batch.reason) == (own, by_itself.kind, by_itself.reason)
            assert batch.changes == by_itself.changes
    assert [b.accuracy.estimate for b in answer.batches if b.accuracy] == [
        b.accuracy.estimate for b in alone.batches if b.accuracy
    ]


@pytest.mark.slow
def test_labels_in_one_column_and_in_another_order_give_the_same(
    found: Answers,
) -> None:
    tags = quantify(SAMPLE, train=with_tags(TRAIN), label="tags", separator=";", **QUICK)
    assert tags.targets == tuple(sorted(LABELS))
    turned = quantify(SAMPLE, train=TRAIN, label=LABELS[::-1], **QUICK)
    for label in LABELS:
        assert _positive(tags, label) == _positive(turned, label)
    assert _positive(turned, "spam") == _positive(found, "spam")


@pytest.mark.slow
def test_equal_weights_have_no_effect_and_others_do() -> None:
    declared = {"label": LABELS[:2], "drop": "hate", "assume": "covariate", **QUICK}
    given = {"train": TRAIN.with_columns(w=2.0), "weights": "w", **declared}
    equal = quantify(SAMPLE.with_columns(w=1.0), **given)
    plain = quantify(SAMPLE, train=TRAIN, **declared)
    tilted = SAMPLE.with_columns(w=1.0 + 9 * (pl.col("x0") > 1))
    heavy = quantify(tilted, **given)
    for label in LABELS[:2]:
        assert _positive(equal, label) == _positive(plain, label)
    (more, *_), (usual, *_) = _positive(heavy, "spam")[0], _positive(plain, "spam")[0]
    assert more is not None
    assert usual is not None
    assert more > usual + 0.1


def test_limits_for_all_labels_are_those_of_a_higher_level(
    found: Answers, contradicted: Answers
) -> None:
    assert found.level_for_all == pytest.approx(1 - 0.05 / 3)
    ratio = ndtri((1 + found.level_for_all) / 2) / ndtri(0.975)
    cut = {f.about.target for f in found.findings if f.code is SampleFindings.CUT_AT_PARENT}
    kinds = set()
    for batch in (*found.batches, *contradicted.batches):
        for answer in batch.shares:
            kinds.add(answer.kind)
            assert answer.low_for_all <= answer.low <= answer.high <= answer.high_for_all
            if answer.estimate is None or answer.label in cut:
                continue
            low = max(0.0, answer.estimate - ratio * (answer.estimate - answer.low))
            high = min(1.0, answer.estimate + ratio * (answer.high - answer.estimate))
            if answer.kind == Kind.RANGE:
                assert (answer.low_for_all, answer.high_for_all) == pytest.approx((low, high))
            else:
                assert answer.low_for_all <= low + 1e-12
                assert answer.high_for_all >= high - 1e-12
    assert {Kind.RANGE, Kind.INTERVAL} <= kinds


@pytest.mark.slow
def test_with_one_assumption_declared_limits_for_all_are_intervals_of_that_level() -> None:
    given = {"train": TRAIN, "label": LABELS[:2], "drop": "hate", "assume": "covariate", **QUICK}
    both = quantify(SAMPLE, **given)
    one = quantify(
        SAMPLE,
        train=TRAIN,
        label="spam",
        drop=["abuse", "hate"],
        assume="covariate",
        level=level_for_all(0.95, 2),
        **QUICK,
    )
    answer = next(a for a in both.batches[0].shares if a.label == "spam")
    assert answer.kind == Kind.CONDITIONAL
    assert (answer.low_for_all, answer.high_for_all) == pytest.approx(_positive(one, "1")[0][1:])


@pytest.mark.slow
def test_a_change_of_one_label_makes_the_others_be_answered_together() -> None:
    new = labelled(2000, seed=3, spam=0.7)
    given = {"train": labelled(1500, seed=4), **QUICK}
    found = quantify(unlabelled(new), label=LABELS, **given)
    alone = quantify(unlabelled(new), label="abuse", drop=["spam", "hate"], **given)
    assert (alone.batches[0].kind, alone.batches[0].reason) == (Kind.RANGE, Reason.REFUTED)
    for answer in found.batches[0].shares:
        assert answer.kind == Kind.INTERVAL
        assert answer.low_for_all <= new[answer.label].mean() <= answer.high_for_all
    abuse = share_of(found.batches[0], "abuse")
    together = [f for f in found.findings if f.code is SampleFindings.ANSWERED_TOGETHER]
    assert "abuse" in [f.about.target for f in together]
    assert {f.numbers["method"] for f in together} == {"TiltedLabelSets"}
    assert not any(answer.batches[0].shift.is_significant for answer in found.answers.values())
    (line,) = (x for x in found.to_text(details=True).splitlines() if "estimated together" in x)
    assert "abuse" in line or len(together) == len(LABELS)
    own = share_of(alone.batches[0], "1")
    assert abuse.high - abuse.low < own.high - own.low


@pytest.mark.slow
def test_what_is_declared_is_not_answered_together() -> None:
    new = unlabelled(labelled(2000, seed=3, spam=0.9))
    given = {"train": labelled(1500, seed=4), "assume": "prior", **QUICK}
    found = quantify(new, label=LABELS, **given)
    alone = quantify(new, label="abuse", drop=["spam", "hate"], **given)
    assert _positive(found, "abuse") == _positive(alone, "1")
    assert found.answers["abuse"].batches[0].verdict == alone.batches[0].verdict.replace(
        "abuse = 1", "abuse"
    )


def test_parents_are_checked_in_the_table_and_held_in_every_batch(
    found: Answers,
) -> None:
    child, parent = (share_of(found.batches[0], name) for name in ("hate", "abuse"))
    assert child.high <= parent.high
    odd = TRAIN.with_columns(hate=pl.Series([1, 1, *TRAIN["hate"].to_list()[2:]]), abuse=0)
    odd = odd.with_columns(abuse=pl.Series([0, 0, *TRAIN["abuse"].to_list()[2:]]))
    with pytest.raises(UserError, match="2 rows have the label 'hate' without its parent 'abuse'"):
        quantify(SAMPLE, train=odd, label=LABELS, parents="hate=abuse", **QUICK)


def test_a_child_that_exceeds_its_parent_is_cut_everywhere(found: Answers) -> None:
    """A hierarchy that the shares contradict: spam, the most frequent, within hate."""
    wider = {label: [(0.0, 1.0) for _ in found.batches] for label in LABELS}
    cut = combined(found.answers, wider, found.level_for_all, Parents({"spam": "hate"}))
    by_label = {share.label: share for share in cut.batches[0].shares}
    findings = [f for f in cut.findings if f.code is SampleFindings.CUT_AT_PARENT]
    assert [(f.about.target, f.numbers["parent"]) for f in findings] == [("spam", "hate")]
    assert by_label["spam"].estimate == by_label["hate"].estimate
    assert by_label["spam"].high <= by_label["hate"].high
    kept = cut.answers["spam"].batches[0]
    own = share_of(kept, "spam")
    assert (own.estimate, own.low, own.high) == (
        by_label["spam"].estimate,
        by_label["spam"].low,
        by_label["spam"].high,
    )
    total = sum(share.estimate or 0.0 for share in kept.shares)
    assert total == pytest.approx(1.0)
    assert "spam: its share or its limits were cut at those of its parent 'hate'" in (
        cut.to_text(details=True)
    )


def test_limits_of_a_child_above_those_of_its_parent_are_a_warning(
    found: Answers,
) -> None:
    wider = {"spam": [(0.8, 0.9)], "hate": [(0.1, 0.2)], "abuse": [(0.0, 1.0)]}
    cut = combined(found.answers, wider, found.level_for_all, Parents({"spam": "hate"}))
    contradicted = numbers_of(cut.findings, SampleFindings.CHILD_ABOVE_PARENT)
    assert contradicted == {"child": "spam", "parent": "hate"}


def test_rows_are_sorted_by_the_size_of_the_change(by_month: Answers) -> None:
    for batch in by_month.batches:
        sizes = [abs(a.difference) for a in batch.shares if a.difference is not None]
        assert sizes == sorted(sizes, reverse=True)
        assert [a.difference is None for a in batch.shares] == sorted(
            a.difference is None for a in batch.shares
        )
    assert [batch.name for batch in by_month.batches] == ["2026-01", "2026-02"]


def test_every_output_names_every_label(found: Answers) -> None:
    circumstances = Circumstances((Condition.parse("spam>10%"),), (("command", "c"),))
    for output in OUTPUTS:
        text = output.render(found, circumstances)
        assert all(label in text for label in LABELS), output.name
    assert all(label in found.to_text(details=True) for label in LABELS)
    assert all(label in repr(found) for label in LABELS)
    assert repr(found.batches[0]).startswith("<TargetsBatch 'the sample' of 300 items: spam ")
    rows = list(csv.DictReader(io.StringIO(found.to_csv())))
    assert [row["class"] for row in rows] == [a.label for a in found.batches[0].shares]
    assert float(rows[0]["low_for_all"]) == found.batches[0].shares[0].low_for_all


def test_json_is_as_its_schema_says(found: Answers) -> None:
    content = json.loads(found.to_json())
    schema = json_schema_of(Answers)
    check(content, schema, schema["$defs"])
    assert content.pop("format") == 1
    assert content.pop("version") == __version__
    assert TypeAdapter(Answers).validate_json(json.dumps(content)) == found
    assert [a["label"] for a in content["batches"][0]["shares"]] == [
        a.label for a in found.batches[0].shares
    ]
    assert content["batches"][0]["shares"][0]["reference"] is not None
    assert content["answers"]["spam"]["batches"][0]["verdict"]


def test_the_page_escapes_names_and_marks_ranges(contradicted: Answers) -> None:
    page = contradicted.page(provenance=[("command", "quantshift quantify <x>")])
    assert "quantshift quantify &lt;x&gt;" in page
    assert '<span class="mark">range</span>' in page
    ranges = [label.kind.is_range for batch in contradicted.batches for label in batch.shares]
    assert page.count('<i class="range"') == sum(ranges) > 0
    labels = page.split('<section id="labels"')[1].split("</section>")[0]
    assert labels.count('<tr><th scope="row">') == len(LABELS)


def test_of_many_batches_the_text_shows_the_last_unless_all_are_asked_for(
    by_month: Answers,
) -> None:
    many = replace(by_month, batches=by_month.batches * 5)
    assert many.to_text().count("for all labels at once\n") == 6
    assert "... and 4 more" in many.to_text()
    assert many.to_text(details=True).count("for all labels at once\n") == 10


@pytest.mark.slow
def test_conditions_are_on_labels() -> None:
    given = {"train": TRAIN, "label": LABELS, **QUICK}
    with pytest.raises(UserError, match="unknown label 'spma'"):
        quantify(SAMPLE, conditions=["spma>5%"], **given)
    found = quantify(SAMPLE, conditions=["spam.low>0%"], **given)
    assert failures_of([Condition.parse("spam.low>=0%")], found)


def test_a_share_of_a_label_is_not_that_of_the_rest(found: Answers) -> None:
    for label in LABELS:
        truth = float(NEW[label].mean())  # type: ignore[arg-type]
        (share,) = [s for s in found.batches[0].shares if s.label == label]
        assert share.estimate is not None
        # Near a half the two shares are alike.
        assert abs(truth - 0.5) < 0.15 or (share.estimate > 0.5) == (truth > 0.5)


def test_plots_have_a_row_for_each_label_or_batch(found: Answers, by_month: Answers) -> None:
    pytest.importorskip("matplotlib")
    assert len(found.plot().get_yticklabels()) == len(LABELS)
    assert len(by_month.plot("hate").get_yticklabels()) == 2
    with pytest.raises(UserError, match="unknown class 'hat'"):
        found.plot("hat")
