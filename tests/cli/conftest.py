"""What the tests of the verbs share: the command as a call."""

import sys

import pytest

from quantshift.cli.app import main


@pytest.fixture
def quantshift(monkeypatch, capsys):
    """Calls the command; returns exit code, standard output and standard error."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["quantshift", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        return ended.value.code or 0, captured.out, captured.err

    return call
