"""The rates of several labels as one self-contained web page: a row for each."""

from collections.abc import Sequence
from typing import Any

from quantshift.answers.conditions import Condition
from quantshift.answers.labels.labels_page import bar_of, render_labels
from quantshift.answers.merging import unless_about_all
from quantshift.answers.page import data_links
from quantshift.answers.rows import rows_text
from quantshift.answers.words import level_of_each, shortened
from quantshift.judging.labels.label_rates import AbstractLabelJudgement, LabelJudgedBatch
from quantshift.judging.labels.label_rates_text import (
    alarms,
    headline,
    judge_texts,
    label_rows,
    marks_of,
    people_text,
)
from quantshift.judging.output.text import advice_of, design_text

ABOUT_LABELS = (
    "A bar goes from the lower to the upper limit, dashed if it is a range; its line is the "
    "estimate, and the grey line the share by the verdicts alone."
)
ABOUT_JUDGES = "Each label is judged on its own, by its verdicts and the labels that people gave."


def render_page(
    result: AbstractLabelJudgement,
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
        details_title="Judges and labels",
        about_details=ABOUT_JUDGES,
        columns_title="Rows",
        by=result.by or "batch",
        head=label_rows(result, result.batches[-1])[0][:-1],
        batches=[_batch(result, batch) for batch in result.batches],
        downloads=data_links(result.to_json(), result.to_csv()),
        alarms=list(alarms(result)),
        warnings=unless_about_all(result.findings, len(result.labels)),
        used=[],
        left_out_columns=[],
        rows=[rows_text(rows) for rows in result.first.rows],
        facts=[
            ("Limits", level_of_each(result.level_for_all)),
            *provenance,
        ],
        legend=[],
    )


def _batch(result: AbstractLabelJudgement, batch: LabelJudgedBatch) -> dict[str, Any]:
    """A batch as the page shows it."""
    rows = []
    for rate, cells in zip(batch.labels, label_rows(result, batch)[1:], strict=True):
        overall = result.answers[rate.label].overall
        judged = "; ".join(judge_texts(result, rate.label))
        people = people_text(result.answers[rate.label])
        rows.append(
            {
                "cells": cells[:-1],
                **bar_of(rate.share, rate.kind, rate.naive),
                "marks": marks_of(result, rate),
                "sentences": [
                    *([f"Judge: {judged}."] if judged else []),
                    *([f"People: {people}."] if people else []),
                    f"Labels: {design_text(overall)}.",
                    f"Assumed: {overall.assumed}.",
                ],
                "advice": [found.sentence for found in advice_of(overall)],
                "command": "",
            }
        )
    return {"name": shortened(batch.name), "n_items": f"{batch.n_items:,}", "rows": rows}
