"""Cells, their keys, and what is left to do."""

import re

import pytest

from quantshift.errors import UserError
from quantshift.experiments.plan import Cell, cells, describe_plan, plan, plan_table
from quantshift.experiments.spec import load_experiment
from quantshift.tables import text_table


def small(name="prior", **overrides):
    sizes = {"shift.train_repeats": 2, "shift.test_repeats": 3}
    return load_experiment(name, overrides={**sizes, **overrides})


def test_keys_are_readable():
    keys = [cell.key for cell in cells(small("covariate"))]
    assert len(keys) == 66
    assert keys[:3] == [
        "p_train-0.25,alpha_train-0,train_repeat-0",
        "p_train-0.25,alpha_train-0,train_repeat-1",
        "p_train-0.5,alpha_train-0,train_repeat-0",
    ]
    assert cells(small("concept"))[0].key == "cut_train-1.5,train_repeat-0"
    assert cells(small("concept-forced"))[0].key == "p_train-0.5,cut_train-1.5,train_repeat-0"
    assert [cell.key for cell in cells(small("local"))] == [
        "p_train-0.5,train_repeat-0",
        "p_train-0.5,train_repeat-1",
    ]


@pytest.mark.parametrize("name", ["prior", "covariate", "local", "concept", "concept-forced"])
def test_keys_are_distinct_file_names_and_lead_back_to_the_cell(name):
    found = cells(small(name))
    assert len({cell.key for cell in found}) == len(found)
    for cell in found:
        assert re.fullmatch(r"[a-z0-9_=.,-]+", cell.key)
        assert cell.experiment == name
        again = Cell.from_key(name, cell.key)
        assert again == cell
        assert {k: type(v) for k, v in again.coordinates.items()} == {
            k: type(v) for k, v in cell.coordinates.items()
        }


def test_the_key_does_not_depend_on_the_order_of_the_coordinates():
    assert (
        Cell("x", {"train_repeat": 1, "p_train": 0.5}).key
        == Cell("x", {"p_train": 0.5, "train_repeat": 1}).key
    )


@pytest.mark.parametrize(
    "key",
    ["", "p_train", "p_train=x", "q=1", "train_repeat-1,p_train-0.5", "p_train-0.50", "a=b=c"],
)
def test_what_is_no_key_is_refused(key):
    with pytest.raises(UserError, match="is not the key of a cell"):
        Cell.from_key("x", key)


def test_without_results_everything_is_to_do():
    experiment = small()
    whole = plan([experiment])
    assert [task.cell for task in whole.tasks] == list(cells(experiment))
    assert all(task.methods == experiment.methods for task in whole.tasks)


def test_only_what_is_there_with_its_present_signature_is_finished():
    experiment = small(quantifiers=["CC", "SLD"])
    signatures = experiment.signatures()
    first, second, third, *rest = (cell.key for cell in cells(experiment))
    there = {
        ("prior", first): signatures,
        ("prior", second): {"CC": signatures["CC"]},
        ("prior", third): {"CC": signatures["CC"], "SLD": "of older options"},
        ("other", rest[0]): signatures,
    }
    left = plan([experiment], lambda name, key: there.get((name, key), {}))
    todo = {task.cell.key: [method.name for method in task.methods] for task in left.tasks}
    assert todo == {
        second: ["SLD"],
        third: ["SLD"],
        **{key: ["CC", "SLD"] for key in rest},
    }
    (row,) = describe_plan(left)
    assert (row.experiment, row.cells, row.methods) == ("prior", 22, 2)
    assert row.samples == 22 * 33
    assert row.estimates == 22 * 33 * 2
    assert row.cells_to_do == 21
    assert row.estimates_to_do == 33 * (1 + 1 + 19 * 2)


def test_when_all_is_finished_nothing_is_to_do():
    experiment = small()
    done = plan([experiment], lambda name, key: experiment.signatures())
    assert done.tasks == ()
    assert describe_plan(done)[0].estimates_to_do == 0


def test_a_method_more_leaves_the_others_alone():
    before = small(quantifiers=["CC"])
    after = small(quantifiers=["CC", "SLD"])
    left = plan([after], lambda name, key: before.signatures())
    assert {method.name for task in left.tasks for method in task.methods} == {"SLD"}


def test_the_plan_as_text():
    both = plan([small(quantifiers=["CC"]), small("concept", quantifiers=["CC", "SLD"])])
    assert text_table(plan_table(both)).splitlines() == [
        "Plan",
        "experiment  cells  samples  methods  estimates  cells to do  estimates to do",
        "prior          22      726        1        726           22              726",
        "concept         8       96        2        192            8              192",
        "total          30      822        2        918           30              918",
    ]


def test_two_experiments_of_one_name_are_refused():
    with pytest.raises(UserError, match="two experiments are called 'prior'; rename one"):
        plan([small(), small()])
