"""A new quantifier is one class: everything above it follows from what the class declares."""

import json

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression

from quantshift import quantify, train
from quantshift.base.imports import imported_class
from quantshift.checks import check_quantifier
from quantshift.errors import UserError
from quantshift.quantifying import save_model
from quantshift.sketches import quantify_sketch, sketch
from quantshift.sketches.cells import rounded
from quantshift.sketches.estimating.batches import batches_of
from quantshift.sketches.estimating.counts import point_estimates
from tests.sketches.made import batches, labelled

MODULE = '''
"""Methods of a user."""

import numpy as np
from quantshift import ACC, PACC
from quantshift.quantifiers import AbstractAggregative, Median, Tags
from quantshift.quantifiers import adjust, class_means, sample_means


class Sharpened(AbstractAggregative):
    """Sharpened Scores: items with confident predictions count more than others."""

    tags = Tags(
        assumption="P(X|Y) is the same in the sample (prior shift)",
        plain_assumption="a yes still looks like a yes",
        reads="joint",
        smooth=True,
    )
    diagnostics = ACC.diagnostics

    def __init__(self, classifier=None, *, cv=5, random_state=0):
        self.classifier = classifier
        self.cv = cv
        self.random_state = random_state

    def _fit_aggregation(self, posteriors, codes, weights=None):
        self.rates_ = class_means(self._represent(posteriors).T, codes, weights)

    def _represent(self, posteriors):
        squares = posteriors.T**2
        return squares / squares.sum(axis=0)

    def _solve(self, representation, index, weights=None):
        return adjust(sample_means(representation, index, weights), self.rates_, self.prior_)


class Likely(Sharpened):
    """Likely: the classes whose posterior is above a border, which nobody has declared."""

    def _represent(self, posteriors):
        return np.asarray(posteriors.T > 0.2999153, dtype=float)


class DeclaredLikely(Likely):
    """The same, with its reading declared."""

    tags = Tags(assumption="the same", reads="one against rest")


class WithoutWeights(Likely):
    """The same for a script that has no weights."""

    def _fit_aggregation(self, posteriors, codes):
        super()._fit_aggregation(posteriors, codes)

    def _solve(self, representation, index):
        return super()._solve(representation, index)


class MedianOfLikely(Median):
    """The median of an undeclared method and another one."""

    def __init__(self, classifier=None):
        super().__init__([Likely(), PACC()], classifier)

    def get_params(self, deep=True):
        return {"classifier": self.classifier}


class Own(PACC):
    """Estimates by itself."""

    def aggregate(self, posteriors, samples=None, weights=None):
        return np.array([0.5, 0.5])


class Needy(PACC):
    """Cannot be made without arguments."""

    def __init__(self, needed):
        self.needed = needed


class SLD(PACC):
    """Has the name of another method."""


class Plain:
    """Only has fit and predict."""

    def fit(self, X, y):
        return self

    def predict(self, X):
        return [0.5, 0.5]
'''
NAME = "methods_of_a_user"


@pytest.fixture(scope="module")
def module(tmp_path_factory):
    """The module, on Python's path."""
    folder = tmp_path_factory.mktemp("own")
    (folder / f"{NAME}.py").write_text(MODULE)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield folder / f"{NAME}.py"


@pytest.fixture(scope="module")
def mine(module):
    return imported_class(f"{NAME}:Sharpened")


@pytest.fixture(scope="module")
def tables():
    """A labelled table, and one in which a fifth of the rows are labelled yes."""
    rng = np.random.default_rng(0)

    def table(n, share):
        yes = rng.random(n) < share
        return pl.DataFrame(
            {
                "amount": rng.normal(1.6 * yes, 1.0),
                "size": rng.normal(-0.8 * yes, 1.0),
                "label": np.where(yes, "yes", "no"),
            }
        )

    return table(600, 0.5), table(1500, 0.2).drop("label")


def test_it_passes_the_public_checks(mine):
    check_quantifier(mine())


def test_it_has_an_interval(mine):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 900)
    X = rng.normal(1.6 * y[:, np.newaxis], 1.0, (900, 2))
    found = mine(LogisticRegression()).fit(X[:500], y[:500]).predict_interval(X[500:])
    assert found.low[1] < y[500:].mean() < found.high[1]
    assert found.high[1] - found.low[1] < 0.2


def test_quantify_names_it_and_says_its_assumption_in_words(module, tables):
    known, new = tables
    found = quantify(new, train=known, label="label", method=f"{NAME}:Sharpened", replicates=200)
    (batch,) = found.batches
    assert (found.method, found.reason) == ("Sharpened", "chosen by you")
    assert batch.shares[1].low < 0.2 < batch.shares[1].high
    assert [a.method for a in batch.alternatives] == ["Sharpened", "SLD", "PCC"]
    text = found.to_text(details=True)
    assert "assumes: a yes still looks like a yes" in text
    assert "P(X|Y)" not in text
    told = json.loads(found.to_json())
    assert told["assumption"] == "P(X|Y) is the same in the sample (prior shift)"
    assert told["plain_assumption"] == "a yes still looks like a yes"


def test_a_file_will_do_and_the_method_is_that_of_posteriors_too(mine, module, tables):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 1200)
    p = 1 / (1 + np.exp(-rng.normal(2 * y - 1, 1.0)))
    frame = pl.DataFrame({"p": p, "y": np.where(y == 1, "yes", "no")})
    fitted = mine().fit_posteriors(np.column_stack([1 - p[:600], p[:600]]), y[:600])
    expected = fitted.aggregate(np.column_stack([1 - p[600:], p[600:]]))
    for method in (f"{NAME}:Sharpened", f"{module}:Sharpened"):
        asked = {"label": "y", "posteriors": ["p"], "method": method, "replicates": 20}
        (batch,) = quantify(frame[600:].drop("y"), train=frame[:600], **asked).batches
        assert batch.shares[1].estimate == pytest.approx(expected[1], abs=1e-9)


@pytest.mark.slow
def test_groups_that_are_left_out_are_estimated_by_it(module, tables):
    known = tables[0].with_columns(region=pl.Series(["n", "e", "s"] * 200))
    groups = train(
        known, label="label", groups="region", method=f"{NAME}:Sharpened", classifier="logistic"
    ).groups
    assert groups.method == "Sharpened"
    assert groups.errors["Sharpened"] == pytest.approx(groups.errors["PACC"], abs=0.01)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Own", "replaces 'aggregate', which is not called here; derive it from"),
        ("SLD", "there is a method called 'SLD' already; rename the class"),
        ("Needy", "cannot be made without arguments: TypeError"),
        ("Plain", "is not derived from quantshift.quantifiers.AbstractQuantifier, which an"),
        ("Sharp", "unknown name in 'methods_of_a_user': 'Sharp'; did you mean 'Sharpened'?"),
    ],
)
def test_what_would_not_be_called_is_refused(module, tables, name, message):
    with pytest.raises(UserError) as caught:
        train(tables[0], label="label", method=f"{NAME}:{name}")
    assert message in str(caught.value)


def test_a_model_with_it_is_used_but_not_saved(module, tables, tmp_path):
    model = train(tables[0], label="label", method=f"{NAME}:Sharpened")
    again = quantify(tables[1], model=model, method=f"{NAME}:Sharpened", replicates=20)
    assert again.method == "Sharpened"
    with pytest.raises(UserError, match=r"Sharpened cannot be saved.*another classifier or method"):
        save_model(model, tmp_path / "model")


def error_in_cells(name: str, n: int = 300_000) -> float:
    """How far the estimate from the widest cells of two classes is from that of all rows."""
    known, sample = labelled(4000), batches({"a": 0.1}, n)

    def rows(frame):
        return np.column_stack([1 - frame["p"], frame["p"]])

    y = (known["y"] == "spam").cast(pl.Int64).to_numpy()
    fitted = imported_class(f"{NAME}:{name}")().fit_posteriors(rows(known), y)
    (batch,) = batches_of(sketch(sample, score="p", bins=True), [0, 1]).values()
    found = point_estimates(fitted, batch.sample)[0]
    return float(np.abs(found - fitted.aggregate(rows(sample))).max())


@pytest.mark.parametrize("name", ["Sharpened", "Likely", "DeclaredLikely"])
def test_a_sketch_of_two_classes_is_right_whatever_was_declared(module, name):
    """The border of the undeclared method runs through a cell, and its base says it has none."""
    assert error_in_cells(name) < 3e-5


def test_tags_of_the_base_would_be_wrong_there(module, monkeypatch):
    monkeypatch.setattr(
        "quantshift.sketches.estimating.counts.tags_for_reading", lambda cls: cls.tags
    )
    assert error_in_cells("Likely") > 1e-4


def three_classes(n, shares, seed):
    rng = np.random.default_rng(seed)
    codes = rng.choice(3, n, p=shares)
    scores = rng.normal(size=(n, 3))
    scores[np.arange(n), codes] += 2.0
    odds = np.exp(2.0 * scores)
    posteriors = odds / odds.sum(axis=1, keepdims=True)
    labels = pl.Series("y", ["abc"[code] for code in codes])
    return pl.DataFrame(posteriors, schema=["a", "b", "c"]).with_columns(labels)


@pytest.fixture(scope="module")
def three():
    known, new = three_classes(1500, [0.4, 0.3, 0.3], 0), three_classes(6000, [0.1, 0.3, 0.6], 1)
    names = ["a", "b", "c"]
    return sketch(known, posteriors=names, label="y"), new.drop("y")


@pytest.mark.parametrize("name", ["Sharpened", "DeclaredLikely"])
def test_a_sketch_of_three_classes_in_joint_cells(module, three, name, monkeypatch):
    monkeypatch.setattr(rounded, "MOST_ROWS", 1000)
    training, new = three
    made = sketch(new, posteriors=["a", "b", "c"])
    found = quantify_sketch(made, training, method=f"{NAME}:{name}", replicates=20)
    known = three_classes(1500, [0.4, 0.3, 0.3], 0)
    codes = known["y"].replace_strict({"a": 0, "b": 1, "c": 2}).to_numpy()
    fitted = imported_class(f"{NAME}:{name}")().fit_posteriors(known.drop("y").to_numpy(), codes)
    exact = fitted.aggregate(new.to_numpy())
    assert [s.estimate for s in found.batches[0].shares] == pytest.approx(exact, abs=2e-3)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("Likely", "its tags do not say what it reads of the posteriors of more than two classes"),
        ("MedianOfLikely", "Likely: its tags do not say what it reads of the posteriors of more"),
        ("WithoutWeights", "it takes no weights, and a sketch has counts"),
    ],
)
def test_a_sketch_refuses_what_it_cannot_know(module, three, name, reason):
    training, new = three
    made = sketch(new, posteriors=["a", "b", "c"])
    with pytest.raises(UserError) as caught:
        quantify_sketch(made, training, method=f"{NAME}:{name}", replicates=20)
    assert str(caught.value).startswith(f"{name} cannot be used with a sketch: {reason}")
    assert "\n" not in str(caught.value)


@pytest.mark.slow
def test_it_is_on_the_leaderboard_as_added(quantshift, module, tmp_path):
    sizes = ("--set=shift.train_size=60", "--set=shift.train_repeats=1", "--set=shift.test_size=40")
    code, said, wrong = quantshift(
        *("bench", "tables-prior", "--methods=CC,MLPE", "--add", f"{module}:Sharpened"),
        *("--jobs=1", "--set=shift.test_repeats=1", "--set=selection.enabled=false", *sizes),
        *("--out", tmp_path / "bench"),
    )
    assert (code, wrong) == (0, ""), said
    scores = pl.read_csv(tmp_path / "bench" / "leaderboard.csv").filter(pl.col("measure") == "ae")
    families = dict(scores.select("method", "family").iter_rows())
    assert families == {"Sharpened": "added", "CC": "counting", "MLPE": "baseline"}
    errors = dict(scores.group_by("method").agg(pl.col("error").mean()).iter_rows())
    assert errors["Sharpened"] < errors["MLPE"]
