"""Tables whose items have any of several labels, in the files of other packages.

Each has a column of 0 and 1 for every label. The files are read without importing the packages:
pydataset writes into the home folder when it is imported.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import polars as pl

from quantshift.errors import unknown_name
from quantshift.lab.data.packaged.package_files import archived_csv, read_csv_table
from quantshift.lab.data.packaged.packaged_file import UNSTATED, AbstractPackaged

MOVIES = "resources/rdata/csv/ggplot2/movies.csv"
"""The table of movies in the archive of pydataset."""


@dataclass(frozen=True, kw_only=True)
class PackagedLabels(AbstractPackaged):
    """A data set in a file of another package, whose items have any of several labels.

    labels: the columns of the labels; all others are features.
    """

    labels: tuple[str, ...]
    read: Callable[[Path], pl.DataFrame]

    def make(self) -> pl.DataFrame:
        """Read the file; an error says what to install if it is missing, broken or another one."""
        rows = self._made(self._columns)
        self.check_number(len(rows))
        return rows

    def _columns(self, file: Path) -> pl.DataFrame:
        rows = self.read(file)
        missing = [label for label in self.labels if label not in rows.columns]
        if missing:
            raise LookupError(missing[0])
        return rows


def movies(file: Path) -> pl.DataFrame:
    """Movies with length, year, budget, ratings and votes.

    Left out: the number of the row, and the title.
    """
    rows = archived_csv(file, MOVIES)
    return rows.drop(rows.columns[0], "title")


LABEL_TABLES: Mapping[str, PackagedLabels] = MappingProxyType(
    {
        "gene-functions": PackagedLabels(
            name="gene-functions",
            items=2417,
            megabytes=0.8,
            about="genes of yeast and their functions: any of 14 labels, 103 numbers",
            package="river",
            path="datasets/yeast.csv.gz",
            licence=UNSTATED,
            source="A. Elisseeff and J. Weston, NIPS 14, 2002, in the version of Mulan (yeast)",
            labels=tuple(f"Class{k}" for k in range(1, 15)),
            read=read_csv_table,
        ),
        "movie-genres": PackagedLabels(
            name="movie-genres",
            items=58_788,
            megabytes=16.0,
            about="movies and their genres: any of 7 labels, 15 numbers and the MPAA rating",
            package="pydataset",
            path="resources.tar.gz",
            licence=UNSTATED,
            source="IMDb, in the version of H. Wickham, ggplot2",
            labels=("Action", "Animation", "Comedy", "Drama", "Documentary", "Romance", "Short"),
            read=movies,
        ),
    }
)
"""The data sets of other packages with several labels, by name."""


def packaged_labels(name: str) -> PackagedLabels:
    """The data set of this name with several labels, in a file of another package."""
    if name not in LABEL_TABLES:
        raise unknown_name("data set of another package with several labels", name, LABEL_TABLES)
    return LABEL_TABLES[name]
