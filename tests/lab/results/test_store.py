import json
import re
from pathlib import Path

import polars as pl
import pytest

from quantshift.errors import DataError, UserError
from quantshift.lab.results import CORE, ResultStore, repair, schema_of, verify
from quantshift.lab.shifts.parts.coordinate import Coordinate
from quantshift.lab.shifts.protocol import Words


def tree(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def part_of(store, cell: str) -> str:
    (data,) = (store.path / "prior" / "reviews" / cell).glob("*.parquet")
    return f"{cell}/{data.name}"


def test_what_is_written_is_read(store, rows, cells, schema):
    expected = pl.concat([rows(cell) for cell in cells])
    assert store.read().collect().equals(expected)
    assert ResultStore.open(store.path).read().collect().equals(expected)
    assert store.read().collect_schema() == schema


def test_reading_some_experiments_and_methods(tmp_path, description, rows, signatures, cells):
    other = description()["experiments"]["prior"]
    both = description() | {"experiments": {"prior": other, "local": other}}
    store = ResultStore.create(tmp_path / "s", both)
    for name in ("prior", "local"):
        frame = rows(cells[0], experiment=name)
        store.write_part(name, "reviews", cells[0], signatures(["CC", "SLD"]), frame)
    assert len(store.read().collect()) == 80
    local = store.read(experiments=["local"], methods=["SLD"]).collect()
    assert set(local["experiment"]) == {"local"}
    assert set(local["method"]) == {"SLD"}
    assert len(local) == 20
    with pytest.raises(UserError, match="unknown experiment 'locl'; did you mean 'local'"):
        store.read(experiments=["locl"])
    with pytest.raises(UserError, match="unknown method 'SDL'; did you mean 'SLD'"):
        store.read(methods=["SDL"])


def test_data_sets_are_folders_and_may_be_chosen(tmp_path, description, rows, signatures, cells):
    store = ResultStore.create(tmp_path / "s", description(datasets=["reviews", "churn"]))
    both = signatures(["CC", "SLD"])
    for name in store.datasets("prior"):
        store.write_part("prior", name, cells[0], both, rows(cells[0], dataset=name))
    assert store.datasets("prior") == ("reviews", "churn")
    assert len(list((tmp_path / "s" / "prior" / "churn" / cells[0]).glob("*.parquet"))) == 1
    assert len(store.read().collect()) == 80
    assert set(store.read(datasets=["churn"]).collect()["dataset"]) == {"churn"}
    with pytest.raises(UserError, match="unknown data set 'chrun'; did you mean 'churn'"):
        store.read(datasets=["chrun"])
    with pytest.raises(UserError, match="unknown data set of experiment 'prior' 'chrun'"):
        store.finished("prior", "chrun", cells[0])
    store.drop("prior", "churn", cells[0])
    assert store.finished("prior", "churn", cells[0]) == {}
    assert store.finished("prior", "reviews", cells[0]) == both


def test_reading_gives_the_columns_of_all_experiments(
    tmp_path, description, rows, signatures, cells, schema
):
    prior = description()["experiments"]["prior"]
    topics = prior | {
        "datasets": {"topics": {"items": "x", "source": "t", "classes": ["a", "b", "c"]}},
        "coordinates": [
            Coordinate("p_test", "test", "vector", "test prevalences", "p_U").as_json(),
            Coordinate("repeat", "test", "float", "time", "t").as_json(),
            Coordinate("source", "test", "string", "source", "").as_json(),
        ],
        "diagnostics": {"ess": "float"},
    }
    both = description(experiments={"prior": prior, "topics": topics})
    store = ResultStore.create(tmp_path / "s", both)
    methods = signatures(["CC", "SLD"])
    given = rows(cells[0])
    store.write_part("prior", "reviews", cells[0], methods, given)
    shares = [0.2, 0.3, 0.5]
    frame = given.select(c for c in CORE if c not in ("p_true", "p_hat")).with_columns(
        pl.lit("topics").alias("experiment"),
        pl.lit("topics").alias("dataset"),
        *(pl.Series(name, [shares] * 40) for name in ("p_true", "p_hat", "p_test")),
        pl.lit(0.5).alias("repeat"),
        pl.lit("web").alias("source"),
    )
    store.write_part("topics", "topics", cells[0], methods, frame)
    found = store.read().collect()
    assert found.columns == [*schema, "source", "ess"]
    assert found.filter(pl.col("experiment") == "topics")["p_test"].to_list() == [shares] * 40
    # What is a number in one experiment and a vector in another is a vector.
    first = found.filter(pl.col("experiment") == "prior")
    assert first["p_test"].to_list() == [[p] for p in given["p_test"]]
    assert first["repeat"].to_list() == given["repeat"].to_list()
    assert found.schema["repeat"] == pl.Float64()
    assert first["source"].null_count() == first["ess"].null_count() == 40
    assert store.read(experiments=["prior"]).collect().equals(given)
    assert "iterations" not in store.read(experiments=["topics"]).collect_schema()
    narrow = frame.with_columns(given["p_true"], given["p_hat"])
    with pytest.raises(DataError, match=r"have prevalences of \[2\] classes, the data set has 3"):
        store.write_part("topics", "topics", cells[0], methods, narrow)


def test_a_data_set_with_more_classes_joins_those_with_two(
    tmp_path, description, rows, signatures, cells
):
    binary = description()
    prior = binary["experiments"]["prior"]
    methods = signatures(["CC", "SLD"])
    given = rows(cells[0])
    before = ResultStore.create(tmp_path / "s", binary)
    before.write_part("prior", "reviews", cells[0], methods, given)
    words = {**prior["words"], "degree": "total variation distance"}
    vector = Coordinate("p_test", "test", "vector", "test prevalences", "p_U").as_json()
    topics = prior | {
        "datasets": {"topics": {"items": "x", "source": "t", "classes": ["a", "b", "c"]}},
        "coordinates": [prior["coordinates"][0], vector, *prior["coordinates"][2:]],
        "words": words,
    }
    wide = ResultStore.create(tmp_path / "s", description(experiments={"prior": topics}))
    assert wide.datasets("prior") == ("reviews", "topics")
    assert [c.type for c in wide.about("prior").coordinates] == ["float", "vector", "int"]
    assert wide.about("prior").words.degree == "total variation distance"
    shares = [0.2, 0.3, 0.5]
    frame = given.with_columns(
        pl.lit("topics").alias("dataset"),
        *(pl.Series(name, [shares] * 40) for name in ("p_true", "p_hat", "p_test")),
    )
    wide.write_part("prior", "topics", cells[0], methods, frame)
    # A run that began before still writes numbers.
    before.write_part("prior", "reviews", cells[1], methods, rows(cells[1]))
    found = wide.read().collect()
    by_dataset = found.partition_by("dataset", as_dict=True)
    assert by_dataset["topics",]["p_test"].to_list() == [shares] * 40
    numbers = [[p] for cell in cells[:2] for p in rows(cell)["p_test"]]
    assert by_dataset["reviews",]["p_test"].to_list() == numbers
    assert verify(wide) == []
    # A run with two classes only changes nothing in the description.
    again = ResultStore.create(tmp_path / "s", binary)
    assert again.description == wide.description
    assert again.read().collect().equals(found)


def test_about_tells_what_an_experiment_is(store, schema):
    about = ResultStore.open(store.path).about("prior")
    assert (about.name, about.title, about.shift) == ("prior", "Prior probability shift", "prior")
    assert [c.name for c in about.coordinates] == ["p_train", "p_test", "repeat"]
    assert about.coordinates[1].label == "test prevalence"
    assert about.words == Words("Prior shift", "$p_U - p_L$", digits=1)
    assert about.datasets == {"reviews": ("negative", "positive")}
    assert about.diagnostics == {"iterations": "int", "converged": "bool", "distance": "float"}
    assert about.schema == schema == schema_of(about.coordinates, about.diagnostics)
    with pytest.raises(UserError, match="unknown experiment 'priors'; did you mean 'prior'"):
        store.about("priors")


def test_an_empty_store_has_no_rows_but_columns(tmp_path, description, schema):
    store = ResultStore.create(tmp_path / "s", description())
    assert store.read().collect().equals(pl.DataFrame(schema=schema))
    assert store.finished("prior", "reviews", "p_train=0.5") == {}
    assert store.failed("prior", "reviews", "p_train=0.5") == {}
    store.drop("prior", "reviews", "p_train=0.5")
    assert store.cells("prior", "reviews") == ()


def test_finished_methods_have_their_signatures(store, cells, signatures):
    assert store.finished("prior", "reviews", cells[0]) == signatures(["CC", "SLD"])
    assert store.finished("prior", "reviews", "p_train=0.9,train_repeat=0") == {}
    assert store.cells("prior", "reviews") == tuple(cells)


def test_a_method_in_two_parts_counts_once(tmp_path, description, rows, signatures, cells):
    store = ResultStore.create(tmp_path / "s", description(["CC", "PCC", "SLD"]))
    for methods in (["CC", "SLD"], ["CC", "PCC"], ["SLD"]):
        store.write_part("prior", "reviews", cells[0], signatures(methods), rows(cells[0], methods))
    assert store.finished("prior", "reviews", cells[0]) == signatures(["CC", "PCC", "SLD"])
    found = store.read().collect()
    expected = rows(cells[0], ["CC", "PCC", "SLD"])
    assert found.sort("method", "sample").equals(expected)


def test_rows_must_be_what_they_are_said_to_be(store, rows, signatures, cells):
    both = signatures(["CC", "SLD"])
    before = tree(store.path)
    with pytest.raises(DataError, match=r"have method \['CC'\], expected \['CC', 'SLD'\]"):
        store.write_part("prior", "reviews", cells[0], both, rows(methods=["CC"]))
    with pytest.raises(DataError, match="have cell"):
        store.write_part("prior", "reviews", cells[1], both, rows(cells[0]))
    with pytest.raises(DataError, match=r"have experiment \['local'\]"):
        store.write_part("prior", "reviews", cells[0], both, rows(experiment="local"))
    with pytest.raises(DataError, match=r"have dataset \['churn'\]"):
        store.write_part("prior", "reviews", cells[0], both, rows(dataset="churn"))
    for wrong, message in (
        (pl.lit("concept").alias("shift"), r"have shift \['concept'\], expected \['prior'\]"),
        ((pl.col("sample") % 2).alias("stratum"), r"have stratum \[0, 1\]"),
        (pl.lit(0).alias("sample"), "have a sample twice; number the samples"),
    ):
        frame = rows().with_columns(wrong)
        with pytest.raises(DataError, match=message):
            store.write_part("prior", "reviews", cells[0], both, frame)
    with pytest.raises(UserError, match="unknown experiment 'priors'; did you mean 'prior'"):
        store.write_part("priors", "reviews", cells[0], both, rows())
    with pytest.raises(UserError, match="unknown method of experiment 'prior' 'DyS'"):
        store.write_part("prior", "reviews", cells[0], signatures(["DyS"]), rows(methods=["DyS"]))
    with pytest.raises(UserError, match="has signature other, the store is for signature-of-CC"):
        store.write_part("prior", "reviews", cells[0], {"CC": "other"}, rows(methods=["CC"]))
    with pytest.raises(UserError, match=r"cell name '\.\./x0' cannot be a folder"):
        store.write_part("prior", "reviews", "../x0", both, rows("../x0"))
    assert tree(store.path) == before


def test_the_same_results_give_the_same_files(store, fill, tmp_path):
    again = fill(tmp_path / "again")
    assert tree(again.path) == tree(store.path)
    assert len(tree(store.path)) == 2 + 2 * 6


def test_writing_again_other_rows_replaces_the_part(store, rows, signatures, cells):
    # Only a change of the code gives other rows to the same methods; the last word counts.
    new = rows().with_columns(p_hat=pl.concat_list(pl.lit(0.75), pl.lit(0.25)))
    store.write_part("prior", "reviews", cells[0], signatures(["CC", "SLD"]), new)
    found = store.read().filter(pl.col("cell") == cells[0]).collect()
    assert found["p_hat"].to_list() == [[0.75, 0.25]] * 40
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


def test_data_sets_and_columns_may_be_added(store, description, rows, signatures, cells):
    wider = description(["SLD", "DyS"], datasets=["churn"])
    experiment = wider["experiments"]["prior"]
    experiment["coordinates"].append(Coordinate("noise", "test", "float", "noise", "n").as_json())
    experiment["coordinates"][0]["label"] = "another label"
    experiment["diagnostics"] = {"clipped": "bool"}
    experiment["words"]["title"] = "Other words"
    before = store.read().collect()
    grown = ResultStore.create(store.path, wider)
    about = grown.about("prior")
    assert list(about.datasets) == ["reviews", "churn"]
    assert [c.name for c in about.coordinates] == ["p_train", "p_test", "repeat", "noise"]
    assert about.coordinates[0].label == "training prevalence"
    assert list(about.diagnostics) == ["iterations", "converged", "distance", "clipped"]
    assert about.words.title == "Prior shift"
    assert verify(grown) == []
    assert grown.read().select(before.columns).collect().equals(before)
    frame = rows(cells[0], ["DyS"], dataset="churn").with_columns(noise=pl.lit(0.5))
    grown.write_part("prior", "churn", cells[0], signatures(["DyS"]), frame)
    found = grown.read(datasets=["churn"]).collect()
    assert found["noise"].to_list() == [0.5] * 20
    assert found["clipped"].null_count() == 20
    # The same rows, the same file, whatever else the store declares.
    grown.write_part("prior", "reviews", cells[0], signatures(["CC", "SLD"]), rows(cells[0]))
    assert (
        tree(grown.path)["prior/reviews/" + part_of(store, cells[0])]
        == tree(store.path)["prior/reviews/" + part_of(store, cells[0])]
    )


def test_classes_without_names_get_those_of_a_run_that_knows_them(tmp_path, description):
    unnamed = description()
    unnamed["experiments"]["prior"]["datasets"]["reviews"]["classes"] = ["0", "1"]
    ResultStore.create(tmp_path / "s", unnamed)
    assert ResultStore.create(tmp_path / "s", unnamed).about("prior").datasets == {
        "reviews": ("0", "1")
    }
    for known in (description(), unnamed):
        store = ResultStore.create(tmp_path / "s", known)
        assert store.about("prior").datasets == {"reviews": ("negative", "positive")}


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
            ("experiments", "prior", "datasets", "reviews", "items"),
            "other",
            "data set 'reviews' had other items when they were made",
        ),
        (
            ("experiments", "prior", "datasets", "reviews", "classes"),
            ["positive", "negative"],
            'experiments.prior.datasets.reviews.classes is ["negative", "positive"] there and '
            '["positive", "negative"] here',
        ),
        (
            ("experiments", "prior", "coordinates", 1, "type"),
            "string",
            'experiments.prior.coordinates.p_test.type is "float" there and "string" here',
        ),
        (
            ("experiments", "prior", "diagnostics"),
            {"distance": "int"},
            'experiments.prior.diagnostics.distance is "float" there and "int" here',
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
            {"kind": "local", "a": 1, "b": 2, "c": 3},
            'experiments.prior.shift.kind is "prior" there and "local" here; '
            "experiments.prior.shift.train_size is 5000 there and null here; "
            "experiments.prior.shift.a is null there and 1 here; and 2 more differences",
        ),
    ],
)
def test_another_run_is_refused_with_the_difference(store, description, path, value, message):
    before = tree(store.path)
    with pytest.raises(UserError) as caught:
        ResultStore.create(store.path, changed(description(), *path, value=value))
    expected = f"{store.path} holds other results: {message}; choose another folder, or redo all"
    assert str(caught.value) == expected
    assert tree(store.path) == before


def test_redo_drops_the_results_and_takes_the_new_description(store, description):
    new = changed(description(), "experiments", "prior", "shift", "train_size", value=1000)
    redone = ResultStore.create(store.path, new, redo=True)
    assert redone.description["experiments"] == new["experiments"]
    assert redone.read().collect().is_empty()
    assert sorted(tree(store.path)) == ["prior/about.json", "store.json"]
    assert ResultStore.open(store.path) == redone


def test_redo_leaves_other_experiments_alone(store, description, cells, rows, signatures):
    local = {"experiments": {"local": description()["experiments"]["prior"]}}
    ResultStore.create(store.path, description() | local)
    changed(local, "experiments", "local", "shift", "train_size", value=7)
    ResultStore.create(store.path, description() | local, redo=True)
    assert len(ResultStore.open(store.path).read().collect()) == 240
    with pytest.raises(UserError, match=r"also holds prior, for which corpus is .* another folder"):
        ResultStore.create(store.path, description(corpus="beef") | local, redo=True)


def test_redo_leaves_other_data_sets_alone(store, description, rows, signatures, cells):
    both = signatures(["CC", "SLD"])
    store = ResultStore.create(store.path, description(datasets=["churn"]))
    store.write_part("prior", "churn", cells[0], both, rows(cells[0], dataset="churn"))
    new = description(datasets=["churn"])
    new["experiments"]["prior"]["datasets"]["churn"]["items"] = "another hash"
    redone = ResultStore.create(store.path, new, redo=True)
    assert redone.finished("prior", "churn", cells[0]) == {}
    assert redone.finished("prior", "reviews", cells[0]) == both
    there = redone.description["experiments"]["prior"]["datasets"]
    assert {name: record["items"] for name, record in there.items()} == {
        "reviews": "hash of reviews",
        "churn": "another hash",
    }
    changed(new, "experiments", "prior", "shift", "train_size", value=7)
    message = (
        r"also holds prior of reviews, for which experiments\.prior\.shift\.train_size is 5000 "
        "there and 7 here; choose another folder"
    )
    with pytest.raises(UserError, match=message):
        ResultStore.create(store.path, new, redo=True)
    assert len(ResultStore.open(store.path).read().collect()) == 240


SOUND = {
    "methods": [],
    "shift": {"kind": "prior"},
    "datasets": {"d": {"classes": ["0", "1"]}},
}


def declaring(*names: str, kind: str = "float") -> list[dict[str, str]]:
    return [Coordinate(name, "test", kind, "", "").as_json() for name in names]


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("log", {}, "experiment name 'log' is reserved for a file or folder of the results"),
        ("Report", {}, "experiment name 'Report' is reserved for a file or folder of the results"),
        ("x" * 300, {}, r"experiment name 'x+\.\.\.' cannot be a folder of results; .* 250 bytes"),
        ("é" * 130, {}, "cannot be a folder of results"),
        ("a/b", {}, "experiment name 'a/b' cannot be a folder"),
        (".a", {}, r"experiment name '\.a' cannot be a folder"),
        ("a", {"methods": None}, "experiment 'a' needs `methods`"),
        ("a", {"methods": ["CC"]}, "experiment 'a' needs `methods`"),
        ("a", {"methods": [{"name": "X", "signature": "1"}] * 2}, "two methods with the same name"),
        ("a", {"x": float("nan")}, "must be plain JSON"),
        ("a", {"x": {1, 2}}, "must be plain JSON"),
        ("a", {"shift": {}}, "experiment 'a' needs `shift` with its kind"),
        ("a", {"datasets": None}, "needs .* `datasets` with their classes"),
        ("a", {"datasets": {"d": {}}}, "needs .* `datasets` with their classes"),
        ("a", {"datasets": {"d": {"classes": [0, 1]}}}, "needs .* `datasets` with their classes"),
        ("a", {"datasets": {"d": {"classes": ["x", "x"]}}}, r"two or more classes.*\['x', 'x'\]"),
        ("a", {"datasets": {"../d": SOUND["datasets"]["d"]}}, "data set name '../d' cannot be"),
        ("a", {"datasets": {"about.json": SOUND["datasets"]["d"]}}, "data set name 'about.json'"),
        ("a", {"coordinates": [{"name": "x"}]}, "needs .* `coordinates`"),
        ("a", {"coordinates": declaring("x", "x")}, "result column 'x' is declared twice"),
        ("a", {"coordinates": declaring("cell")}, "result column 'cell' is declared twice"),
        (
            "a",
            {"coordinates": declaring("x"), "diagnostics": {"x": "int"}},
            "'x' is declared twice",
        ),
        ("a", {"coordinates": declaring("p:1")}, "'p:1' must be a name of letters"),
        ("a", {"diagnostics": {"x": "number"}}, "has type 'number'; known: float, int, bool"),
        ("a", {"words": {"titel": "x"}}, "needs .* `words`"),
    ],
)
def test_wrong_descriptions_are_refused(tmp_path, name, changes, message):
    with pytest.raises(UserError, match=message):
        ResultStore.create(tmp_path / "s", {"experiments": {name: SOUND | changes}})
    assert not (tmp_path / "s").exists()
    assert ResultStore.create(tmp_path / "s", {"experiments": {"a": SOUND}}).datasets("a") == ("d",)


# -- opening


def test_opening_what_is_no_store(tmp_path):
    with pytest.raises(DataError, match="does not exist; make some with `quantshift run`"):
        ResultStore.open(tmp_path / "nowhere")
    with pytest.raises(DataError, match=r"has no store\.json"):
        ResultStore.open(tmp_path)
    for content, message in (
        ("{", "is not JSON; `quantshift verify .* --repair` rebuilds it from its parts"),
        ("[]", "does not describe results"),
        ('{"format": "another"}', "does not describe results; was the right folder"),
        ('{"format": "quantshift-results", "version": 1}', "lacks version or experiments"),
    ):
        (tmp_path / "store.json").write_text(content)
        with pytest.raises(DataError, match=message):
            ResultStore.open(tmp_path)


@pytest.mark.parametrize(
    ("version", "message"),
    [
        (2, "has results format 2, this version reads 1; upgrade quantshift"),
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


# -- a damaged store.json

DAMAGES = {
    "torn": lambda path: path.write_bytes(path.read_bytes()[:-100]),
    "emptied": lambda path: path.write_bytes(b""),
    "lost": lambda path: path.unlink(),
    "a signature flipped": lambda path: path.write_text(
        path.read_text().replace("signature-of-CC", "signature-of-CD")
    ),
    "no digest": lambda path: path.write_text(
        json.dumps({k: v for k, v in json.loads(path.read_text()).items() if k != "digest"})
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_description_is_made_again_from_its_copies(store, description, damage):
    other = {"experiments": {"local": description()["experiments"]["prior"]}}
    store = ResultStore.create(store.path, description() | other)
    before, whole = store.read().collect(), tree(store.path)
    DAMAGES[damage](store.path / "store.json")
    cure = rf"`quantshift verify {store.path} --repair` rebuilds it from its parts"
    for action in (
        lambda: ResultStore.open(store.path),
        lambda: ResultStore.create(store.path, description()),
        lambda: ResultStore.create(store.path, description(), redo=True),
    ):
        with pytest.raises(DataError, match=cure):
            action()
    rebuilt = ResultStore.rebuild(store.path)
    assert ResultStore.open(store.path) == rebuilt
    assert rebuilt.read().collect().sort("cell", "method").equals(before.sort("cell", "method"))
    assert rebuilt.description["experiments"] == store.description["experiments"]
    now = tree(store.path)
    assert json.loads(now.pop("store.json")) == json.loads(whole.pop("store.json"))
    assert now == whole
    assert verify(rebuilt) == []


def test_a_sound_description_is_left_alone(store):
    before = tree(store.path)
    assert ResultStore.rebuild(store.path) == store
    assert tree(store.path) == before


def test_nothing_is_made_of_damaged_copies(store, tmp_path):
    copy = store.path / "prior" / "about.json"
    copy.write_text(copy.read_text().replace("signature-of-CC", "signature-of-CD"))
    (store.path / "store.json").unlink()
    with pytest.raises(DataError, match=r"about\.json is damaged too; restore it from a backup"):
        ResultStore.rebuild(store.path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="holds no results"):
        ResultStore.rebuild(tmp_path / "empty")
    (tmp_path / "empty" / "store.json").write_text("{")
    with pytest.raises(DataError, match=r"has no about\.json to rebuild store\.json from"):
        ResultStore.rebuild(tmp_path / "empty")


def test_a_lost_copy_is_a_problem_and_written_again(store, description):
    copy = store.path / "prior" / "about.json"
    content = copy.read_bytes()
    for damage in (copy.unlink, lambda: copy.write_bytes(content[:-9])):
        damage()
        (problem,) = verify(store)
        assert (problem.kind, problem.path) == ("about", copy)
        assert str(problem).endswith("`quantshift verify DIR --repair` writes it again")
        assert repair(store, problem)
        assert copy.read_bytes() == content
    copy.unlink()
    ResultStore.create(store.path, description())
    assert copy.read_bytes() == content


# -- failures


def failing(message: str) -> BaseException:
    try:
        raise ArithmeticError(message)
    except ArithmeticError as error:
        return error


def test_a_failure_is_a_record_until_a_success(store, rows, signatures):
    cell = "p_train=0.9,train_repeat=9"
    both = signatures(["CC", "SLD"])
    store.write_failure("prior", "reviews", cell, both, failing("no room"))
    assert store.failed("prior", "reviews", cell) == both
    assert store.finished("prior", "reviews", cell) == {}
    (failure,) = store.failures("prior", "reviews", cell)
    assert failure.error == "ArithmeticError"
    # Outside the package the file and line are named: it may be a method of one's own.
    assert re.fullmatch(r"no room \(test_store\.py, line \d+\)", failure.message)
    assert "raise ArithmeticError(message)" in failure.traceback
    store.write_part("prior", "reviews", cell, signatures(["CC"]), rows(cell, ["CC"]))
    assert store.failed("prior", "reviews", cell) == signatures(["SLD"])
    store.write_part("prior", "reviews", cell, signatures(["SLD"]), rows(cell, ["SLD"]))
    assert store.failures("prior", "reviews", cell) == ()
    assert not list(store.path.rglob("failure.json"))


def test_failures_of_other_methods_are_kept(store, signatures, cells):
    store.write_failure("prior", "reviews", cells[0], signatures(["SLD"]), failing("one"))
    store.write_failure("prior", "reviews", cells[0], signatures(["CC"]), failing("two"))
    store.write_failure("prior", "reviews", cells[0], signatures(["SLD"]), failing("three"))
    messages = [f.message.split()[0] for f in store.failures("prior", "reviews", cells[0])]
    assert messages == ["two", "three"]


def test_the_same_failure_gives_the_same_bytes(store, signatures, cells):
    for cell in cells[:2]:
        store.write_failure("prior", "reviews", cell, signatures(["SLD"]), failing("one"))
    first, second = store.path.rglob("failure.json")
    assert first.read_bytes() == second.read_bytes()


def test_a_result_outweighs_an_older_failure(store, signatures, cells):
    """A kill between the marker and the removal of the record leaves both."""
    store.write_failure("prior", "reviews", cells[0], signatures(["SLD"]), failing("before"))
    assert store.failed("prior", "reviews", cells[0]) == {}


def test_an_unreadable_failure_record_is_named_and_may_be_replaced(store, signatures, cells):
    path = store.path / "prior" / "reviews" / cells[0] / "failure.json"
    path.write_text("{")
    with pytest.raises(DataError, match=r"failure\.json is not a readable failure record"):
        store.failed("prior", "reviews", cells[0])
    store.write_failure("prior", "reviews", cells[0], signatures(["SLD"]), failing("again"))
    (failure,) = store.failures("prior", "reviews", cells[0])
    assert failure.message.startswith("again (")


# -- drop


def test_dropping_a_method_keeps_its_neighbours(store, signatures, rows, cells):
    store.write_failure("prior", "reviews", cells[0], signatures(["CC"]), failing("x"))
    store.drop("prior", "reviews", cells[0], "CC")
    assert store.finished("prior", "reviews", cells[0]) == signatures(["SLD"])
    assert store.failures("prior", "reviews", cells[0]) == ()
    found = store.read().filter(pl.col("cell") == cells[0]).collect()
    assert found.equals(rows(cells[0]).filter(pl.col("method") == "SLD"))
    assert verify(store) == []
    assert len(list((store.path / "prior" / "reviews" / cells[0]).iterdir())) == 2
    assert len(store.read().collect()) == 220


def test_dropping_a_cell_drops_all_of_it(store, signatures, cells):
    store.write_failure("prior", "reviews", cells[1], signatures(["CC"]), failing("x"))
    store.drop("prior", "reviews", cells[1])
    assert (
        store.finished("prior", "reviews", cells[1])
        == store.failed("prior", "reviews", cells[1])
        == {}
    )
    assert list((store.path / "prior" / "reviews" / cells[1]).iterdir()) == []
    assert len(store.read().collect()) == 200


def test_dropping_from_a_damaged_part_does_not_save_the_damage(store, cells):
    data = next((store.path / "prior" / "reviews" / cells[0]).glob("*.parquet"))
    content = bytearray(data.read_bytes())
    content[100] ^= 1
    data.write_bytes(content)
    store.drop("prior", "reviews", cells[0], "CC")
    assert store.finished("prior", "reviews", cells[0]) == {}
    assert verify(store) == []
