from .job import judge as judge
from .plans.sheet import (
    LabelSheet as LabelSheet,
    plan_labels as plan_labels,
)
from .result import Judgement as Judgement, json_schema as json_schema
