"""For practitioners: prevalences in their own tables, with intervals, verdicts and advice."""

from quantshift.quantify.auditing import AuditSheet, write_audit_sheet
from quantshift.quantify.folder import load_model, save_model
from quantshift.quantify.job import plan, quantify
from quantshift.quantify.model import Model, train
from quantshift.quantify.rendering import render_json, render_text
from quantshift.quantify.result import Quantification

__all__ = [
    "AuditSheet",
    "Model",
    "Quantification",
    "load_model",
    "plan",
    "quantify",
    "render_json",
    "render_text",
    "save_model",
    "train",
    "write_audit_sheet",
]
