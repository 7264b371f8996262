"""The list of designs: names, reasons, and designs that are not complete."""

from pathlib import Path

import pytest

from quantshift.errors import UserError
from quantshift.judging.designs.at_random import AtRandom
from quantshift.judging.designs.by_label import ByLabel
from quantshift.judging.designs.design import Plannable
from quantshift.judging.designs.parts.plan_strata import strata_by_verdict
from quantshift.judging.designs.registry import (
    design_named,
    designs,
    plan_named,
    plans,
    register,
    registered,
    stated_design,
    stated_designs,
)

ROOT = Path(__file__).parents[3]


def test_every_design_has_all_its_words():
    assert [design.name for design in stated_designs()] == [
        *("random", "by-verdict", "by-label", "elsewhere", "picked")
    ]
    assert [plan.name for plan in plans()] == ["random", "by-verdict", "by-score"]
    for design in designs():
        assert bool(design.help) == (not design.cannot_be_stated)
        assert (design in plans()) == (not design.cannot_be_planned)
        assert design.assumption.endswith(".")
        # A design that need not be stated says where it is known from, if there are labels.
        assert not design.cannot_be_stated or design.source or not design.uses_labels


def test_the_guide_explains_every_design_that_can_be_stated():
    guide = (ROOT / "docs" / "guides" / "judge.md").read_text("utf-8")
    for design in stated_designs():
        assert f"\n| `{design.name}` | " in guide


def test_unknown_names_have_a_suggestion():
    with pytest.raises(UserError, match="did you mean 'by-label'"):
        design_named("by-labels")
    with pytest.raises(UserError, match="unknown way to choose labels 'quota'; known: by-label"):
        stated_design("quota")
    with pytest.raises(UserError, match="unknown plan 'neyman'; known: by-score, by-verdict"):
        plan_named("neyman")


@pytest.mark.parametrize(
    ("find", "name", "why"),
    [
        (stated_design, "planned", "give the sheet as the labelled table"),
        (stated_design, "given", "give the sensitivity and specificity"),
        (stated_design, "by-score", "unknown way to choose labels"),
        (plan_named, "by-label", "labels chosen by label cannot be planned: nobody knows"),
        (plan_named, "elsewhere", "items of the table itself"),
    ],
)
def test_what_a_design_cannot_be_used_for_has_a_reason(find, name, why):
    with pytest.raises(UserError, match=why) as error:
        find(name)
    assert "\n" not in str(error.value)


def test_a_name_is_given_once():
    with pytest.raises(ValueError, match="'random' already"):
        register(AtRandom())


class Nameless(Plannable):
    """A way to plan without words."""

    name = "nameless"
    plan_needs = ()
    plans_together = True

    def plan_strata(self, items, *, random_so_far):
        return strata_by_verdict(items)

    def allocated(self, strata, total, had, level):
        return strata.sizes


class Named(Nameless):
    plan_words = "without a name"


def test_a_design_that_leaves_something_out_is_refused():
    with pytest.raises(TypeError, match="Nameless does not define 'plan_words'"):
        register(Nameless())


@pytest.mark.parametrize(
    ("attribute", "value", "why"),
    [
        ("help", "", "either 'help' or a reason in 'cannot_be_stated'"),
        ("cannot_be_planned", "", "Plannable or has a reason in 'cannot_be_planned'"),
    ],
)
def test_a_design_gives_its_reasons(attribute, value, why):
    unexplained = type("Unexplained", (ByLabel,), {"name": "unexplained", attribute: value})
    with pytest.raises(TypeError, match=f"Unexplained (needs|is) {why}"):
        register(unexplained())


def test_a_design_can_be_registered_for_a_while():
    with registered(Named()):
        assert plan_named("nameless").plan_words == "without a name"
    with pytest.raises(UserError, match="unknown plan"):
        plan_named("nameless")
