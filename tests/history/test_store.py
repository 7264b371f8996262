"""The folder of a history: kills, full disks, two writers, damage; nothing is lost."""

import errno
import itertools
import json
import os
import random
import signal
import time
from dataclasses import replace
from pathlib import Path

import pytest

from quantshift import History
from quantshift.answers.shares import Share
from quantshift.base.storage import files
from quantshift.base.storage.integrity import checksum
from quantshift.errors import DataError, UserError
from quantshift.history.kept import store
from tests.history.made import days, filled, time_of, tree


@pytest.fixture(scope="module")
def answers():
    return days(8)


@pytest.fixture(scope="module")
def quiet(answers, tmp_path_factory):
    """The files of a history that nobody disturbed."""
    return tree(filled(tmp_path_factory.mktemp("quiet") / "h", answers).path)


def child(work) -> int:
    """Does the work in a process of its own; returns how that ended."""
    process = os.fork()
    if not process:
        try:
            work()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return process


def ended(process: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def append_missing(folder: Path, answers) -> None:
    """What a scheduler does: appends in order what is not there."""
    history = History.open(folder)
    known = {call.time for call in history.calls()}
    for i, found in enumerate(answers):
        if time_of(i).isoformat() not in known:
            history.append(found, at=time_of(i))


def again(folder: Path, answers) -> None:
    """The last call once more: the same file, and calls whose writer was killed are noted."""
    History.open(folder).append(answers[-1], at=time_of(len(answers) - 1))


def killed_at(step: int, folder: Path, answers) -> int:
    """Appends in a process that kills itself before the given step to the disk."""
    steps = itertools.count()

    def dying(call):
        def called(*arguments, **options):
            if next(steps) == step:
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*arguments, **options)

        return called

    def work():
        os.fsync, Path.replace = dying(os.fsync), dying(Path.replace)
        Path.mkdir, Path.unlink = dying(Path.mkdir), dying(Path.unlink)
        append_missing(folder, answers)

    return ended(child(work))


@pytest.mark.slow
def test_killed_at_every_step_nothing_is_lost(tmp_path, answers):
    """The first call makes the folder too; the second finds it, and what the killed one left."""
    undisturbed = tree(filled(tmp_path / "quiet", answers[:2]).path)
    for step in range(100):
        folder = tmp_path / str(step)
        done = [killed_at(step, folder, answers[:2])]
        whole = History.open(folder).calls() if folder.exists() else []
        assert [call.time[:10] for call in whole] == ["2026-01-01", "2026-01-02"][: len(whole)]
        append_missing(folder, answers[:2])
        again(folder, answers[:2])
        assert tree(folder) == undisturbed
        if done == [0]:
            break
        assert done == [-signal.SIGKILL]
    # Two calls have far more than ten steps, and the last one was not reached.
    assert 10 < step < 99


@pytest.mark.slow
def test_killed_at_random_moments_the_bytes_are_the_same(tmp_path, answers, quiet):
    moments = random.Random(5)
    kills = 0
    for _ in range(60):
        process = child(lambda: append_missing(tmp_path / "h", answers))
        time.sleep(moments.uniform(0, 0.02))
        os.kill(process, signal.SIGKILL)
        kills += ended(process) == -signal.SIGKILL
    append_missing(tmp_path / "h", answers)
    again(tmp_path / "h", answers)
    assert kills
    assert tree(tmp_path / "h") == quiet


@pytest.mark.parametrize("share", [True, False])
def test_two_writers_at_once(tmp_path, answers, quiet, share):
    """Of the same calls, and of every other one each."""
    folder = tmp_path / "h"

    def writer(own):
        def work():
            history = History.open(folder)
            for i in own:
                history.append(answers[i], at=time_of(i))

        return work

    n = len(answers)
    parts = [range(n), range(n)] if share else [range(0, n, 2), range(1, n, 2)]
    assert [ended(process) for process in [child(writer(own)) for own in parts]] == [0, 0]
    assert tree(folder) == quiet


def test_a_reader_beside_a_writer_sees_whole_calls(tmp_path, answers):
    process = child(lambda: append_missing(tmp_path / "h", answers))
    seen = [0]
    while os.waitpid(process, os.WNOHANG) == (0, 0):
        history = History.open(tmp_path / "h")
        seen.append(len(history.calls()))
        assert history.problems() == []
    assert seen == sorted(seen)


def test_a_reader_between_a_call_and_its_note_sees_no_problem(tmp_path, answers, monkeypatch):
    """It said now and then that calls.txt was missing, while the first call was being written."""
    seen = []
    note = store._note

    def noting(folder, names):
        seen.append(History.open(folder).problems())
        note(folder, names)

    monkeypatch.setattr(store, "_note", noting)
    filled(tmp_path / "h", answers[:2])
    assert seen == [[], []]


def test_a_reader_beside_a_prune_sees_no_lost_call(tmp_path, answers, monkeypatch):
    """The list of names was read before a call was removed, and its file looked for afterwards."""
    history = filled(tmp_path / "h", answers[:3])
    first = store.read(history.path)[0][0]
    noted = store._noted

    def noted_before_the_removal(folder):
        names = noted(folder)
        if first.path.exists():
            store.remove(first)
        return names

    monkeypatch.setattr(store, "_noted", noted_before_the_removal)
    assert history.problems() == []


@pytest.mark.parametrize("step", [(os, "fsync"), (Path, "open"), (Path, "replace")])
def test_a_full_disk_is_said_and_leaves_nothing(tmp_path, answers, monkeypatch, step):
    history = filled(tmp_path / "h", answers[:3])
    before = tree(history.path)

    def full(*arguments, **options):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(*step, full)
        with pytest.raises(UserError, match=r"no space left on the disk of .*; free some"):
            history.append(answers[3], at=time_of(3))
    assert tree(history.path) == before
    history.append(answers[3], at=time_of(3))
    assert len(history.calls()) == 4


def truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 16
    path.write_bytes(content)


def rewritten(path: Path, version: bytes) -> None:
    """A call of another version, whole in itself."""
    from quantshift.history.kept.store import _digest

    content = path.read_bytes().replace(b'"format": 1', b'"format": ' + version)
    path.with_name(f"{path.name[:22]}-{_digest(content)}.json").write_bytes(content)
    path.unlink()


def newer(path: Path) -> None:
    rewritten(path, b"2")


def renamed(path: Path) -> None:
    path.rename(path.with_name(f"2025{path.name[4:]}"))


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (truncate, "is damaged: its content is not what its name says"),
        (flip, "is damaged: its content is not what its name says"),
        (newer, "has format 2, this is 1; upgrade quantshift"),
        (renamed, "is damaged: its time is not what its name says"),
    ],
)
def test_damage_is_named_and_the_rest_counts(tmp_path, answers, damage, said):
    history = filled(tmp_path / "h", answers)
    victim = sorted(history.path.glob("calls/*.json"))[2]
    damage(victim)
    (problem,) = history.problems()
    assert problem.what == said
    assert len(history.calls()) == 7
    history.append(answers[2], at=time_of(2))
    assert len(history.calls()) == 8


SHARE = {"label": "pos", "estimate": 0.5, "low": 0.4, "high": 0.6}


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("batches",), []),
        (("batches", 0, "shares"), []),
        (("batches", 0, "unaudited"), [SHARE]),
        (("batches", 0, "shares", 0, "estimate"), 7.0),
        (("batches", 0, "shares", 0, "low"), float("nan")),
        (("batches", 0, "shares", 0, "high"), -1.0),
        (("batches", 0, "shares", 0, "label"), "other"),
        (("batches", 0, "n_items"), -1),
        (("batches", 0, "n_items"), 10**400),
        (("batches", 0, "shift"), {"rejected": False, "kind": "prior", "p_value": 2.0}),
        (("classes",), ["pos"]),
        (("classes",), []),
        (("headline",), "other"),
        (("level",), 1.0),
        (("time",), "0001-01-01T00:00:00+00:00"),
        (("time",), "now"),
        (("limits", "baseline"), 0),
        (("limits", "baseline_from"), "once"),
        (("limits", "false_alarms_per_year"), float("inf")),
        (("model", "prevalence"), [[[]]]),
    ],
    ids=str,
)
def test_a_forged_call_with_a_valid_hash_is_named(tmp_path, answers, place, value):
    """Empty lists were a StopIteration or an IndexError in every later call."""
    history = filled(tmp_path / "h", answers)
    victim = sorted(history.path.glob("calls/*.json"))[-1]
    record = json.loads(victim.read_text())
    *outer, last = place
    inner = record
    for name in outer:
        inner = inner[name]
    inner[last] = value
    content = json.dumps(record).encode()
    victim.unlink()
    time = victim.name.partition("-")[0]
    (victim.parent / f"{time}-{checksum(content)[:16]}.json").write_bytes(content)
    (problem,) = history.problems()
    assert problem.what.startswith(("is not a record of a call", "is damaged"))
    assert len(history.calls()) == 7
    with pytest.warns(UserWarning, match="alarms may be missing"):
        assert history.alarms() == []
    assert repr(history)
    history.append(answers[7], at=time_of(7))


def archived(path: Path) -> None:
    """What programs that move files to an archive leave behind: a link, here to nowhere."""
    path.unlink()
    path.symlink_to(path.with_name("archive") / path.name)


def test_a_call_that_is_a_link_to_nowhere_is_named(tmp_path, answers):
    """It dropped out without a word, as if it had been pruned at that moment."""
    history = filled(tmp_path / "h", answers)
    archived(min(history.path.glob("calls/*.json")))
    (problem,) = history.problems()
    assert problem.what == "is a link to a file that is not there"
    with pytest.warns(UserWarning, match="restore it, or remove it to go on without"):
        assert history.alarms() == []


def test_lost_calls_are_named(tmp_path, answers):
    """Without the folder of the calls, a history began anew without a word."""
    history = filled(tmp_path / "h", answers)
    (history.path / "calls").rename(history.path / "old")
    (problem,) = history.problems()
    assert str(problem) == f"{history.path}/calls is missing, with all calls"
    with pytest.warns(UserWarning, match=r"remove history\.json to begin a new history"):
        assert history.alarms() == []


def test_a_lost_description_is_not_to_be_removed(tmp_path, answers):
    """The warning said of a file that was missing: `restore it, or remove it to go on without`."""
    history = filled(tmp_path / "h", answers)
    (history.path / "history.json").unlink()
    with pytest.warns(UserWarning, match="check that no calls were lost with it") as told:
        history.alarms()
    assert "remove it" not in str(told[0].message)


def test_a_call_under_another_name_is_named(tmp_path, answers):
    history = filled(tmp_path / "h", answers)
    victim = min(history.path.glob("calls/*.json"))
    victim.rename(victim.with_name(f"copy of {victim.name}"))
    (problem,) = history.problems()
    assert problem.what == "does not have the name and place of a call"


@pytest.mark.parametrize("name", ["{}.tmp", ".{}", "../{}", "notes.txt", "{}.gz"])
def test_leftover_and_foreign_files_are_named(tmp_path, answers, name):
    """A call that was renamed to `.json.tmp` dropped out without a word."""
    history = filled(tmp_path / "h", answers)
    victim = min(history.path.glob("calls/*.json"))
    moved = victim.parent / name.format(victim.name)
    victim.rename(moved)
    (problem,) = history.problems()
    assert problem.path.resolve() == moved.resolve()
    with pytest.warns(UserWarning, match="the history is damaged, so that alarms may be missing"):
        assert history.alarms() == []


def test_files_of_systems_and_pages_are_no_problem(tmp_path, answers):
    history = filled(tmp_path / "h", answers)
    (history.path / "calls" / ".DS_Store").write_text("")
    (history.path / "history.html").write_text("")
    assert history.problems() == []
    assert history.alarms() == []


def test_the_path_may_be_a_string(tmp_path, answers):
    """It was an AttributeError: 'str' object has no attribute 'exists'."""
    history = filled(tmp_path / "h", answers)
    assert History(str(history.path)) == history
    assert History(str(history.path)).calls() == history.calls()


@pytest.mark.parametrize(
    "content",
    [None, b"", b"[]", b'{"format": "other"}', b'{"format": "quantshift history", "version": 1}'],
)
def test_a_lost_description_is_written_again(tmp_path, answers, quiet, content):
    history = filled(tmp_path / "h", answers[:-1])
    described = history.path / "history.json"
    described.unlink()
    if content is not None:
        described.write_bytes(content)
    assert str(history.problems()[0]).startswith(f"{described} is ")
    history.append(answers[-1], at=time_of(7))
    assert tree(history.path) == quiet


def test_a_history_of_a_later_version_is_refused(tmp_path, answers):
    history = filled(tmp_path / "h", answers[:1])
    (history.path / "history.json").write_text('{"format": "quantshift history", "version": 2}')
    with pytest.raises(DataError, match="has history format 2, this is 1; upgrade quantshift"):
        History.open(history.path)


def test_folders_of_others_are_refused_and_stay(tmp_path, answers):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(UserError, match="the folder holds other things"):
        History.open(tmp_path)
    with pytest.raises(UserError, match="a file; name a folder for the history"):
        History.open(tmp_path / "notes.txt")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "history.json").write_text("{}")
    with pytest.raises(UserError, match="the folder holds other things"):
        History.open(tmp_path / "other")
    (tmp_path / "empty").mkdir()
    filled(tmp_path / "empty", answers[:1])


def test_leftovers_of_killed_processes_go(tmp_path, answers):
    history = filled(tmp_path / "h", answers[:1])
    left = files.temporary_path(history.path / "calls").name.replace(
        str(os.getpid()), "999999999", 1
    )
    (history.path / "calls" / left).write_text("half")
    history.append(answers[1], at=time_of(1))
    assert not [name for name in tree(history.path) if ".tmp-" in name]


def test_calls_of_other_classes_that_two_writers_mixed_are_named(tmp_path, answers):
    """Each was the first; the later one counts."""
    first = filled(tmp_path / "a", answers[:1])
    (batch,) = answers[1].batches
    shares = (*batch.shares, Share("odd", 0.0, 0.0, 0.1))
    batches = (replace(batch, shares=shares, unaudited=shares),)
    other = replace(answers[1], classes=("neg", "pos", "odd"), batches=batches)
    second = History.open(tmp_path / "b")
    second.append(other, at=time_of(1))
    for path in second.path.glob("calls/*.json"):
        (first.path / "calls" / path.name).write_bytes(path.read_bytes())
    assert [problem.what for problem in first.problems()] == ["is of other classes (neg, pos)"]


def test_a_deleted_call_is_named_and_a_pruned_one_is_not(tmp_path, answers):
    history = filled(tmp_path / "h", answers)
    n = len(history.calls())
    store.remove(store.read(history.path)[0][0])
    assert history.problems() == []
    victim = min(history.path.glob("calls/*.json"))
    content = victim.read_bytes()
    victim.unlink()
    (problem,) = history.problems()
    assert (len(history.calls()), problem.path) == (n - 2, victim)
    assert "is missing" in str(problem)
    victim.write_bytes(content)
    assert history.problems() == []
    # The list itself: a call writes it again.
    (history.path / store.NAMES).unlink()
    assert [found.path.name for found in history.problems()] == [store.NAMES]
    history.append(answers[0], at=time_of(0))
    assert history.problems() == []
