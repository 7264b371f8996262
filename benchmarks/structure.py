"""The shape of the package: lines, files, rooms, long functions, names that occur twice.

    python benchmarks/structure.py [FOLDER] [--revision REVISION ...]

Without arguments the package of this checkout is measured. FOLDER is another checkout; each
REVISION of this one, a commit or tag, becomes a column beside it. *Level*: the modules of one
folder, `__init__` not counted. *Loose*: modules at the top of the package. A function's lines run
from `def` to its end, its docstring included; compiled functions are counted apart, because kernels
are long and take many arrays by nature. *Twice*: names of modules, of classes and of public
functions that stand in more than one module.
"""

import argparse
import ast
import subprocess
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from io import BytesIO
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = Path("src") / "quantshift"
COMPILED = {"compiled", "compiled_inline", "compiled_sums"}

LONG = 60
VERY_LONG = 100
MANY_PARAMETERS = 8

Function = ast.FunctionDef | ast.AsyncFunctionDef


def shape(checkout: Path) -> dict[str, int | str]:
    """What the table shows of one checkout."""
    package = checkout / PACKAGE
    paths = sorted(package.rglob("*.py"))
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in paths}
    modules = [path for path in paths if path.stem not in {"__init__", "__main__"}]
    levels = Counter(path.parent for path in modules)
    widest, n_widest = levels.most_common(1)[0]
    functions = [function for tree in trees.values() for function in functions_of(tree)]
    plain = [function for function in functions if not is_compiled(function)]
    return {
        "lines": sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths),
        "files": len(paths),
        "rooms at the top": len({path.parent for path in package.glob("*/__init__.py")}),
        "loose modules at the top": levels[package],
        "widest level": f"{n_widest} ({widest.relative_to(package).as_posix()})",
        "levels of more than 15 modules": sum(n > 15 for n in levels.values()),
        "functions": len(functions),
        f"functions of more than {LONG} lines": sum(lines(f) > LONG for f in plain),
        f"functions of more than {VERY_LONG} lines": sum(lines(f) > VERY_LONG for f in plain),
        f"functions with more than {MANY_PARAMETERS} parameters": sum(
            n_parameters(f) > MANY_PARAMETERS for f in plain
        ),
        "most parameters": max(map(n_parameters, plain)),
        "names of modules that occur twice": twice(path.stem for path in modules),
        "names of classes that occur twice": twice(
            node.name for tree in trees.values() for node in tree.body if _is_public_class(node)
        ),
        "names of functions that occur twice": twice(
            node.name for tree in trees.values() for node in tree.body if _is_public_function(node)
        ),
    }


def functions_of(tree: ast.Module) -> Iterator[Function]:
    """Every function and method of a module, inner ones too."""
    return (node for node in ast.walk(tree) if isinstance(node, Function))


def is_compiled(function: Function) -> bool:
    """Whether a decorator of ours makes machine code of it."""
    names = {
        node.id
        for decorator in function.decorator_list
        for node in ast.walk(decorator)
        if isinstance(node, ast.Name)
    }
    return bool(names & COMPILED)


def lines(function: Function) -> int:
    """From `def` to the end."""
    return (function.end_lineno or function.lineno) - function.lineno + 1


def n_parameters(function: Function) -> int:
    """All of them, without `self` and `cls`."""
    arguments = function.args
    names = [
        argument.arg
        for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    ]
    return len([name for name in names if name not in {"self", "cls"}])


def twice(names: Iterable[str]) -> int:
    """How many names occur more than once."""
    return sum(n > 1 for n in Counter(names).values())


def _is_public_class(node: ast.stmt) -> bool:
    return isinstance(node, ast.ClassDef) and not node.name.startswith("_")


def _is_public_function(node: ast.stmt) -> bool:
    return isinstance(node, Function) and not node.name.startswith("_")


def unpacked(revision: str, folder: Path) -> Path:
    """The package as it was at a revision of this checkout."""
    archive = subprocess.run(
        ["git", "archive", revision, PACKAGE.as_posix()], cwd=ROOT, check=True, capture_output=True
    )
    with tarfile.open(fileobj=BytesIO(archive.stdout)) as packed:
        packed.extractall(folder, filter="data")
    return folder


def main() -> None:
    """Print a row per measure and a column per checkout."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT)
    parser.add_argument("--revision", action="append", default=[])
    options = parser.parse_args()
    columns = {}
    for revision in options.revision:
        with tempfile.TemporaryDirectory() as folder:
            columns[revision] = shape(unpacked(revision, Path(folder)))
    columns["now"] = shape(options.folder)
    print(" " * 42 + "".join(f"{name[:20]:>22}" for name in columns))
    for measure in columns["now"]:
        cells = [column[measure] for column in columns.values()]
        shown = [f"{cell:,}" if isinstance(cell, int) else cell for cell in cells]
        print(f"{measure:42}" + "".join(f"{cell:>22}" for cell in shown))


if __name__ == "__main__":
    main()
