"""What is published: a source distribution that tests itself, and a wheel."""

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import quantshift

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

pytest.importorskip("hatchling", reason="hatchling is not installed")


def build(source: Path, kind: str, out: Path) -> Path:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", kind, "--directory", str(out)],
        cwd=source,
        check=True,
        capture_output=True,
    )
    return next(out.iterdir())


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sdist")
    with tarfile.open(build(ROOT, "sdist", folder / "dist")) as archive:
        archive.extractall(folder, filter="data")
    return folder / f"quantshift-{quantshift.__version__}"


def test_the_source_distribution_has_all_that_its_tests_need(unpacked):
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if tracked.returncode:
        pytest.skip("not in a clone")
    files = {path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*")}
    there = [name for name in tracked.stdout.splitlines() if (ROOT / name).exists()]
    assert [name for name in there if name not in files] == []


@pytest.mark.slow
def test_the_source_distribution_tests_itself(unpacked):
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "tests/base", "tests/test_exports.py"],
        cwd=unpacked,
        env={**os.environ, "PYTHONPATH": str(unpacked / "src")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-2000:]


def test_the_wheel_holds_the_package_alone(unpacked, tmp_path):
    wheel = build(unpacked, "wheel", tmp_path / "dist")
    assert wheel.name == f"quantshift-{quantshift.__version__}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = archive.read(next(n for n in names if n.endswith("/METADATA"))).decode()
    assert {name.split("/")[0].partition("-")[0] for name in names} == {"quantshift"}
    assert "quantshift/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert "License-Expression: BSD-3-Clause" in metadata
    package = unpacked / "src" / "quantshift"
    wanted = {p.relative_to(package.parent).as_posix() for p in package.rglob("*") if p.is_file()}
    assert {name for name in wanted if "__pycache__" not in name} <= set(names)


def test_the_pythons_that_are_declared_are_those_that_are_tested():
    declared = set(re.findall(r":: (3\.\d+)\"", (ROOT / "pyproject.toml").read_text()))
    assert declared == {"3.11", "3.12", "3.13", "3.14"}
    assert PROJECT["requires-python"] == f">={min(declared)}"


def test_the_addresses_are_all_in_one_place():
    repository = PROJECT["urls"]["Repository"]
    assert PROJECT["urls"]["Changelog"] == f"{repository}/blob/main/CHANGELOG.md"
    assert PROJECT["urls"]["Issues"] == f"{repository}/issues"
    assert f"{repository}/security" in (ROOT / "SECURITY.md").read_text(encoding="utf-8")
