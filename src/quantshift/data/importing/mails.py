"""Folders of mails, a file each, as the SpamAssassin corpus comes: subject and text of each mail.

    NAME=FOLDER    the mails in the folder have the label NAME; their category is the folder's name

A label may be given again with another folder, so that kinds of mails of one label (easy and hard
ham) are categories. Files are mails as they were sent (RFC 5322), in any encoding. Hidden files,
`cmds`, and the .json files that a package has beside its .txt files are ignored.
"""

import email
import email.policy
import hashlib
import html
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from email.message import EmailMessage
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from quantshift.base.forks import uses_tables
from quantshift.base.storage.files import file_sha256
from quantshift.data.folder import DataFolder
from quantshift.data.importing.assembly import MainFile, SideColumns
from quantshift.data.importing.classes import labels_of
from quantshift.data.importing.items import TextItems
from quantshift.data.importing.options import ImportOptions
from quantshift.data.importing.table import check_import, import_items
from quantshift.errors import DataError, UserError
from quantshift.tables.reading import Frame, Progress

TEXT = "text"
REPORT_EVERY = 500

_TAGS = re.compile(r"<(script|style)\b.*?</\1\s*>|<!--.*?-->|<[^>]*>", re.DOTALL | re.IGNORECASE)
_HEADER = re.compile(r"[!-9;-~]+:", re.ASCII)


@dataclass(frozen=True)
class MailFolder:
    """A folder of mails and the label of all of them."""

    label: str
    path: Path

    @classmethod
    def parse(cls, text: str) -> "MailFolder":
        """From NAME=FOLDER.

        >>> MailFolder.parse("spam=mails/spam-1").label
        'spam'
        """
        label, equals, path = text.partition("=")
        if not (label.strip() and equals and path):
            raise UserError(f"{text!r}: write NAME=FOLDER, the label of the mails and their folder")
        return cls(label.strip(), Path(path))

    def files(self) -> list[Path]:
        """The mails, in alphabetical order; refused if there are none."""
        if not self.path.is_dir():
            raise DataError(f"{self.path}: not a folder of mails; give a folder with a file each")
        files = [
            path
            for path in sorted(self.path.iterdir())
            if path.is_file() and not path.name.startswith(".") and path.name != "cmds"
        ]
        texts = {path.stem for path in files if path.suffix == ".txt"}
        files = [path for path in files if path.suffix != ".json" or path.stem not in texts]
        if not files:
            raise DataError(f"{self.path}: no mails in it; give a folder with a file each")
        return files


@uses_tables
def import_mails(
    folders: Sequence[MailFolder],
    out: str | Path,
    *,
    options: ImportOptions = ImportOptions(),  # noqa: B008 - frozen
    progress: Progress = None,
) -> DataFolder:
    """Import folders of mails: texts, their labels, and the folders as categories."""
    if not folders:
        raise UserError("nothing to import: give folders of mails, each as NAME=FOLDER")
    paths = [folder.path.absolute() for folder in folders]
    for path in paths:
        if paths.count(path) > 1:
            raise UserError(f"{path}: the folder is given twice; give every folder once")
    if options.samples is not None or options.prevalences is not None:
        raise UserError("folders of mails have no samples; leave them out", arguments=["samples"])
    options = replace(options, title=options.title or "Mails")
    files = [(folder, file) for folder in folders for file in folder.files()]
    check_import(out, options, paths)
    texts = []
    for number, (_, file) in enumerate(files):
        if progress is not None and number % REPORT_EVERY == 0:
            progress("reading mails", number, len(files))
        texts.append(read_mail(file))
    main = folders[0].path
    frame = Frame(str(main), pl.DataFrame({TEXT: texts}, schema={TEXT: pl.String}))
    labels = labels_of(pl.Series([folder.label for folder, _ in files]), "labels of the mails")
    categories = pl.Series([folder.path.absolute().name for folder, _ in files])
    about: dict[str, Any] = {
        "label": "label",
        "category": "folder",
        "text": TEXT,
        "notes": [],
        "sources": [_source(folder, files) for folder in folders],
    }
    mails = MainFile(main, TextItems(frame, TEXT), SideColumns(labels, categories))
    return import_items(mails, Path(out), options, about, progress)


def read_mail(path: Path) -> str:
    """The subject and the texts of a mail, those in HTML without their tags.

    Of versions of one text (multipart/alternative) only one is taken: the plain one, if it is not
    empty.
    """
    content = path.read_bytes()
    # Files of mail folders begin with a line "From sender date", which is no header.
    first, _, rest = content.partition(b"\n")
    content = rest if first.startswith(b"From ") else content
    try:
        message = email.message_from_bytes(content, policy=email.policy.compat32)
        parts = _texts(message)
    except RecursionError:
        raise DataError(f"{path}: not a mail; its parts are nested too deeply") from None
    if not message.keys() or not _HEADER.match(content[:200].decode("latin-1")):
        raise DataError(f"{path}: not a mail; it does not begin with headers")
    texts = [_subject(message), *(text.content for text in parts)]
    return "\n".join(text for text in texts if text).replace("\0", "")


class _Text(NamedTuple):
    """A text of a mail."""

    content: str
    is_plain: bool


def _texts(part: Any) -> list[_Text]:
    """The texts of a part, in their order."""
    if part.is_multipart():
        parts = [_texts(inner) for inner in part.get_payload()]
        if part.get_content_type() == "multipart/alternative":
            versions = [texts for texts in parts if any(text.content.strip() for text in texts)]
            plain = (texts for texts in versions if all(text.is_plain for text in texts))
            return next(plain, versions[0] if versions else [])
        return list(itertools.chain.from_iterable(parts))
    if part.get_content_type() == "text/plain":
        return [_Text(_decoded(part), is_plain=True)]
    if part.get_content_type() == "text/html":
        return [_Text(html.unescape(_TAGS.sub(" ", _decoded(part))), is_plain=False)]
    return []


def _subject(message: Any) -> str:
    decoded = EmailMessage(policy=email.policy.default)
    try:
        decoded["Subject"] = str(message["Subject"] or "").replace("\n", " ").replace("\r", " ")
        return str(decoded["Subject"])
    except (ValueError, LookupError, IndexError, AttributeError):  # headers of spam may be anything
        return str(message["Subject"])


def _decoded(part: Any) -> str:
    """The text of a part, by the encoding that it states, or as Latin-1 if that is wrong."""
    content = part.get_payload(decode=True) or b""
    try:
        return str(content.decode(part.get_content_charset("utf-8")))
    except (LookupError, UnicodeDecodeError, ValueError):
        return str(content.decode("latin-1"))


def _source(folder: MailFolder, files: Sequence[tuple[MailFolder, Path]]) -> dict[str, Any]:
    """The manifest's entry for a folder: how many mails, and a hash of all of them."""
    own = [file for other, file in files if other == folder]
    digest = hashlib.sha256("".join(file_sha256(file) for file in own).encode())
    return {
        "file": folder.path.name,
        "files": len(own),
        "bytes": sum(file.stat().st_size for file in own),
        "sha256": digest.hexdigest(),
    }
