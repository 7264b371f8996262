"""mlquantify's own tests with our quantifiers in the place of its own.

Its package does not hold them: QUANTSHIFT_MLQUANTIFY names a folder with a checkout of it. What
cannot hold is listed with its reason.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

FOLDER = os.environ.get("QUANTSHIFT_MLQUANTIFY", "")
SUITES = ("test_adjust_counting", "test_likelihood", "test_mixture")
REASONS = {
    "test_cc_threshold_parameter": "CC has no threshold: it counts predicted classes",
    "test_dys_measures": 'DyS has no divergence "probsymm"',
    "test_bin_sizes": "DyS has one number of bins; HDy is the median over several",
}


@pytest.mark.slow
@pytest.mark.skipif(not FOLDER, reason="QUANTSHIFT_MLQUANTIFY names no checkout of mlquantify")
def test_mlquantify_s_tests_pass_with_our_quantifiers_or_cannot(tmp_path: Path) -> None:
    shutil.copytree(Path(FOLDER) / "tests", tmp_path / "tests")
    suites = [f"tests/{name}.py" for name in SUITES]
    plugin = ["-p", "tests_adapters", "-p", "no:cacheprovider", "-W", "ignore"]
    shutil.copy(Path(__file__).with_name("mlquantify_adapters.py"), tmp_path / "tests_adapters.py")
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *plugin, "--junitxml=out.xml", *suites],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (tmp_path / "out.xml").is_file(), done.stdout + done.stderr
    cases = list(ElementTree.parse(tmp_path / "out.xml").iter("testcase"))
    failed = {
        str(case.get("name")).partition("[")[0]
        for case in cases
        if case.find("failure") is not None or case.find("error") is not None
    }
    assert len(cases) > 80
    assert failed == REASONS.keys(), done.stdout
