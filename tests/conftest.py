"""Fixtures shared by all tests."""

import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path

import pytest

from quantshift.cli.app import main


@pytest.fixture(scope="session")
def reviews_dir() -> Path:
    """The folder of real reviews (`reviews/`, `raw/`), for tests that want real text."""
    path = _real_data("QUANTSHIFT_REVIEWS")
    if not (path / "reviews").is_dir():
        pytest.skip(f"no real reviews in {path}; set QUANTSHIFT_REVIEWS to run this test")
    return path


@pytest.fixture(scope="session")
def tables_dir() -> Path:
    """The folder of real tables, for tests that want them."""
    return _real_data("QUANTSHIFT_TABLES")


@pytest.fixture(scope="session")
def mulan_dir() -> Path:
    """The folder of Mulan's data sets with several labels, for tests that want them."""
    return _real_data("QUANTSHIFT_MULAN")


def _real_data(variable: str) -> Path:
    """The folder that a variable names; without it, the test that asks is skipped."""
    if not os.environ.get(variable):
        pytest.skip(f"real data are not part of the project; set {variable} to run this test")
    path = Path(os.environ[variable])
    if not path.is_dir():
        pytest.skip(f"there is no folder {path}; set {variable} to run this test")
    return path


@pytest.fixture(scope="module")
def postgres():
    """The URL of a PostgreSQL server of our own, on a socket."""
    programs = _postgres_programs()
    if programs is None:
        pytest.skip("no PostgreSQL server is installed")
    pytest.importorskip("adbc_driver_postgresql", reason="needs quantshift[warehouse]")
    # The server does not run as root.
    user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory(prefix="pg", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o777)
        data = folder / "data"
        run = [*user, str(programs / "initdb"), "-D", str(data), "-A", "trust", "-U", "tester"]
        subprocess.run(run, check=True, capture_output=True, cwd=name)
        control = [*user, str(programs / "pg_ctl"), "-D", str(data), "-l", str(folder / "log")]
        listen = f"-c listen_addresses= -c unix_socket_directories={name} -c fsync=off"
        subprocess.run([*control, "-o", listen, "-w", "start"], check=True, cwd=name)
        try:
            yield f"postgresql://tester@/postgres?host={name}"
        finally:
            subprocess.run([*control, "-m", "immediate", "stop"], check=True, cwd=name)


def _postgres_programs() -> Path | None:
    """The folder of PostgreSQL's programs."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if found:
        return found[-1].parent
    program = shutil.which("initdb")
    return None if program is None else Path(program).resolve().parent


@pytest.fixture(scope="module")
def browser():
    """A real browser. Closed after each module: two at a time cannot be driven by one process."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = os.environ.get("QUANTSHIFT_CHROMIUM") or shutil.which("chromium")
    if not program:
        pytest.skip("no Chromium found; install Debian's chromium, or set QUANTSHIFT_CHROMIUM")
    flags = "no-sandbox disable-gpu disable-background-networking disable-component-update"
    arguments = [f"--{flag}" for flag in [*flags.split(), "disable-sync", "no-first-run"]]
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=arguments)
        yield browser
        browser.close()


@pytest.fixture
def open_quietly(browser):
    """Opens a page; whatever it says on the console or asks of the network fails the test."""
    said, asked, contexts = [], [], []

    def open_page(path, *, ready, **options):
        context = browser.new_context(reduced_motion="reduce", **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(path.as_uri())
        page.wait_for_function(ready)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert said == []
    assert [url for url in asked if not url.startswith(("file:", "blob:", "data:"))] == []


@pytest.fixture
def quantshift(monkeypatch, capsys):
    """Calls the command; returns exit code, standard output and standard error.

    It does not announce that functions are compiled, which depends on what is in the cache.
    """
    monkeypatch.setattr("quantshift.base.compiled.announced", lambda say: nullcontext())

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["quantshift", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        return ended.value.code or 0, captured.out, captured.err

    return call
