"""The workflows, the recipe and the container file, as far as they can be checked without GitHub.

Each script of a step is parsed by bash, and what it calls exists; those that need no service are
run. Who may write is said for each job, and no secret but GitHub's own token is used.
"""

import json
import os
import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

import quantshift
from website.versions import add_version

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def told(path: Path):
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    content["on"] = content.pop(True)  # YAML 1.1 reads the key `on` as a truth value
    return content


def jobs():
    for path in WORKFLOWS:
        for name, job in told(path)["jobs"].items():
            yield pytest.param(job, id=f"{path.stem}-{name}")


def steps():
    for path in WORKFLOWS:
        for name, job in told(path)["jobs"].items():
            for step in job.get("steps", []):
                if "run" in step:
                    yield pytest.param(step, id=f"{path.stem}-{name}-{step.get('name', 'run')}")


def test_there_is_a_workflow_for_each_purpose():
    assert [path.stem for path in WORKFLOWS] == ["benchmark", "ci", "docs", "release"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_what_is_not_said_may_not_be_written(path):
    content = told(path)
    assert content["permissions"]["contents"] in {"read", "write"}
    for name, job in content["jobs"].items():
        asked = set(job.get("permissions", content["permissions"]).items())
        known = {("contents", "read"), ("contents", "write"), ("packages", "write")}
        assert asked <= known | {("id-token", "write")}, name
    text = path.read_text(encoding="utf-8")
    assert set(re.findall(r"secrets\.(\w+)", text)) <= {"GITHUB_TOKEN"}


@pytest.mark.parametrize("job", list(jobs()))
def test_every_step_runs_or_uses_something_of_a_version(job):
    if "uses" in job:
        assert (ROOT / job["uses"]).is_file()
        return
    for step in job["steps"]:
        assert ("run" in step) != ("uses" in step)
        if "uses" in step:
            assert re.fullmatch(r"[\w-]+/[\w-]+@(v\d+|release/v\d+)", step["uses"])


@pytest.mark.parametrize("step", list(steps()))
def test_scripts_are_bash_and_call_what_is_there(step):
    script = step["run"]
    # An expression inside a script would be filled in unquoted: values go through `env`.
    assert "${{" not in script
    subprocess.run(["bash", "-n"], input=script, text=True, check=True)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"^\s*make (\S+)", script, re.MULTILINE):
        assert f"\n{target}:" in makefile
    for file in re.findall(r"(?:benchmarks|packaging|\.ci)/[\w./]+", script):
        assert (ROOT / file).is_file(), file
    for module in re.findall(r"python -m (website\.\w+)", script):
        assert (ROOT / f"{module.replace('.', '/')}.py").is_file()


def test_the_matrix_is_what_the_package_declares():
    ci = told(ROOT / ".github" / "workflows" / "ci.yml")
    declared = [text.rpartition(" ")[2] for text in PROJECT["classifiers"]]
    pythons = [each for each in declared if re.fullmatch(r"3\.\d+", each)]
    assert ci["jobs"]["test"]["strategy"]["matrix"]["python"] == pythons


def test_only_what_was_checked_is_published_without_a_token():
    release = told(ROOT / ".github" / "workflows" / "release.yml")["jobs"]
    assert set(release["pypi"]["needs"]) == {"checks", "version"}
    assert release["pypi"]["permissions"] == {"id-token": "write"}
    assert "with" not in release["pypi"]["steps"][-1]  # no password
    for job in ("container", "release"):
        assert release[job]["needs"] == "pypi"


# The scripts behind the steps

release_notes = SimpleNamespace(**runpy.run_path(str(ROOT / "packaging" / "release_notes.py")))
CHANGELOG = "# Changelog\n\n## Unreleased\n\n- new\n\n## 1.2.0 (2027)\n\n- old\n\n## 1.2\n\n- x\n"


def test_notes_are_the_part_of_the_version():
    assert release_notes.notes("v1.2.0", '__version__ = "1.2.0"\n', CHANGELOG) == "- old\n"


def test_links_of_the_notes_work_outside_the_site():
    text = "[a](guides/judge.md), [b](start.md#what-is-installed), [c](https://x.org/y.md), [d](#e)"
    text += ", [f](suites/index.md)"
    assert release_notes.with_addresses(text, "https://docs/1.2") == (
        "[a](https://docs/1.2/guides/judge/), [b](https://docs/1.2/start/#what-is-installed), "
        "[c](https://x.org/y.md), [d](#e), [f](https://docs/1.2/suites/)"
    )


@pytest.mark.parametrize(
    ("tag", "version", "message"),
    [
        ("v1.2.1", "1.2.0", "the tag is v1.2.1, the package 1.2.0"),
        ("v1.2.1", "1.2.1", "CHANGELOG.md has no part for 1.2.1"),
        ("1.2.0", "1.2.0", "the tag is 1.2.0"),
    ],
)
def test_a_tag_that_does_not_fit_is_refused(tag, version, message):
    with pytest.raises(ValueError, match=message):
        release_notes.notes(tag, f'__version__ = "{version}"\n', CHANGELOG)


def test_the_changelog_has_the_present_version_and_its_date(capsys):
    assert release_notes.main(f"v{quantshift.__version__}") is None
    assert len(capsys.readouterr().out.splitlines()) > 1
    about = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    title = f"## {quantshift.__version__} ({about.get('date-released', 'not released yet')})"
    assert title in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()


def test_the_step_of_the_release_ends_in_a_line():
    step = next(
        step
        for step in told(ROOT / ".github" / "workflows" / "release.yml")["jobs"]["version"]["steps"]
        if "run" in step
    )
    script = step["run"].replace("> notes.md", "").replace("python ", f"{sys.executable} ")
    done = subprocess.run(
        ["bash", "-e", "-c", script],
        cwd=ROOT,
        env={**os.environ, "TAG": "v0.0.0"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stderr == f"the tag is v0.0.0, the package {quantshift.__version__}\n"


release_check = SimpleNamespace(**runpy.run_path(str(ROOT / "packaging" / "release_check.py")))


def test_package_changelog_citation_and_recipe_name_the_same_version(capsys):
    assert release_check.same_version() == quantshift.__version__
    assert "citation and recipe" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("component", "licences", "binds"),
    [
        ({"name": "a", "licenses": [{"expression": "BSD-3-Clause AND MIT"}]}, 1, False),
        ({"name": "a", "licenses": [{"license": {"id": "GPL-3.0-only"}}]}, 1, True),
        ({"name": "a", "licenses": [{"license": {"name": "GNU AGPLv3"}}]}, 1, True),
        ({"name": "a", "licenses": [{"license": {"id": "LGPL-3.0-only"}}]}, 1, False),
        ({"name": "a", "licenses": [{"license": {"id": "MIT"}}, {"license": {}}]}, 1, False),
        ({"name": "a"}, 0, False),
    ],
)
def test_licences_are_read_and_judged(component, licences, binds):
    found = release_check.licence_of(component)
    assert len(found) == licences
    assert any(release_check.FORBIDDEN.search(text) for text in found) == binds


def test_what_the_checks_built_is_what_is_published():
    ci = told(ROOT / ".github" / "workflows" / "ci.yml")["jobs"]["distributions"]["steps"]
    assert any(step.get("run", "").startswith("make release-check") for step in ci)
    uploaded = {s["with"]["name"]: s["with"]["path"] for s in ci if "upload" in s.get("uses", "")}
    assert uploaded == {
        "distributions": "release/dist",
        "bill-of-materials": "release/sbom.json",
    }


@pytest.fixture
def site(tmp_path):
    folder = tmp_path / "site"
    (folder / "guides").mkdir(parents=True)
    (folder / "index.html").write_text("first")
    (folder / "guides" / "index.html").write_text("guides")
    return folder


def test_versions_of_the_documentation_stand_side_by_side(site, tmp_path):
    pages = tmp_path / "pages"
    assert add_version(site, pages, "dev") == ["dev"]
    assert 'url=dev/"' in (pages / "index.html").read_text()
    for version in ("0.9.0", "0.10.0"):
        versions = add_version(site, pages, version)
    assert versions == ["0.10.0", "0.9.0", "dev"]
    assert json.loads((pages / "versions.json").read_text()) == versions
    assert 'url=0.10.0/"' in (pages / "index.html").read_text()
    (site / "guides" / "index.html").unlink()
    add_version(site, pages, "0.9.0")
    assert not (pages / "0.9.0" / "guides" / "index.html").exists()
    assert (pages / "0.10.0" / "guides" / "index.html").exists()


@pytest.mark.parametrize("name", ["../dev", "main", "1.0", ""])
def test_a_name_that_is_no_version_is_refused(site, tmp_path, name):
    with pytest.raises(ValueError, match="is neither a version"):
        add_version(site, tmp_path / "pages", name)


against_release = SimpleNamespace(**runpy.run_path(str(ROOT / "benchmarks" / "against_release.py")))


def test_slower_is_more_than_the_noise_of_a_machine():
    assert against_release.is_slower(1.0, 1.6)
    assert not against_release.is_slower(1.0, 1.4)
    assert not against_release.is_slower(0.02, 0.04)


# The recipe, the container and the updates


def test_the_recipe_has_the_dependencies_of_the_package():
    recipe = yaml.safe_load(
        (ROOT / "packaging" / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    )
    extras = PROJECT["optional-dependencies"]
    wanted = PROJECT["dependencies"] + extras["report"]
    # conda-forge calls matplotlib without its windows matplotlib-base.
    named = {
        each.replace("matplotlib>", "matplotlib-base>").replace(">=", " >=") for each in wanted
    }
    run = set(recipe["requirements"]["run"])
    assert run == named | {"python >=${{ python_min }}"}
    assert PROJECT["requires-python"] == f">={recipe['context']['python_min']}"
    assert recipe["context"]["version"] == quantshift.__version__
    scripts = [f"{name} = {place}" for name, place in PROJECT["scripts"].items()]
    assert recipe["build"]["python"]["entry_points"] == scripts
    assert recipe["about"]["license"] == PROJECT["license"]
    assert recipe["about"]["homepage"] == PROJECT["urls"]["Repository"]


def test_the_container_runs_the_command_as_an_ordinary_user():
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    instructions = [line.partition(" ")[::2] for line in lines]
    assert {name for name, _ in instructions} <= {
        *("FROM", "ARG", "COPY", "RUN", "ENV", "USER", "WORKDIR", "ENTRYPOINT", "CMD")
    }
    for name, rest in instructions:
        if name == "RUN":
            subprocess.run(["bash", "-n"], input=rest, text=True, check=True)
    last = dict(instructions)
    assert (last["USER"], last["ENTRYPOINT"]) == ("quantshift", '["quantshift"]')
    assert set(PROJECT["optional-dependencies"]) >= set(re.findall(r"EXTRAS=\[(\w+)\]", text))


@pytest.mark.slow
@pytest.mark.parametrize("place", ["Dockerfile", "examples/ops/Dockerfile"])
def test_a_container_has_compiled_what_answers_need(place, tmp_path):
    """What the image runs when it is built, and then as its users do: nothing is compiled again."""
    text = (ROOT / place).read_text(encoding="utf-8").replace("\\\n", " ")
    (build,) = re.findall(r"^RUN (.*quantshift example.*)$", text, flags=re.MULTILINE)
    folder = Path(sys.executable).parent
    surroundings = {
        **os.environ,
        **dict(re.findall(r"(NUMBA_CPU_NAME)=(\w+)", text)),
        "NUMBA_CACHE_DIR": str(tmp_path / "kept"),
        "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
        "TMPDIR": str(tmp_path),
    }
    subprocess.run(["bash", "-c", build], env=surroundings, check=True)
    subprocess.run(["quantshift", "example"], cwd=tmp_path, env=surroundings, check=True)
    for name, label in (("reviews", "sentiment"), ("customers", "left")):
        tables = ["--train", f"{name}.csv", "--sample", f"new-{name}.csv", "--label", label]
        done = subprocess.run(
            ["quantshift", "quantify", *tables],
            cwd=tmp_path / "examples",
            env=surroundings,
            capture_output=True,
            text=True,
        )
        assert done.returncode in (0, 4), done.stderr
        assert "compiling" not in done.stderr


def test_updates_are_asked_for_python_actions_and_the_container():
    content = yaml.safe_load((ROOT / ".github" / "dependabot.yml").read_text(encoding="utf-8"))
    assert content["version"] == 2
    assert {each["package-ecosystem"] for each in content["updates"]} == {
        *("pip", "github-actions", "docker")
    }
