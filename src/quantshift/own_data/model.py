"""A model made from the user's labelled table: features, classifier, quantifier, and what it saw.

Texts become tf-idf of words (sublinear, unit length), numbers are standardised, and a logistic
regression gives posteriors; whoever has posteriors of a model of their own gives those. `auto`
chooses the quantifier that errs least under the kinds of shift it can tell apart; every exported
quantifier can be had by name.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.preprocessing import StandardScaler

from quantshift import catalogue
from quantshift.classify.posteriors import check_posteriors
from quantshift.data.reading import OpenTable, Source, open_table
from quantshift.errors import DataError, UserError, unknown_name
from quantshift.own_data.columns import (
    NO_ITEMS,
    Columns,
    TableItems,
    Values,
    read_items,
    resolve,
)
from quantshift.own_data.reservoir import Reservoir
from quantshift.quantifiers.adjusted import PACC
from quantshift.quantifiers.counting import PCC
from quantshift.quantifiers.estimator import AbstractClassifying, AbstractQuantifier
from quantshift.quantifiers.expectation import SLD
from quantshift.quantifiers.items import Items
from quantshift.quantifiers.subclass_sld import SubclassSLD
from quantshift.seeding import generator
from quantshift.types import Codes, Posteriors

AUTO, LOGISTIC = "auto", "logistic"
MOST_CLASSES = 50
MOST_TRAINING = 100_000
"""Rows of a longer table are drawn at random: more would cost time and gain little."""

FEWEST_OF_A_CLASS = 5
"""As many as there are folds at least."""

FEWEST_FOLDS, MOST_FOLDS = 5, 20

REASONS = MappingProxyType(
    {
        "SubclassSLD": "weighs a change of prevalence, of topics, and of topics within a class",
        "SLD": "the most exact of the methods for a change of prevalence (prior shift)",
    }
)
"""Why `auto` takes a method."""


@dataclass(frozen=True)
class Training:
    """What a model was trained on, in plain numbers.

    counts: labelled items of each class. accuracy: of the classifier on items it had not seen
    (None without training).
    """

    source: str
    n_items: int
    n_rows: int
    n_left_out: int
    undecodable: int
    counts: Mapping[str, int]
    classifier: str
    accuracy: float | None
    seed: int


@dataclass(frozen=True, eq=False)
class Model:
    """Everything needed to quantify a new table.

    preparation: from texts or numbers to features; scorer: from features to posteriors (it may be
        the quantifier itself); both None if posteriors are given.
    quantifier: from items to estimates; base: the plain estimate from posteriors alone, for
        comparison.
    """

    columns: Columns
    classes: tuple[str, ...]
    preparation: Any
    scorer: AbstractQuantifier | None
    base: AbstractClassifying
    quantifier: AbstractQuantifier
    method: str
    reason: str
    training: Training

    @property
    def is_trained(self) -> bool:
        """Whether there were labelled items to learn from."""
        return self.training.n_items > 0

    def items(self, values: Values) -> Items:
        """Posteriors of these items, and what else the quantifier sees of them."""
        if self.scorer is None:
            return Items(given_posteriors(values, self.columns, self.classes))
        X = self.preparation.transform(values)
        items = self.scorer.items(X)
        if "posteriors" in self.quantifier.sees or "features" not in self.quantifier.sees:
            return items
        return replace(items, features=self.quantifier.items(X).features)

    def posteriors(self, items: Items) -> Posteriors:
        """The posteriors of the items."""
        assert items.posteriors is not None
        return items.posteriors

    @property
    def held_out(self) -> tuple[Posteriors, Codes]:
        """Held-out posteriors of the training items, and their codes."""
        return self.base.held_out_posteriors_, self.base.held_out_codes_


def train(
    source: Source,
    *,
    label: str,
    text: str | None = None,
    features: Sequence[str] = (),
    posteriors: Sequence[str] = (),
    method: str = AUTO,
    classifier: str = LOGISTIC,
    without: Sequence[str] = (),
    seed: int = 0,
) -> Model:
    """A model from a labelled table.

    One of text (a column), features or posteriors (columns); with none of them all numeric columns
    but the label and those in `without` are features. Posterior columns are those of the user's own
    model, for items it was not trained on.
    """
    table = open_table(source, name="the training table")
    columns = resolve(
        Columns(label, text, tuple(features), tuple(posteriors)), table, without=without
    )
    cls = quantifier_class(method, columns.kind)
    items, n_rows = _sampled(read_items(table, columns, labelled=True), seed)
    classes, codes = _encoded(table, label, items.labels)
    preparation = scorer = None
    base: AbstractClassifying = SLD(seed=seed)
    if columns.kind == "posteriors":
        classifier = "given posteriors"
        base.fit_posteriors(given_posteriors(items.values, columns, classes), codes)
        quantifier = cls().fit_items(base.held_out_, codes)
    else:
        preparation = _preparation(table, columns, items.values)
        X = preparation.transform(items.values)
        learner = _classifier(classifier, columns.kind, seed)
        sees_both = {"posteriors", "features"} <= cls.sees
        # A method that looks at features as well finds its own items; the others share posteriors,
        # here PACC's, which learns no calibration from them that nobody would use.
        scoring: type[Any] = cls if sees_both else PACC
        scorer = scoring(learner, cv=n_folds(codes), seed=seed).fit(X, codes)
        base.fit_posteriors(scorer.held_out_posteriors_, codes)
        quantifier = scorer
        if not sees_both:
            by_features = "features" in cls.sees
            quantifier = (
                cls().fit(X, codes) if by_features else cls().fit_items(scorer.held_out_, codes)
            )
    held_out = base.held_out_posteriors_
    return Model(
        columns=columns,
        classes=classes,
        preparation=preparation,
        scorer=scorer,
        base=base,
        quantifier=quantifier,
        method=cls.__name__,
        reason=REASONS[cls.__name__] if method == AUTO else "chosen by you",
        training=Training(
            source=table.name,
            n_items=len(codes),
            n_rows=n_rows,
            n_left_out=items.left_out,
            undecodable=items.undecodable,
            counts=dict(zip(classes, np.bincount(codes).tolist(), strict=True)),
            classifier=classifier,
            accuracy=float((held_out.argmax(axis=1) == codes).mean()),
            seed=seed,
        ),
    )


def n_folds(codes: Codes) -> int:
    """Folds for the held-out posteriors: the fewer items, the more folds.

    The models of the folds have seen a little less than the one that scores a sample, which biases
    what is learnt from them (PACC's rates most) by about 1 / (n_items * folds). Next to the
    standard error, which falls with the root of n_items, 5 folds are enough for 100,000 items while
    5,000 need 20. The guide to own data has the coverage of intervals with either.
    """
    wanted = round(1 + (MOST_FOLDS - 1) * math.sqrt(5_000 / len(codes)))
    return max(FEWEST_FOLDS, min(wanted, MOST_FOLDS, int(np.bincount(codes).min())))


def without_training(posteriors: Sequence[str], *, label: str | None = None) -> Model:
    """A model that takes the user's posteriors at their word: no labelled items, no adjustment."""
    columns = Columns(label=label, posteriors=tuple(posteriors))
    names = tuple(posteriors)
    classes = (f"not {names[0]}", names[0]) if len(names) == 1 else names
    # The mean posterior learns nothing from these rows; they only tell the number of classes.
    counting = PCC().fit_posteriors(np.eye(len(classes)), np.arange(len(classes)))
    return Model(
        columns=columns,
        classes=classes,
        preparation=None,
        scorer=None,
        base=counting,
        quantifier=counting,
        method="PCC",
        reason="no labelled rows to adjust with: the mean of your model's posteriors",
        training=Training("", 0, 0, 0, 0, {}, "given posteriors", None, 0),
    )


def quantifier_class(method: str, kind: str) -> type[AbstractQuantifier]:
    """The quantifier of that name; for `auto` the one for that kind of items."""
    known = catalogue.quantifiers()
    if method == AUTO:
        # Without features there are no clusters to tell kinds of shift apart.
        return SLD if kind == "posteriors" else SubclassSLD
    if method not in known:
        raise unknown_name("method", method, [AUTO, *known])
    if known[method].no_interval:
        raise UserError(f"{method} has no interval: {known[method].no_interval}")
    if kind == "posteriors" and known[method].sees and "posteriors" not in known[method].sees:
        raise UserError(f"{method} looks at features, not at posteriors; name columns of features")
    return known[method]


def given_posteriors(values: Values, columns: Columns, classes: Sequence[str]) -> Posteriors:
    """The user's posteriors in the order of the classes; one column is that of the second class."""
    given = np.asarray(values, dtype=np.float64)
    if given.shape[1] == 1 and len(classes) == 2:
        given = np.column_stack([1 - given[:, 0], given[:, 0]])
    elif len(columns.posteriors) == len(classes):
        given = given[:, column_order(columns.posteriors, classes)]
    else:
        raise UserError(
            f"{len(columns.posteriors)} posterior columns for {len(classes)} classes "
            f"({', '.join(classes)}): name one column per class"
        )
    return check_posteriors(given, len(classes)) if len(given) else given


def column_order(names: Sequence[str], classes: Sequence[str]) -> list[int]:
    """The column of each class: the one whose name ends in it, else in the order given.

    >>> column_order(["p_pos", "p_neg"], ["neg", "pos"])
    [1, 0]
    >>> column_order(["a", "b"], ["neg", "pos"])
    [0, 1]
    """
    ends = [[i for i, n in enumerate(names) if n.lower().endswith(c.lower())] for c in classes]
    if all(len(places) == 1 for places in ends) and len({f[0] for f in ends}) == len(names):
        return [places[0] for places in ends]
    return list(range(len(classes)))


def _classifier(name: str, kind: str, seed: int) -> BaseEstimator:
    if name not in CLASSIFIERS:
        raise unknown_name("classifier", name, CLASSIFIERS)
    return CLASSIFIERS[name](kind, seed)


def _boosting(kind: str, seed: int) -> BaseEstimator:
    if kind == "text":
        raise UserError("boosting takes numbers, not words; for texts use logistic or naive-bayes")
    return HistGradientBoostingClassifier(random_state=seed)


CLASSIFIERS: Mapping[str, Callable[[str, int], BaseEstimator]] = MappingProxyType(
    {
        # Words are many and rare: a weaker penalty than for a few standardised numbers.
        LOGISTIC: lambda kind, _: LogisticRegression(
            C=10.0 if kind == "text" else 1.0, max_iter=2000
        ),
        "naive-bayes": lambda kind, _: MultinomialNB() if kind == "text" else GaussianNB(),
        "forest": lambda _, seed: RandomForestClassifier(
            n_estimators=100, min_samples_leaf=2, random_state=seed
        ),
        "boosting": _boosting,
    }
)
"""Classifiers by name, for text or features, with a seed."""


def _preparation(table: OpenTable, columns: Columns, values: Values) -> Any:
    if columns.kind == "features":
        return StandardScaler().fit(values)
    vectoriser = TfidfVectorizer(sublinear_tf=True, min_df=3 if len(values) >= 200 else 1)
    try:
        return vectoriser.fit(values)
    except ValueError as error:
        raise DataError(
            f"{table.name}: the texts in column {columns.text!r} have no words in common; "
            "is it the right column?"
        ) from error


def _sampled(parts: Iterator[TableItems], seed: int) -> tuple[TableItems, int]:
    """All items, or as many as MOST_TRAINING drawn at random; and the number there were."""
    rng = generator(seed, purpose="training rows")
    reservoir = Reservoir(NO_ITEMS, rng, most=MOST_TRAINING)
    for part in parts:
        one_batch = np.zeros(len(part.rows), dtype=np.int64)
        reservoir.add(part, one_batch, part.rows, one_batch - 1)
    return reservoir.kept().values, int(reservoir.sizes.sum())


def _encoded(table: OpenTable, label: str, labels: Sequence[str]) -> tuple[tuple[str, ...], Codes]:
    if not labels:
        raise DataError(f"{table.name}: no row has both a label in column {label!r} and content")
    classes, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    if len(classes) == 1:
        raise DataError(
            f"{table.name}: all labels in column {label!r} are {str(classes[0])!r}; at least two "
            "classes are needed"
        )
    if len(classes) > MOST_CLASSES:
        raise DataError(
            f"{table.name}: column {label!r} has {len(classes)} different values; is it the label? "
            f"(at most {MOST_CLASSES} classes)"
        )
    if counts.min() < FEWEST_OF_A_CLASS:
        rare = int(counts.argmin())
        raise DataError(
            f"{table.name}: class {str(classes[rare])!r} has {counts[rare]} labelled rows, at "
            f"least {FEWEST_OF_A_CLASS} are needed; add some, merge the class or leave it out"
        )
    return tuple(classes.tolist()), codes.astype(np.int64)
