"""What would fill the memory is refused before it is unpacked, whatever sizes an archive states."""

import gzip
import json
import struct
import tracemalloc
import zipfile

import pytest

from quantshift.base.storage.archives import (
    ALWAYS_UNPACKED,
    MOST_TIMES,
    check_gzip,
    check_members,
    member_bytes,
)
from quantshift.errors import DataError
from quantshift.tables.reading import open_table

MB = 1 << 20
LARGE = 100 * MB


def bomb(path, names, stated=None):
    """An archive with 100 MB of blanks in each file. stated: the sizes that it states instead."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps({"status": "success"}))
        for name in names:
            with archive.open(name, "w") as member:
                for _ in range(LARGE // MB):
                    member.write(b" " * MB)
    if stated is not None:
        content = path.read_bytes()
        size = struct.pack("<L", LARGE)
        assert content.count(size) >= len(names)
        path.write_bytes(content.replace(size, struct.pack("<L", stated)))
    return path


@pytest.fixture
def peak():
    """The most bytes that Python has allocated since."""
    tracemalloc.start()
    yield lambda: tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()


@pytest.mark.parametrize("stated", [None, 1000])
def test_a_bomb_is_not_unpacked(tmp_path, peak, stated):
    """300 MB were unpacked in memory before their size was compared."""
    path = bomb(tmp_path / "log.eval", ["samples/1.json"], stated)
    before = peak()
    with zipfile.ZipFile(path) as archive, pytest.raises((DataError, zipfile.BadZipFile)):
        member_bytes(archive, "samples/1.json")
    with pytest.raises(DataError, match=r"log\.eval"):
        open_table(path)
    assert peak() - before < 20 * MB


def test_the_parts_of_a_workbook_are_compared_before_its_reader_unpacks_them(tmp_path, peak):
    path = bomb(tmp_path / "book.xlsx", ["xl/sharedStrings.xml"])
    before = peak()
    with pytest.raises(DataError, match="sharedStrings"):
        open_table(path)
    assert peak() - before < 20 * MB


def test_contents_of_ordinary_size_come_back(tmp_path):
    path = tmp_path / "a.zip"
    contents = {"empty": b"", "blank": b" " * MB, "stored": b"x" * 1000}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in contents.items():
            kind = zipfile.ZIP_STORED if name == "stored" else zipfile.ZIP_DEFLATED
            archive.writestr(name, content, kind)
    with zipfile.ZipFile(path) as archive:
        assert {name: member_bytes(archive, name) for name in contents} == contents


def test_a_small_gzip_file_of_very_much_is_refused(tmp_path):
    """600 MB of it took two minutes."""
    path = tmp_path / "t.csv.gz"
    with gzip.open(path, "wb") as file:
        file.write(b"p,y\n0.5,a\n")
        for _ in range(LARGE // MB):
            file.write(b"\n" * MB)
    with pytest.raises(DataError, match=rf"t\.csv\.gz: .* {LARGE // MB} MB"):
        open_table(path)


@pytest.mark.parametrize("more", [0, 1])
@pytest.mark.parametrize("packed", [100, 2 * ALWAYS_UNPACKED // MOST_TIMES])
def test_the_limit_is_of_both_sizes(tmp_path, packed, more):
    """Many times as large is fine for small files, and large is fine if it is not many times."""
    path = tmp_path / "t.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("t", b"")
    with zipfile.ZipFile(path) as archive:
        (member,) = archive.infolist()
        member.compress_size = packed
        member.file_size = max(ALWAYS_UNPACKED, MOST_TIMES * packed) + more
        if more:
            with pytest.raises(DataError):
                check_members(archive)
        else:
            check_members(archive)


def test_the_end_of_a_file_that_is_cut_off_is_no_size(tmp_path):
    path = tmp_path / "t.gz"
    path.write_bytes(gzip.compress(bytes(1000))[:-8] + b"\xff" * 4)
    check_gzip("t.gz", path)
