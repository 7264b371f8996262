"""From tables to sketches: files, databases, and clusters of machines."""

import warnings
from collections.abc import Sequence
from pathlib import Path

from quantshift.base.options import suggests_arguments
from quantshift.errors import UserError
from quantshift.sketches.counting.cluster import sketch_on_cluster
from quantshift.sketches.counting.counter import Counter, ScoreColumns
from quantshift.sketches.counting.source_files import unchanged
from quantshift.sketches.counting.table_rows import count_file
from quantshift.sketches.sketch_table import (
    Sketch,
)
from quantshift.tables.reading import (
    Progress,
    Source,
    check_once,
    copied_files,
    files_of,
    shown_file,
)


@suggests_arguments
def sketch(
    source: Source,
    *,
    score: str | None = None,
    posteriors: Sequence[str] = (),
    batch: str | None = None,
    by: Sequence[str] = (),
    label: str | None = None,
    bins: bool = False,
    cluster: str | None = None,
    progress: Progress = None,
) -> Sketch:
    """Count the rows of tables by batch and score: an estimate needs nothing else.

    Memory does not grow with the number of rows. Warns of files with the same content, and of
    hidden sheets of workbooks, which are not read.

    Parameters
    ----------
    source : path, data frame, or a list of these
        A path, a pattern, a folder, or the URL of a table in a database.
    score : str, optional
        The column with the posterior of the second of two classes.
    posteriors : sequence of str
        Instead of `score`: a column for each class.
    batch : str, optional
        A column whose values are the samples to quantify (default: one sample).
    by : sequence of str
        Further columns to count by.
    label : str, optional
        The column of the true classes, for a sketch that methods are fitted on.
    bins : bool
        Count by cells even if scores are few, as databases do. Labelled rows keep their scores all
        the same, as long as these are not very many.
    cluster : str, optional
        Address of a Dask scheduler whose workers see the same files.
    progress : callable, optional
        Called with what is done, how much of it is done, and how much there is.

    Examples
    --------
    >>> import polars as pl
    >>> from quantshift.sketches import sketch
    >>> rows = pl.DataFrame({"score": [0.1, 0.1, 0.9], "week": ["a", "b", "b"]})
    >>> counts = sketch(rows, score="score", batch="week")
    >>> counts.n_rows, counts.batches
    (3, ['a', 'b'])
    """
    columns = ScoreColumns.of(score, posteriors, batch, by, label)
    sources = source if isinstance(source, list | tuple) else [source]
    files = [file for one in sources for file in files_of(one)]
    if not files:
        raise UserError("no table is named", arguments=["source"])
    check_once(files)
    for found in copied_files(files):
        warnings.warn(found.sentence, stacklevel=2)
    with unchanged([file for file in files if isinstance(file, str | Path)]):
        if cluster is not None:
            return sketch_on_cluster(files, columns, cluster, bins=bins, progress=progress)
        counter = Counter(columns, bins)
        done = 0
        for file in files:
            for n_rows in count_file(counter, file):
                done += n_rows
                if progress is not None:
                    progress(f"counting {shown_file(file)}", done, 0)
        return counter.sketch()
