"""Who takes part: families, classes from files, and what does not suit."""

import dataclasses

import numpy as np
import pytest

from quantshift.errors import UserError
from quantshift.lab.data.sources import SyntheticSource, open_source
from quantshift.lab.experiments.documents.experiment import MethodSpec
from quantshift.lab.experiments.documents.loading import load_experiment
from quantshift.lab.experiments.population import open_population
from quantshift.lab.leaderboard.entrants import added_method, entrants, family_of, unsuited
from quantshift.quantifiers.base import catalogue

MINE = """
from quantshift import CC

class Mine(CC):
    pass

class NotOne:
    pass

class PACC(CC):
    pass

class OnInstance(CC):
    def __init__(self, classifier=None):
        super().__init__(classifier)
        self.predict = lambda X, **options: [0.9, 0.1]
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(MINE)
    return path


@pytest.fixture(scope="module")
def reviews():
    experiment = load_experiment("prior", profile="quick")
    source = SyntheticSource(2000)
    return open_source(source), open_population(experiment, source)


def test_every_method_of_the_catalogue_has_a_family():
    families = {name: family_of(name) for name in catalogue.quantifiers()}
    assert {families[name] for name in ("CC", "ACC", "LEIP")} == {"counting"}
    assert (families["PQ"], families["EoQ"], families["IBU"]) == (
        "Bayesian",
        "ensemble",
        "ordered classes",
    )
    assert [name for name, family in families.items() if family == "baseline"] == ["MLPE"]
    assert len(set(families.values())) == 7
    assert family_of("mine.py:Mine") == "added"


def test_a_class_of_a_file(file):
    method = added_method(f"{file}:Mine")
    assert (method.name, method.quantifier, method.folder) == ("Mine", "mine.py:Mine", file.parent)
    assert method.cls.__name__ == "Mine"


def test_a_file_may_move_and_its_results_stay(file, tmp_path):
    experiment = load_experiment("prior", profile="quick")
    (tmp_path / "elsewhere").mkdir()
    other = tmp_path / "elsewhere" / "mine.py"
    other.write_text(MINE)
    first, second = (added_method(f"{path}:Mine") for path in (file, other))
    assert experiment.method_signature(first) == experiment.method_signature(second)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Min", "did you mean 'Mine'"),
        ("NotOne", "'mine.py:NotOne' is not a quantifier"),
        ("PACC", "there is a method called 'PACC' already"),
        ("OnInstance", "'predict' is set on the instance, which is not called; define it as a"),
        ("", "is not of the form FILE.py:Class"),
    ],
)
def test_a_class_that_cannot_be_added(file, name, message):
    """A `predict` set in `__init__` was ignored, and that of CC called."""
    with pytest.raises(UserError, match=message):
        added_method(f"{file}:{name}")


def test_a_file_that_is_not_there_or_does_not_run(tmp_path):
    with pytest.raises(UserError, match="there is no Python file"):
        added_method(f"{tmp_path / 'none.py'}:Mine")
    broken = tmp_path / "broken.py"
    broken.write_text("1 / 0")
    with pytest.raises(UserError, match=r"cannot run .*ZeroDivisionError"):
        added_method(f"{broken}:Mine")
    with pytest.raises(UserError, match="is not of the form"):
        added_method("mine.py")


def test_all_methods_with_the_experiments_options(file):
    experiment = load_experiment("prior", profile="quick")
    mine = added_method(f"{file}:Mine")
    everything = {m.name: m for m in entrants(experiment, added=[mine])}
    assert set(everything) == {*catalogue.quantifiers(), "Mine"}
    assert everything["SLD"].options == {"calibration": "sigmoid"}
    assert [m.name for m in entrants(experiment, methods=["CC"], added=[mine])] == ["CC", "Mine"]


def test_what_does_not_suit_two_classes_of_texts(reviews):
    reasons = {name: unsuited(MethodSpec(name, name), *reviews) for name in catalogue.quantifiers()}
    left_out = {name for name, reason in reasons.items() if reason}
    features = {"HDx", "DMx", "EDx", "MMDx"}
    ordered = {name for name, cls in catalogue.quantifiers().items() if cls.tags.ordered}
    assert left_out == features | ordered
    assert reasons["HDx"] == "compares features one by one, and there are more than 1,000"
    assert reasons["IBU"] == "only for three or more ordered classes"


def test_order_and_posteriors_decide(reviews):
    dataset, population = reviews
    five = dataclasses.replace(population, classes=("1", "2", "3", "4", "5"))
    method = MethodSpec("IBU", "IBU")
    assert unsuited(method, dataset, five) == ""
    unordered = dataclasses.replace(dataset, ordinal=False)
    assert unsuited(method, unordered, five) == "only for ordered classes"
    given = dataclasses.replace(dataset, posteriors=np.full((len(dataset), 2), 0.5), features=None)
    assert "posteriors" in unsuited(MethodSpec("EoQ", "EoQ"), given, population)
    assert unsuited(MethodSpec("SLD", "SLD"), given, population) == ""
