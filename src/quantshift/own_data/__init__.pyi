from .audit_sheet import (
    AuditSheet as AuditSheet,
    draw_audit_sheet as draw_audit_sheet,
    write_audit_sheet as write_audit_sheet,
)
from .folder import load_model as load_model, save_model as save_model
from .job import quantify as quantify
from .model import Model as Model
from .page import render_page as render_page
from .rendering import render_csv as render_csv, render_text as render_text
from .result import Quantification as Quantification
from .schema import json_schema as json_schema
from .training import train as train
