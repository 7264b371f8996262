"""The option that writes the files of the present formats."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """For `test_formats.py`, if it is named on the command line."""
    parser.addoption("--write-formats", action="store_true", help="write files of new versions")
