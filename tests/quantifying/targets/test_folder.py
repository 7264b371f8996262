"""Models of several labels on disk."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from quantshift import quantify
from quantshift.errors import DataError, UserError
from quantshift.quantifying import (
    TargetModels,
    load_model,
    load_target_models,
    save_target_models,
    train_target_models,
)
from quantshift.quantifying.targets.parents import Parents
from tests.quantifying.targets.made import LABELS, labelled, unlabelled, with_tags

TRAIN = labelled(400, seed=1)
SAMPLE = unlabelled(labelled(300, seed=2, spam=0.6), ["month"])


@pytest.fixture(scope="module")
def models() -> TargetModels:
    return train_target_models(
        TRAIN.drop("month"), label=LABELS, parents={"hate": "abuse"}, classifier="logistic"
    )


@pytest.fixture(scope="module")
def folder(models: TargetModels, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "m"
    save_target_models(models, path)
    return path


@pytest.mark.slow
def test_a_saved_model_of_several_labels_gives_the_same_answer(
    models: TargetModels, folder: Path
) -> None:
    at_once = quantify(
        SAMPLE,
        train=TRAIN.drop("month"),
        label=LABELS,
        parents={"hate": "abuse"},
        classifier="logistic",
        replicates=100,
    )
    assert load_target_models(folder).targets == LABELS
    for model in (models, folder, str(folder)):
        found = quantify(SAMPLE, model=model, replicates=100)
        assert found.targets == LABELS
        assert found.batches == at_once.batches


@pytest.mark.slow
def test_the_folder_of_a_label_is_a_model_of_that_label(folder: Path, tmp_path: Path) -> None:
    all_labels = quantify(SAMPLE, model=folder, replicates=100)
    alone = quantify(SAMPLE, model=folder / "spam", replicates=100)
    assert alone.batches[0].shares == all_labels.answers["spam"].batches[0].shares
    SAMPLE.write_csv(tmp_path / "new.csv")
    found = quantify(tmp_path / "new.csv", model=folder, replicates=100)
    commands = [answer.batches[0].command for answer in found.answers.values()]
    told = [command for command in commands if command]
    assert told
    assert all(f"--model {folder}/" in command for command in told)


def test_what_is_loaded_is_what_was_saved(models: TargetModels, folder: Path) -> None:
    loaded = load_target_models(folder)
    assert loaded.targets == models.targets == LABELS
    assert [model.headline for model in loaded.models] == list(LABELS)
    assert loaded.parents == models.parents
    for one, other in zip(loaded.models, models.models, strict=True):
        assert one.training == other.training
        assert one.columns == other.columns


def test_models_of_several_labels_are_not_one(folder: Path) -> None:
    """`score` and `plan quantify` said that there was no model."""
    with pytest.raises(
        DataError, match=f"several labels; name that of one, such as {folder}/abuse"
    ):
        load_model(folder)


def test_older_models_are_replaced_and_other_files_are_kept(
    models: TargetModels, tmp_path: Path
) -> None:
    path = tmp_path / "m"
    save_target_models(models, path)
    (path / "notes.txt").write_text("x")
    two = TargetModels(models.models[:2], type(models.parents)())
    save_target_models(two, path)
    assert load_target_models(path).targets == LABELS[:2]
    assert (path / "notes.txt").read_text() == "x"
    assert not (path / "hate" / "model.json").exists()


def test_damaged_and_foreign_folders_are_refused(models: TargetModels, tmp_path: Path) -> None:
    path = tmp_path / "m"
    save_target_models(models, path)
    description = path / "spam" / "model.json"
    whole = description.read_bytes()
    description.write_bytes(whole.replace(b"spam", b"ham_", 1))
    with pytest.raises(DataError, match="does not match its manifest; train the model again"):
        load_target_models(path)
    description.write_bytes(whole)
    manifest = json.loads((path / "manifest.json").read_bytes())
    manifest["labels"] = ["spam", "abuse", "hat"]
    (path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(DataError, match="damaged model of several labels"):
        load_target_models(path)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "a.txt").write_text("x")
    with pytest.raises(UserError, match="choose another folder"):
        save_target_models(models, tmp_path / "other")
    with pytest.raises(DataError, match="is no model of several labels"):
        load_target_models(tmp_path / "other")


def test_labels_beside_a_model_are_refused(folder: Path) -> None:
    with pytest.raises(UserError, match="has its labels"):
        quantify(SAMPLE, model=folder, label=LABELS)
    with pytest.raises(UserError, match="not both"):
        quantify(SAMPLE, model=folder, train=TRAIN)
    with pytest.raises(UserError, match="the model has one label"):
        quantify(SAMPLE, model=folder / "spam", label=LABELS)
    with pytest.raises(UserError, match="was not trained with features x0"):
        quantify(SAMPLE, model=folder, features="x0")


def test_options_of_training_are_those_of_one_label() -> None:
    with pytest.raises(TypeError, match="unknown argument of train_target_models"):
        train_target_models(TRAIN, label=LABELS, featurs="x0")
    with pytest.raises(UserError, match="belong to one label"):
        train_target_models(TRAIN, label=LABELS, positive="1")
    models = train_target_models(
        with_tags(TRAIN), label="tags", separator=";", features=["x0"], classifier="logistic"
    )
    assert set(models.targets) == set(LABELS)
    assert models.models[0].columns.content == ("x0",)


def test_labels_that_were_left_out_are_kept_with_their_reasons(
    models: TargetModels, tmp_path: Path
) -> None:
    left_out = {"rare": "on 3 rows", "all": "on every row"}
    one = replace(models, models=models.models[:1], parents=Parents.parse([], LABELS[:1]))
    save_target_models(replace(one, left_out=left_out), tmp_path / "m")
    assert set(load_target_models(tmp_path / "m").left_out) == set(left_out)
