from .base.estimator import (
    AbstractAggregative as AbstractAggregative,
    AbstractClassifying as AbstractClassifying,
    AbstractQuantifier as AbstractQuantifier,
    Estimate as Estimate,
)
from .base.foreign import (
    is_quantifier as is_quantifier,
    wrap as wrap,
)
from .base.means import class_means as class_means, sample_means as sample_means
from .base.saving import load as load, save as save
from .base.tags import Reading as Reading, Tags as Tags
from .baselines.trivial import MLPE as MLPE
from .bayesian.bayesian import BayesianCC as BayesianCC, BayesianKDEy as BayesianKDEy, PQ as PQ
from .counting.adjusted import ACC as ACC, PACC as PACC, adjust as adjust
from .counting.continuous_sweep import ContinuousSweep as ContinuousSweep
from .counting.counting import CC as CC, PCC as PCC
from .counting.friedman import DeBias as DeBias, Friedman as Friedman
from .counting.incremental_prior import LEIP as LEIP
from .counting.iterated_threshold import CDE as CDE
from .counting.label_shift_weights import BBSEHard as BBSEHard, BBSESoft as BBSESoft, RLLS as RLLS
from .counting.thresholds import MAX as MAX, MS as MS, MS2 as MS2, MethodX as MethodX, T50 as T50
from .ensembles.ensembles import EoQ as EoQ, FusedSLD as FusedSLD
from .ensembles.medians import ClassifierMedian as ClassifierMedian, Median as Median
from .likelihood.guarded_sld import GuardedSLD as GuardedSLD
from .likelihood.guarded_intervals import (
    GuardedIntervals as GuardedIntervals,
    guarded_intervals as guarded_intervals,
)
from .likelihood.mapls import MAPLS as MAPLS
from .likelihood.sld import SLD as SLD
from .likelihood.subclass_sld import SubclassSLD as SubclassSLD
from .matching.energy import CvMy as CvMy, EDx as EDx, EDy as EDy
from .matching.hdx import HDx as HDx
from .matching.histograms import DMx as DMx, DMy as DMy
from .matching.kdey import KDEyCS as KDEyCS, KDEyHD as KDEyHD, KDEyML as KDEyML
from .matching.kernel_means import MMDx as MMDx, MMDy as MMDy
from .matching.matching import DyS as DyS, HDy as HDy, SMM as SMM
from .matching.quadapt import QuaDapt as QuaDapt
from .matching.sord import SORD as SORD
from .ordered.ordinal import (
    OrdinalACC as OrdinalACC,
    OrdinalLikelihood as OrdinalLikelihood,
    OrdinalPACC as OrdinalPACC,
    OrdinalSLD as OrdinalSLD,
)
from .ordered.unfolding import IBU as IBU, RUN as RUN
