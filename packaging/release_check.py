"""Whether this state could be published: `make release-check`.

    python packaging/release_check.py [--out release] [--python python3.11 --python python3.13]

1. Version, changelog, CITATION.cff and the recipe name the same version.
2. `python -m build` makes the distributions of the last commit twice: the same bytes.
3. `twine check --strict` and `check-wheel-contents`; the wheel holds the licence of what it ships.
4. The wheel is installed into an empty environment of each Python, where the commands of README.md
   and those that `quantshift example` prints run, and say what README.md shows.
5. A software bill of materials of that environment (CycloneDX), with a known licence for every
   package and none that forbids use beside BSD-3.

The distributions are left in OUT/dist, the bill of materials in OUT/sbom.json. The first step that
fails ends it with exit code 1.
"""

import argparse
import hashlib
import json
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
TOOLS = ("build", "twine", "check-wheel-contents", "cyclonedx-bom")
FORBIDDEN = re.compile(r"\bA?GPL", re.IGNORECASE)
"""Licences that would bind whoever uses both; the LGPL does not."""
UNDECLARED = {"threadpoolctl": "BSD-3-Clause"}
"""Licences that metadata do not name in a form that the bill of materials takes up."""


def main() -> int:
    """All steps."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "release")
    parser.add_argument("--python", action="append", help="of the empty environments (this one)")
    options = parser.parse_args()
    out = options.out.resolve()
    shutil.rmtree(out, ignore_errors=True)
    version = same_version()
    tools = environment(out / "tools", sys.executable, *TOOLS)
    wheel = built_twice(tools, out)
    checked(tools, wheel.parent)
    for python in options.python or [sys.executable]:
        tried(environment(out / f"env-{Path(python).name}", python, str(wheel)), version, out)
    bill_of_materials(tools, out / f"env-{Path((options.python or [sys.executable])[0]).name}", out)
    for leftover in (*out.glob("env-*"), out / "tools"):
        shutil.rmtree(leftover)
    say(f"could be published: {', '.join(sorted(p.name for p in wheel.parent.iterdir()))}")
    return 0


def say(line: str) -> None:
    """Print what has been found."""
    print(line, flush=True)  # noqa: T201 - what the script is for


def run(*command: str | Path, cwd: Path = ROOT, env: Mapping[str, str] | None = None) -> str:
    """Standard output; the script ends with the command's own words if it fails."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        sys.exit(
            f"{shlex.join(map(str, command))}: exit {done.returncode}\n{done.stdout}{done.stderr}"
        )
    return done.stdout


def same_version() -> str:
    """What all files name."""
    source = (ROOT / "src" / "quantshift" / "__init__.py").read_text(encoding="utf-8")
    (version,) = re.findall(r'^__version__ = "(.+)"', source, re.MULTILINE)
    notes = runpy.run_path(str(ROOT / "packaging" / "release_notes.py"))["notes"]
    notes(f"v{version}", source, (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    for name, pattern in {
        "CITATION.cff": rf"^version: {re.escape(version)}$",
        "packaging/conda/recipe.yaml": rf'^  version: "{re.escape(version)}"$',
    }.items():
        if not re.search(pattern, (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE):
            sys.exit(f"{name} does not name version {version}")
    say(f"version {version}: package, changelog, citation and recipe")
    return version


def environment(folder: Path, python: str, *packages: str) -> Path:
    """The Python of an environment that holds these packages and what they need."""
    run(python, "-m", "venv", folder)
    own = folder / "bin" / "python"
    run(own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages)
    return own


def built_twice(tools: Path, out: Path) -> Path:
    """The wheel of the last commit; both distributions have the same bytes when built again."""
    stamp = run("git", "log", "-1", "--format=%ct").strip()
    changed = run("git", "status", "--porcelain").splitlines()
    if changed:
        say(f"not committed, so not in the distributions: {len(changed)} files")
    source = out / "source"
    source.mkdir()
    run("git", "archive", "--output", out / "source.tar", "HEAD")
    run("tar", "xf", out / "source.tar", "-C", source)
    (out / "source.tar").unlink()
    digests = []
    for place in (out / "dist", out / "again"):
        build = (tools, "-m", "build", "--outdir", place)
        run(*build, cwd=source, env={"SOURCE_DATE_EPOCH": stamp})
        files = sorted(place.iterdir())
        digests.append({p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in files})
    if digests[0] != digests[1]:
        sys.exit(f"not reproducible: {digests}")
    shutil.rmtree(out / "again")
    shutil.rmtree(source)
    for name, digest in digests[0].items():
        say(f"built twice, the same bytes: {name} {digest}")
    (wheel,) = (out / "dist").glob("*.whl")
    return wheel


def checked(tools: Path, dist: Path) -> None:
    """The checks of others, and the licences of what is shipped."""
    run(tools, "-m", "twine", "check", "--strict", *sorted(dist.iterdir()))
    (wheel,) = dist.glob("*.whl")
    run(tools.with_name("check-wheel-contents"), wheel)
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        # Charts of the pages are drawn by Vega, which is inside the page.
        licences = [name for name in names if re.search(r"licen[cs]e", name, re.IGNORECASE)]
    if not any("vega" in name for name in licences) or len(licences) < 2:
        sys.exit(f"a licence is missing in the wheel: {licences}")
    say(f"twine, check-wheel-contents; licences in the wheel: {', '.join(licences)}")


def tried(python: Path, version: str, out: Path) -> None:
    """The commands of README.md and of `quantshift example`, as a user would type them."""
    place = out / "tried"
    place.mkdir()
    command = python.with_name("quantshift")
    name = run(python, "-c", "import sys; print(sys.version.split()[0])").strip()
    if run(command, "--version", cwd=place).strip() != f"quantshift {version}":
        sys.exit("another version is installed")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    typed = re.findall(r"^quantshift ([^#\n]*?) *(?:#.*)?$", readme, re.MULTILINE)
    said = {line: run(command, *shlex.split(line), cwd=place) for line in typed}
    shown = re.findall(r"```text\n(.*?)```", readme, re.DOTALL)
    everything = "".join(said.values())
    missing = [line for text in shown for line in text.splitlines() if line not in everything]
    if missing:
        sys.exit(f"README.md shows what does not come out: {missing}")
    stories = re.findall(r"^  quantshift (.+)$", said["example"], re.MULTILINE)
    for line in stories:
        run(command, *shlex.split(line), cwd=place)
    shutil.rmtree(place)
    say(
        f"Python {name}, empty environment: {len(typed)} commands of README.md, {len(stories)} more"
    )


def bill_of_materials(tools: Path, folder: Path, out: Path) -> None:
    """What is installed with the wheel, with versions and licences."""
    file = out / "sbom.json"
    bill = tools.with_name("cyclonedx-py")
    run(bill, "environment", "--output-reproducible", "-o", file, folder / "bin" / "python")
    components = json.loads(file.read_text(encoding="utf-8"))["components"]
    licences = {each["name"]: licence_of(each) for each in components}
    unknown = sorted(name for name, texts in licences.items() if not texts)
    if unknown:
        sys.exit(f"no licence is declared by {', '.join(unknown)}")
    bound = {n: t for n, t in licences.items() if all(FORBIDDEN.search(text) for text in t)}
    if bound:
        sys.exit(f"licences that bind users: {bound}")
    say(f"{file}: {len(components)} packages")
    for name, texts in sorted(licences.items()):
        say(f"  {name}: {' / '.join(texts)}")


def licence_of(component: Mapping[str, object]) -> Sequence[str]:
    """Names and expressions of a component's licences, shortened."""
    found = []
    for each in component.get("licenses", []):  # type: ignore[attr-defined]
        licence = each.get("license", {})
        text = each.get("expression") or licence.get("id") or licence.get("name") or ""
        found.append(" ".join(text.split())[:60])
    return [text for text in found if text] or [
        text for text in [UNDECLARED.get(str(component["name"]))] if text
    ]


if __name__ == "__main__":
    sys.exit(main())
