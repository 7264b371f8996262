"""Public records: the real download and unpacking against a local server."""

import errno
import gc
import gzip
import io
import shutil
import stat
import sys
import zipfile
from pathlib import Path

import pytest

from quantshift.errors import DataError, UserError
from quantshift.lab.data import RECORDS, DataFolder, fetch_record, import_lequa
from quantshift.lab.data.fetching import RemoteFile, download_files, list_record
from tests.lab.data.lequa_folders import make_task
from tests.record_server import serving

BOOKS = gzip.compress(
    "".join(
        f"{1 + i % 5}\treview {i:06d} {i * i} {'x' * (i % 40)}\n" for i in range(9_000)
    ).encode(),
    mtime=0,
)


@pytest.fixture
def serve(monkeypatch):
    monkeypatch.setattr("pooch.core.time.sleep", lambda seconds: None)
    with serving() as start:
        yield start
    gc.collect()  # A connection that is left open fails this test, not another one by chance.


def books(serve, **behaviour):
    """A record with one file."""
    return serve({"Books.txt.gz": BOOKS}, **behaviour)


def download(record, folder, **options):
    (path,) = download_files(list_record(f"{record.url}/record"), folder, **options)
    return path


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def archive(members):
    """A zip archive of names (or ZipInfo) and bytes."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, content in members:
            opened.writestr(name, content)
    return stream.getvalue()


def archives(tmp_path, name):
    """The three archives of a task, as the challenges have them."""
    public = make_task(tmp_path / "made", name)
    files = {path.relative_to(public.parents[1]): path for path in public.rglob("*.txt")}
    parts = {"train_dev": [], "test": [], "test_prevalences": []}
    for inside, path in files.items():
        which = "test_prevalences" if path.name == "test_prevalences.txt" else "train_dev"
        which = "test" if "test_samples" in path.parts else which
        parts[which].append((inside.as_posix(), path.read_bytes()))
    return {f"{name}.{part}.zip": archive(members) for part, members in parts.items()}


def test_a_record_is_fetched_unpacked_and_can_be_imported(tmp_path, serve, quantshift, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = {**archives(tmp_path, "T1"), **archives(tmp_path, "T3"), "readme.txt": b"hello"}
    record = serve(files, cut_after=[1000])
    url = f"{record.url}/record"
    code, out, _ = quantshift("data", "fetch", "lequa2024", "--out", "lequa", "--url", url)
    assert code == 0
    assert out == (
        "LeQua 2024 in lequa\n"
        "next:\n"
        "  quantshift data import lequa/T1 --out sets/T1\n"
        "  quantshift data import lequa/T3 --out sets/T3\n"
    )
    assert sorted(p.name for p in (tmp_path / "lequa.downloads").iterdir()) == sorted(
        name for name in files if name.endswith(".zip")
    )
    # The first archive was cut after 1,000 bytes and fetched again.
    assert record.requests[0] == record.requests[1]
    fetched = import_lequa("lequa/T3", "fetched")
    assert fetched.hash == import_lequa(tmp_path / "made" / "T3", "made3").hash
    # Again, elsewhere: the archives are there.
    before = len(record.requests)
    fetch_record(
        "lequa2024", "again", tasks=["T1"], url=url, downloads=tmp_path / "lequa.downloads"
    )
    assert len(record.requests) == before
    assert [path.name for path in (tmp_path / "again").iterdir()] == ["T1"]


LINK = zipfile.ZipInfo("T1/link.txt")
LINK.external_attr = (stat.S_IFLNK | 0o777) << 16


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ([("../evil.txt", b"x")], r"'\.\./evil\.txt', which would lie outside the folder"),
        ([("/etc/evil.txt", b"x")], "would lie outside the folder"),
        ([("T1/../../evil.txt", b"x")], "would lie outside the folder"),
        ([("T1\\..\\..\\evil.txt", b"x")], "would lie outside the folder"),
        ([("C:/evil.txt", b"x")], "would lie outside the folder"),
        ([("a.txt", b"x"), (LINK, b"/etc/passwd")], "would lie outside the folder"),
    ],
)
def test_members_that_lead_out_of_the_folder_are_refused(members, message, tmp_path, serve):
    record = serve({"T1.test.zip": archive(members)})
    out = tmp_path / "deep" / "lequa"
    with pytest.raises(DataError, match=message):
        fetch_record("lequa2024", out, url=f"{record.url}/record", downloads=tmp_path / "d")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["T1.test.zip", "d"]
    assert not Path("/etc/evil.txt").exists()


def test_archives_may_share_equal_files_alone(tmp_path, serve):
    first = archive([("T1/a.txt", b"same"), ("__MACOSX/junk", b"")])
    for content, fits in ((b"same", True), (b"else", False), (b"longer", False)):
        record = serve({"T1.a.zip": first, "T1.b.zip": archive([("T1/a.txt", content)])})
        out = tmp_path / content.decode()
        options = {"url": f"{record.url}/record", "downloads": tmp_path / f"{content}.d"}
        if fits:
            fetch_record("lequa2024", out, **options)
            assert [path.name for path in out.rglob("*")] == ["T1", "a.txt"]
        else:
            with pytest.raises(
                DataError, match=r"its 'T1/a\.txt' differs from that of another archive"
            ):
                fetch_record("lequa2024", out, **options)
            assert not out.exists()


def test_wrong_names_places_and_archives_are_refused_in_one_line(tmp_path, serve):
    record = serve({"T1.test.zip": b"not an archive", "T2.test.zip": archive([])})
    url = f"{record.url}/record"
    (tmp_path / "there").mkdir()
    cases = [
        (("lequa2023", "x", {}), "unknown record 'lequa2023'; did you mean"),
        (("lequa2024", "there", {}), "there exists; choose a new folder"),
        (("lequa2024", "x", {"tasks": ["T9"]}), "unknown task 'T9'"),
        (("lequa2024", "x", {"tasks": ["T1"]}), r"T1\.test\.zip is not a complete zip archive"),
    ]
    for (name, folder, options), message in cases:
        with pytest.raises(UserError, match=message) as caught:
            fetch_record(name, tmp_path / folder, url=url, **options)
        assert "\n" not in str(caught.value)
    assert not (tmp_path / "x").exists()
    with pytest.raises(DataError, match=r"lists no \.zip file of data; it lists readme\.txt"):
        fetch_record("lequa2024", tmp_path / "x", url=serve({"readme.txt": b""}).url + "/record")


def test_a_wrong_checksum_is_refused(tmp_path, serve):
    record = serve({"T1.test.zip": archive([("T1/a.txt", b"x")])}, checksums={"T1.test.zip": "0"})
    with pytest.raises(DataError, match="wrong checksum and was removed"):
        fetch_record("lequa2024", tmp_path / "x", url=f"{record.url}/record")
    assert not (tmp_path / "x").exists()


def test_the_records_are_those_of_the_challenges_and_of_the_paper():
    assert {name: record.url.rpartition("/")[2] for name, record in RECORDS.items()} == {
        "lequa2022": "6546188",
        "lequa2024": "11661820",
        "reviews": "8421611",
    }


def test_reviews_are_fetched_and_can_be_imported(tmp_path, serve, quantshift, monkeypatch):
    monkeypatch.chdir(tmp_path)
    music = archive([("Music.txt", b"5\tone\n1\ttwo\n"), ("readme.md", b"hello")])
    record = serve({"Books.txt.gz": BOOKS, "Music.zip": music, "README.txt": b"hello"})
    url = f"{record.url}/record"
    code, out, _ = quantshift("data", "fetch", "reviews", "--out", "raw", "--url", url)
    assert code == 0
    command = (
        "quantshift data import --layout reviews Books=raw/Books.txt.gz Music=raw/Music.txt --out "
        "sets/reviews"
    )
    assert out == f"The reviews of the paper in raw\nnext:\n  {command}\n"
    assert names(tmp_path / "raw.downloads") == ["Books.txt.gz", "Music.zip"]
    code, out, err = quantshift(*command.split()[1:], "--min-chars", 3)
    assert code == 0, err
    data = DataFolder.open("sets/reviews")
    assert [(c["name"], c["items"]) for c in data.manifest["categories"]] == [
        ("Books", 9_000),
        ("Music", 2),
    ]


def test_progress_counts_all_files(tmp_path, serve):
    record = serve({"a.txt": b"x" * 600_000, "b.txt": b"y" * 10})
    seen = []
    download_files(list_record(f"{record.url}/record"), tmp_path, lambda *step: seen.append(step))
    assert seen[0][0] == "a.txt"
    assert seen[0][1] < 600_000
    assert seen[-1] == ("b.txt", 600_010, 600_010)
    assert [step[1] for step in seen] == sorted(step[1] for step in seen)


def test_a_cut_connection_is_tried_again_and_a_part_is_never_left(tmp_path, serve):
    record = books(serve, cut_after=[20_000, 3])
    assert download(record, tmp_path).read_bytes() == BOOKS
    assert len(record.requests) == 3
    assert names(tmp_path) == ["Books.txt.gz"]
    # What is there and whole is not fetched again.
    assert download(record, tmp_path).read_bytes() == BOOKS
    assert len(record.requests) == 3


def test_what_is_there_and_not_of_the_record_is_not_replaced(tmp_path, serve):
    record = books(serve)
    (tmp_path / "Books.txt.gz").write_bytes(b"my own books")
    refusal = r"Books\.txt\.gz in the folder of downloads is not .*; move it away"
    with pytest.raises(DataError, match=refusal):
        download(record, tmp_path)
    assert (tmp_path / "Books.txt.gz").read_bytes() == b"my own books"
    assert record.requests == []


def test_passing_troubles_are_waited_for(tmp_path, serve):
    record = books(serve, answers=[503, 429, 500, 200])
    assert download(record, tmp_path).read_bytes() == BOOKS
    assert len(record.requests) == 4


def test_patience_ends(tmp_path, serve):
    record = books(serve, answers=[503] * 99)
    with pytest.raises(UserError, match=r"cannot download Books\.txt\.gz \(.* 503 .*try again"):
        download(record, tmp_path)
    assert len(record.requests) == 5
    record = books(serve, cut_after=[5_000] * 99)
    with pytest.raises(UserError, match=r"Books\.txt\.gz \(the connection was lost\)"):
        download(record, tmp_path)
    assert names(tmp_path) == []


def test_a_wrong_checksum_removes_the_file(tmp_path, serve):
    record = books(serve, checksums={"Books.txt.gz": "0" * 32})
    with pytest.raises(DataError, match=r"Books\.txt\.gz has the wrong checksum and was removed"):
        download(record, tmp_path)
    assert names(tmp_path) == []


def test_a_missing_file_is_not_asked_for_again(tmp_path, serve):
    record = books(serve, answers=[404])
    with pytest.raises(UserError, match=r"cannot download Books\.txt\.gz: http://.* returns 404"):
        download(record, tmp_path)
    assert len(record.requests) == 1


def test_space_is_looked_for_before(tmp_path, serve, monkeypatch):
    record = books(serve)
    usage = shutil.disk_usage(tmp_path)._replace(free=len(BOOKS) - 1)
    monkeypatch.setattr("shutil.disk_usage", lambda path: usage)
    with pytest.raises(UserError, match="not enough space for the download"):
        download(record, tmp_path)
    assert record.requests == []
    # What is there already needs no more room.
    (tmp_path / "Books.txt.gz").write_bytes(BOOKS)
    assert download(record, tmp_path).read_bytes() == BOOKS


def test_a_disk_that_fills_up_is_named(tmp_path, serve, monkeypatch):
    import pooch

    def full(self, url, output_file, manager):
        Path(output_file).write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pooch.HTTPDownloader, "__call__", full)
    with pytest.raises(UserError, match="no space left on the disk of"):
        download_files([RemoteFile("a", 1, "md5:0", "http://127.0.0.1:9/a")], tmp_path)
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    ("listing", "message"),
    [
        (b"<html>", "did not return the listing of a Zenodo record"),
        (b"[]", "did not return the listing"),
        (b'{"files": [{"key": "a.txt"}]}', "did not return the listing"),
        (
            b'{"files": [{"key": "../a.txt", "size": 1, "checksum": "md5:0", "links": {}}]}',
            r"a file that cannot be used: '\.\./a\.txt'",
        ),
        (
            b'{"files": [{"key": "a.txt", "size": 1, "checksum": "md5:0", '
            b'"links": {"self": "file:///etc/passwd"}}]}',
            "'file:///etc/passwd' is not a URL",
        ),
    ],
)
def test_listings_that_are_none(serve, listing, message):
    record = books(serve, listing=listing)
    with pytest.raises(UserError, match=message):
        list_record(f"{record.url}/record")


def test_addresses_that_lead_nowhere(serve):
    url = books(serve, answers=[404]).url
    with pytest.raises(UserError, match="is not a URL"):
        list_record("file:///etc/passwd")
    with pytest.raises(UserError, match=r"cannot reach http://127\.0\.0\.1:9/.*no connection"):
        list_record("http://127.0.0.1:9/record")
    with pytest.raises(UserError, match=r"cannot reach .*/none/content.*404"):
        list_record(url + "/files/none/content")
    with pytest.raises(UserError, match="passwords in a URL are not sent") as told:
        list_record("http://ann:s3cret@127.0.0.1:9/record")
    assert "s3cret" not in str(told.value)


def test_the_password_of_a_proxy_is_not_shown(monkeypatch, capfd):
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.setenv(name, "http://ann:s3cret@127.0.0.1:9")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pooch.core.time.sleep", lambda seconds: None)
    with pytest.raises(UserError, match=r"cannot reach http://example\.invalid/") as told:
        list_record("http://example.invalid/record")
    assert "s3cret" not in str(told.value) + "".join(capfd.readouterr())


def test_a_missing_package_is_named(serve, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(UserError, match=r"downloads need pooch, .* 'quantshift\[fetch\]'"):
        list_record(f"{books(serve).url}/record")


def test_a_taken_folder_is_refused_before_the_download(tmp_path, serve):
    record = books(serve)
    with pytest.raises(UserError, match="exists; choose a new folder"):
        fetch_record("reviews", tmp_path, url=f"{record.url}/record")
    assert record.requests == []
