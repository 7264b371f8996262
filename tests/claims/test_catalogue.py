"""The catalogue of findings, read aloud."""

from quantshift.claims.sentences import names_in
from tests.claims.catalogue import EXAMPLES, SENTENCES, codes, example, read_aloud


def test_every_code_has_an_example_and_every_example_a_code() -> None:
    values = [code.value for code in codes()]
    assert len(set(values)) == len(values)
    assert set(values) == set(EXAMPLES)


def test_every_number_of_an_example_is_said_or_known_to_be_data() -> None:
    """A number that no template says is for programs, and there are few of them."""
    silent = {
        f"{code.value}.{name}"
        for code in codes()
        for name in example(code).numbers
        if name not in set(names_in(code.template))
    }
    assert silent == set()


def test_the_sentences_are_those_that_were_read() -> None:
    """`python tests/claims/catalogue.py` writes them; read them before you commit them."""
    assert list(read_aloud()) == SENTENCES.read_text(encoding="utf-8").splitlines()
