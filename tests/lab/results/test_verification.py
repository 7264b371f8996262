import hashlib
import json
from pathlib import Path

import polars as pl
import pytest

from quantshift.base.storage.integrity import sealed, unsealed
from quantshift.errors import DataError, UserError
from quantshift.lab.results import ResultStore, repair, verify
from quantshift.lab.results.parts import encode

CURE = "run the same command again; it will be redone"


def first_part(store) -> Path:
    return min(store.path.rglob("*.parquet"))


def flip(path: Path, position: int) -> None:
    content = bytearray(path.read_bytes())
    content[position] ^= 1
    path.write_bytes(content)


def alter_marker(store, **changes) -> None:
    marker = first_part(store).with_suffix(".json")
    record = unsealed(json.loads(marker.read_text())) | changes
    marker.write_text(json.dumps(sealed(record)))


def nested(depth: int) -> list[object]:
    value: list[object] = []
    for _ in range(depth):
        value = [value]
    return value


def replace_rows(store, frame) -> None:
    """Other rows with a marker that vouches for their bytes."""
    content = encode(frame)
    data = first_part(store)
    data.write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    alter_marker(store, sha256=digest, bytes=len(content))


DAMAGES = {
    "truncated": lambda s: first_part(s).write_bytes(first_part(s).read_bytes()[:-10]),
    "emptied": lambda s: first_part(s).write_bytes(b""),
    "lengthened": lambda s: first_part(s).write_bytes(first_part(s).read_bytes() + b"x"),
    "deleted": lambda s: first_part(s).unlink(),
    "flipped": lambda s: flip(first_part(s), 1000),
    "marker torn": lambda s: first_part(s).with_suffix(".json").write_text('{"rows": 4'),
    "marker emptied": lambda s: first_part(s).with_suffix(".json").write_text(""),
    "marker of a list": lambda s: first_part(s).with_suffix(".json").write_text("[]"),
    "marker nested deep": lambda s: first_part(s).with_suffix(".json").write_text("[" * 100_000),
    "marker nested less deep": lambda s: alter_marker(s, rows=nested(60)),
    "marker of others": lambda s: alter_marker(s, methods={"CC": "signature-of-CC"}),
    "marker of other bytes": lambda s: flip(first_part(s).with_suffix(".json"), 40),
    "marker of more rows": lambda s: alter_marker(s, rows=41),
    "fewer rows": lambda s: replace_rows(s, pl.read_parquet(first_part(s))[:-1]),
    "other cell": lambda s: replace_rows(
        s, pl.read_parquet(first_part(s)).with_columns(cell=pl.lit("p_train=0.2"))
    ),
    "other data set": lambda s: replace_rows(
        s, pl.read_parquet(first_part(s)).with_columns(dataset=pl.lit("churn"))
    ),
    "other method": lambda s: replace_rows(
        s, pl.read_parquet(first_part(s)).with_columns(method=pl.lit("CC"))
    ),
    "a column less": lambda s: replace_rows(s, pl.read_parquet(first_part(s)).drop("facet")),
    "a column nobody declared": lambda s: replace_rows(
        s, pl.read_parquet(first_part(s)).with_columns(mae=pl.lit(0.5))
    ),
    "a column of another type": lambda s: replace_rows(
        s, pl.read_parquet(first_part(s)).with_columns(repeat=pl.lit(0.5))
    ),
    "no Parquet": lambda s: (
        first_part(s).write_bytes(b"x" * 10),
        alter_marker(s, sha256=hashlib.sha256(b"x" * 10).hexdigest(), bytes=10),
    ),
}
EXPECTED = {
    "truncated": ("truncated", r"\.parquet has \d+ bytes instead of \d+"),
    "emptied": ("truncated", r"\.parquet has 0 bytes instead of \d+"),
    "lengthened": ("truncated", r"\.parquet has \d+ bytes instead of \d+"),
    "deleted": ("missing", r"\.parquet is missing, although its marker exists"),
    "flipped": ("altered", r"\.parquet has changed since it was written"),
    "marker torn": ("marker", r"\.json is not a readable marker"),
    "marker emptied": ("marker", r"\.json is not a readable marker"),
    "marker of a list": ("marker", r"\.json is not a readable marker"),
    "marker nested deep": ("marker", r"\.json is not a readable marker"),
    "marker nested less deep": ("marker", r"\.json is not a readable marker"),
    "marker of others": ("marker", r"\.json is not a readable marker"),
    "marker of other bytes": ("marker", r"\.json is not a readable marker"),
    "marker of more rows": ("rows", r"\.parquet has 40 rows instead of 41"),
    "fewer rows": ("rows", r"\.parquet has 39 rows instead of 40"),
    "other cell": ("rows", r"\.parquet has rows of another cell"),
    "other data set": ("rows", r"\.parquet has rows of another cell"),
    "other method": ("rows", r"\.parquet has other methods than its marker"),
    "a column less": ("rows", r"\.parquet does not have the columns of the schema"),
    "a column nobody declared": ("rows", r"\.parquet does not have the columns of the schema"),
    "a column of another type": ("rows", r"\.parquet does not have the columns of the schema"),
    "no Parquet": ("rows", r"\.parquet cannot be read as Parquet"),
}
UNSEEN_BY_SIZE = {
    "flipped",
    "marker of more rows",
    "fewer rows",
    "other cell",
    "other data set",
    "other method",
    "a column less",
    "a column nobody declared",
    "a column of another type",
    "no Parquet",
}
UNSEEN_BY_HASH = UNSEEN_BY_SIZE - {"flipped"}


def test_a_sound_store_has_no_problems(store):
    assert verify(store) == []
    assert verify(store, sizes_only=True) == []


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_found_named_and_redone(store, rows, signatures, cells, damage):
    whole = store.read().collect()
    path = first_part(store)
    DAMAGES[damage](store)
    kind, message = EXPECTED[damage]
    (problem,) = verify(store)
    assert problem.kind == kind
    assert problem.path.with_suffix("") == path.with_suffix("")
    assert str(problem) == f"{problem.path} {problem.detail}; {CURE}"
    with pytest.raises(DataError, match=message):
        raise DataError(str(problem))
    assert verify(store, sizes_only=True) == ([] if damage in UNSEEN_BY_SIZE else [problem])
    if damage not in UNSEEN_BY_HASH:
        with pytest.raises(DataError, match=f"damaged results: .*{message}"):
            store.read()
    if damage not in UNSEEN_BY_SIZE:
        assert store.finished("prior", "reviews", cells[0]) == {}

    assert repair(store, problem)
    assert verify(store) == []
    assert store.finished("prior", "reviews", cells[0]) == {}
    assert store.read().collect().equals(whole[40:])
    store.write_part("prior", "reviews", cells[0], signatures(["CC", "SLD"]), rows(cells[0]))
    assert store.read().collect().equals(whole)
    assert repair(store, problem) is False
    assert store.read().collect().equals(whole)


@pytest.mark.parametrize("eighth", range(8))
def test_a_flipped_bit_is_found_wherever_it_is(store, eighth):
    data = first_part(store)
    flip(data, (data.stat().st_size - 1) * eighth // 7)
    assert [problem.kind for problem in verify(store)] == ["altered"]
    with pytest.raises(DataError, match="damaged results"):
        store.read()


def test_every_damaged_part_is_named(store):
    for data in store.path.rglob("*.parquet"):
        data.unlink()
    assert [p.kind for p in verify(store)] == ["missing"] * 6
    assert len({p.path for p in verify(store)}) == 6


@pytest.mark.parametrize("schema", [0, 2])
@pytest.mark.parametrize("which", ["part", "failure"])
def test_what_another_version_wrote_is_not_ours_to_remove(store, signatures, cells, schema, which):
    if which == "part":
        alter_marker(store, schema=schema)
    else:
        store.write_failure("prior", "reviews", cells[0], signatures(["CC"]), ValueError("x"))
        path = store.path / "prior" / "reviews" / cells[0] / "failure.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | {"schema": schema}))
    before = {path: path.read_bytes() for path in store.path.rglob("*") if path.is_file()}
    (problem,) = verify(store)
    assert problem.kind == "version"
    assert not problem.repairable
    assert str(problem).endswith(
        f".json has result schema {schema}, this version reads 1; upgrade quantshift to read it"
    )
    actions = [
        lambda: repair(store, problem),
        lambda: store.failed("prior", "reviews", cells[0]),
        lambda: store.drop("prior", "reviews", cells[0], "CC"),
    ]
    if which == "part":
        actions += [store.read, lambda: store.finished("prior", "reviews", cells[0])]
    for action in actions:
        with pytest.raises(UserError, match="upgrade quantshift") as caught:
            action()
        assert "damaged" not in str(caught.value)
    assert verify(store) == [problem]
    if which == "part":
        assert before == {p: p.read_bytes() for p in store.path.rglob("*") if p.is_file()}


def test_results_of_methods_that_were_replaced_are_stale(store, description, rows, cells):
    """A process that still runs for the old description may write after a redo."""
    old = store
    new = description()
    for method in new["experiments"]["prior"]["methods"]:
        method["signature"] += "-2"
    store = ResultStore.create(store.path, new, redo=True)
    old.write_part("prior", "reviews", cells[0], old.methods("prior"), rows(cells[0]))
    assert store.finished("prior", "reviews", cells[0]) == {}
    assert store.read().collect().is_empty()
    (problem,) = verify(store)
    assert problem.kind == "stale"
    assert repair(store, problem)
    assert verify(store) == []


FAILURE = {"methods": {"CC": "signature-of-CC"}, "error": "E", "message": "m", "traceback": "t"}


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "[" * 100_000,
        json.dumps(sealed({"schema": 1, "failures": [FAILURE | {"methods": 3}]})),
        json.dumps(sealed({"schema": 1, "failures": [FAILURE | {"methods": {"CC": 1}}]})),
        json.dumps(sealed({"schema": 1, "failures": [FAILURE | {"message": None}]})),
        json.dumps(sealed({"schema": 1, "failures": [FAILURE | {"note": "x"}]})),
        json.dumps({"schema": 1, "failures": [FAILURE]}),
    ],
    ids=["list", "deep", "methods", "signature", "message", "more", "without a seal"],
)
def test_an_unreadable_failure_record_is_a_problem(store, cells, text):
    path = store.path / "prior" / "reviews" / cells[0] / "failure.json"
    path.write_text(text)
    (problem,) = verify(store)
    assert (problem.kind, problem.path) == ("failure", path)
    assert repair(store, problem)
    assert verify(store) == []
    assert len(store.read().collect()) == 240


@pytest.mark.parametrize("text", ["[" * 100_000, '{"format": "quantshift-results"'])
def test_a_description_that_cannot_be_read_is_made_again(store, text):
    whole = store.read().collect()
    (store.path / "store.json").write_text(text)
    with pytest.raises(DataError, match=r"store\.json is not JSON; `quantshift verify .* --repair"):
        ResultStore.open(store.path)
    assert ResultStore.rebuild(store.path).read().collect().equals(whole)
    (store.path / "prior" / "about.json").write_text(text)
    (problem,) = verify(store)
    assert problem.kind == "about"
    assert repair(store, problem)
    assert verify(store) == []


def test_foreign_files_are_ignored_and_stay(store, cells):
    whole = store.read().collect()
    foreign = [
        store.path / "notes.txt",
        store.path / "prior" / "figure.png",
        store.path / "prior" / "reviews" / "figure.png",
        store.path / "prior" / "churn" / cells[0] / "0123456789ab.json",
        store.path / "prior" / "reviews" / cells[0] / "copy.parquet",
        store.path / "prior" / "reviews" / cells[0] / "abc.json",
        store.path / "old" / cells[0] / "0123456789ab.parquet",
        store.path / "prior" / "reviews" / ".ipynb_checkpoints" / "0123456789ab.json",
    ]
    for path in foreign:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    store.log.append({"event": "start"})
    assert verify(store) == []
    assert store.read().collect().equals(whole)
    store.clean()
    assert all(path.exists() for path in foreign)


def test_data_without_a_marker_are_not_there(store, rows, signatures, cells):
    marker = first_part(store).with_suffix(".json")
    marker.unlink()
    assert verify(store) == []
    assert store.finished("prior", "reviews", cells[0]) == {}
    assert len(store.read().collect()) == 200
    assert store.clean() == 1
    assert not marker.with_suffix(".parquet").exists()
    store.write_part("prior", "reviews", cells[0], signatures(["CC", "SLD"]), rows(cells[0]))
    assert store.clean() == 0
    assert rows(cells[0]).equals(store.read().collect()[:40])
