"""No message shows a password, whatever the shape of the URL."""

import gc
import re
import sys

import pytest

from quantshift.cli.app import main
from quantshift.credentials import public_url, without_credentials
from quantshift.errors import UserError
from quantshift.tables.reading import open_table

URLS = [
    "postgresql://ann:s3cret@localhost:1/db",
    "postgresql://ann:s3cret@localhost:1/db?table=t",
    "postgresql+psycopg2://ann:s3cret@host/db?table=t",
    "postgresql+psycopg2://ann:s3cret@host/*.csv",
    "postgresql://ann:x/s3cret@localhost:1/db?table=t",
    "postgresql://ann:x#s3cret@localhost:1/db?table=t",
    "postgresql://ann:x?s3cret@localhost:1/db?table=t",
    "postgresql://ann:x@s3cret@localhost:1/db?table=t",
    "postgresql://ann:s3cret space@localhost:1/db?table=t",
    "postgresql://localhost:1/db?table=t&PASSWORD=s3cret",
    "postgresql://localhost:1/db?table=t&pass%77ord=s3cret",
    "postgresql://localhost:1/db?password=x&s3cret&table=t",
    "postgresql://localhost:1/db&PASSWORD=s3cret",
    "postgresql://ann:s3cret/db?table=t",
    "postgresql://ann:s3cret-localhost/db?table=t",
    "postgresql://ann:s3cret@localhost:none/db?table=t",
    "postgresql://ann:s3cret@[::1/db?table=t",
    "mysql://ann:s3cret@host/db?table=t",
    "s3://s3cret:s3cret@bucket/key.csv",
    # Signed addresses, and parameters whose names say nothing, used to be shown.
    "https://host/x.csv?sv=2026-01-01&sig=s3cret",
    "https://host/x.csv?X-Amz-Credential=s3cret&X-Amz-Signature=s3cret",
    "postgresql://localhost:1/db?table=t&options=-c%20s3cret=x",
    "postgresql://localhost:1/db?table=t&s3cret",
]


@pytest.fixture(autouse=True)
def garbage_collected_as_before():
    """The command sets how the process collects garbage."""
    threshold = gc.get_threshold()
    yield
    gc.unfreeze()
    gc.set_threshold(*threshold)


def told(arguments, monkeypatch, capsys, *, code=2):
    """What a command prints that fails."""
    monkeypatch.setattr(sys, "argv", ["quantshift", *arguments])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == code
    printed = capsys.readouterr()
    return printed.out + printed.err


@pytest.mark.parametrize("url", URLS)
def test_no_error_line_shows_a_password(url, monkeypatch, capsys, tmp_path):
    """URLs that were not parsed as meant used to be shown whole; an open IPv6 host crashed."""
    pytest.importorskip("adbc_driver_postgresql")
    out = str(tmp_path / "s.parquet")
    for arguments in (
        ["sketch", url, "--score", "p", "--out", out],
        ["quantify", "--posteriors", "p", "--sample", url],
        ["quantify", url],
        # The format in the message was the end of the address: '.csv?X-Amz-Signature=...'.
        ["data", "import", url, "--label", "y", "--out", out],
    ):
        line = told(arguments, monkeypatch, capsys)
        assert "s3cret" not in "".join(line.split())
    with pytest.raises(UserError) as error:
        open_table(url)
    assert "s3cret" not in str(error.value)
    assert error.value.__cause__ is None


@pytest.mark.parametrize(
    "url",
    [
        "http://ann:s3cret@localhost:1/",
        "http://ann:x/s3cret@localhost:1/",
        "http://ann:s3cret/x@localhost:1/",
        "http://ann:12/s3cret@localhost:1/",
        "http://ann:s3 cret@localhost:1/",
        "ann:s3cret@localhost",
        "ann:s3/cret@localhost",
        "http://s3cret@localhost:1/",
    ],
)
def test_downloads_and_tracebacks_show_no_password(url, tmp_path, monkeypatch, capsys):
    """Passwords were shown (`nonnumeric port: 's3'`), or taken for the host."""
    fetch = ["data", "fetch", "lequa2022", "--out", str(tmp_path / "x")]
    for given in (["--url", url], [f"--url={url}"]):
        line = told([*fetch, *given], monkeypatch, capsys)
        assert "user names and passwords in a URL are not sent" in " ".join(line.split())
        assert not re.search("s3|cret", line)
    traceback = told(["--debug", *fetch, "--url", url], monkeypatch, capsys, code=1)
    assert not re.search("s3cret|s3/cret|s3 cret", traceback)
    assert "Traceback" in traceback


@pytest.mark.parametrize("url", ["http://localhost:none/", "http://[::1/", "http:///x"])
def test_a_url_that_is_none_is_one_line(url, tmp_path, monkeypatch, capsys):
    fetch = ["data", "fetch", "lequa2022", "--url", url, "--out", str(tmp_path / "x")]
    assert "URL" in told(fetch, monkeypatch, capsys)


BLANKS = [
    "postgresql://ann:s3 cret@127.0.0.1:1/db?table=t",
    "postgresql://ann:12 cret@127.0.0.1:1/db?table=t",
    "postgresql://ann: cret@127.0.0.1:1/db?table=t",
    "postgresql://ann:s3 c@re cret@127.0.0.1:1/db?table=t",
    "postgresql://ann:s3/x cret@127.0.0.1:1/db?table=t",
    "ann:s3cret@127.0.0.1:1/db",
]


@pytest.mark.parametrize("url", BLANKS)
@pytest.mark.parametrize(
    "arguments",
    [
        ["quantify", "--sketch", "URL", "--train-sketch", "tr.parquet"],
        ["quantify", "--sketch=URL", "--train-sketch", "tr.parquet"],
        ["quantify", "--train", "URL", "--label", "y", "--sample", "URL"],
        ["data", "import", "URL", "--label", "y", "--out", "d"],
        ["plan", "quantify", "--train", "URL", "--label", "y", "--sample", "URL", "--out", "a.csv"],
        ["history", "list", "URL"],
        ["sketch", "merge", "URL", "b.parquet", "--out", "c.parquet"],
        ["judge", "URL", "--verdict", "v", "--label", "y"],
    ],
    ids=lambda arguments: "-".join(arguments[:2]),
)
def test_a_password_with_a_blank_is_not_shown(arguments, url, tmp_path, monkeypatch, capsys):
    """The part after the blank used to be shown, wherever a file name was expected."""
    monkeypatch.chdir(tmp_path)
    line = told([word.replace("URL", url) for word in arguments], monkeypatch, capsys)
    assert "cret" not in "".join(line.split())
    assert "s3" not in line


def test_errors_of_the_library_show_no_password_with_a_blank():
    told = "postgresql:/ann:s3 cret@127.0.0.1:1/db?table=t: no such file"
    assert str(UserError(told)) == "postgresql:/127.0.0.1:1/db?table=t: no such file"


def test_a_defect_that_shows_a_password_is_hidden_too(monkeypatch, capsys):
    def fail(*arguments, **options):
        raise RuntimeError(f"cannot use {URLS[0]!r} or 's3cret'")

    monkeypatch.setattr("quantshift.cli.commands.answers.quantify.check_standard_input", fail)
    line = told(["quantify", "--sample", URLS[0]], monkeypatch, capsys, code=1)
    assert "RuntimeError: cannot use 'postgresql://localhost:1/db' or '...'" in line


def test_an_open_ipv6_host_is_one_line():
    """It used to be a ValueError."""
    with pytest.raises(
        UserError, match=r"^postgresql://\[::1/db\?table=t: not a valid URL; after the"
    ):
        open_table("postgresql://ann:pw@[::1/db?table=t")


@pytest.mark.parametrize(
    "text",
    [
        "https://zenodo.org/api/records/6546188?page=2#files: no answer",
        "duckdb:////data/a@b:c.db?table=t",
        "postgresql://[::1]:5432/db?table=a",
        "postgresql://one:5432,two:5433/db?table=a",
        "postgresql://host/db?table=scores&schema=public&connect_timeout=1000",
        "cannot reach the scheduler (tcp://127.0.0.1:8786), (http://host:80/); try again",
        "C:/data/table.csv: no such file",
        "t.csv: row 2, column 'mail': 'ann@host.org' is not a date",
        "week:12/2026@noon.csv",
    ],
)
def test_what_is_no_secret_is_shown(text):
    assert without_credentials(text) == text
    assert public_url(text) == text


@pytest.mark.parametrize("host", ["host:5432", "[::1]:5432", "one:1,two:2", "host"])
def test_cells_with_an_at_sign_are_shown(host):
    text = f"postgresql://{host}/db?table=t: row 2, column 'mail': 'ann@host.org' is not a date"
    assert without_credentials(text) == text


def test_a_password_is_hidden_wherever_a_driver_repeats_it():
    source = "postgresql://ann:s3%20cret@host/db?table=t"
    told = 'connection to host: invalid option "s3 cret" or password=hunter2 of ann'
    assert without_credentials(told, [source]) == (
        'connection to host: invalid option "..." or password=... of ann'
    )
