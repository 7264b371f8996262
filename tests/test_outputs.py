"""Files of the user are sacred: what an output may replace, and where it can be written."""

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from quantshift.base.storage import files
from quantshift.errors import UserError
from quantshift.lab.data import DataFolder, new_reviews

PAGE = b'<!doctype html><meta name="generator" content="quantshift 1.0">'


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "own.csv"
    path.write_text("a,b\n1,2\n")
    return path


def refused(file, **options):
    with pytest.raises(UserError) as caught:
        files.check_output(file, **options)
    with pytest.raises(UserError) as again:
        files.write_output(file, b"new", **options)
    assert str(again.value) == str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("overwrite", [False, True])
def test_an_input_is_never_replaced_whatever_it_is_called(table, tmp_path, monkeypatch, overwrite):
    link, hard = tmp_path / "link.csv", tmp_path / "hard.csv"
    link.symlink_to(table)
    hard.hardlink_to(table)
    line = "{} is read by the same command; name another file"
    monkeypatch.chdir(tmp_path)
    for name in (table, link, hard, Path("own.csv"), tmp_path / "." / ".." / tmp_path.name / table):
        assert refused(name, inputs=[table], overwrite=overwrite) == line.format(name)
    # However the input is given.
    for given in (str(link), [None, [table]], "*.csv", tmp_path, f"{tmp_path}/o?n.csv"):
        assert refused(table, inputs=[given], overwrite=overwrite) == line.format(table)
    assert table.read_text() == "a,b\n1,2\n"


def test_what_quantshift_did_not_make_is_replaced_if_asked_for(table, tmp_path):
    line = f"{table} exists and was not made by quantshift; name another file, or overwrite it"
    assert refused(table, ours=files.is_page) == line
    assert refused(table) == line
    files.write_output(table, b"new", inputs=[tmp_path / "other.csv"], overwrite=True)
    assert table.read_bytes() == b"new"
    page = tmp_path / "page.html"
    files.write_output(page, PAGE, ours=files.is_page)
    files.write_output(page, PAGE + b"2", ours=files.is_page)
    # A page that lies in a folder of inputs is no input.
    files.write_output(page, PAGE + b"3", ours=files.is_page, inputs=[tmp_path])
    assert page.read_bytes() == PAGE + b"3"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["own.csv", "page.html"]


def test_a_link_stays_one_and_its_file_is_written(tmp_path):
    page, link = tmp_path / "page.html", tmp_path / "link.html"
    page.write_bytes(PAGE)
    link.symlink_to(page)
    files.write_output(link, PAGE + b"2", ours=files.is_page)
    assert link.is_symlink()
    assert page.read_bytes() == PAGE + b"2"


def test_places_that_cannot_be_written_are_found_by_trying(tmp_path, monkeypatch):
    assert refused(tmp_path) == f"{tmp_path} is a folder; name a file in it"
    nowhere = tmp_path / "no" / "page.html"
    assert refused(nowhere) == f"{nowhere}: no such folder; name a file in an existing folder"
    assert refused("/dev/full") == "/dev/full is not a regular file; name another"
    assert refused("/proc/page.html").startswith("/proc cannot be written (")
    too_long = "the name of the output is too long; choose a shorter one"
    assert refused(tmp_path / ("x" * 300)) == too_long
    with pytest.raises(UserError, match="the name is too long; choose a shorter one"):
        write_reviews(tmp_path / ("x" * 300))
    fsync = os.fsync
    for code, line in (
        (errno.EROFS, f"no permission to write in {tmp_path}; choose another place"),
        (errno.ENOSPC, f"no space left on the disk of {tmp_path}; free some"),
        (errno.EIO, f"{tmp_path} cannot be written (Input/output error); choose another place"),
    ):

        def broken(_: int, code: int = code) -> None:
            raise OSError(code, os.strerror(code))

        monkeypatch.setattr(os, "fsync", broken)
        assert refused(tmp_path / "page.html").startswith(line)
        monkeypatch.setattr(os, "fsync", fsync)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def disk(tmp_path):
    """A disk of 200 kB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    try:
        mount = ["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", str(folder)]
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"cannot mount a small tmpfs: {error}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def write_reviews(out, **options):
    with new_reviews(out, ("A",), **options) as writer:
        for _ in range(4):
            writer.write([0], [1], [os.urandom(200_000).hex()])
        return writer.commit()


def test_a_disk_that_is_full_keeps_nothing_half_done(disk):
    with pytest.raises(UserError, match="no space left on the disk of"):
        write_reviews(disk / "deep" / "reviews")
    assert list(disk.iterdir()) == []
    with pytest.raises(UserError, match="no space left on the disk of"):
        files.write_output(disk / "page.html", b"x" * 300_000)
    assert list(disk.iterdir()) == []


def test_a_disk_that_may_only_be_read(disk):
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    with pytest.raises(UserError, match=r"no permission to write in .*; choose another place"):
        write_reviews(disk / "reviews")
    with pytest.raises(UserError, match=r"no permission to write in .*; choose another place"):
        files.check_output(disk / "page.html")


def test_a_new_data_set_leaves_foreign_files_alone(tmp_path):
    out = tmp_path / "c"
    write_reviews(out)
    (out / "notes.txt").write_text("mine")
    (out / "counts" / "notes.txt").write_text("mine too")
    (out / "deep" / "er").mkdir(parents=True)
    (out / "deep" / "link").symlink_to("nowhere")
    (out / ".counts.0123abcd.partial").mkdir()
    (out / ".counts.0123abcd.partial" / "data.npy").write_bytes(b"half")
    write_reviews(out / "another")
    inode = (out / "notes.txt").stat().st_ino
    out.chmod(0o750)
    new = write_reviews(out, overwrite=True)
    counts = ["data.npy", "indices.npy", "indptr.npy", "manifest.json", "vocabulary.parquet"]
    assert sorted(str(path.relative_to(out)) for path in out.rglob("*")) == [
        "another",
        "another/counts",
        *(f"another/counts/{name}" for name in counts),
        *(f"another/{name}" for name in ("items.parquet", "manifest.json", "texts.parquet")),
        "counts",
        *sorted(f"counts/{name}" for name in (*counts, "notes.txt")),
        "deep",
        "deep/er",
        "deep/link",
        *("items.parquet", "manifest.json", "notes.txt", "texts.parquet"),
    ]
    assert (out / "notes.txt").stat().st_ino == inode
    assert out.stat().st_mode & 0o777 == 0o750
    assert DataFolder.open(out).hash == new.hash
    assert [path.name for path in tmp_path.iterdir()] == ["c"]


def test_a_foreign_file_in_the_way_is_named(tmp_path):
    out, aside = tmp_path / "m", tmp_path / "aside"
    for folder in (out, aside):
        folder.mkdir()
        (folder / "model.json").write_text(folder.name)
    with pytest.raises(UserError, match=r"m/model.json was not made by quantshift; move it, or"):
        files.put_in_place(aside, out, own=lambda _: False)
    assert (out / "model.json").read_text() == "m"


@pytest.mark.parametrize("nth", range(8))
def test_foreign_files_survive_a_kill_at_any_moment(tmp_path, monkeypatch, nth):
    """Whatever call is the last, the notes are whole somewhere, and so is a data set."""
    out, calls = tmp_path / "c", 0
    write_reviews(out)
    (out / "notes.txt").write_text("mine")

    class Killed(BaseException):
        pass

    def dying(name):
        known = getattr(os, name)

        def call(*args, **options):
            nonlocal calls
            calls += 1
            if calls > nth:
                raise Killed
            return known(*args, **options)

        monkeypatch.setattr(os, name, call)

    real_rmtree = shutil.rmtree
    monkeypatch.setattr(shutil, "rmtree", lambda *_, **__: None)
    for name in ("rename", "link", "unlink", "rmdir"):
        dying(name)
    killed = False
    try:
        write_reviews(out, overwrite=True)
    except Killed:
        killed = True
    monkeypatch.setattr(shutil, "rmtree", real_rmtree)
    monkeypatch.undo()
    assert killed == (nth < calls)
    assert any(path.read_text() == "mine" for path in tmp_path.rglob("notes.txt"))
    assert any(_is_data_set(path) for path in tmp_path.iterdir())


def _is_data_set(path):
    try:
        DataFolder.open(path).verify()
    except UserError:
        return False
    return True


def test_the_files_of_a_data_set_cannot_become_its_successor(tmp_path):
    out = tmp_path / "c"
    write_reviews(out)
    reviews = out / "texts.parquet"
    with pytest.raises(UserError, match=r"texts.parquet is part of the data set that would be"):
        write_reviews(out, overwrite=True, inputs=[reviews])
    link = tmp_path / "link.parquet"
    link.symlink_to(reviews)
    with pytest.raises(UserError, match=r"link.parquet is part of the data set that would be"):
        write_reviews(out, overwrite=True, inputs=[link])
    (out / "more.csv").write_text("stars,text\n")
    write_reviews(out, overwrite=True, inputs=[out / "more.csv"])
    assert (out / "more.csv").exists()


def left_by(process, folder, host=None):
    path = folder / f".tmp-{process}-0123abcd-{host or files.this_host()}"
    path.write_bytes(b"half")
    return path


def test_what_killed_processes_left_beside_an_output_goes(tmp_path):
    """It stayed for ever after kill -9."""
    killed = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys, time\n"
            "from pathlib import Path\n"
            "from quantshift.base.storage import files\n"
            "files.temporary_path(Path(sys.argv[1])).write_bytes(b'half')\n"
            "print(flush=True)\n"
            "time.sleep(100)\n",
            str(tmp_path),
        ],
        stdout=subprocess.PIPE,
    )
    killed.stdout.readline()
    (left,) = tmp_path.iterdir()
    # Its writer is alive.
    files.write_output(tmp_path / "out.csv", b"a\n")
    assert left.exists()
    killed.kill()
    killed.wait()
    killed.stdout.close()
    files.write_output(tmp_path / "out.csv", b"a\n", overwrite=True)
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]


def test_what_others_may_still_write_stays(tmp_path):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    mine = tmp_path / ".tmp-notes"
    mine.write_bytes(b"")
    stay = [left_by(gone.pid, tmp_path, "another-host-0"), left_by(os.getpid(), tmp_path), mine]
    # In a folder that others share, age says nothing about what they do.
    os.utime(stay[0], (0, 0))
    # The number of a process that ended long ago, of which this is another one, and of none.
    others = tmp_path / f".tmp-{os.getpid()}-89abcdef-{files.this_host()}"
    others.write_bytes(b"half")
    os.utime(others, (0, 0))
    go = [others, left_by(gone.pid, tmp_path), left_by(10**30, tmp_path)]
    files.write_output(tmp_path / "out.csv", b"a\n")
    assert [path.exists() for path in stay] == [True] * 3
    assert [path.exists() for path in go] == [False] * 3
