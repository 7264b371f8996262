"""Commands that are printed can be pasted into a shell."""

import shutil
import subprocess

import pytest

from quantshift.base.shell import command_line

NAMES = ["plain.csv", "my file's.csv", "two\nlines.csv", "a\tb'c\\d.csv", "a\u202eb\u200b1.csv"]


@pytest.mark.parametrize("name", [*NAMES, "\udcff.csv", "\x07\x1b[0m7.csv"])
def test_a_shell_reads_back_what_was_meant(name):
    """Line breaks, tabs and marks of direction used to be printed as they are."""
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("needs bash")
    line = command_line(["printf", "%s", name])
    assert line.isprintable()
    done = subprocess.run([bash, "-c", line], capture_output=True)
    assert done.stdout == name.encode("utf-8", "surrogateescape")


def test_urls_are_printed_without_passwords():
    line = command_line(["quantshift", "--sample", "postgresql://ann:s3cret@host/db?table=t"])
    assert line == "quantshift --sample 'postgresql://host/db?table=t'"
