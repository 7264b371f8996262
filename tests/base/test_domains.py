"""What options may be: numbers within limits, closed names, functions, sequences."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
import pytest

from quantshift.base.domains import (
    Count,
    Positive,
    Seed,
    Share,
    SharedSeed,
    check_options,
    check_value,
)
from quantshift.errors import UserError

GOOD: list[tuple[Any, Any]] = [
    (1, Count),
    (np.int64(3), Count),
    (0.5, Positive),
    (3, Positive),
    (np.float32(0.5), Share),
    (None, Share | None),
    ("a", Literal["a", "b"]),
    (np.str_("a"), Literal["a", "b"]),
    (2.0, Positive | Literal["auto"]),
    ("auto", Positive | Literal["auto"]),
    (abs, Callable[[float], float] | Literal["a"]),
    ((0.1, 0.2), Sequence[Share]),
    (np.array([0.1, 0.2]), Sequence[Share]),
    (True, bool),
    ("anything", Any),
    (object(), "a name"),
]


@pytest.mark.parametrize(("value", "declared"), GOOD)
def test_what_is_declared_is_accepted(value: Any, declared: Any) -> None:
    check_value("x", value, declared)


BAD: list[tuple[Any, Any, str]] = [
    (0, Count, "'x' must be a whole number of at least 1, got 0"),
    (True, Count, "a whole number of at least 1, got True"),
    (2.0, Count, "got 2.0"),
    ("3", Count, "got '3'"),
    (np.array([1, 2]), Count, r"got an array of shape \(2,\)"),
    (np.nan, Positive, "a number above 0, got nan"),
    (np.inf, Positive, "got inf"),
    (1.0, Share, "between 0 and 1, got 1.0"),
    (-1, Seed, "a whole number of at least 0"),
    (2**32, SharedSeed, "from 0 to 4,294,967,295"),
    (None, Seed, "got None"),
    ("B", Literal["a", "b"], "'a' or 'b', got 'B'; did you mean 'b'"),
    (1, Literal["a", "b"], "'a' or 'b', got 1$"),
    (np.array(["a"]), Literal["a", "b"], "got an array"),
    ("outo", Positive | Literal["auto"] | None, "above 0, 'auto' or None, got 'outo'; did you"),
    (3, Callable[[float], float] | Literal["a"], "a function or 'a', got 3"),
    ([0.1, 2], Sequence[Share], r"a sequence, each a number between 0 and 1, got \[0.1, 2\]"),
    (0.1, Sequence[Share], "a sequence"),
    ("yes", bool, "True or False, got 'yes'"),
    ("x" * 500, Count, "got 'x{59}\\.\\.\\.$"),
    ("two\nlines", Count, r"got 'two\\nlines'$"),
]


@pytest.mark.parametrize(("value", "declared", "message"), BAD)
def test_anything_else_is_one_line(value: Any, declared: Any, message: str) -> None:
    with pytest.raises(UserError, match=message) as refused:
        check_value("x", value, declared)
    assert "\n" not in str(refused.value)
    assert refused.value.arguments == ("x",)


def test_a_class_whose_types_cannot_be_read_is_not_checked() -> None:
    class Own:
        def __init__(self, size: Any = 3) -> None:
            self.size = size

    Own.__init__.__annotations__["size"] = "OnlyForTypeCheckers"
    check_options(Own("x"))
