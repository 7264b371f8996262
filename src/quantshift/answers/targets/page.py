"""The page of an answer about several targets: in every batch a row for each."""

from collections.abc import Sequence
from typing import Any

from quantshift.answers.conditions import Condition, failures_of
from quantshift.answers.marks import legend
from quantshift.answers.merging import unless_about_all
from quantshift.answers.page import data_links, render_answer
from quantshift.answers.rows import besides_rows, rows_text
from quantshift.answers.shell.shell import Charts
from quantshift.answers.targets.result import TargetsBatch, TargetShare
from quantshift.answers.targets.text import (
    Result,
    alarms,
    headline,
    left_out_columns,
    target_rows,
)
from quantshift.answers.words import about_limits, level_of_each, shortened


def render_page(
    result: Result,
    *,
    conditions: Sequence[Condition] = (),
    provenance: Sequence[tuple[str, str]] = (),
) -> str:
    """The page as one string of HTML.

    conditions: those that hold are named. provenance: how the result was made, such as the command
    and the seed, each with its name.
    """
    first = result.first
    batches = [_batch(result, batch) for batch in result.batches]
    return render_answer(
        __package__,
        charts=Charts.NONE,
        title=headline(result),
        lead=about_limits(result.level),
        numbers=[],
        data={},
        about_labels=(
            f"The largest difference from the share {first.in_reference} first, in percentage "
            "points. A bar goes from the lower to the upper limit, dashed if it is a range; its "
            "line is the estimate, and the grey line that share."
        ),
        about_details=first.about_targets,
        by=first.by or "batch",
        head=target_rows(result, result.batches[-1])[0][:-1],
        batches=batches,
        downloads=data_links(result.to_json(), result.to_csv()),
        alarms=alarms(result),
        crossed=failures_of(conditions, result),
        warnings=unless_about_all(besides_rows(result.findings), len(result.targets)),
        used=first.used,
        left_out_columns=left_out_columns(result),
        rows=[rows_text(rows) for rows in first.all_rows],
        facts=[("Limits", level_of_each(result.level_for_all)), *provenance],
        legend=legend(mark for batch in batches for row in batch["rows"] for mark in row["marks"]),
    )


def _batch(result: Result, batch: TargetsBatch) -> dict[str, Any]:
    """A batch as the page shows it."""
    rows = []
    for share, cells in zip(batch.shares, target_rows(result, batch)[1:], strict=True):
        answer, own = result.answers[share.label], result.own_batch(batch, share.label)
        told = own if own in answer.told else answer.told[0]
        rows.append(
            {
                "cells": cells[:-1],
                **bar_of(share),
                "marks": own.marks,
                "facts": [*own.facts(), *answer.facts()],
                "advice": [found.sentence for found in told.advice],
                "command": told.command,
            }
        )
    return {"name": shortened(batch.name), "n_items": f"{batch.n_items:,}", "rows": rows}


def bar_of(share: TargetShare) -> dict[str, Any]:
    """A share and its limits as a bar, in percent; grey: where its reference is, if anywhere."""
    return {
        "is_range": share.kind.is_range and not share.either,
        "bars": [(100 * part.low, 100 * part.width) for part in share.parts],
        "middle": None if share.estimate is None else 100 * share.estimate,
        "grey": None if share.reference is None else 100 * share.reference,
    }
