"""How many small faults the tests notice: one is planted at a time, by room of the package.

    python benchmarks/planted_faults.py --draw 300 --seed 50 [--rooms ROOM ...] [--survivors]

A fault is a comparison turned, a condition that always or never holds, `and` for `or`, a sign
changed, a number or a truth value moved, an end off by one, or two arguments exchanged. Places are
found in the syntax tree; what cannot be logic, numbers or data is not drawn: docstrings, type
hints, decorators, f-strings, what is raised, strings, and tolerances below 1e-4. Each place has a
priority, a digest of the seed and of its own text, and a room gives those of lowest priority, as
many as the square root of its places says. So most places stay the same when others change.

Everything happens in copies of the checkout in a temporary folder, one for each process (at most
two), so that nothing is left behind wherever it stops. The libraries are imported once; each run of
pytest is a fork. What each quick test runs is recorded first (`tests.json` in --folder) and again
for the files of tests that have changed (with `--as-recorded` it is not; new tests then meet the
faults of modules that their file mirrors or imports). A fault meets only tests that run its
function or, outside of functions, one that names what it changes: those that mirror its module,
with the module's own examples; those that import it, and for a default that of the public names;
those of its room; with `--elsewhere`, others that were recorded. Of each of these the quickest are
run, as many as took --seconds when they were recorded, so that what is caught is never overstated.
Tests that start processes are among them wherever they name the module. A fault is caught once a
test fails or takes far more processor time than it did.

Results are lines of JSON in --folder; a run that was stopped goes on where it was. `--again`
repeats those that survived; with `--hints` the test that caught a fault in an earlier run comes
first. `planted_faults.toml` beside this file names what is not drawn and faults that change nothing
that anyone could notice, each with its proof. 300 faults take an hour of processor time or two.
"""

import argparse
import ast
import gc
import hashlib
import importlib
import itertools
import json
import multiprocessing
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import threading
import time
import tomllib
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from types import CodeType, FrameType
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = "src/quantshift/"
ROOMS = (
    *("quantifying", "judging", "answers", "history", "sketches", "labelling", "measuring"),
    *("diagnosis", "multilabel"),
)
LIBRARIES = (
    *("numpy", "scipy.optimize", "scipy.sparse", "scipy.stats", "polars", "pyarrow", "pandas"),
    *("numba", "sklearn.linear_model", "sklearn.model_selection", "sklearn.ensemble", "typer"),
    *("sklearn.feature_extraction.text", "pydantic", "rich.console", "rich.table", "hypothesis"),
    *("hypothesis.strategies", "hypothesis.extra.numpy", "unittest.mock", "doctest", "jsonschema"),
)
QUICK = ("-m", "not slow", "--doctest-modules", "--import-mode=importlib", "-o", "addopts=", "-q")
QUIET = (
    *("-W", "ignore::pytest.PytestAssertRewriteWarning", "-p", "no:cacheprovider"),
    *("-p", "no:xdist", "--no-header", "--tb=short"),
)
NOT_COPIED = (".git", ".venv", ".cache", "site", "*.egg-info", ".mypy_cache", ".ruff_cache")
NOT_ELSEWHERE = ("tests/fuzz/", "tests/docs/", "tests/lab/", "tests/end_to_end/")

PUBLIC_API = "tests/test_public_api.py"
"""The test of all parameters and their defaults, which meets faults in these."""

STAGES = ("mirror", "named", "room", "elsewhere")
"""Which tests meet a fault, in this order."""

TOLERANCE = 1e-4
"""Numbers below it are those at which a solver stops; they are not drawn."""


# --- Places -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fault:
    """One change of one place; `start` and `end` are bytes of the file."""

    room: str
    file: str
    function: str
    line: int
    kind: str
    before: str
    after: str
    start: int
    end: int
    in_signature: bool
    occurrence: int

    @property
    def name(self) -> str:
        """The same as long as function and place are."""
        text = f"{self.file}|{self.function}|{self.change}|{self.occurrence}"
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    @property
    def change(self) -> str:
        return f"{self.before} -> {self.after}"


NEGATED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
WITH_EQUAL = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
OTHER_SIGN: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
}
SEQUENCES = (ast.JoinedStr, ast.List, ast.Tuple, ast.ListComp, ast.Dict, ast.Set)
SYMMETRIC = {
    *("min", "max", "minimum", "maximum", "isclose", "allclose", "gcd", "hypot", "add", "multiply"),
    *("isinstance", "issubclass", "getattr", "hasattr", "setattr", "cast", "array_equal", "dot"),
    *("logaddexp", "equals"),
}
"""Calls whose arguments may be exchanged, or where that can only be an error of Python."""


class _Places(ast.NodeVisitor):
    """Collects the faults that the places of a module allow, one for each place."""

    def __init__(self, file: str, source: bytes) -> None:
        self.file, self.source = file, source
        self.room = PurePosixPath(file).parts[2]
        self.scope: list[str] = []
        self.in_signature = False
        self.found: list[Fault] = []
        lines = source.splitlines(keepends=True)
        self.offsets = [0]
        for line in lines:
            self.offsets.append(self.offsets[-1] + len(line))
        self.seen: Counter[str] = Counter()

    def propose(self, kind: str, node: ast.expr, *others: ast.expr) -> None:
        """A fault: one of the others in place of the node."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        before = ast.unparse(node)
        function = ".".join(self.scope)
        key = f"{self.file}|{function}|{kind}|{before}"
        other = others[int(hashlib.sha256(key.encode()).hexdigest(), 16) % len(others)]
        self.seen[key] += 1
        fault = Fault(
            room=self.room,
            file=self.file,
            function=function,
            line=node.lineno,
            kind=kind,
            before=before,
            after=ast.unparse(other),
            start=self.offsets[node.lineno - 1] + node.col_offset,
            end=self.offsets[node.end_lineno - 1] + node.end_col_offset,
            in_signature=self.in_signature,
            occurrence=self.seen[key],
        )
        self.found.append(fault)

    # What is not drawn.

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None: ...
    def visit_Raise(self, node: ast.Raise) -> None: ...
    def visit_Assert(self, node: ast.Assert) -> None: ...
    def visit_MatchValue(self, node: ast.MatchValue) -> None: ...

    def visit_Assign(self, node: ast.Assign) -> None:
        if not any(isinstance(t, ast.Name) and t.id.startswith("__") for t in node.targets):
            self.generic_visit(node)

    def visit_keyword(self, node: ast.keyword) -> None:
        if node.arg != "strict":  # of `zip`: it guards against mistakes in the program alone
            self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    # Scopes.

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.scope.append(node.name)
        for statement in node.body:
            self.visit(statement)
        self.scope.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.scope.append(node.name)
        self.in_signature = True
        for default in [*node.args.defaults, *filter(None, node.args.kw_defaults)]:
            self.visit(default)
        self.in_signature = False
        for statement in node.body:
            self.visit(statement)
        self.scope.pop()

    # Faults.

    def visit_Constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, bool):
            self.propose("constant", node, ast.Constant(not value))
        elif isinstance(value, int):
            self.propose("constant", node, ast.Constant(value + max(1, value // 5)))
        elif isinstance(value, float) and (value == 0 or abs(value) >= TOLERANCE):
            moved = float(f"{value * 0.8:.6g}") if value else 0.1
            self.propose("constant", node, ast.Constant(moved))

    def visit_Compare(self, node: ast.Compare) -> None:
        if len(node.ops) == 1:
            kind = type(node.ops[0])
            turned = [NEGATED[kind], *([WITH_EQUAL[kind]] if kind in WITH_EQUAL else [])]
            others = [ast.Compare(node.left, [other()], node.comparators) for other in turned]
            self.propose("comparison", node, *others)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        self.propose("and or", node, ast.BoolOp(other, node.values))
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.USub):
            self.propose("sign", node, node.operand)
        elif isinstance(node.op, ast.Not):
            self.propose("comparison", node, node.operand)
        if not isinstance(node.operand, ast.Constant):
            self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if type(node.op) in OTHER_SIGN and not (_is_text(node.left) or _is_text(node.right)):
            other = ast.BinOp(node.left, OTHER_SIGN[type(node.op)](), node.right)
            self.propose("sign", node, other)
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        if ast.unparse(node.test) == "TYPE_CHECKING":
            return
        self._branch(node.test)
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._branch(node.test)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for test in node.ifs:
            self._branch(test)
        self.generic_visit(node)

    def _branch(self, test: ast.expr) -> None:
        if not any(isinstance(part, ast.NamedExpr) for part in ast.walk(test)):
            self.propose("branch", test, ast.Constant(True), ast.Constant(False))

    def visit_Slice(self, node: ast.Slice) -> None:
        for end in (node.lower, node.upper):
            if end is not None and not isinstance(end, ast.Constant | ast.UnaryOp):
                self.propose("off by one", end, _one_more(end))
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        name = ast.unparse(node.func).rsplit(".", 1)[-1]
        if name in {"cast", "TypeVar"}:
            return None
        plain = not any(isinstance(argument, ast.Starred) for argument in node.args)
        if name == "len":
            self.propose("off by one", node, _one_more(node))
        elif name == "range" and plain and not isinstance(node.args[-1], ast.Constant):
            self.propose("off by one", node.args[-1], _one_more(node.args[-1]))
        elif len(node.args) > 1 and plain and name not in SYMMETRIC:
            first, second, *rest = node.args
            if _is_text(first) or _is_text(second) or ast.dump(first) == ast.dump(second):
                return self.generic_visit(node)
            exchanged = ast.Call(node.func, [second, first, *rest], node.keywords)
            self.propose("arguments", node, exchanged)
        return self.generic_visit(node)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, SEQUENCES) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    )


def _one_more(node: ast.expr) -> ast.expr:
    return ast.BinOp(node, ast.Add(), ast.Constant(1))


def places(file: str) -> list[Fault]:
    """All faults that could be planted in a file."""
    source = (ROOT / file).read_bytes()
    found = _Places(file, source)
    found.visit(ast.parse(source))
    return [fault for fault in found.found if "\n" not in fault.change]


def planted(source: bytes, fault: Fault) -> bytes:
    """The file with the fault."""
    after = fault.after if fault.after in {"True", "False"} else f"({fault.after})"
    return source[: fault.start] + after.encode() + source[fault.end :]


def draw(n: int, seed: int, rooms: Iterable[str], known: "Known") -> list[Fault]:
    """Faults of each room, about `n` together."""
    of_room: dict[str, list[Fault]] = {}
    for room in rooms:
        files = [
            path.relative_to(ROOT).as_posix() for path in (ROOT / PACKAGE / room).rglob("*.py")
        ]
        kept = [file for file in files if not known.leaves_out(file)]
        of_room[room] = [fault for file in sorted(kept) for fault in places(file)]
    weights = {room: len(faults) ** 0.5 for room, faults in of_room.items()}
    shares = {room: n * weight / sum(weights.values()) for room, weight in weights.items()}
    counts = {room: int(share) for room, share in shares.items()}
    most = sorted(shares, key=lambda room: counts[room] - shares[room])
    for room in most[: n - sum(counts.values())]:
        counts[room] += 1

    def priority(fault: Fault) -> str:
        return hashlib.sha256(f"{seed}|{fault.name}".encode()).hexdigest()

    return [f for room in rooms for f in sorted(of_room[room], key=priority)[: counts[room]]]


class Known:
    """What `planted_faults.toml` says."""

    def __init__(self) -> None:
        self.said = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))

    def leaves_out(self, file: str) -> bool:
        """Whether nothing is drawn from this file."""
        return any(PurePosixPath(file).match(pattern) for pattern in self.said["left_out"])

    def equivalent(self, fault: Fault) -> str | None:
        """Why nobody can notice the fault, if so."""
        place = (fault.file.removeprefix(PACKAGE), fault.function, fault.change)
        for one in self.said.get("equivalent", []):
            if (one["file"], one["function"], one["change"]) == place:
                return str(one["why"])
        return None


# --- Runs of pytest in forks --------------------------------------------------------------------


def forked(copy: Path, work: Callable[[], Any], limit: float) -> Any:
    """What the work gives in a fork inside the copy; None if it was too slow or did not survive.

    limit: seconds of the processor; on a busy machine it may wait ten times as long.
    """
    answer = copy.parent / f"{copy.name}.json"
    answer.unlink(missing_ok=True)
    child = os.fork()
    if child == 0:
        try:
            os.setpgid(0, 0)
            with (copy.parent / f"{copy.name}.log").open("w") as log:
                os.dup2(log.fileno(), 1)
                os.dup2(log.fileno(), 2)
            os.chdir(copy)
            source = str(copy / "src")
            sys.path.insert(0, source)
            os.environ.update(PYTHONPATH=source, TMPDIR=str(copy.parent))
            tempfile.tempdir = None
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit)))
            result = work()
            temporary = answer.with_suffix(".part")
            temporary.write_text(json.dumps(result))
            temporary.rename(answer)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0)
    stop = time.monotonic() + 10 * limit
    try:
        while time.monotonic() < stop and not os.waitpid(child, os.WNOHANG)[0]:
            time.sleep(0.02)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(child, 0)
    return json.loads(answer.read_text()) if answer.exists() else None


_ELSEWHERE = {str(Path(__file__).parent), str(ROOT), str(ROOT / "src"), ""}
"""Where `quantshift` of the checkout would be found, and scripts with the names of libraries."""


def run_pytest(*arguments: str, plugin: object) -> int:
    """The exit code of pytest with the quick tests."""
    return int(pytest.main([*QUICK, *QUIET, *arguments], plugins=[plugin]))


class Selected:
    """Runs only some tests, in their order, and says which failed."""

    def __init__(self, tests: list[str], others: set[str]) -> None:
        self.order = {test: place for place, test in enumerate(tests)}
        self.others = others
        self.failed: str | None = None

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Those selected, and those that exist only with the fault."""
        items[:] = [item for item in items if item.nodeid not in self.others]
        items.sort(key=lambda item: self.order.get(item.nodeid, len(self.order)))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A module that cannot be imported any more."""
        if report.failed:
            self.failed = self.failed or report.nodeid

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test that fails."""
        if report.failed:
            self.failed = self.failed or report.nodeid


class Recorder:
    """What each test runs: functions of the package, its seconds, whether it starts processes."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.codes: dict[int, CodeType] = {}
        self.now: set[int] = set()
        self.of_fixture: dict[int, set[int]] = defaultdict(set)
        self.tests: dict[str, dict[str, Any]] = {}
        self.test: dict[str, Any] = {}
        sys.addaudithook(self._audit)

    def _trace(self, frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        self.codes[id(code)] = code
        self.now.add(id(code))

    def _audit(self, event: str, _: Any) -> None:
        if event in {"subprocess.Popen", "os.fork", "os.posix_spawn"}:
            self.test["starts"] = True

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[Any]:
        """From the first fixture to the last."""
        self.now = set()
        self.test = self.tests[item.nodeid] = {"starts": False, "outcome": "passed"}
        threading.settrace(self._trace)
        sys.settrace(self._trace)
        began = time.process_time()
        result = yield
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type]
        self.test["seconds"] = round(time.process_time() - began, 3)
        info = getattr(item, "_fixtureinfo", None)
        fixtures = (
            [one for several in info.name2fixturedefs.values() for one in several] if info else []
        )
        self.test["codes"] = self.now.union(*(self.of_fixture[id(one)] for one in fixtures))
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Iterator[Any]:
        """What a fixture of several tests runs counts for each of them."""
        if fixturedef.scope == "function":
            return (yield)
        outer, self.now = self.now, self.of_fixture[id(fixturedef)]
        try:
            return (yield)
        finally:
            self.now = outer

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Only tests that pass can notice a fault."""
        if report.outcome != "passed":
            self.tests[report.nodeid]["outcome"] = report.outcome

    def result(self) -> dict[str, Any]:
        """As JSON: functions once, tests with their places."""
        where = len(self.source) + 1
        names = {
            key: f"src/{code.co_filename[where:]}:{code.co_qualname.replace('.<locals>', '')}"
            for key, code in self.codes.items()
            if code.co_filename.startswith(self.source) and not code.co_name.startswith("<")
        }
        functions = sorted(set(names.values()))
        place = {name: i for i, name in enumerate(functions)}
        tests = {
            test: {
                **{key: said[key] for key in ("starts", "outcome", "seconds")},
                "functions": sorted(
                    {place[names[code]] for code in said["codes"] if code in names}
                ),
            }
            for test, said in self.tests.items()
        }
        return {"functions": functions, "tests": tests}


def record(copy: Path, file: str) -> dict[str, Any] | None:
    """What the tests of a file run."""

    def work() -> dict[str, Any]:
        recorder = Recorder(str(copy / "src"))
        run_pytest(file, plugin=recorder)
        return recorder.result()

    return forked(copy, work, limit=1800)  # type: ignore[no-any-return]


# --- Which tests meet a fault -------------------------------------------------------------------


class Tests:
    """What was recorded."""

    def __init__(self, recorded: dict[str, Any], unknown: list[str]) -> None:
        self.unknown = unknown
        self.by_function: dict[str, set[str]] = defaultdict(set)
        self.said: dict[str, dict[str, Any]] = {}
        self.file_of: dict[str, str] = {}
        self.of_file: dict[str, set[str]] = defaultdict(set)
        for file, content in recorded.items():
            for test, said in content["tests"].items():
                self.of_file[file].add(test)
                if said["outcome"] != "passed":
                    continue
                self.said[test], self.file_of[test] = said, file
                for i in said["functions"]:
                    self.by_function[content["functions"][i]].add(test)

    def files_of(self, stage: str, tests: list[str], fault: Fault) -> list[str]:
        """Those of the tests, and those with tests that were not recorded and meet it, too."""
        own = {"mirror": lambda file: file == _mirror(fault.file), "named": self._names(fault)}
        new = [file for file in self.unknown if stage in own and own[stage](file)]
        return list(dict.fromkeys([*(self.file_of[test] for test in tests), *new]))

    def _names(self, fault: Fault) -> Callable[[str], bool]:
        module = fault.file.removeprefix("src/").removesuffix(".py").replace("/", ".")
        return lambda file: module in _text(file)

    def of(self, fault: Fault, most: float, hint: str | None) -> dict[str, list[str]]:
        """The tests of each stage for about `most` seconds: that of the hint, then quick ones."""
        functions = {f"{fault.file}:{fault.function}"}
        if (definitions := _definitions(fault)) is not None:
            functions = definitions
        running = {test for function in functions for test in self.by_function[function]}
        mirror = _mirror(fault.file)
        names = self._names(fault)
        stages: dict[str, list[str]] = {stage: [] for stage in STAGES}
        for test, file in self.file_of.items():
            named = file == mirror or file == fault.file or names(file)
            listed = file == PUBLIC_API and fault.in_signature
            if test not in running and not (named and self.said[test]["starts"]) and not listed:
                continue
            stage = (
                "mirror"
                if file in {mirror, fault.file}
                else "named"
                if named or listed
                else "room"
                if file.startswith((f"tests/{fault.room}/", f"{PACKAGE}{fault.room}/"))
                else "elsewhere"
            )
            stages[stage].append(test)
        for tests in stages.values():
            tests.sort(key=lambda test: (test != hint, self.said[test]["seconds"]))
        for stage in STAGES:
            ends = itertools.accumulate(self.said[test]["seconds"] for test in stages[stage])
            kept = [t for t, end in zip(stages[stage], ends, strict=True) if end <= most]
            stages[stage] = kept or stages[stage][:1]
        if hint is not None:
            stages = dict(sorted(stages.items(), key=lambda item: hint not in item[1]))
        return stages


def _mirror(file: str) -> str:
    path = PurePosixPath(file.replace(PACKAGE, "tests/"))
    return path.with_name(f"test_{path.name}").as_posix()


@cache
def _text(file: str) -> str:
    return (ROOT / file).read_text("utf-8")


def _definitions(fault: Fault) -> set[str] | None:
    """Functions that a fault outside of functions can reach: those of its module or naming it."""
    tree = ast.parse(_text(fault.file))
    scopes = dict(_functions(tree))
    if fault.function in scopes:
        return None
    names = set()
    for statement in tree.body:
        if statement.lineno <= fault.line <= (statement.end_lineno or 0):
            found = [statement, *(statement.body if isinstance(statement, ast.ClassDef) else [])]
            for one in found:
                if isinstance(one, ast.ClassDef):
                    names.add(one.name)
                elif one.lineno <= fault.line <= (one.end_lineno or 0):
                    names |= {n.id for n in ast.walk(one) if isinstance(n, ast.Name)}
    functions = {f"{fault.file}:{function}" for function in scopes}
    for name in names:
        functions |= _naming().get(name, set())
    return functions


@cache
def _naming() -> dict[str, set[str]]:
    """By name: the functions of the package that use it."""
    naming: dict[str, set[str]] = defaultdict(set)
    for path in (ROOT / PACKAGE).rglob("*.py"):
        file = path.relative_to(ROOT).as_posix()
        for function, node in _functions(ast.parse(path.read_text("utf-8"))):
            for part in ast.walk(node):
                if isinstance(part, ast.Name):
                    naming[part.id].add(f"{file}:{function}")
                elif isinstance(part, ast.Attribute):
                    naming[part.attr].add(f"{file}:{function}")
    return naming


def _functions(tree: ast.AST, scope: str = "") -> Iterator[tuple[str, ast.AST]]:
    for node in ast.iter_child_nodes(tree):
        inner = scope
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            inner = f"{scope}.{node.name}".lstrip(".")
            if isinstance(node, ast.FunctionDef):
                yield inner, node
        yield from _functions(node, inner)


def test_files(rooms: Iterable[str], *, elsewhere: bool) -> list[str]:
    """Files whose tests are recorded: those of the rooms, and others that import their modules."""
    rooms = tuple(rooms)
    own = [path for room in rooms for path in sorted((ROOT / "tests" / room).rglob("test_*.py"))]
    found = [path.relative_to(ROOT).as_posix() for path in own]
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        file = path.relative_to(ROOT).as_posix()
        names = any(f"quantshift.{room}" in _text(file) for room in rooms)
        if file not in found and not file.startswith(NOT_ELSEWHERE) and (names or elsewhere):
            found.append(file)
    examples = [p for room in rooms for p in sorted((ROOT / PACKAGE / room).rglob("*.py"))]
    with_examples = [
        p.relative_to(ROOT).as_posix() for p in examples if ">>>" in p.read_text("utf-8")
    ]
    return [*found, *with_examples, *([] if PUBLIC_API in found else [PUBLIC_API])]


# --- One process of the work --------------------------------------------------------------------


_copy: Path
_tests: Tests


def _start(folder: str) -> None:
    """A process makes its copy; numba keeps its compiled functions beside the modules there."""
    global _copy
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    _copy = Path(tempfile.mkdtemp(prefix="copy-", dir=folder)) / "quantshift"
    shutil.copytree(ROOT, _copy, ignore=shutil.ignore_patterns(*NOT_COPIED), symlinks=True)


def _record(file: str) -> tuple[str, str, dict[str, Any] | None]:
    return file, _digest(_copy / file), record(_copy, file)


def _meet(job: tuple[Fault, dict[str, list[str]]]) -> dict[str, Any]:
    """Plant one fault and run the stages until one notices it."""
    fault, stages = job
    path = _copy / fault.file
    source, stat = path.read_bytes(), path.stat()
    began = time.monotonic()
    ran = 0
    caught: dict[str, Any] | None = None
    there = ast.parse(b"(" + source[fault.start : fault.end] + b")", mode="eval")
    if ast.unparse(there) != fault.before:
        raise RuntimeError(f"{fault.file} has changed since it was read; start again")
    try:
        path.write_bytes(planted(source, fault))
        later = stat.st_mtime_ns + random.randrange(10**9, 10**13)
        os.utime(path, ns=(later, later))
        for stage, tests in stages.items():
            ran += len(tests)
            caught = _notice(fault, stage, tests)
            if caught:
                break
    finally:
        path.write_bytes(source)
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    spent = round(time.monotonic() - began, 1)
    return {"name": fault.name, **asdict(fault), "tests": ran, "caught": caught, "seconds": spent}


def _notice(fault: Fault, stage: str, tests: list[str]) -> dict[str, Any] | None:
    """Which test of a stage notices the fault."""
    files = _tests.files_of(stage, tests, fault)
    if not files:
        return None
    others = {test for file in files for test in _tests.of_file[file]} - set(tests)
    compiled = "base.compiled" in _text(fault.file)

    def work() -> dict[str, Any]:
        if compiled:
            _keep_compiled()
        selected = Selected(tests, others)
        code = run_pytest("-x", *files, plugin=selected)
        return {"code": code, "failed": selected.failed}

    expected = sum(_tests.said[test]["seconds"] for test in tests)
    answer = forked(_copy, work, limit=60 + 4 * expected + 120 * compiled)
    if answer is None:
        return {"stage": stage, "by": "time"}
    if answer["code"] in {0, 5}:
        return None
    if answer["failed"] is None:
        log = (_copy.parent / f"{_copy.name}.log").read_text("utf-8")
        raise RuntimeError(f"pytest ended with {answer['code']} on {fault}\n{log[-3000:]}")
    return {"stage": stage, "by": answer["failed"]}


def _keep_compiled() -> None:
    """What is compiled from a fault is not kept for later runs."""
    caching = importlib.import_module("numba.core.caching")
    caching.IndexDataCacheFile.save = lambda *_: None


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


# --- The whole ----------------------------------------------------------------------------------


@contextmanager
def workers(n: int) -> Iterator[Any]:
    """Processes with a copy each; the copies are removed at the end."""
    os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))
    os.environ["NUMBA_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "1"
    sys.path[:] = [path for path in sys.path if path not in _ELSEWHERE]
    for library in LIBRARIES:
        importlib.import_module(library)
    assert "quantshift" not in sys.modules
    gc.freeze()
    with tempfile.TemporaryDirectory(prefix="planted-", ignore_cleanup_errors=True) as folder:
        context = multiprocessing.get_context("fork")
        with context.Pool(n, _start, (folder,)) as pool:
            yield pool


def recorded(files: list[str], path: Path, processes: int, *, again: bool) -> Tests:
    """What the tests of these files run; again: those of files that have changed, too."""
    known = json.loads(path.read_text()) if path.exists() else {}
    known = {file: said for file, said in known.items() if (ROOT / file).exists()}
    new = [file for file in files if known.get(file, {}).get("digest") != _digest(ROOT / file)]
    if new and not again:
        return Tests({file: known[file] for file in files if file in known}, new)
    if new:
        with workers(processes) as pool:
            for i, (file, digest, said) in enumerate(pool.imap_unordered(_record, new), 1):
                if said is None:
                    sys.exit(f"{file} could not be recorded")
                known[file] = {"digest": digest, **said}
                bad = [t for t, one in said["tests"].items() if one["outcome"] == "failed"]
                spent = sum(one["seconds"] for one in said["tests"].values())
                print(f"{i}/{len(new)} {file}: {len(said['tests'])} tests, {spent:.0f} s", *bad)
                path.write_text(json.dumps(known))
    return Tests({file: known[file] for file in files}, [])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--draw", type=int, default=300, metavar="N")
    parser.add_argument("--seed", type=int, default=50)
    parser.add_argument("--rooms", nargs="+", default=list(ROOMS), metavar="ROOM")
    parser.add_argument("--folder", type=Path, default=ROOT / ".cache" / "planted_faults")
    parser.add_argument("--results", default="faults.jsonl", help="the file in --folder")
    parser.add_argument("--hints", help="results of an earlier run, in --folder")
    parser.add_argument("--processes", type=int, default=1, choices=(1, 2))
    parser.add_argument("--seconds", type=float, default=60, help="for the tests of a stage")
    parser.add_argument("--elsewhere", action="store_true", help="run tests of other rooms, too")
    parser.add_argument("--as-recorded", action="store_true", help="do not record changed files")
    parser.add_argument("--again", action="store_true", help="repeat those that survived")
    parser.add_argument("--survivors", action="store_true", help="print those that survived")
    parser.add_argument("--list", action="store_true", help="print the draw and run nothing")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    known = Known()
    drawn = draw(options.draw, options.seed, options.rooms, known)
    if options.list:
        for fault in drawn:
            print(f"{fault.name} {fault.file}:{fault.line} {fault.kind}: {fault.change}")
        return
    options.folder.mkdir(parents=True, exist_ok=True)
    path = options.folder / options.results
    results = _results(path)
    to_do = [fault for fault in drawn if fault.name not in results]
    if options.again:
        to_do += [f for f in drawn if f.name in results and not results[f.name]["caught"]]
    to_do = [fault for fault in to_do if known.equivalent(fault) is None]
    if to_do:
        hints = _results(options.folder / options.hints) if options.hints else results
        _run(to_do, hints, path, options)
        results = _results(path)
    report(drawn, results, known, survivors=options.survivors)


def _run(to_do: list[Fault], hints: dict[str, Any], path: Path, options: Any) -> None:
    global _tests
    files = test_files(options.rooms, elsewhere=options.elsewhere)
    _tests = recorded(
        files, options.folder / "tests.json", options.processes, again=not options.as_recorded
    )
    jobs = []
    for fault in to_do:
        caught = hints.get(fault.name, {}).get("caught") or {}
        stages = _tests.of(fault, options.seconds, caught.get("by"))
        if not options.elsewhere:
            del stages["elsewhere"]
        jobs.append((fault, stages))
    jobs.sort(key=lambda job: job[0].name)
    with workers(options.processes) as pool, path.open("a") as file:
        for i, result in enumerate(pool.imap_unordered(_meet, jobs), 1):
            file.write(json.dumps(result) + "\n")
            file.flush()
            where = f"{result['file'].removeprefix(PACKAGE)}:{result['line']}"
            by = (result["caught"] or {"by": "SURVIVED"})["by"]
            print(f"{i}/{len(jobs)} {result['seconds']:.0f} s {where} {by}", flush=True)


def _results(path: Path) -> dict[str, Any]:
    """By the name of the fault: the last line about it."""
    lines = path.read_text().splitlines() if path.exists() else []
    return {result["name"]: result for result in map(json.loads, lines)}


def report(
    drawn: list[Fault], results: dict[str, Any], known: Known, *, survivors: bool = False
) -> None:
    """The table by room, and those that survived."""
    table: dict[str, Counter[str]] = defaultdict(Counter)
    alive = [
        fault
        for fault in drawn
        if fault.name in results
        and not results[fault.name]["caught"]
        and known.equivalent(fault) is None
    ]
    for fault in drawn:
        for row in (table[fault.room], table["all"]):
            row["drawn"] += 1
            if known.equivalent(fault) is not None:
                row["equivalent"] += 1
            elif fault.name not in results:
                row["not run"] += 1
            elif caught := results[fault.name]["caught"]:
                row[caught["stage"]] += 1
            else:
                row["survived"] += 1
    columns = ("drawn", *STAGES, "survived", "equivalent", "not run")
    print("| room |", " | ".join(columns), "| caught of those not equivalent |")
    print("|---" * (len(columns) + 2) + "|")
    rows = [(room, row) for room, row in table.items() if room != "all"]
    for room, row in [*rows, ("all", table["all"])]:
        caught = sum(row[stage] for stage in STAGES)
        share = f"{100 * caught / max(caught + row['survived'], 1):.0f} %"
        print(f"| {room} |", " | ".join(str(row[c]) for c in columns), f"| {share} |")
    if survivors:
        for fault in alive:
            ran = results[fault.name]["tests"]
            print(f"{fault.file}:{fault.line} {fault.function} ({fault.kind}, {ran} tests)")
            print(f"    {fault.before}\n    {fault.after}")


if __name__ == "__main__":
    main()
