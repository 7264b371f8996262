import polars as pl
import pytest

from quantshift.lab.paper import setups_of
from quantshift.lab.paper.setups import CONCEPT, CONTROL, FORCED, LOCAL, MIXED, PRIOR, PURE
from tests.outcomes import make_outcomes, vector_outcomes


@pytest.mark.parametrize(
    ("told", "setup"),
    [
        ({"shift": "prior"}, PRIOR),
        ({"shift": "covariate", "facet": "pure"}, PURE),
        ({"shift": "covariate", "facet": "mixed"}, MIXED),
        ({"shift": "local"}, LOCAL),
        ({"shift": "local", "facet": "control"}, CONTROL),
        ({"shift": "concept", "p_test": None}, CONCEPT),
        ({"shift": "concept"}, FORCED),
    ],
)
def test_the_setup_follows_from_kind_and_facet_whatever_the_name(told, setup):
    frame = make_outcomes({"CC": 0.1}).with_columns(
        pl.lit("my-study").alias("experiment"),
        *(pl.lit(v, pl.Float64 if k == "p_test" else pl.String).alias(k) for k, v in told.items()),
    )
    assert setups_of(frame)["setup"].unique().to_list() == [setup]


def test_other_shifts_other_methods_and_more_classes_are_no_evidence():
    frame = make_outcomes({"CC": 0.1, "Mine": 0.1})
    assert setups_of(frame)["method"].unique().to_list() == ["CC"]
    assert setups_of(frame.with_columns(shift=pl.lit("natural"))).is_empty()
    many = vector_outcomes({"CC": 0.1}).with_columns(shift=pl.lit("prior"))
    assert setups_of(many).is_empty()


def test_prevalences_beside_those_of_more_classes_are_lists_of_one():
    frame = make_outcomes({"CC": 0.1}).with_columns(
        pl.concat_list("p_train").alias("p_train"), pl.lit([0.2, 0.8]).alias("p_test")
    )
    rows = setups_of(frame)
    assert rows["p_train"].unique().to_list() == [0.5]
    assert rows["p_test"].null_count() == len(rows)
