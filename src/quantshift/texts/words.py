"""Compiled loops from UTF-8 bytes to counted words; the caller defines the word characters.

The loops release the GIL, so that threads can share the work, and use no threads themselves.
"""

import numpy as np
from numpy.typing import NDArray

from quantshift.base.compiled import compiled

Bytes = NDArray[np.uint8]
Codes = NDArray[np.uint64]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]

# The code of a word of at most eight bytes consists of these bytes, so equal codes are equal words.
# The code of a longer word is a hash; its first byte is 0xFF, which never occurs in UTF-8.

HASHED = np.uint64(0xFF << 56)


@compiled
def _hash(text: Bytes, start: int, stop: int) -> np.uint64:
    # FNV-1a.
    code = np.uint64(0xCBF29CE484222325)
    for j in range(start, stop):
        code = (code ^ np.uint64(text[j])) * np.uint64(0x100000001B3)
    return code | HASHED


@compiled
def _first_slot(code: np.uint64, n_slots: int) -> np.int64:
    # Multiplied by 2**64 divided by the golden ratio, every bit of the code affects the upper bits.
    # These, as a fraction of 2**32, select the slot.
    upper = (code * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)
    return np.int64(upper * np.uint64(n_slots) >> np.uint64(32))


@compiled
def lower_ascii(text: Bytes, bounds: Longs) -> tuple[Bytes, NDArray[np.bool_]]:
    """The text with ASCII letters lowered, and which text[bounds[i]:bounds[i + 1]] are ASCII."""
    lowered = np.empty(len(text), np.uint8)
    for j in range(len(text)):
        lowered[j] = text[j] | np.uint8(0x20) if 65 <= text[j] <= 90 else text[j]
    is_ascii = np.empty(len(bounds) - 1, np.bool_)
    for i in range(len(is_ascii)):
        union = np.uint8(0)
        for j in range(bounds[i], bounds[i + 1]):
            union |= text[j]
        is_ascii[i] = union < 0x80
    return lowered, is_ascii


@compiled
def find_words(
    text: Bytes, starts: Longs, stops: Longs, is_word: NDArray[np.bool_]
) -> tuple[Longs, Codes, Longs]:
    """Words of the documents text[starts[i]:stops[i]], which are valid UTF-8.

    `is_word` says for every code point whether it is a word character; a word is a maximal run of
    at least two of them. Returns the number of words of each document, and for each word a code and
    the span (start, length) in `text`.
    """
    # A word takes at least two bytes and a separator.
    most = 0
    for i in range(len(starts)):
        most += (stops[i] - starts[i] + 1) // 3
    lengths = np.empty(len(starts), np.int64)
    codes = np.empty(most, np.uint64)
    spans = np.empty((most, 2), np.int64)
    n_words = 0
    for i in range(len(starts)):
        before = n_words
        position, stop = starts[i], stops[i]
        while position < stop:
            start = position
            n_characters = 0
            width = 1
            code = np.uint64(0)
            while position < stop:
                point = np.int64(text[position])
                width = 1
                packed = code << np.uint64(8) | np.uint64(point)
                if point >= 0x80:
                    width = 2 if point < 0xE0 else 3 if point < 0xF0 else 4
                    # The lead byte of a character of n bytes has 7 - n bits of the code point.
                    point &= 0x7F >> width
                    for j in range(1, width):
                        point = point << 6 | np.int64(text[position + j] & 0x3F)
                        packed = packed << np.uint64(8) | np.uint64(text[position + j])
                if not is_word[point]:
                    break
                code = packed
                n_characters += 1
                position += width
            if n_characters > 1:
                length = position - start
                codes[n_words] = code if length <= 8 else _hash(text, start, position)
                spans[n_words, 0] = start
                spans[n_words, 1] = length
                n_words += 1
            position += width
        lengths[i] = n_words - before
    return lengths, codes[:n_words], spans[:n_words]


@compiled
def fill_slots(slots: Ints, codes: Codes) -> None:
    """Enter the words 0, 1, ... with these codes into an empty table of 2**k slots."""
    mask = len(slots) - 1
    for word in range(len(codes)):
        slot = _first_slot(codes[word], len(slots))
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = word


@compiled
def number_words(
    slots: Ints,
    known_codes: Codes,
    known_bounds: Longs,
    known_bytes: Bytes,
    n_words: int,
    text: Bytes,
    codes: Codes,
    spans: Longs,
    numbers: Ints,
    first: int,
) -> tuple[int, int]:
    """Write the dictionary's numbers of the words text[spans[first:]] into `numbers`.

    Word w of the dictionary is known_bytes[known_bounds[w]:known_bounds[w + 1]]. New words are
    added at the end; the loop stops at the first one for which there is no room. Returns the next
    word to number, and the size of the dictionary.
    """
    mask = len(slots) - 1
    for i in range(first, len(codes)):
        start, length, code = spans[i, 0], spans[i, 1], codes[i]
        slot = _first_slot(code, len(slots))
        word = slots[slot]
        while word >= 0:
            if known_codes[word] == code:
                if code < HASHED:
                    break
                # Equal hashes may be different words: the bytes decide.
                other = known_bounds[word]
                if known_bounds[word + 1] - other == length:
                    j = 0
                    while j < length and known_bytes[other + j] == text[start + j]:
                        j += 1
                    if j == length:
                        break
            slot = (slot + 1) & mask
            word = slots[slot]
        if word < 0:
            other = known_bounds[n_words]
            if n_words == len(known_codes) or other + length > len(known_bytes):
                return i, n_words
            word = np.int32(n_words)
            slots[slot] = word
            known_codes[word] = code
            known_bounds[word + 1] = other + length
            for j in range(length):
                known_bytes[other + j] = text[start + j]
            n_words += 1
        numbers[i] = word
    return len(codes), n_words


@compiled
def count_rows(lengths: Longs, words: Ints, n_words: int) -> tuple[Longs, Ints, Ints, Longs]:
    """Rows of `lengths` words each -> CSR: row lengths, distinct words, their counts.

    The fourth array is the number of rows that contain each word.
    """
    entry = np.full(n_words, -1, np.int64)
    frequency = np.zeros(n_words, np.int64)
    distinct = np.empty(len(words), np.int32)
    counts = np.empty(len(words), np.int32)
    entries = np.empty(len(lengths), np.int64)
    n_entries = 0
    position = 0
    for i in range(len(lengths)):
        first = n_entries
        for _ in range(lengths[i]):
            word = words[position]
            position += 1
            if entry[word] < first:
                entry[word] = n_entries
                frequency[word] += 1
                distinct[n_entries] = word
                counts[n_entries] = 1
                n_entries += 1
            else:
                counts[entry[word]] += 1
        entries[i] = n_entries - first
    return entries, distinct[:n_entries].copy(), counts[:n_entries].copy(), frequency


@compiled
def sort_rows(lengths: Longs, words: Ints, counts: Ints, order: Longs) -> tuple[Ints, Ints]:
    """The entries of each row in the order of their words, as (positions in `order`, counts).

    `order` lists the words. Entries are distributed to their words and from there, word by word, to
    their rows: a counting sort, linear in the number of entries.
    """
    ends = np.zeros(len(order) + 1, np.int64)
    for word in words:
        ends[word + 1] += 1
    for word in range(len(order)):
        ends[word + 1] += ends[word]
    rows = np.empty(len(words), np.int32)
    dealt = np.empty(len(words), np.int32)
    cursors = np.empty(len(lengths), np.int64)
    entry = 0
    for row in range(len(lengths)):
        cursors[row] = entry
        for _ in range(lengths[row]):
            target = ends[words[entry]]
            ends[words[entry]] += 1
            rows[target] = row
            dealt[target] = counts[entry]
            entry += 1
    sorted_words = np.empty(len(words), np.int32)
    sorted_counts = np.empty(len(words), np.int32)
    for position in range(len(order)):
        word = order[position]
        # Each word's end is now the start of the next word's entries.
        for target in range(ends[word - 1] if word else 0, ends[word]):
            entry = cursors[rows[target]]
            cursors[rows[target]] += 1
            sorted_words[entry] = position
            sorted_counts[entry] = dealt[target]
    return sorted_words, sorted_counts
