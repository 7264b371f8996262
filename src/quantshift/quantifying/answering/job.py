"""`quantify`: from a model and unlabelled tables to prevalences with intervals and verdicts.

The work is the same for rows of tables and for counts of scores: `estimate_sample`. All batches
share the bootstrap's replicates of the training side.
"""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from quantshift.answers.conditions import check_conditions
from quantshift.answers.options import PRECISION
from quantshift.base.forks import uses_tables
from quantshift.base.options import suggests_arguments, taken
from quantshift.base.progress import OnProgress, silent
from quantshift.base.threads import in_one_thread
from quantshift.errors import UserError
from quantshift.intervals.targets import ITEMS
from quantshift.quantifying.declaration import Declaration
from quantshift.quantifying.estimating.estimation import estimate_sample
from quantshift.quantifying.estimating.row_sample import RowSample
from quantshift.quantifying.options import (
    AUTO,
    AuditOptions,
    BatchOptions,
    ColumnOptions,
    EstimationOptions,
    Request,
    RowOptions,
    SeveralLabelOptions,
    Sources,
    TrainingOptions,
)
from quantshift.quantifying.output.quantification import Quantification
from quantshift.quantifying.reading.audited import read_audit
from quantshift.quantifying.reading.pool import open_samples
from quantshift.quantifying.reading.spool import RowSpool
from quantshift.quantifying.rows.rows_file import check_rows_file, write_rows
from quantshift.quantifying.training.model import Model
from quantshift.quantifying.training.recipe import model_for
from quantshift.tables.reading import Source

if TYPE_CHECKING:
    from quantshift.quantifying.labels.label_quantification import LabelQuantification


@uses_tables
@suggests_arguments
def quantify(
    sample: Source | Sequence[Source],
    *,
    train: Source | Sequence[Source] | None = None,
    model: Model | Source | None = None,
    label: str | Sequence[str] | None = None,
    separator: str | None = None,
    parents: Mapping[str, str] | Sequence[str] = (),
    text: str | Sequence[str] = (),
    features: str | Sequence[str] = (),
    categories: str | Sequence[str] = (),
    posteriors: str | Sequence[str] = (),
    drop: str | Sequence[str] = (),
    id: str | None = None,  # noqa: A002
    weights: str | None = None,
    by: str | None = None,
    every: str | None = None,
    missing: str | Sequence[str] | None = None,
    positive: str | None = None,
    groups: str | None = None,
    time: str | None = None,
    lenient: bool = False,
    audit: Source | None = None,
    sequential: bool = False,
    precision: float = PRECISION,
    method: str = AUTO,
    classifier: str = AUTO,
    level: float = 0.95,
    replicates: int = 1000,
    simultaneous: bool = False,
    of: str = ITEMS,
    assume: str | None = None,
    columns: str | None = None,
    conditions: Sequence[str] = (),
    rows: str | Path | None = None,
    seed: int = 0,
    progress: OnProgress | None = None,
) -> "Quantification | LabelQuantification":
    """How common each class is in tables without labels, with limits and what they rest on.

    Parameters
    ----------
    sample : path, data frame, or a list of these
        The rows without labels; each is a batch. Paths may be patterns or folders.
    train : path, data frame, or a list of these, optional
        Rows with labels. Only columns that all samples have are used.
    model : Model or path, optional
        Instead of `train`: what `train` has returned, or its folder.
    label : str or list of str, optional
        The column of the labels. Several columns, each of which says whether an item has a label,
        or one with all labels of an item and the `separator` between them: the answer is then one
        for each label, with limits for all of them at once.
    separator : str, optional
        What is between the labels of an item.
    parents : dict or sequence of str
        Labels within others, such as {"hate": "abuse"}, whose shares they never exceed.
    text, features, categories, posteriors, drop, id, weights, missing, positive
        Columns and how they are used, as in `train`.
    by : str, optional
        A column that divides the sample into batches.
    every : {"day", "week", "month"}, optional
        The length of a batch, if `by` is a column of dates.
    groups, time : str, optional
        As in `train`; a model has those it was trained with.
    lenient : bool
        Read a CSV file line by line if its quotes are broken.
    audit : path or data frame, optional
        Items of the sample, chosen at random, with their labels (see `plan_quantify`).
    sequential : bool
        The limits of the audit hold at every look, for audits that go on until the interval is
        narrow enough.
    precision : float
        The half-width at which a sequential audit ends.
    method : str
        "auto" guards against what may have changed; or the name of a quantifier, or your own as
        "FILE.py:Class" or "package.module:Class".
    classifier : str
        As in `train`.
    level : float
        Confidence level of the limits.
    replicates : int
        How many the bootstrap draws for the limits.
    simultaneous : bool
        Limits that hold for all classes of a batch at once (not those of an audit).
    of : {"items", "population"}
        Whose share the limits are for: that of the sample's own items, or that of the population
        they were drawn from.
    assume : {"auto", "prior", "covariate"}, optional
        What you declare: items of a class look as in training ("prior"), or items that look alike
        have the label as often as in training ("covariate"). With "auto" nothing is declared, and
        without evidence the answer is a range.
    columns : {"causes", "effects"}, optional
        Whether the columns are causes of the label, which declares covariate shift, or effects of
        it, which declares prior shift. With neither, what was declared when the model was trained.
    conditions : sequence of str
        Conditions on shares, such as "spam>5%", that you are going to check: one on an unknown
        class is refused before any sample is read.
    rows : path, optional
        A CSV file to write: every row with its probability, as trained and corrected.
    seed : int
        Seed of all draws.
    progress : callable, optional
        Called with what is done, how much of it is done, and how much there is.

    Returns
    -------
    Quantification or LabelQuantification
        Printed, it is what the command prints; `to_frame`, `to_json`, `to_html` and `plot` give the
        rest.

    Examples
    --------
    >>> import numpy as np
    >>> import polars as pl
    >>> from quantshift import quantify
    >>> rng = np.random.default_rng(0)
    >>> left = rng.random(400) < 0.5
    >>> known = pl.DataFrame({"visits": rng.normal(8 - 4 * left), "left": left})
    >>> left = rng.random(300) < 0.2
    >>> new = pl.DataFrame({"visits": rng.normal(8 - 4 * left)})
    >>> answer = quantify(new, train=known, label="left", classifier="logistic", replicates=200)
    >>> answer.headline, answer.can_be_estimated
    ('True', True)
    >>> (share,) = [share for share in answer.batches[0].shares if share.label == "True"]
    >>> bool(share.low < left.mean() < share.high)
    True
    """
    arguments = locals()
    request = Request(
        taken(Sources, arguments),
        taken(ColumnOptions, arguments),
        taken(TrainingOptions, arguments),
        taken(BatchOptions, arguments),
        taken(AuditOptions, arguments),
        taken(EstimationOptions, arguments),
        conditions,
        taken(Declaration, arguments),
        taken(RowOptions, arguments),
        taken(SeveralLabelOptions, arguments),
    )
    return quantify_tables(request, progress or silent)


@in_one_thread
@uses_tables
def quantify_tables(
    request: Request, progress: OnProgress = silent
) -> "Quantification | LabelQuantification":
    """The answer to a call, with its options in groups, for one label or for several."""
    if not has_several_labels(request):
        if request.label_options.parents:
            raise UserError(
                "parents are for several labels; name them, or leave the parents out",
                arguments=["parents", "label"],
            )
        return quantify_one_label(request, progress)
    from quantshift.quantifying.labels.label_job import quantify_labels

    return quantify_labels(request, progress)


def has_several_labels(request: Request) -> bool:
    """Whether a call is about several labels, by its options or by its model."""
    model = request.sources.model
    if request.has_several_labels or model is None or isinstance(model, Model):
        return request.has_several_labels
    # Imported here because most calls have one label.
    from quantshift.quantifying.labels.label_folder import is_label_models

    return is_label_models(model)


@uses_tables
def quantify_one_label(request: Request, progress: OnProgress = silent) -> Quantification:
    """The answer to a call with one label, with its options in groups."""
    file = request.row_file
    if file.rows is not None:
        check_rows_file(file.rows, inputs=request.inputs, overwrite=file.overwrite)
    tables = open_samples(request.sources.sample, lenient=request.columns.lenient)
    model = model_for(request.recipe, request.sources, tables, progress)
    check_conditions(request.conditions, model)
    audited = None
    if request.audit.audit is not None:
        audited = read_audit(
            request.audit.audit,
            model,
            tables,
            request.columns,
            sequential=request.audit.sequential,
        )
    options = request.estimation_with(model.declared)
    copied_columns = [request.columns.id] if request.columns.id is not None else []
    with nullcontext() if file.rows is None else RowSpool(model, copied_columns) as spool:
        sample = RowSample.read(tables, model, request, audited, progress, spool)
        answer = estimate_sample(sample, options, request.audit, request.training.seed, progress)
        if spool is not None and file.rows is not None:
            write_rows(
                spool,
                file.rows,
                corrections=sample.corrections,
                either=sample.either,
                inputs=request.inputs,
                overwrite=file.overwrite,
            )
    return answer
