from .job import judge as judge
from .output.page import render_page as render_page
from .output.schema import json_schema as json_schema
from .output.text import render_csv as render_csv, render_text as render_text
from .plans.sheet import (
    LabelSheet as LabelSheet,
    plan_labels as plan_labels,
    write_label_sheet as write_label_sheet,
)
from .result import Judgement as Judgement
