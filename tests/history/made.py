"""Answers of `quantify` made by hand, and histories of them."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import numpy as np

from quantshift.answers.shares import Share
from quantshift.history import History
from quantshift.history.kept import store
from quantshift.history.kept.entries import entry_of
from quantshift.quantifying.output.quantification import Quantification
from tests.quantifying.made import BATCH, FOUND

DAY = date(2026, 1, 1)
USUAL = 0.1


def answer(*named: tuple[str, float], half_width: float = 0.02, **changed) -> Quantification:
    """One batch for each name and share of the class 'pos'; changed: fields of the batches."""
    batches = []
    for name, p in named:
        shares = (
            Share("neg", 1 - p, max(1 - p - half_width, 0.0), min(1 - p + half_width, 1.0)),
            Share("pos", p, max(p - half_width, 0.0), min(p + half_width, 1.0)),
        )
        fields = {"shift": None, "shares": shares, "unaudited": shares, **changed}
        batches.append(replace(BATCH, name=name, **fields))
    return replace(FOUND, batches=tuple(batches))


def days(n: int, *, seed: int = 0, change: float = 0.0, after: int = 0) -> list[Quantification]:
    """An answer a day: 10%, one point of variation, and a change after so many days."""
    noise = np.random.default_rng(seed).normal(0, 0.01, n)
    return [
        answer((str(DAY + timedelta(i)), USUAL + noise[i] + change * (i >= after)))
        for i in range(n)
    ]


def time_of(i: int) -> datetime:
    """When the answer of a day was given."""
    return datetime(2026, 1, 1, 6, tzinfo=UTC) + timedelta(i)


def filled(folder: Path, answers: list[Quantification]) -> History:
    """A history to which the answers were appended one by one, in peace."""
    for i, found in enumerate(answers):
        # What `History.append` does once it has read what is there.
        store.append(folder, entry_of(found, time=time_of(i)))
    return History.open(folder)


def tree(folder: Path) -> dict[str, bytes]:
    """The files of a folder with what is in them; of the list of calls, which there are."""
    files = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    if store.NAMES in files:
        files[store.NAMES] = b"".join(sorted(set(files[store.NAMES].splitlines(keepends=True))))
    return files
