"""Folders that vouch for themselves: a manifest with format and version, sizes and hashes."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quantshift.errors import DataError, UserError
from quantshift.files import file_sha256, flush

MANIFEST = "manifest.json"


@dataclass(frozen=True)
class FolderKind:
    """A kind of folder.

    format, version: as its manifest has them; keys: what else must be there.
    noun, described: what it is called, and what its manifest describes ("a corpus").
    absent: what to say where there is none, with the fields {folder} and {reason}.
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
        """The manifest, of a format and version that can be read, with all its keys."""
        path = folder / MANIFEST
        if not path.is_file():
            reason = f"has no {MANIFEST}" if folder.is_dir() else "does not exist"
            raise DataError(self.absent.format(folder=folder, reason=reason))
        try:
            manifest = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise self.damaged(f"{path} is not JSON") from error
        if not isinstance(manifest, dict) or manifest.get("format") != self.format:
            raise DataError(
                f"{path} does not describe {self.described}; was the right folder given?"
            )
        version = manifest.get("version")
        if version != self.version:
            newer = isinstance(version, int) and version > self.version
            cure = "upgrade quantshift" if newer else self.cure
            told = f"{folder} has {self.noun} format {version}, this is {self.version}"
            raise DataError(f"{told}; {cure}")
        missing = self.keys - manifest.keys()
        if missing:
            raise self.damaged(f"{path} lacks {', '.join(sorted(missing))}")
        return manifest

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
        text = json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"
        (folder / MANIFEST).write_text(text, encoding="utf-8")
        for path in (*files, folder / MANIFEST, folder):
            flush(path)

    def check_sizes(self, folder: Path, manifest: Mapping[str, Any]) -> None:
        """Refuse a folder whose files are not there, or not of their size."""
        for name, entry in manifest["files"].items():
            path, recorded = folder / name, entry["bytes"]
            n_bytes = path.stat().st_size if path.is_file() else None
            if n_bytes is None:
                raise self.damaged(f"{path} is missing")
            if n_bytes != recorded:
                raise self.damaged(f"{path} has {n_bytes} bytes instead of {recorded}")

    def check_hashes(self, folder: Path, manifest: Mapping[str, Any]) -> None:
        """Read every file and refuse the folder if one is not what was written."""
        for name, entry in manifest["files"].items():
            if file_sha256(folder / name) != entry["sha256"]:
                raise self.damaged(f"{folder / name} does not match its manifest")

    def check_free(self, out: Path, *, overwrite: bool) -> None:
        """Refuse an output folder that is taken, unless it is of this kind and may go."""
        if not out.exists() or (out.is_dir() and not any(out.iterdir())):
            return
        if format_of(out) != self.format:
            raise UserError(
                f"{out} exists and is no {self.noun}; choose another folder", arguments=["out"]
            )
        if not overwrite:
            raise UserError(
                f"{out} already holds a {self.noun}; choose another folder, or overwrite it",
                arguments=["out", "overwrite"],
            )

    def damaged(self, what: str) -> DataError:
        """An error that names the cure."""
        return DataError(f"damaged {self.noun}: {what}; {self.cure}")


def format_of(folder: Path) -> str | None:
    """The format that the manifest of a folder names; None if there is no such thing."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return str(manifest.get("format")) if isinstance(manifest, dict) else None
