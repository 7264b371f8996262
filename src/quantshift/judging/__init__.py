"""The true rate behind the verdicts of an LLM judge or any model, from a few human labels."""

from typing import TYPE_CHECKING

from quantshift.judging.job import judge
from quantshift.judging.rendering import render_text
from quantshift.judging.result import Judgement
from quantshift.judging.sheet import LabelSheet, plan_labels, write_label_sheet
from quantshift.lazy import lazy_exports
from quantshift.own_data.rendering import render_csv

if TYPE_CHECKING:
    from quantshift.judging.page import render_page
    from quantshift.judging.schema import json_schema
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "quantshift.judging.page": ("render_page",),
            "quantshift.judging.schema": ("json_schema",),
        },
    )

__all__ = [
    "Judgement",
    "LabelSheet",
    "json_schema",
    "judge",
    "plan_labels",
    "render_csv",
    "render_page",
    "render_text",
    "write_label_sheet",
]
