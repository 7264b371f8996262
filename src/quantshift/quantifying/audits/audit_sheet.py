"""The items that people are asked to label: how many, which ones, and the sheet to fill in."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from quantshift.answers.words import shortened
from quantshift.base.files import check_output, write_output
from quantshift.base.forks import uses_tables
from quantshift.base.nouns import counted
from quantshift.base.options import suggests_arguments, taken
from quantshift.base.progress import OnProgress, silent
from quantshift.errors import DataError, UserError
from quantshift.labelling.audit import AuditPlan, plan_audit
from quantshift.quantifying.audits.auditing import content_check
from quantshift.quantifying.audits.sheet_columns import (
    CHECK,
    ITEM,
    OWN,
    PLACE,
    PLAN,
    PROBABILITY,
    in_the_table,
    named_plan,
    row_check,
)
from quantshift.quantifying.columns import Columns
from quantshift.quantifying.estimating.batches import adapted
from quantshift.quantifying.options import (
    AUTO,
    ColumnOptions,
    Recipe,
    SheetOptions,
    Sources,
    TrainingOptions,
)
from quantshift.quantifying.output.commands import quantify_command
from quantshift.quantifying.reading.pool import open_samples, read_pool
from quantshift.quantifying.training.model import Model
from quantshift.quantifying.training.recipe import model_for
from quantshift.tables.formats import known_formats
from quantshift.tables.formats.table_format import Rows
from quantshift.tables.reading import OpenTable, Source, open_table
from quantshift.tables.spreadsheet_cells import as_text, escaped

MORE_LABELS = 2.3
"""How many times as many labels an audit with many looks needs for the same precision: its limits
are about 1.5 times as wide at the same number of labels (`benchmarks/audit_sequential.py`)."""

MORE_ROWS, FEWEST_ROWS = 3, 200
"""Rows on a sheet for many looks: a multiple of the labels that a single look needs by counting,
but no fewer than FEWEST_ROWS. This is enough even if the scores turn out to be useless."""


@dataclass(frozen=True, eq=False, repr=False)
class AuditSheet:
    """A plan and the row numbers of its items in the sample, from 1, in random order.

    sources: what it was drawn from and with.
    sequential: whether it is to be labelled step by step, with a look after each step; it then has
        more rows than the plan asks for.
    recipe: how the model was made.
    """

    plan: AuditPlan
    sample: OpenTable
    columns: Columns
    rows: tuple[int, ...]
    sources: Sources
    sequential: bool = False
    recipe: Recipe | None = None

    def __repr__(self) -> str:
        """How many items it has, and of what."""
        return (
            f"<AuditSheet of {counted(len(self.rows), 'item')} to label, of {self.plan.n_items:,} "
            f"in {shortened(self.sample.name)}>"
        )

    def next_command(self, out: str | Path) -> str:
        """The command that estimates with the labels on the sheet; empty without input files."""
        return quantify_command(
            self.sources,
            self.recipe or Recipe(ColumnOptions()),
            audit=str(out),
            precision=self.plan.precision if self.sequential else None,
        )


@uses_tables
@suggests_arguments
def draw_audit_sheet(
    sample: Source,
    *,
    precision: float | None = None,
    labels: int | None = None,
    sequential: bool = False,
    train: Source | None = None,
    model: Model | Source | None = None,
    label: str | None = None,
    text: str | Sequence[str] = (),
    features: Sequence[str] = (),
    posteriors: Sequence[str] = (),
    drop: Sequence[str] = (),
    id: str | None = None,  # noqa: A002 - the name of the option
    missing: Sequence[str] | None = None,
    lenient: bool = False,
    classifier: str = AUTO,
    level: float = 0.95,
    seed: int = 0,
    progress: OnProgress | None = None,
) -> AuditSheet:
    """How many items of the sample to label for a given precision, and which ones.

    labels: how many, instead of a precision (default: 0.05). sequential: draw more rows, which
    people label from the top until the interval is narrow enough. The other arguments are those of
    `train`.
    """
    given = locals()
    recipe = Recipe(taken(ColumnOptions, given), taken(TrainingOptions, given))
    return draw_sheet(
        taken(Sources, given), recipe, taken(SheetOptions, given), level, progress or silent
    )


@uses_tables
def draw_sheet(
    sources: Sources,
    recipe: Recipe,
    options: SheetOptions,
    level: float = 0.95,
    progress: OnProgress = silent,
) -> AuditSheet:
    """How many items of the sample to label, and which ones, with the options in groups."""
    seed = recipe.training.seed
    tables = open_samples(sources.sample, lenient=recipe.columns.lenient)
    if len(tables) > 1:
        raise UserError(f"an audit is drawn from one table, not from {len(tables)}; name one")
    model = model_for(recipe, sources, tables, progress)
    pool = read_pool(tables, model, None, seed=seed, progress=progress)
    if not len(pool.numbers):
        raise DataError(f"{tables[0].name}: no items to label")
    p_hat = model.quantifier.estimate_items(pool.items).prevalence
    held_out, codes = model.held_out
    scores = adapted(model, model.posteriors(pool.items), p_hat)
    plan_options: dict[str, Any] = {
        "held_out": (adapted(model, held_out, p_hat), codes) if model.is_trained else None,
        "prevalence": p_hat if model.is_trained else None,
        "level": level,
        "seed": seed,
    }
    plan = plan_audit(scores, options.target, n_labels=options.labels, **plan_options)
    positions = plan.items
    if options.sequential:
        n_rows = max(MORE_ROWS * plan.n_counting, FEWEST_ROWS)
        # With the same seed the longer sheet begins with the same items.
        positions = plan_audit(scores, n_labels=n_rows, **plan_options).items
    return AuditSheet(
        plan,
        tables[0],
        model.columns,
        tuple(pool.numbers[positions].tolist()),
        sources,
        options.sequential,
        recipe,
    )


def check_sheet(
    path: str | Path, *, inputs: Iterable[object] = (), overwrite: bool = False
) -> None:
    """Check the path of a sheet before it is drawn: a sheet with labels is never replaced.

    inputs: what it is drawn from; overwrite: replace any other file, even one with labels.
    """
    _writer(Path(path))
    check_output(path, inputs=inputs, overwrite=overwrite, ours=is_blank_sheet)


@uses_tables
def write_audit_sheet(sheet: AuditSheet, path: str | Path, *, overwrite: bool = False) -> None:
    """Write the items to label as CSV, TSV or Parquet.

    The columns are the item number, an empty label, all columns of the sample, the plan, the place
    in the order of labelling and a check of all these. Cells that a spreadsheet would take for
    formulas are escaped; `quantify` undoes this when it reads the sheet.
    """
    write_sheet(
        path,
        sheet.sample,
        sheet.rows,
        label=sheet.columns.label or "label",
        content=sheet.columns.content,
        inputs=[sheet.sources.sample, sheet.sources.train, sheet.sources.model],
        overwrite=overwrite,
    )


def write_sheet(
    path: str | Path,
    table: OpenTable,
    rows: Sequence[int],
    *,
    label: str,
    content: Sequence[str],
    labels: Mapping[int, str] = MappingProxyType({}),
    probabilities: Sequence[str] | None = None,
    inputs: Iterable[object] = (),
    overwrite: bool = False,
) -> None:
    """Write a sheet of the given rows of a table, numbered from 1, in the given order.

    content: the columns that an item's check is computed from. labels: those of rows that have one.
    probabilities: with which the rows were chosen, if it is not the same for all. Columns of the
    table that are called like one of the sheet's are shown under another name.
    """
    check_sheet(path, inputs=inputs, overwrite=overwrite)
    chosen = () if probabilities is None else (PROBABILITY,)
    own = {*OWN, *chosen}
    shown = [name for name in table.columns if name != label]
    wanted = set(rows)
    cells_of: dict[int, tuple[Sequence[str | None], str]] = {}
    with closing(table.chunks(table.columns)) as chunks:
        for chunk in chunks:
            numbers = np.arange(chunk.first, chunk.first + len(chunk))
            kept_positions = [i for i, row in enumerate(numbers.tolist()) if row in wanted]
            checks = content_check(chunk.columns[kept_positions].select(content))
            cells = as_text(chunk.columns[kept_positions].select(shown)).rows()
            for i, row, check in zip(kept_positions, cells, checks, strict=True):
                cells_of[int(numbers[i])] = row, check
    chances = [None] * len(rows) if probabilities is None else probabilities
    plan = named_plan(
        [str(item), cells_of[item][1], chance or ""]
        for item, chance in zip(rows, chances, strict=True)
    )
    lines = []
    for place, (item, chance) in enumerate(zip(rows, chances, strict=True), start=1):
        shown_cells, digest = cells_of[item]
        line = [str(item), labels.get(item), *shown_cells]
        if chance is not None:
            line.append(chance)
        line += [plan, str(place), row_check(digest, plan, item, place, chance)]
        lines.append([None if cell is None else escaped(cell) for cell in line])
    names = [in_the_table(name) if name in own else name for name in shown]
    header = [escaped(name) for name in (ITEM, label, *names, *chosen, PLAN, PLACE, CHECK)]
    encoded = _writer(Path(path))(Path(path).suffix.lower(), header, lines)
    write_output(path, encoded, inputs=inputs, overwrite=overwrite, ours=is_blank_sheet)


def is_blank_sheet(path: Path) -> bool:
    """Whether this is a sheet that quantshift has drawn; raises an error if it holds labels."""
    try:
        table = open_table(path)
        if len(table.columns) < 3 or (table.columns[0], table.columns[-1]) != (ITEM, CHECK):
            return False
        label = table.columns[1]
        with closing(table.chunks([label])) as chunks:
            n_labels = sum(int(chunk.columns[label].is_not_null().sum()) for chunk in chunks)
    except (UserError, OSError):
        return False
    if n_labels:
        raise UserError(
            f"{path} holds {n_labels} labels; name another file, or overwrite it",
            arguments=["out", "overwrite"],
        )
    return True


def _writer(path: Path) -> Callable[[str, Sequence[str], Rows], bytes]:
    """What turns header and rows into the content of a sheet with this name."""
    known = {e: f.write for f in known_formats() if f.write is not None for e in f.endings}
    writer = known.get(path.suffix.lower())
    if writer is None:
        raise UserError(f"{path}: a sheet is written as one of {', '.join(known)}; rename it")
    return writer
