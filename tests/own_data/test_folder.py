"""Models as folders: what is loaded is what was saved, and nothing else is loaded."""

import hashlib
import json
import zipfile

import pytest

from quantshift.errors import DataError, UserError
from quantshift.own_data import load_model, quantify, save_model, train
from quantshift.own_data.folder import DESCRIPTION, NUMBERS, _seal

FAST = {"n_bootstrap": 50}


@pytest.fixture
def saved(plain_model, tmp_path):
    save_model(plain_model, tmp_path / "model")
    return tmp_path / "model"


def test_a_loaded_model_gives_the_same_answer(folder, model, tmp_path):
    save_model(model, tmp_path / "m")
    again = load_model(tmp_path / "m")
    assert quantify(folder / "new.csv", model=again, **FAST) == quantify(
        folder / "new.csv", model=model, **FAST
    )
    by_path = quantify(folder / "new.csv", model=tmp_path / "m", **FAST)
    assert by_path.method == "SubclassSLD"


@pytest.mark.parametrize("classifier", ["naive-bayes", "forest", "boosting"])
def test_every_classifier_can_be_saved(folder, tmp_path, classifier):
    made = train(
        folder / "labelled.csv",
        label="sentiment",
        features=["length", "price"],
        classifier=classifier,
        method="DyS",
    )
    save_model(made, tmp_path / "m")
    assert quantify(folder / "new.csv", model=tmp_path / "m", **FAST) == quantify(
        folder / "new.csv", model=made, **FAST
    )


def test_people_can_read_what_a_model_is(saved):
    told = json.loads((saved / DESCRIPTION).read_text())
    assert told["format"] == 2
    assert told["classes"] == ["negative", "positive"]
    assert told["columns"]["features"] == ["length", "price"]
    assert told["training"]["counts"] == {"negative": 300, "positive": 300}
    assert told["method"] == "PACC"
    assert sorted(p.name for p in saved.iterdir()) == [DESCRIPTION, NUMBERS]


def test_there_is_no_pickle_in_it(saved):
    with zipfile.ZipFile(saved / NUMBERS) as archive:
        assert {name.rpartition(".")[2] for name in archive.namelist()} <= {"json", "npy"}


def test_a_newer_model_takes_the_place_of_an_older(saved, model):
    save_model(model, saved)
    assert load_model(saved).columns.text == "review"
    assert sorted(p.name for p in saved.parent.iterdir()) == ["model"]


def refused(saved):
    with pytest.raises(DataError) as caught:
        load_model(saved)
    return str(caught.value).removeprefix(f"{saved}: ")


def test_a_tampered_or_foreign_model_is_refused(saved, tmp_path):
    nowhere = tmp_path / "nowhere"
    line = "no model here (model.json is missing); make one with quantshift train"
    assert refused(nowhere) == line
    description = (saved / DESCRIPTION).read_text()
    (saved / DESCRIPTION).write_text(description.replace("positive", "negatives"))
    assert refused(saved) == "model.json has been changed or damaged; train the model again"
    (saved / DESCRIPTION).write_text(description.replace('"format": 2', '"format": 7'))
    assert refused(saved) == "a model of format 7, this version reads 2; train it again"
    (saved / DESCRIPTION).write_text('{"model": "another"}')
    assert refused(saved) == "model.json is not of a quantshift model"
    (saved / DESCRIPTION).write_text("{")
    assert refused(saved) == "model.json is no JSON; train the model again"
    (saved / DESCRIPTION).write_text(description)
    numbers = (saved / NUMBERS).read_bytes()
    (saved / NUMBERS).write_bytes(numbers[:-1] + b"x")
    assert refused(saved) == "model.skops has been changed or damaged; train the model again"
    (saved / NUMBERS).unlink()
    assert refused(saved) == "model.skops is missing; train the model again"


def resealed(saved, numbers):
    told = json.loads((saved / DESCRIPTION).read_text())
    told.pop("seal")
    told["sha256"] = hashlib.sha256(numbers).hexdigest()
    (saved / DESCRIPTION).write_text(json.dumps({**told, "seal": _seal(told)}))
    (saved / NUMBERS).write_bytes(numbers)


def test_a_model_of_another_version_is_refused(saved):
    told = json.loads((saved / DESCRIPTION).read_text())
    told.pop("seal")
    for package in ("quantshift", "scikit-learn"):
        other = {**told, package: "0.0.1"}
        (saved / DESCRIPTION).write_text(json.dumps({**other, "seal": _seal(other)}))
        line = refused(saved)
        assert line == f"made with {package} 0.0.1, here is {told[package]}; train the model again"


def test_types_that_no_model_has_are_never_built(saved):
    import skops.io

    from quantshift.corpora.readers import Columns

    resealed(saved, skops.io.dumps({"preparation": Columns("a", "b")}))
    assert refused(saved) == (
        "model.skops holds quantshift.corpora.readers.Columns, which no model of ours does"
    )
    resealed(saved, b"no archive at all")
    assert refused(saved).startswith("cannot be read by this version (quantshift ")


def test_a_folder_with_other_things_is_left_alone(plain_model, tmp_path):
    (tmp_path / "mine.txt").write_text("x")
    with pytest.raises(UserError, match="the folder holds other things; name a new one"):
        save_model(plain_model, tmp_path)
    with pytest.raises(UserError, match="a file; name a folder for the model"):
        save_model(plain_model, tmp_path / "mine.txt")
    assert (tmp_path / "mine.txt").read_text() == "x"
