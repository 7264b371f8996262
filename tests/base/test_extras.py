import sys

import polars as pl
import pytest

from quantshift.base.extras import extra_needed
from quantshift.errors import UserError
from quantshift.report.build import build_report


@pytest.fixture
def no_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)


def test_a_report_with_figures_names_the_extra_before_it_begins(no_matplotlib, tmp_path) -> None:
    with pytest.raises(UserError, match=r"figures .* need matplotlib.*quantshift\[report\]"):
        build_report(pl.DataFrame(), tmp_path / "report", formats=["html", "pdf"])
    assert not (tmp_path / "report").exists()


def test_a_missing_module_of_our_own_is_no_missing_extra() -> None:
    with pytest.raises(ModuleNotFoundError), extra_needed("report", "plots"):
        import quantshift.nothing_of_this_name  # noqa: F401
