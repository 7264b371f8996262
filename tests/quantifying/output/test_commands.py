"""Commands to run next, as they would be typed."""

import polars as pl

from quantshift.quantifying.columns import ColumnOptions
from quantshift.quantifying.output.commands import audit_plan_command, quantify_command
from quantshift.quantifying.training.recipe import Recipe


def test_files_and_columns_of_the_call_are_in_it():
    options = ColumnOptions(
        label="y", features=("a", "b,c"), drop=("d",), groups="region", weights="w"
    )
    recipe = Recipe(options, classifier="forest", by="day")
    assert audit_plan_command("my new.csv", ["t.csv", "u.csv"], None, recipe, n_labels=50) == (
        "quantshift audit-plan --train t.csv --train u.csv --sample 'my new.csv' --label y "
        "--features 'a,\"b,c\"' --drop d,w,region,day --classifier forest --labels 50 "
        "--out audit.csv"
    )
    assert quantify_command("n.csv", None, "model", Recipe(ColumnOptions()), audit="s.csv") == (
        "quantshift quantify --model model --sample n.csv --audit s.csv"
    )


def test_what_is_no_file_has_no_command():
    frame, recipe = pl.DataFrame({"a": [1]}), Recipe(ColumnOptions(label="y"))
    assert audit_plan_command(frame, "t.csv", None, recipe, n_labels=50) == ""
    assert audit_plan_command("new.csv", frame, None, recipe, n_labels=50) == ""
    assert audit_plan_command("-", "t.csv", None, recipe, n_labels=50) == ""
    assert quantify_command(frame, None, "model", recipe, audit="s.csv") == ""
