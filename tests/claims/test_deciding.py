"""Of which kind an answer is, row by row; and that nobody else decides it."""

import ast
from dataclasses import replace
from pathlib import Path

import pytest

import quantshift
from quantshift.claims import (
    AGREEING,
    AGREEING_SCORES,
    EVIDENCE_LEVEL,
    WIDEST,
    Assumption,
    Facts,
    Grounds,
    Kind,
    Labelled,
    Reason,
    decide,
)
from quantshift.claims.deciding import FEWEST_FOR_EITHER

PRIOR, COVARIATE = Assumption.PRIOR, Assumption.COVARIATE
ITEMS = Facts(PRIOR)
TWO = replace(ITEMS, length=WIDEST, n_items=FEWEST_FOR_EITHER, allowed=0.9)
BY_LABELS = Facts(None, labelled=Labelled())

ROWS = {
    "evidence": (replace(ITEMS, doubles=EVIDENCE_LEVEL), Kind.INTERVAL, Reason.EVIDENCE),
    "evidence of a wide range": (
        replace(ITEMS, doubles=0.001, allowed=0.9, width=0.9),
        Kind.INTERVAL,
        Reason.EVIDENCE,
    ),
    "evidence that groups doubt": (
        replace(ITEMS, doubles=0.001, rests_on=Assumption.GROUPS),
        Kind.RANGE,
        Reason.NO_EVIDENCE,
    ),
    "agreement": (replace(ITEMS, apart=AGREEING - 0.01), Kind.INTERVAL, Reason.AGREEMENT),
    "agreement that groups taught": (
        replace(ITEMS, apart=0.01, rests_on=Assumption.GROUPS),
        Kind.INTERVAL,
        Reason.AGREEMENT,
    ),
    "agreement of scores": (
        replace(ITEMS, apart=AGREEING_SCORES, agreeing=AGREEING_SCORES),
        Kind.RANGE,
        Reason.NO_EVIDENCE,
    ),
    "agreement in a wide range": (
        replace(ITEMS, apart=0.01, allowed=WIDEST + 0.01, width=WIDEST + 0.01),
        Kind.CANNOT,
        Reason.NO_EVIDENCE,
    ),
    "columns are gone, whatever is declared": (
        replace(ITEMS, doubles=0.001, declared=COVARIATE, refuted=True, gone=True),
        Kind.CANNOT,
        Reason.GONE,
    ),
    "labels": (BY_LABELS, Kind.INTERVAL, Reason.LABELS),
    "labels, many looks": (
        replace(BY_LABELS, labelled=Labelled(at_every_look=True)),
        Kind.SEQUENCE,
        Reason.LABELS,
    ),
    "a design that nobody stated": (
        replace(BY_LABELS, labelled=Labelled(stated=False)),
        Kind.CONDITIONAL,
        Reason.GUESSED,
    ),
    "bounds of a design that nobody stated": (
        replace(BY_LABELS, labelled=Labelled(stated=False, bounds=True)),
        Kind.RANGE,
        Reason.GUESSED,
    ),
    "a design that the data contradict": (
        replace(BY_LABELS, refuted=True),
        Kind.CONDITIONAL,
        Reason.DECLARED,
    ),
    "rates that carry over, as declared": (
        replace(BY_LABELS, declared=Assumption.RATES),
        Kind.CONDITIONAL,
        Reason.DECLARED,
    ),
    "bounds from labels": (
        replace(BY_LABELS, labelled=Labelled(bounds=True)),
        Kind.RANGE,
        Reason.NO_EVIDENCE,
    ),
    "wide bounds from labels": (
        replace(BY_LABELS, labelled=Labelled(bounds=True), width=0.41),
        Kind.CANNOT,
        Reason.NO_EVIDENCE,
    ),
    "labels that say nothing": (
        replace(BY_LABELS, informative=False),
        Kind.CANNOT,
        Reason.UNINFORMATIVE,
    ),
    "declared label shift": (replace(ITEMS, declared=PRIOR), Kind.CONDITIONAL, Reason.DECLARED),
    "declared and refuted": (
        replace(ITEMS, declared=PRIOR, refuted=True),
        Kind.RANGE,
        Reason.REFUTED,
    ),
    "a changed mix cannot be refuted": (
        Facts(COVARIATE, declared=COVARIATE, refuted=True),
        Kind.CONDITIONAL,
        Reason.DECLARED,
    ),
    "a chosen method": (
        Facts(Assumption.METHOD, declared=Assumption.METHOD),
        Kind.CONDITIONAL,
        Reason.DECLARED,
    ),
    "a chosen method that is refuted": (
        Facts(Assumption.METHOD, declared=Assumption.METHOD, refuted=True),
        Kind.RANGE,
        Reason.REFUTED,
    ),
    "refuted": (replace(ITEMS, refuted=True, doubles=0.001), Kind.RANGE, Reason.REFUTED),
    "refuted and wide": (replace(ITEMS, refuted=True, width=0.5), Kind.CANNOT, Reason.REFUTED),
    "no evidence": (ITEMS, Kind.RANGE, Reason.NO_EVIDENCE),
    "as wide as a range may be": (replace(ITEMS, width=WIDEST), Kind.RANGE, Reason.NO_EVIDENCE),
    "no evidence and wide": (
        replace(ITEMS, width=WIDEST + 1e-9),
        Kind.CANNOT,
        Reason.NO_EVIDENCE,
    ),
    "either of two": (TWO, Kind.EITHER, Reason.NO_EVIDENCE),
    "either of two, in wide limits": (replace(TWO, width=0.9), Kind.EITHER, Reason.NO_EVIDENCE),
    "either of two that are much shorter": (
        replace(TWO, length=0.8 * WIDEST, allowed=WIDEST),
        Kind.EITHER,
        Reason.NO_EVIDENCE,
    ),
    "either of two that are hardly shorter": (
        replace(TWO, length=0.81 * WIDEST, allowed=WIDEST),
        Kind.RANGE,
        Reason.NO_EVIDENCE,
    ),
    "either of two, too few items": (
        replace(TWO, n_items=FEWEST_FOR_EITHER - 1),
        Kind.RANGE,
        Reason.NO_EVIDENCE,
    ),
    "either of two that are long": (
        replace(TWO, length=WIDEST + 1e-9),
        Kind.RANGE,
        Reason.NO_EVIDENCE,
    ),
    "either of two that groups doubt": (
        replace(TWO, rests_on=Assumption.GROUPS),
        Kind.RANGE,
        Reason.NO_EVIDENCE,
    ),
    "either of two, refuted": (replace(TWO, refuted=True), Kind.RANGE, Reason.REFUTED),
    "either of two, declared": (
        replace(TWO, declared=PRIOR),
        Kind.CONDITIONAL,
        Reason.DECLARED,
    ),
    "either of two that agree": (
        replace(TWO, apart=0.01, allowed=WIDEST),
        Kind.INTERVAL,
        Reason.AGREEMENT,
    ),
    "either of two, uninformative": (
        replace(TWO, informative=False),
        Kind.CANNOT,
        Reason.UNINFORMATIVE,
    ),
    "uninformative": (
        replace(ITEMS, informative=False, doubles=0.001),
        Kind.CANNOT,
        Reason.UNINFORMATIVE,
    ),
    "uninformative, declared": (
        Facts(COVARIATE, declared=COVARIATE, informative=False),
        Kind.CANNOT,
        Reason.UNINFORMATIVE,
    ),
    "no items": (replace(ITEMS, n_items=0, doubles=0.001), Kind.CANNOT, Reason.NO_ITEMS),
}


@pytest.mark.parametrize("row", ROWS)
def test_the_kind_follows_from_the_facts(row):
    facts, kind, reason = ROWS[row]
    assert decide(facts) == Grounds(kind, reason, facts.rests_on)


def test_every_reason_and_every_kind_is_reached():
    reached = [decide(facts) for facts, _, _ in ROWS.values()]
    assert {grounds.reason for grounds in reached} == set(Reason)
    assert {grounds.kind for grounds in reached} == set(Kind)


def test_grounds_are_made_where_kinds_are_decided_and_nowhere_else():
    package = Path(quantshift.__file__).parent
    makers = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and _name(node.func) == "Grounds"
    }
    assert makers == {"claims/deciding.py"}


def _name(node):
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", None)


def test_a_reason_never_stands_for_a_kind_of_its_own():
    """What is read of an answer is its kind: no module compares with the word of one."""
    words = {kind.words for kind in Kind}
    package = Path(quantshift.__file__).parent
    compared = [
        f"{path.relative_to(package)}:{node.lineno}"
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Compare)
        for side in (node.left, *node.comparators)
        if isinstance(side, ast.Constant) and side.value in words - {"range"}
    ]
    assert compared == []


def test_members_carry_their_words():
    for kind in Kind:
        assert kind.words
        assert (Path(__file__).parents[2] / "docs" / kind.page).is_file()
    assert all(reason.words for reason in Reason)
    assert all(a.words and a.technical for a in Assumption)
    assert (Path(__file__).parents[2] / "docs" / PRIOR.page).is_file()
    assert Reason.NO_EVIDENCE.cure
