from .answering.audit_sheet import (
    AuditSheet as AuditSheet,
    plan_quantify as plan_quantify,
)
from .answering.job import quantify as quantify
from .labels.label_folder import (
    load_label_models as load_label_models,
    save_label_models as save_label_models,
)
from .labels.label_quantification import (
    LabelQuantification as LabelQuantification,
    label_json_schema as label_json_schema,
)
from .labels.label_training import (
    LabelModels as LabelModels,
    train_label_models as train_label_models,
)
from .output.quantification import Quantification as Quantification, json_schema as json_schema
from .rows.probabilities import WrittenRows as WrittenRows, probabilities as probabilities
from .training.folder import load_model as load_model, save_model as save_model
from .training.model import Model as Model
from .training.train import train as train
