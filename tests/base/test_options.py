"""The functions that users call most: their arguments are the options of the command line."""

import inspect
from collections.abc import Callable

import numpy as np
import pytest
import typer

from quantshift.base.options import as_names
from quantshift.cli.app import app_with
from quantshift.errors import UserError
from quantshift.judging import judge, plan_judge
from quantshift.quantifying import plan_quantify, quantify, train
from quantshift.sketches import quantify_sketch

# Conditions are only checked by the functions; the options --fail-if decide on the exit code.
DOORS = [
    (quantify, ["quantify"], {"conditions"}),
    (train, ["train"], {"source"}),
    (plan_quantify, ["plan", "quantify"], set()),
    (judge, ["judge"], set()),
    (plan_judge, ["plan", "judge"], set()),
    # The columns of the audit are --label and --by.
    (quantify_sketch, ["quantify"], {"audit_columns", "conditions"}),
]
"""A function, the verb of the command line that calls it, and arguments that no option has."""


@pytest.mark.parametrize(("function", "verb", "others"), DOORS)
def test_arguments_are_called_what_the_options_are_called(
    function: Callable[..., object], verb: list[str], others: set[str]
) -> None:
    """`--train` was `train_on=`, `--replicates` was `n_bootstrap=`, `--labels` was `n_labels=`."""
    command: typer.core.TyperGroup = typer.main.get_command(app_with([verb[0]]))  # type: ignore[assignment]
    found: object = command.commands[verb[0]]
    if len(verb) > 1:
        found = found.commands[verb[1]]  # type: ignore[attr-defined]
    options = {
        option.removeprefix("--").replace("-", "_") for p in found.params for option in p.opts
    }  # type: ignore[attr-defined]
    asked = set(inspect.signature(function).parameters) - {"progress"}
    assert asked - options == others


@pytest.mark.parametrize(
    ("function", "wrong", "right"),
    [(quantify, "train_on", "train"), (train, "lable", "label"), (judge, "verdicts", "verdict")],
)
def test_an_unknown_argument_gets_a_suggestion(
    function: Callable[..., object], wrong: str, right: str
) -> None:
    """It was a bare TypeError from Python."""
    with pytest.raises(UserError, match=rf"{function.__name__}\(\): '{wrong}'; .* '{right}'") as it:
        function("new.csv", **{wrong: "a"})
    assert isinstance(it.value, TypeError)


def test_names_may_be_any_sequence_of_texts() -> None:
    """An array was a ValueError about its truth value, a number a TypeError."""
    assert as_names(np.array(["a", "b"])) == ("a", "b")
    for wrong in (np.zeros(2), [1], 5):
        with pytest.raises(UserError, match="is not a text; write names and values as texts"):
            as_names(wrong)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"by": ["region"]}, "'by' must be a text or None, got \\['region'\\]"),
        ({"weights": np.ones(3)}, "'weights' must be a text or None, got an array of shape"),
        ({"classifier": object()}, "'classifier' must be a text, got <object object"),
        ({"positive": True}, "'positive' must be a text or None, got True"),
        ({"replicates": "100"}, "'replicates' must be a whole number, got '100'"),
    ],
)
def test_an_argument_of_another_type_is_named(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(UserError, match=message):
        quantify("new.csv", train="train.csv", label="y", **wrong)  # type: ignore[arg-type]
