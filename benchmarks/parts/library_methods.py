"""Which methods of other libraries are compared with ours, and how they are built.

A method is one declaration in `METHODS`: its name, ours, and how each peer is built. `rivals.py`
runs them.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from operator import attrgetter
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression

from quantshift import quantifiers as qs

BINS = 10
HDY_BINS = list(range(10, 111, 10))
FEW = 100
"""Items of a call that shows whether a library returns a dictionary of shares."""
MEMBERS = 10
"""Members of an ensemble: few, so that fitting it takes seconds."""

Estimator = Callable[[np.ndarray], np.ndarray]
"""From a sample, its posteriors or features, to its prevalence."""
Builder = Callable[[np.ndarray, np.ndarray], Estimator]
"""From labelled items, their posteriors or features, and codes to an estimator fitted on them."""

QUAPY, MLQUANTIFY, QUANTIFICATIONLIB, QUNFOLD = LIBRARIES = (
    "QuaPy",
    "mlquantify",
    "quantificationlib",
    "qunfold",
)


@dataclass(frozen=True)
class Imported:
    """An option that is an object of the library itself, by the names of its module and its own.

    arguments: if there are any, the object is called with them.
    """

    module: str
    name: str
    arguments: tuple[Any, ...] = ()

    def __call__(self) -> Any:
        imported = getattr(import_module(self.module), self.name)
        return imported(*(found(each) for each in self.arguments)) if self.arguments else imported


@dataclass(frozen=True)
class Method:
    """A row of the table. from_features: it gets features rather than posteriors."""

    name: str
    ours: Callable[[], qs.AbstractQuantifier]
    peers: Mapping[str, Builder] = field(default_factory=dict)
    from_features: bool = False


class Given(ClassifierMixin, BaseEstimator):
    """A classifier whose features are its posteriors."""

    oob_score = True  # qunfold checks this before it reads `oob_decision_function_`

    def fit(self, X: Any, y: Any) -> "Given":
        self.classes_ = np.unique(y)
        if len(self.classes_) < np.shape(X)[1]:
            raise ValueError("it fits one class against the rest, which needs more than posteriors")
        self.oob_decision_function_ = np.asarray(X)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        return np.asarray(X)

    def predict(self, X: Any) -> np.ndarray:
        return np.asarray(self.classes_[np.argmax(X, axis=1)])


def found(option: Any) -> Any:
    return option() if isinstance(option, Imported) else option


def all_found(options: Mapping[str, Any]) -> dict[str, Any]:
    return {key: found(value) for key, value in options.items()}


def fitted(module: str, name: str, *inner: Any, **options: Any) -> Builder:
    """A method whose `fit` and `predict` are used without adaptation."""

    def build(known: np.ndarray, y: np.ndarray) -> Estimator:
        cls = attrgetter(name)(import_module(module))
        method = cls(*(found(each) for each in inner), **all_found(options)).fit(known, y)
        predict: Estimator = method.predict
        if not isinstance(predict(known[:FEW]), Mapping):
            return predict
        classes = np.unique(y).tolist()

        def estimate(sample: np.ndarray) -> np.ndarray:
            shares = method.predict(sample)
            return np.array([shares[k] for k in classes])

        return estimate

    return build


def mlquantify(module: str, name: str, **options: Any) -> Builder:
    return fitted(f"mlquantify.{module}", name, Given(), **options)


def whole(posteriors: np.ndarray) -> np.ndarray:
    return posteriors


def crisp(posteriors: np.ndarray) -> np.ndarray:
    return np.asarray(posteriors.argmax(axis=1))


def score(posteriors: np.ndarray) -> np.ndarray:
    if posteriors.shape[1] > 2:
        raise ValueError("for two classes only")
    return posteriors[:, 1]


def quapy(
    name: str,
    *,
    module: str = "aggregative",
    taken: Callable[[np.ndarray], np.ndarray] = whole,
    **options: Any,
) -> Builder:
    """taken: turns posteriors into the method's input."""

    def build(known: np.ndarray, y: np.ndarray) -> Estimator:
        cls = getattr(import_module(f"quapy.method.{module}"), name)
        own: dict[str, Any] = {"classifier": Given().fit(known, y)}
        accepted = inspect.signature(cls).parameters
        if "fit_classifier" in accepted:
            own["fit_classifier"] = False
        if "val_split" in accepted and name not in {"EMQ", "LEIP"}:
            own["val_split"] = None
        method = cls(**own, **all_found(options))
        if name in {"EMQ", "LEIP"}:
            method.train_prevalence = np.bincount(y) / len(y)
        if name in {"EDy", "RLLS"}:
            method._check_init_parameters()  # as `fit` does; it looks up the distance
        method.aggregation_fit(taken(known), y)
        return lambda sample: np.asarray(method.aggregate(taken(sample)))

    return build


def quapy_patient_sld(known: np.ndarray, y: np.ndarray) -> Estimator:
    """EM until a step is below 1e-9 on average, at most 1,000 steps."""
    method = import_module("quapy.method.aggregative").EMQ(Given().fit(known, y), False)
    method.train_prevalence = np.bincount(y) / len(y)
    method.aggregation_fit(known, y)
    return lambda sample: np.asarray(method.aggregate(sample, epsilon=1e-9))


def quapy_mapls(known: np.ndarray, y: np.ndarray) -> Estimator:
    """The function behind its BayesianMAPLS, which, unlike the class, does not need JAX."""
    mapls = import_module("quapy.method._bayesian").mapls
    prior = np.bincount(y) / len(y)
    return lambda sample: np.asarray(mapls(known, sample, prior))


def quapy_median(known: np.ndarray, y: np.ndarray) -> Estimator:
    given, aggregative = Given().fit(known, y), import_module("quapy.method.aggregative")
    members = [
        aggregative.PACC(given, False, None),
        aggregative.SMM(given, False, None),
        aggregative.DyS(given, False, None, n_bins=BINS, divergence="topsoe"),
    ]
    method = import_module("quapy.method.meta").SCMQ(given, members).aggregation_fit(known, y)
    return lambda sample: np.asarray(method.aggregate(sample))


def quantificationlib(module: str, name: str, **options: Any) -> Builder:
    def build(known: np.ndarray, y: np.ndarray) -> Estimator:
        cls = getattr(import_module(f"quantificationlib.{module}"), name)
        method = cls(**all_found(options))
        method.fit(np.zeros((len(y), 1)), y, predictions_train=known)
        return lambda sample: np.asarray(method.predict(None, predictions_test=sample))

    return build


def qunfold(module: str, name: str, **options: Any) -> Builder:
    def build(known: np.ndarray, y: np.ndarray) -> Estimator:
        # The package `qunfold` on PyPI is another one (unfolding by quantum annealing).
        cls = getattr(import_module(f"qunfold.methods.{module}"), name)
        method = cls(Given().fit(known, y), fit_classifier=False, seed=0, **all_found(options))
        method.fit(known, y)
        return lambda sample: np.asarray(method.predict(sample))

    return build


METHODS = (
    Method(
        "CC",
        qs.CC,
        {
            QUAPY: quapy("CC", taken=crisp),
            MLQUANTIFY: mlquantify("counting", "CC"),
            QUANTIFICATIONLIB: quantificationlib("baselines.cc", "CC"),
        },
    ),
    Method(
        "ACC",
        qs.ACC,
        {
            QUAPY: quapy("ACC", taken=crisp),
            MLQUANTIFY: mlquantify("counting", "ACC"),
            QUANTIFICATIONLIB: quantificationlib("baselines.ac", "AC"),
            QUNFOLD: qunfold("linear", "ACC"),
        },
    ),
    Method(
        "PCC",
        qs.PCC,
        {
            QUAPY: quapy("PCC"),
            MLQUANTIFY: mlquantify("counting", "PCC"),
            QUANTIFICATIONLIB: quantificationlib("baselines.cc", "PCC"),
        },
    ),
    Method(
        "PACC",
        qs.PACC,
        {
            QUAPY: quapy("PACC"),
            MLQUANTIFY: mlquantify("counting", "GPACC"),
            QUANTIFICATIONLIB: quantificationlib("baselines.ac", "PAC"),
            QUNFOLD: qunfold("linear", "PACC"),
        },
    ),
    Method("SMM", qs.SMM, {QUAPY: quapy("SMM"), MLQUANTIFY: mlquantify("matching", "SMM")}),
    Method(
        "DyS",
        lambda: qs.DyS(n_bins=BINS, divergence="topsoe"),
        {
            QUAPY: quapy("DyS", n_bins=BINS, divergence="topsoe"),
            MLQUANTIFY: mlquantify("matching", "DyS", bins_size=BINS),
            QUANTIFICATIONLIB: quantificationlib(
                "multiclass.df",
                "DFy",
                n_bins=BINS,
                distance=Imported("quantificationlib.metrics.multiclass", "topsoe"),
            ),
        },
    ),
    Method(
        "DyS-HD",
        lambda: qs.DyS(n_bins=BINS, divergence="hellinger"),
        {
            QUAPY: quapy("DyS", n_bins=BINS, divergence="HD"),
            MLQUANTIFY: mlquantify("matching", "DyS", bins_size=BINS, distance="hellinger"),
            QUANTIFICATIONLIB: quantificationlib("multiclass.df", "HDy", n_bins=BINS),
        },
    ),
    Method(
        "HDy",
        qs.HDy,
        {
            QUAPY: quapy("HDy"),
            MLQUANTIFY: mlquantify("matching", "HDy", bins_size=HDY_BINS),
        },
    ),
    Method(
        "SLD",
        lambda: qs.SLD(calibration="none"),
        {
            QUAPY: quapy("EMQ"),
            MLQUANTIFY: mlquantify("likelihood", "EMQ"),
            QUANTIFICATIONLIB: quantificationlib("multiclass.em", "EM"),
            QUNFOLD: qunfold("likelihood", "LikelihoodMaximizer"),
        },
    ),
    # EM stops at steps of 1e-4, short of the maximum that ours reaches; here it gets as close.
    Method("SLD-1e-9", lambda: qs.SLD(calibration="none"), {QUAPY: quapy_patient_sld}),
    Method(
        "SLD-BCTS",
        lambda: qs.SLD(calibration="bcts"),
        {
            QUAPY: quapy("EMQ", calib="bcts"),
            MLQUANTIFY: mlquantify("likelihood", "EMQ", calib_function="bcts"),
        },
    ),
    Method(
        "SLD-VS",
        lambda: qs.SLD(calibration="vs"),
        {
            QUAPY: quapy("EMQ", calib="vs"),
            MLQUANTIFY: mlquantify("likelihood", "EMQ", calib_function="vs"),
        },
    ),
    Method(
        "SLD-NBVS",
        lambda: qs.SLD(calibration="nbvs"),
        {
            QUAPY: quapy("EMQ", calib="nbvs"),
            MLQUANTIFY: mlquantify("likelihood", "EMQ", calib_function="nbvs"),
        },
    ),
    Method("MAPLS", lambda: qs.MAPLS(calibration="none"), {QUAPY: quapy_mapls}),
    Method("LEIP", qs.LEIP, {QUAPY: quapy("LEIP", module="_liep")}),
    Method("CDE", qs.CDE, {MLQUANTIFY: mlquantify("likelihood", "CDE")}),
    Method(
        "T50",
        qs.T50,
        {
            QUAPY: quapy("T50", module="_threshold_optim", taken=score),
            MLQUANTIFY: mlquantify("counting", "T50"),
        },
    ),
    Method(
        "MAX",
        qs.MAX,
        {
            QUAPY: quapy("MAX", module="_threshold_optim", taken=score),
            MLQUANTIFY: mlquantify("counting", "TMAX"),
        },
    ),
    Method(
        "MethodX",
        qs.MethodX,
        {
            QUAPY: quapy("X", module="_threshold_optim", taken=score),
            MLQUANTIFY: mlquantify("counting", "TX"),
        },
    ),
    Method(
        "MS",
        qs.MS,
        {
            QUAPY: quapy("MS", module="_threshold_optim", taken=score),
            MLQUANTIFY: mlquantify("counting", "MS"),
        },
    ),
    Method(
        "MS2",
        qs.MS2,
        {
            QUAPY: quapy("MS2", module="_threshold_optim", taken=score),
            MLQUANTIFY: mlquantify("counting", "MS2"),
        },
    ),
    Method("ContinuousSweep", qs.ContinuousSweep),
    Method("BBSEHard", qs.BBSEHard, {QUAPY: quapy("BBSEhard", taken=crisp)}),
    Method("BBSESoft", qs.BBSESoft, {QUAPY: quapy("BBSEsoft")}),
    Method("RLLS", qs.RLLS, {QUAPY: quapy("RLLS")}),
    Method(
        "Friedman",
        qs.Friedman,
        {
            MLQUANTIFY: mlquantify("counting", "FM"),
            QUANTIFICATIONLIB: quantificationlib("multiclass.friedman", "FriedmanME"),
        },
    ),
    Method("DeBias", qs.DeBias, {QUANTIFICATIONLIB: quantificationlib("binary.debias", "DeBias")}),
    Method(
        "DMy",
        qs.DMy,
        {
            QUAPY: quapy("DMy"),
            MLQUANTIFY: mlquantify("matching", "GHDy", bins=8),
            QUANTIFICATIONLIB: quantificationlib("multiclass.df", "HDy", n_bins=8),
        },
    ),
    Method(
        "KDEyML",
        qs.KDEyML,
        {QUAPY: quapy("KDEyML"), MLQUANTIFY: mlquantify("matching", "KDEyML")},
    ),
    Method(
        "KDEyCS",
        qs.KDEyCS,
        {QUAPY: quapy("KDEyCS"), MLQUANTIFY: mlquantify("matching", "KDEyCS")},
    ),
    Method(
        "KDEyHD",
        qs.KDEyHD,
        {QUAPY: quapy("KDEyHD"), MLQUANTIFY: mlquantify("matching", "KDEyHD")},
    ),
    Method(
        "EDy",
        qs.EDy,
        {
            QUAPY: quapy("EDy"),
            MLQUANTIFY: mlquantify("matching", "EDy", metric="cityblock"),
            QUANTIFICATIONLIB: quantificationlib("multiclass.energy", "EDy"),
        },
    ),
    Method("CvMy", qs.CvMy, {QUANTIFICATIONLIB: quantificationlib("multiclass.energy", "CvMy")}),
    Method(
        "SORD",
        qs.SORD,
        {
            MLQUANTIFY: mlquantify("matching", "SORD"),
            QUANTIFICATIONLIB: quantificationlib("binary.emd", "SORDy"),
        },
    ),
    # mlquantify's MMD_RKHS takes a kernel, but matches the means of the columns, as PACC does.
    Method("MMDy", qs.MMDy),
    Method(
        "QuaDapt",
        qs.QuaDapt,
        {
            MLQUANTIFY: fitted(
                "mlquantify.meta", "QuaDapt", Imported("mlquantify.matching", "DyS", (Given(),))
            )
        },
    ),
    Method(
        "Median",
        lambda: qs.Median([qs.PACC(), qs.SMM(), qs.DyS()]),
        {QUAPY: quapy_median},
    ),
    Method(
        "BayesianCC", qs.BayesianCC, {QUAPY: quapy("BayesianCC", module="confidence", taken=crisp)}
    ),
    Method("BayesianKDEy", qs.BayesianKDEy, {QUAPY: quapy("BayesianKDEy", module="_bayesian")}),
    Method("PQ", qs.PQ, {QUAPY: quapy("PQ", module="confidence")}),
    Method("OrdinalACC", qs.OrdinalACC),
    Method("OrdinalPACC", qs.OrdinalPACC),
    Method("OrdinalLikelihood", lambda: qs.OrdinalLikelihood(calibration="none")),
    Method("OrdinalSLD", lambda: qs.OrdinalSLD(calibration="none")),
    Method("IBU", qs.IBU),
    Method("RUN", qs.RUN),
    Method(
        "MLPE",
        qs.MLPE,
        {
            QUAPY: fitted("quapy.method.non_aggregative", "MaximumLikelihoodPrevalenceEstimation"),
            MLQUANTIFY: mlquantify("likelihood", "MLPE"),
        },
    ),
    Method(
        "HDx",
        qs.HDx,
        {
            QUAPY: fitted("quapy.method.non_aggregative", "DMx.HDx"),
            MLQUANTIFY: fitted("mlquantify.matching", "HDx", bins_size=HDY_BINS),
        },
        from_features=True,
    ),
    Method(
        "DMx",
        qs.DMx,
        {
            QUAPY: fitted("quapy.method.non_aggregative", "DMx"),
            MLQUANTIFY: fitted("mlquantify.matching", "GHDx", bins=8),
            QUANTIFICATIONLIB: fitted("quantificationlib.multiclass.df", "HDX", n_bins=8),
        },
        from_features=True,
    ),
    Method(
        "EDx",
        qs.EDx,
        {
            QUAPY: fitted(
                "quapy.method.non_aggregative",
                "EDx",
                distance=Imported("sklearn.metrics.pairwise", "manhattan_distances"),
            ),
            MLQUANTIFY: fitted("mlquantify.matching", "EDx", metric="cityblock"),
            QUANTIFICATIONLIB: fitted(
                "quantificationlib.multiclass.energy",
                "EDX",
                distance=Imported("sklearn.metrics.pairwise", "manhattan_distances"),
            ),
        },
        from_features=True,
    ),
    Method("MMDx", qs.MMDx, from_features=True),
    Method(
        "EoQ",
        lambda: qs.EoQ(qs.PACC(LogisticRegression()), n_members=MEMBERS),
        {
            QUAPY: fitted(
                "quapy.method.meta",
                "Ensemble",
                Imported("quapy.method.aggregative", "PACC", (LogisticRegression(),)),
                size=MEMBERS,
            ),
            MLQUANTIFY: fitted(
                "mlquantify.meta",
                "EnsembleQ",
                Imported("mlquantify.counting", "GPACC", (LogisticRegression(),)),
                size=MEMBERS,
            ),
        },
        from_features=True,
    ),
    Method("FusedSLD", qs.FusedSLD, from_features=True),
    Method("ClassifierMedian", qs.ClassifierMedian, from_features=True),
    Method("SubclassSLD", qs.SubclassSLD, from_features=True),
    Method("GuardedSLD", qs.GuardedSLD, from_features=True),
)
