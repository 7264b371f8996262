"""Public records of quantification data: downloaded, checked and unpacked.

pooch downloads the files: each goes to a temporary name and gets its own when its checksum is that
of the record's listing, so that a part is never taken for the whole; passing troubles are tried
again. Nothing that exists is replaced. The result is a folder in its authors' layout; `quantshift
data import` turns its parts into data sets.
"""

import http
import importlib.metadata
import json
import logging
import os
import shutil
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from quantshift.base.imports import extra_needed
from quantshift.base.storage.files import (
    check_new_folder,
    disk_errors,
    folder_aside,
    make_folder,
    put_in_place,
    write_errors,
)
from quantshift.credentials import has_credentials
from quantshift.errors import DataError, UserError, unknown_name
from quantshift.lab.data.importing.lequa import is_lequa
from quantshift.lab.data.importing.reviews import ReviewFile
from quantshift.tables.files.chunks import Progress

ARCHIVE = ".zip"
NOT_DATA = "__MACOSX"
"""A folder of metadata in some archives."""

ABOUT = ("readme", "license", "licence")
"""How the names of files that describe the data begin."""

CHUNK_BYTES = 1 << 18
TIMEOUT_SECONDS = 60.0
RETRIES = 4
"""How often a download is tried again, after pauses of 1, 2, 3 and 4 seconds."""

PASSING = (http.HTTPStatus.REQUEST_TIMEOUT, http.HTTPStatus.TOO_MANY_REQUESTS)
"""Refusals of a server after which a later attempt may succeed."""


@dataclass(frozen=True)
class PublicRecord:
    """A public record: its title, the URL that lists its files, and the endings of its data."""

    title: str
    url: str
    endings: tuple[str, ...]
    holds_reviews: bool = False


@dataclass(frozen=True)
class RemoteFile:
    """A file of a record: name, size in bytes, checksum ("md5:...") and URL."""

    name: str
    size: int
    checksum: str
    url: str


@dataclass(frozen=True)
class Fetched:
    """A fetched record: its folder, and what can be imported from it.

    tasks: folders that are LeQua tasks; reviews: files of reviews, by category.
    """

    folder: Path
    tasks: tuple[Path, ...] = ()
    reviews: tuple[ReviewFile, ...] = ()


RECORDS: Mapping[str, PublicRecord] = MappingProxyType(
    {
        "lequa2022": PublicRecord(
            "LeQua 2022", "https://zenodo.org/api/records/6546188", (ARCHIVE,)
        ),
        "lequa2024": PublicRecord(
            "LeQua 2024", "https://zenodo.org/api/records/11661820", (ARCHIVE,)
        ),
        "reviews": PublicRecord(
            "The reviews of the paper",
            "https://zenodo.org/api/records/8421611",
            (".txt", ".gz", ARCHIVE),
            holds_reviews=True,
        ),
    }
)
"""The records that can be fetched, by name."""


def fetch_record(
    name: str,
    out: str | Path,
    *,
    tasks: Sequence[str] = (),
    url: str | None = None,
    downloads: str | Path | None = None,
    progress: Progress = None,
) -> Fetched:
    """Download the files of a record into the new folder `out`; archives are unpacked.

    tasks: only files whose names begin with one of these and a dot (`T1` takes `T1.test.zip`).
    The files are kept in the folder `downloads` (default: the name of `out` with `.downloads`
    added); complete files in it are not downloaded again.
    """
    if name not in RECORDS:
        raise unknown_name("record", name, RECORDS)
    record, folder = RECORDS[name], Path(out)
    if folder.exists():
        raise UserError(f"{folder} exists; choose a new folder", arguments=["out"])
    check_new_folder(folder)
    address = url or record.url
    files = _chosen(list_record(address), record.endings, tasks, address)
    download_folder = Path(downloads) if downloads else folder.with_name(folder.name + ".downloads")
    unpack(download_files(files, download_folder, progress), folder)
    if not record.holds_reviews:
        inside = sorted(path for path in folder.iterdir() if path.is_dir())
        return Fetched(folder, tasks=tuple(p for p in (folder, *inside) if is_lequa(p)))
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and not _is_about(path))
    reviews = tuple(ReviewFile(path.name.split(".")[0], path) for path in paths)
    return Fetched(folder, reviews=reviews)


def list_record(url: str) -> tuple[RemoteFile, ...]:
    """All files of a Zenodo record, with the record's checksums."""
    _check_url(url)
    with tempfile.TemporaryDirectory(prefix="quantshift-") as folder:
        with _one_line_errors(url, f"reach {url}"):
            _download(RemoteFile("record.json", 0, "", url), Path(folder), None)
        listing = (Path(folder) / "record.json").read_bytes()
    try:
        return tuple(map(_remote_file, json.loads(listing)["files"]))
    except UserError:
        raise
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{url} did not return the listing of a Zenodo record") from error


def download_files(
    files: Sequence[RemoteFile], folder: Path, progress: Progress = None
) -> tuple[Path, ...]:
    """Download files into a folder; returns their paths. Those that are there stay as they are."""
    make_folder(folder)
    missing = [file for file in files if not (folder / file.name).exists()]
    needed, free = sum(file.size for file in missing), shutil.disk_usage(folder).free
    if free < needed:
        raise UserError(
            f"not enough space for the download: {folder} has {free / 1e9:.1f} GB free, "
            f"{needed / 1e9:.1f} GB are needed"
        )
    total, done = sum(file.size for file in files), 0
    for file in files:
        bar = None if progress is None else _Bar(progress, file.name, done, total)
        with _one_line_errors(file.url, f"download {file.name}"), disk_errors(folder):
            _download(file, folder, bar)
        done += file.size
    return tuple(folder / file.name for file in files)


class _Bar:
    """What pooch takes for a progress bar: it reports the bytes of all files together."""

    def __init__(
        self, progress: Callable[[str, int, int], None], name: str, before: int, total: int
    ) -> None:
        self._report, self._name, self._before, self._total = progress, name, before, total
        self._done = 0
        self.total = 0
        """The size of the file, which pooch sets."""

    def update(self, n_bytes: int) -> None:
        self._done = min(self._done + n_bytes, self.total)
        self._report(self._name, self._before + self._done, self._total)

    def reset(self) -> None:
        self._done = 0

    def close(self) -> None:
        """There is nothing to close."""


class _Refused(Exception):  # noqa: N818 - becomes a UserError
    """The server refuses a file for good; pooch does not try again after this."""


def _download(file: RemoteFile, folder: Path, bar: _Bar | None) -> None:
    """Download a file that is not there; one that is there must have its checksum."""
    with extra_needed("downloads"):
        import pooch
        import requests

    agent = f"quantshift/{importlib.metadata.version('quantshift')}"
    answers: list[requests.Response] = []
    get = pooch.HTTPDownloader(
        progressbar=bar or False,
        chunk_size=CHUNK_BYTES,
        timeout=TIMEOUT_SECONDS,
        # Not encoded in transit: the checksum is that of the file as it is stored.
        headers={"User-Agent": agent, "Accept-Encoding": "identity"},
        hooks={"response": lambda answer, **_: answers.append(answer)},
    )

    def downloader(url: str, output_file: Any, manager: Any) -> None:
        if bar is not None:
            bar.reset()
        try:
            get(url, output_file, manager)
        except requests.HTTPError as error:
            answer = error.response
            code = http.HTTPStatus.INTERNAL_SERVER_ERROR if answer is None else answer.status_code
            if code < http.HTTPStatus.INTERNAL_SERVER_ERROR and code not in PASSING:
                raise _Refused(_returned(url, answer)) from error
            raise
        finally:
            # pooch leaves the connection of a failed download open.
            while answers:
                answers.pop().close()

    files = pooch.create(
        path=folder.absolute(),
        base_url="",
        registry={file.name: file.checksum or None},
        urls={file.name: file.url},
        retry_if_failed=RETRIES,
        allow_updates=False,
    )
    with _silent(pooch.get_logger()):
        files.fetch(file.name, downloader=downloader)


@contextmanager
def _silent(logger: logging.Logger) -> Iterator[None]:
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)


@contextmanager
def _one_line_errors(url: str, what: str) -> Iterator[None]:
    """Turn the errors of a download into one line; what: the step that failed."""
    with extra_needed("downloads"):
        import requests

    try:
        yield
    except UserError:
        raise
    except _Refused as error:
        raise UserError(f"cannot {what}: {error}") from error
    except requests.HTTPError as error:
        reason = _returned(url, error.response)
        raise UserError(f"cannot {what} ({reason}); try again later") from error
    except requests.RequestException as error:
        # The library's messages are long, and may show the password of a proxy.
        raise UserError(f"cannot {what} ({_reason(error)}); try again later") from None
    except ValueError as error:
        name = what.removeprefix("download ")
        if "updates are disallowed" in str(error):
            raise DataError(
                f"the {name} in the folder of downloads is not that of the record (its checksum "
                "differs); move it away"
            ) from None
        raise DataError(
            f"the download of {name} has the wrong checksum and was removed; run the command again"
        ) from None


def _returned(url: str, answer: Any) -> str:
    return f"{url} returns {answer.status_code} {answer.reason}"


def _reason(error: Exception) -> str:
    import requests

    if isinstance(error, requests.Timeout):
        return f"no answer within {TIMEOUT_SECONDS:.0f} seconds"
    if isinstance(error, requests.exceptions.ChunkedEncodingError):
        return "the connection was lost"
    if isinstance(error, requests.ConnectionError):
        return "no connection"
    return type(error).__name__


def _check_url(url: str) -> None:
    if has_credentials(url):
        # The URL is not shown: where its password begins and ends is not certain.
        raise UserError(
            "user names and passwords in a URL are not sent; give a URL without them, with @ as "
            "%40 in its path"
        )
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise UserError(f"{url!r} is not a valid URL ({error})") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UserError(f"{url!r} is not a URL; it must begin with https:// or http://")


def _remote_file(entry: Any) -> RemoteFile:
    name, checksum = str(entry["key"]), str(entry["checksum"])
    if Path(name).name != name or not checksum.startswith("md5:"):
        raise DataError(f"the record lists a file that cannot be used: {name!r} ({checksum})")
    url = str(entry["links"]["self"])
    _check_url(url)
    return RemoteFile(name, int(entry["size"]), checksum, url)


def _is_about(path: Path) -> bool:
    return path.name.lower().startswith(ABOUT)


def _chosen(
    listed: Sequence[RemoteFile], endings: tuple[str, ...], tasks: Sequence[str], url: str
) -> tuple[RemoteFile, ...]:
    files = [
        file
        for file in listed
        if file.name.lower().endswith(endings) and not _is_about(Path(file.name))
    ]
    if not files:
        names = ", ".join(file.name for file in listed) or "no files"
        raise DataError(f"{url} lists no {', '.join(endings)} file of data; it lists {names}")
    known_tasks = sorted({file.name.split(".")[0] for file in files})
    for task in tasks:
        if task not in known_tasks:
            raise unknown_name("task", task, known_tasks)
    chosen = [file for file in files if not tasks or file.name.split(".")[0] in tasks]
    return tuple(sorted(chosen, key=lambda file: file.name))


def unpack(files: Sequence[Path], out: Path) -> None:
    """Unpack zip archives into the new folder `out`, completely or not at all.

    Files that are not archives are put there as they are. Members outside the folder, links and
    different files with the same name are refused.
    """
    with folder_aside(out) as aside:
        for file in files:
            if file.suffix.lower() != ARCHIVE:
                with write_errors(out):
                    _link_or_copy(file, aside / file.name)
                continue
            try:
                with zipfile.ZipFile(file) as opened:
                    _extract(opened, file, aside)
            except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
                raise DataError(f"{file} is not a complete zip archive ({error})") from error
        put_in_place(aside, out, own=lambda path: False)


def _link_or_copy(file: Path, target: Path) -> None:
    """A second name for a file, or a copy where the file system has no such names."""
    if target.exists():
        raise DataError(f"{file}: another file of the record has the same name")
    try:
        os.link(file, target)
    except OSError:
        shutil.copyfile(file, target)


def _extract(opened: zipfile.ZipFile, archive: Path, folder: Path) -> None:
    members = [member for member in opened.infolist() if not _is_skipped(member)]
    needed, free = sum(member.file_size for member in members), shutil.disk_usage(folder).free
    if needed > free:
        raise UserError(
            f"not enough space to unpack {archive.name}: {free / 1e9:.1f} GB are free, "
            f"{needed / 1e9:.1f} GB are needed"
        )
    for member in members:
        target = folder / _checked_name(member, archive)
        if target.exists():
            _check_same(opened, member, target, archive)
            continue
        with write_errors(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            with opened.open(member) as source, target.open("xb") as copy:
                shutil.copyfileobj(source, copy)


def _is_skipped(member: zipfile.ZipInfo) -> bool:
    return member.is_dir() or PurePosixPath(member.filename).parts[:1] == (NOT_DATA,)


def _checked_name(member: zipfile.ZipInfo, archive: Path) -> PurePosixPath:
    """The path of a member inside the folder, refused if it leads out of it or is a link."""
    name = PurePosixPath(member.filename.replace("\\", "/"))
    leads_out = name.is_absolute() or ".." in name.parts or ":" in member.filename
    if leads_out or not name.parts or stat.S_ISLNK(member.external_attr >> 16):
        raise DataError(
            f"{archive} contains {member.filename!r}, which would lie outside the folder; the "
            "archive is not unpacked"
        )
    return name


def _check_same(
    opened: zipfile.ZipFile, member: zipfile.ZipInfo, target: Path, archive: Path
) -> None:
    if target.is_file() and target.stat().st_size == member.file_size:
        with opened.open(member) as source, target.open("rb") as extracted:
            if source.read() == extracted.read():
                return
    raise DataError(f"{archive}: its {member.filename!r} differs from that of another archive")
