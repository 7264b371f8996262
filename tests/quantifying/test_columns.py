"""The columns that items are made of, and what else they may not be."""

import polars as pl
import pytest

from quantshift.errors import UserError
from quantshift.quantifying import train


def test_columns_of_items_are_told_by_their_kind():
    words = ["good day", "bad night again", "a long walk", "no rain at all", "blue sky"]
    frame = pl.DataFrame(
        {
            "x": [float(i % 7) for i in range(60)],
            "review": [f"{words[i % 5]} {words[i % 3]} {i}" for i in range(60)],
            "y": ["a", "b"] * 30,
        }
    )
    for used in (("review", "x"), ("x",), ("review",)):
        features = [name for name in used if name == "x"]
        text = [name for name in used if name == "review"]
        model = train(
            frame, label="y", text=text, features=features, method="PCC", classifier="logistic"
        )
        assert model.columns.text == tuple(text)
        assert set(model.columns.content) == set(used)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"features": ["x", "id"], "id": "id"}, "id"),
        ({"features": ["x"], "drop": ["x"]}, "x"),
    ],
)
def test_a_column_of_items_has_no_other_use(options, name):
    frame = pl.DataFrame(
        {
            "x": [i / 60 for i in range(60)],
            "id": [1 - i / 60 for i in range(60)],
            "y": list("ab") * 30,
        }
    )
    with pytest.raises(UserError, match=f"column '{name}' is named as part of the items"):
        train(frame, label="y", **options)
