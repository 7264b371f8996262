"""What every run of the tests has in common, whatever the machine: surroundings, seeds, order.

Tests see the same time zone, locale, terminal, home folder and number of threads everywhere; so do
the commands that they start. Property tests draw the same examples in every run, unless a seed is
given: `--seed 7` draws others, `--seed fresh` takes a new seed and prints it. With a seed, property
tests count as slow, so that `make test-slow` explores. `--shuffle-files 7` changes the order of the
test files; the order must not matter. Workers that need the same compiled function at the same time
do not both compile it.
"""

import atexit
import fcntl
import hashlib
import locale
import os
import random
import secrets
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from numba.core.dispatcher import Dispatcher

ROOT = Path(__file__).parent

REMOVED = (
    *("LANGUAGE", "LC_ADDRESS", "LC_COLLATE", "LC_CTYPE", "LC_MESSAGES", "LC_MONETARY"),
    *("LC_NUMERIC", "LC_TIME", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE"),
    *("PY_COLORS", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "GITHUB_ACTIONS", "CI", "TERM_PROGRAM"),
    *("JUPYTER_COLUMNS", "JUPYTER_LINES", "PYTHONWARNINGS", "PYTHONOPTIMIZE", "PYTHONIOENCODING"),
    *("PYTHONDONTWRITEBYTECODE",),
    *("MPLBACKEND", "POLARS_FMT_MAX_ROWS", "POLARS_FMT_TABLE_FORMATTING", "POLARS_FMT_MAX_COLS"),
    *("TYPER_USE_RICH", "SKLEARN_ASSUME_FINITE", "SOURCE_DATE_EPOCH"),
)
"""Settings of a user or of a service that change what programs print or compute."""

SET = {
    "TZ": "UTC",
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "TERM": "xterm",
    "COLUMNS": "80",
    "LINES": "25",
    "MPLCONFIGDIR": str(ROOT / ".cache" / "matplotlib"),
    **dict.fromkeys(
        ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
    ),
}

_SEED = "QUANTSHIFT_FRESH_SEED"
"""Where the workers of a run find the seed that it took."""


def _make_surroundings() -> None:
    """Done at import, before any library reads these settings; later processes inherit them."""
    for name in REMOVED:
        os.environ.pop(name, None)
    os.environ.update(SET)
    sys.dont_write_bytecode = False  # every command would parse the whole package again
    time.tzset()
    with suppress(locale.Error):  # not every system has it
        locale.setlocale(locale.LC_ALL, "C.UTF-8")
    if "PYTEST_XDIST_WORKER" not in os.environ:
        home = tempfile.mkdtemp(prefix="quantshift-home-")
        atexit.register(shutil.rmtree, home, ignore_errors=True)
        os.environ["HOME"] = home
        for kind in ("CACHE", "CONFIG", "DATA", "STATE"):
            os.environ[f"XDG_{kind}_HOME"] = str(Path(home) / kind.lower())


_make_surroundings()

# No deadline: a busy machine stalls now and then, and a stall is not a defect. No examples kept:
# what a run finds must not depend on what earlier ones found.
settings.register_profile(
    "same", deadline=None, max_examples=40, derandomize=True, database=None, print_blob=True
)
settings.register_profile(
    "explore", deadline=None, max_examples=100, derandomize=False, database=None, print_blob=True
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options that change which examples are drawn, and the order of files."""
    group = parser.getgroup("quantshift")
    group.addoption("--seed", metavar="N|fresh", help="draw other examples of property tests")
    group.addoption("--shuffle-files", metavar="N", type=int, help="reorder the test files")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Give Hypothesis its seed before it asks; the workers of a run inherit that of the run."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored by jobs in the background
    if "PYTEST_XDIST_WORKER" in os.environ:
        _compile_once_for_all_workers(Path(os.environ["HOME"]) / "compiling")
    options: Any = config.option
    if options.seed is None:
        settings.load_profile("same")
        return
    if options.seed == "fresh":
        if "PYTEST_XDIST_WORKER" not in os.environ:
            os.environ[_SEED] = str(secrets.randbelow(2**32))
        options.seed = os.environ[_SEED]
    if not options.seed.isdecimal():
        raise pytest.UsageError(f"--seed {options.seed}: a whole number or 'fresh' is needed")
    settings.load_profile("explore")
    options.hypothesis_seed = options.seed


def _compile_once_for_all_workers(folder: Path) -> None:
    """Let a worker wait while another compiles the same function, and then find it in the cache.

    There is a lock for each function. A compiler holds that of a function while it waits for those
    of the functions that it calls; no two wait for each other, since calls have no cycles.
    """
    folder.mkdir(exist_ok=True)
    compile_here: Callable[[Any, Any], Any] = Dispatcher.compile
    threads, held = threading.RLock(), set[Path]()

    def compile_or_wait(function: Any, signature: Any) -> Any:
        code = function.py_func.__code__
        name = f"{code.co_filename}:{code.co_firstlineno}"
        with threads, _locked(folder / hashlib.sha256(name.encode()).hexdigest(), held):
            return compile_here(function, signature)

    Dispatcher.compile = compile_or_wait


@contextmanager
def _locked(path: Path, held: set[Path]) -> Iterator[None]:
    """Keep other processes out; held: the locks of this process."""
    if path in held:
        yield
        return
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        held.add(path)
        try:
            yield
        finally:
            held.remove(path)


def pytest_report_header(config: pytest.Config) -> list[str]:
    """What is needed to repeat this run."""
    seed, order = config.getoption("seed"), config.getoption("shuffle_files")
    return [
        *([] if seed is None else [f"property tests explore; repeat with --seed {seed}"]),
        *([] if order is None else [f"test files in the order of --shuffle-files {order}"]),
    ]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark tests that explore as slow, before marks are evaluated, and reorder the files."""
    if config.getoption("seed") is not None:
        for item in items:
            if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
                item.add_marker("slow")
    if (seed := config.getoption("shuffle_files")) is not None:
        items[:] = shuffled(items, seed)


def shuffled(items: list[pytest.Item], seed: int) -> list[pytest.Item]:
    """The items, file by file, in another order of the files."""
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    order = list(files)
    random.Random(seed).shuffle(order)
    return [item for path in order for item in files[path]]


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """The seed once more, at the end, where a reader of a failure looks."""
    if (seed := config.getoption("seed")) is not None:
        terminalreporter.write_line(f"repeat these examples with --seed {seed}")
