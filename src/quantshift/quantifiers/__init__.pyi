from .adjusted import ACC as ACC, PACC as PACC, adjust as adjust
from .bayesian import PQ as PQ, BayesianCC as BayesianCC, BayesianKDEy as BayesianKDEy
from .continuous_sweep import ContinuousSweep as ContinuousSweep
from .counting import CC as CC, PCC as PCC
from .energy import CvMy as CvMy, EDx as EDx, EDy as EDy
from .ensembles import EoQ as EoQ, FusedSLD as FusedSLD
from .estimator import (
    AbstractAggregative as AbstractAggregative,
    AbstractClassifying as AbstractClassifying,
    AbstractQuantifier as AbstractQuantifier,
    Estimate as Estimate,
)
from .expectation import SLD as SLD
from .foreign import (
    ForeignQuantifier as ForeignQuantifier,
    is_quantifier as is_quantifier,
    wrap as wrap,
)
from .friedman import DeBias as DeBias, Friedman as Friedman
from .guarded_sld import GuardedSLD as GuardedSLD
from .hdx import HDx as HDx
from .histograms import DMx as DMx, DMy as DMy
from .incremental_prior import LEIP as LEIP
from .items import Items as Items
from .iterated_threshold import CDE as CDE
from .kdey import KDEyCS as KDEyCS, KDEyHD as KDEyHD, KDEyML as KDEyML
from .kernel_means import MMDx as MMDx, MMDy as MMDy
from .label_shift_weights import RLLS as RLLS, BBSEHard as BBSEHard, BBSESoft as BBSESoft
from .mapls import MAPLS as MAPLS
from .matching import SMM as SMM, DyS as DyS, HDy as HDy
from .means import class_means as class_means, sample_means as sample_means
from .medians import ClassifierMedian as ClassifierMedian, Median as Median
from .ordinal import (
    OrdinalACC as OrdinalACC,
    OrdinalLikelihood as OrdinalLikelihood,
    OrdinalPACC as OrdinalPACC,
    OrdinalSLD as OrdinalSLD,
)
from .quadapt import QuaDapt as QuaDapt
from .sord import SORD as SORD
from .subclass_sld import SubclassSLD as SubclassSLD
from .thresholds import MAX as MAX, MS as MS, MS2 as MS2, T50 as T50, MethodX as MethodX
from .trivial import MLPE as MLPE
from .unfolding import IBU as IBU, RUN as RUN
