"""Answers at a prompt and in a notebook."""

from quantshift.answers.show.notebook import MOST_ROWS, few_lines


def test_sentences_and_the_first_rows_have_a_line_each():
    rows = [[f"batch\n{i}", "1%"] for i in range(MOST_ROWS + 2)]
    lines = few_lines(["a headline\nof two lines"], [["batch", "share"], *rows]).splitlines()
    assert len(lines) == 1 + 1 + MOST_ROWS + 1
