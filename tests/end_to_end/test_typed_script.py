"""A user's script under mypy and pyright, both strict: no error, and a wrong option is one.

basedpyright, a pyright that pip installs with its own Node, is no part of the test set-up.
"""

import json
import subprocess
import sys
from importlib.util import find_spec

import pytest

SCRIPT = """
import numpy as np
from numpy.typing import NDArray

from quantshift import (
    PACC,
    SLD,
    DiagonalDisplay,
    IntervalDisplay,
    PrevalenceSearchCV,
    PriorShift,
    evaluate,
    load,
    save,
)

y: NDArray[np.str_] = np.repeat(np.array(["ham", "spam"]), 100)
X: NDArray[np.float64] = np.random.default_rng(0).normal(np.where(y == "spam", 2.0, 0.0))[:, None]
search = PrevalenceSearchCV(SLD(), {"calibration": ["sigmoid", "none"]}).fit(X, y)
best = search.best_estimator_
interval = best.predict_interval(X[50:150], n_bootstrap=50)
low: float = float(interval.low[1])
shares: NDArray[np.float64] = best.predict(X, [range(100), range(50, 150)])
frame = evaluate(PACC().fit(X, y), PriorShift(test_size=20, test_repeats=1), X, y)
error: float = float(frame["ae"].to_numpy().mean())
DiagonalDisplay.from_estimator(best, X, y)
IntervalDisplay.from_predictions(interval)
save(best, "best.skops")
assert load("best.skops").classes_.tolist() == ["ham", "spam"]
"""
WRONG = """
SLD(calibration="plat")
PACC(cv="five")
PACC().fit(X, y).predict_interval(X, of="item")
PACC().fit(X, y).predict_region(X, kind="circle")
"""


def checked(folder, text):
    """What mypy says of a script: its errors, as line numbers and codes."""
    (folder / "script.py").write_text(text)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(folder / "cache")]
    done = subprocess.run(
        [*command, "script.py"], cwd=folder, capture_output=True, text=True, check=False
    )
    errors = [line for line in done.stdout.splitlines() if ": error: " in line]
    return [(int(line.split(":")[1]), line.rpartition("[")[2].rstrip("]")) for line in errors]


def checked_by_pyright(folder, text):
    """What pyright says of a script: its errors, as line numbers and codes."""
    (folder / "script.py").write_text(text)
    (folder / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}')
    command = [sys.executable, "-m", "basedpyright", "--pythonpath", sys.executable]
    done = subprocess.run(
        [*command, "--outputjson", "script.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    found = json.loads(done.stdout)["generalDiagnostics"]
    return [(one["range"]["start"]["line"] + 1, one["rule"]) for one in found]


@pytest.mark.slow
@pytest.mark.skipif(find_spec("basedpyright") is None, reason="basedpyright is not installed")
def test_pyright_finds_the_same(tmp_path):
    assert checked_by_pyright(tmp_path, SCRIPT) == []
    first = len(SCRIPT.splitlines()) + 2
    wrong = checked_by_pyright(tmp_path, SCRIPT + WRONG)
    assert wrong == [(first + i, "reportArgumentType") for i in range(4)]


@pytest.mark.slow
def test_a_script_has_types_and_a_wrong_option_is_found_before_it_runs(tmp_path):
    assert checked(tmp_path, SCRIPT) == []
    first = len(SCRIPT.splitlines()) + 2
    assert checked(tmp_path, SCRIPT + WRONG) == [(first + i, "arg-type") for i in range(4)]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
