"""Sketches by the workers of a Dask cluster: each counts parts, and the counts are added."""

from collections.abc import Sequence
from concurrent.futures import CancelledError
from pathlib import Path

from quantshift import __version__
from quantshift.base.dask_cluster import (
    check_workers,
    dask_client,
    no_scheduler_left,
    problem_of_version,
    unlogged,
)
from quantshift.errors import UserError
from quantshift.sketches.counting.counter import Counter, ScoreColumns
from quantshift.sketches.counting.table_rows import count_file, stored_rows
from quantshift.sketches.sketch_table import Sketch
from quantshift.tables.files.places import is_piped
from quantshift.tables.reading import Progress, Source

PART_ROWS = 4_000_000
"""Rows that one task counts, in whole groups, if a file is read as it is stored."""


def sketch_on_cluster(
    files: Sequence[Source],
    columns: ScoreColumns,
    address: str,
    *,
    bins: bool = False,
    progress: Progress = None,
) -> Sketch:
    """Count the files on the workers of the scheduler at `address`, which must see them."""
    tasks = [task for file in files for task in _tasks(file)]
    counter = Counter(columns, bins)
    with unlogged(), dask_client(address) as client:
        check_workers(client, address, problem_of_version, __version__)
        from distributed import KilledWorker
        from distributed.client import as_completed
        from distributed.comm import CommClosedError

        futures = [
            client.submit(count_part, path, groups, columns, bins, pure=False)
            for path, groups in tasks
        ]
        try:
            for done, future in enumerate(as_completed(futures), start=1):
                counter.add_counts(future.result().table)
                future.release()
                if progress is not None:
                    progress("counting on the cluster", done, len(tasks))
        except KilledWorker:
            raise UserError(
                "workers of the cluster died while counting (out of memory?); nothing was written"
            ) from None
        except (CommClosedError, CancelledError):
            raise no_scheduler_left(address, "nothing was written") from None
    return counter.sketch()


def count_part(
    path: str, groups: Sequence[int] | None, columns: ScoreColumns, bins: bool
) -> Sketch:
    """Runs on a worker: the counts of a part of a file."""
    counter = Counter(columns, bins)
    for _n_rows in count_file(counter, path, groups):
        pass  # parts are counted as they are read; a worker reports no progress
    return counter.sketch()


def _tasks(file: Source) -> list[tuple[str, list[int] | None]]:
    """The parts of a file: some of its groups of rows, or the whole."""
    if not isinstance(file, str | Path) or is_piped(file):
        raise UserError(
            "the workers of a cluster can only read files; store the table in a file that they see"
        )
    path = str(Path(file).resolve()) if "://" not in str(file) else str(file)
    stored = stored_rows(file)
    if stored is None:
        return [(path, None)]
    parts: list[tuple[str, list[int] | None]] = []
    groups: list[int] = []
    rows = 0
    for group, size in enumerate(stored.sizes):
        groups.append(group)
        rows += size
        if rows >= PART_ROWS or group == len(stored.sizes) - 1:
            parts.append((path, groups))
            groups, rows = [], 0
    return parts or [(path, None)]
