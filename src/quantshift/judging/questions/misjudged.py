"""The labelled items on which a judge and people disagree, and a file of them."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from quantshift.base.storage.csv_text import csv_text
from quantshift.base.storage.files import head
from quantshift.judging.estimating.judge_run import JudgeRun
from quantshift.judging.reading.inputs import ReadItems
from quantshift.judging.result import MisjudgedItem
from quantshift.tables.columns.cell_names import as_texts
from quantshift.tables.files.spreadsheet_cells import escaped

HEADER = ("row", "id", "judge", "verdict", "label")


def misjudged_items(run: JudgeRun) -> Iterator[MisjudgedItem]:
    """Those of each judge; verdicts without a class, or on undecided items, are not wrong."""
    table = run.table
    yield from _misjudged(run, table.items.only_decided(), table.rows[0].source)
    if table.external is not None:
        yield from _misjudged(run, table.external, table.rows[1].source)


def _misjudged(run: JudgeRun, items: ReadItems, source: str) -> Iterator[MisjudgedItem]:
    meaning = run.meaning
    if items.verdicts is None:
        return
    for j, judge in enumerate(run.judges):
        for i in items.labelled.nonzero()[0].tolist():
            verdict, label = int(items.verdicts[i, j]), int(items.labels[i])
            if meaning.says[j][verdict] in (label, -1):
                continue
            yield MisjudgedItem(
                source=source,
                row=int(items.numbers[i]),
                id=None if items.ids is None else items.ids[i],
                judge=judge,
                verdict=meaning.verdicts[j][verdict],
                label=meaning.classes[label],
            )


def misjudged_csv(run: JudgeRun, left_out: Sequence[str | None]) -> str:
    """A line for each of them and each judge, with the columns of the table.

    left_out: columns of the table that would come twice, those of ids and labels.
    """
    beside = {
        name: as_texts(column).to_list()
        for name, column in run.table.beside.items()
        if name not in left_out
    }
    positions = {number: i for i, number in enumerate(run.table.items.numbers.tolist())}
    names = (f"{name} (column)" if name in HEADER else name for name in beside)
    lines = [[*HEADER, *map(escaped, names)]]
    for item in _misjudged(run, run.table.items.only_decided(), ""):
        cells = [item.row, item.id or "", item.judge, item.verdict, item.label]
        cells += [texts[positions[item.row]] or "" for texts in beside.values()]
        lines.append([escaped(str(cell)) for cell in cells])
    return csv_text(lines)


def is_misjudged_csv(path: Path) -> bool:
    """Whether `misjudged_csv` made this file."""
    return head(path).startswith(",".join(HEADER).encode())
