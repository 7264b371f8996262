import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from quantshift.base.compiled import ANNOUNCEMENT, NOT_KEPT, announced, compiled


def test_the_first_compilation_is_announced_once() -> None:
    one, other = numba.njit(lambda x: x + 1), numba.njit(lambda x: x + 2)  # not kept on disk
    told: list[str] = []
    with announced(told.append):
        assert (one(1), other(1), one(2)) == (2, 3, 3)
    assert told == [NOT_KEPT]
    with announced(told.append):
        assert one(3) == 4
    assert told == [NOT_KEPT]


def test_whether_machine_code_is_kept_is_said(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    double, told = compiled(twice), list[str]()
    with announced(told.append):
        assert double(2) == 4
    assert told == [ANNOUNCEMENT]
    assert list(tmp_path.rglob("*.nbi"))


def twice(x: int) -> int:
    return 2 * x


CALLER = """
from quantshift.base.compiled import compiled
from edited.callee import called
from edited.constants import FACTOR

@compiled
def caller(x):
    return FACTOR * called(x)
"""

CALLEE = """
from quantshift.base.compiled import compiled

@compiled
def called(x):
    return x + {added}
"""

RUN = """
from edited.caller import caller
print(caller(10), sum(caller.stats.cache_hits.values()))
"""


@pytest.mark.slow
def test_machine_code_is_made_again_after_an_edit_in_another_module(tmp_path: Path) -> None:
    package = tmp_path / "edited"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "caller.py").write_text(CALLER)
    answers = []
    for factor, added in ((1, 1), (1, 1), (1, 2), (3, 2)):
        (package / "constants.py").write_text(f"FACTOR = {factor}\n")
        (package / "callee.py").write_text(CALLEE.format(added=added))
        command = [sys.executable, "-B", "-c", RUN]  # -B: stale bytecode is not the question here
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        answers.append(tuple(map(int, done.stdout.split())))
    # The second run finds everything in the cache; the others do not.
    assert answers == [(11, 0), (11, 1), (12, 0), (36, 0)]


RENAMED = """
from typing import NamedTuple
from quantshift.base.compiled import compiled

class {name}(NamedTuple):
    x: int

@compiled
def called(pair):
    return pair.x

print(called({name}(10)), sum(called.stats.cache_hits.values()))
"""


@pytest.mark.slow
def test_machine_code_is_made_again_after_the_type_of_an_argument_was_renamed(
    tmp_path: Path,
) -> None:
    answers = []
    for name in ("Before", "Before", "After"):
        (tmp_path / "renamed.py").write_text(RENAMED.format(name=name))
        command = [sys.executable, "-B", "-c", "import renamed"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        answers.append(tuple(map(int, done.stdout.split())))
    assert answers == [(10, 0), (10, 1), (10, 0)]


BITS = """
import numpy as np
from quantshift.quantifiers import DMy, KDEyML, SLD

rng = np.random.default_rng(3)
y = np.arange(180) % 3
X, new = rng.normal(size=(2, 180, 4)) + rng.normal(0.0, 1.6, (3, 4))[y]
for method in (SLD(), KDEyML(), DMy()):
    print(method.fit(X, y).predict(new[:95]).tobytes().hex())
"""


@pytest.mark.slow
def test_estimates_do_not_depend_on_what_is_in_the_cache(tmp_path: Path) -> None:
    """Sums of a process that had compiled them differed in the last bit from those in the cache."""
    surroundings = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-W", "ignore", "-c", BITS]
    empty, filled = (
        subprocess.run(command, env=surroundings, capture_output=True, text=True, check=True)
        for _ in range(2)
    )
    assert empty.stdout == filled.stdout
    assert len(empty.stdout.split()) == 3
