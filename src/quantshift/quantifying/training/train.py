"""From a labelled table to a model: which columns are used, and what is learnt from them.

Columns become numbers (`quantshift.tables.preparation`), from which a classifier computes
posteriors; users can also give posteriors of their own model. By default (`auto`) the quantifier is
GuardedSLD or, for given posteriors, SLD; every exported quantifier is available by name.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from quantshift.answers.rows import NO_CONTENT, NOT_DRAWN, Rows
from quantshift.answers.words import shortened
from quantshift.base.forks import uses_tables
from quantshift.base.nouns import counted
from quantshift.base.options import suggests_arguments, taken
from quantshift.base.progress import OnProgress, silent
from quantshift.base.seeding import generator
from quantshift.base.threads import in_one_thread
from quantshift.base.types import Codes
from quantshift.claims.findings import Finding
from quantshift.errors import DataError, UserError, unknown_name
from quantshift.measuring.columns.training_profile import POSTERIOR, training_profile
from quantshift.prevalence.weights import check_total
from quantshift.quantifiers.base.estimator import AbstractQuantifier
from quantshift.quantifiers.base.guarding import AbstractGuarded
from quantshift.quantifying.columns import (
    NO_ITEMS,
    Columns,
    ItemColumns,
    LeftOutColumn,
    TableItems,
    candidates,
    empty_rows,
    parts,
    read_items,
    total,
)
from quantshift.quantifying.declaration import Declaration, makes_its_own_assumption
from quantshift.quantifying.options import (
    AUTO,
    ColumnOptions,
    Grouping,
    ModelRecipe,
    TrainingOptions,
)
from quantshift.quantifying.training import training_warnings
from quantshift.quantifying.training.classifiers import check_classifier
from quantshift.quantifying.training.learning import Labelled, learn
from quantshift.quantifying.training.methods import (
    FEATURES,
    POSTERIORS,
    method_class,
    reason_for,
)
from quantshift.quantifying.training.model import (
    Model,
    Training,
    posterior_columns,
)
from quantshift.quantifying.training.reservoir import Reservoir
from quantshift.tables.columns.cell_names import names_of
from quantshift.tables.columns.kinds import (
    CONSTANT,
    Column,
    choose,
    text_column,
)
from quantshift.tables.columns.spelling import mistyped, usual_spellings
from quantshift.tables.reading import OpenTable, Source, open_table

MOST_CLASSES = 50
MOST_TRAINING = 100_000
"""From longer tables this many rows are drawn at random; more would cost time and gain little."""

FEWEST_OF_A_CLASS = 5
"""The smallest number of folds needs this many rows of every class."""


@uses_tables
@suggests_arguments
def train(
    source: Source,
    *,
    label: str,
    text: str | Sequence[str] = (),
    features: Sequence[str] = (),
    categories: str | Sequence[str] = (),
    posteriors: Sequence[str] = (),
    drop: Sequence[str] = (),
    id: str | None = None,  # noqa: A002
    weights: str | None = None,
    missing: Sequence[str] | None = None,
    positive: str | None = None,
    groups: str | None = None,
    time: str | None = None,
    lenient: bool = False,
    method: str = AUTO,
    classifier: str = AUTO,
    assume: str | None = None,
    columns: str | None = None,
    seed: int = 0,
    progress: OnProgress | None = None,
) -> Model:
    """A model from a labelled table, for `quantify` and `probabilities`.

    Parameters
    ----------
    source : path, data frame, or a list of these
        Rows with labels.
    label : str
        The column of the labels.
    text, features : str or sequence of str
        The columns that items are made of, texts or others; with neither, all columns that can be
        used. `model.columns` lists them, how they are used, and why others are not.
    categories : str or sequence of str
        Columns of numbers that are codes of categories, not amounts.
    posteriors : sequence of str
        Columns with posteriors of your own model instead, for items it was not trained on.
    drop : sequence of str
        Columns that are not used.
    id, weights : str, optional
        Columns that are not features: what identifies a row, and how many items it stands for.
    missing : sequence of str, optional
        Cells that mean no label, besides empty ones (default: NA, N/A, n/a, NaN, NULL, null, None,
        nan).
    positive : class, optional
        The class whose share is shown first.
    groups : str, optional
        A column of regions, sites or the like: each is left out in turn, and `model.groups` has the
        errors of the methods on it.
    time : str, optional
        The same for a column of dates, years or numbered periods, each of which is estimated from
        those before it.
    lenient : bool
        Read a CSV file line by line if its quotes are broken.
    method : str
        "auto", a name of the catalogue, or your own quantifier as "FILE.py:Class" or
        "package.module:Class"; a model with one of your own cannot be saved.
    classifier : str
        "auto", "logistic", "naive-bayes", "forest", "boosting", or "package.module:name" of any
        scikit-learn classifier.
    assume, columns : str, optional
        What is declared about every sample, unless `quantify` is given something else.
    seed : int
        Seed of folds and classifiers.
    progress : callable, optional
        As in `quantify`.

    Returns
    -------
    Model
        `quantshift.quantifying.save_model` writes it to a folder, which `quantify` also takes.

    Examples
    --------
    >>> import numpy as np
    >>> import polars as pl
    >>> from quantshift import train
    >>> rng = np.random.default_rng(0)
    >>> left = rng.random(400) < 0.5
    >>> known = pl.DataFrame({"visits": rng.normal(8 - 4 * left), "left": left})
    >>> model = train(known, label="left", classifier="logistic")
    >>> [column.name for column in model.columns.features], model.headline
    (['visits'], 'True')
    """
    arguments = locals()
    recipe = ModelRecipe(
        taken(ColumnOptions, arguments),
        taken(TrainingOptions, arguments),
        declared=taken(Declaration, arguments),
    )
    return train_from(source, recipe, progress or silent)


@in_one_thread
@uses_tables
def train_from(
    source: Source | Sequence[Source], recipe: ModelRecipe, progress: OnProgress = silent
) -> Model:
    """A model from a labelled table, with its options in groups."""
    recipe.columns.check_one_label()
    if recipe.columns.label is None:
        raise UserError("name the column of the labels", arguments=["label"])
    table = open_table(source, name="the training table", lenient=recipe.columns.lenient)
    return train_on_table(table, recipe, progress=progress)


def train_on_table(
    table: OpenTable,
    recipe: ModelRecipe,
    *,
    offered: set[str] | None = None,
    tied: Sequence[str] = (),
    progress: OnProgress = silent,
) -> Model:
    """A model from an open table.

    offered: the columns that all samples have; others are not used, nor are those that are tied to
    the batches, unless they are named.
    """
    check_recipe(recipe)
    return model_from(*_labelled(table, recipe, offered, tied, progress), recipe, progress)


def model_from(
    data: Labelled,
    rows: Rows,
    findings: Sequence[Finding],
    recipe: ModelRecipe,
    progress: OnProgress,
) -> Model:
    """A model from labelled items. rows: of the table; findings: about it."""
    options, training = data.options, recipe.training
    input_kind = POSTERIORS if options.posteriors else FEATURES
    progress(f"training on {counted(len(data.codes), 'row')}", 0, 0)
    learnt = learn(data)
    base = learnt.base
    is_right = base.held_out_posteriors_.argmax(axis=1) == base.held_out_codes_
    accuracy = float(np.average(is_right, weights=base.held_out_.weights))
    doubt = training_warnings.doubt_about_accuracy(accuracy)
    groups = None
    if options.left_out_by is not None:
        # Imported here because most calls have no groups.
        from quantshift.quantifying.training.left_out_groups import left_out_errors

        groups = left_out_errors(data, options.left_out_by, progress)
    reason = reason_for(training.method, input_kind)
    return Model(
        columns=learnt.columns,
        classes=data.classes,
        preparation=learnt.preparation,
        scorer=learnt.scorer,
        base=base,
        quantifier=learnt.quantifier,
        method=type(learnt.quantifier).__name__,
        reason=reason.format(parts=parts(topics=bool(learnt.columns.text))),
        method_is_declared=training.method != AUTO,
        training=Training(
            rows=rows,
            counts=dict(zip(data.classes, np.bincount(data.codes).tolist(), strict=True)),
            classifier=learnt.classifier,
            accuracy=accuracy,
            seed=training.seed,
            undecodable=data.items.undecodable,
            findings=(*findings, *learnt.findings, *doubt),
        ),
        positive=options.positive,
        groups=groups,
        declared=recipe.declared,
        profile=training_profile(
            data.items.values,
            data.codes,
            learnt.columns.features or [Column(n, POSTERIOR, 0) for n in options.posteriors],
            n_classes=len(data.classes),
            weights=data.items.weights,
            seed=training.seed,
        ),
    )


def check_recipe(recipe: ModelRecipe) -> None:
    """Refuse, before a table is read, unknown methods and declarations that a method ignores."""
    check_classifier(recipe.training.classifier)
    input_kind = POSTERIORS if recipe.columns.posteriors else FEATURES
    method: type[AbstractQuantifier] = method_class(recipe.training.method, input_kind)
    by_default = recipe.training.method == AUTO or issubclass(method, AbstractGuarded)
    if recipe.declared.assumption != AUTO and not by_default:
        raise makes_its_own_assumption(method.__name__)


def _labelled(
    table: OpenTable,
    recipe: ModelRecipe,
    offered: set[str] | None,
    tied: Sequence[str],
    progress: OnProgress,
) -> tuple[Labelled, Rows, list[Finding]]:
    """The labelled items, what became of the rows, and what is odd about them."""
    options, seed = recipe.columns, recipe.training.seed
    assert options.label is not None
    names, left_out = candidates(options, table, by=recipe.by, offered=offered, tied=tied)
    if not names:
        raise nothing_to_work_on(table, left_out, offered)
    to_read = ItemColumns(
        names,
        posteriors=bool(options.posteriors),
        label=options.label,
        missing=options.missing,
        weights=options.weights,
        grouping=None if options.left_out_by is None else Grouping(options.left_out_by),
    )
    items = drawn_rows(table, read_items(table, to_read), seed, progress)
    if not len(items.rows):
        raise _nothing_labelled(table, options.label)
    if items.weights is not None and items.weights.any():
        check_total(items.weights, f"{table.name}: the weights")
    counts = Counter(items.labels)
    preferred = (
        [] if options.positive is None or options.positive not in counts else [options.positive]
    )
    usual = usual_spellings(counts, preferred)
    items = replace(items, labels=items.labels.replace(usual))
    doubts = training_warnings.doubts_about_labels(items.label_forms, counts, usual)
    findings = [*table.findings, *doubts]
    if options.posteriors:
        columns = posterior_columns(options, left_out)
    else:
        items, columns = with_content(table, items, options, left_out)
        findings += training_warnings.decimal_commas(columns.features)
    classes, codes = _encoded(table, options.label, items.labels, options.positive)
    data = Labelled(table, columns, options, recipe.training, classes, items, codes)
    return data, rows_of(table, items), findings


def with_content(
    table: OpenTable,
    items: TableItems,
    options: ColumnOptions,
    left_out: Sequence[LeftOutColumn],
) -> tuple[TableItems, Columns]:
    """The items that are not empty, and the columns that they are made of."""
    if options.time is not None and not (options.text or options.features):
        # Imported here because most calls have no times.
        from quantshift.quantifying.training.tied import rising_columns

        rising = rising_columns(items.values, items.groups)
        reason = f"rises with {options.time!r}: new rows are always beyond its range"
        items = replace(items, values=items.values.drop(rising))
        left_out = (*left_out, *(LeftOutColumn(name, reason) for name in rising))
    columns = _chosen(table, items.values, options, left_out)
    content = ~empty_rows(items.values, columns.features)
    n_empty = len(content) - int(content.sum())
    reasons = total([items.left_out, {NO_CONTENT: n_empty} if n_empty else {}])
    return replace(items.take(np.flatnonzero(content)), left_out=reasons), columns


def _chosen(
    table: OpenTable, frame: pl.DataFrame, options: ColumnOptions, left_out: Sequence[LeftOutColumn]
) -> Columns:
    """The columns that are used, by what their cells hold."""
    others = frame.drop(options.text, strict=False)
    _check_categories(others, options)
    named_columns = (*options.features, *options.categories)
    usable, unfit = choose(others, codes=options.categories, named=named_columns)
    chosen = {column.name: column for column in usable}
    chosen |= {name: text_column(frame[name]) for name in options.text}
    reasons = (*left_out, *(LeftOutColumn(column.name, column.reason) for column in unfit))
    features = tuple(chosen[name] for name in frame.columns if name in chosen)
    if not features:
        raise nothing_to_work_on(table, reasons)
    return Columns(
        label=options.label,
        features=features,
        id=options.id,
        weights=options.weights,
        left_out=reasons,
        constants={
            column.name: names_of(frame[column.name]).drop_nulls()[0]
            for column in unfit
            if column.reason == CONSTANT
        },
    )


def _check_categories(frame: pl.DataFrame, options: ColumnOptions) -> None:
    """Refuse categories that are not among the columns that items are made of."""
    unknown = next((name for name in options.categories if name not in frame.columns), None)
    if unknown is not None:
        raise UserError(
            f"column {unknown!r} is named as a category, and is not among the columns that are "
            "used; name it as a feature too, or leave it out",
            arguments=["categories", "features"],
        )


def drawn_rows(
    table: OpenTable, parts: Iterable[TableItems], seed: int, progress: OnProgress
) -> TableItems:
    """The labelled rows, at most MOST_TRAINING drawn at random."""
    rng = generator(seed, purpose="training rows")
    reservoir = Reservoir(NO_ITEMS, rng, most=MOST_TRAINING)
    left_out: list[Mapping[str, int]] = []
    undecodable = 0
    for part in parts:
        one_batch = np.zeros(len(part.rows), dtype=np.int64)
        left_out.append(part.left_out)
        undecodable += part.undecodable
        if len(part.rows):
            reservoir.add(part, one_batch, part.rows, one_batch - 1)
        progress(f"reading {table.name}", int(reservoir.sizes.sum()), 0)
    kept = reservoir.kept().values
    undrawn = int(reservoir.sizes.sum()) - len(kept.rows)
    reasons = total([*left_out, {NOT_DRAWN: undrawn} if undrawn else {}])
    return replace(kept, left_out=reasons, undecodable=undecodable)


def rows_of(table: OpenTable, items: TableItems) -> Rows:
    """How many rows of the training table were read, used and left out."""
    n_read = len(items.rows) + sum(items.left_out.values())
    return Rows(table.name, n_read, len(items.rows), dict(items.left_out))


def nothing_to_work_on(
    table: OpenTable, left_out: Sequence[LeftOutColumn], offered: Collection[str] | None = None
) -> DataError:
    """The error of a table without columns that items can be made of.

    offered: the columns that all samples have, if known.
    """
    if offered and not set(offered) & set(table.columns):
        names = ", ".join(map(shortened, sorted(offered)[:5]))
        return DataError(
            f"{table.name}: the sample has none of its columns, but {names}; are they tables of "
            "the same kind, with their names in the first row?"
        )
    reasons = "; ".join(f"{column.name} ({column.reason})" for column in left_out[:5])
    return DataError(
        f"{table.name}: no column can be used: {reasons or 'there are none'}; name those to use",
        arguments=["text", "features"],
    )


def _nothing_labelled(table: OpenTable, label: str) -> DataError:
    return DataError(f"{table.name}: no row has both a label in column {label!r} and content")


def _encoded(
    table: OpenTable, label: str, labels: pl.Series, positive: str | None
) -> tuple[tuple[str, ...], Codes]:
    """The sorted classes, with the positive one of two last, and the code of every label."""
    if not len(labels):
        raise _nothing_labelled(table, label)
    classes, codes, counts = np.unique(
        labels.to_numpy().astype(str), return_inverse=True, return_counts=True
    )
    if len(classes) == 1:
        raise DataError(
            f"{table.name}: all labels in column {label!r} are {str(classes[0])!r}; at least two "
            "classes are needed"
        )
    if len(classes) > MOST_CLASSES:
        raise DataError(
            f"{table.name}: column {label!r} has {len(classes)} different values; is it the label? "
            f"(at most {MOST_CLASSES} classes)"
        )
    if counts.min() < FEWEST_OF_A_CLASS:
        rare = int(counts.argmin())
        name = str(classes[rare])
        near = mistyped(dict(zip(classes.tolist(), counts.tolist(), strict=True))).get(name)
        cure = "add some, merge the class or leave it out"
        if near is not None:
            cure = f"if it is {near!r}, correct it; otherwise {cure}"
        raise DataError(
            f"{table.name}: class {name!r} has {counted(int(counts[rare]), 'labelled row')}, at "
            f"least {FEWEST_OF_A_CLASS} are needed; {cure}",
            arguments=["missing"],
        )
    if positive is not None and positive not in classes.tolist():
        raise unknown_name(f"class in column {label!r}:", positive, classes.tolist())
    if positive is not None and len(classes) == 2 and classes[0] == positive:
        classes, codes = classes[::-1], 1 - codes
    return tuple(classes.tolist()), codes.astype(np.int64)
