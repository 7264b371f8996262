"""Public records: the real download and unpacking against a local server."""

import io
import stat
import zipfile
from pathlib import Path

import pytest

from quantshift.data import RECORDS, fetch_record, import_lequa
from quantshift.errors import DataError, UserError
from tests.data.lequa_folders import make_task
from tests.record_server import serving


@pytest.fixture
def serve():
    with serving() as start:
        yield start


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
    # The first archive was cut after 1,000 bytes and continued there.
    assert record.requests[1][1] == "bytes=1000-"
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
    with pytest.raises(DataError, match=r"lists no \.zip archive; it lists readme\.txt"):
        fetch_record("lequa2024", tmp_path / "x", url=serve({"readme.txt": b""}).url + "/record")


def test_a_wrong_checksum_is_refused(tmp_path, serve):
    record = serve({"T1.test.zip": archive([("T1/a.txt", b"x")])}, checksums={"T1.test.zip": "0"})
    with pytest.raises(DataError, match="wrong checksum and was removed"):
        fetch_record("lequa2024", tmp_path / "x", url=f"{record.url}/record", pause=0.001)
    assert not (tmp_path / "x").exists()


def test_the_records_are_those_of_the_challenges():
    assert {name: record.url.rpartition("/")[2] for name, record in RECORDS.items()} == {
        "lequa2022": "6546188",
        "lequa2024": "11661820",
    }
