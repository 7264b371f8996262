"""Products of a sparse matrix with a table of many columns, the expensive part of the regressions.

A row of the product is computed sixteen columns at a time, in registers. The compiler would not do
this for a Python loop: it cannot know that the row it writes is not among those it reads, and
checks that again for every eight entries. So the inner loop is written in LLVM's intermediate
representation, with additions in the order described in `product`.
"""

from collections.abc import Callable
from functools import reduce
from typing import Any, NamedTuple, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from quantshift.base.compiled import compiled
from quantshift.base.types import Reals

STRIDE = 16
"""The number of columns of a table is a multiple of this: a cache line, or a few registers."""


class Sparse(NamedTuple):
    """A matrix in compressed sparse rows."""

    starts: NDArray[np.uint32]
    indices: NDArray[np.uint32]
    values: NDArray[np.floating[Any]]


def padded(n_columns: int) -> int:
    """The smallest width of a table with at least this many columns."""
    return -(-n_columns // STRIDE) * STRIDE


def _type_row(
    typing: Any, one: Any, to: Any, of: Any, indices: Any, values: Any, start: Any, stop: Any,
    width: Any,
) -> tuple[Any, Any]:  # fmt: skip
    """`STRIDE` entries of a row of the product.

    one: a number of the tables' type; to: the address of the entries; of: that of the first row of
    the other table, at the same columns; indices, values: those of the matrix; start, stop: the
    range of its row in these; width: of the tables.
    """
    return types.void(one, to, of, indices, values, start, stop, width), _write_row


def _write_row(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    _, to, of, indices, values, start, stop, width = arguments
    number, whole, short = (
        context.get_value_type(signature.args[0]),
        ir.IntType(64),
        ir.IntType(32),
    )
    size = context.get_abi_sizeof(number)
    vector = ir.VectorType(number, STRIDE)
    variable: Callable[..., Any] = cgutils.alloca_once_value
    place = variable(builder, start)
    total = variable(builder, ir.Constant(vector, [0.0] * STRIDE))

    def read(kind: Any, base: Any, position: Any, step: int, align: int) -> Any:
        address = builder.add(base, builder.mul(position, whole(step)))
        return builder.load(builder.inttoptr(address, kind.as_pointer()), align=align)

    def term(offset: int) -> Any:
        entry = builder.add(builder.load(place), whole(offset))
        index = builder.zext(read(short, indices, entry, 4, 4), whole)
        value = read(number, values, entry, size, size)
        row = read(vector, of, builder.mul(index, width), size, size)
        first = builder.insert_element(ir.Constant(vector, ir.Undefined), value, short(0))
        zeros = ir.Constant(ir.VectorType(short, STRIDE), [0] * STRIDE)
        return builder.fmul(builder.shuffle_vector(first, first, zeros), row)

    def added(terms: list[Any]) -> Any:
        return reduce(builder.fadd, terms)

    def turns(n_entries: int, terms: Callable[[], Any]) -> None:
        head, body, end = (builder.append_basic_block(name) for name in ("head", "body", "end"))
        builder.branch(head)
        builder.position_at_end(head)
        following = builder.add(builder.load(place), whole(n_entries))
        builder.cbranch(builder.icmp_signed("<=", following, stop), body, end)
        builder.position_at_end(body)
        builder.store(builder.fadd(builder.load(total), terms()), total)
        builder.store(following, place)
        builder.branch(head)
        builder.position_at_end(end)

    turns(
        8,
        lambda: builder.fadd(
            added([term(offset) for offset in range(4)]),
            added([term(offset) for offset in range(4, 8)]),
        ),
    )
    turns(1, lambda: term(0))
    made = builder.inttoptr(to, vector.as_pointer())
    builder.store(builder.load(total), made, align=size)
    return context.get_dummy_value()


_row = cast(Callable[..., None], intrinsic(_type_row))


@compiled
def product(matrix: Sparse, right: Reals, out: Reals) -> None:
    """`out = matrix @ right`, both tables in rows of a multiple of `STRIDE` columns.

    Eight entries of the matrix at a time are multiplied and added, ((0 + 1) + 2) + 3 and
    ((4 + 5) + 6) + 7, then both sums, then the result to the total; the rest of a row is added
    entry by entry. No column depends on the others.
    """
    width = np.int64(right.shape[1])
    if width % STRIDE or out.shape[1] != width:
        raise ValueError("tables of a product need the same number of columns, a multiple of 16")
    size = np.int64(right.itemsize)
    to, of = np.int64(out.ctypes.data), np.int64(right.ctypes.data)
    indices = np.int64(matrix.indices.ctypes.data)
    values = np.int64(matrix.values.ctypes.data)
    one = matrix.values.dtype.type(1.0)
    for i in range(len(matrix.starts) - 1):
        start, stop = np.int64(matrix.starts[i]), np.int64(matrix.starts[i + 1])
        for column in range(0, width, STRIDE):
            shift = size * column
            _row(
                one, to + size * width * i + shift, of + shift, indices, values, start, stop, width
            )


@compiled
def sum_squares(table: Reals, out: Reals) -> None:
    """`out = (table ** 2).sum(axis=0)`, added row by row whatever the width of the table."""
    out[:] = 0.0
    for i in range(table.shape[0]):
        for position in range(len(out)):
            out[position] += float(table[i, position]) * float(table[i, position])
