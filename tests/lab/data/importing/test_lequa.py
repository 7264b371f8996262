"""The folders of the LeQua challenges: every task, and what is refused."""

import os
import shutil
from collections import namedtuple
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose

from quantshift.errors import DataError, UserError
from quantshift.lab.data import ImportOptions, describe, import_lequa, render
from quantshift.lab.data.importing.lequa import is_lequa
from quantshift.lab.shifts import GivenSamples
from tests.lab.data.lequa_folders import TASKS, make_task


@pytest.mark.parametrize("name", TASKS)
def test_every_task_becomes_a_data_set_with_dev_and_test_samples(name, tmp_path):
    task = TASKS[name]
    public = make_task(tmp_path, name)
    assert is_lequa(public)
    data = import_lequa(public, tmp_path / "d")
    data.verify()
    dataset = data.dataset()
    given = dataset.given
    assert given.names == (*(f"dev/{i}" for i in range(3)), *(f"test/{i}" for i in range(4)))
    assert {len(rows) for rows in given.samples} == {task.size}
    assert data.kind == ("matrix" if task.n_columns else "text")
    assert dataset.ordinal == (name == "T3")
    assert dataset.classes.tolist() == list(range(task.n_classes))
    assert data.title == f"LeQua {name}"
    for part, n_samples in {"dev": 3, "test": 4}.items():
        truth = pl.read_csv(public / f"{part}_prevalences.txt").drop("id").to_numpy()
        own = given.of_part(part)
        assert len(own.samples) == n_samples
        # The files have six digits; the rows are divided by their sums.
        assert_allclose(own.prevalences, truth, atol=1e-5)
        if task.n_columns:
            items = pl.read_csv(public / f"{part}_samples" / "2.txt").to_numpy()
            assert_allclose(dataset.features.matrix[own.samples[2]], items)
    assert "| 1 (Class_1) |" in render(describe(data), "markdown")


def test_training_samples_are_training_items_of_named_groups(tmp_path):
    public = make_task(tmp_path, "T3")
    dataset = import_lequa(public, tmp_path / "d").dataset()
    groups = dataset.groups["sample"][dataset.given.train]
    assert len(dataset.given.train) == 200
    for name in ("0", "9"):
        rows = dataset.given.train[groups == name]
        table = pl.read_csv(public / "training_samples" / f"{name}.txt")
        assert dataset.labels[rows].tolist() == table["label"].to_list()
        assert_allclose(dataset.features.matrix[rows], table.drop("label").to_numpy())


def test_the_folder_of_the_task_and_columns_in_another_order_are_understood(tmp_path):
    public = make_task(tmp_path, "T1")
    before = import_lequa(public, tmp_path / "before")
    for path in (public / "test_samples" / "1.txt", public / "training_data.txt"):
        table = pl.read_csv(path)
        table.select(table.columns[::-1]).write_csv(path)
    after = import_lequa(public.parent, tmp_path / "after").dataset()
    assert_allclose(after.features.matrix[:, ::-1], before.dataset().features.matrix)


def test_a_part_may_be_missing_and_so_may_the_names_of_the_classes(tmp_path):
    public = make_task(tmp_path, "T1")
    shutil.rmtree(public / "test_samples")
    (public / "test_prevalences.txt").unlink()
    (public / "label_map.txt").unlink()
    dataset = import_lequa(public, tmp_path / "d").dataset()
    assert dataset.given.names == ("dev/0", "dev/1", "dev/2")


def test_the_protocol_takes_one_part(tmp_path):
    dataset = import_lequa(make_task(tmp_path, "T1"), tmp_path / "d").dataset()
    y = dataset.labels
    for part, expected in {None: 7, "dev": 3, "test": 4}.items():
        protocol = GivenSamples(given=dataset.given, part=part)
        draws = list(protocol.samples(y))
        assert len(draws) == protocol.count_samples() == expected
        bound = protocol.bind([0, 1], None)
        assert bound.count_samples() == expected
    assert [draw.coordinates["given"] for draw in draws] == [f"test/{i}" for i in range(4)]
    with pytest.raises(UserError, match=r"part='train' has no given samples.*dev, test"):
        GivenSamples(given=dataset.given, part="train").count_samples()
    # Results of before there were parts stay those of the same experiment.
    assert "part" not in GivenSamples().options()
    assert GivenSamples(part="dev").options()["part"] == "dev"


def break_ids(public):
    (public / "dev_samples" / "1.txt").rename(public / "dev_samples" / "7.txt")


def break_prevalence_ids(public):
    path = public / "test_prevalences.txt"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))


def break_sum(public):
    path = public / "dev_prevalences.txt"
    path.write_text("id,0,1\n0,0.5,0.5\n1,0.5,0.502\n2,0.1,0.9\n")


def break_classes(public):
    (public / "dev_prevalences.txt").write_text("id,0,1,2\n0,0.5,0.5,0\n1,0.5,0.5,0\n2,1,0,0\n")


def break_column(public):
    path = public / "dev_samples" / "2.txt"
    pl.read_csv(path).rename({"3": "x"}).write_csv(path)


def add_column(public):
    path = public / "dev_samples" / "2.txt"
    pl.read_csv(path).with_columns(more=1).write_csv(path)


def break_cell(public):
    path = public / "test_samples" / "0.txt"
    path.write_text(path.read_text().replace(",", ",oops", 9).replace("oops", "", 8))


def lose_truth(public):
    (public / "test_prevalences.txt").unlink()


def lose_samples(public):
    shutil.rmtree(public / "dev_samples")


def lose_training(public):
    (public / "training_data.txt").unlink()


def lose_both_parts(public):
    for part in ("dev", "test"):
        shutil.rmtree(public / f"{part}_samples")
        (public / f"{part}_prevalences.txt").unlink()


def lose_label(public):
    path = public / "training_data.txt"
    pl.read_csv(path).rename({"label": "lable"}).write_csv(path)


def shift_labels(public):
    path = public / "training_data.txt"
    pl.read_csv(path).with_columns(pl.col("label") + 1).write_csv(path)


def break_map(public):
    (public / "label_map.txt").write_text("negative 0\npositive one\n")


def double_name(public):
    (public / "label_map.txt").write_text("negative 0\nnegative 1\n")


def double_id(public):
    (public / "label_map.txt").write_text("negative 0\npositive 0\n")


def shorten_map(public):
    (public / "label_map.txt").write_text("negative 0\n")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (break_ids, r"dev_samples: sample 1 is missing, the next file is 2\.txt"),
        (break_prevalence_ids, r"test_prevalences\.txt: sample '3' is not in this file"),
        (break_sum, r"dev_prevalences\.txt: the prevalences of sample '1' do not sum to 1"),
        (break_classes, "columns after the first are 0, 1, 2, but the classes are 0, 1"),
        (break_column, r"2\.txt: no column '3'"),
        (add_column, r"2\.txt: column 'more' is not in the training data"),
        (break_cell, r"0\.txt: not a matrix of numbers: row 1 of column"),
        (lose_truth, r"has test_samples but no test_prevalences\.txt; add it"),
        (lose_samples, r"has dev_prevalences\.txt but no dev_samples; add it"),
        (lose_training, r"has neither training_data\.txt nor training_samples"),
        (lose_both_parts, "has neither dev_samples nor test_samples"),
        (lose_label, r"training_data\.txt: no column 'label'"),
        (shift_labels, "labels must be numbers from 0 without gaps, got 1, 2"),
        (break_map, r"label_map\.txt, line 2: not a name and an id"),
        (double_name, r"label_map\.txt, line 2: a name or an id occurs twice: 'negative 1'"),
        (double_id, r"label_map\.txt, line 2: a name or an id occurs twice: 'positive 0'"),
        (shorten_map, r"label_map\.txt: the ids are 0, but the labels are 0, 1"),
    ],
)
def test_folders_that_are_not_whole_are_refused_in_one_line(damage, message, tmp_path):
    public = make_task(tmp_path, "T1")
    damage(public)
    with pytest.raises(UserError, match=message) as caught:
        import_lequa(public, tmp_path / "d")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "d").exists()


def test_training_samples_need_prevalences_and_the_same_columns(tmp_path):
    public = make_task(tmp_path, "T3")
    truth = (public / "training_prevalences.txt").rename(tmp_path / "away")
    with pytest.raises(UserError, match=r"but no training_prevalences\.txt; add it"):
        import_lequa(public, tmp_path / "d")
    truth.rename(public / "training_prevalences.txt")
    path = public / "training_samples" / "4.txt"
    pl.read_csv(path).drop("5").write_csv(path)
    with pytest.raises(UserError, match=r"4\.txt: its columns differ from those of"):
        import_lequa(public, tmp_path / "d")
    with pytest.raises(UserError, match="the folder has its own samples"):
        import_lequa(public, tmp_path / "d", options=ImportOptions(samples=path))


def test_the_sizes_are_those_of_the_files(tmp_path):
    public = make_task(tmp_path, "T1", n_dev=11, n_test=1)
    path = public / "dev_samples" / "10.txt"
    pl.read_csv(path).head(7).write_csv(path)
    given = import_lequa(public, tmp_path / "d").dataset().given
    assert [len(rows) for rows in given.samples] == [*[25] * 10, 7, 25]
    assert np.concatenate(given.samples).tolist() == list(range(24, 24 + 11 * 25 + 7))


def test_samples_that_will_not_fit_are_refused_before_they_are_read(tmp_path, monkeypatch):
    public = make_task(tmp_path, "T1")
    usage = namedtuple("usage", ["total", "used", "free"])
    # Seven samples of 25 items with 8 numbers of 8 bytes are 11,200 bytes.
    monkeypatch.setattr("shutil.disk_usage", lambda folder: usage(10**9, 0, 11_199))
    with pytest.raises(UserError, match=r"need about 0\.0 GB on the disk of .* are free") as caught:
        import_lequa(public, tmp_path / "d")
    assert "choose a folder on another disk" in str(caught.value)
    assert not (tmp_path / "d").exists()
    monkeypatch.setattr("shutil.disk_usage", lambda folder: usage(10**9, 0, 11_200))
    assert import_lequa(public, tmp_path / "d").manifest["shape"] == [24 + 7 * 25, 8]


def test_the_numbers_are_written_once(tmp_path, monkeypatch):
    public = make_task(tmp_path, "T1")
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    inodes = []

    def moved(source, target):
        inodes.append(Path(source).stat().st_ino)
        assert list(temporary.iterdir()) == []
        os.rename(source, target)

    monkeypatch.setattr("quantshift.lab.data.sets.matrix_file.os.replace", moved)
    folder = import_lequa(public, tmp_path / "new" / "d")
    assert inodes == [(folder.path / "features.npy").stat().st_ino]
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["d"]
    folder.verify()


def test_a_sample_that_is_written_otherwise_is_the_same(tmp_path):
    public = make_task(tmp_path, "T1", n_dev=1)
    plain = import_lequa(public, tmp_path / "a")
    path = public / "test_samples" / "0.txt"
    columns = pl.read_csv(path).columns
    pl.read_csv(path).select(columns[::-1]).write_csv(path, quote_style="always")
    assert import_lequa(public, tmp_path / "b").hash == plain.hash


def test_a_failed_import_leaves_nothing_behind(tmp_path):
    public = make_task(tmp_path, "T1")
    path = public / "test_samples" / "3.txt"
    path.write_text(path.read_text().replace("\n", "\nx", 1))
    with pytest.raises(DataError, match=r"3\.txt: not a matrix of numbers: row 1 of column '0'"):
        import_lequa(public, tmp_path / "out" / "d")
    assert not (tmp_path / "out").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["T1"]
