from . import metrics as metrics
from .accuracy import estimate_accuracy as estimate_accuracy
from .binarisation import binarise as binarise
from .checks import check_quantifier as check_quantifier
from .diagnosis.which_shift import shift_test as shift_test
from .evaluation import evaluate as evaluate
from .experiments import load_experiment as load_experiment, run_experiments as run_experiments
from .history import History as History
from .intervals import (
    aggregate_interval as aggregate_interval,
    predict_interval as predict_interval,
)
from .judging import judge as judge
from .own_data import (
    load_model as load_model,
    quantify as quantify,
    save_model as save_model,
    train as train,
)
from .quantifiers import (
    ACC as ACC,
    CC as CC,
    CDE as CDE,
    IBU as IBU,
    LEIP as LEIP,
    MAPLS as MAPLS,
    MAX as MAX,
    MLPE as MLPE,
    MS as MS,
    MS2 as MS2,
    PACC as PACC,
    PCC as PCC,
    PQ as PQ,
    RLLS as RLLS,
    RUN as RUN,
    SLD as SLD,
    SMM as SMM,
    SORD as SORD,
    T50 as T50,
    AbstractAggregative as AbstractAggregative,
    AbstractQuantifier as AbstractQuantifier,
    BayesianCC as BayesianCC,
    BayesianKDEy as BayesianKDEy,
    BBSEHard as BBSEHard,
    BBSESoft as BBSESoft,
    ClassifierMedian as ClassifierMedian,
    ContinuousSweep as ContinuousSweep,
    CvMy as CvMy,
    DeBias as DeBias,
    DMx as DMx,
    DMy as DMy,
    DyS as DyS,
    EDx as EDx,
    EDy as EDy,
    EoQ as EoQ,
    Estimate as Estimate,
    Friedman as Friedman,
    FusedSLD as FusedSLD,
    GuardedSLD as GuardedSLD,
    HDx as HDx,
    HDy as HDy,
    Items as Items,
    KDEyCS as KDEyCS,
    KDEyHD as KDEyHD,
    KDEyML as KDEyML,
    Median as Median,
    MethodX as MethodX,
    MMDx as MMDx,
    MMDy as MMDy,
    OrdinalACC as OrdinalACC,
    OrdinalLikelihood as OrdinalLikelihood,
    OrdinalPACC as OrdinalPACC,
    OrdinalSLD as OrdinalSLD,
    QuaDapt as QuaDapt,
    SubclassSLD as SubclassSLD,
    wrap as wrap,
)
from .regions import predict_region as predict_region
from .results import ResultStore as ResultStore
from .shifts import (
    AbstractProtocol as AbstractProtocol,
    AbstractShift as AbstractShift,
    ConceptShift as ConceptShift,
    CovariateShift as CovariateShift,
    Draw as Draw,
    GivenSamples as GivenSamples,
    GroupShift as GroupShift,
    KnockOutShift as KnockOutShift,
    LocalCovariateShift as LocalCovariateShift,
    NaturalPrevalence as NaturalPrevalence,
    NoiseShift as NoiseShift,
    PriorShift as PriorShift,
    TrainTest as TrainTest,
    TweakOneShift as TweakOneShift,
    UniformPrevalence as UniformPrevalence,
)
from .sketches import (
    Sketch as Sketch,
    load_sketch as load_sketch,
    quantify_sketch as quantify_sketch,
    sketch as sketch,
    sketch_sql as sketch_sql,
)

__version__: str
