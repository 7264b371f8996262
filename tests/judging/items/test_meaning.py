"""Which verdict says which label, and in what order the classes come."""

import pytest

from quantshift.errors import DataError, UserError
from quantshift.judging.items.meaning import Meaning, contraries, guessed_map, meaning
from quantshift.judging.reading.options import labels_by_verdict


def understood(verdicts, labels, *, given=None, classes=(), positive=None):
    return meaning(
        {"judge": verdicts}, labels, given=given or {}, classes=classes, positive=positive
    )


def test_the_same_names_are_the_same():
    found = understood(["fail", "pass"], ["pass", "fail"])
    assert found.classes == ("fail", "pass")
    assert found.verdicts == (("fail", "pass"),)
    assert found.says == ((0, 1),)


@pytest.mark.parametrize(
    ("verdicts", "labels", "says"),
    [
        (["pass", "fail"], ["0", "1"], {"pass": "1", "fail": "0"}),
        (["True", "False"], ["yes", "no"], {"True": "yes", "False": "no"}),
        (["Relevant", "irrelevant"], ["1", "0"], {"Relevant": "1", "irrelevant": "0"}),
        (["YES", "NO"], ["yes", "no"], {"YES": "yes", "NO": "no"}),
        (["0", "1", "3"], ["0", "1", "2", "3"], {"0": "0", "1": "1", "3": "3"}),
        (["0", "1", "7"], ["0", "1", "2"], {"0": "0", "1": "1"}),
        (["0", "1", "7"], ["0", "1"], {}),
        (["1", "2", "3", "4", "5"], ["0", "1"], {}),
        (["red", "green"], ["0", "1"], {}),
    ],
)
def test_what_is_obvious_is_guessed_and_nothing_else(verdicts, labels, says):
    assert guessed_map(verdicts, labels) == says


def test_a_verdict_that_fits_no_label_stays_one_of_its_own():
    found = understood(["a", "b", "tie", "tie (inconsistent)"], ["a", "b", "tie"])
    assert found.classes == ("a", "b", "tie")
    assert found.verdicts[0][-1] == "tie (inconsistent)"
    assert found.says == ((0, 1, 2, -1),)


def test_a_map_wins_and_may_be_written_either_way_round():
    for given in ({"tie?": "tie"}, {"tie": "tie?"}):
        found = understood(["a", "b", "tie?"], ["a", "b", "tie"], given=given)
        assert dict(zip(found.verdicts[0], found.says[0], strict=True))["tie?"] == 2


def test_a_map_of_unknown_names_is_refused():
    with pytest.raises(UserError, match="unknown verdict 'passs'; did you mean 'pass'") as caught:
        understood(["pass", "fail"], ["good", "bad"], given={"passs": "good"})
    assert caught.value.arguments == ("map",)


def test_a_class_that_is_named_twice_is_refused():
    """It was in the table twice, once with 0%."""
    with pytest.raises(UserError, match="the class 'good' is named twice; name it once") as caught:
        understood(["pass", "fail"], ["good", "bad"], classes=["good", "good", "bad"])
    assert caught.value.arguments == ("classes",)


@pytest.mark.parametrize("given", ["pass=good", [("pass", "good", 1)], {"pass": None}, [1]])
def test_what_is_no_map_is_one_line(given):
    """They were AttributeErrors, or None was a class."""
    with pytest.raises(UserError, match="a map has a label for each verdict, as in"):
        labels_by_verdict(given)


def test_the_judge_tells_which_class_is_positive_if_people_do_not():
    given = {"pass": "fine", "fail": "odd"}
    assert understood(["pass", "fail"], ["fine", "odd"], given=given).classes == ("odd", "fine")
    found = understood(["pass", "fail"], ["fine", "odd"], given=given, positive="odd")
    assert found.classes == ("fine", "odd")


def test_levels_that_nobody_gave_are_classes_of_the_scale():
    assert understood(["0", "1", "3"], ["0", "1", "2"]).classes == ("0", "1", "2", "3")


def test_labels_of_one_class_take_the_other_from_the_verdicts():
    assert understood(["pass", "fail"], ["pass"]).classes == ("fail", "pass")
    assert understood(["pass", "fail"], ["1"]).classes == ("0", "1")
    with pytest.raises(DataError, match="the labels are all 'x' and nothing shows the other"):
        understood(["a", "b", "c"], ["x"])
    assert understood(["a", "b", "c"], ["x"], classes=["x", "y"]).classes == ("x", "y")


def test_a_column_of_numbers_is_no_column_of_verdicts():
    with pytest.raises(DataError, match="200 different values") as caught:
        understood([str(i / 7) for i in range(200)], ["0", "1"])
    assert caught.value.arguments == ("score",)


def test_contraries_need_two_names():
    assert contraries(["yes", "no", "maybe"]) == ()
    assert contraries(["toxic", "non-toxic"]) == ("non-toxic", "toxic")


def test_judges_say_together_what_most_of_them_say():
    found = Meaning.of_codes(3, says=[(0, 1, 2, -1), (0, 2, -1), (2, 1)])
    said = {(0, 0, 0): 0, (2, 0, 0): 2, (1, 1, 1): 1, (0, 1, 1): 0, (3, 2, 1): 1, (3, 1, 1): 2}
    assert {row: found.said_by_most(row) for row in said} == said
    assert Meaning.of_codes(2, says=[(0, 1, -1)]).said_by_most([2]) == -1
