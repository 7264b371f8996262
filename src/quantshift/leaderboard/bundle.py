"""A bundle: the results of a benchmark in one ZIP file, for somebody else's leaderboard.

    bundle.json    sealed: format and version, quantshift, when, command, environment, and the size
                   and SHA-256 of every other file
    store.json, EXPERIMENT/..., log/...    the store of the results, as in its folder

A bundle is checked before any of it is used: the seal, every size and checksum, then the store as
`quantshift verify` does, then the rows as when they are computed. Names of files in a ZIP file may
point anywhere, so only names that a store can have are accepted, and the files are unpacked into a
folder of their own that is removed afterwards.

Results join a store by the rule of `results.sharing`: what determines them must be the same. In
addition, a method of the same name must come from the same file, and estimates that both have must
agree.
"""

import io
import json
import platform
import tempfile
import zipfile
import zlib
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import polars as pl

from quantshift.answers.words import one_line, shortened
from quantshift.base.forks import uses_tables
from quantshift.base.storage.files import (
    check_output,
    file_sha256,
    head,
    locked,
    make_folder,
    write_output,
)
from quantshift.base.storage.integrity import checksum, sealed, unsealed
from quantshift.base.storage.plain_json import parse_json
from quantshift.errors import DataError, UserError
from quantshift.leaderboard.origin import method_files
from quantshift.report.page.provenance import versions
from quantshift.results import sharing
from quantshift.results.description import ABOUT, LOG, STORE, is_name
from quantshift.results.failures import FAILURE, load_failures, save_failures, without
from quantshift.results.log import RunLog
from quantshift.results.parts import Part, is_data, is_marker, read_rows
from quantshift.results.store import ResultStore
from quantshift.results.verification import verify

FORMAT, VERSION = "quantshift-bundle", 1
RECORD = "bundle.json"
LOGS = ("runs.jsonl", "times.jsonl")
ENDINGS = ("zip",)

MOST_BYTES = 4 << 30
"""The most bytes that a bundle may unpack to."""

MOST_RECORD_BYTES = 64 << 20
"""The most bytes of the record, which is read before anything is known about the other files."""

MOST_SHOWN = 300
"""The most characters of the command that are shown."""

AGREE = 1e-6
"""Estimates of the same samples on two machines may differ by this much, through rounding."""

_ZIP_MARK = b"PK\x03\x04"
_EPOCH = (1980, 1, 1, 0, 0, 0)
_PRIVATE = ("host", "process")
"""Entries of logs that are not passed on."""


@dataclass(frozen=True)
class Bundle:
    """The checked contents of a bundle, unpacked for as long as `open_bundle` lasts.

    sha256: the checksum of the whole file.
    """

    store: ResultStore
    record: Mapping[str, Any]
    sha256: str

    @property
    def n_results(self) -> int:
        """The number of results: a method on a cell."""
        return sum(len(methods) for _, methods in self.store.parts())

    @property
    def sentence(self) -> str:
        """What it holds, and where it comes from."""
        datasets = {d for e in self.store.experiments for d in self.store.datasets(e)}
        command = shortened(str(self.record["command"]), MOST_SHOWN)
        made_by = f"; made by: {command}" if command else ""
        # Somebody else wrote it: characters that move the cursor or hide words are left out.
        return one_line(
            f"{self.n_results:,} results of {', '.join(self.store.experiments)} on "
            f"{', '.join(sorted(datasets))}, quantshift {str(self.record['quantshift'])[:20]}, "
            f"{str(self.record['created'])[:10]}{made_by}"
        )


@dataclass(frozen=True)
class AddedResults:
    """What a bundle brought: results (a method on a cell) added, and those that were there."""

    added: int
    known: int


def write_bundle(
    results: ResultStore | str | Path,
    file: str | Path,
    *,
    command: str = "",
    overwrite: bool = False,
) -> None:
    """Write the bundle of all results in a store, or in its folder.

    command: what the user typed. overwrite: replace a file that is not a bundle.
    """
    store = results if isinstance(results, ResultStore) else ResultStore.open(results)
    problems = verify(store)
    if problems:
        raise DataError(str(problems[0]))
    contents = {name: (store.path / name).read_bytes() for name in _names(store)}
    contents |= {f"{LOG}/{name}": _public_log(store.path / LOG / name) for name in LOGS}
    record = sealed(
        {
            "format": FORMAT,
            "version": VERSION,
            "quantshift": versions()["quantshift"],
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "command": command,
            "environment": versions()
            | {"platform": platform.platform(), "machine": platform.machine()},
            "files": {
                name: {"bytes": len(content), "sha256": checksum(content)}
                for name, content in contents.items()
            },
        }
    )
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        text = json.dumps(record, indent=1, ensure_ascii=False).encode()
        for name, content in {RECORD: text, **contents}.items():
            kind = zipfile.ZIP_STORED if name.endswith(".parquet") else zipfile.ZIP_DEFLATED
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), content, compress_type=kind)
    write_output(
        file, packed.getvalue(), inputs=[store.path], overwrite=overwrite, ours=is_bundle,
        endings=ENDINGS,
    )  # fmt: skip


def check_bundle_output(file: str | Path) -> None:
    """Refuse a file that a bundle cannot be written to, before the work starts."""
    check_output(file, ours=is_bundle, endings=ENDINGS)


def is_bundle(path: Path) -> bool:
    """Whether this is a ZIP file that begins with the record of a bundle."""
    beginning = head(path)
    return beginning.startswith(_ZIP_MARK) and RECORD.encode() in beginning[:64]


@contextmanager
def open_bundle(file: str | Path) -> Iterator[Bundle]:
    """The contents of a bundle, checked; a DataError if anything is broken or was changed."""
    path = Path(file)
    if path.is_dir():
        raise UserError(f"{file} is a folder; name the ZIP file that the bundle is in")
    if not path.is_file():
        raise UserError(f"there is no file {str(file)!r}")
    with tempfile.TemporaryDirectory(prefix="quantshift-bundle-") as temporary:
        folder = Path(temporary)
        try:
            record = _unpack(path, folder)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
            raise DataError(f"{file} is not a readable ZIP file ({error}); get it again") from error
        # Passwords and unknown ways to compress.
        except (RuntimeError, NotImplementedError) as error:
            raise DataError(f"{file} cannot be unpacked ({error}); get it again") from error
        except ValueError as error:
            raise DataError(f"{file} {error}; get it again") from error
        yield Bundle(_checked_store(folder, file), record, file_sha256(path))


def _checked_store(folder: Path, file: str | Path) -> ResultStore:
    """The unpacked store, after checking its files and its rows."""
    try:
        store = ResultStore.open(folder)
        problems = verify(store)
        if problems:
            raise DataError(f"{problems[0].path} {problems[0].detail}")
        with tempfile.TemporaryDirectory(prefix="quantshift-bundle-") as temporary:
            # Written once more, which checks everything that is checked when rows are computed.
            copy = ResultStore.create(temporary, store.description)
            for part, methods in store.parts():
                copy.write_part(*_location(part), *_rows(store, part, methods))
    except UserError as error:
        # The folder is temporary: only the names in the bundle say anything.
        detail = str(error).replace(f"{folder}/", "").partition("; ")[0]
        raise DataError(f"{file}: {detail}; get it again") from error
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise DataError(f"{file}: its description cannot be read; get it again") from error
    return store


def _rows(
    store: ResultStore, part: Part, methods: Collection[str]
) -> tuple[dict[str, str], pl.DataFrame]:
    """Methods (name -> signature) of a part, and their rows."""
    rows = read_rows(part, store.about(_location(part)[0]).schema)
    signatures = {method: part.methods[method] for method in methods}
    return signatures, rows.filter(pl.col("method").is_in(list(methods)))


@uses_tables
def add_bundle(file: str | Path, out: str | Path) -> AddedResults:
    """Check a bundle and add its results to the store in the folder `out`, or to a new one.

    Either all results are added or, if one of them is in conflict with the store, none.
    """
    folder = Path(out)
    with open_bundle(file) as bundle:
        if (folder / STORE).exists():
            _refuse_conflicts(bundle.store, ResultStore.open(folder), file)
        target = ResultStore.create(folder, bundle.store.description)
        n_added = n_known = 0
        for part, methods in bundle.store.parts():
            location = _location(part)
            present = target.finished(*location)
            new = [m for m in methods if present.get(m) != part.methods[m]]
            n_known += len(methods) - len(new)
            if new:
                target.write_part(*location, *_rows(bundle.store, part, new))
                n_added += len(new)
        _copy_failures(bundle.store, target)
        _copy_logs(bundle, target)
    return AddedResults(n_added, n_known)


def _names(store: ResultStore) -> list[str]:
    """The files of the store that are results, by their path in it."""
    names = [STORE, *(f"{experiment}/{ABOUT}" for experiment in store.experiments)]
    for experiment, dataset, cell in store.places():
        folder = store.path / experiment / dataset / cell
        names += [
            path.relative_to(store.path).as_posix()
            for path in sorted(folder.iterdir())
            if path.name == FAILURE or is_marker(path) or is_data(path)
        ]
    return names


def _public_log(path: Path) -> bytes:
    records = [
        {name: value for name, value in record.items() if name not in _PRIVATE}
        for record in RunLog(path).records()
    ]
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode()


def _unpack(path: Path, folder: Path) -> Mapping[str, Any]:
    """Write the files of the bundle into the folder; returns its record.

    A ValueError if the record, a name, a size or a checksum is not what it should be.
    """
    with zipfile.ZipFile(path) as archive:
        entries = {entry.filename: entry for entry in archive.infolist()}
        if RECORD not in entries:
            raise ValueError(f"is not a bundle of results: it has no {RECORD}")
        if len(entries) < len(archive.infolist()):
            raise ValueError("holds two files of the same name")
        if entries[RECORD].file_size > MOST_RECORD_BYTES:
            raise ValueError(f"is not a bundle of results: its {RECORD} is too large")
        record = _record(archive.read(entries[RECORD]))
        files = record["files"]
        if entries.keys() - {RECORD} != files.keys():
            odd = sorted((entries.keys() - {RECORD}) ^ files.keys())[0]
            raise ValueError(f"does not hold the files that it lists: {odd!r}")
        if sum(file["bytes"] for file in files.values()) > MOST_BYTES:
            raise ValueError("would unpack to more than 4 GiB")
        for name, file in files.items():
            if not _can_be_in_a_store(name):
                raise ValueError(f"holds a file that is not one of results: {name!r}")
            if entries[name].file_size != file["bytes"]:
                raise ValueError(f"has been changed or damaged: {name}")
            content = archive.read(entries[name])
            if checksum(content) != file["sha256"]:
                raise ValueError(f"has been changed or damaged: {name}")
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
    return record


def _record(content: bytes) -> Mapping[str, Any]:
    record = parse_json(content)
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise ValueError("is not a bundle of results")
    if record.get("version") != VERSION:
        raise ValueError(f"has bundle format {record.get('version')}, this version reads {VERSION}")
    record = unsealed(record)
    files = record.get("files")
    sound = isinstance(files, dict) and all(
        isinstance(file, dict)
        and type(file.get("bytes")) is int
        and file["bytes"] >= 0
        and isinstance(file.get("sha256"), str)
        for file in files.values()
    )
    if not sound or not {"quantshift", "created", "command", "environment"} <= record.keys():
        raise ValueError("is not a complete bundle")
    return record


def _can_be_in_a_store(name: str) -> bool:
    parts = PurePosixPath(name).parts
    if "/".join(parts) != name or not all(is_name(part) for part in parts):
        return False
    match parts:
        case (only,):
            return only == STORE
        case (experiment, file):
            return file in LOGS if experiment == LOG else file == ABOUT
        case (_, _, _, file):
            path = Path(file)
            return file == FAILURE or is_marker(path) or is_data(path)
        case _:
            return False


def _location(part: Part) -> tuple[str, str, str]:
    return part.folder.parents[1].name, part.folder.parent.name, part.folder.name


def _refuse_conflicts(new: ResultStore, old: ResultStore, file: str | Path) -> None:
    """Refuse other settings or data, methods from another file, and other estimates."""
    sharing.merge(old.description, new.description, old.path)  # an error if they cannot share one
    old_files = method_files(old.log.records())
    for method, files in method_files(new.log.records()).items():
        if old_files.get(method, files) != files:
            raise UserError(
                f"{file}: the method {method!r} was computed with another file than in {old.path}; "
                "rename one of the classes and run it again"
            )
    old_parts: dict[tuple[str, str, str], list[tuple[Part, tuple[str, ...]]]] = {}
    for part, methods in old.parts():
        old_parts.setdefault(_location(part), []).append((part, methods))
    for part, methods in new.parts():
        for other, other_methods in old_parts.get(_location(part), ()):
            shared = dict(part.methods.items() & other.methods.items())
            both = [m for m in methods if m in other_methods and m in shared]
            if both and not _agree(_rows(new, part, both)[1], _rows(old, other, both)[1]):
                experiment, dataset, cell = _location(part)
                raise UserError(
                    f"{file}: estimates of {experiment} on {dataset}, {cell}, are not those in "
                    f"{old.path}; add it to another folder",
                    arguments=["out"],
                )


def _agree(first: pl.DataFrame, second: pl.DataFrame) -> bool:
    """Whether two frames have the same samples, and the same estimates up to rounding."""
    numbers = []
    for rows in (first, second):
        ordered = rows.sort("method", "sample")
        lengths = ordered.select("method", "sample", n=pl.col("p_hat").list.len())
        columns = [ordered[name].explode().to_numpy() for name in ("p_true", "p_hat")]
        numbers.append((lengths, np.concatenate(columns)))
    (samples, values), (other_samples, other_values) = numbers
    return samples.equals(other_samples) and bool(np.allclose(values, other_values, atol=AGREE))


def _copy_failures(source: ResultStore, target: ResultStore) -> None:
    for experiment, dataset, cell in source.places():
        missing = source.failed(experiment, dataset, cell).keys() - target.finished(
            experiment, dataset, cell
        )
        if not missing:
            continue
        folder = target.path / experiment / dataset / cell
        make_folder(folder)
        with locked(folder):
            failures = list(load_failures(folder))
            for failure in source.failures(experiment, dataset, cell):
                if missing & failure.methods.keys():
                    failures = [*without(failures, failure.methods), failure]
            save_failures(folder, failures)


def _copy_logs(bundle: Bundle, target: ResultStore) -> None:
    """Add the records of the bundle's logs, once."""
    for source, log in ((bundle.store.log, target.log), (bundle.store.times, target.times)):
        if any(record.get("bundle") == bundle.sha256 for record in log.records()):
            continue
        for record in source.records():
            log.append({**record, **dict.fromkeys(_PRIVATE, ""), "bundle": bundle.sha256})
