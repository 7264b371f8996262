"""`quantshift doctor`: versions, cores, memory, and which optional parts are here."""

import importlib.metadata
import importlib.util
import platform
import shutil

import psutil
from rich.console import Console
from rich.table import Table

from quantshift.cli.machine import n_cores

REQUIRED = ("numpy", "scipy", "scikit-learn", "polars", "pyarrow", "numba", "pydantic", "typer")
OPTIONAL_PACKAGES = {
    "pandas": "data frames of pandas as input",
    "quapy": "the oracle of the test suite, and the other side of the benchmarks",
}
OPTIONAL_PROGRAMS = {
    "chromium": "tests of the web pages in a real browser",
    "pdflatex": "tests of the LaTeX tables with a real TeX engine",
}


def doctor() -> None:
    """Show versions, cores, memory, and optional parts found or missing.

    Put its output into a bug report.
    """
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    table.add_column(style="dim")
    for row in findings():
        table.add_row(*row)
    Console().print(table)


def findings() -> list[tuple[str, str, str]]:
    """Rows of (what, value, note)."""
    memory = psutil.virtual_memory()
    rows = [
        ("quantshift", importlib.metadata.version("quantshift"), ""),
        ("python", platform.python_version(), platform.platform()),
        ("cores", str(n_cores()), ""),
        ("memory", f"{memory.total / 2**30:.1f} GB", f"{memory.available / 2**30:.1f} GB free"),
    ]
    rows += [(name, importlib.metadata.version(name), "") for name in REQUIRED]
    for name, purpose in OPTIONAL_PACKAGES.items():
        here = importlib.util.find_spec(name) is not None
        version = importlib.metadata.version(name) if here else "missing (optional)"
        rows.append((name, version, purpose))
    for name, purpose in OPTIONAL_PROGRAMS.items():
        rows.append((name, "found" if shutil.which(name) else "missing (optional)", purpose))
    return rows
