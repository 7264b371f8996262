"""Bundles: results that travel, and those that are refused."""

import io
import json
import zipfile

import numpy as np
import polars as pl
import pytest

from quantshift.base.storage.integrity import checksum, sealed, unsealed
from quantshift.errors import DataError, UserError
from quantshift.leaderboard import bundle as bundle_module
from quantshift.leaderboard.bundle import RECORD, add_bundle, open_bundle, write_bundle
from quantshift.leaderboard.scores import score_table
from quantshift.results import ResultStore
from quantshift.results.verification import verify
from tests.leaderboard.conftest import make_store

DATA = {"a": 2, "b": 3}
COMMAND = "quantshift bench prior --bundle mine.zip"


@pytest.fixture(scope="module")
def origin(tmp_path_factory):
    return make_store(tmp_path_factory.mktemp("origin"), datasets=DATA, methods=("CC", "ACC"))


@pytest.fixture(scope="module")
def bundle(origin, tmp_path_factory):
    file = tmp_path_factory.mktemp("bundle") / "mine.zip"
    write_bundle(origin, file, command=COMMAND)
    return file


def contents_of(file):
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(file, contents):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    file.write_bytes(packed.getvalue())
    return file


def resealed(contents, **changes):
    """The contents with a record that lists them as they are now: a careful forgery."""
    record = unsealed(json.loads(contents[RECORD]))
    files = {name: content for name, content in contents.items() if name != RECORD}
    record["files"] = {
        name: {"bytes": len(content), "sha256": checksum(content)}
        for name, content in files.items()
    }
    return {RECORD: json.dumps(sealed(record | changes)).encode(), **files}


def test_another_store_gets_the_same_results(origin, bundle, tmp_path):
    added = add_bundle(bundle, tmp_path / "theirs")
    assert (added.added, added.known) == (8, 0)
    theirs = ResultStore.open(tmp_path / "theirs")
    assert verify(theirs) == []
    assert score_table(theirs).equals(score_table(origin))
    again = add_bundle(bundle, tmp_path / "theirs")
    assert (again.added, again.known) == (0, 8)
    assert len(theirs.times.records()) == len(origin.times.records())


def test_results_of_two_machines_join(bundle, tmp_path):
    mine = make_store(tmp_path / "mine", datasets=DATA, methods=("CC", "SLD"))
    before = score_table(mine).filter(pl.col("method") == "SLD")
    added = add_bundle(bundle, mine.path)
    # CC is the first method of both, so its made-up estimates are the same.
    assert (added.added, added.known) == (4, 4)
    scores = score_table(ResultStore.open(mine.path))
    assert set(scores["method"]) == {"CC", "ACC", "SLD"}
    columns = [n for n in scores.columns if n != "p_best"]
    after = scores.filter(pl.col("method") == "SLD")
    assert after.select(columns).equals(before.select(columns))


def test_a_bundle_says_what_it_is_and_not_where_it_was_made(bundle):
    with open_bundle(bundle) as opened:
        assert opened.record["command"] == COMMAND
        assert {"Python", "numpy", "platform"} <= opened.record["environment"].keys()
        assert opened.sentence.startswith("8 results of prior on a, b, quantshift ")
        assert opened.sentence.endswith(COMMAND)
        folder = opened.store.path
    assert not folder.exists()
    logs = [json.loads(line) for line in contents_of(bundle)["log/times.jsonl"].splitlines()]
    assert logs
    assert all("host" not in record for record in logs)


def part_in(contents, ending=".parquet"):
    return next(name for name in contents if name.endswith(ending) and "/" in name)


def without_last_byte(contents):
    name = part_in(contents)
    return {**contents, name: contents[name][:-1]}


def other_byte(contents):
    name = part_in(contents)
    changed = bytearray(contents[name])
    changed[len(changed) // 2] ^= 1
    return {**contents, name: bytes(changed)}


def altered_record(contents):
    return {**contents, RECORD: contents[RECORD].replace(b"mine.zip", b"ours.zip")}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (without_last_byte, "has been changed or damaged: prior/a/"),
        (other_byte, "has been changed or damaged: prior/a/"),
        (altered_record, "has been changed or damaged; get it again"),
        (lambda c: {k: v for k, v in c.items() if k != RECORD}, "it has no bundle.json"),
        (lambda c: {k: v for k, v in c.items() if k != part_in(c)}, "the files that it lists"),
        (lambda c: {**c, "readme.txt": b"hello"}, "does not hold the files that it lists"),
        (lambda c: resealed({**c, "readme.txt": b"hello"}), "not one of results: 'readme.txt'"),
        (lambda c: resealed({**c, "../evil.json": b"x"}), "not one of results: '../evil.json'"),
        (lambda c: resealed({**c, "/tmp/store.json": b"x"}), "not one of results: '/tmp/store"),
        (lambda c: resealed({**c, "prior/../store.json": b"x"}), "not one of results"),
        (lambda c: resealed({**c, "prior\\about.json": b"x"}), "not one of results"),
        (lambda c: resealed(c, version=2), "has bundle format 2, this version reads 1"),
        (lambda c: resealed(c, format="other"), "is not a bundle of results"),
        (lambda c: resealed(c, files={n: {"bytes": 1} for n in c}), "is not a complete bundle"),
        # The store inside has its own checks, whoever has sealed the record again.
        (lambda c: resealed(other_byte(c)), "has changed since it was written"),
        (lambda c: resealed({**c, "store.json": b"{}"}), "store.json does not describe results"),
        (lambda c: resealed({k: v for k, v in c.items() if k != part_in(c)}), "is missing"),
    ],
)
def test_broken_and_changed_bundles_are_refused(bundle, tmp_path, change, reason):
    place = tmp_path / "deep" / "inside"
    place.mkdir(parents=True)
    file = zipped(place / "bad.zip", change(contents_of(bundle)))
    with pytest.raises(DataError) as refused:
        add_bundle(file, place / "out")
    assert reason in str(refused.value)
    assert "\n" not in str(refused.value)
    assert "quantshift-bundle-" not in str(refused.value)
    # Nothing was written, neither there nor anywhere else.
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["bad.zip"]


def test_what_is_no_zip_file_is_refused(bundle, tmp_path):
    text = tmp_path / "text.zip"
    text.write_text("hello")
    half = tmp_path / "half.zip"
    half.write_bytes(bundle.read_bytes()[: bundle.stat().st_size // 2])
    for file in (text, half):
        with pytest.raises(DataError, match="is not a readable ZIP file"):
            add_bundle(file, tmp_path / "out")
    with pytest.raises(UserError, match="there is no file"):
        add_bundle(tmp_path / "none.zip", tmp_path / "out")
    with pytest.raises(UserError, match="is a folder; name the ZIP file"):
        add_bundle(tmp_path, tmp_path / "out")


def test_two_files_of_one_name_are_refused(bundle, tmp_path):
    contents = contents_of(bundle)
    file = zipped(tmp_path / "twice.zip", contents)
    with zipfile.ZipFile(file, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("store.json", b"{}")
    with pytest.raises(DataError, match="two files of the same name"):
        add_bundle(file, tmp_path / "out")


def test_other_data_other_estimates_and_other_files_do_not_join(origin, bundle, tmp_path):
    other_data = make_store(tmp_path / "data", datasets={"a": 3}, methods=("CC",))
    with pytest.raises(UserError, match=r"holds other results: experiments\.prior\.datasets\.a"):
        add_bundle(bundle, other_data.path)
    other_estimates = make_store(tmp_path / "est", datasets=DATA, methods=("ACC", "CC"))
    with pytest.raises(UserError, match=r"estimates of prior on a, p_train-.* are not those in"):
        add_bundle(bundle, other_estimates.path)
    for store, digest in (
        (make_store(tmp_path / "one", datasets=DATA, methods=("CC", "Mine")), "a"),
        (make_store(tmp_path / "two", datasets={"b": 3}, methods=("CC", "Mine")), "b"),
    ):
        store.log.append({"files": {"Mine": {"file": "mine.py", "sha256": digest * 64}}})
    write_bundle(tmp_path / "one", tmp_path / "one.zip")
    before = sorted((tmp_path / "two").rglob("*"))
    with pytest.raises(UserError, match="'Mine' was computed with another file than in"):
        add_bundle(tmp_path / "one.zip", tmp_path / "two")
    assert sorted((tmp_path / "two").rglob("*")) == before


def test_estimates_that_are_not_prevalences_are_refused(tmp_path, monkeypatch):
    store = make_store(tmp_path / "s", datasets={"a": 2}, methods=("CC",), cells=1)
    part, _ = next(store.parts())
    rows = pl.read_parquet(part.data).with_columns(p_hat=pl.lit(np.array([1.5, -0.5]).tolist()))
    with monkeypatch.context() as patched:
        patched.setattr("quantshift.results.schema._refuse", lambda *_: None)
        store.write_part("prior", "a", part.folder.name, dict(part.methods), rows)
    write_bundle(store, tmp_path / "odd.zip")
    with pytest.raises(DataError, match=r"odd\.zip: p_hat of method 'CC' .* is not "):
        add_bundle(tmp_path / "odd.zip", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_damaged_results_and_files_of_the_user_are_not_bundled(origin, tmp_path):
    store = make_store(tmp_path / "s", datasets={"a": 2}, methods=("CC",), cells=1)
    part, _ = next(store.parts())
    part.data.write_bytes(b"x")
    with pytest.raises(DataError, match="has 1 bytes instead of"):
        write_bundle(store, tmp_path / "s.zip")
    (tmp_path / "mine.zip").write_text("mine")
    with pytest.raises(UserError, match="exists and was not made by quantshift"):
        write_bundle(origin, tmp_path / "mine.zip")
    write_bundle(origin, tmp_path / "ours.zip")
    write_bundle(origin, tmp_path / "ours.zip")  # one of its own is replaced
    with pytest.raises(UserError, match="the name says csv"):
        write_bundle(origin, tmp_path / "ours.csv")


def test_failures_travel_until_there_are_results(tmp_path):
    store = make_store(tmp_path / "s", datasets={"a": 2}, methods=("CC", "ACC"), cells=2)
    place = ("prior", "a", "p_train-0.5,train_repeat-0")
    store.drop(*place, "ACC")
    store.write_failure(*place, {"ACC": "prior ACC"}, ValueError("too few items"))
    write_bundle(store, tmp_path / "s.zip")
    add_bundle(tmp_path / "s.zip", tmp_path / "new")
    (failure,) = ResultStore.open(tmp_path / "new").failures(*place)
    assert failure.message == "too few items"
    whole = make_store(tmp_path / "whole", datasets={"a": 2}, methods=("CC", "ACC"), cells=2)
    add_bundle(tmp_path / "s.zip", whole.path)
    assert whole.failures(*place) == ()


def test_the_command_adds_and_refuses_in_one_line(quantshift, bundle, tmp_path):
    code, told, _ = quantshift("merge", bundle, "--out", tmp_path / "out")
    assert code == 0
    assert "8 results added to" in told
    assert (tmp_path / "out" / "leaderboard.html").is_file()
    bad = zipped(tmp_path / "bad.zip", other_byte(contents_of(bundle)))
    for options in (["--check"], ["--out", tmp_path / "other"]):
        code, told, said = quantshift("merge", bad, *options)
        assert code == 2
        assert said.count("\n") == 1
        assert "has been changed or damaged" in said
    assert not (tmp_path / "other").exists()
    code, told, _ = quantshift("merge", bundle, "--check")
    assert code == 0
    assert COMMAND in " ".join(told.split())


def test_what_others_wrote_is_shown_in_a_line(bundle, tmp_path):
    command = "bench \x1b[31m\u202e\nopen me " + "x" * 5000
    file = zipped(tmp_path / "odd.zip", resealed(contents_of(bundle), command=command, created=5))
    with open_bundle(file) as opened:
        assert opened.sentence.isprintable()
        assert len(opened.sentence) < 500


def test_a_record_that_is_too_large_is_not_read(bundle, tmp_path, monkeypatch):
    monkeypatch.setattr(bundle_module, "MOST_RECORD_BYTES", 100)
    with pytest.raises(DataError, match=r"its bundle\.json is too large"):
        add_bundle(bundle, tmp_path / "out")
