"""The commands of the repository that pages and the Makefile name."""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]

_RUN = re.compile(
    r"python (?:benchmarks/(?P<file>\w+)\.py|-m (?P<module>benchmarks\.\w+))(?P<rest>[^`\n|#]*)"
)
_MAKE = re.compile(r"`make ([a-z][a-z-]*)")
_TARGET = re.compile(r"^([a-z][a-z-]*):", re.MULTILINE)


@dataclass(frozen=True)
class Command:
    """A benchmark with its arguments, and the page that names it."""

    page: str
    name: str
    arguments: tuple[str, ...]
    is_module: bool

    @property
    def script(self) -> Path:
        return ROOT / "benchmarks" / f"{self.name}.py"

    @property
    def program(self) -> list[str]:
        return ["-m", f"benchmarks.{self.name}"] if self.is_module else [str(self.script)]


def pages() -> list[Path]:
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def benchmark_commands() -> list[Command]:
    """Every `python benchmarks/...` of a page, once."""
    found = {}
    for page in pages():
        for match in _RUN.finditer(page.read_text(encoding="utf-8")):
            name = match["file"] or match["module"].partition(".")[2]
            rest = match["rest"].split("; ")[0].split(" > ")[0].rstrip(" .,;:)")
            command = Command(
                str(page.relative_to(ROOT)), name, tuple(shlex.split(rest)), bool(match["module"])
            )
            found.setdefault((name, command.arguments), command)
    return list(found.values())


def named_targets() -> set[str]:
    """What a page asks `make` for."""
    return {t for page in pages() for t in _MAKE.findall(page.read_text(encoding="utf-8"))}


def targets() -> set[str]:
    """What the Makefile can make."""
    return set(_TARGET.findall((ROOT / "Makefile").read_text(encoding="utf-8")))
