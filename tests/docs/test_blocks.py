"""Generated blocks: written from the registries, refused when they are malformed."""

import pytest

from quantshift.lab.experiments.documents.loading import library_names
from quantshift.lab.shifts.catalogue import protocols
from quantshift.quantifiers.base import catalogue
from website import blocks, commands, schema
from website.pages import DOCS

PAGE = DOCS / "reference" / "index.md"


def test_every_method_shift_and_experiment_has_a_row():
    methods, shifts, experiments = (
        blocks.methods(PAGE),
        blocks.shifts(PAGE),
        blocks.experiments(PAGE),
    )
    for name, cls in catalogue.quantifiers().items():
        assert f"[{name}](../quantifiers/" in methods
        assert cls.tags.assumption.replace("|", r"\|") in methods
    for name in protocols():
        assert f"| `{name}` |" in shifts
    for name in library_names():
        assert f"| `{name}` |" in experiments


def test_a_full_size_is_the_paper_s():
    (row,) = [row for row in blocks.experiments(PAGE).splitlines() if row.startswith("| `prior`")]
    assert "110 x 550" in row
    assert "22 x 55" in row


def test_a_block_is_filled_and_the_rest_is_kept(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- generated: metrics -->\nold\n<!-- end -->\nafter\n", "utf-8")
    filled = blocks.filled(page)
    assert filled.startswith("before\n<!-- generated: metrics -->\n\n| name |")
    assert filled.endswith("\n\n<!-- end -->\nafter\n")
    assert "old" not in filled
    assert "| `nkld` |" in filled
    page.write_text(filled, "utf-8")
    assert blocks.filled(page) == filled


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("<!-- generated: nothing -->\n<!-- end -->", "no block 'nothing'; known: methods"),
        ("<!-- generated: methods -->\n", "has no <!-- end -->"),
    ],
)
def test_a_malformed_block_is_refused(text, problem):
    page = DOCS / "reference" / "index.md"
    with pytest.raises(ValueError, match=problem):
        blocks.fill(text, page)


def test_the_command_line_is_complete():
    names = [command.name for command in commands.commands()]
    assert names[:3] == ["quantshift", "quantshift example", "quantshift demo"]
    assert {"quantshift judge", "quantshift plan judge"} <= set(names)
    assert "quantshift data import" in names
    reference = commands.reference()
    for name in names[1:]:
        assert f"\n## {name}\n" in reference


def test_options_have_names_values_and_defaults():
    table = commands.options_table("quantshift run").splitlines()
    assert "| `EXPERIMENT...` | required |" in table[2]
    assert "| `--out`, `-o` `DIR` | required |" in table[3]
    assert any(row.startswith(r"| `--profile` `paper\|quick` |  |") for row in table)
    assert any(row.startswith("| `--set` `KEY=VALUE` |") for row in table)
    assert any(row.startswith("| `--documents` `INTEGER` | `20000` |") for row in table)
    assert any(row.startswith("| `--dry-run` |  |") for row in table)


def test_every_key_of_an_experiment_file_is_explained():
    rows = [row.split(" | ") for row in schema.spec_fields().splitlines()[2:]]
    keys = [row[0].strip("| `") for row in rows]
    assert {"name", "data.cut_point", "classifier.grid", "quantifier.method"} <= set(keys)
    assert all(len(row[3].strip(" |")) > 5 for row in rows)
    # What is written by hand is about keys that exist.
    assert set(schema.MEANING) <= set(keys)
    shift_keys = {row.split("`")[1] for row in schema.shift_fields().splitlines()[2:]}
    assert shift_keys == {"kind", *schema.SHIFT_MEANING}
