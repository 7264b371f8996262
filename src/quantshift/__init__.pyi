from . import metrics as metrics
from .checks.every_quantifier import check_quantifier as check_quantifier
from .diagnosis.which_shift import shift_test as shift_test
from .lab.experiments import load_experiment as load_experiment, run_experiments as run_experiments
from .lab.experiments.evaluation import evaluate as evaluate
from .history import History as History, watch as watch
from .items import Items as Items
from .judging import judge as judge
from .measuring import ShiftedClassifier as ShiftedClassifier, performance as performance
from .prevalence.binarisation import binarise as binarise
from .quantifiers import (
    ACC as ACC,
    AbstractAggregative as AbstractAggregative,
    AbstractQuantifier as AbstractQuantifier,
    BBSEHard as BBSEHard,
    BBSESoft as BBSESoft,
    BayesianCC as BayesianCC,
    BayesianKDEy as BayesianKDEy,
    CC as CC,
    CDE as CDE,
    ClassifierMedian as ClassifierMedian,
    ContinuousSweep as ContinuousSweep,
    CvMy as CvMy,
    DMx as DMx,
    DMy as DMy,
    DeBias as DeBias,
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
    IBU as IBU,
    KDEyCS as KDEyCS,
    KDEyHD as KDEyHD,
    KDEyML as KDEyML,
    LEIP as LEIP,
    MAPLS as MAPLS,
    MAX as MAX,
    MLPE as MLPE,
    MMDx as MMDx,
    MMDy as MMDy,
    MS as MS,
    MS2 as MS2,
    Median as Median,
    MethodX as MethodX,
    OrdinalACC as OrdinalACC,
    OrdinalLikelihood as OrdinalLikelihood,
    OrdinalPACC as OrdinalPACC,
    OrdinalSLD as OrdinalSLD,
    PACC as PACC,
    PCC as PCC,
    PQ as PQ,
    QuaDapt as QuaDapt,
    RLLS as RLLS,
    RUN as RUN,
    SLD as SLD,
    SMM as SMM,
    SORD as SORD,
    SubclassSLD as SubclassSLD,
    T50 as T50,
    Tags as Tags,
    load as load,
    save as save,
    wrap as wrap,
)
from .quantifying import (
    load_model as load_model,
    probabilities as probabilities,
    quantify as quantify,
    save_model as save_model,
    train as train,
)
from .lab.displays import (
    BiasDisplay as BiasDisplay,
    DiagonalDisplay as DiagonalDisplay,
    ErrorByShiftDisplay as ErrorByShiftDisplay,
    IntervalDisplay as IntervalDisplay,
    RegionDisplay as RegionDisplay,
)
from .lab.results import ResultStore as ResultStore
from .lab.tuning import (
    PrevalenceScorer as PrevalenceScorer,
    PrevalenceSearchCV as PrevalenceSearchCV,
)
from .lab.shifts import (
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
