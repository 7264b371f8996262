"""What the library gave, stored as numbers and compared by value: a change must not move it.

    pytest -n 0 -m "" tests/end_to_end/test_*_stay.py --write-frozen

writes it anew, which is right only where a change of results is wanted and said. Numbers have all
their digits and are compared within a tolerance, which is absolute, for shares and probabilities
lie between 0 and 1: kernels of BLAS, extensions of the processor and versions of compilers decide
about the last digits. Bits are compared only within one run of the tests.
"""

import json
import math
from itertools import chain
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "frozen"

METHODS = 1e-10
"""Estimates of a method by a logistic regression, which is fitted in steps: kernels of BLAS without
fused multiplication moved them by 1.3e-11."""
SEARCHED = 1e-7
"""Those of methods that fit models of their own in steps and stop where little is gained: 3e-8."""
EXPERIMENTS = 1e-10
"""Estimates of experiments, whose classifiers are trained: 7e-13."""
SEARCHING = {"EoQ", "FusedSLD", "GuardedSLD", "RLLS", "SubclassSLD"}
PRODUCTS = 1e-8
"""Shares and limits of products, for limits are found by searches: 2e-10."""


def of_method(name: str) -> float:
    """How far an estimate of a method may be from the stored one."""
    return SEARCHED if name in SEARCHING else METHODS


class Frozen:
    """The stored answers; `write`: what is given replaces what is stored."""

    def __init__(self, *, write: bool, folder: Path = FOLDER) -> None:
        self._write, self._folder = write, folder

    def differences(self, file: str, key: str, now: Any, *, within: float) -> list[str]:
        """Where an answer is not the one that is stored in this file under this key."""
        answers = self.read(file)
        now = json.loads(json.dumps(now, allow_nan=False))
        if self._write:
            answers[key] = now
            # An entry a line: a change of one answer is a change of one line.
            lines = ",\n".join(f"{json.dumps(k)}: {json.dumps(answers[k])}" for k in answers)
            self._path(file).write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
        return differences(answers[key], now, within=within)

    def read(self, file: str) -> dict[str, Any]:
        """All answers of a file."""
        path = self._path(file)
        if self._write and not path.exists():
            return {}
        stored: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return stored

    def _path(self, file: str) -> Path:
        return self._folder / f"{file}.json"


def differences(before: Any, now: Any, *, within: float, where: str = "") -> list[str]:
    """Where two nested answers differ: numbers by more than `within`, all else at all."""
    if isinstance(before, dict) and isinstance(now, dict):
        gone = [f"{where}/{key}: is gone" for key in before if key not in now]
        new = [f"{where}/{key}: is new" for key in now if key not in before]
        pairs = [(before[key], now[key], f"{where}/{key}") for key in before if key in now]
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        gone, new = [], []
        pairs = [(a, b, f"{where}/{i}") for i, (a, b) in enumerate(zip(before, now, strict=True))]
    elif _same(before, now, within):
        return []
    else:
        return [f"{where}: was {before!r}, is {now!r}"]
    inside = (differences(a, b, within=within, where=at) for a, b, at in pairs)
    return [*gone, *new, *chain.from_iterable(inside)]


def _same(before: Any, now: Any, within: float) -> bool:
    numbers = [x for x in (before, now) if isinstance(x, int | float) and not isinstance(x, bool)]
    if len(numbers) == 2 and any(isinstance(x, float) for x in numbers):
        return math.isclose(before, now, rel_tol=0.0, abs_tol=within)
    return type(before) is type(now) and bool(before == now)
