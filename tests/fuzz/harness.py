"""Changes files at random, and compares what is read of them with what was read before."""

import shutil
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from quantshift.errors import UserError
from tests.fuzz.kind import Kind
from tests.fuzz.kinds import KINDS

SAME, REFUSED, OTHER, CRASHED = "same", "refused", "other", "crashed"
"""Outcomes: the same answer, a refusal, another answer, and any other end."""


@dataclass
class Tally:
    """What became of the mutations of a kind.

    failures: what must not happen, each with the number of its mutation.
    """

    kind: Kind
    counts: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    @property
    def n(self) -> int:
        """How many mutations there were."""
        return sum(self.counts.values())

    def __str__(self) -> str:
        outcomes = (SAME, REFUSED, OTHER, CRASHED)
        numbers = ", ".join(f"{self.counts[name]} {name}" for name in outcomes)
        return f"{self.kind.name}: {self.n} mutations, {numbers}"


def fuzz(kind: Kind, folder: Path, n: int, seed: int, first: int = 0) -> Tally:
    """Mutations number `first` to `first + n - 1` of a kind."""
    tally = Tally(kind)
    made = folder / "made"
    made.mkdir(parents=True)
    with _quietly():
        kind.make(made)
        files = kind.files(made)
        units = {kind.unit(made, path) for path in files}
        expected = {unit: repr(kind.answer(unit)) for unit in units}
        for number in range(first, first + n):
            # By its number, so that one mutation can be repeated alone.
            rng = np.random.default_rng([seed, KINDS.index(kind), number])
            path = files[int(rng.integers(len(files)))]
            whole = path.read_bytes()
            changed = kind.change(path, rng)
            unit = kind.unit(made, path)
            outcome, detail = _outcome(kind, unit, expected[unit])
            tally.counts[outcome] += 1
            if outcome == CRASHED or (outcome == OTHER and kind.ours):
                where = path.relative_to(made)
                tally.failures.append(
                    f"{kind.name}, seed {seed}, mutation {number}, {where}: {outcome}\n{detail}"
                )
            if changed != path:
                changed.unlink(missing_ok=True)
            path.write_bytes(whole)
    shutil.rmtree(made)
    return tally


def shares(n: int, kinds: Sequence[Kind] = KINDS) -> dict[str, int]:
    """How many of n mutations each kind gets, at least one."""
    whole = sum(kind.share for kind in kinds)
    return {kind.name: max(1, -int(-n * kind.share // whole)) for kind in kinds}


def _outcome(kind: Kind, unit: Path, expected: str) -> tuple[str, str]:
    try:
        found = repr(kind.answer(unit))
    except UserError as error:
        message = str(error)
        return (REFUSED, "") if message.strip() else (CRASHED, "a refusal without a word")
    except KeyboardInterrupt:
        raise
    except BaseException:  # libraries in Rust raise some that are no Exception
        return CRASHED, traceback.format_exc()
    return (SAME, "") if found == expected else (OTHER, _difference(expected, found))


def _difference(expected: str, found: str) -> str:
    pairs: Iterator[Any] = enumerate(zip(expected, found, strict=False))
    start = max(next((i for i, (a, b) in pairs if a != b), 0) - 40, 0)
    return f"  {expected[start : start + 120]}\n  {found[start : start + 120]}"


@contextmanager
def _quietly() -> Iterator[None]:
    """Warnings about hostile numbers are no defects."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
