import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from quantshift.base.storage import files
from quantshift.errors import UserError
from quantshift.lab.results import ResultStore, verify


def test_write_whole_replaces_and_leaves_nothing_else(tmp_path):
    path = tmp_path / "a"
    files.write_whole(path, b"one")
    files.write_whole(path, b"two")
    assert path.read_bytes() == b"two"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("links", [True, False])
def test_write_first_leaves_what_is_there(tmp_path, monkeypatch, links):
    def refused(*arguments, **options):
        raise OSError(errno.EPERM, "Operation not permitted")

    if not links:
        monkeypatch.setattr(os, "link", refused)
    path = tmp_path / "a"
    files.write_first(path, b"one")
    files.write_first(path, b"two")
    assert path.read_bytes() == b"one"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
@pytest.mark.parametrize("nth", range(3))
def test_a_full_disk_names_the_cure_and_leaves_the_store_whole(
    store, rows, signatures, monkeypatch, code, nth
):
    cell = "p_train=0.9,train_repeat=0"
    (store.path / "prior" / "reviews" / cell).mkdir()
    fsync, calls = os.fsync, []

    def full(descriptor: int) -> None:
        calls.append(descriptor)
        if len(calls) > nth:
            raise OSError(code, os.strerror(code))
        fsync(descriptor)

    before = store.read().collect()
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UserError) as caught:
        store.write_part("prior", "reviews", cell, signatures(["CC", "SLD"]), rows(cell))
    monkeypatch.undo()
    assert str(caught.value) == (
        f"no space left on the disk of {store.path / 'prior' / 'reviews' / cell}; "
        "free some and run the same command again"
    )
    assert not list(store.path.rglob(".tmp-*"))
    assert verify(store) == []
    store.write_part("prior", "reviews", cell, signatures(["CC", "SLD"]), rows(cell))
    assert len(store.read().collect()) == len(before) + 40


def test_a_disk_that_is_really_full(tmp_path, fill, rows, signatures, description):
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"cannot mount a small tmpfs: {error}")
    try:
        store = ResultStore.create(disk / "store", description())
        written = []

        def write_until_full() -> None:
            for p in range(100):
                cell = f"p_train=0.{p},train_repeat=0"
                store.write_part("prior", "reviews", cell, signatures(["CC", "SLD"]), rows(cell))
                written.append(cell)

        with pytest.raises(UserError, match=r"no space left on the disk of .*; free some"):
            write_until_full()
        assert 0 < len(written) < 100
        assert not list(store.path.rglob(".tmp-*"))
        assert verify(store) == []
        assert len(store.read().collect()) == 40 * len(written)
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_folder_that_may_not_be_written(store, rows, signatures, monkeypatch):
    cell = "p_train=0.9,train_repeat=0"

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(UserError, match=r"no permission to write in .*; choose another place"):
        store.write_part("prior", "reviews", cell, signatures(["CC", "SLD"]), rows(cell))


def test_other_errors_of_the_system_stay_what_they_are(tmp_path):
    with pytest.raises(FileNotFoundError):
        files.write_whole(tmp_path / "missing" / "a", b"x")


def test_leftovers_go_unless_a_live_process_may_own_them(store, cells, description):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    host, folder = files.this_host(), store.path / "prior" / "reviews" / cells[0]
    dead = [
        folder / f".tmp-{gone.pid}-0123abcd-{host}",
        store.path / f".tmp-{gone.pid}-0123abcd-{host}",
        folder / f".tmp-{os.getpid()}-00000000-{host}",
        folder / ".tmp-1-00000000-another-host",
    ]
    alive = [
        folder / f".tmp-{os.getpid()}-0123abcd-{host}",
        folder / f".tmp-{gone.pid}-0123abcd-another-host",
        folder / ".tmp-mine",
    ]
    for path in (*dead, *alive):
        path.write_bytes(b"half")
    for path in (*dead[2:], alive[-1]):
        os.utime(path, (0, 0))
    assert verify(store) == []
    ResultStore.create(store.path, description())
    assert [path.exists() for path in dead] == [False] * 4
    assert [path.exists() for path in alive] == [True] * 3


def test_without_locks_the_work_goes_on(store, rows, signatures, monkeypatch):
    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(files.fcntl, "flock", no_locks)
    cell = "p_train=0.9,train_repeat=0"
    store.write_part("prior", "reviews", cell, signatures(["CC", "SLD"]), rows(cell))
    assert len(store.read().collect()) == 280
