"""For practitioners: prevalences in their own tables, with intervals, verdicts and advice."""

from typing import TYPE_CHECKING

from quantshift.lazy import lazy_exports
from quantshift.own_data.audit_sheet import AuditSheet, draw_audit_sheet, write_audit_sheet
from quantshift.own_data.job import quantify
from quantshift.own_data.model import Model
from quantshift.own_data.rendering import render_csv, render_text
from quantshift.own_data.result import Quantification
from quantshift.own_data.training import train

if TYPE_CHECKING:
    from quantshift.own_data.folder import load_model, save_model
    from quantshift.own_data.page import render_page
    from quantshift.own_data.schema import json_schema
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "quantshift.own_data.folder": ("load_model", "save_model"),
            "quantshift.own_data.page": ("render_page",),
            "quantshift.own_data.schema": ("json_schema",),
        },
    )

__all__ = [
    "AuditSheet",
    "Model",
    "Quantification",
    "draw_audit_sheet",
    "json_schema",
    "load_model",
    "quantify",
    "render_csv",
    "render_page",
    "render_text",
    "save_model",
    "train",
    "write_audit_sheet",
]
