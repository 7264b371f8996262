"""What users declare about a shift: by an assumption or by what the columns are to the label."""

import dataclasses

import numpy as np
import polars as pl
import pytest

from quantshift.errors import UserError
from quantshift.history import watch
from quantshift.quantifying import load_model, quantify, save_model, train
from quantshift.quantifying.declaration import Declaration
from quantshift.quantifying.output.page import render_page

FAST = {"replicates": 100}


def table(n: int, *, move: float = 0.0, seed: int = 0) -> pl.DataFrame:
    """An outcome that follows from a column: P(Y|X) is always the same."""
    rng = np.random.default_rng(seed)
    income, age = rng.normal(move, 1, n), rng.normal(size=n)
    p = 1 / (1 + np.exp(-(1.5 * income - 0.5 * age - 1)))
    return pl.DataFrame(
        {"income": income, "age": age, "relapse": np.where(rng.random(n) < p, "yes", "no")}
    )


SAMPLE = table(600, move=2.0, seed=2).drop("relapse")


@pytest.fixture(scope="module")
def model():
    return train(table(800), label="relapse", columns="causes")


def shown(result):
    """Everything about the answer but the sentence about what was declared."""
    return dataclasses.replace(result, declared="")


@pytest.mark.slow
def test_causes_mean_covariate_shift_and_effects_prior_shift(model):
    unsaid = dataclasses.replace(model, declared=Declaration())
    for columns, assume in (("causes", "covariate"), ("effects", "prior")):
        by_columns = quantify(SAMPLE, model=unsaid, columns=columns, **FAST)
        assert shown(by_columns) == shown(quantify(SAMPLE, model=unsaid, assume=assume, **FAST))
        assert by_columns.declared.startswith(f"the columns are {columns} of the label, so ")
    assert quantify(SAMPLE, model=unsaid, **FAST).declared == ""


@pytest.mark.slow
def test_a_saved_model_keeps_what_was_declared_and_a_call_overrides_it(model, tmp_path):
    save_model(model, tmp_path / "model")
    kept = load_model(tmp_path / "model")
    assert kept.declared == Declaration(columns="causes")
    found = quantify(SAMPLE, model=kept, **FAST)
    assert found.declared == model.declared.sentence
    assert found.batches[0].reason == "declared"
    freely = quantify(SAMPLE, model=kept, assume="auto", **FAST)
    assert (freely.declared, freely.batches[0].reason) == ("", "refuted")
    otherwise = quantify(SAMPLE, model=kept, columns="effects", **FAST)
    assert "effects" in otherwise.declared


@pytest.mark.slow
def test_every_answer_repeats_it(model):
    found = quantify(SAMPLE, model=model, **FAST)
    line = f"You declared: {model.declared.sentence}"
    assert line in found.to_text(details=True)
    assert line in str(found)
    assert model.declared.sentence in render_page(found)
    assert line.lower() in watch(found).summary_line().lower()
    halves = quantify([SAMPLE[:300], SAMPLE[300:]], model=model, **FAST)
    assert line in halves.to_text(details=True)


def test_a_declaration_that_the_items_contradict_is_said_to_be(model):
    (batch,) = quantify(SAMPLE, model=model, columns="effects", **FAST).batches
    assert batch.reason == "refuted"
    assert "This contradicts what you declared." in batch.verdict
    (freely,) = quantify(SAMPLE, model=model, assume="auto", **FAST).batches
    assert "declared" not in f"{freely.verdict} {freely.basis}"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"columns": "age"}, "columns are causes or effects of the label, not 'age'"),
        ({"columns": ["age", "income"]}, "names of columns are given as features or text"),
        ({"columns": "causes", "assume": "prior"}, "the assumption is covariate, not prior"),
        ({"columns": "effects", "assume": "auto"}, "the assumption is prior, not auto"),
        ({"assume": "priors"}, "did you mean 'prior'"),
    ],
)
def test_contradictory_and_unknown_declarations_are_refused(given, message):
    with pytest.raises(UserError, match=message):
        Declaration(**given)


def test_a_declaration_beside_a_method_with_its_own_assumption_is_refused_before_training():
    with pytest.raises(UserError, match="PACC makes its own assumption"):
        train(table(50), label="relapse", method="PACC", assume="prior")


def test_both_may_say_the_same():
    assert Declaration("prior", "effects").assumption == "prior"
