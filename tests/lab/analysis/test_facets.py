import polars as pl
import pytest

from quantshift.errors import UserError
from quantshift.lab.analysis import part_of


@pytest.mark.parametrize(
    ("experiment", "facet", "part"),
    [
        ("prior", "", "prior"),
        ("covariate", "pure", "covariate-pure"),
        ("local", "control", "local-control"),
        ("ours", None, "ours"),
    ],
)
def test_part(experiment, facet, part):
    frame = pl.DataFrame({"experiment": [experiment], "facet": pl.Series([facet], dtype=pl.String)})
    assert part_of(frame)["part"].to_list() == [part]


def test_rows_without_a_facet_are_refused():
    with pytest.raises(UserError, match="unknown result column 'facet'"):
        part_of(pl.DataFrame({"experiment": ["prior"]}))
