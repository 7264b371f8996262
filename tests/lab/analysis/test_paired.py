import numpy as np
import polars as pl
import pytest

from quantshift.errors import DataError, UserError
from quantshift.lab.analysis.paired import compare_with_best, paired_errors, wilcoxon
from quantshift.statistics.multiple_tests import holm
from tests.outcomes import shifted

POINTS = [
    {"p_train": 0.5, "p_test": p_test, "degree": round(p_test - 0.5, 1)} for p_test in (0.3, 0.7)
]


def marks(frame, by=("experiment",), **options):
    compared = compare_with_best(frame, list(by), **options)
    return dict(compared.select("method", "mark").iter_rows())


def test_best_is_the_least_mean_and_clear_losers_have_no_mark(outcomes):
    frame = outcomes({"A": 0.3, "B": 0.1}, train_repeats=10, repeats=5, noise=0.01)
    compared = compare_with_best(frame, ["experiment"])
    assert compared["method"].to_list() == ["A", "B"]
    assert compared["mark"].to_list() == ["", "best"]
    assert compared["p_value"][0] < 1e-6
    assert compared["p_value"][1] is None
    assert compared["n"].to_list() == compared["samples"].to_list() == [50, 50]
    np.testing.assert_allclose(compared["mean"], [0.3, 0.1], atol=0.01)


def test_equal_methods_are_not_significantly_different(outcomes):
    frame = outcomes({"A": 0.1}, noise=0.01)
    twin = frame.with_columns(method=pl.lit("B"))
    compared = compare_with_best(pl.concat([frame, twin]), ["experiment"])
    assert compared["mark"].to_list() == ["best", "ddag"]
    assert compared["p_value"].to_list() == [None, 1.0]


def test_rounding_dust_is_no_difference(outcomes):
    # B is always greater, by less than any sample can tell.
    frame = outcomes({"A": 0.1}, train_repeats=20, noise=0.01)
    dusty = frame.with_columns(method=pl.lit("B"), p_hat=shifted(1e-14))
    assert marks(pl.concat([frame, dusty])) == {"A": "best", "B": "ddag"}
    # The first in the order of methods is the best, even if the dust says otherwise.
    renamed = pl.concat([frame, dusty]).with_columns(pl.col("method").replace("B", "ACC"))
    assert marks(renamed) == {"ACC": "best", "A": "ddag"}


def test_dagger_between_the_limits():
    # 8 positive differences without ties: p = 2 / 2^8 = .0078.
    assert wilcoxon(np.arange(1, 9) / 100) == pytest.approx(2 / 2**8)


def test_marks_follow_the_p_value(outcomes):
    frame = outcomes({"A": 0.1}, train_repeats=8, repeats=1)
    shift = pl.col("train_repeat") / 100 + 0.01
    worse = frame.with_columns(method=pl.lit("B"), p_hat=shifted(shift))
    assert marks(pl.concat([frame, worse])) == {"A": "best", "B": "dag"}


def test_groups_have_their_own_best(outcomes):
    first = outcomes({"A": 0.1, "B": 0.2}, points=POINTS[:1])
    second = outcomes({"A": 0.2, "B": 0.1}, points=POINTS[1:]).with_columns(pl.col("sample") + 4)
    compared = compare_with_best(pl.concat([first, second]), ["degree"])
    best = compared.filter(pl.col("mark") == "best")
    assert best.select("degree", "method").rows() == [(-0.2, "A"), (0.2, "B")]


def test_pairs_are_matched_whatever_the_order_of_rows(outcomes):
    frame = outcomes({"A": 0.1, "B": 0.11}, points=POINTS, repeats=6, noise=0.02)
    shuffled = frame.sample(fraction=1.0, shuffle=True, seed=3)
    assert compare_with_best(frame, ["degree"]).equals(compare_with_best(shuffled, ["degree"]))


def test_control_and_shifted_samples_are_different_samples(outcomes):
    points = [
        {"p_train": 0.5, "p_test": 0.3, "degree": -0.2, "control": control}
        for control in (False, True)
    ]
    frame = outcomes({"A": 0.1, "B": 0.2}, points=points, experiment="local")
    assert compare_with_best(frame, ["part"])["samples"].to_list() == [12] * 4


def test_a_method_that_lacks_samples_cannot_be_the_best(outcomes):
    frame = outcomes({"A": 0.01, "B": 0.2}, train_repeats=4, repeats=5, noise=0.001)
    lacking = frame.filter((pl.col("method") == "B") | (pl.col("train_repeat") > 0))
    compared = compare_with_best(lacking, ["experiment"])
    assert compared["mark"].to_list() == ["", "best"]
    assert compared["n"].to_list() == [15, 20]
    assert compared["samples"].to_list() == [20, 20]
    assert compared["mean"][0] == pytest.approx(0.01, abs=0.001)


def test_if_all_lack_samples_the_least_mean_is_best(outcomes):
    frame = outcomes({"A": 0.01, "B": 0.2}, train_repeats=3)
    keep = {"A": 0, "B": 1}
    lacking = frame.filter(pl.col("method").replace_strict(keep) != pl.col("train_repeat"))
    assert marks(lacking)["A"] == "best"


def test_no_common_sample_no_p_value(outcomes):
    frame = outcomes({"A": 0.01, "B": 0.2}, train_repeats=2)
    apart = frame.filter((pl.col("method") == "A") == (pl.col("train_repeat") == 0))
    for correction in (None, "holm"):
        compared = compare_with_best(apart, ["experiment"], correction=correction)
        assert compared["p_value"].to_list() == [None, None]


def test_a_method_absent_from_a_group_has_no_row(outcomes):
    first = outcomes({"A": 0.1, "B": 0.2}, points=POINTS[:1])
    second = outcomes({"A": 0.2}, points=POINTS[1:]).with_columns(pl.col("sample") + 4)
    compared = compare_with_best(pl.concat([first, second]), ["degree"])
    assert compared.select("degree", "method").rows() == [(-0.2, "A"), (-0.2, "B"), (0.2, "A")]


def test_holm_makes_p_values_no_smaller(outcomes):
    frame = outcomes({"A": 0.1, "B": 0.105, "C": 0.11}, repeats=6, noise=0.02)
    plain = compare_with_best(frame, ["experiment"])["p_value"].drop_nulls()
    adjusted = compare_with_best(frame, ["experiment"], correction="holm")["p_value"].drop_nulls()
    np.testing.assert_allclose(adjusted, holm(plain.to_numpy()))
    assert (adjusted >= plain).all()


def test_whole_frame_as_one_group(outcomes):
    assert compare_with_best(outcomes({"A": 0.1, "B": 0.2}), []).columns[0] == "method"


def test_method_names_may_be_those_of_columns(outcomes):
    frame = outcomes({"degree": 0.1, "cell": 0.2, "0": 0.3})
    assert paired_errors(frame, ["degree"]).methods == ("0", "cell", "degree")
    assert marks(frame)["degree"] == "best"


def test_duplicates_are_refused(outcomes):
    frame = outcomes({"A": 0.1, "B": 0.2})
    with pytest.raises(DataError, match="several estimates of one method"):
        compare_with_best(pl.concat([frame, frame.head(1)]), ["experiment"])


def test_wrong_options(outcomes):
    frame = outcomes({"A": 0.1})
    with pytest.raises(UserError, match="unknown correction 'bonferroni'"):
        compare_with_best(frame, ["experiment"], correction="bonferroni")
    with pytest.raises(UserError, match="leave 'method' out"):
        compare_with_best(frame, ["method"])


def test_samples_of_two_data_sets_are_different_samples(outcomes):
    frames = [outcomes({"A": 0.1, "B": 0.2}, dataset=name) for name in ("one", "two")]
    both = pl.concat(frames)
    assert compare_with_best(both, ["experiment"])["samples"].to_list() == [24, 24]
    assert compare_with_best(both, ["dataset"])["samples"].to_list() == [12] * 4


def test_numbers_of_samples_may_have_gaps(outcomes):
    frame = outcomes({"A": 0.1, "B": 0.2}, noise=0.05)
    gaps = frame.with_columns(sample=pl.col("sample") * 7 + 3)
    assert compare_with_best(gaps, []).equals(compare_with_best(frame, []))
