"""Downloads of public records, with resume and checksums, and the import of the paper's reviews.

The listing of a Zenodo record gives each file's name, size, MD5 and URL. The reviews of the paper
are record 8421611: the files that may hold reviews (`.txt`, `.gz`, `.zip`) are downloaded and each
becomes the category named by its stem (`Books.txt.gz` -> Books).

A download goes to `NAME.part` and is renamed when the checksum is right. An interrupted one is
continued with an HTTP range request; `If-Range` with the stored entity tag makes the server send
the whole file if it has changed in the meantime.
"""

import errno
import hashlib
import http
import http.client
import importlib.metadata
import json
import shutil
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quantshift.credentials import has_credentials
from quantshift.data.corpus import CORPUS
from quantshift.data.importing.reviews import (
    MIN_CHARS,
    ImportProgress,
    ImportSummary,
    Source,
    import_reviews,
)
from quantshift.errors import DataError, UserError

REVIEWS_URL = "https://zenodo.org/api/records/8421611"
SUFFIXES = (".txt", ".gz", ".zip")
CHUNK_BYTES = 1 << 18
TIMEOUT_SECONDS = 60.0
ATTEMPTS = 6
LONGEST_PAUSE_SECONDS = 60.0
PASSING = (http.HTTPStatus.REQUEST_TIMEOUT, http.HTTPStatus.TOO_MANY_REQUESTS)
NETWORK_ERRORS = (
    urllib.error.URLError,
    http.client.HTTPException,
    ssl.SSLError,
    ConnectionError,
    TimeoutError,
)
NO_DATA = ("readme", "license", "licence")


@dataclass(frozen=True)
class RemoteFile:
    """A file of a record: name, size in bytes, MD5 in hexadecimal and URL."""

    name: str
    size: int
    md5: str
    url: str


@dataclass(frozen=True)
class DownloadProgress:
    """The progress of the downloads, in bytes of all files together."""

    file: str
    bytes_done: int
    bytes_total: int


def fetch_reviews(
    out: str | Path,
    *,
    url: str = REVIEWS_URL,
    downloads: str | Path | None = None,
    min_chars: int = MIN_CHARS,
    overwrite: bool = False,
    pause: float = 1.0,
    download_progress: Callable[[DownloadProgress], None] | None = None,
    import_progress: Callable[[ImportProgress], None] | None = None,
) -> ImportSummary:
    """Download the files of a record and import them into the corpus folder `out`.

    The files are kept in the folder `downloads` (default: the name of `out` with `.downloads`
    added); complete files in it are not downloaded again.
    """
    out = Path(out)
    CORPUS.check_free(out.absolute(), overwrite=overwrite)
    folder = Path(downloads) if downloads is not None else out.with_name(out.name + ".downloads")
    paths = download_files(list_files(url), folder, pause=pause, progress=download_progress)
    sources = [Source(_category(path.name), _single(path)) for path in paths]
    return import_reviews(
        sources, out, min_chars=min_chars, overwrite=overwrite, progress=import_progress
    )


def list_record(url: str) -> tuple[RemoteFile, ...]:
    """All files of a Zenodo record, with the record's checksums."""
    try:
        with _open(url, {}) as response:
            record = json.load(response)
        return tuple(_remote_file(entry) for entry in record["files"])
    except UserError:
        raise
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{url} did not return the listing of a Zenodo record") from error
    except urllib.error.HTTPError as error:
        error.close()
        raise UserError(f"cannot reach {url} (it returns {error.code} {error.reason})") from error
    except (OSError, http.client.HTTPException) as error:
        raise UserError(f"cannot reach {url} ({_reason(error)}); try again later") from error


def list_files(url: str = REVIEWS_URL) -> tuple[RemoteFile, ...]:
    """The files of a Zenodo record that may hold reviews."""
    listed = list_record(url)
    files = [
        file
        for file in listed
        if file.name.lower().endswith(SUFFIXES) and not file.name.lower().startswith(NO_DATA)
    ]
    if not files:
        names = ", ".join(file.name for file in listed) or "no files"
        raise DataError(f"{url} lists no file of reviews ({', '.join(SUFFIXES)}); it lists {names}")
    categories = [_category(file.name) for file in files]
    if len(set(categories)) < len(categories):
        names = ", ".join(file.name for file in files)
        raise DataError(
            f"{url} lists several files of one category ({names}); download the right ones and "
            "use `quantshift corpus import`"
        )
    return tuple(sorted(files, key=lambda file: file.name))


def download_files(
    files: Sequence[RemoteFile],
    folder: Path,
    *,
    pause: float = 1.0,
    progress: Callable[[DownloadProgress], None] | None = None,
) -> tuple[Path, ...]:
    """Download files into a folder, resuming interrupted downloads; returns their paths.

    `pause` is the wait in seconds before the second attempt; it doubles with each further one.
    """
    folder.mkdir(parents=True, exist_ok=True)
    missing = [file for file in files if not _is_whole(folder / file.name, file)]
    n_present_by_name = {file.name: _size(_part(folder, file)) for file in missing}
    needed = sum(max(0, file.size - n_present_by_name[file.name]) for file in missing)
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise UserError(
            f"not enough space for the download: {folder} has {free / 1e9:.1f} GB free, "
            f"{needed / 1e9:.1f} GB are needed"
        )
    total = sum(file.size for file in files)
    done = total - sum(file.size for file in missing)
    for file in missing:

        def report(size: int, file: RemoteFile = file, done: int = done) -> None:
            if progress is not None:
                progress(DownloadProgress(file.name, done + size, total))

        _download(file, folder, pause, report)
        done += file.size
    return tuple(folder / file.name for file in files)


def _download(file: RemoteFile, folder: Path, pause: float, report: Callable[[int], None]) -> None:
    part = _part(folder, file)
    attempt, furthest = 0, _size(part)
    while _size(part) != file.size:
        try:
            _continue(file, part, report)
            reason = "the connection was lost"
        except urllib.error.HTTPError as error:
            error.close()
            reason = f"{file.url} returns {error.code} {error.reason}"
            if error.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
                part.unlink(missing_ok=True)
            elif error.code < 500 and error.code not in PASSING:
                raise UserError(f"cannot download {file.name}: {reason}") from error
        except NETWORK_ERRORS as error:
            reason = _reason(error)
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            raise UserError(
                f"no space left while downloading {file.name} into {folder}; the part downloaded "
                "so far is kept: free some space and run the command again to continue"
            ) from error
        # A download that makes progress, however slowly, is not given up.
        attempt = 0 if _size(part) > furthest else attempt + 1
        furthest = max(furthest, _size(part))
        if attempt >= ATTEMPTS:
            raise UserError(
                f"cannot download {file.name} ({reason}); run the command again to continue"
            )
        if _size(part) != file.size:
            time.sleep(min(pause * 2**attempt, LONGEST_PAUSE_SECONDS))
    if _md5(part) != file.md5:
        part.unlink()
        _tag_path(part).unlink(missing_ok=True)
        raise DataError(
            f"the download of {file.name} has the wrong checksum and was removed; "
            "run the command again to download it again"
        )
    part.rename(folder / file.name)
    _tag_path(part).unlink(missing_ok=True)


def _continue(file: RemoteFile, part: Path, report: Callable[[int], None]) -> None:
    """Request the missing part and append it; start over if the server sends the whole file."""
    n_present = _size(part)
    if n_present > file.size:
        part.unlink()
        n_present = 0
    headers = {}
    if n_present:
        headers["Range"] = f"bytes={n_present}-"
        if _tag_path(part).is_file():
            headers["If-Range"] = _tag_path(part).read_text(encoding="ascii")
    with _open(file.url, headers) as response:
        starts_over = response.status != http.HTTPStatus.PARTIAL_CONTENT
        if not starts_over and not _continues_at(response, n_present):
            raise http.client.HTTPException("the server sent another range than requested")
        _keep_tag(response.headers.get("ETag"), part)
        size = 0 if starts_over else n_present
        with part.open("wb" if starts_over else "ab") as target:
            report(size)
            while chunk := response.read(CHUNK_BYTES):
                target.write(chunk)
                size += len(chunk)
                report(size)


def _open(url: str, headers: dict[str, str]) -> Any:
    _check_url(url)
    agent = f"quantshift/{importlib.metadata.version('quantshift')}"
    request = urllib.request.Request(url, headers={"User-Agent": agent, **headers})
    return urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS)


def _check_url(url: str) -> None:
    if has_credentials(url):
        # Not shown: where the password begins and ends cannot be told for sure.
        raise UserError(
            "user names and passwords in a URL are not sent; give a URL without them, with @ as "
            "%40 in its path"
        )
    try:
        parts = urllib.parse.urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise UserError(f"{url!r} is not a valid URL ({error})") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UserError(f"{url!r} is not a URL; it must begin with https:// or http://")


def _remote_file(entry: Any) -> RemoteFile:
    name, checksum = str(entry["key"]), str(entry["checksum"])
    if Path(name).name != name or not checksum.startswith("md5:"):
        raise DataError(f"the record lists a file that cannot be used: {name!r} ({checksum})")
    return RemoteFile(
        name, int(entry["size"]), checksum.removeprefix("md5:"), entry["links"]["self"]
    )


def _continues_at(response: Any, n_present: int) -> bool:
    return str(response.headers.get("Content-Range", "")).startswith(f"bytes {n_present}-")


def _keep_tag(tag: str | None, part: Path) -> None:
    # If-Range accepts only strong tags.
    if tag is None or tag.startswith("W/"):
        _tag_path(part).unlink(missing_ok=True)
    else:
        _tag_path(part).write_text(tag, encoding="ascii")


def _part(folder: Path, file: RemoteFile) -> Path:
    return folder / f"{file.name}.part"


def _tag_path(part: Path) -> Path:
    return part.with_name(part.name + ".etag")


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _is_whole(path: Path, file: RemoteFile) -> bool:
    return path.is_file() and _size(path) == file.size and _md5(path) == file.md5


def _md5(path: Path) -> str:
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, lambda: hashlib.md5(usedforsecurity=False))
    return digest.hexdigest()


def _category(name: str) -> str:
    return name.split(".")[0]


def _single(path: Path) -> Path:
    """The path; an archive of several files, which may be several categories, is refused."""
    if path.suffix.lower() == ".zip" and zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            members = [member.filename for member in archive.infolist() if not member.is_dir()]
        if len(members) > 1:
            raise DataError(
                f"{path} contains several files ({', '.join(members[:3])}, ...); unpack it and use "
                "`quantshift corpus import NAME=FILE ...`"
            )
    return path


def _reason(error: Exception) -> str:
    return str(getattr(error, "reason", None) or error) or type(error).__name__
