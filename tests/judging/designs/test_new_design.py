"""A design that nobody has thought of, as one class: everything that judges knows it at once."""

import importlib
import json

import numpy as np
import polars as pl
import pytest

from quantshift.cli.commands.answers import judge as commands
from quantshift.errors import UserError
from quantshift.judging import json_schema, judge, plan_judge
from quantshift.judging.designs.design import Check, Design, LabelsStandFor, Plannable
from quantshift.judging.designs.parts.judge_quality import counted_quality
from quantshift.judging.designs.parts.label_evidence import Clue, Strength
from quantshift.judging.designs.parts.plan_strata import strata_by_verdict
from quantshift.judging.designs.parts.share_estimate import ShareEstimate
from quantshift.judging.designs.registry import registered
from quantshift.judging.reading import options
from tests.judging.made import drawn, halves, labelled, verdicts
from tests.quantifying.output.test_result import check as check_schema

ASKED = {"verdict": "judge", "label": "human"}


class Census(Design):
    """Every item is labelled: the shares are counted, and nothing is unknown."""

    name = "census"
    chosen = "given to every item"
    words = "one for every item"
    help = "all of them"
    assumption = "Every item has a label, so nothing is estimated."
    source = ""
    cannot_be_stated = ""
    cannot_be_planned = "there is nothing to choose if every item is labelled"
    labelled_are_items = True
    shares_labels = False
    uses_labels = True
    labels_stand_for = LabelsStandFor.ALL_ITEMS

    def is_implied_by(self, items):
        return False

    def clue(self, items, evidence):
        every = items.is_labelled.all()
        return Clue(self.name, Strength.SHOWN, "every item has a label") if every else None

    def check(self, items, evidence, settings):
        n_open = int((~items.is_labelled).sum())
        if n_open:
            return Check(ok=False, sentence=f"{n_open} of {len(items)} items have no label")
        return Check(sentence="Every item has a label, as stated.")

    def estimate(self, items, settings):
        of_each = np.eye(items.n_classes)[np.maximum(items.labels, 0)]
        p, none = of_each.mean(axis=0), np.zeros(items.n_classes)
        return ShareEstimate(p, p, p, none, none, of_each - p, can_be_halved=False)

    def quality(self, items, counts, settings):
        return counted_quality(counts, settings)


class EvenVerdicts(Plannable):
    """As many items of each verdict, whatever their rates."""

    name = "even"
    plan_words = "with as many items of each verdict"
    plan_needs = ("verdict",)
    plans_together = False

    def plan_strata(self, items, *, random_so_far):
        return strata_by_verdict(items)

    def allocated(self, strata, total, had, level):
        return np.minimum(np.full(len(strata.sizes), total / len(strata.sizes)), strata.sizes)


@pytest.fixture
def census():
    with registered(Census()):
        yield


@pytest.fixture(scope="module")
def table():
    return verdicts()


@pytest.fixture(scope="module")
def complete(table):
    return labelled(table, np.arange(400))


def test_without_the_class_nothing_knows_it(complete):
    with pytest.raises(UserError, match="unknown way to choose labels 'census'; known: by-label"):
        judge(complete, labels="census", **ASKED)
    with pytest.raises(UserError, match="unknown plan 'even'"):
        plan_judge(complete, verdict="judge", n_labels=10, how="even")


def test_judge_and_all_its_outputs(census, table, complete, tmp_path):
    found = judge(complete, labels="census", **ASKED)
    share = (table["truth"] == "pass").mean()
    (own,) = (s for s in found.overall.shares if s.label == "pass")
    assert (own.low, own.estimate, own.high) == pytest.approx((share, share, share))
    assert found.overall.labels.design == "census"
    assert found.overall.labels.stated
    (quality,) = found.overall.judges
    rates = {(r.label, r.verdict): r.estimate for r in quality.rates}
    right = (complete.filter(pl.col("human") == "pass")["judge"] == "pass").mean()
    assert rates["pass", "pass"] == pytest.approx(right)
    text = found.to_text(details=True)
    assert "Labels   400, one for every item (as stated)\n" in text
    assert "Assumed  Every item has a label, so nothing is estimated." in text
    schema = json_schema()
    check_schema(json.loads(found.to_json()), schema, schema["$defs"])
    assert found.to_csv().count(",census,") == 2
    found.to_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "Labels: 400, one for every item (as stated)" in page


def test_it_is_guessed_and_named_among_the_others(census, complete):
    found = judge(complete, **ASKED)
    assert found.overall.labels.design == "census"
    assert found.overall.labels.guessed
    assert found.overall.labels.sentence.startswith("Guessed: every item has a label. ")
    assert ", picked (because " in found.questions[0]
    assert " or census (all of them)" in found.questions[0]


def test_it_does_not_take_part_where_nothing_points_to_it(census, table):
    assert judge(halves(table, "judge", 45), **ASKED).overall.labels.design == "by-verdict"
    assert judge(drawn(table), **ASKED).overall.labels.design == "random"


def test_groups_and_differences(census, table, complete):
    options = {"by": "system", "compare": ("A", "B"), "labels": "census"}
    found = judge(complete, **ASKED, **options)
    for batch in found.batches:
        assert batch.labels.design == "census"
        part = table.filter(pl.col("system") == batch.name)["truth"] == "pass"
        assert batch.shares[1].estimate == pytest.approx(part.mean())
    first, second = (batch.shares[1].estimate for batch in found.batches)
    assert found.differences[1].estimate == pytest.approx(first - second)


def test_a_contradiction_is_refused_in_its_words(census, table):
    with pytest.raises(UserError) as error:
        judge(drawn(table), labels="census", **ASKED)
    said = "the data contradict labels given to every item: 320 of 400 items have no label"
    assert str(error.value) == said


@pytest.fixture
def commands_with_census():
    """The commands as they are if the design is listed before they are imported."""
    with registered(Census()):
        importlib.reload(options)
        importlib.reload(commands)
        yield
    importlib.reload(options)
    importlib.reload(commands)


def test_the_command_line(commands_with_census, complete, quantshift, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    complete.write_csv("all.csv")
    asked = ("all.csv", "--verdict", "judge", "--label", "human")
    code, said, _ = quantshift("judge", *asked, "--labels", "census", "--details")
    assert code == 0
    assert "one for every item (as stated)" in said
    code, said, _ = quantshift("judge", "--help-all")
    assert code == 0
    assert "census" in said
    assert "or all of them" in " ".join(said.replace("│", " ").split())
    code, _, wrong = quantshift("plan", "judge", *asked, "--n-labels", "5", "--how", "census")
    assert code == 2
    assert wrong == (
        "error: labels given to every item cannot be planned: there is nothing to choose if every "
        "item is labelled (--how)\n"
    )


def test_a_new_way_to_plan(table, quantshift, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table.drop("truth").write_csv("bare.csv")
    asked = ("bare.csv", "--verdict", "judge", "--label", "human")
    with registered(EvenVerdicts()):
        found = plan_judge("bare.csv", verdict="judge", n_labels=60, how="even")
        assert [n for _, n in found.strata] == [30, 30]
        code, _, _ = quantshift(
            "plan", "judge", *asked, "--n-labels", "60", "--how", "even", "--out", "sheet.csv"
        )
        assert code == 0
    sheet = pl.read_csv("sheet.csv")
    sheet.with_columns(human=table["truth"].gather(sheet["item"] - 1)).write_csv("sheet.csv")
    answer = judge("bare.csv", labelled="sheet.csv", **ASKED)
    assert answer.overall.labels.design == "planned"
    truth = (table["truth"] == "pass").mean()
    assert answer.overall.shares[1].low <= truth <= answer.overall.shares[1].high
