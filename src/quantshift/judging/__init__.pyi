from .answering.job import judge as judge
from .plans.sheet import (
    LabelSheet as LabelSheet,
    plan_judge as plan_judge,
)
from .output.judgement import Judgement as Judgement, json_schema as json_schema
