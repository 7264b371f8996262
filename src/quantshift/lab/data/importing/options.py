"""The options of imports, declared once for the functions and for `quantshift data import`."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from quantshift.base.options import OPTIONS, option
from quantshift.lab.data.importing.arrays import DataFile


@dataclass(frozen=True, kw_only=True)
class ImportOptions:
    """What a data set becomes, whatever its files.

    ordinal     the labels are numbers whose order has a meaning
    positive    the class that comes last, if there are two
    fewest      leave out classes with fewer rows than this
    samples     given samples: a table with the columns `sample` and `row`, or a folder of files; or
                several folders by the name of their part ("dev", "test"), which begins the names of
                their samples
    prevalences their true prevalences: a table with the sample in the first column, then a column
                per class; or a table for each part
    test_share  keep this share of every class for testing, in all experiments; 0: every experiment
                splits the items itself
    max_train   at most this many items are for training, all others for testing; 0: no limit
    split_seed  seed of that split
    name        in results, valid as a folder name (default: that of the folder)
    title       display name (default: the name of the main file)
    overwrite   replace an older data set, once the new one is complete
    """

    samples: Path | Mapping[str, Path] | None = option(
        None,
        "Test samples that come with the data: a table with the columns sample and row (row 0 is "
        "the first one below the header), or a folder with one file of unlabelled items per "
        "sample.",
        reads="file",
        metavar="FILE",
        panel=OPTIONS,
    )
    prevalences: Path | Mapping[str, Path] | None = option(
        None,
        "True prevalences of the samples: a table with the sample in the first column, then a "
        "column per class. Needed if the items of the samples have no labels.",
        reads="file",
        metavar="FILE",
        panel=OPTIONS,
    )
    ordinal: bool = option(
        False, "The labels are ordered numbers (ordinal classes).", panel=OPTIONS
    )
    positive: str | None = option(
        None,
        "The positive class of two (default: the last in sorted order).",
        metavar="VALUE",
        panel=OPTIONS,
    )
    fewest: int = option(
        0,
        "Leave out classes with fewer rows than this.",
        metavar="N",
        least=0,
        panel=OPTIONS,
    )
    test_share: float = option(
        0.0,
        "Keep this share of every class for testing, in all experiments (default: every "
        "experiment splits the items itself).",
        metavar="SHARE",
        shows_default=False,
        panel=OPTIONS,
    )
    max_train: int = option(
        0,
        "With --test-share: train on at most this many items and test on all others.",
        metavar="N",
        least=0,
        shows_default=False,
        panel=OPTIONS,
    )
    split_seed: int = option(0, "Seed of that split.", metavar="N", least=0, panel=OPTIONS)
    name: str | None = option(
        None, "Name in results (default: the name of the folder).", panel=OPTIONS
    )
    title: str | None = option(None, "Display name (default: the name of the file).", panel=OPTIONS)
    overwrite: bool = option(
        False, "Replace an older data set, once the new one is complete.", panel=OPTIONS
    )

    @property
    def sample_paths(self) -> tuple[Path, ...]:
        """All files and folders of given samples and their prevalences."""
        paths: list[Path] = []
        for value in (self.samples, self.prevalences):
            if value is not None:
                paths += value.values() if isinstance(value, Mapping) else [value]
        return tuple(paths)


@dataclass(frozen=True)
class ImportedColumns:
    """The roles of the columns of a table; those without a role are features.

    label: the column of the classes. text: the column of texts, whose words are the features.
    categories, groups: columns that define shifts. drop: columns to leave out. codes: numeric
    columns that hold category codes, not quantities.
    """

    label: str | None = option(None, "Column of the labels.", metavar="COL", panel=OPTIONS)
    text: str | None = option(
        None, "Column of the texts: their words are used.", metavar="COL", panel=OPTIONS
    )
    categories: str | None = option(
        None,
        "Column that defines covariate shifts; not used as a feature. With arrays: FILE:COL, "
        "FILE.npy, or a column of the table that holds the labels.",
        metavar="COL",
        panel=OPTIONS,
    )
    groups: tuple[str, ...] = option(
        (),
        "Columns that define natural shifts; not used as features.",
        reads="names",
        metavar="A,B",
        panel=OPTIONS,
    )
    drop: tuple[str, ...] = option(
        (), "Columns of the table to leave out.", reads="names", metavar="A,B", panel=OPTIONS
    )
    codes: tuple[str, ...] = option(
        (),
        "Numeric columns that hold category codes, not quantities.",
        reads="names",
        metavar="A,B",
        panel=OPTIONS,
    )


@dataclass(frozen=True)
class ReadingOptions:
    """How files of tables are read; lenient: every line of a CSV file is a row."""

    lenient: bool = option(False, "Treat every line of a CSV table as a row.", panel=OPTIONS)


@dataclass(frozen=True)
class ImportedArrays:
    """Arrays to import in place of a table: features or posteriors, and labels."""

    features: DataFile | None = option(
        None,
        "Instead of TABLE: a matrix as .npz (SciPy sparse), FILE.npz:ARRAY (NumPy), .npy or a "
        "numeric table.",
        parse=DataFile.parse,
        metavar="FILE",
        panel=OPTIONS,
    )
    posteriors: DataFile | None = option(
        None,
        "Instead of TABLE: posteriors of your model, .npy, FILE.npz:ARRAY or a table with columns "
        "named after the classes or in the order of the sorted classes.",
        parse=DataFile.parse,
        metavar="FILE",
        panel=OPTIONS,
    )
    labels: DataFile | None = option(
        None,
        "Labels of an array: TABLE:COL, FILE.npz:ARRAY or a .npy file.",
        parse=DataFile.parse,
        metavar="FILE",
        panel=OPTIONS,
    )


@dataclass(frozen=True)
class ReviewLimits:
    """Which reviews are kept: texts that are long enough, with enough useful votes."""

    min_chars: int = option(
        200, "For reviews: drop shorter texts.", metavar="N", least=0, panel=OPTIONS
    )
    min_useful: int = option(
        1,
        "For reviews: drop those with fewer useful votes (JSON lines only).",
        metavar="N",
        least=0,
        panel=OPTIONS,
    )
