"""The items that people are asked to label: how many for a precision, which, and on what sheet."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quantshift.audit import AuditPlan, plan_audit
from quantshift.data.reading import Source, open_table
from quantshift.errors import DataError
from quantshift.files import check_place, write_whole
from quantshift.own_data.auditing import ITEM, numbered
from quantshift.own_data.batches import adapted
from quantshift.own_data.columns import Columns
from quantshift.own_data.model import LOGISTIC, Model
from quantshift.own_data.pool import OnProgress, open_samples, read_pool, silent
from quantshift.own_data.recipe import Recipe, model_for


@dataclass(frozen=True, eq=False)
class AuditSheet:
    """A plan and the row numbers of its items in the sample, from 1, in random order."""

    plan: AuditPlan
    sample: Source
    columns: Columns
    rows: tuple[int, ...]


def draw_audit_sheet(
    sample: Source,
    *,
    precision: float,
    train_on: Source | None = None,
    model: Model | Source | None = None,
    label: str | None = None,
    text: str | None = None,
    features: Sequence[str] = (),
    posteriors: Sequence[str] = (),
    classifier: str = LOGISTIC,
    level: float = 0.95,
    seed: int = 0,
    progress: OnProgress | None = None,
) -> AuditSheet:
    """How many items of the sample to label for a precision, and which."""
    report = progress or silent
    columns = Columns(label, text, tuple(features), tuple(posteriors))
    recipe = Recipe(columns, classifier=classifier, seed=seed)
    fitted = model_for(recipe, train_on, model, report)
    tables = open_samples(sample)
    pool = read_pool(tables, fitted, None, seed=seed, progress=report)
    if not len(pool.numbers):
        raise DataError(f"{tables[0].name}: no items to label")
    p_hat = fitted.quantifier.estimate_items(pool.items).prevalence
    held_out, codes = fitted.held_out
    plan = plan_audit(
        adapted(fitted, fitted.posteriors(pool.items), p_hat),
        precision,
        held_out=(adapted(fitted, held_out, p_hat), codes) if fitted.is_trained else None,
        prevalence=p_hat if fitted.is_trained else None,
        level=level,
        seed=seed,
    )
    return AuditSheet(plan, sample, fitted.columns, tuple(pool.numbers[plan.items].tolist()))


def write_audit_sheet(sheet: AuditSheet, path: str | Path) -> None:
    """The items to label as CSV: their number, an empty label, and all columns of the sample."""
    check_place(Path(path))
    table = open_table(sheet.sample, name="the sample")
    label = sheet.columns.label or "label"
    shown = [name for name in table.columns if name not in (ITEM, label)]
    wanted = dict.fromkeys(sheet.rows)
    cells_of: dict[int, list[Any]] = {}
    for number, *cells in numbered(table.chunks(shown), shown):
        if number in wanted:
            cells_of[number] = cells
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([ITEM, label, *shown])
    writer.writerows([row, "", *cells_of[row]] for row in sheet.rows)
    write_whole(Path(path), text.getvalue().encode())
