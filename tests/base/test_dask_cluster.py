"""The workers of a Dask cluster are checked before the work."""

import pytest

from quantshift import __version__
from quantshift.base.dask_cluster import check_workers, no_scheduler_left, problem_of_version
from quantshift.errors import UserError


class Answering:
    """A client whose workers answer as given, or by running the function."""

    def __init__(self, *answers):
        self.answers = answers

    def run(self, function, *arguments, on_error):
        assert on_error == "return"
        return {
            f"tcp://10.0.0.{i}": function(*arguments) if answer is None else answer
            for i, answer in enumerate(self.answers)
        }


def refused(client):
    with pytest.raises(UserError) as caught:
        check_workers(client, "tcp://10.0.0.9:8786", problem_of_version, __version__)
    return str(caught.value)


def test_workers_of_the_same_version_take_part():
    assert problem_of_version(__version__) == ""
    check_workers(Answering(None, None), "tcp://10.0.0.9:8786", problem_of_version, __version__)


def test_a_cluster_without_workers_is_refused():
    assert "`dask worker tcp://10.0.0.9:8786 --nthreads 1`" in refused(Answering())


def test_a_worker_of_another_version_is_refused():
    problem = problem_of_version("99.0")
    assert problem == f"has quantshift {__version__}, this is 99.0: install the same version"
    assert refused(Answering(None, problem)) == f"worker tcp://10.0.0.1 {problem}"


def test_a_worker_without_quantshift_is_refused():
    line = refused(Answering(ModuleNotFoundError("No module named 'quantshift'")))
    assert "cannot run quantshift (ModuleNotFoundError: No module named 'quantshift')" in line
    assert f"install quantshift {__version__} there" in line


def test_the_error_of_a_lost_scheduler_says_what_became_of_the_work():
    error = no_scheduler_left("tcp://10.0.0.9:8786", "nothing was written")
    assert str(error) == (
        "the Dask scheduler at tcp://10.0.0.9:8786 stopped responding; nothing was written"
    )
