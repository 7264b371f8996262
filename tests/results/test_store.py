import json
import shutil
from pathlib import Path

import polars as pl
import pytest

from quantshift.errors import DataError, UserError
from quantshift.results import SCHEMA, ResultStore, conform, verify

FIXTURE = Path(__file__).parent / "store_v1"


def tree(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_what_is_written_is_read(store, rows, cells):
    expected = pl.concat([conform(rows(cell)) for cell in cells])
    assert store.read().collect().equals(expected)
    assert ResultStore.open(store.path).read().collect().equals(expected)
    assert store.read().collect_schema() == SCHEMA


def test_reading_some_experiments_and_methods(tmp_path, description, rows, signatures, cells):
    other = description()["experiments"]["prior"]
    both = description() | {"experiments": {"prior": other, "local": other}}
    store = ResultStore.create(tmp_path / "s", both)
    for name in ("prior", "local"):
        frame = rows(cells[0], experiment=name)
        store.write_part(name, cells[0], signatures(["CC", "SLD"]), frame)
    assert len(store.read().collect()) == 80
    local = store.read(experiments=["local"], methods=["SLD"]).collect()
    assert set(local["experiment"]) == {"local"}
    assert set(local["method"]) == {"SLD"}
    assert len(local) == 20
    with pytest.raises(UserError, match="unknown experiment 'locl'; did you mean 'local'"):
        store.read(experiments=["locl"])
    with pytest.raises(UserError, match="unknown method 'SDL'; did you mean 'SLD'"):
        store.read(methods=["SDL"])


def test_an_empty_store_has_no_rows_but_columns(tmp_path, description):
    store = ResultStore.create(tmp_path / "s", description())
    assert store.read().collect().equals(pl.DataFrame(schema=SCHEMA))
    assert store.finished("prior", "p_train=0.5") == {}
    assert store.failed("prior", "p_train=0.5") == {}
    store.drop("prior", "p_train=0.5")
    assert store.cells("prior") == ()


def test_finished_methods_have_their_signatures(store, cells, signatures):
    assert store.finished("prior", cells[0]) == signatures(["CC", "SLD"])
    assert store.finished("prior", "p_train=0.9,train_repeat=0") == {}
    assert store.cells("prior") == tuple(cells)


def test_a_method_in_two_parts_counts_once(tmp_path, description, rows, signatures, cells):
    store = ResultStore.create(tmp_path / "s", description(["CC", "PCC", "SLD"]))
    for methods in (["CC", "SLD"], ["CC", "PCC"], ["SLD"]):
        store.write_part("prior", cells[0], signatures(methods), rows(cells[0], methods))
    assert store.finished("prior", cells[0]) == signatures(["CC", "PCC", "SLD"])
    found = store.read().collect()
    expected = conform(rows(cells[0], ["CC", "PCC", "SLD"]))
    assert found.sort("method", "repeat").equals(expected)


def test_rows_must_be_what_they_are_said_to_be(store, rows, signatures, cells):
    both = signatures(["CC", "SLD"])
    before = tree(store.path)
    with pytest.raises(DataError, match=r"have method \['CC'\], expected \['CC', 'SLD'\]"):
        store.write_part("prior", cells[0], both, rows(methods=["CC"]))
    with pytest.raises(DataError, match="have cell"):
        store.write_part("prior", cells[1], both, rows(cells[0]))
    with pytest.raises(DataError, match=r"have experiment \['local'\]"):
        store.write_part("prior", cells[0], both, rows(experiment="local"))
    with pytest.raises(UserError, match="unknown experiment 'priors'; did you mean 'prior'"):
        store.write_part("priors", cells[0], both, rows())
    with pytest.raises(UserError, match="unknown method of experiment 'prior' 'DyS'"):
        store.write_part("prior", cells[0], signatures(["DyS"]), rows(methods=["DyS"]))
    with pytest.raises(UserError, match="has signature other, the store is for signature-of-CC"):
        store.write_part("prior", cells[0], {"CC": "other"}, rows(methods=["CC"]))
    with pytest.raises(UserError, match=r"cell name '\.\./x0' cannot be a folder"):
        store.write_part("prior", "../x0", both, rows("../x0"))
    assert tree(store.path) == before


def test_the_same_results_give_the_same_files(store, fill, tmp_path):
    again = fill(tmp_path / "again")
    assert tree(again.path) == tree(store.path)
    assert len(tree(store.path)) == 1 + 2 * 6


def test_writing_again_other_rows_replaces_the_part(store, rows, signatures, cells):
    # Only a change of the code gives other rows to the same methods; the last word counts.
    new = rows().with_columns(p_hat=pl.lit(0.25))
    store.write_part("prior", cells[0], signatures(["CC", "SLD"]), new)
    found = store.read().filter(pl.col("cell") == cells[0]).collect()
    assert found["p_hat"].to_list() == [0.25] * 40
    assert verify(store) == []


# -- what the store is of


def test_creating_again_is_harmless(store, description):
    before = tree(store.path)
    again = ResultStore.create(store.path, description())
    assert again == store
    assert tree(store.path) == before


def test_methods_and_experiments_may_be_added(store, description, cells):
    wider = description(["SLD", "DyS"])
    wider["experiments"]["local"] = wider["experiments"]["prior"]
    wider["experiments"]["prior"] = wider["experiments"]["prior"] | {"title": "Another title"}
    grown = ResultStore.create(store.path, wider)
    assert grown.experiments == ("prior", "local")
    assert list(grown.methods("prior")) == ["CC", "SLD", "DyS"]
    assert list(grown.methods("local")) == ["SLD", "DyS"]
    assert ResultStore.open(store.path) == grown
    assert len(grown.read().collect()) == 240
    assert ResultStore.create(store.path, description()) == grown


def test_a_method_written_otherwise_with_the_same_signature_is_the_same(store, description):
    same = description()
    same["experiments"]["prior"]["methods"][0]["options"] = {}
    assert ResultStore.create(store.path, same) == store


def changed(description, *path, value):
    target = description
    for key in path[:-1]:
        target = target[key]
    target[path[-1]] = value
    return description


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("corpus",), "beef", 'corpus is "c0ffee" there and "beef" here'),
        (("seed",), 1, "seed is 0 there and 1 here"),
        (
            ("experiments", "prior", "shift", "train_size"),
            1000,
            "experiments.prior.shift.train_size is 5000 there and 1000 here",
        ),
        (
            ("experiments", "prior", "shift", "new"),
            list(range(99)),
            "experiments.prior.shift.new is null there and "
            "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 1… here",
        ),
        (
            ("experiments", "prior", "methods", 0, "signature"),
            "else",
            'experiments.prior.methods.CC.signature is "signature-of-CC" there and "else" here',
        ),
        (
            ("experiments", "prior", "methods", 1),
            {"name": "SLD", "options": {"max_iter": 5}, "signature": "s"},
            'experiments.prior.methods.SLD.options is null there and {"max_iter": 5} here',
        ),
        (
            ("experiments", "prior", "shift"),
            {"a": 1, "b": 2, "c": 3},
            'experiments.prior.shift.kind is "prior" there and null here; '
            "experiments.prior.shift.train_size is 5000 there and null here; "
            "experiments.prior.shift.a is null there and 1 here; and 2 more differences",
        ),
    ],
)
def test_another_run_is_refused_with_the_difference(store, description, path, value, message):
    before = tree(store.path)
    with pytest.raises(UserError) as caught:
        ResultStore.create(store.path, changed(description(), *path, value=value))
    expected = f"{store.path} holds other results: {message}; use another --out, or --redo all"
    assert str(caught.value) == expected
    assert tree(store.path) == before


def test_redo_drops_the_results_and_takes_the_new_description(store, description):
    new = changed(description(), "experiments", "prior", "shift", "train_size", value=1000)
    redone = ResultStore.create(store.path, new, redo=True)
    assert redone.description["experiments"] == new["experiments"]
    assert redone.read().collect().is_empty()
    assert [p.name for p in store.path.rglob("*") if p.is_file()] == ["store.json"]


def test_redo_leaves_other_experiments_alone(store, description, cells, rows, signatures):
    local = {"experiments": {"local": description()["experiments"]["prior"]}}
    ResultStore.create(store.path, description() | local)
    changed(local, "experiments", "local", "shift", "train_size", value=7)
    ResultStore.create(store.path, description() | local, redo=True)
    assert len(ResultStore.open(store.path).read().collect()) == 240
    with pytest.raises(UserError, match=r"also holds prior, for which corpus is .* another --out"):
        ResultStore.create(store.path, description(corpus="beef") | local, redo=True)


@pytest.mark.parametrize(
    ("experiments", "message"),
    [
        ({"log": {"methods": []}}, "experiment name 'log' cannot be a folder"),
        ({"a/b": {"methods": []}}, "experiment name 'a/b' cannot be a folder"),
        ({".a": {"methods": []}}, r"experiment name '\.a' cannot be a folder"),
        ({"a": {}}, "experiment 'a' needs `methods`"),
        ({"a": {"methods": ["CC"]}}, "experiment 'a' needs `methods`"),
        ({"a": {"methods": [{"name": "X", "signature": "1"}] * 2}}, "two methods of one name"),
        ({"a": {"methods": [], "x": float("nan")}}, "must be plain JSON"),
        ({"a": {"methods": [], "x": {1, 2}}}, "must be plain JSON"),
    ],
)
def test_wrong_descriptions_are_refused(tmp_path, experiments, message):
    with pytest.raises(UserError, match=message):
        ResultStore.create(tmp_path / "s", {"experiments": experiments})
    assert not (tmp_path / "s").exists()


# -- opening


def test_opening_what_is_no_store(tmp_path):
    with pytest.raises(DataError, match="does not exist; make some with `quantshift run`"):
        ResultStore.open(tmp_path / "nowhere")
    with pytest.raises(DataError, match=r"has no store\.json"):
        ResultStore.open(tmp_path)
    for content, message in (
        ("{", "is not JSON"),
        ("[]", "does not describe results"),
        ('{"format": "quantshift-corpus"}', "does not describe results; was the right folder"),
        ('{"format": "quantshift-results", "version": 1}', "lacks experiments"),
    ):
        (tmp_path / "store.json").write_text(content)
        with pytest.raises(DataError, match=message):
            ResultStore.open(tmp_path)


@pytest.mark.parametrize(
    ("version", "message"),
    [
        (2, "has results format 2, this is 1; upgrade quantshift"),
        (0, "has results format 0, this is 1; make the results again in another --out"),
        (None, "has results format None"),
    ],
)
def test_the_error_of_another_format_names_the_cure(store, description, version, message):
    path = store.path / "store.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"version": version}))
    with pytest.raises(DataError, match=message):
        ResultStore.open(store.path)
    with pytest.raises(DataError, match=message):
        ResultStore.create(store.path, description(), redo=True)


def test_what_is_no_store_is_never_filled(tmp_path, description):
    (tmp_path / "thesis.tex").write_text("all my work")
    with pytest.raises(UserError, match="is not empty and holds no results"):
        ResultStore.create(tmp_path, description())
    for path in (tmp_path / "thesis.tex", tmp_path / "thesis.tex" / "deep"):
        with pytest.raises(UserError, match=r"thesis\.tex is a file where a folder is needed"):
            ResultStore.create(path, description())
    assert tree(tmp_path) == {"thesis.tex": b"all my work"}


def test_format_1_can_be_read(tmp_path, rows):
    """The store in store_v1 was written by the first version of the format, and stays."""
    shutil.copytree(FIXTURE, tmp_path / "v1")
    store = ResultStore.open(tmp_path / "v1")
    assert verify(store) == []
    frame = store.read().collect()
    assert frame.schema == SCHEMA
    assert len(frame) == 3 * 4
    assert set(frame["method"]) == {"CC", "SLD"}
    cell = "p_train=0.1,train_repeat=0"
    first = frame.filter(pl.col("cell") == cell, pl.col("method") == "CC")
    assert first["p_true"].to_list() == [0.0, 0.25, 0.5, 0.75]
    assert first["p_hat"].to_list() == rows(cell, ["CC"], 4)["p_hat"].to_list()
    assert store.finished("prior", "p_train=0.5,train_repeat=1") == {"CC": "signature-of-CC"}
    assert store.failed("prior", "p_train=0.5,train_repeat=1") == {"SLD": "signature-of-SLD"}
    (failure,) = store.failures("prior", "p_train=0.5,train_repeat=1")
    assert (failure.error, failure.message) == ("ValueError", "no separation")


# -- failures


def failing(message: str) -> BaseException:
    try:
        raise ArithmeticError(message)
    except ArithmeticError as error:
        return error


def test_a_failure_is_a_record_until_a_success(store, rows, signatures):
    cell = "p_train=0.9,train_repeat=9"
    both = signatures(["CC", "SLD"])
    store.write_failure("prior", cell, both, failing("no room"))
    assert store.failed("prior", cell) == both
    assert store.finished("prior", cell) == {}
    (failure,) = store.failures("prior", cell)
    assert (failure.error, failure.message) == ("ArithmeticError", "no room")
    assert "raise ArithmeticError(message)" in failure.traceback
    store.write_part("prior", cell, signatures(["CC"]), rows(cell, ["CC"]))
    assert store.failed("prior", cell) == signatures(["SLD"])
    store.write_part("prior", cell, signatures(["SLD"]), rows(cell, ["SLD"]))
    assert store.failures("prior", cell) == ()
    assert not list(store.path.rglob("failure.json"))


def test_failures_of_other_methods_are_kept(store, signatures, cells):
    store.write_failure("prior", cells[0], signatures(["SLD"]), failing("one"))
    store.write_failure("prior", cells[0], signatures(["CC"]), failing("two"))
    store.write_failure("prior", cells[0], signatures(["SLD"]), failing("three"))
    assert [f.message for f in store.failures("prior", cells[0])] == ["two", "three"]


def test_the_same_failure_gives_the_same_bytes(store, signatures, cells):
    for cell in cells[:2]:
        store.write_failure("prior", cell, signatures(["SLD"]), failing("one"))
    first, second = store.path.rglob("failure.json")
    assert first.read_bytes() == second.read_bytes()


def test_a_result_outweighs_an_older_failure(store, signatures, cells):
    """A kill between the marker and the removal of the record leaves both."""
    store.write_failure("prior", cells[0], signatures(["SLD"]), failing("before"))
    assert store.failed("prior", cells[0]) == {}


def test_an_unreadable_failure_record_is_named_and_may_be_replaced(store, signatures, cells):
    path = store.path / "prior" / cells[0] / "failure.json"
    path.write_text("{")
    with pytest.raises(DataError, match=r"failure\.json is no readable failure record"):
        store.failed("prior", cells[0])
    store.write_failure("prior", cells[0], signatures(["SLD"]), failing("again"))
    assert [f.message for f in store.failures("prior", cells[0])] == ["again"]


# -- drop


def test_dropping_a_method_keeps_its_neighbours(store, signatures, rows, cells):
    store.write_failure("prior", cells[0], signatures(["CC"]), failing("x"))
    store.drop("prior", cells[0], "CC")
    assert store.finished("prior", cells[0]) == signatures(["SLD"])
    assert store.failures("prior", cells[0]) == ()
    found = store.read().filter(pl.col("cell") == cells[0]).collect()
    assert found.equals(conform(rows(cells[0])).filter(pl.col("method") == "SLD"))
    assert verify(store) == []
    assert len(list((store.path / "prior" / cells[0]).iterdir())) == 2
    assert len(store.read().collect()) == 220


def test_dropping_a_cell_drops_all_of_it(store, signatures, cells):
    store.write_failure("prior", cells[1], signatures(["CC"]), failing("x"))
    store.drop("prior", cells[1])
    assert store.finished("prior", cells[1]) == store.failed("prior", cells[1]) == {}
    assert list((store.path / "prior" / cells[1]).iterdir()) == []
    assert len(store.read().collect()) == 200


def test_dropping_from_a_damaged_part_does_not_save_the_damage(store, cells):
    data = next((store.path / "prior" / cells[0]).glob("*.parquet"))
    content = bytearray(data.read_bytes())
    content[100] ^= 1
    data.write_bytes(content)
    store.drop("prior", cells[0], "CC")
    assert store.finished("prior", cells[0]) == {}
    assert verify(store) == []
