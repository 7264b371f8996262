"""A model for each of several labels, from one reading of the table and one preparation.

Each is the model of that label alone: whether an item has it, from the same rows and columns.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from quantshift.answers.columns import LeftOutColumn
from quantshift.answers.rows import Rows
from quantshift.base.forks import uses_tables
from quantshift.base.nouns import counted
from quantshift.base.options import UnknownArgumentError, option_texts, taken
from quantshift.base.progress import OnProgress, silent, within
from quantshift.base.threads import in_one_thread
from quantshift.claims.findings import Finding
from quantshift.errors import DataError, UserError, unknown_name
from quantshift.multilabel.label_tables import LabelTable
from quantshift.prevalence.weights import check_total
from quantshift.quantifying.columns import Columns, ItemColumns, candidates, read_items
from quantshift.quantifying.declaration import Declaration
from quantshift.quantifying.findings import SampleFindings
from quantshift.quantifying.options import (
    ColumnOptions,
    Grouping,
    ModelRecipe,
    SeveralLabelOptions,
    TrainingOptions,
)
from quantshift.quantifying.targets.cells import AbstractLabelCells, LabelsRead, label_cells
from quantshift.quantifying.targets.parents import Parents
from quantshift.quantifying.training.learning import Labelled, prepare
from quantshift.quantifying.training.model import Model
from quantshift.quantifying.training.train import (
    FEWEST_OF_A_CLASS,
    check_recipe,
    drawn_rows,
    model_from,
    nothing_to_work_on,
    rows_of,
    with_content,
)
from quantshift.quantifying.training.training_warnings import decimal_commas
from quantshift.tables.reading import OpenTable, Source, open_table

NAMED = 5
"""Labels that a message names."""

LABEL_COLUMN = "holds labels"
"""Why a column of labels is not used."""


@dataclass(frozen=True, eq=False)
class TargetModels:
    """The models of several targets.

    left_out: labels of a column of many that are too rare to learn, or that every row has, and why.
    """

    models: tuple[Model, ...]
    parents: Parents
    left_out: Mapping[str, str] = field(default_factory=dict)

    @property
    def targets(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(model.headline for model in self.models)

    def not_learnt(self) -> Iterator[Finding]:
        """What is said of the labels that are left out."""
        for label, reason in self.left_out.items():
            yield SampleFindings.LABEL_NOT_LEARNT.found(label=label, reason=reason)


@dataclass(frozen=True, eq=False)
class _Read:
    """What was read of a labelled table."""

    data: Labelled
    labels: LabelTable
    rows: Rows
    findings: list[Finding]
    left_out: Mapping[str, str]


@uses_tables
def train_target_models(
    source: Source | Sequence[Source],
    *,
    label: str | Sequence[str],
    separator: str | None = None,
    parents: Mapping[str, str] | Sequence[str] = (),
    progress: OnProgress | None = None,
    **options: Any,
) -> TargetModels:
    """Models of several labels from a labelled table, for `quantify(model=...)`.

    label, separator, parents: as for `quantify`. The other arguments are those of `train`.
    """
    given = {"label": label, "separator": separator, "parents": parents, **options}
    groups: tuple[Any, ...] = (ColumnOptions, TrainingOptions, Declaration)
    accepted = [name for group in (*groups, SeveralLabelOptions) for name in option_texts(group)]
    for name in options:
        if name not in accepted:
            error = unknown_name("argument of train_target_models():", name, accepted)
            raise UnknownArgumentError(error)
    columns, training, declared = (taken(group, given) for group in groups)
    recipe = ModelRecipe(columns, training, declared=declared)
    return train_targets_from(source, recipe, taken(SeveralLabelOptions, given), progress or silent)


@in_one_thread
@uses_tables
def train_targets_from(
    source: Source | Sequence[Source],
    recipe: ModelRecipe,
    labels: SeveralLabelOptions,
    progress: OnProgress = silent,
) -> TargetModels:
    """Models of several labels, with the options in groups."""
    table = open_table(source, name="the training table", lenient=recipe.columns.lenient)
    return train_targets(table, recipe, labels, progress=progress)


def train_targets(
    table: OpenTable,
    recipe: ModelRecipe,
    labels: SeveralLabelOptions,
    *,
    offered: set[str] | None = None,
    tied: Sequence[str] = (),
    progress: OnProgress,
) -> TargetModels:
    """The models of the labels of an open table; `offered` and `tied` as for `train_on_table`."""
    check_recipe(recipe)
    if recipe.columns.posteriors or recipe.columns.positive is not None:
        raise UserError(
            "columns of posteriors and a positive class belong to one label; leave them out",
            arguments=["posteriors", "positive"],
        )
    cells = label_cells(recipe.columns, labels)
    read = _read(table, recipe, cells, (offered, tied), progress)
    names = read.labels.names.tolist()
    parents = Parents.parse(labels.parents, names)
    parents.check(table.name, read.labels)
    progress("preparing the columns", 0, 0)
    data = read.data
    made = prepare(table, data.columns, data.options, data.items.values)
    models = []
    for j, name in enumerate(names):
        of_label = within(f"label {j + 1} of {len(names)} ({name})", progress)
        own = replace(
            data,
            options=_alone(data.options, name),
            classes=(f"not {name}", name),
            codes=read.labels.has[:, j].astype(np.int64),
            prepared=replace(made, columns=_columns_of(made.columns, name, cells)),
        )
        models.append(model_from(own, read.rows, read.findings, recipe, of_label))
    return TargetModels(tuple(models), parents, read.left_out)


def _alone(options: ColumnOptions, name: str) -> ColumnOptions:
    """The options of one label."""
    return replace(options, label=name, indicators=(), positive=name)


def _columns_of(columns: Columns, name: str, cells: AbstractLabelCells) -> Columns:
    """The columns of the model of one label; those of labels are not used."""
    others = (LeftOutColumn(n, LABEL_COLUMN) for n in cells.columns if n != name)
    return replace(columns, label=name, left_out=(*columns.left_out, *others))


def _read(
    table: OpenTable,
    recipe: ModelRecipe,
    cells: AbstractLabelCells,
    samples: tuple[set[str] | None, Sequence[str]],
    progress: OnProgress,
) -> _Read:
    """The labelled items. samples: the columns that all samples have, and those tied to batches."""
    options = recipe.columns
    offered, tied = samples
    names, left_out = candidates(options, table, by=recipe.by, offered=offered, tied=tied)
    if not names:
        raise nothing_to_work_on(table, left_out, offered)
    to_read = ItemColumns(
        names,
        weights=options.weights,
        grouping=None if options.left_out_by is None else Grouping(options.left_out_by),
        kept=cells.columns,
    )
    labelled = (cells.labelled(table, part) for part in read_items(table, to_read))
    items = drawn_rows(table, labelled, recipe.training.seed, progress)
    if not len(items.rows):
        columns = ", ".join(map(repr, cells.columns[:NAMED]))
        raise DataError(f"{table.name}: no row has both labels in {columns} and content")
    if items.weights is not None and items.weights.any():
        check_total(items.weights, f"{table.name}: the weights")
    items, columns_used = with_content(table, items, options, left_out)
    labels_read = cells.read(table, items)
    labels, unlearnt = _learnable(table, labels_read, cells)
    codes = np.zeros(len(items.rows), dtype=np.int64)
    data = Labelled(table, columns_used, options, recipe.training, (), items, codes)
    findings = [*table.findings, *labels_read.findings, *decimal_commas(columns_used.features)]
    return _Read(data, labels, rows_of(table, items), findings, unlearnt)


def _learnable(
    table: OpenTable, labels_read: LabelsRead, cells: AbstractLabelCells
) -> tuple[LabelTable, dict[str, str]]:
    """The labels that can be learnt, and the others, which are an error if they were named."""
    labels = labels_read.table
    names = labels.names.tolist()
    counts = dict(zip(names, labels.has.sum(axis=0).tolist(), strict=True)) | dict(labels_read.rare)
    reasons = {name: reason for name, n in counts.items() if (reason := _why_not(n, len(labels)))}
    learnable = [name for name in names if name not in reasons]
    if reasons and (not learnable or len(cells.columns) > 1):
        shown = "; ".join(f"{name!r} ({reason})" for name, reason in list(reasons.items())[:NAMED])
        more = f" and {len(reasons) - NAMED:,} more" if len(reasons) > NAMED else ""
        of_column = f" of column {cells.columns[0]!r}" if len(cells.columns) == 1 else ""
        raise DataError(
            f"{table.name}: labels{of_column} that cannot be learnt: {shown}{more}; leave "
            f"them out, or add rows (at least {FEWEST_OF_A_CLASS} with a label and as many "
            "without it)",
            arguments=["label"],
        )
    if not learnable:
        raise DataError(
            f"{table.name}: no row has a label in column {cells.columns[0]!r}; name the column of "
            "the labels",
            arguments=["label"],
        )
    chosen = np.array([names.index(name) for name in learnable])
    return LabelTable(labels.has[:, chosen], labels.names[chosen]), reasons


def _why_not(n: int, n_rows: int) -> str:
    """Why a label of n rows cannot be learnt; empty if it can."""
    if n == n_rows:
        return "every row has it"
    if n < FEWEST_OF_A_CLASS:
        return f"{counted(n, 'row')} with it" if n else "no row has it"
    if n_rows - n < FEWEST_OF_A_CLASS:
        return f"{counted(n_rows - n, 'row')} without it"
    return ""
