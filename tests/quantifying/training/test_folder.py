"""Models as folders: what is loaded is what was saved, and nothing else is loaded."""

import errno
import hashlib
import io
import json
import os
import subprocess
import sys
import zipfile

import pandas as pd
import polars as pl
import pytest
import skops.io
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from quantshift.base.storage.integrity import record_checksum
from quantshift.errors import DataError, UserError
from quantshift.quantifying import load_model, quantify, save_model, train
from quantshift.quantifying.training import folder as module
from quantshift.quantifying.training.folder import (
    DESCRIPTION,
    NUMBERS,
    check_model_place,
    check_savable,
)

FAST = {"replicates": 50}


@pytest.fixture
def saved(plain_model, tmp_path):
    save_model(plain_model, tmp_path / "model")
    return tmp_path / "model"


@pytest.mark.slow
def test_a_loaded_model_gives_the_same_answer(folder, model, tmp_path):
    save_model(model, tmp_path / "m")
    again = load_model(tmp_path / "m")
    assert quantify(folder / "new.csv", model=again, **FAST) == quantify(
        folder / "new.csv", model=model, **FAST
    )
    by_path = quantify(folder / "new.csv", model=tmp_path / "m", **FAST)
    assert by_path.method == "GuardedSLD"


OPENED_WITH_LITTLE_MEMORY = """
import resource, sys
import skops.io
from quantshift.quantifying.training import folder
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
most = (int(status["VmPeak"].split()[0]) << 10) + (1 << 30)
resource.setrlimit(resource.RLIMIT_AS, (most, most))
print(*folder.load_model(sys.argv[1]).classes)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory as Linux has them")
def test_a_model_opens_with_a_gigabyte(saved):
    """Reading asked for 8 GiB at once, however small the model was."""
    done = subprocess.run(
        [sys.executable, "-c", OPENED_WITH_LITTLE_MEMORY, str(saved)],
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (0, "negative positive\n"), done.stderr


@pytest.mark.parametrize(
    "classifier", ["naive-bayes", pytest.param("forest", marks=pytest.mark.slow), "boosting"]
)
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
    assert told["format"] == 1
    assert told["classes"] == ["negative", "positive"]
    assert [column["name"] for column in told["columns"]["features"]] == ["length", "price"]
    assert told["training"]["counts"] == {"negative": 300, "positive": 300}
    assert told["method"] == "PACC"
    assert sorted(p.name for p in saved.iterdir()) == [DESCRIPTION, NUMBERS]


def test_there_is_no_pickle_in_it(saved):
    with zipfile.ZipFile(saved / NUMBERS) as archive:
        for name in archive.namelist():
            known = {"json": b"{", "npy": b"\x93NUMPY", "bin": b"PAR1"}[name.rpartition(".")[2]]
            assert archive.read(name).startswith(known)


def test_a_newer_model_takes_the_place_of_an_older(saved, model):
    save_model(model, saved)
    assert load_model(saved).columns.text == ("review",)
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
    (saved / DESCRIPTION).write_text(description.replace('"format": 1', '"format": 2'))
    assert (
        refused(saved)
        == "the model has format 2, but this version reads format 1; upgrade quantshift"
    )
    (saved / DESCRIPTION).write_text('{"model": "another"}')
    assert refused(saved) == "model.json does not describe a quantshift model"
    (saved / DESCRIPTION).write_text("{")
    assert refused(saved) == "model.json is not JSON; train the model again"
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
    (saved / DESCRIPTION).write_text(json.dumps({**told, "seal": record_checksum(told)}))
    (saved / NUMBERS).write_bytes(numbers)


def forged(saved, *, told=None, parts=None):
    """A model of other content, with all checksums as they should be."""
    content = json.loads((saved / DESCRIPTION).read_text())
    for name in ("seal", "sha256"):
        content.pop(name)
    content.update(told or {})
    content = {name: value for name, value in content.items() if value is not MISSING}
    outer = ("format", "quantshift", "scikit-learn")
    inner = {name: value for name, value in content.items() if name not in outer}
    numbers = (saved / NUMBERS).read_bytes()
    held = skops.io.loads(numbers, trusted=skops.io.get_untrusted_types(data=numbers))
    held = {**held, **(parts or {}), "description": record_checksum(inner)}
    numbers = skops.io.dumps({name: v for name, v in held.items() if v is not MISSING})
    content["sha256"] = hashlib.sha256(numbers).hexdigest()
    (saved / DESCRIPTION).write_text(json.dumps({**content, "seal": record_checksum(content)}))
    (saved / NUMBERS).write_bytes(numbers)


def packed_rows(n):
    """A few bytes of Parquet with many rows."""
    data = io.BytesIO()
    pl.select(a=pl.repeat(0, n, dtype=pl.Int8)).write_parquet(data)
    assert len(data.getvalue()) < 100_000
    return data.getvalue()


MISSING = object()
UNFIT = "model.json does not fit model.skops; train the model again"


def test_a_forgery_that_changes_nothing_is_a_model(saved, folder, plain_model):
    forged(saved)
    assert quantify(folder / "new.csv", model=saved, **FAST) == quantify(
        folder / "new.csv", model=plain_model, **FAST
    )


@pytest.mark.parametrize(
    ("told", "line"),
    [
        ({"method": MISSING}, "model.json: method: field required; train the model again"),
        ({"classes": "no"}, "model.json: classes: input should be a valid array; train the mo"),
        ({"classes": [1, 2]}, "model.json: classes.0: input should be a valid string; train t"),
        ({"more": 1}, "model.json: more: extra inputs are not permitted; train the model again"),
        ({"training": {}}, "model.json: training.rows: field required; train the model again"),
        ({"columns": None}, "model.json: columns: input should be "),
        ({"classes": ["a", "b", "c"]}, UNFIT),
        ({"positive": "other"}, UNFIT),
        ({"classes": ["negative"]}, UNFIT),
        ({"classes": ["negative", "negative"]}, UNFIT),
        ({"classes": ["positive", "other"]}, UNFIT),
        ({"quantshift": 7}, "made with quantshift 7, but"),
        ({"format": [1] * 50}, "the model has format [1, 1, 1, 1, 1, 1, 1, but this version"),
    ],
)
def test_a_forged_description_is_one_line(saved, told, line):
    forged(saved, told=told)
    assert refused(saved).startswith(line)


@pytest.mark.parametrize(
    "parts",
    [
        {"preparation": MISSING},
        {"scorer": 3},
        {"base": None},
        {"quantifier": [1, 2]},
        {"preparation": {"a": 1}},
        {"profile": b"no Parquet"},
        {"profile": packed_rows(1 << 23)},
    ],
)
def test_forged_numbers_are_one_line(saved, parts):
    forged(saved, parts=parts)
    assert refused(saved) == UNFIT


def test_parts_of_another_model_are_one_line(saved, folder, model, tmp_path):
    forged(saved, parts={"preparation": model.preparation})
    assert refused(saved) == UNFIT
    fewer = train(folder / "labelled.csv", label="sentiment", features=["length"], method="PACC")
    forged(saved, parts={name: getattr(fewer, name) for name in ("preparation", "scorer")})
    assert refused(saved) == UNFIT
    save_model(fewer, saved)
    other = train(folder / "labelled.csv", label="sentiment", features=["price"], method="PACC")
    save_model(other, tmp_path / "b")
    resealed(saved, (tmp_path / "b" / NUMBERS).read_bytes())
    line = "model.json and model.skops belong to different models; train the model again"
    assert refused(saved) == line


def test_content_nested_without_end_is_one_line(saved):
    deep = "[" * 100_000 + "]" * 100_000
    described = (saved / DESCRIPTION).read_text()
    (saved / DESCRIPTION).write_text(deep)
    assert refused(saved) == "model.json is not JSON; train the model again"
    with pytest.raises(UserError, match="the folder holds other files"):
        check_model_place(saved)
    (saved / DESCRIPTION).write_text(described)
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("schema.json", deep)
    resealed(saved, data.getvalue())
    assert "cannot be read by this version (written by quantshift " in refused(saved)


def test_a_packed_or_endless_file_is_not_read(saved, monkeypatch):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("schema.json", "{}")
        archive.writestr("padding.npy", b"\0" * 1_000_000)
    resealed(saved, data.getvalue())
    assert refused(saved) == "model.skops is compressed, which a quantshift model never is"
    (saved / NUMBERS).unlink()
    (saved / NUMBERS).symlink_to("/dev/zero")
    assert refused(saved) == "model.skops is missing; train the model again"
    (saved / DESCRIPTION).unlink()
    (saved / DESCRIPTION).symlink_to("/dev/zero")
    assert refused(saved).startswith("no model here (model.json is missing)")
    (saved / DESCRIPTION).unlink()
    (saved / DESCRIPTION).write_bytes(b" " * 1000)
    monkeypatch.setattr(module, "MOST_DESCRIPTION", 999)
    assert refused(saved) == "model.json is too large for a model; train the model again"


def test_foreign_files_stay_when_a_model_is_replaced(saved, model):
    (saved / "notes.txt").write_text("mine")
    (saved / "data").mkdir()
    (saved / "data" / "table.csv").write_text("a,b")
    save_model(model, saved)
    assert load_model(saved).columns == model.columns
    assert (saved / "notes.txt").read_text() == "mine"
    assert (saved / "data" / "table.csv").read_text() == "a,b"
    assert sorted(path.name for path in saved.parent.iterdir()) == ["model"]


def test_a_model_that_cannot_be_written_leaves_nothing(saved, plain_model, monkeypatch, tmp_path):
    before = {path.name: path.read_bytes() for path in saved.iterdir()}
    fsync = os.fsync
    for code in (errno.EROFS, errno.ENOSPC):
        for nth in range(4):
            calls = []

            def broken(descriptor, code=code, nth=nth, calls=calls):
                calls.append(descriptor)
                if len(calls) > nth:
                    raise OSError(code, os.strerror(code))
                fsync(descriptor)

            for folder in (saved, tmp_path / "deep" / "model"):
                calls.clear()
                monkeypatch.setattr(os, "fsync", broken)
                with pytest.raises(UserError):
                    save_model(plain_model, folder)
                monkeypatch.undo()
            assert {path.name: path.read_bytes() for path in saved.iterdir()} == before
            assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_places_for_a_model_are_checked_before_the_training(saved, tmp_path):
    check_model_place(saved, inputs=[tmp_path / "labelled.csv", None])
    check_model_place(tmp_path / "new" / "model")
    with pytest.raises(UserError, match=r"model.json is part of the model that would be replaced"):
        check_model_place(saved, inputs=[saved / DESCRIPTION])
    with pytest.raises(UserError, match=r"/proc cannot be written"):
        check_model_place("/proc/model")
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / DESCRIPTION).write_text('{"layers": 3}')
    with pytest.raises(UserError, match="the folder holds other files; name a new folder"):
        check_model_place(mine)


class Own(BaseEstimator):
    """A classifier that is neither scikit-learn's nor ours."""


def test_a_classifier_of_ones_own_cannot_be_saved():
    check_savable(make_pipeline(StandardScaler(), LogisticRegression()))
    with pytest.raises(UserError) as caught:
        check_savable(make_pipeline(StandardScaler(), Own()))
    assert "Own cannot be saved: a model can only hold parts of scikit-learn and" in str(
        caught.value
    )


def test_a_model_of_another_version_is_refused(saved):
    told = json.loads((saved / DESCRIPTION).read_text())
    told.pop("seal")
    for package in ("quantshift", "scikit-learn"):
        other = {**told, package: "0.0.1"}
        (saved / DESCRIPTION).write_text(json.dumps({**other, "seal": record_checksum(other)}))
        line = refused(saved)
        installed = told[package]
        assert line == (
            f"made with {package} 0.0.1, but {installed} is installed; train the model again"
        )


def test_types_that_no_model_has_are_never_built(saved):
    from quantshift.lab.data.importing.review_layouts import ReviewColumns

    resealed(saved, skops.io.dumps({"preparation": ReviewColumns("a", "b")}))
    assert refused(saved) == (
        "model.skops holds quantshift.lab.data.importing.review_layouts.ReviewColumns, which a "
        "quantshift model never does"
    )
    resealed(saved, b"no archive at all")
    assert "cannot be read by this version (written by quantshift " in refused(saved)


def test_a_folder_with_other_things_is_left_alone(plain_model, tmp_path):
    (tmp_path / "mine.txt").write_text("x")
    with pytest.raises(UserError, match="the folder holds other files; name a new folder"):
        save_model(plain_model, tmp_path)
    with pytest.raises(UserError, match="a file; name a folder for the model"):
        save_model(plain_model, tmp_path / "mine.txt")
    assert (tmp_path / "mine.txt").read_text() == "x"


def test_a_model_is_a_few_lines(plain_model):
    """It was a dump of thousands of characters."""
    said = repr(plain_model)
    assert len(said) < 500
    lines = said.splitlines()
    assert lines[0].startswith("Model of 'sentiment', trained on 600 rows of ")
    assert lines[0].endswith("labelled.csv (negative 300, positive 300)")
    assert lines[1].startswith("Columns  2 used: length, price; ")
    assert lines[2].startswith("Method   PACC; logistic: cross-validated accuracy ")


@pytest.mark.parametrize("read", [pl.read_csv, pd.read_csv])
def test_items_of_frames_of_pandas_and_polars(folder, plain_model, read):
    """A frame of pandas was a KeyError."""
    items = plain_model.items(read(folder / "new.csv"))
    assert len(plain_model.posteriors(items)) == 300
    with pytest.raises(DataError, match=r"the frame: the model needs a column .*'price'"):
        plain_model.items(read(folder / "new.csv")[["length"]])
