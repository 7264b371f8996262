"""Reviews as a data set: categories, stars and texts, written block by block in bounded memory.

The labels are the stars, whose order has a meaning and which experiments cut at three unless they
say otherwise. Rows keep the order in which they were written.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike, NDArray

from quantshift.base.storage.files import write_errors
from quantshift.errors import DataError, UserError
from quantshift.lab.data.sets.content import BlockDigest, RowCounts
from quantshift.lab.data.sets.dataset import STARS_CUT
from quantshift.lab.data.sets.folder import DataFolder, NewFolder, new_folder, write_items
from quantshift.lab.data.sets.stored_texts import Texts, TextsWriter
from quantshift.tables.columns.names import folder_name

STARS = (1, 2, 3, 4, 5)
OnCounted: TypeAlias = Callable[[int, int], None] | None
"""Takes the number of texts whose words are counted, and the total."""


@contextmanager
def new_reviews(
    out: str | Path,
    categories: Sequence[str],
    *,
    overwrite: bool = False,
    inputs: Iterable[str | Path] = (),
) -> Iterator["ReviewsWriter"]:
    """A data set of reviews to write: blocks of rows by `write`, then `commit`.

        with new_reviews("reviews", ("Books", "Electronics")) as writer:
            writer.write(category_codes, stars, texts)
            data = writer.commit()

    Without a `commit`, everything that was written is removed. With `overwrite`, an older data set
    at `out` stays in place until the new one is complete. A folder that is not a data set, or that
    contains one of the `inputs`, is never replaced.
    """
    if not categories or len(set(categories)) < len(categories):
        raise UserError(f"give at least one category, and each only once: {tuple(categories)}")
    with new_folder(Path(out).absolute(), overwrite=overwrite, inputs=inputs) as folder:
        with write_errors(folder.out):
            texts = TextsWriter(folder.path)
        with texts:
            yield ReviewsWriter(folder, tuple(categories), texts)


@dataclass(eq=False)
class ReviewsWriter:
    """Writes reviews, block by block; see `new_reviews`."""

    folder: NewFolder
    categories: tuple[str, ...]
    texts: TextsWriter
    _codes: list[NDArray[np.int16]] = field(default_factory=list)
    _stars: list[NDArray[np.int8]] = field(default_factory=list)
    _lengths: list[NDArray[np.int32]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._digest = BlockDigest(self.categories)

    def write(self, category_codes: ArrayLike, stars: ArrayLike, texts: Texts) -> None:
        """Append rows; `texts` is a pyarrow string array or a sequence of str."""
        codes, star_values = np.asarray(category_codes, dtype=np.int16), np.asarray(stars)
        array = texts if isinstance(texts, pa.Array) else pa.array(texts, type=pa.large_string())
        column = array.cast(pa.large_string())
        if not len(codes) == len(star_values) == len(column):
            raise DataError(
                f"{len(codes)} category codes, {len(star_values)} stars and {len(column)} texts; "
                "each row needs one of each"
            )
        if len(codes) == 0:
            return
        if codes.min() < 0 or codes.max() >= len(self.categories):
            raise DataError(f"category codes must be from 0 to {len(self.categories) - 1}")
        if not np.isin(star_values, STARS).all():
            raise DataError("stars must be whole numbers from 1 to 5")
        if column.null_count:
            raise DataError("a text is missing; every row needs one")
        self._digest.update(codes, star_values.astype(np.int8), column)
        self._codes.append(codes)
        self._stars.append(star_values.astype(np.int8))
        self._lengths.append(pc.utf8_length(column).to_numpy().astype(np.int32))
        with write_errors(self.folder.out):
            self.texts.write(column)

    def commit(
        self,
        about: Mapping[str, Any] | None = None,
        *,
        name: str | None = None,
        title: str | None = None,
        on_counted: OnCounted = None,
    ) -> DataFolder:
        """Count the words, finish the files and give the folder its final name.

        about: entries of the manifest, such as where the rows come from.
        """
        if not self._stars:
            raise DataError("a data set of reviews needs at least one")
        codes, stars = np.concatenate(self._codes), np.concatenate(self._stars)
        lengths = np.concatenate(self._lengths)
        hash_, out = self._digest.hexdigest(), self.folder.out
        with write_errors(out):
            self.texts.close()
            names = pl.Series(self.categories, dtype=pl.String)[codes.astype(np.int64)]
            write_items(self.folder.path, {"label": pl.Series(stars), "category": names})
        self.folder.count_words(hash_, len(stars), on_counted)
        n_rows = len(stars)
        return self.folder.commit(
            {
                "name": name or folder_name(out.name),
                "title": title or out.name,
                "kind": "text",
                "items": n_rows,
                "unlabelled": 0,
                "rows": asdict(RowCounts(n_rows, n_rows)),
                "label": "stars",
                "category": "category",
                "classes": _counted(stars, [star for star in STARS if star in stars]),
                "ordinal": True,
                "cut_point": STARS_CUT,
                "categories": _described(self.categories, codes, stars, lengths),
                "groups": {},
                "notes": [],
                "streamed": True,
                **(about or {}),
                "hash": hash_,
            }
        )


def _described(
    categories: Sequence[str],
    codes: NDArray[np.int16],
    stars: NDArray[np.int8],
    lengths: NDArray[np.int32],
) -> list[dict[str, Any]]:
    """The categories: their items, those of each number of stars, and how long the texts are."""
    described = []
    for code, name in enumerate(categories):
        own = codes == code
        entry = {
            "name": name,
            "items": int(own.sum()),
            "classes": _counted(stars[own], STARS),
        }
        if own.any():
            p5, median, p95 = np.percentile(lengths[own], [5, 50, 95]).tolist()
            mean = float(lengths[own].mean())
            entry["characters"] = {"mean": mean, "median": median, "5%": p5, "95%": p95}
        described.append(entry)
    return described


def _counted(stars: NDArray[np.int8], levels: Sequence[int]) -> list[dict[str, int]]:
    return [{"name": star, "items": int((stars == star).sum())} for star in levels]
