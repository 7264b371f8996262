from .answering.audit_sheet import (
    AuditSheet as AuditSheet,
    plan_quantify as plan_quantify,
)
from .answering.job import quantify as quantify
from .targets.folder import (
    load_target_models as load_target_models,
    save_target_models as save_target_models,
)
from .targets.training import (
    TargetModels as TargetModels,
    train_target_models as train_target_models,
)
from .output.quantification import Quantification as Quantification, json_schema as json_schema
from .rows.probabilities import WrittenRows as WrittenRows, probabilities as probabilities
from .training.folder import load_model as load_model, save_model as save_model
from .training.model import Model as Model
from .training.train import train as train
