from .answering.job import judge as judge
from .labels.label_judgement import (
    LabelJudgement as LabelJudgement,
    label_json_schema as label_json_schema,
)
from .plans.sheet import (
    LabelSheet as LabelSheet,
    plan_judge as plan_judge,
)
from .output.judgement import Judgement as Judgement, json_schema as json_schema
