"""`probabilities`: those of a saved model for every row of a table, for other programs.

A sketch, a database or a dashboard needs scores where the model's columns are. Nothing is estimated
or corrected here; `quantify` with `rows` does that.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from quantshift.answers.rows import Rows
from quantshift.base.forks import uses_tables
from quantshift.base.options import as_names, suggests_arguments
from quantshift.base.progress import OnProgress, silent
from quantshift.base.threads import in_one_thread
from quantshift.claims.findings import Finding
from quantshift.errors import UserError
from quantshift.quantifying.reading.pool import open_samples, read_pool
from quantshift.quantifying.reading.spool import RowSpool
from quantshift.quantifying.rows.rows_file import check_rows_file, write_rows
from quantshift.quantifying.training.model import Model
from quantshift.quantifying.training.recipe import given_model
from quantshift.tables.reading import Source


@dataclass(frozen=True)
class WrittenRows:
    """What became of the rows of each table, and what should be known about them."""

    rows: tuple[Rows, ...]
    findings: tuple[Finding, ...]


@in_one_thread
@uses_tables
@suggests_arguments
def probabilities(
    sample: Source | Sequence[Source],
    out: str | Path,
    *,
    model: Model | Source,
    keep: str | Sequence[str] = (),
    lenient: bool = False,
    overwrite: bool = False,
    progress: OnProgress | None = None,
) -> WrittenRows:
    """Write the model's probabilities for every row of a table, or of several, to a CSV file.

    Parameters
    ----------
    sample : path, data frame, or a list of these
        The rows.
    out : path
        The CSV file.
    model : Model or path
        What `train` has returned, or its folder.
    keep : sequence of str
        Columns of the table that are copied, such as an id or a date.
    lenient : bool
        Read a CSV file line by line if its quotes are broken.
    overwrite : bool
        Replace a file that quantshift did not create.
    progress : callable, optional
        As in `quantify`.

    Returns
    -------
    WrittenRows
        How many rows were written and left out.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> import polars as pl
    >>> from quantshift import probabilities, train
    >>> rng = np.random.default_rng(0)
    >>> left = rng.random(400) < 0.5
    >>> known = pl.DataFrame({"visits": rng.normal(8 - 4 * left), "left": left})
    >>> model = train(known, label="left", classifier="logistic")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "rows.csv"
    ...     written = probabilities(known.drop("left").head(3), file, model=model)
    ...     print(pl.read_csv(file).columns[2:5], written.rows[0].used)
    ['probability False', 'probability True', 'predicted'] 3
    """
    if model is None:
        raise UserError("name the folder of a model", arguments=["model"])
    inputs = [sample, model]
    check_rows_file(out, inputs=inputs, overwrite=overwrite)
    tables = open_samples(sample, lenient=lenient)
    fitted = given_model(model)
    with RowSpool(fitted, tuple(dict.fromkeys(as_names(keep)))) as spool:
        pool = read_pool(tables, fitted, None, seed=0, progress=progress or silent, spool=spool)
        write_rows(spool, out, inputs=inputs, overwrite=overwrite)
    return WrittenRows(pool.rows, pool.findings)
