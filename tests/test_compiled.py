import numba

from quantshift.compiled import ANNOUNCEMENT, announced


def test_the_first_compilation_is_announced_once() -> None:
    one, other = numba.njit(lambda x: x + 1), numba.njit(lambda x: x + 2)  # not kept on disk
    told: list[str] = []
    with announced(told.append):
        assert (one(1), other(1), one(2)) == (2, 3, 3)
    assert told == [ANNOUNCEMENT]
    with announced(told.append):
        assert one(3) == 4
    assert told == [ANNOUNCEMENT]
