"""The published protocol, as the benchmark of several labels uses it."""

import numpy as np
import pytest

from benchmarks.parts.mulan_sets import errors_by_label, frequent_together, mulan_dir


def test_labels_are_those_of_the_most_frequent_pairs():
    has = np.zeros((10, 5), dtype=bool)
    has[:6, [1, 3]] = True  # together six times
    has[4:9, 4] = True  # with 1 and 3 twice each
    has[9, [0, 2]] = True
    assert frequent_together(has, 2).tolist() == [1, 3]
    assert frequent_together(has, 3).tolist() == [1, 3, 4]
    assert frequent_together(has, 5).tolist() == [0, 1, 2, 3, 4]


def test_relative_errors_are_those_of_having_the_label_and_of_not():
    # Smoothed by 1 / 200: 0.1 -> 0.105 / 1.01, 0.2 -> 0.205 / 1.01, 0.9 -> 0.905 / 1.01
    expected = (0.1 / 0.105 + 0.1 / 0.905) / 2
    found = errors_by_label(np.array([[0.1]]), np.array([[0.2]]), "rae")
    np.testing.assert_allclose(found, [[expected]])
    np.testing.assert_allclose(errors_by_label(np.array([[0.1]]), np.array([[0.2]]), "ae"), [[0.1]])


def test_without_the_data_the_benchmark_says_so_and_ends(monkeypatch, capsys, tmp_path):
    monkeypatch.delenv("QUANTSHIFT_MULAN", raising=False)
    with pytest.raises(SystemExit) as end:
        mulan_dir()
    assert end.value.code == 0
    assert "set QUANTSHIFT_MULAN" in capsys.readouterr().out
    monkeypatch.setenv("QUANTSHIFT_MULAN", str(tmp_path / "none"))
    with pytest.raises(SystemExit, match="there is no folder"):
        mulan_dir()
