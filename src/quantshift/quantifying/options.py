"""The options of `quantify`, `train` and `plan_quantify`, declared once.

They are the keyword arguments of these functions and the options of their commands.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from quantshift.answers.options import (
    LENIENT,
    LEVEL,
    MISSING,
    POSITIVE,
    PRECISION,
    SEED,
    WHOSE_SHARE,
    AmountOptions,
)
from quantshift.base.domains import SharedSeed, check_value
from quantshift.base.options import COLUMNS, LABELS, OUTPUT, TABLES, as_names, option, split_names
from quantshift.errors import UserError, unknown_name
from quantshift.intervals.targets import ITEMS, SHARES_OF
from quantshift.quantifying.declaration import NOTHING_DECLARED, Declaration
from quantshift.tables.periods import EVERY
from quantshift.tables.reading import Source

AUTO = "auto"
"""The value of options whose choice is left to quantshift."""


@dataclass(frozen=True)
class Sources:
    """The tables of a call.

    sample: one or several. train: the labelled table; only columns that all samples have are used.
    model: a `Model` or its folder, instead of a table.
    """

    sample: Source | Sequence[Source] | None = option(
        None,
        "The unlabelled table; each file is a batch. A file, several (repeat the option), a "
        "pattern such as 'week-*.csv', a folder of Parquet files, or - for standard input.",
        reads="files",
        metavar="FILE",
        panel=TABLES,
    )
    train: Source | Sequence[Source] | None = option(
        None,
        "The labelled table to learn from. A file, several (repeat the option), a pattern such as "
        "'part-*.csv', a folder of Parquet files, or - for standard input.",
        reads="files",
        metavar="FILE",
        panel=TABLES,
    )
    model: Any = option(
        None,
        "Instead of --train: a model made with `quantshift train`.",
        reads="file",
        metavar="DIR",
        panel=TABLES,
    )


def _one_or_several(written: str) -> str | tuple[str, ...]:
    """The name of a column, or those of several."""
    names = split_names(written)
    return names[0] if len(names) == 1 else names


@dataclass(frozen=True)
class ColumnOptions:
    """What the columns of the tables are.

    label: the column of the labels; if there are several, each saying whether an item has a label,
    they are `indicators`, and `label` is None. text, features: the columns of items; with neither,
    all that can be used. categories: those of numbers that are codes. posteriors: those of the
    user's own model, instead. drop: columns that are not used; columns of row ids, of weights and
    of the groups or times that are left out in turn are not used either. missing: cells that mean
    no label, in addition to empty ones. positive: the class whose share is shown first. A single
    name is accepted in place of a tuple of names.
    """

    label: str | None = option(
        None,
        "Column of the labels. Several (A,B,...): a column of 0 and 1, yes and no or true and "
        "false for each label that an item can have; see also --separator.",
        parse=_one_or_several,
        metavar="COLUMN",
        panel=COLUMNS,
    )
    text: tuple[str, ...] = option(
        (),
        "Columns of texts. Without --features only these are used.",
        reads="names",
        metavar="A,B,...",
        panel=COLUMNS,
    )
    features: tuple[str, ...] = option(
        (),
        "Columns of numbers, categories, booleans and dates. Without --text only these are used; "
        "with neither, all columns that can be.",
        reads="names",
        metavar="A,B,...",
        panel=COLUMNS,
    )
    categories: tuple[str, ...] = option(
        (),
        "Columns of numbers that are codes of categories (1 = north, 2 = south), not amounts.",
        reads="names",
        metavar="A,B,...",
        panel=COLUMNS,
    )
    posteriors: tuple[str, ...] = option(
        (),
        "Columns of posteriors of your own model; --train must then hold items that the model was "
        "not trained on.",
        reads="names",
        metavar="A,B,...",
        panel=COLUMNS,
    )
    drop: tuple[str, ...] = option(
        (), "Columns not to use.", reads="names", metavar="A,B,...", panel=COLUMNS
    )
    id: str | None = option(
        None,
        "Column that identifies the items; never used as a feature.",
        metavar="COLUMN",
        panel=COLUMNS,
    )
    weights: str | None = option(
        None,
        "Column of weights: an item of weight 2 counts as two.",
        metavar="COLUMN",
        panel=COLUMNS,
    )
    missing: tuple[str, ...] | None = option(None, MISSING)
    positive: str | None = option(
        None,
        replace(
            POSITIVE,
            help="The class reported first (default: the one called yes, true, 1 or positive, else "
            "the rarest in training).",
        ),
    )
    groups: str | None = option(
        None,
        "Column of regions or sites in the labelled table, to learn from. Each one is left out in "
        "turn: the error that every method would have made on it is reported, and five or more of "
        "them teach how far to go from the training share. Never used as a feature.",
        metavar="COLUMN",
        panel=COLUMNS,
    )
    time: str | None = option(
        None,
        "The same for a column of dates, years or numbered periods: each period is estimated from "
        "those before it. Not together with --groups.",
        metavar="COLUMN",
        panel=COLUMNS,
    )
    lenient: bool = option(False, LENIENT)
    indicators: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.label is not None and not isinstance(self.label, str):
            self._set_labels(as_names(self.label))
        for name in ("text", "features", "categories", "posteriors", "drop"):
            object.__setattr__(self, name, as_names(getattr(self, name)))
        if self.missing is not None:
            object.__setattr__(self, "missing", as_names(self.missing))
        if self.groups is not None and self.time is not None:
            raise UserError(
                "learn from groups or from time, not from both; give one column",
                arguments=["groups", "time"],
            )
        scores = self.posteriors
        twice = next((name for name in scores if scores.count(name) > 1), None)
        if twice is not None:
            raise UserError(
                f"the column {twice!r} is named twice; name one column of posteriors for each "
                "class",
                arguments=["posteriors"],
            )
        if self.weights in scores:
            raise UserError(
                f"the column {self.weights!r} is one of posteriors, and cannot be the weights too",
                arguments=["posteriors", "weights"],
            )

    @property
    def left_out_by(self) -> str | None:
        """The column of the groups, or of the times, that are left out in turn."""
        return self.groups if self.time is None else self.time

    @property
    def label_columns(self) -> tuple[str, ...]:
        """The columns of the labels, however many."""
        return self.indicators or (() if self.label is None else (self.label,))

    def _set_labels(self, names: tuple[str, ...]) -> None:
        """Set the label columns: several are `indicators`, a single one is `label`."""
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise UserError(f"the label {twice!r} is named twice", arguments=["label"])
        if not names:
            raise UserError("name the column of the labels", arguments=["label"])
        object.__setattr__(self, "label", names[0] if len(names) == 1 else None)
        object.__setattr__(self, "indicators", names if len(names) > 1 else ())

    def check_one_label(self) -> None:
        """Refuse several labels."""
        if self.indicators:
            raise UserError(
                f"a model has one label at a time, not {len(self.indicators)}; name one",
                arguments=["label"],
            )


@dataclass(frozen=True)
class SeveralLabelOptions:
    """How several labels are written, and which of them are parts of others.

    separator: what is between the labels of an item, if one column holds all of them. parents: the
    label that each label is within, as a mapping or as texts such as "hate=abuse".
    """

    separator: str | None = option(
        None,
        "The label column holds any number of labels with this between them: 'spam; abuse'. An "
        "empty cell: no label.",
        metavar="';'",
        panel=COLUMNS,
    )
    parents: tuple[str, ...] = option(
        (),
        "Labels that only items with another label have; their shares never exceed it.",
        reads="names",
        metavar="CHILD=PARENT,...",
        panel=COLUMNS,
    )

    def __post_init__(self) -> None:
        parents = self.parents
        if isinstance(parents, Mapping):
            parents = tuple(f"{child}={parent}" for child, parent in parents.items())
        object.__setattr__(self, "parents", as_names(parents))
        if self.separator is None:
            return
        # Labels are read without the blanks around them, but a blank can be the separator too.
        separator = self.separator.strip() or self.separator[:1]
        if not separator:
            raise UserError(
                "the separator is empty; give what is between the labels of a cell, such as ';'",
                arguments=["separator"],
            )
        if any(sign.isalnum() for sign in separator):
            raise UserError(
                f"the separator {self.separator!r} has letters or digits, which are parts of names "
                "too; separate labels by a sign such as ';'",
                arguments=["separator"],
            )
        object.__setattr__(self, "separator", separator)


@dataclass(frozen=True)
class TrainingOptions:
    """How a model is made."""

    method: str = option(
        AUTO,
        "auto, a name from `quantshift list quantifiers`, or a class of your own: "
        "package.module:Class or FILE.py:Class.",
    )
    classifier: str = option(
        AUTO,
        "auto (the better of logistic regression and boosting; for texts logistic), logistic, "
        "naive-bayes, forest, boosting, or package.module:name of any scikit-learn classifier or "
        "pipeline.",
    )
    seed: int = option(0, SEED)

    def __post_init__(self) -> None:
        check_value("seed", self.seed, SharedSeed)


@dataclass(frozen=True)
class ModelRecipe:
    """How a model is to be made.

    by: the column that divides samples into batches; it is not used as a feature, nor are columns
    that are tied to it. every: day, week or month, if it holds dates. declared: what the model
    keeps, for samples about which nothing else is declared.
    """

    columns: ColumnOptions
    training: TrainingOptions = TrainingOptions()
    by: str | None = None
    declared: Declaration = NOTHING_DECLARED
    every: str | None = None


@dataclass(frozen=True)
class Grouping:
    """A column that divides rows, by its values or, if it holds dates, by day, week or month."""

    column: str
    every: str | None = None


@dataclass(frozen=True)
class BatchOptions:
    """How the rows of a sample are divided into batches.

    by: a column; every: day, week or month, if it holds dates.
    """

    by: str | None = option(
        None, "Split the sample into batches by this column.", metavar="COLUMN", panel=TABLES
    )
    every: str | None = option(
        None,
        "Length of a batch, if --by is a column of dates.",
        metavar="day|week|month",
        panel=TABLES,
    )

    def __post_init__(self) -> None:
        if self.every is None:
            return
        if self.by is None:
            raise UserError(
                "`every` needs the column of the dates: give `by` too", arguments=["by"]
            )
        if self.every not in EVERY:
            raise unknown_name("stretch of time", self.every, EVERY)

    @property
    def grouping(self) -> Grouping | None:
        """How rows are divided; None if each table is a batch."""
        return None if self.by is None else Grouping(self.by, self.every)


@dataclass(frozen=True)
class AuditOptions:
    """Labels of random items of the sample.

    audit: the table of these items. sequential: its limits hold at every look, for audits that
    continue until the interval is at most `precision` to either side.
    """

    audit: Source | None = option(
        None,
        "Random items of the sample with labels (see `quantshift plan quantify`).",
        reads="file",
        metavar="FILE",
        panel=TABLES,
    )
    sequential: bool = option(
        False,
        "Check the audit while labelling continues: the confidence interval stays valid at every "
        "look, and the output says how many more labels are needed.",
        panel=TABLES,
    )
    precision: float = option(
        PRECISION,
        "With --sequential: target half-width (margin of error) at which to stop.",
        metavar="0.03",
        panel=TABLES,
    )

    def __post_init__(self) -> None:
        if self.sequential and self.audit is None:
            raise UserError(
                "a sequential audit needs labels: give the audited table", arguments=["audit"]
            )
        if not 0 < self.precision < 1:
            raise UserError(
                f"precision must be between 0 and 1, got {self.precision}", arguments=["precision"]
            )

    @property
    def target(self) -> float | None:
        """The half-width at which a sequential audit stops; None if it is looked at once."""
        return self.precision if self.sequential else None


@dataclass(frozen=True)
class SheetOptions(AmountOptions):
    """How many items to label, and whether people look at the answer while they label.

    sequential: draw more rows, which people label from the top until the interval is narrow enough.
    """

    sequential: bool = option(
        False,
        "Label some, check, label more: a longer sheet for `quantify --sequential`, whose interval "
        "is valid at every look.",
        panel=LABELS,
    )


@dataclass(frozen=True)
class EstimationOptions:
    """How shares and their limits are estimated.

    replicates: how many the bootstrap draws for the intervals. simultaneous: intervals that hold
    for all classes of a batch at once (not those of an audit). of: whose share an interval is for,
    "items" (of the sample) or "population" (that they were drawn from). declared:
    what the user declared about the shift, now or when the model was trained.
    """

    level: float = option(0.95, LEVEL)
    replicates: int = option(1000, "Bootstrap replicates.", least=100)
    simultaneous: bool = option(
        False, "Intervals that are valid for all classes at once (three or more)."
    )
    of: str = option(ITEMS, WHOSE_SHARE)
    declared: Declaration = NOTHING_DECLARED

    def __post_init__(self) -> None:
        if self.of not in SHARES_OF:
            raise unknown_name("value of `of`", self.of, SHARES_OF)


@dataclass(frozen=True)
class RowOptions:
    """A file with a line for every row of the sample.

    overwrite: replace a file that quantshift did not create.
    """

    rows: str | Path | None = option(
        None,
        "Also write a table with a line for every row: its id, its probability as trained and "
        "corrected to the estimated share, the predicted class, and a flag if it is unlike "
        "training.",
        reads="file",
        metavar="FILE",
        panel=OUTPUT,
    )
    overwrite: bool = False


@dataclass(frozen=True, eq=False)
class Request:
    """A call of `quantify`, with its options in groups.

    conditions: on shares, such as "spam>5%", that the caller is going to check; one on an unknown
    class is refused before any sample is read.
    """

    sources: Sources
    columns: ColumnOptions = field(default_factory=ColumnOptions)
    training: TrainingOptions = field(default_factory=TrainingOptions)
    batches: BatchOptions = field(default_factory=BatchOptions)
    audit: AuditOptions = field(default_factory=AuditOptions)
    estimation: EstimationOptions = field(default_factory=EstimationOptions)
    conditions: Sequence[str] = ()
    declared: Declaration = NOTHING_DECLARED
    row_file: RowOptions = field(default_factory=RowOptions)
    label_options: SeveralLabelOptions = field(default_factory=SeveralLabelOptions)

    @property
    def has_several_labels(self) -> bool:
        """Whether items can have any number of labels."""
        return bool(self.columns.indicators) or self.label_options.separator is not None

    @property
    def inputs(self) -> list[Any]:
        """What is read, and so never written."""
        return [*vars(self.sources).values(), self.audit.audit]

    @property
    def recipe(self) -> ModelRecipe:
        """How the model is to be made."""
        return ModelRecipe(
            self.columns, self.training, self.batches.by, self.declared, self.batches.every
        )

    def estimation_with(self, before: Declaration) -> EstimationOptions:
        """How shares are estimated. before: what was declared when the model was trained."""
        return replace(self.estimation, declared=self.declared.or_else(before))
