"""Every script in examples/ runs as its reader would run it, and says something true."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


def output_of(name: str, *arguments: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / name, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def numbers(line: str) -> list[float]:
    return [float(number) for number in re.findall(r"\d\.\d+", line)]


def test_every_example_is_short_and_tested() -> None:
    scripts = sorted(EXAMPLES.glob("*.py"))
    assert scripts
    tested = Path(__file__).read_text(encoding="utf-8")
    for script in scripts:
        assert f'"{script.name}"' in tested, f"{script.name} has no test"
        assert len(script.read_text(encoding="utf-8").splitlines()) < 60, script.name


@pytest.mark.slow
def test_own_csv(tmp_path: Path) -> None:
    said = output_of("own_csv.py", str(tmp_path), folder=tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["labelled.csv", "new.csv"]
    assert "of the 500 items in new.csv" in said
    estimated, true = (numbers(line)[0] for line in said.splitlines()[-2:])
    # Half of the training messages are complaints: counting would be far off.
    assert estimated == pytest.approx(true, abs=0.05)


@pytest.mark.slow
def test_own_method(tmp_path: Path) -> None:
    said = output_of("own_method.py", folder=tmp_path)
    assert "FM passes all checks" in said
    errors = {line.split()[0]: numbers(line) for line in said.splitlines() if "passes" not in line}
    prior, covariate = ({name: found[k] for name, found in errors.items() if found} for k in (0, 1))
    assert prior["SLD"] < prior["FM"] < prior["PCC"] / 2
    assert covariate["PCC"] == min(covariate.values())
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_posteriors_of_another_model(tmp_path: Path) -> None:
    said = output_of("posteriors_of_another_model.py", folder=tmp_path)
    days = [numbers(line) for line in said.splitlines()[1:]]
    assert len(days) == 4
    for true, mean, corrected, low, high in days:
        assert low <= true <= high
        assert abs(corrected - true) < abs(mean - true)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_monitoring(tmp_path: Path) -> None:
    said = output_of("monitoring.py", str(tmp_path), folder=tmp_path).splitlines()
    assert [line.split()[0] for line in said] == ["2026-W10", "2026-W11", "2026-W12", "2026-W13"]
    # The share of the last week is unknown, so nothing is said of a change.
    assert ["changed" in line for line in said] == [False, False, True, False]
    assert ["unknown" in line for line in said] == [False, False, False, True]
    assert ["ALARM" in line for line in said] == [False, False, False, True]
    for _, low, high, true in map(numbers, said[:3]):
        assert low <= true <= high
    assert "<svg" in (tmp_path / "parts.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_audit(tmp_path: Path) -> None:
    said = output_of("audit.py", folder=tmp_path)
    found = {line[:17].strip(): numbers(line) for line in said.splitlines()}
    (true,) = found["truth"]
    assert not found["without labels"][1] <= true <= found["without labels"][2]
    for name in ("counting labels", "audit"):
        assert found[name][1] <= true <= found[name][2]
    width = {name: found[name][2] - found[name][1] for name in ("counting labels", "audit")}
    assert width["audit"] < width["counting labels"]
    assert not list(tmp_path.iterdir())
