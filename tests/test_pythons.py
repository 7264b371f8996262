"""`make test-pythons`: which interpreters are found."""

import importlib.util
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
_spec = importlib.util.spec_from_file_location("pythons", ROOT / "tests" / "pythons.py")
pythons = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(pythons)


def fake(folder: Path, name: str, says: str) -> Path:
    folder.mkdir(exist_ok=True)
    program = folder / name
    program.write_text(f"#!/bin/sh\n{says}\n")
    program.chmod(0o755)
    return program


def test_one_program_of_each_supported_version(tmp_path: Path) -> None:
    programs = [
        fake(tmp_path, "shim", "echo 'pyenv: python3.12: command not found' >&2; exit 127"),
        fake(tmp_path, "new", "echo 3 13"),
        fake(tmp_path, "twin", "echo 3 13"),
        fake(tmp_path, "middle", "echo 3 12"),
        fake(tmp_path, "old", "echo 3 10"),
    ]
    found = pythons.interpreters(programs, leave_out=[])
    assert list(found) == [(3, 12), (3, 13)]
    assert found[3, 13].name == "new"
    assert list(pythons.interpreters(programs, leave_out=[(3, 12)])) == [(3, 13)]


def test_this_interpreter_is_one(monkeypatch) -> None:
    assert pythons.version_of(Path(sys.executable)) == sys.version_info[:2]


def test_classifiers_start_at_the_oldest_version_promised() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    oldest = re.search(r'requires-python = ">=3\.(\d+)"', text).group(1)
    listed = re.findall(r"Python :: 3\.(\d+)", text)
    assert listed[0] == oldest == str(pythons.OLDEST[1])
