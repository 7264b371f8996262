"""Bundles of results, as fuzzing makes, forges and reads them."""

import io
import json
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from quantshift.base.storage.integrity import SEAL, checksum, sealed
from quantshift.leaderboard.bundle import RECORD, add_bundle, open_bundle, write_bundle
from quantshift.results import ResultStore
from tests.fuzz.mutations import VALUES, mutations_of
from tests.results import conftest as results


def make_bundle(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as place:
        store = ResultStore.create(place, results.description())
        for cell in results.CELLS[:2]:
            methods = results.signatures(["CC", "SLD"])
            store.write_part("prior", results.DATASET, cell, methods, results.rows(cell, n=5))
        failed = results.signatures(["SLD"])
        store.write_failure("prior", results.DATASET, results.CELLS[2], failed, ValueError("no"))
        write_bundle(store, folder / "mine.zip", command="quantshift bench prior")


def answer_of_bundle(path: Path) -> Any:
    """What it says of itself, and the store that it becomes."""
    with open_bundle(path) as bundle:
        sentence = bundle.sentence
    with tempfile.TemporaryDirectory() as place:
        added = add_bundle(path, Path(place) / "r")
        store = ResultStore.open(Path(place) / "r")
        rows = store.read().collect().sort("cell", "method", "sample").to_dicts()
        failures = [store.failures("prior", results.DATASET, cell) for cell in results.CELLS]
        return sentence, added, rows, failures, store.description


def forge_bundle(path: Path, rng: np.random.Generator) -> Path:
    """A bundle with another file or record, whose seal and checksums are right."""
    with zipfile.ZipFile(path) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    names = sorted(contents)
    name = names[int(rng.integers(len(names)))]
    if name != RECORD:
        mutations = mutations_of(name)
        contents[name] = mutations[int(rng.integers(len(mutations)))](contents[name], rng)
    record = json.loads(contents[RECORD])
    record["files"] = {
        listed: {"bytes": len(content), "sha256": checksum(content)}
        for listed, content in contents.items()
        if listed != RECORD
    }
    if name == RECORD:
        mutate = VALUES[int(rng.integers(len(VALUES)))]
        record = json.loads(mutate(json.dumps(record).encode(), rng))
    if isinstance(record, dict):
        record.pop(SEAL, None)
        record = sealed(record)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for listed, content in {**contents, RECORD: json.dumps(record).encode()}.items():
            archive.writestr(listed, content)
    path.write_bytes(packed.getvalue())
    return path
