"""Quotes gone wrong are found, and texts of several lines are left in peace."""

import csv
import io
import itertools
import random

import pytest

from quantshift.errors import DataError
from quantshift.tables.files import quotes as quoting
from quantshift.tables.files.quotes import check_quotes, line_by_line

WORDS = ["the", "film", "was", "good", "bad,", "and", "really;", "it's", "not", "so", "5", "10"]


def prose(rng, n_words):
    return " ".join(rng.choices(WORDS, k=n_words))


def table(n_rows, header, seed=0):
    """Rows as lists of cells, by the names of their columns."""
    rng = random.Random(seed)
    cells = {
        "text": lambda i: prose(rng, 8).replace(",", ""),
        "title": lambda i: prose(rng, 3).replace(",", ""),
        "label": lambda i: rng.choice(["positive", "negative"]),
        "stars": lambda i: str(rng.randint(1, 5)),
        "score": lambda i: f"{rng.random():.3f}",
        "id": lambda i: str(i),
        "day": lambda i: f"2024-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}",
    }
    return [[cells[name](i) for name in header] for i in range(n_rows)]


def as_csv(header, rows, delimiter=","):
    return "".join(delimiter.join(row) + "\n" for row in [header, *rows])


def check(text, header, delimiter=","):
    check_quotes("a.csv", io.BytesIO(text.encode()), delimiter, header)


def refused(text, header, delimiter=","):
    with pytest.raises(DataError) as caught:
        check(text, header, delimiter)
    assert caught.value.arguments == ("lenient",)
    return str(caught.value)


HEADERS = [
    ["text", "label"],
    ["label", "text"],
    ["id", "text", "label"],
    ["text", "stars"],
    ["id", "day", "text", "score"],
    ["title", "text", "label", "stars"],
]


@pytest.mark.parametrize("block_bytes", [1 << 20, 700])
@pytest.mark.parametrize("header", HEADERS, ids="-".join)
@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_a_quote_left_open_is_found_wherever_it_is(monkeypatch, header, delimiter, block_bytes):
    monkeypatch.setattr(quoting, "BLOCK_BYTES", block_bytes)
    for column, row in itertools.product(range(len(header)), (0, 100, 298, 299)):
        rows = table(300, header)
        rows[row][column] = '"' + rows[row][column]
        said = refused(as_csv(header, rows, delimiter), header, delimiter)
        assert said == (
            f'a.csv: line {row + 2}: a quote (") is opened in column {header[column]!r} and never '
            "closed; fix the line, or read the file line by line"
        )


@pytest.mark.parametrize("block_bytes", [1 << 20, 700])
@pytest.mark.parametrize("header", HEADERS, ids="-".join)
def test_two_quotes_left_open_are_found(monkeypatch, header, block_bytes):
    monkeypatch.setattr(quoting, "BLOCK_BYTES", block_bytes)
    for first, second in itertools.product(range(len(header)), repeat=2):
        rows = table(300, header)
        rows[99][first] = '"' + rows[99][first]
        rows[249][second] = '"' + rows[249][second]
        said = refused(as_csv(header, rows), header)
        assert said.startswith(
            f'a.csv: line 101: a quote (") is opened in column {header[first]!r} and closed in '
            "line 251, in the middle of a cell; fix"
        )


@pytest.mark.parametrize("block_bytes", [1 << 20, 700])
@pytest.mark.parametrize("header", [*HEADERS, ["title", "text"]], ids="-".join)
@pytest.mark.parametrize("last", [115, 250, 298])
def test_a_cell_that_holds_whole_rows_is_found(monkeypatch, header, last, block_bytes):
    monkeypatch.setattr(quoting, "BLOCK_BYTES", block_bytes)
    for first, second in itertools.product(range(len(header)), repeat=2):
        rows = table(300, header)
        rows[99][first] = '"' + rows[99][first]
        rows[last][second] += '"'
        said = refused(as_csv(header, rows), header)
        assert said.startswith(
            f'a.csv: line 101: a quote (") is opened in column {header[first]!r} and closed in '
            f"line {last + 2}, after what looks like whole rows; fix"
        )


def test_few_swallowed_rows_are_found_where_columns_tell_much():
    header = ["id", "text", "label"]
    rows = table(300, header)
    rows[99][1], rows[100][1] = '"' + rows[99][1], rows[100][1] + '"'
    assert "closed in line 102, after" in refused(as_csv(header, rows), header)


def test_a_file_sorted_by_its_label_with_all_of_one_swallowed():
    header = ["text", "label"]
    rows = sorted(table(300, header), key=lambda row: row[1])
    first = [row[1] for row in rows].index("positive")
    rows[first - 1][0] = '"' + rows[first - 1][0]
    rows[-1][0] += '"'
    assert "after what looks like whole rows" in refused(as_csv(header, rows), header)


@pytest.mark.parametrize("cell", ['"good" one', '"a\nb" c', 'x","y" z'])
def test_text_behind_a_closing_quote_is_found(cell):
    assert "in the middle of a cell" in refused(
        f"text,n\nfine,1\n{cell},2\nfine,3\n", ["text", "n"]
    )


@pytest.mark.slow
def test_a_cell_that_does_not_end_is_not_read_to_the_end(monkeypatch):
    monkeypatch.setattr(quoting, "LONGEST_CELL", 1 << 20)

    class Endless:
        lines = itertools.chain([b'text,n\na,"b'], itertools.repeat(b"c\n" * 1000))

        def read(self, size):
            return next(self.lines)

    with pytest.raises(DataError, match=r"line 2: .* in column 'n' and not closed within 1 MB"):
        check_quotes("a.csv", Endless(), ",", ["text", "n"])


MULTI_LINE = [
    "one line",
    "two\nlines",
    'she said "no"\nand left',
    "Well, it was fine\nNot great, though\nI liked it, mostly\nNever again, ever\nBye, now",
    "milk, 2\neggs, 3\nflour, 1\nbutter, 5\nsalt, 4\npepper, 1",
    "Food 7,5\nService 8,0\nRoom 6,5\nOverall fine",
    "7,5\n3,5 stars",
    "a,b\nc,d\ne,f",
    "broken,\nat,\nevery,\ncomma,\nof,\na,\nlong,\nsentence,\nand,\none,\nmore,\nof,\nthem,\nso",
    "f(x,y)\ng(y,z)\nh(z,x)",
    "1. first,\n2. second,\n3. third,\n4. fourth,\n",
    "\n\n\n",
    "2024-01-01\n2024-01-02",
    "positive\nnegative\npositive\nnegative\npositive",
    "positive, they said\nnegative, I said\npositive, they said\nnegative, I said",
    'quoted ""twice""\n"at the start\n"again", he said\n',
    "tab\there\r\nand\tthere\r\n",
    "5\n4\n3\n2\n1",
    '"',
    "",
]


@pytest.mark.parametrize("style", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
@pytest.mark.parametrize("header", [*HEADERS, ["title", "text"], ["text"]], ids="-".join)
def test_texts_of_several_lines_are_left_in_peace(monkeypatch, header, style):
    for block_bytes, end in ((1 << 20, "\n"), (300, "\r\n")):
        monkeypatch.setattr(quoting, "BLOCK_BYTES", block_bytes)
        rows = table(200, header)
        for i, row in enumerate(rows[20:], start=20):
            row[header.index("text")] = MULTI_LINE[i % len(MULTI_LINE)]
        for delimiter in ",;\t":
            file = io.StringIO(newline="")
            writer = csv.writer(file, delimiter=delimiter, quoting=style, lineterminator=end)
            writer.writerows([header, *rows])
            check(file.getvalue(), header, delimiter)


def test_poems_of_random_words_are_left_in_peace():
    rng = random.Random(1)
    for header in (
        ["text", "label"],
        ["stars", "text"],
        ["title", "text"],
        ["id", "text", "label"],
    ):
        rows = table(300, header)
        for row in rows:
            lines = [prose(rng, rng.randint(1, 9)) for _ in range(rng.randint(1, 30))]
            row[header.index("text")] = "\n".join(lines)
        file = io.StringIO(newline="")
        csv.writer(file).writerows([header, *rows])
        check(file.getvalue(), header)


def test_quotes_inside_of_cells_without_quotes_are_letters():
    check('size,n\n5" pipe,1\n6"",2\na "b" c,3\n', ["size", "n"])
    check('\ufeff"size",n\n"5"" pipe",1\n', ["size", "n"])


def test_line_by_line():
    lines = [
        b"text,n\n",
        b'"fine, with ""quotes""",1\n',
        b'"open,2\n',
        b'closed",3\r\n',
        b'"a"b,"4"\n',
        b'5" pipe,5\n',
        b'"two\n',
        b'lines",6',
    ]
    mended = b"".join(line_by_line(lines, ",")).decode()
    assert list(csv.reader(io.StringIO(mended, newline=""), strict=True)) == [
        ["text", "n"],
        ['fine, with "quotes"', "1"],
        ['"open', "2"],
        ['closed"', "3"],
        ['"a"b', '"4"'],
        ['5" pipe', "5"],
        ['"two'],
        ['lines"', "6"],
    ]
