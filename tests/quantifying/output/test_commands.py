"""Commands to run next, as they would be typed."""

import polars as pl

from quantshift.quantifying.options import ColumnOptions, ModelRecipe, Sources, TrainingOptions
from quantshift.quantifying.output.commands import plan_command, quantify_command


def test_files_and_columns_of_the_call_are_in_it():
    options = ColumnOptions(
        label="y", features=("a", "b,c"), drop=("d",), groups="region", weights="w"
    )
    recipe = ModelRecipe(options, TrainingOptions(classifier="forest"), by="day")
    assert plan_command(Sources("my new.csv", ["t.csv", "u.csv"]), recipe, n_labels=50) == (
        "quantshift plan quantify --train t.csv --train u.csv --sample 'my new.csv' --label y "
        "--features 'a,\"b,c\"' --drop d,w,region,day --classifier forest --n-labels 50 "
        "--out audit.csv"
    )
    assert quantify_command(
        Sources("n.csv", model="model"), ModelRecipe(ColumnOptions()), audit="s.csv"
    ) == ("quantshift quantify --model model --sample n.csv --audit s.csv")


def test_what_is_no_file_has_no_command():
    frame, recipe = pl.DataFrame({"a": [1]}), ModelRecipe(ColumnOptions(label="y"))
    assert plan_command(Sources(frame, "t.csv"), recipe, n_labels=50) == ""
    assert plan_command(Sources("new.csv", frame), recipe, n_labels=50) == ""
    assert plan_command(Sources("-", "t.csv"), recipe, n_labels=50) == ""
    assert quantify_command(Sources(frame, model="model"), recipe, audit="s.csv") == ""
