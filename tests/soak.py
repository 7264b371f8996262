"""Soak: random commands on random tables, with faults, against one history and one store.

    python tests/soak.py [--minutes 60] [--seed 0] [--first 0]

Commands run as users run them, each in a process of its own. In between, processes are killed or
interrupted, several write at once, the disk is full (a small file system where root may mount one,
otherwise a limit on the size of files) and files are damaged. After every command:

- nothing is lost: every call that a command reported is in the history with the bytes that the same
  command writes into a history of its own, and nothing else is; every result of the store is that
  of a run that nobody disturbed;
- there is no other answer: the same command on the same table prints the same;
- nothing is unexpected: the exit code is one of the declared, an error is one line, and a damaged
  file is named.

Every step depends on the seed and its number alone, but when a kill strikes depends on the machine.
The first violation of each kind is printed with the command; the exit code is 1 if there is one.
"""

import argparse
import contextlib
import csv
import io
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np

ENDS = {0, 1, 2, 3, 4, 130}
"""Exit codes that the command-line reference declares."""
ANSWERED = {0, 3, 4}
N_TABLES, N_EXPERIMENTS = 60, 12
PATIENCE = 300
"""Seconds after which a command hangs."""
FIRST = datetime(2026, 1, 1, 6)
EXPERIMENT = """
name = "{name}"
quantifiers = ["CC", "SLD"]
[data]
cut_point = 3
[shift]
kind = "prior"
train_prevalences = [0.3, 0.5]
test_prevalences = [0.0, 1.0]
train_size = {size}
train_repeats = 1
test_size = 30
test_repeats = 2
[classifier.grid]
C = [1.0]
[selection]
prevalences = 3
repeats = 1
size = 30
"""


@dataclass(frozen=True)
class Done:
    """How a command ended. killed: by us, so that it may have ended anywhere."""

    command: tuple[str, ...]
    code: int
    said: str
    wrong: str
    killed: bool


@dataclass
class Kept:
    """A history and what must be in it.

    calls: the files of the calls; maybe: those of commands that were killed.
    """

    folder: Path
    calls: dict[str, bytes] = field(default_factory=dict)
    maybe: dict[str, bytes] = field(default_factory=dict)

    def files(self) -> list[Path]:
        return sorted(p for p in self.folder.rglob("*") if p.is_file() and ".tmp-" not in p.name)


@dataclass
class Soak:
    """The folders, what must be in them, and what was found.

    calls, answers, results: what commands gave in peace.
    """

    root: Path
    seed: int
    steps: Counter[str] = field(default_factory=Counter)
    findings: dict[str, str] = field(default_factory=dict)
    calls: dict[tuple[str, ...], tuple[str, bytes] | None] = field(default_factory=dict)
    answers: dict[tuple[str, ...], tuple[int, str]] = field(default_factory=dict)
    results: dict[str, dict[str, bytes]] = field(default_factory=dict)
    commands: int = 0

    def __post_init__(self) -> None:
        """A history is of one command."""
        verbs = ("quantify", "judge")
        self.histories = {verb: Kept(self.root / "disk" / f"history-{verb}") for verb in verbs}

    @property
    def store(self) -> Path:
        return self.root / "disk" / "store"

    def found(self, kind: str, done: Done, detail: str) -> None:
        """A violation; the first of its kind is shown."""
        if kind not in self.findings:
            self.findings[kind] = detail
            line = " ".join(done.command)
            print(f"FINDING {kind}: {detail}\n  quantshift {line}", flush=True)
            print(f"  exit {done.code}; {done.wrong[-400:]}", flush=True)

    def call(
        self,
        *commands: tuple[str, ...],
        kill: float | None = None,
        number: int = signal.SIGKILL,
        largest: int | None = None,
    ) -> list[Done]:
        """The commands at once; kill: seconds after which the first gets the signal.

        largest: bytes beyond which no file can grow.
        """

        def limit() -> None:
            if largest is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))

        started = [
            subprocess.Popen(
                [sys.executable, "-c", "from quantshift.cli.app import main; main()", *command],
                cwd=self.root,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,
                preexec_fn=limit,
            )
            for command in commands
        ]
        killed = False
        if kill is not None:
            time.sleep(kill)
            if started[0].poll() is None:
                killed = True
                os.killpg(started[0].pid, number)
        ended = []
        for i, (command, process) in enumerate(zip(commands, started, strict=True)):
            try:
                said, wrong = process.communicate(timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                said, wrong = process.communicate()
                done = Done(command, -1, said, wrong, killed=False)
                self.found("hangs", done, f"no end after {PATIENCE} s")
            struck = killed and i == 0
            ended.append(Done(command, process.returncode, said, wrong, struck))
            self.commands += 1
            self.check_end(ended[-1])
        return ended

    def check_end(self, done: Done) -> None:
        """Nothing is unexpected."""
        both = done.said + done.wrong
        if "unexpected" in done.wrong or "Traceback" in both:
            self.found("unexpected", done, done.wrong[-600:])
        elif done.code not in ENDS and not done.killed:
            self.found(f"exit code {done.code}", done, done.wrong[-600:])
        errors = [line for line in done.wrong.splitlines() if line.startswith("error:")]
        if done.code == 2 and len(errors) != 1 and not done.killed:
            self.found("an error is not one line", done, done.wrong[-600:])

    # -- the history

    def reference(self, command: tuple[str, ...]) -> tuple[str, bytes] | None:
        """The name and the bytes of the call that the command appends, in peace."""
        if command not in self.calls:
            with tempfile.TemporaryDirectory(dir=self.root) as folder:
                history = Path(folder) / "h"
                (done,) = self.call((*command, "--history", str(history)))
                files = list((history / "calls").glob("*.json"))
                answered = done.code in ANSWERED
                if answered != (len(files) == 1):
                    self.found("an answer without its call", done, f"{len(files)} calls")
                found = (files[0].name, files[0].read_bytes()) if files else None
                self.calls[command] = found
        return self.calls[command]

    def append(self, commands: Sequence[tuple[str, ...]], rng: random.Random, fault: str) -> None:
        """Calls of one command appended at once, with a fault; all are there that it reported."""
        history = self.histories[commands[0][0]]
        expected = [self.reference(command) for command in commands]
        lines = [(*command, "--history", str(history.folder)) for command in commands]
        hurt = contextlib.nullcontext()
        if fault == "damage" and history.calls:  # what is damaged does not count meanwhile
            hurt = damaged(history.folder / "calls" / rng.choice(sorted(history.calls)), rng)
        with hurt, self.faulty(fault, rng) as options:
            ended = self.call(*lines, **options)
        for done, call in zip(ended, expected, strict=True):
            if call is None:
                if done.code in ANSWERED:
                    self.found("another answer", done, "it was refused in peace")
            elif done.code in ANSWERED and not done.killed:
                history.calls[call[0]] = call[1]
            else:
                history.maybe[call[0]] = call[1]
                if fault in {"none", "two"}:
                    self.found("another answer", done, "it was answered in peace")
        self.check_history(history, ended[-1])

    def check_history(self, history: Kept, done: Done) -> None:
        """All reported calls are there, byte by byte; no others but those of killed commands."""
        files = [path for path in history.files() if path.parent.name == "calls"]
        there = {path.name: path.read_bytes() for path in files}
        for name in sorted(set(history.calls) - set(there)):
            self.found("a call is lost", done, name)
        for name, content in there.items():
            known = history.calls.get(name, history.maybe.get(name))
            if known is None:
                self.found("a call that nobody made", done, name)
            elif known != content:
                self.found("a call with other bytes", done, name)
        history.calls = there

    def read(self, history: Kept, rng: random.Random, *, damage: bool) -> None:
        """Readings; one file may be damaged: it is named, and the other calls are read."""
        if not history.calls:
            return
        page = self.root / f"page-{rng.randrange(3)}.html"
        out = self.root / f"export-{rng.randrange(3)}.json"
        folder = str(history.folder)
        command = rng.choice(
            [
                ("history", "list", folder),
                ("history", "show", folder),
                ("history", "export", folder, "--as", "csv"),
                ("history", "export", folder, "--out", str(out)),
                ("history", "page", folder, "--html", str(page)),
            ]
        )
        hurt = damaged(rng.choice(history.files()), rng) if damage else contextlib.nullcontext()
        with hurt as victim:
            (done,) = self.call(command)
        if victim is None and done.code != 0:
            self.found("a sound history is not read", done, done.wrong[-300:])
        elif victim is not None and victim.name != "calls.txt":  # a call writes it again
            told = done.said + done.wrong + (page.read_text() if "page" in command else "")
            if victim.name not in told:
                self.found(f"a damaged {kind_of(victim)} is not named", done, victim.name)
        if "--out" in command and done.code in {0, 1}:
            n_read = len(json.loads(out.read_bytes())["calls"])
            n_sound = len(history.calls) - (victim is not None and victim.name in history.calls)
            if n_read != n_sound:
                self.found("calls are missing in an export", done, f"{n_read} of {n_sound}")
        self.check_history(history, done)

    def prune(self, history: Kept, rng: random.Random) -> None:
        """All but the last calls are removed, and only those."""
        n_kept = max(1, len(history.calls) - rng.randrange(4))
        (done,) = self.call(("history", "prune", str(history.folder), "--keep", str(n_kept)))
        if done.code == 0:
            history.calls = dict(sorted(history.calls.items())[-n_kept:])
        elif history.calls:
            self.found("a sound history is not pruned", done, done.wrong[-300:])
        self.check_history(history, done)

    # -- answers without a history

    def answer(self, command: tuple[str, ...], broken: bool, rng: random.Random) -> None:
        """The same command on the same table prints the same; a broken table never crashes."""
        if broken:
            table = next(Path(part) for part in command if part.startswith(str(self.root)))
            copy = table.with_name(f"broken{table.suffix}")
            shutil.copyfile(table, copy)
            with damaged(copy, rng, ways=(truncated, flipped, shuffled, doubled)):
                self.call(tuple(str(copy) if part == str(table) else part for part in command))
            return
        (done,) = self.call(command)
        before = self.answers.setdefault(command, (done.code, done.said))
        if before != (done.code, done.said):
            self.found("another answer", done, f"before: exit {before[0]}, {before[1][:300]}")

    # -- the store

    def experiment(self, number: int) -> tuple[str, ...]:
        name = f"soak{number:02}"
        file = self.root / f"{name}.toml"
        file.write_text(EXPERIMENT.format(name=name, size=100 + 10 * number))
        return ("run", str(file), "--documents", "2500", "--jobs", "1")

    def run(self, numbers: Sequence[int], rng: random.Random, fault: str) -> None:
        """Experiments run into the store, with a fault, and again until they are complete."""
        for number in numbers:
            if f"soak{number:02}" not in self.results:
                peace = self.root / f"peace-{number}"
                (done,) = self.call((*self.experiment(number), "--out", str(peace)))
                if done.code:
                    self.found("a run fails in peace", done, done.wrong[-300:])
                self.results[f"soak{number:02}"] = results_of(peace).pop(f"soak{number:02}", {})
                shutil.rmtree(peace, ignore_errors=True)
        lines = [(*self.experiment(number), "--out", str(self.store)) for number in numbers]
        with self.faulty(fault, rng) as options:
            ended = self.call(*lines, **options)
        self.check_store(ended[-1])
        for done, line in zip(ended, lines, strict=True):
            if done.code:
                (again,) = self.call(line)
                if again.code:
                    self.found("a run does not go on", again, again.wrong[-300:])
        self.check_store(ended[-1], complete=[f"soak{number:02}" for number in numbers])

    def check_store(self, done: Done, complete: Sequence[str] = ()) -> None:
        for name, files in results_of(self.store).items():
            known = self.results.get(name, {})
            for path, content in files.items():
                if known.get(path) != content:
                    self.found("a result with other bytes", done, path)
            if name in complete and set(files) != set(known):
                self.found("a result is lost", done, str(sorted(set(known) - set(files))))

    def damage_store(self, rng: random.Random) -> None:
        """A damaged result is named by `verify`, and computed again."""
        files = sorted(path for path in self.store.rglob("*.parquet"))
        if not files:
            return
        victim = rng.choice(files)
        name = victim.relative_to(self.store).parts[0]
        with damaged(victim, rng, restore=False):
            (done,) = self.call(("verify", str(self.store)))
            if done.code != 1 or victim.stem not in done.said:
                self.found("a damaged result is not named", done, done.said[-300:])
        self.run([int(name.removeprefix("soak"))], rng, "none")
        (done,) = self.call(("verify", str(self.store)))
        if done.code not in {0, 1} or " 0 damaged" not in done.said:
            self.found("a result stays damaged", done, done.said[-300:])

    # -- faults

    @contextlib.contextmanager
    def faulty(self, fault: str, rng: random.Random) -> Iterator[dict[str, float | int]]:
        """Options of `call` for the fault; a full disk has room again afterwards."""
        if fault == "kill":
            yield {"kill": rng.uniform(0.05, 2.5)}
        elif fault == "interrupt":
            yield {"kill": rng.uniform(0.3, 2.5), "number": signal.SIGINT}
        elif fault == "full" and (self.root / "disk").is_mount():
            ballast = self.root / "disk" / "ballast"
            free = shutil.disk_usage(self.root / "disk").free
            ballast.write_bytes(bytes(max(0, free - 4096 * rng.randrange(4))))
            yield {}
            ballast.unlink()
        elif fault == "full":
            yield {"largest": rng.choice([0, 100, 1000, 3000])}
        else:
            yield {}


def results_of(store: Path) -> dict[str, dict[str, bytes]]:
    """The files of whole results by experiment."""
    found: dict[str, dict[str, bytes]] = {}
    for marker in store.glob("soak*/*/*/*.json"):
        if marker.name != "failure.json":
            for path in (marker, marker.with_suffix(".parquet")):
                name = str(path.relative_to(store))
                found.setdefault(name.split("/")[0], {})[name] = path.read_bytes()
    return found


def kind_of(path: Path) -> str:
    return "call" if path.parent.name == "calls" else path.name


def truncated(path: Path, rng: random.Random) -> None:
    os.truncate(path, rng.randrange(max(path.stat().st_size, 1)))


def flipped(path: Path, rng: random.Random) -> None:
    content = bytearray(path.read_bytes())
    content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    path.write_bytes(content)


def shuffled(path: Path, rng: random.Random) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    rng.shuffle(lines)
    path.write_bytes(b"".join(lines))


def doubled(path: Path, rng: random.Random) -> None:
    path.write_bytes(path.read_bytes() * 2)


def nested(path: Path, rng: random.Random) -> None:
    path.write_text("[" * 100_000)


def removed(path: Path, rng: random.Random) -> None:
    path.unlink()


@contextlib.contextmanager
def damaged(
    path: Path,
    rng: random.Random,
    *,
    ways: Sequence[Callable[[Path, random.Random], None]] = (truncated, flipped, nested, removed),
    restore: bool = True,
) -> Iterator[Path]:
    content = path.read_bytes()
    rng.choice(ways)(path, rng)
    yield path
    if restore:
        path.write_bytes(content)


# -- tables and commands


def make_table(folder: Path, number: int, seed: int) -> Mapping[str, Path]:
    """Posteriors and verdicts of a batch, with some oddities of real files."""
    rng = np.random.default_rng([seed, number])
    n = int(rng.integers(25, 300))
    truth = rng.random(n) < rng.uniform(0.02, 0.98)
    score = np.clip(rng.normal(0.3 + 0.4 * truth, 0.2), 0, 1).round(int(rng.integers(1, 6)))
    verdict = np.where(rng.random(n) < 0.85, truth, ~truth)
    known = rng.random(n) < rng.uniform(0.1, 0.9)
    words = np.array(["no", "yes"])
    posteriors = {
        "id": range(n),
        "no": (1 - score).round(6),
        "yes": score,
        "weight": rng.integers(1, 4, n),
    }
    verdicts = {
        "id": range(n),
        "judge": words[verdict.astype(int)],
        "human": np.where(known, words[truth.astype(int)], ""),
        "topic": rng.choice(["a", "b, c", 'said "d"'], n),
    }
    separator, newline = rng.choice([",", ";", "\t"]), str(rng.choice(["\n", "\r\n"]))
    paths = {}
    for name, columns in {"posteriors": posteriors, "verdicts": verdicts}.items():
        text = io.StringIO()
        writer = csv.writer(text, delimiter=str(separator), lineterminator=newline)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
        if rng.random() < 0.1:
            text.write(newline)
        paths[name] = folder / f"{name}-{number:03}.csv"
        encoding = "utf-8-sig" if rng.random() < 0.2 else "utf-8"
        paths[name].write_text(text.getvalue(), encoding=encoding, newline="")
    return paths


def some_answer(
    verb: str, tables: Sequence[Mapping[str, Path]], rng: random.Random
) -> tuple[str, ...]:
    """A command that answers about a random table, without a place to keep it."""
    table = rng.choice(tables)
    if verb == "judge":
        names = ("--verdict", "judge", "--label", "human", "--id", "id")
        how = rng.choice(["random", "by-verdict", "picked"])
        more = rng.choice([(), ("--by", "topic")])
        return ("judge", str(table["verdicts"]), *names, "--labels", how, *more)
    names = ("--posteriors", "no,yes", "--id", "id", "--sample", str(table["posteriors"]))
    method = rng.choice([(), ("--method", "PCC")])
    more = rng.choice([(), ("--weights", "weight")])
    return ("quantify", *names, *method, *more, "--replicates", "100")


def step(soak: Soak, tables: Sequence[Mapping[str, Path]], number: int) -> None:
    """One step, which depends on the seed and its number."""
    rng = random.Random(f"{soak.seed}/{number}")
    kind = rng.choices(
        ["append", "read", "damaged read", "answer", "broken", "prune", "run", "damaged store"],
        [40, 8, 12, 14, 14, 3, 6, 3],
    )[0]
    if kind not in {"append", "run"}:
        soak.steps[kind] += 1
    verb = rng.choice(["quantify", "judge"])
    history = soak.histories[verb]
    if kind == "append":
        fault = rng.choice(["none", "none", "kill", "interrupt", "two", "full", "damage"])
        soak.steps[f"append, {fault}"] += 1
        commands = []
        for _ in range(2 if fault == "two" else 1):
            at = FIRST + timedelta(hours=rng.randrange(24 * 365))
            asked = [c for c in some_answer(verb, tables, rng) if c not in {"--by", "topic"}]
            commands.append((*asked, "--at", f"{at:%Y-%m-%dT%H:%M}"))
        soak.append(commands, rng, fault)
    elif kind in {"read", "damaged read"}:
        soak.read(history, rng, damage=kind == "damaged read")
    elif kind in {"answer", "broken"}:
        soak.answer(some_answer(verb, tables[:8], rng), kind == "broken", rng)
    elif kind == "prune":
        soak.prune(history, rng)
    elif kind == "run":
        fault = rng.choice(["none", "kill", "kill", "interrupt", "two", "full"])
        soak.steps[f"run, {fault}"] += 1
        first = rng.randrange(N_EXPERIMENTS)
        same = rng.random() < 0.5
        second = first if same else (first + 1) % N_EXPERIMENTS
        soak.run([first, second] if fault == "two" else [first], rng, fault)
    else:
        soak.damage_store(rng)


@contextlib.contextmanager
def small_disk(place: Path) -> Iterator[None]:
    """A file system of its own, where this may be mounted."""
    place.mkdir(parents=True)
    mounted = (
        os.geteuid() == 0
        and not subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=32m", "tmpfs", str(place)],
            capture_output=True,
            check=False,
        ).returncode
    )
    try:
        yield
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", str(place)], check=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first step")
    options = parser.parse_args()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        soak = Soak(Path(folder), options.seed)
        tables = [make_table(soak.root, i, options.seed) for i in range(N_TABLES)]
        with small_disk(soak.root / "disk"):
            number = options.first
            while time.monotonic() - begun < 60 * options.minutes:
                step(soak, tables, number)
                number += 1
    minutes = (time.monotonic() - begun) / 60
    print(f"{soak.commands} commands in {minutes:.1f} minutes, seed {soak.seed}, {number} steps:")
    for name, count in sorted(soak.steps.items()):
        print(f"  {name}: {count}")
    n_calls = sum(len(history.calls) for history in soak.histories.values())
    print(f"{n_calls} calls in the histories; {len(soak.findings)} kinds of findings")
    return int(bool(soak.findings))


if __name__ == "__main__":
    sys.exit(main())
