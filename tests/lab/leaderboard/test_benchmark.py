"""What a benchmark plans: experiments, data, methods, what is left out, and how long it takes."""

import pytest

from quantshift.errors import UserError
from quantshift.lab.experiments.documents.loading import suites
from quantshift.lab.experiments.executors import executor
from quantshift.lab.experiments.planning import planned
from quantshift.lab.experiments.runner import run_experiments
from quantshift.lab.leaderboard.benchmark import plan_benchmark, suite_of
from quantshift.lab.leaderboard.duration import expected_duration
from quantshift.lab.leaderboard.entrants import added_method
from quantshift.lab.results import ResultStore, status

TINY = {
    "shift.train_cuts": [2.5, 3.5],
    "shift.test_cuts": [2.5, 3.5],
    "shift.train_size": 150,
    "shift.train_repeats": 1,
    "shift.test_size": 50,
    "shift.test_repeats": 1,
    "selection.enabled": False,
}


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """The experiment concept alone, very small, as a suite of its own."""
    found = "quantshift.lab.leaderboard.benchmark.suites"
    monkeypatch.setattr(found, lambda: {"concepts": ("concept",), "covariates": ("covariate",)})

    def plan(names=("concepts",), **options):
        given = {"overrides": TINY, "n_documents": 2000, "methods": ["CC", "IBU", "HDx"]}
        return plan_benchmark(names, tmp_path / "out", **{**given, **options})

    return plan


def test_a_suite_is_a_folder_of_the_library():
    assert suite_of("prior") == "paper"
    assert suite_of("mine") == ""
    assert "prior" in suites()["paper"]


def test_methods_that_do_not_suit_are_left_out_with_the_reason(tiny, tmp_path):
    benchmark = tiny()
    (experiment,) = benchmark.run.experiments
    assert [method.name for method in experiment.methods] == ["CC"]
    assert benchmark.left_out() == [
        "on synthetic: HDx (compares features one by one, and there are more than 1,000)",
        "on synthetic: IBU (only for three or more ordered classes)",
    ]
    run_experiments(benchmark.run, executor(1))
    store = ResultStore.open(tmp_path / "out")
    assert set(store.left_out("concept", "synthetic")) == {"HDx", "IBU"}
    frame = status(store, planned(store.description))
    assert (frame["done"][0], frame["to_do"][0]) == (2, 0)


def test_a_method_left_out_once_may_be_run_later(tiny, tmp_path):
    run_experiments(tiny().run, executor(1))
    run_experiments(tiny(methods=["MLPE", "IBU"]).run, executor(1))
    store = ResultStore.open(tmp_path / "out")
    assert set(store.methods("concept")) == {"CC", "MLPE"}
    assert set(store.left_out("concept", "synthetic")) == {"HDx", "IBU"}
    assert run_experiments(tiny().run, executor(1)).done == 0


def test_experiments_that_cannot_be_run_are_told(tiny):
    benchmark = tiny(
        ("all",),
        overrides={"shift.train_size": 400, "shift.train_repeats": 1},
        n_documents=2000,
    )
    assert {skipped.experiment for skipped in benchmark.skipped} == {"covariate"}
    assert "asks for" in str(benchmark.skipped[0].reason)
    assert benchmark.missing_suites == ()


def test_what_is_refused(tiny):
    with pytest.raises(UserError, match="did you mean 'concepts'"):
        tiny(("concept",))
    with pytest.raises(UserError, match="unknown method 'CCC'"):
        tiny(methods=["CCC"])
    with pytest.raises(UserError, match="no method suits the data"):
        tiny(methods=["IBU"])
    with pytest.raises(UserError, match=r"can be run: .*asks for"):
        tiny(overrides={"shift.train_size": 100_000})


def test_an_added_method_costs_only_itself(tiny, tmp_path):
    assert run_experiments(tiny().run, executor(1)).done == 2
    file = tmp_path / "mine.py"
    file.write_text("from quantshift import PCC\nclass Mine(PCC):\n    pass\n")
    mine = added_method(f"{file}:Mine")
    twice = [mine, mine]
    with pytest.raises(UserError, match="two classes called 'Mine'"):
        tiny(added=twice)
    assert run_experiments(tiny(added=[mine]).run, executor(1)).done == 2
    store = ResultStore.open(tmp_path / "out")
    assert store.quantifiers("concept") == {"CC": "CC", "Mine": "mine.py:Mine"}
    last = store.times.records()[-1]
    assert set(last["methods"]) == {"Mine"}


def test_the_expected_time_is_that_of_the_log(tiny, tmp_path):
    plan = tiny().run.plan()
    guess = expected_duration(plan)
    assert (guess.seconds > 0, guess.known) == (True, 0)
    run_experiments(tiny().run, executor(1))
    store = ResultStore.open(tmp_path / "out")
    nothing_left = expected_duration(tiny().run.plan(store), store)
    assert nothing_left.seconds == 0
    known = expected_duration(plan, store)
    assert known.known == 1
    records = store.times.records()
    spent = sum(r["shared"] + sum(map(sum, r["methods"].values())) for r in records)
    # Two cells: their medians are their means.
    assert known.seconds == pytest.approx(spent, rel=1e-3)
    assert known.wall(2) == known.seconds / 2


def test_the_guess_grows_with_the_sizes_of_the_profile(tmp_path):
    plans = {
        profile: plan_benchmark(
            ["tables-prior"], tmp_path / "out", methods=["SLD", "PACC"], profile=profile
        ).run.plan()
        for profile in ("quick", "paper")
    }
    quick, paper = (expected_duration(plan).seconds for plan in plans.values())
    # Five times as many training sets, each four times as large, and more and larger samples.
    assert paper > 10 * quick


def test_a_suite_for_two_classes_says_so_and_names_others(tmp_path):
    with pytest.raises(UserError) as caught:
        plan_benchmark(["tables-prior"], tmp_path / "out", data=["wine"])
    message = str(caught.value)
    assert "'tables-prior' is for two classes, and " in message
    assert "has 3 (class_0, class_1, class_2); use the suite multiclass or" in message
