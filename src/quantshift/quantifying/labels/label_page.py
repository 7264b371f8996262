"""Several labels as one self-contained web page: a row for each, the largest change first."""

from collections.abc import Sequence
from typing import Any

from quantshift.answers.conditions import Condition
from quantshift.answers.labels.labels_page import bar_of, render_labels
from quantshift.answers.marks import legend
from quantshift.answers.merging import unless_about_all
from quantshift.answers.page import data_links
from quantshift.answers.rows import rows_text
from quantshift.answers.words import shortened
from quantshift.quantifying.labels.label_result import AbstractLabelQuantification, LabelBatch
from quantshift.quantifying.labels.label_text import (
    alarms,
    headline,
    label_rows,
    left_out_text,
    marks_in,
    marks_of,
    method_facts,
    shown_findings,
)
from quantshift.quantifying.output.text import advice_of

ABOUT_LABELS = (
    "The largest change from training first, in percentage points. A bar goes from the lower to "
    "the upper limit, dashed if it is a range; its line is the estimate, and the grey line the "
    "share in training."
)
ABOUT_TESTS = (
    "Each label is tested on its own first. If the share of another label has changed, the items "
    "with this label look different too; then the labels are estimated together, if changed shares "
    "of the labels and of their combinations explain the items. If they do not, more has changed, "
    "and the limits are a range."
)


def render_page(
    result: AbstractLabelQuantification,
    *,
    conditions: Sequence[Condition] = (),
    provenance: Sequence[tuple[str, str]] = (),
) -> str:
    """The page as one string of HTML.

    conditions: those that hold are named. provenance: how the result was made, such as the command
    and the seed, each with its name.
    """
    return render_labels(
        result,
        conditions,
        title=headline(result),
        about_labels=ABOUT_LABELS,
        details_title="What the tests say of each label",
        about_details=ABOUT_TESTS,
        columns_title="Columns and rows",
        by=result.first.by or "batch",
        head=label_rows(result, result.batches[-1])[0][:-1],
        batches=[_batch(result, batch) for batch in result.batches],
        downloads=data_links(result.to_json(), result.to_csv()),
        alarms=list(alarms(result)),
        warnings=[
            *left_out_text(result),
            *unless_about_all(shown_findings(result), len(result.labels)),
        ],
        used=result.used,
        left_out_columns=result.left_out_columns,
        rows=[rows_text(r) for r in (result.first.training.rows, *result.sample_rows) if r],
        facts=[*method_facts(result), *provenance],
        legend=legend(mark for batch in result.batches for mark in marks_in(result, batch)),
    )


def _batch(result: AbstractLabelQuantification, batch: LabelBatch) -> dict[str, Any]:
    """A batch as the page shows it."""
    rows = []
    for answer, cells in zip(batch.labels, label_rows(result, batch)[1:], strict=True):
        own_batch = result.answers[answer.label].batches[result.batches.index(batch)]
        rows.append(
            {
                "cells": cells[:-1],
                **bar_of(answer.share, answer.kind, answer.training),
                "marks": marks_of(result, batch, answer),
                "sentences": [text for text in (own_batch.basis, own_batch.verdict) if text],
                "advice": [found.sentence for found in advice_of(own_batch)],
                "command": own_batch.command,
            }
        )
    return {"name": shortened(batch.name), "n_items": f"{batch.n_items:,}", "rows": rows}
