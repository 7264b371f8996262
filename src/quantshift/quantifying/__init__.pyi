from .audits.audit_sheet import (
    AuditSheet as AuditSheet,
    draw_audit_sheet as draw_audit_sheet,
)
from .estimating.job import quantify as quantify
from .labels.label_folder import (
    load_label_models as load_label_models,
    save_label_models as save_label_models,
)
from .labels.label_result import (
    LabelQuantification as LabelQuantification,
    label_json_schema as label_json_schema,
)
from .labels.label_training import (
    LabelModels as LabelModels,
    train_label_models as train_label_models,
)
from .output.result import Quantification as Quantification, json_schema as json_schema
from .rows.scoring import Scored as Scored, score as score
from .training.folder import load_model as load_model, save_model as save_model
from .training.model import Model as Model
from .training.train import train as train
