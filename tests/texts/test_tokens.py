import re
import sys
import threading
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from quantshift.errors import DataError, UserError
from quantshift.texts import tokens
from quantshift.texts.counts import CountMatrix, tokenise
from quantshift.texts.tokens import Dictionary, ordered_map
from quantshift.texts.words import HASHED, _first_slot


def words_of(text: str) -> list[str]:
    """The distinct words of one text, sorted."""
    return tokenise([(0, pa.array([text]))]).vocabulary.to_pylist()


def spans_of(words: list[bytes]) -> np.ndarray:
    lengths = np.array([len(word) for word in words], np.int64)
    return np.stack([np.cumsum(lengths) - lengths, lengths], axis=1)


def test_word_characters_are_alphanumerics_and_the_underscore() -> None:
    table = tokens._word_characters()
    expected = [chr(i).isalnum() or chr(i) == "_" for i in range(sys.maxunicode + 1)]
    assert table.tolist() == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("a I é 中", []),
        ("It's a GOOD one", ["good", "it", "one"]),
        ("İSTANBUL", ["stanbul"]),  # lowers to i, a combining dot (no word character), stanbul
        ("ΟΔΟΣ ΣΟΦΟΣ", ["οδος", "σοφος"]),  # a final sigma lowers to another letter
        ("e\u0301te\u0301 noe\u0308l", ["noe", "te"]),  # combining marks part words
        ("中文 很好。日本語", ["中文", "很好", "日本語"]),
        ("٣٤ ४५ كتاب", ["كتاب", "٣٤", "४५"]),
        ("good😀bad 👍🏽ok", ["bad", "good", "ok"]),
        ("_ __ snake_case _x", ["__", "_x", "snake_case"]),
        ("nul\x00byte\x00\x00ab", ["ab", "byte", "nul"]),
        ("𝔘𝔫𝔦 𐐀𐐁 𠀀𠀁", ["𐐨𐐩", "𝔘𝔫𝔦", "𠀀𠀁"]),  # beyond the BMP; Deseret has cases
        ("ÀÉ\u00a0ÎÕ\u2003ẞß", ["ßß", "àé", "îõ"]),
        ("end of text", ["end", "of", "text"]),
        ("x²y ½½ Ⅷⅷ", ["x²y", "½½", "ⅷⅷ"]),
        ("mixed ASCII\u2014then naïve", ["ascii", "mixed", "naïve", "then"]),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert words_of(text) == words


def test_very_long_words_are_kept_whole() -> None:
    long = "ab" * 300_000
    assert words_of(f"{long} {long}c é") == [long, f"{long}c"]


def test_words_about_as_long_as_their_codes() -> None:
    # Up to eight bytes a word is its own code; beyond that it is hashed.
    words = [
        letters[:n] for letters in ("abcdefghij", "bbcdefghij", "ééééééé") for n in range(2, 10)
    ]
    text = " ".join([*words, *words, "\uffefx", "aéééé", "ａｂｃ"])
    expected = Counter(re.findall(r"\b\w\w+\b", text))
    counts = CountMatrix.from_texts([text])
    assert dict(zip(counts.vocabulary.to_pylist(), counts.data.tolist(), strict=True)) == expected


def test_words_are_sorted_by_code_point() -> None:
    # In UTF-16 the order of the last two would be the other way round.
    assert words_of("𐐨𐐨 ｚｚ zz ZZ _z éé") == ["_z", "zz", "éé", "ｚｚ", "𐐨𐐨"]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
def test_arrays_may_be_slices_of_any_string_type(kind: pa.DataType) -> None:
    texts = pa.array(["left out", "first one", "sécond", "", "left out too"]).cast(kind)
    counts = tokenise([(0, texts.slice(1, 3))])
    assert counts.vocabulary.to_pylist() == ["first", "one", "sécond"]
    assert counts.indptr.tolist() == [0, 2, 3, 3]


def test_a_missing_text_is_named() -> None:
    blocks = [(0, pa.array(["one text"])), (1, pa.array(["other", None]))]
    with pytest.raises(DataError, match="document 2 has no text"):
        tokenise(blocks)


def test_invalid_utf8_is_named() -> None:
    with pytest.raises(DataError, match="document 8 is not valid UTF-8"):
        tokenise([(7, pa.array([b"fine", b"\xc3"], pa.binary()))])


def test_words_with_equal_hashes_stay_apart() -> None:
    words = [b"good", b"evil", b"good", b"goods", b"evil"]
    codes = np.full(5, HASHED)
    dictionary = Dictionary()
    text = np.frombuffer(b"".join(words), np.uint8)
    numbers = dictionary.number(text, codes, spans_of(words))
    assert numbers.tolist() == [0, 1, 0, 2, 1]


@pytest.mark.parametrize("pattern", ["{0}{1}aaaaaa", "aaaaaa{0}{1}", "{0}aaaaaa{1}", "{0}{1}"])
def test_similar_words_have_different_slots(pattern: str) -> None:
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    words = [pattern.format(a, b).encode() for a in letters for b in letters]
    slots = {_first_slot(np.uint64(int.from_bytes(word, "big")), 1 << 12) for word in words}
    # Chance would leave 1,111 of the 4,096 slots taken by 1,296 words.
    assert len(slots) > 900


def test_a_dictionary_grows() -> None:
    words = [b"%d" % i for i in range(1000)] + [b"x" * 10_000]
    text = np.frombuffer(b"".join(words), np.uint8)
    codes = np.arange(len(words), dtype=np.uint64) % np.uint64(97) | HASHED
    dictionary = Dictionary(capacity=1)
    first = dictionary.number(text, codes, spans_of(words))
    again = dictionary.number(text, codes, spans_of(words))
    assert first.tolist() == again.tolist() == list(range(1001))
    columns, sorted_words, _ = dictionary.sort()
    assert sorted_words.to_pylist() == sorted(word.decode() for word in words)
    assert [sorted_words[c].as_py().encode() for c in columns] == words


def test_ordered_map_keeps_order_and_takes_few_items_ahead() -> None:
    taken: list[int] = []

    def items() -> object:
        for i in range(20):
            taken.append(i)
            yield i

    gate = threading.Event()

    def square(i: int) -> int:
        if i == 0:
            gate.wait(5)  # the first is the last to finish of the first two
        else:
            gate.set()
        return i * i

    results = ordered_map(square, items(), workers=2)
    assert next(results) == 0
    assert taken == [0, 1, 2]
    assert list(results) == [i * i for i in range(1, 20)]


def test_ordered_map_passes_errors_on() -> None:
    with pytest.raises(ZeroDivisionError):
        list(ordered_map(lambda i: 1 // i, [2, 1, 0, 5, 6, 7], workers=2))


def test_no_workers_is_an_error() -> None:
    with pytest.raises(UserError, match="workers must be at least 1"):
        tokenise([(0, pa.array(["some text"]))], workers=0)
