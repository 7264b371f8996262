"""`doctor` shows what decides about the last digits of an estimate."""

import pytest
from threadpoolctl import threadpool_info

from quantshift.cli.commands.first_steps import doctor


def test_each_blas_is_shown_with_its_kernels() -> None:
    shown = {(value, note) for name, value, note in doctor.findings() if name == "BLAS"}
    pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    assert len(shown) == len({pool["version"] for pool in pools}) > 0
    for pool in pools:
        (note,) = {note for value, note in shown if value.endswith(str(pool["version"]))}
        assert note.endswith(pool["architecture"])


@pytest.mark.parametrize("name", doctor.LAST_DIGITS)
def test_variables_are_shown_where_they_are_set(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(name, raising=False)
    assert name not in {row[0] for row in doctor.findings()}
    monkeypatch.setenv(name, "2")
    assert [row[1] for row in doctor.findings() if row[0] == name] == ["2"]
