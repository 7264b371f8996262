"""The scores of all rows, kept on disk until the shares to which they are corrected are known.

A table may be longer than memory, and can be read only once if it comes from standard input. So the
scores of each chunk are written to a temporary folder while the table is read.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl

from quantshift.base.storage.files import disk_errors
from quantshift.classify.clusters.clusters import Clusters
from quantshift.items.items import Items
from quantshift.quantifying.columns import TableItems
from quantshift.quantifying.training.model import Model

POSTERIOR, KEPT = "posterior {}", "kept {}"
"""Names of the columns of a chunk: of each class, and of each column that is copied."""


class RowSpool:
    """The rows of a call, chunk by chunk; use it in a `with` statement.

    kept: columns of the table that are copied, such as an id.
    """

    def __init__(self, model: Model, kept: Sequence[str] = ()) -> None:
        self.model, self.kept = model, tuple(kept)
        self.n_rows = 0
        self._n_chunks = 0
        self._folder = TemporaryDirectory(prefix="quantshift-rows-")

    def __enter__(self) -> "RowSpool":
        return self

    def __exit__(self, *error: object) -> None:
        self._folder.cleanup()

    def add(self, items: TableItems, batches: Sequence[str], seen: Items) -> None:
        """Keep the scores of a chunk. batches: that of each item; seen: the items, classified."""
        posteriors = self.model.posteriors(seen)
        columns = {
            "batch": pl.Series(batches, dtype=pl.String).cast(pl.Categorical),
            "row": items.rows,
            **{POSTERIOR.format(k): column for k, column in enumerate(posteriors.T)},
            **{KEPT.format(i): items.kept[name] for i, name in enumerate(self.kept)},
        }
        clusters = _clusters(self.model, seen)
        if clusters is not None:
            columns["cluster"] = clusters.codes.astype(np.int32)
            columns["novelty"] = clusters.novelty.astype(np.float32)
        with disk_errors(Path(self._folder.name)):
            pl.DataFrame(columns).write_ipc(self._path(self._n_chunks))
        self._n_chunks += 1
        self.n_rows += len(posteriors)

    def frames(self) -> Iterator[pl.DataFrame]:
        """The chunks in the order in which they were read."""
        for number in range(self._n_chunks):
            yield pl.read_ipc(self._path(number))

    def _path(self, number: int) -> Path:
        return Path(self._folder.name) / f"{number:08}.arrow"


def _clusters(model: Model, seen: Items) -> Clusters | None:
    """The clusters of the items, if the method divides them; None if it does not."""
    features = seen.features if model.guard is None else model.guard.unguarded_items(seen).features
    return features if isinstance(features, Clusters) else None
