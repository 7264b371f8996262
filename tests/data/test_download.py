"""The real download code against a local server that can misbehave."""

import errno
import gzip
import shutil
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from quantshift.data.download import DownloadProgress, download_files, fetch_reviews, list_files
from quantshift.errors import DataError, UserError
from tests.record_server import Record, serving

BOOKS = gzip.compress(
    "".join(
        f"{1 + i % 5}\treview {i:06d} {i * i} {'x' * (i % 40)}\n" for i in range(30_000)
    ).encode(),
    mtime=0,
)


@pytest.fixture
def serve() -> Iterator[Callable[..., Record]]:
    with serving() as start:
        yield lambda files=None, **behaviour: start(files or {"Books.txt.gz": BOOKS}, **behaviour)


def download(record: Record, folder: Path) -> Path:
    (path,) = download_files(list_files(f"{record.url}/record"), folder, pause=0.001)
    return path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_fetch_downloads_checks_and_imports(tmp_path, serve):
    music = b"5\tone\n1\ttwo\n"
    record = serve({"Books.txt.gz": BOOKS, "Music.txt": music, "README.txt": b"hello"})
    seen: list[DownloadProgress] = []
    summary = fetch_reviews(
        tmp_path / "amazon", url=f"{record.url}/record", min_chars=3, download_progress=seen.append
    )
    assert summary.corpus.categories == ("Books", "Music")
    assert summary.corpus.texts([30_000, 30_001]) == ["one", "two"]
    assert summary.total.kept == 30_002
    assert names(tmp_path / "amazon.downloads") == ["Books.txt.gz", "Music.txt"]
    total = len(BOOKS) + len(music)
    assert seen[-1] == DownloadProgress("Music.txt", total, total)
    # What is there and whole is not fetched again.
    fetch_reviews(tmp_path / "amazon", url=f"{record.url}/record", min_chars=3, overwrite=True)
    assert len(record.requests) == 2


def test_a_cut_connection_is_continued_where_it_broke(tmp_path, serve):
    record = serve(cut_after=[20_000, 30_000])
    assert download(record, tmp_path).read_bytes() == BOOKS
    assert record.requests == [
        ("Books.txt.gz", None, None),
        ("Books.txt.gz", "bytes=20000-", '"v1"'),
        ("Books.txt.gz", "bytes=50000-", '"v1"'),
    ]
    assert names(tmp_path) == ["Books.txt.gz"]


def test_a_later_process_continues_the_part(tmp_path, serve):
    record = serve()
    (tmp_path / "Books.txt.gz.part").write_bytes(BOOKS[:777])
    assert download(record, tmp_path).read_bytes() == BOOKS
    assert record.requests == [("Books.txt.gz", "bytes=777-", None)]


def test_a_changed_file_is_fetched_from_the_start(tmp_path, serve):
    record = serve(etag='"v2"')
    (tmp_path / "Books.txt.gz.part").write_bytes(b"old" * 100)
    (tmp_path / "Books.txt.gz.part.etag").write_text('"v1"')
    assert download(record, tmp_path).read_bytes() == BOOKS
    assert record.requests == [("Books.txt.gz", "bytes=300-", '"v1"')]


@pytest.mark.parametrize("etag", [None, 'W/"weak"'])
def test_without_a_strong_tag_there_is_no_condition(tmp_path, serve, etag):
    record = serve(etag=etag, cut_after=[20_000])
    assert download(record, tmp_path).read_bytes() == BOOKS
    assert record.requests[1] == ("Books.txt.gz", "bytes=20000-", None)


def test_a_server_that_ignores_ranges_starts_over(tmp_path, serve):
    record = serve(ranges=False, cut_after=[20_000])
    assert download(record, tmp_path).read_bytes() == BOOKS
    assert len(record.requests) == 2


def test_a_part_that_is_too_long_is_thrown_away(tmp_path, serve):
    record = serve()
    (tmp_path / "Books.txt.gz.part").write_bytes(BOOKS + b"more")
    assert download(record, tmp_path).read_bytes() == BOOKS
    assert record.requests == [("Books.txt.gz", None, None)]


def test_a_refused_range_starts_over(tmp_path, serve):
    record = serve(answers=[416])
    (tmp_path / "Books.txt.gz.part").write_bytes(BOOKS[:777])
    assert download(record, tmp_path).read_bytes() == BOOKS
    assert [asked for _, asked, _ in record.requests] == ["bytes=777-", None]


def test_passing_troubles_are_waited_for(tmp_path, serve):
    record = serve(answers=[503, 429, 500, 200])
    assert download(record, tmp_path).read_bytes() == BOOKS
    assert len(record.requests) == 4


def test_patience_ends(tmp_path, serve):
    record = serve(answers=[503] * 99)
    with pytest.raises(
        UserError, match=r"cannot download Books\.txt\.gz \(.* 503 .*run the command again"
    ):
        download(record, tmp_path)
    assert len(record.requests) == 6


def test_a_server_that_always_cuts_does_not_hold_us_forever(tmp_path, serve):
    record = serve(ranges=False, cut_after=[5_000] * 99)
    with pytest.raises(UserError, match="the connection was lost"):
        download(record, tmp_path)
    assert names(tmp_path) == ["Books.txt.gz.part", "Books.txt.gz.part.etag"]


def test_a_range_that_was_not_asked_for_is_not_appended(tmp_path, serve):
    record = serve(wrong_range=True)
    (tmp_path / "Books.txt.gz.part").write_bytes(BOOKS[:777])
    with pytest.raises(UserError, match="another range than requested"):
        download(record, tmp_path)
    assert (tmp_path / "Books.txt.gz.part").read_bytes() == BOOKS[:777]


def test_a_wrong_checksum_removes_the_file(tmp_path, serve):
    record = serve(checksums={"Books.txt.gz": "0" * 32})
    with pytest.raises(DataError, match="wrong checksum and was removed"):
        download(record, tmp_path)
    assert names(tmp_path) == []


def test_a_missing_file_is_not_asked_for_again(tmp_path, serve):
    record = serve(answers=[404])
    with pytest.raises(UserError, match=r"cannot download Books\.txt\.gz: http://.* returns 404"):
        download(record, tmp_path)
    assert len(record.requests) == 1


def test_space_is_looked_for_before(tmp_path, serve, monkeypatch):
    record = serve()
    usage = shutil.disk_usage(tmp_path)._replace(free=len(BOOKS) - 1)
    monkeypatch.setattr("shutil.disk_usage", lambda path: usage)
    with pytest.raises(UserError, match="not enough space for the download"):
        download(record, tmp_path)
    assert record.requests == []
    # What is there already needs no more room.
    (tmp_path / "Books.txt.gz.part").write_bytes(BOOKS[:777])
    assert download(record, tmp_path).read_bytes() == BOOKS


def test_a_disk_that_fills_up_keeps_the_part(tmp_path, serve, monkeypatch):
    record = serve()
    monkeypatch.setattr("quantshift.data.download.CHUNK_BYTES", 10_000)
    opened = Path.open

    def open_limited(self: Path, mode: str = "r", **options: object) -> object:
        file = opened(self, mode, **options)  # type: ignore[call-overload]
        if mode in ("wb", "ab"):
            return FullAfter(file, 25_000)
        return file

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", open_limited)
        with pytest.raises(UserError, match=r"no space left while downloading .* is kept"):
            download(record, tmp_path)
    assert (tmp_path / "Books.txt.gz.part").read_bytes() == BOOKS[:20_000]
    assert download(record, tmp_path).read_bytes() == BOOKS
    assert record.requests[-1] == ("Books.txt.gz", "bytes=20000-", '"v1"')


class FullAfter:
    """A file on a disk that is full after so many bytes."""

    def __init__(self, file: object, limit: int) -> None:
        self.file, self.limit = file, limit

    def __enter__(self) -> "FullAfter":
        return self

    def __exit__(self, *error: object) -> None:
        self.file.close()  # type: ignore[attr-defined]

    def write(self, data: bytes) -> None:
        self.limit -= len(data)
        if self.limit < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        self.file.write(data)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("listing", "message"),
    [
        (b"<html>", "did not return the listing of a Zenodo record"),
        (b"[]", "did not return the listing"),
        (b'{"files": [{"key": "a.txt"}]}', "did not return the listing"),
        (b'{"files": []}', "lists no file of reviews .* it lists no files"),
        (
            b'{"files": [{"key": "../a.txt", "size": 1, "checksum": "md5:0", "links": {}}]}',
            r"a file that cannot be used: '\.\./a\.txt'",
        ),
    ],
)
def test_listings_that_are_none(serve, listing, message):
    record = serve(listing=listing)
    with pytest.raises(DataError, match=message):
        list_files(f"{record.url}/record")


def test_listing_without_reviews_or_with_doubles(serve):
    with pytest.raises(DataError, match=r"lists no file of reviews .* it lists a\.pdf"):
        list_files(serve({"a.pdf": b""}).url + "/record")
    with pytest.raises(DataError, match="several files of one category"):
        list_files(serve({"a.txt": b"", "a.zip": b""}).url + "/record")


def test_addresses_that_lead_nowhere(serve):
    url = serve(answers=[404]).url
    with pytest.raises(UserError, match="is not a URL"):
        list_files("file:///etc/passwd")
    with pytest.raises(UserError, match=r"cannot reach http://127\.0\.0\.1:9/"):
        list_files("http://127.0.0.1:9/record")
    with pytest.raises(UserError, match=r"cannot reach .*/none/content \(.*404"):
        list_files(url + "/files/none/content")


def test_an_archive_of_several_files_is_left_to_the_user(tmp_path, serve):
    path = tmp_path / "all.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("Books.txt", "5\ta\n")
        archive.writestr("Music.txt", "5\tb\n")
    record = serve({"all.zip": path.read_bytes()})
    with pytest.raises(
        DataError, match=r"contains several files \(Books\.txt, Music\.txt.*unpack it"
    ):
        fetch_reviews(tmp_path / "c", url=f"{record.url}/record")


def test_a_taken_folder_is_refused_before_the_download(tmp_path, serve):
    record = serve()
    (tmp_path / "file").write_text("precious")
    with pytest.raises(UserError, match="is not a corpus"):
        fetch_reviews(tmp_path, url=f"{record.url}/record")
    assert record.requests == []
