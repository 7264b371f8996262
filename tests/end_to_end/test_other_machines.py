"""Methods give the stored estimates also with what other machines compute with.

One machine can play another: kernels of BLAS, the processor that loops are compiled for, extensions
that NumPy uses, and threads are set by variables that are read when a process starts.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end import frozen_methods
from tests.end_to_end.frozen import Frozen, of_method

HERE = frozen_methods.machine()
PROGRAM = str(Path(frozen_methods.__file__))
COMPILED = ("PACC", "SLD")
"""For another processor everything is compiled again; these need little."""
SEVERAL = (*COMPILED, "KDEyML", "EDy", "DyS", "GuardedSLD", "SubclassSLD")


def elsewhere(methods: tuple[str, ...], **environment: str) -> tuple[dict[str, Any], Any]:
    """The machine that a process sees, and its estimates."""
    done = subprocess.run(
        [sys.executable, PROGRAM, *methods],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    )
    answer = json.loads(done.stdout)
    return answer["machine"], answer["estimates"]


def moved(frozen: Frozen, estimates: dict[str, Any]) -> list[str]:
    keys = {name: frozen_methods.key_of(name, 3, False) for name in estimates}
    return [
        difference
        for name, found in estimates.items()
        for difference in frozen.differences("methods", keys[name], found, within=of_method(name))
    ]


@pytest.mark.parametrize("kernels", ["Haswell", "Sandybridge", "SkylakeX"])
def test_other_kernels_of_blas(kernels: str, frozen: Frozen) -> None:
    machine, estimates = elsewhere(SEVERAL, OPENBLAS_CORETYPE=kernels)
    if machine["kernels"] != [kernels]:
        pytest.skip(f"this BLAS has {machine['kernels']}, and nothing can be set")
    assert moved(frozen, estimates) == []


def test_compiled_for_any_processor(frozen: Frozen) -> None:
    machine, estimates = elsewhere(COMPILED, NUMBA_CPU_NAME="generic")
    assert machine["compiled for"] == "generic"
    assert moved(frozen, estimates) == []


@pytest.mark.skipif(not HERE["features"], reason="NumPy has nothing to choose from here")
def test_without_extensions_of_the_processor(frozen: Frozen) -> None:
    disabled = " ".join(HERE["features"])
    machine, estimates = elsewhere(SEVERAL, NPY_DISABLE_CPU_FEATURES=disabled)
    assert machine["features"] == []
    assert moved(frozen, estimates) == []


@pytest.mark.skipif(os.cpu_count() == 1, reason="one core has one thread")
def test_two_threads(frozen: Frozen) -> None:
    machine, estimates = elsewhere(SEVERAL, OPENBLAS_NUM_THREADS="2", OMP_NUM_THREADS="2")
    assert machine["threads"] == 2
    assert moved(frozen, estimates) == []
