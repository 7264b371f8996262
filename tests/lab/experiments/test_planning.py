"""Cells, their keys, and what is left to do."""

import re
from dataclasses import dataclass

import pytest

from quantshift import PriorShift
from quantshift.base.text_tables import text_table
from quantshift.errors import UserError
from quantshift.lab.experiments.documents.loading import load_experiment
from quantshift.lab.experiments.planning import cell_key, cells_of, describe_plan, plan, plan_table
from quantshift.lab.results.description import check_name


def small(name="prior", **overrides):
    sizes = {"shift.train_repeats": 2, "shift.test_repeats": 3}
    return load_experiment(name, overrides={**sizes, **overrides})


def cells(experiment):
    return cells_of(experiment.name, "data", experiment.shift)


def planned(*experiments, finished=None):
    return plan([(e, [("data", e.n_test_samples)]) for e in experiments], finished)


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
def test_keys_are_distinct_file_names(name):
    found = cells(small(name))
    assert len({cell.key for cell in found}) == len(found)
    for cell in found:
        assert re.fullmatch(r"[a-z0-9_=.,-]+", cell.key)
        assert (cell.experiment, cell.dataset) == (name, "data")


def test_strata_number_the_points_of_the_grid():
    strata = [cell.stratum for cell in cells(small("covariate"))]
    assert strata == [number for number in range(33) for _ in range(2)]


@pytest.mark.parametrize(
    ("point", "key"),
    [
        ({"p_train": 1.0, "train_repeat": 12}, "p_train-1,train_repeat-12"),
        ({"p_train": (0.25, 0.25, 0.5), "train_repeat": 0}, "p_train-0.25_0.25_0.5,train_repeat-0"),
        ({"region": "Nord/Süd", "train_repeat": 0}, "region-Nord+2f+Süd,train_repeat-0"),
        ({"noisy": True, "train_repeat": 0}, "noisy-true,train_repeat-0"),
    ],
)
def test_keys_of_any_coordinates(point, key):
    assert cell_key(point) == key
    assert check_name("cell", key) is None


@dataclass(frozen=True, kw_only=True)
class Forgetful(PriorShift):
    """Prior shift, each training set drawn at two levels of noise that it does not tell of."""

    def training_points(self):
        return [p for p in super().training_points() for _ in range(2)]


def test_two_training_sets_of_one_key_are_refused():
    # They used to share a folder: the first was computed and the second taken for finished.
    with pytest.raises(UserError, match=r"two training sets have the key 'p_train-0.02,train_rep"):
        cells_of("mine", "data", Forgetful())


@dataclass(frozen=True, kw_only=True)
class Noisy(PriorShift):
    """Prior shift with a training coordinate that it does not declare."""

    def training_points(self):
        return [{**p, "noise": n} for p in super().training_points() for n in (0.0, 0.1)]


def test_a_training_coordinate_must_be_declared():
    with pytest.raises(UserError, match="the coordinate 'noise', which it does not declare"):
        cells_of("mine", "data", Noisy())


@pytest.mark.parametrize("key", ["shift.train_repeats", "shift.test_repeats"])
def test_a_thousand_million_draws_are_refused_without_being_listed(key):
    with pytest.raises(UserError, match=r"asks for 11,000,000,000 .*at most 1,000,000"):
        small(**{key: 1_000_000_000})


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        (
            "shift.train_size",
            10**12,
            "asks for 1,000,000,000,000 items in each training set",
        ),
        (
            "shift.test_size",
            10**12,
            "items in the test samples of a training set; at most",
        ),
        ("selection.repeats", 10**9, "selection: asks for 11,000,000,000 validation samples; at"),
        ("selection.prevalences", 10**9, "selection: asks for 10,000,000,000 validation samples"),
        ("selection.size", 10**12, "selection: asks for .* items in the validation samples; at mo"),
    ],
)
def test_so_are_items_that_no_memory_would_hold(key, value, message):
    with pytest.raises(UserError, match=message):
        small(**{"shift.replace": True, key: value})


def test_a_key_of_any_length_names_a_folder():
    vector = tuple(i / 1225 for i in range(50))
    long = [cell_key({"p_train": vector, "train_repeat": i}) for i in range(2)]
    assert long[0] != long[1]
    for key in (*long, cell_key({"word": "ß" * 300}), cell_key({"word": "?" * 300})):
        assert len(key.encode()) <= 200
        check_name("cell", key)


def test_without_results_everything_is_to_do():
    experiment = small()
    whole = planned(experiment)
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
    left = planned(experiment, finished=lambda cell: there.get((cell.experiment, cell.key), {}))
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
    done = planned(experiment, finished=lambda cell: experiment.signatures())
    assert done.tasks == ()
    assert describe_plan(done)[0].estimates_to_do == 0


def test_a_method_more_leaves_the_others_alone():
    before = small(quantifiers=["CC"])
    after = small(quantifiers=["CC", "SLD"])
    left = planned(after, finished=lambda cell: before.signatures())
    assert {method.name for task in left.tasks for method in task.methods} == {"SLD"}


def test_the_plan_as_text():
    both = planned(small(quantifiers=["CC"]), small("concept", quantifiers=["CC", "SLD"]))
    assert text_table(plan_table(both)).splitlines() == [
        "Plan",
        "experiment  dataset  cells  samples  methods  estimates  cells to do  estimates to do",
        "prior          data     22      726        1        726           22              726",
        "concept        data      8       96        2        192            8              192",
        "total                   30      822        2        918           30              918",
    ]


def test_two_experiments_of_one_name_are_refused():
    with pytest.raises(UserError, match="two experiments are called 'prior'; rename one"):
        planned(small(), small())
