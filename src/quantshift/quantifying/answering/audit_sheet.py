"""The items of a sample that people are asked to label: how many, and which ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from quantshift.answers.words import shortened
from quantshift.base.forks import uses_tables
from quantshift.base.nouns import counted
from quantshift.base.options import suggests_arguments, taken
from quantshift.base.progress import OnProgress, silent
from quantshift.base.threads import in_one_thread
from quantshift.errors import DataError, UserError
from quantshift.labelling.audit import AuditPlan, plan_audit
from quantshift.labelling.sheets.drawn import DrawnSheet
from quantshift.quantifying.estimating.batches import adapted
from quantshift.quantifying.estimating.evidence import examine
from quantshift.quantifying.estimating.settling import Question
from quantshift.quantifying.options import (
    AUTO,
    ColumnOptions,
    EstimationOptions,
    ModelRecipe,
    SheetOptions,
    Sources,
    TrainingOptions,
)
from quantshift.quantifying.output.commands import quantify_command
from quantshift.quantifying.reading.pool import Pool, open_samples, read_pool
from quantshift.quantifying.training.model import Model
from quantshift.quantifying.training.recipe import model_for
from quantshift.tables.reading import Source

MORE_LABELS = 2.3
"""How many times as many labels an audit with many looks needs for the same precision: its limits
are about 1.5 times as wide at the same number of labels (`benchmarks/audit_sequential.py`)."""

FEWEST_REPLICATES = 100
"""Of the bootstrap, where only the estimates under each assumption count."""

MORE_ROWS, FEWEST_ROWS = 3, 200
"""Rows on a sheet for many looks: a multiple of the labels that a single look needs by counting,
but no fewer than FEWEST_ROWS. This is enough even if the scores turn out to be useless."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class AuditSheet(DrawnSheet):
    """A plan and its items, in random order.

    sources: what it was drawn from and with.
    sequential: whether it is to be labelled step by step, with a look after each step; it then has
        more rows than the plan asks for.
    recipe: how the model was made. question: the two shares of which the items cannot tell the true
    one, if there are two; n_deciding: about how many labels settle it.
    """

    plan: AuditPlan
    sources: Sources
    sequential: bool = False
    recipe: ModelRecipe | None = None
    question: Question | None = None
    n_deciding: int | None = None

    def __repr__(self) -> str:
        """How many items it has, and of what."""
        return (
            f"<AuditSheet of {counted(len(self.rows), 'item')} to label, of {self.plan.n_items:,} "
            f"in {shortened(self.table.name)}>"
        )

    def next_command(self, out: str | Path) -> str:
        """The command that estimates with the labels on the sheet; empty without input files."""
        return quantify_command(
            self.sources,
            self.recipe or ModelRecipe(ColumnOptions()),
            audit=str(out),
            precision=self.plan.precision if self.sequential else None,
        )


@uses_tables
@suggests_arguments
def plan_quantify(
    sample: Source,
    *,
    precision: float | None = None,
    n_labels: int | None = None,
    sequential: bool = False,
    train: Source | None = None,
    model: Model | Source | None = None,
    label: str | None = None,
    text: str | Sequence[str] = (),
    features: Sequence[str] = (),
    categories: Sequence[str] = (),
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

    Parameters
    ----------
    sample : path or data frame
        The rows without labels.
    precision : float, optional
        Half the width that the interval may have; default: 0.05.
    n_labels : int, optional
        How many items to label, instead of a precision.
    sequential : bool
        Draw more rows, which people label from the top until the interval is narrow enough.
    train, model, label, classifier, text, features, categories, posteriors, drop, id, missing
        As in `quantify`, and so is `lenient`. A model, or labelled rows, make fewer labels do.
    level : float
        Confidence level of the interval.
    seed : int
        Seed of the draw.
    progress : callable, optional
        As in `quantify`.

    Returns
    -------
    AuditSheet
        `save` writes the sheet that people fill in; `quantify(..., audit=...)` reads it back.

    Examples
    --------
    >>> import numpy as np
    >>> import polars as pl
    >>> from quantshift import plan_quantify
    >>> rng = np.random.default_rng(0)
    >>> left = rng.random(400) < 0.5
    >>> known = pl.DataFrame({"visits": rng.normal(8 - 4 * left), "left": left})
    >>> new = known.drop("left").head(300)
    >>> plan_quantify(new, train=known, label="left", classifier="logistic", n_labels=50)
    <AuditSheet of 50 items to label, of 300 in the sample>
    """
    arguments = locals()
    recipe = ModelRecipe(taken(ColumnOptions, arguments), taken(TrainingOptions, arguments))
    return draw_sheet(
        taken(Sources, arguments), recipe, taken(SheetOptions, arguments), level, progress or silent
    )


@in_one_thread
@uses_tables
def draw_sheet(
    sources: Sources,
    recipe: ModelRecipe,
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
    plan = plan_audit(scores, options.target, n_labels=options.n_labels, **plan_options)
    positions = plan.items
    if options.sequential:
        n_rows = max(MORE_ROWS * plan.n_counting, FEWEST_ROWS)
        # With the same seed the longer sheet begins with the same items.
        positions = plan_audit(scores, n_labels=n_rows, **plan_options).items
    question = _question(model, pool, seed)
    return AuditSheet(
        table=tables[0],
        rows=tuple(pool.numbers[positions].tolist()),
        label=model.columns.label or "label",
        content=tuple(model.columns.content),
        inputs=(sources.sample, sources.train, sources.model),
        plan=plan,
        sources=sources,
        sequential=options.sequential,
        recipe=recipe,
        question=question,
        n_deciding=None if question is None else question.labels_needed(scores),
    )


def _question(model: Model, pool: Pool, seed: int) -> Question | None:
    """What the items leave open, for labels to settle."""
    if not model.tests_itself:
        return None
    options = EstimationOptions(replicates=FEWEST_REPLICATES)
    rows = np.arange(len(pool.numbers))
    (evidence,) = examine(model, pool.items, [rows], options, seed=seed)
    return Question.of(evidence, model.classes)
