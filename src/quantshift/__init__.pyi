from . import metrics as metrics
from .diagnosis.which_shift import shift_test as shift_test
from .errors import UserError as UserError
from .history import History as History, watch as watch
from .intervals import PrevalenceInterval as PrevalenceInterval
from .judging import Judgement as Judgement, judge as judge, plan_judge as plan_judge
from .lab.displays import (
    BiasDisplay as BiasDisplay,
    DiagonalDisplay as DiagonalDisplay,
    ErrorByShiftDisplay as ErrorByShiftDisplay,
    IntervalDisplay as IntervalDisplay,
    RegionDisplay as RegionDisplay,
)
from .lab.experiments.evaluation import evaluate as evaluate
from .lab.shifts import (
    ConceptShift as ConceptShift,
    CovariateShift as CovariateShift,
    GivenSamples as GivenSamples,
    GroupShift as GroupShift,
    LocalCovariateShift as LocalCovariateShift,
    NaturalPrevalence as NaturalPrevalence,
    PriorShift as PriorShift,
    UniformPrevalence as UniformPrevalence,
)
from .lab.tuning import (
    PrevalenceScorer as PrevalenceScorer,
    PrevalenceSearchCV as PrevalenceSearchCV,
)
from .measuring import (
    Performance as Performance,
    ShiftedClassifier as ShiftedClassifier,
    performance as performance,
)
from .quantifiers import (
    ACC as ACC,
    BayesianCC as BayesianCC,
    CC as CC,
    DyS as DyS,
    GuardedSLD as GuardedSLD,
    KDEyML as KDEyML,
    MLPE as MLPE,
    OrdinalSLD as OrdinalSLD,
    PACC as PACC,
    PCC as PCC,
    SLD as SLD,
    SubclassSLD as SubclassSLD,
    load as load,
    save as save,
)
from .quantifying import (
    Quantification as Quantification,
    plan_quantify as plan_quantify,
    probabilities as probabilities,
    quantify as quantify,
    train as train,
)

__version__: str
