"""Natural shift between groups of an imported table, from the library's TOML to the report."""

import numpy as np
import polars as pl
import pytest

from quantshift import SLD, GuardedSLD
from quantshift.errors import DataError, UserError
from quantshift.lab.data import FolderSource, import_table
from quantshift.lab.experiments.cell import suited
from quantshift.lab.experiments.documents.loading import load_experiment
from quantshift.lab.experiments.executors import SerialExecutor
from quantshift.lab.experiments.planning import planned
from quantshift.lab.experiments.runner import Run, run_experiments
from quantshift.lab.report import build_report
from quantshift.lab.results import ResultStore
from quantshift.lab.results.completeness import status
from quantshift.tables.preparation import TableColumns
from quantshift.texts.counts import CountMatrix
from quantshift.texts.tfidf import TfidfView
from quantshift.texts.view import MatrixView

SERIAL = SerialExecutor()
METHODS = {"quantifiers": ["PCC", "SLD", "MLPE"]}
YEARS = {"2019": 200, "2020": 150, "2021": 180, "2022": 120, "2023": 40}


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """Customers of five years, in which everything drifts."""
    folder = tmp_path_factory.mktemp("natural")
    rng = np.random.default_rng(0)
    year = np.repeat(list(YEARS), list(YEARS.values()))
    drift = np.repeat(np.arange(5), list(YEARS.values())) / 2
    age, spent = rng.normal(drift), rng.normal(size=len(year))
    left = rng.random(len(year)) < 1 / (1 + np.exp(-age + spent))
    day = [f"{y}-{1 + i % 12:02}-01" for i, y in enumerate(year)]
    frame = pl.DataFrame(
        {
            "age": age,
            "spent": spent,
            "colour": rng.choice(["red", "blue"], len(year)),
            "region": rng.choice(["north", "south"], len(year)),
            "day": day,
            "year": year,
            "left": np.where(left, "yes", "no"),
        }
    )
    frame.write_csv(folder / "customers.csv")
    import_table(
        folder / "customers.csv",
        folder / "customers",
        label="left",
        groups=["year", "day", "region"],
    )
    return FolderSource(folder / "customers")


def run_of(source, out, **overrides):
    values = {f"shift.{name}": value for name, value in overrides.items()}
    experiment = load_experiment("natural", overrides={**METHODS, **values})
    return Run((experiment,), {"natural": [source]}, out)


def test_every_group_is_left_out_once_and_small_ones_are_named(source, tmp_path):
    run = run_of(source, tmp_path / "out", by="year")
    plan = run.plan().experiments[0]
    assert [cell.coordinates["group_train"] for cell in plan.cells] == [
        f"all but {year}" for year in list(YEARS)[:4]
    ]
    assert (plan.n_samples, plan.n_estimates) == (4, 12)
    summary = run_experiments(run, SERIAL)
    assert (summary.done, summary.failures) == (4, ())
    store = ResultStore.open(run.out)
    frame = store.read().collect()
    assert sorted(frame["group_test"].unique()) == ["2019", "2020", "2021", "2022"]
    assert frame["size"].to_list() == [YEARS[year] for year in frame["group_test"]]
    assert frame["degree"].is_not_nan().all()
    note = store.about("natural").words.note
    assert note == "Groups of fewer than 100 items are left out: 2023."
    # The later the year the farther: the last one is told from the others best.
    auc = dict(frame.select("group_test", "group_auc").unique().iter_rows())
    assert auc["2022"] > max(auc["2020"], 0.6)
    assert run_experiments(run, SERIAL).done == 0


def test_forward_in_time_never_trains_on_the_future(source, tmp_path):
    run = run_of(source, tmp_path / "out", by="day", every="year", design="forward")
    run_experiments(run, SERIAL)
    frame = ResultStore.open(run.out).read().collect()
    for trained, tested in frame.select("group_train", "group_test").unique().iter_rows():
        assert trained.removeprefix("up to ") < tested
    assert frame["group_train"].n_unique() == 3


def test_the_store_knows_its_cells_without_the_data(source, tmp_path):
    run = run_of(source, tmp_path / "out", by="year", design="one-to-others")
    run_experiments(run, SERIAL)
    store = ResultStore.open(run.out)
    cells = planned(store.description)["natural"]["customers"]
    assert len(cells) == 4
    assert status(store, planned(store.description))["cells_done"].to_list() == [4]


def test_it_is_in_the_report(source, tmp_path):
    run = run_of(source, tmp_path / "out", by="region")
    run_experiments(run, SERIAL)
    build_report(run.out, tmp_path / "report", formats=("csv", "html"))
    page = (tmp_path / "report" / "report.html").read_text(encoding="utf-8")
    assert "Natural shift between groups" in page
    assert (tmp_path / "report" / "tables" / "natural.csv").exists()


def test_guarded_sld_runs_in_the_engine(source, tmp_path):
    experiment = load_experiment(
        "natural",
        overrides={
            "quantifiers": ["PCC", "GuardedSLD"],
            "shift.by": "region",
            "shift.train_size": 200,
        },
    )
    run = Run((experiment,), {"natural": [source]}, tmp_path / "out")
    assert run_experiments(run, SERIAL).failures == ()
    frame = ResultStore.open(run.out).read().collect()
    guarded = frame.filter(pl.col("method") == "GuardedSLD")
    assert guarded["refuted"].null_count() == 0
    assert guarded["auc"].is_between(0.3, 1).all()


def test_the_default_are_the_categories(small_source, tmp_path):
    experiment = load_experiment("natural", profile="quick", overrides=METHODS)
    run = Run((experiment,), {"natural": [small_source]}, tmp_path / "out")
    assert len(run.plan().experiments[0].cells) == 2


def test_the_only_group_column_needs_no_naming(tmp_path):
    rng = np.random.default_rng(0)
    label = rng.choice(["no", "yes"], 400)
    site = np.repeat(["a", "b"], 200)
    pl.DataFrame({"x": rng.normal(size=400), "site": site, "label": label}).write_csv(
        tmp_path / "one.csv"
    )
    import_table(tmp_path / "one.csv", tmp_path / "one", label="label", groups=["site"])
    (planned,) = run_of(FolderSource(tmp_path / "one"), tmp_path / "out").plan().experiments
    assert [cell.key for cell in planned.cells] == [
        "group_train-all+20+but+20+a,train_repeat-0",
        "group_train-all+20+but+20+b,train_repeat-0",
    ]


@pytest.mark.parametrize(
    ("by", "error", "message"),
    [
        ("yaer", UserError, "did you mean 'year'"),
        ("age", UserError, "name it as a group when you import the data set"),
        (
            "",
            UserError,
            "of the group columns of customers.csv .year, day, region.: set shift.by=year",
        ),
        ("day", DataError, "0 of 60 groups have 100 items or more"),
    ],
)
def test_other_columns_are_refused_in_one_line(source, tmp_path, by, error, message):
    with pytest.raises(error, match=message) as caught:
        run_of(source, tmp_path / "out", by=by).plan()
    assert len(str(caught.value).splitlines()) == 1


def test_wrong_options_name_their_key():
    for options, message in (
        ({"shift.design": "sideways"}, "shift.design"),
        ({"shift.test_repeats": 4}, "shift.test_repeats: 4 would repeat the same items"),
        ({"shift.smallest": 0}, "shift.smallest: must be at least 1"),
    ):
        with pytest.raises(UserError, match=message):
            load_experiment("natural", overrides=options)


def test_texts_and_tables_are_told_apart():
    frame = pl.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": ["x", "y", "x", "y"]})
    table = TableColumns.of(frame).view(np.arange(4))
    assert suited(GuardedSLD(), table).get_params()["mode"] == "columns"
    texts = TfidfView.fit(CountMatrix.from_texts(["a good book", "a bad book"] * 20), np.arange(40))
    assert suited(GuardedSLD(), texts).get_params()["mode"] == "signal"
    assert suited(GuardedSLD(), MatrixView(np.eye(4))).get_params()["mode"] == "auto"
    assert suited(GuardedSLD(mode="signal"), table).get_params()["mode"] == "signal"
    assert suited(SLD(), table).get_params() == SLD().get_params()
    (guarded,) = (m for m in load_experiment("natural").methods if m.name == "GuardedSLD")
    assert guarded.quantifier_with({}, seed=0).get_params()["mode"] == "auto"
