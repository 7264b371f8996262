"""The runner of code blocks: what it runs, compares, fills in and refuses."""

import re

import pytest

from quantshift import __version__
from website import examples
from website.examples import ExampleError, blocks, check_page, refill
from website.pages import DOCS


@pytest.fixture
def page(tmp_path, monkeypatch):
    """Writes a page; its blocks run in the folder `run`."""
    monkeypatch.setattr(examples, "name_of", lambda page: page.name)
    (tmp_path / "run").mkdir()

    def write(text):
        path = tmp_path / "page.md"
        path.write_text(text, encoding="utf-8")
        return path, tmp_path / "run"

    return write


def fence(language, body):
    return f"```{language}\n{body}```\n"


def test_blocks_know_their_language_title_and_place():
    text = "words\n\n" + fence('toml title="a.toml"', "x = 1\n") + "\n" + fence("", "out\n")
    first, second = blocks(text)
    assert (first.language, first.title, first.body) == ("toml", "a.toml", "x = 1\n")
    assert (second.language, second.title, second.follows) == ("", None, True)
    assert text[second.start : second.end] == "out\n"


def test_an_indented_block_is_refused():
    with pytest.raises(ExampleError, match="would not be run"):
        blocks("- item\n\n    ```python\n    1 / 0\n    ```\n")


def test_python_blocks_share_a_namespace_and_a_folder(page):
    text = fence("python", "from pathlib import Path\n\nPath('f').write_text('text')\n")
    text += fence("python", "print(Path('f').read_text())\n") + "\n" + fence("", "text\n")
    check_page(*page(text))


def test_a_wrong_output_is_found_and_filled_in(page):
    path, folder = page(fence("python", "print(1 + 1)\n") + "\n" + fence("", "3\n") + "end\n")
    with pytest.raises(ExampleError, match=r"page.md:5: the page shows\n3\n\nand the output"):
        check_page(path, folder)
    assert refill(path, folder)
    assert path.read_text("utf-8").endswith("```\n2\n```\nend\n")
    check_page(path, folder)
    assert not refill(path, folder)


def test_a_failing_block_is_named(page):
    with pytest.raises(ExampleError, match=r"page.md:2: ZeroDivisionError"):
        check_page(*page("words\n" + fence("python", "1 / 0\n")))


def test_commands_run_and_their_outputs_are_compared(page):
    path, folder = page(fence("console", "$ quantshift --version\n$ ls\n"))
    (folder / "a.csv").touch()
    assert refill(path, folder)
    lines = path.read_text("utf-8").splitlines()
    assert lines[1] == "$ quantshift --version"
    assert lines[2].startswith(f"quantshift {__version__}")
    assert lines[3:] == ["$ ls", "a.csv", "```"]
    check_page(path, folder)


def test_three_dots_stand_for_anything_on_their_line(page):
    check_page(*page(fence("console", "$ quantshift --version\nquantshift ...\n")))
    with pytest.raises(ExampleError, match="the page shows"):
        check_page(*page(fence("console", "$ quantshift --version\n... shift\n")))


def test_lines_of_progress_are_left_out(page):
    command = "quantshift run local --jobs 1 --out r --documents 2000 --set shift.train_size=100"
    sizes = "--set shift.test_size=50 --set shift.train_repeats=1 --set shift.test_repeats=1"
    path, folder = page(fence("console", f"$ {command} {sizes} --set selection.enabled=false\n"))
    assert refill(path, folder)
    assert re.fullmatch(r"1 cell in \d:\d\d; results in r", path.read_text("utf-8").splitlines()[2])


def test_a_failing_command_must_show_its_error(page):
    command = "$ quantshift report nowhere\n"
    with pytest.raises(ExampleError, match="ends with 2"):
        check_page(*page(fence("console", command)))
    path, folder = page(fence("console", command + "error: x\n"))
    refill(path, folder)
    assert "\nerror: " in path.read_text("utf-8")
    assert "nowhere" in path.read_text("utf-8")


def test_other_programs_are_refused(page):
    with pytest.raises(ExampleError, match="make is not run here"):
        check_page(*page(fence("console", "$ make demo\n")))
    with pytest.raises(ExampleError, match="begins with"):
        check_page(*page(fence("console", "make demo\n")))


def test_a_block_with_a_title_is_a_file_that_the_page_can_import(page):
    text = fence('python title="mine.py"', "ANSWER = 42\n")
    text += fence("python", "import mine\n\nprint(mine.ANSWER)\n") + "\n" + fence("text", "42\n")
    check_page(*page(text))
    other = fence("python", "import mine\n")
    path, folder = page(other)
    (folder / "mine.py").unlink()
    with pytest.raises(ExampleError, match="No module named 'mine'"):
        check_page(path, folder)


def test_the_pages_have_blocks_that_run():
    text = (DOCS / "guides" / "own-data.md").read_text(encoding="utf-8")
    languages = [block.language for block in blocks(text)]
    assert languages.count("console") >= 5
    assert languages.count("python") >= 3
