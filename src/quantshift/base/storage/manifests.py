"""Folders with a manifest: format and version, sizes and hashes, all of it under a seal."""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, RootModel, ValidationError

from quantshift.base.storage.files import (
    check_new_folder,
    file_sha256,
    flush,
    is_leftover,
    put_in_place,
)
from quantshift.base.storage.integrity import load_array, sealed, unsealed
from quantshift.base.storage.plain_json import parse_json
from quantshift.errors import DataError, UserError

if TYPE_CHECKING:
    from numpy.typing import NDArray

MANIFEST = "manifest.json"


class _Entry(BaseModel, strict=True):
    bytes: int
    sha256: str


class _Files(RootModel[dict[str, _Entry]], strict=True):
    """Sizes and hashes by file name."""


@dataclass(frozen=True)
class FolderKind:
    """A kind of folder.

    format, version: as in its manifest; keys: the other required keys of the manifest.
    noun, described: what it is called, and what its manifest describes ("a data set").
    absent: the message when there is none, with the fields {folder} and {reason}.
    cure: what to do about a damaged one.
    """

    format: str
    version: int
    noun: str
    described: str
    keys: frozenset[str]
    absent: str
    cure: str

    def read(self, folder: Path) -> Mapping[str, Any]:
        """The manifest, refused if its format or version is another or a key is missing."""
        path = folder / MANIFEST
        if not path.is_file():
            reason = f"has no {MANIFEST}" if folder.is_dir() else "is a file"
            if not folder.exists():
                reason = "does not exist"
            raise DataError(self.absent.format(folder=folder, reason=reason))
        try:
            manifest = parse_json(path.read_bytes())
        except ValueError as error:
            raise self.damaged(f"{path} is not JSON") from error
        if not isinstance(manifest, dict) or manifest.get("format") != self.format:
            raise DataError(
                f"{path} does not describe {self.described}; was the right folder given?"
            )
        version = manifest.get("version")
        if version != self.version:
            raise DataError(
                f"{folder} has {self.noun} format {version}, this is {self.version}; upgrade "
                "quantshift"
            )
        missing = self.keys - manifest.keys()
        if missing:
            raise self.damaged(f"{path} lacks {', '.join(sorted(missing))}")
        try:
            _Files.model_validate(manifest["files"])
        except ValidationError as error:
            raise self.damaged(f"{path} does not name its files with sizes and hashes") from error
        try:
            return unsealed(manifest)
        except ValueError as error:
            raise self.damaged(f"{path} {error}") from error

    def write(self, folder: Path, about: Mapping[str, Any], files: Sequence[Path]) -> None:
        """Write the manifest of the files, and flush it all to disk."""
        manifest = {
            "format": self.format,
            "version": self.version,
            **about,
            "files": {
                path.relative_to(folder).as_posix(): {
                    "bytes": path.stat().st_size,
                    "sha256": file_sha256(path),
                }
                for path in files
            },
        }
        text = json.dumps(sealed(manifest), indent=2, ensure_ascii=False) + "\n"
        (folder / MANIFEST).write_text(text, encoding="utf-8")
        for path in (*files, folder / MANIFEST, folder):
            flush(path)

    def check_sizes(self, folder: Path, manifest: Mapping[str, Any]) -> None:
        """Refuse a folder with a file that is missing or has another size."""
        for name, entry in manifest["files"].items():
            path, recorded = folder / name, entry["bytes"]
            n_bytes = path.stat().st_size if path.is_file() else None
            if n_bytes is None:
                raise self.damaged(f"{path} is missing")
            if n_bytes != recorded:
                raise self.damaged(f"{path} has {n_bytes} bytes instead of {recorded}")

    def check_hashes(self, folder: Path, manifest: Mapping[str, Any]) -> None:
        """Read every file and refuse the folder if one does not match its hash."""
        for name, entry in manifest["files"].items():
            path = folder / name
            try:
                digest = file_sha256(path)
            except OSError as error:
                raise self.damaged(f"{path} cannot be read") from error
            if digest != entry["sha256"]:
                raise self.damaged(f"{path} does not match its manifest")

    def check_free(self, out: Path, *, overwrite: bool, inputs: Iterable[str | Path] = ()) -> None:
        """Refuse an output folder that cannot be created, or already exists with content.

        A folder of this kind may be overwritten, unless it is among the inputs.
        """
        if os.path.lexists(out) and not (os.path.isdir(out) and not any(out.iterdir())):
            if not self.is_at(out):
                raise UserError(
                    f"{out} exists and is not a {self.noun}; choose another folder",
                    arguments=["out"],
                )
            listed_files = own_files(out)
            for input_path in inputs:
                path, folder = Path(os.path.realpath(input_path)), Path(os.path.realpath(out))
                if path.is_relative_to(folder) and path.relative_to(folder) in listed_files:
                    raise UserError(
                        f"{input_path} is part of the {self.noun} that would be replaced; choose "
                        "another folder",
                        arguments=["out"],
                    )
            if not overwrite:
                raise UserError(
                    f"{out} already holds a {self.noun}; choose another folder, or overwrite it",
                    arguments=["out", "overwrite"],
                )
        check_new_folder(out)

    def put_in_place(self, folder: Path, final: Path) -> None:
        """Give a finished folder its final name; other files in an older one are kept."""
        listed_files = own_files(final)
        put_in_place(folder, final, own=lambda name: name in listed_files or is_leftover(name))

    def is_at(self, folder: Path) -> bool:
        """Whether the manifest of a folder names this format."""
        return manifest_format(folder) == self.format

    def folders_at(self, place: Path) -> list[Path]:
        """The place itself if it is such a folder, otherwise those in it that are not hidden."""
        folders = [place] if self.is_at(place) else sorted(place.iterdir())
        return [path for path in folders if self.is_at(path) and not path.name.startswith(".")]

    def array(self, path: Path) -> "NDArray[Any]":
        """The array of a .npy file in such a folder, mapped into memory."""
        try:
            return load_array(path)
        except (OSError, ValueError) as error:
            raise self.damaged(f"{path} is not an array") from error

    def damaged(self, problem: str) -> DataError:
        """An error that says what to do."""
        return DataError(f"damaged {self.noun}: {problem}; {self.cure}")


def without_files(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """What a manifest says of the content, without its files and the format that they have."""
    of_files = {"files", "format", "version", "quantshift"}
    return {key: value for key, value in manifest.items() if key not in of_files}


def own_files(folder: Path) -> set[Path]:
    """The manifest of a folder, and the files that it lists."""
    files = _manifest(folder).get("files")
    return {Path(name) for name in (MANIFEST, *(files if isinstance(files, dict) else ()))}


def manifest_format(folder: Path) -> str | None:
    """The format that the manifest of a folder names; None without a readable manifest."""
    manifest = _manifest(folder)
    return str(manifest.get("format")) if manifest else None


def _manifest(folder: Path) -> Mapping[str, Any]:
    """The content of the manifest; empty if it cannot be read."""
    try:
        manifest = parse_json((folder / MANIFEST).read_bytes())
    except (OSError, ValueError):
        return {}
    return manifest if isinstance(manifest, dict) else {}
