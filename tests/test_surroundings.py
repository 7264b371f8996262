"""The suite is no lottery: the same surroundings, the same examples, any order of files."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

PROBE = """
import datetime, locale, os, shutil, subprocess, sys, time
from pathlib import Path
from hypothesis import given, settings, strategies as st

DRAWN = []

@given(st.integers())
def test_drawn(n):
    DRAWN.append(n)

def test_told():
    told = "import datetime, os, shutil; print(shutil.get_terminal_size().columns, " \\
        "datetime.datetime.fromtimestamp(0), os.environ.get('NO_COLOR'), os.environ['LC_ALL'])"
    other = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True).stdout
    Path("told.txt").write_text("\\n".join(map(str, [
        DRAWN, time.tzname, locale.getencoding().upper(), shutil.get_terminal_size().columns, other,
        "FORCE_COLOR" in os.environ, Path.home().name.startswith("quantshift-home-"),
        os.environ["OMP_NUM_THREADS"], settings.default.database,
    ])))
"""


def outside() -> dict[str, str]:
    """The environment without what pytest adds to it."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}


def told(folder: Path, *options: str, environment: dict[str, str] | None = None) -> tuple[str, str]:
    """What a probe sees in a run of its own, and what pytest prints."""
    folder.mkdir()
    (folder / "conftest.py").write_text((ROOT / "conftest.py").read_text())
    (folder / "test_probe.py").write_text(PROBE)
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = slow\n")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options],
        cwd=folder,
        env={**outside(), **(environment or {})},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return (folder / "told.txt").read_text(), run.stdout


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> str:
    return told(tmp_path_factory.mktemp("plain") / "here")[0]


@pytest.mark.slow
def test_nothing_outside_reaches_a_test(here: str, tmp_path: Path) -> None:
    """Examples were new in every run, and the terminal and the time zone were the user's."""
    odd = {
        "TZ": "Pacific/Kiritimati",
        "LANG": "de_DE.ISO-8859-1",
        "LC_ALL": "C",
        "COLUMNS": "43",
        "NO_COLOR": "1",
        "FORCE_COLOR": "1",
        "HOME": str(tmp_path),
        "OMP_NUM_THREADS": "64",
        "XDG_CACHE_HOME": "/nowhere",
    }
    there, _ = told(tmp_path / "there", environment=odd)
    assert here == there
    assert here.splitlines()[1:4] == ["('UTC', 'UTC')", "UTF-8", "80"]


@pytest.mark.slow
def test_a_seed_draws_other_examples_and_repeats_them(here: str, tmp_path: Path) -> None:
    seven, printed = told(tmp_path / "seven", "--seed", "7", "-m", "slow or not slow")
    again, _ = told(tmp_path / "again", "--seed", "7")
    assert "repeat with --seed 7" in printed
    assert here != seven == again


@pytest.mark.slow
def test_a_fresh_seed_is_printed_and_workers_share_it(tmp_path: Path) -> None:
    fresh, printed = told(tmp_path / "fresh", "--seed", "fresh", "-n", "1")
    seed = printed.rpartition("--seed ")[2].split()[0]
    repeated, _ = told(tmp_path / "repeated", "--seed", seed)
    assert fresh == repeated


def test_a_seed_is_a_whole_number(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="whole number or 'fresh'"):
        told(tmp_path / "folder", "--seed", "1.5")


@pytest.mark.slow
def test_files_are_shuffled_but_not_what_is_in_them(tmp_path: Path) -> None:
    for name in "abcde":
        (tmp_path / f"test_{name}.py").write_text("def test_1(): ...\ndef test_2(): ...\n")
    (tmp_path / "conftest.py").write_text((ROOT / "conftest.py").read_text())

    def order(*options: str) -> list[str]:
        command = [sys.executable, "-m", "pytest", "--collect-only", "-q", *options]
        listed = subprocess.run(
            command, cwd=tmp_path, env=outside(), capture_output=True, text=True, check=True
        )
        return [line for line in listed.stdout.splitlines() if "::" in line]

    plain, shuffled = order(), order("--shuffle-files", "3")
    assert sorted(plain) == sorted(shuffled) != shuffled
    assert [line[-1] for line in shuffled] == ["1", "2"] * 5
