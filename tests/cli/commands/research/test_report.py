"""`quantshift report` as its users call it."""

import pytest
import typer
from typer.testing import CliRunner

from quantshift.cli.commands.research.report import report
from quantshift.cli.declared import with_options
from quantshift.errors import UserError
from quantshift.lab.experiments.documents.loading import load_experiment
from quantshift.lab.experiments.executors import executor
from quantshift.lab.experiments.runner import Run, run_experiments
from quantshift.lab.experiments.sources import sources_of

SMALL = {
    "shift.train_prevalences": [0.3, 0.5],
    "shift.test_prevalences": [0.0, 1.0],
    "shift.train_size": 150,
    "shift.train_repeats": 1,
    "shift.test_size": 50,
    "shift.test_repeats": 1,
    "selection.enabled": False,
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    experiment = load_experiment("prior", profile="quick", overrides=SMALL)
    sources = sources_of(experiment, [], n_documents=2000)
    out = tmp_path_factory.mktemp("runs")
    run_experiments(Run((experiment,), {"prior": sources}, out), executor(1, None))
    return out


@pytest.fixture
def call():
    app = typer.Typer()
    app.command()(with_options(report))

    def invoke(*arguments):
        result = CliRunner().invoke(app, [*map(str, arguments)])
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return invoke


def test_a_page_and_where_it_is(call, runs, tmp_path):
    result = call(runs, "--out", tmp_path, "--formats", "html", "--formats", "csv")
    assert result.exit_code == 0
    assert f"6 files in {tmp_path}" in result.output
    page = tmp_path / "report.html"
    assert f"open {page.as_uri()} in a browser" in result.output
    text = page.read_text()
    assert "Results are incomplete" not in text
    assert "2 of 2" in text


def test_the_default_folder_is_inside_the_results(call, runs):
    result = call(runs, "-f", "md", "--against", "paper")
    assert result.exit_code == 0
    assert "in a browser" not in result.output
    assert (runs / "report" / "tables" / "published-prior.md").exists()


def test_a_wrong_format_is_refused(call, runs):
    with pytest.raises(UserError, match="unknown report format 'docx'"):
        call(runs, "--formats", "docx")


def test_a_wrong_reference_is_refused(call, runs):
    with pytest.raises(UserError, match="unknown reference 'papre'; did you mean 'paper'"):
        call(runs, "--against", "papre")


def test_a_folder_without_results_is_a_user_error(call, tmp_path):
    with pytest.raises(UserError, match="holds no results"):
        call(tmp_path)


def test_another_measure_and_the_methods_one_wants(call, runs, tmp_path):
    options = ["--measure", "rae", "--methods", "SLD, CC"]
    result = call(runs, "--out", tmp_path, "-f", "md", *options)
    assert result.exit_code == 0
    text = (tmp_path / "tables" / "prior.md").read_text()
    assert "mean relative absolute error" in text
    assert "| degree | SLD | CC |" in text


def test_unknown_measures_and_methods_name_the_nearest(call, runs, tmp_path):
    with pytest.raises(UserError, match="unknown error measure 'rea'; did you mean 'rae'"):
        call(runs, "--out", tmp_path, "--measure", "rea")
    with pytest.raises(UserError, match="unknown method 'SDL'; did you mean 'SLD'"):
        call(runs, "--out", tmp_path, "--methods", "SDL")
