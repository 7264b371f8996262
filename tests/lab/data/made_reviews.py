"""Reviews that were imported, as plain values."""

from pathlib import Path

from quantshift.lab.data import DataFolder, ReviewFile, import_reviews
from quantshift.lab.data.importing.review_layouts import ReviewTally


def imported(path: Path, **options: object) -> DataFolder:
    """The reviews of a file, all of them kept, in a folder next to it."""
    defaults: dict[str, object] = {"min_chars": 0, "min_useful": 0}
    return import_reviews([ReviewFile("A", path)], path.parent / "out", **{**defaults, **options})


def texts_of(data: DataFolder) -> list[str]:
    return [text for _, block in data.texts.text_blocks(1 << 20) for text in block.to_pylist()]


def rows_of(data: DataFolder) -> list[tuple[int, str]]:
    return list(zip(data.dataset().labels.tolist(), texts_of(data), strict=True))


def tally_of(data: DataFolder) -> ReviewTally:
    """How the rows of all files were used."""
    return sum(
        (ReviewTally(**source["tally"]) for source in data.manifest["sources"]), ReviewTally()
    )
