"""Public records of quantification data: downloaded, checked and unpacked.

Names, sizes and checksums of the files are those listed in the record. The result is a folder in
its authors' layout; `quantshift data import` turns its parts into data sets.
"""

import shutil
import stat
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from quantshift.base.files import check_new_folder, folder_aside, put_in_place, write_errors
from quantshift.data.download import DownloadProgress, RemoteFile, download_files, list_record
from quantshift.data.importing.lequa import is_lequa
from quantshift.errors import DataError, UserError, unknown_name

ARCHIVE = ".zip"
NOT_DATA = "__MACOSX"
"""A folder of metadata in some archives."""


@dataclass(frozen=True)
class PublicRecord:
    """A public record: its title, and the URL that lists its files."""

    title: str
    url: str


RECORDS: Mapping[str, PublicRecord] = MappingProxyType(
    {
        "lequa2022": PublicRecord("LeQua 2022", "https://zenodo.org/api/records/6546188"),
        "lequa2024": PublicRecord("LeQua 2024", "https://zenodo.org/api/records/11661820"),
    }
)
"""The records that can be fetched, by name."""


@dataclass(frozen=True)
class Fetched:
    """A fetched record: its folder, and the folders in it that are LeQua tasks."""

    folder: Path
    tasks: tuple[Path, ...]


def fetch_record(
    name: str,
    out: str | Path,
    *,
    tasks: Sequence[str] = (),
    url: str | None = None,
    downloads: str | Path | None = None,
    pause: float = 1.0,
    progress: Callable[[DownloadProgress], None] | None = None,
) -> Fetched:
    """Download the archives of a record and unpack them into the new folder `out`.

    tasks: only archives whose names begin with one of these and a dot (`T1` takes `T1.test.zip`).
    The archives are kept in the folder `downloads` (default: the name of `out` with `.downloads`
    added); complete archives in it are not downloaded again.
    """
    if name not in RECORDS:
        raise unknown_name("record", name, RECORDS)
    folder = Path(out)
    if folder.exists():
        raise UserError(f"{folder} exists; choose a new folder", arguments=["out"])
    check_new_folder(folder)
    address = url or RECORDS[name].url
    files = _archives(list_record(address), tasks, address)
    kept = Path(downloads) if downloads else folder.with_name(folder.name + ".downloads")
    archives = download_files(files, kept, pause=pause, progress=progress)
    unpack(archives, folder)
    inside = sorted(path for path in folder.iterdir() if path.is_dir())
    return Fetched(folder, tuple(path for path in (folder, *inside) if is_lequa(path)))


def unpack(archives: Sequence[Path], out: Path) -> None:
    """Unpack zip archives into the new folder `out`, completely or not at all.

    Members outside the folder, links and different files with the same name are refused.
    """
    with folder_aside(out) as aside:
        for archive in archives:
            try:
                with zipfile.ZipFile(archive) as opened:
                    _extract(opened, archive, aside)
            except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
                raise DataError(f"{archive} is not a complete zip archive ({error})") from error
        put_in_place(aside, out, own=lambda path: False)


def _archives(
    listed: Sequence[RemoteFile], tasks: Sequence[str], url: str
) -> tuple[RemoteFile, ...]:
    files = [file for file in listed if file.name.lower().endswith(ARCHIVE)]
    if not files:
        names = ", ".join(file.name for file in listed) or "no files"
        raise DataError(f"{url} lists no {ARCHIVE} archive; it lists {names}")
    known = sorted({file.name.split(".")[0] for file in files})
    for task in tasks:
        if task not in known:
            raise unknown_name("task", task, known)
    chosen = [file for file in files if not tasks or file.name.split(".")[0] in tasks]
    return tuple(sorted(chosen, key=lambda file: file.name))


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
