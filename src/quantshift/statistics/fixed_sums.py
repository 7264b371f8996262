"""Fast sums for compiled functions, with the same bits in every process and on every processor.

The compiler may add numbers several at a time, or fuse a product and a sum, only if it is told that
the last digits do not matter. They then depend on the code around the sum, and even on what the
process has compiled before. Here the order is written down: sums run in `LANES * VECTORS` running
sums, which processors add as vectors, and products are fused with sums where this is asked for.
"""

from typing import TYPE_CHECKING, Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from quantshift.base.types import Reals

LANES, VECTORS = 8, 4
"""Numbers in a vector, and running vectors: enough to keep a processor busy."""

_REAL, _COUNT, _BIT = ir.DoubleType(), ir.IntType(64), ir.IntType(32)
_VECTOR = ir.VectorType(_REAL, LANES)
_REAL_BYTES = 8


def _multiply_add(context: Any, a: Any, b: Any, c: Any) -> Any:
    """a * b + c, rounded once."""
    signature = types.float64(types.float64, types.float64, types.float64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.fma(*arguments)

    return signature, generate


def _sum_of(context: Any, values: Any, n: Any) -> Any:
    """The sum of the first n numbers of a contiguous array."""
    return _summing(values)


def _sum_of_products(context: Any, one: Any, other: Any, n: Any) -> Any:
    """The sum of the products of the first n numbers of two contiguous arrays."""
    return _summing(one, other)


def _summing(*arrays: Any) -> Any:
    """Signature and code of a sum over arrays of real numbers; None if they are not contiguous."""
    for array in arrays:
        if not (isinstance(array, types.Array) and array.layout == "C"):
            return None
        if array.dtype != types.float64:
            return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        *values, n = arguments
        data = [
            context.make_array(kind)(context, builder, array).data
            for kind, array in zip(arrays, values, strict=True)
        ]
        return _running_sums(builder, data, n)

    return types.float64(*arrays, types.int64), generate


def _running_sums(builder: Any, data: list[Any], n: Any) -> Any:
    """Code that adds up numbers or products in running vectors, and the rest one by one."""

    def added(numbers: list[Any], running: Any) -> Any:
        if len(numbers) == 1:
            return builder.fadd(*numbers, running)
        return builder.call(fused[running.type], [*numbers, running])

    fused = {
        kind: builder.module.declare_intrinsic(name, fnty=ir.FunctionType(kind, [kind] * 3))
        for kind, name in ((_REAL, "llvm.fma.f64"), (_VECTOR, f"llvm.fma.v{LANES}f64"))
    }
    width = ir.Constant(_COUNT, LANES * VECTORS)
    whole = builder.mul(builder.sdiv(n, width), width)
    vectors = _loop(
        builder,
        (ir.Constant(_COUNT, 0), whole, width),
        [ir.Constant(_VECTOR, [0.0] * LANES)] * VECTORS,
        lambda at, sums: [
            added([_vector(builder, x, at, LANES * v) for x in data], running)
            for v, running in enumerate(sums)
        ],
    )
    while len(vectors) > 1:
        vectors = [builder.fadd(*vectors[i : i + 2]) for i in range(0, len(vectors), 2)]
    lanes = [builder.extract_element(vectors[0], ir.Constant(_BIT, i)) for i in range(LANES)]
    while len(lanes) > 1:
        lanes = [builder.fadd(*lanes[i : i + 2]) for i in range(0, len(lanes), 2)]
    (total,) = _loop(
        builder,
        (whole, n, ir.Constant(_COUNT, 1)),
        lanes,
        lambda at, sums: [added([builder.load(builder.gep(x, [at])) for x in data], sums[0])],
    )
    return total


def _loop(builder: Any, steps: Any, values: list[Any], body: Any) -> list[Any]:
    """Code that replaces the values by those of the body, for positions from begin up to end."""
    begin, end, step = steps
    before = builder.block
    test, inside, after = (builder.append_basic_block(name) for name in ("test", "sum", "summed"))
    builder.branch(test)
    builder.position_at_end(test)
    at = builder.phi(_COUNT)
    running = [builder.phi(value.type) for value in values]
    builder.cbranch(builder.icmp_signed("<", at, end), inside, after)
    builder.position_at_end(inside)
    replaced = body(at, running)
    following = builder.add(at, step)
    builder.branch(test)
    at.add_incoming(begin, before)
    at.add_incoming(following, inside)
    for phi, first, later in zip(running, values, replaced, strict=True):
        phi.add_incoming(first, before)
        phi.add_incoming(later, inside)
    builder.position_at_end(after)
    return running


def _vector(builder: Any, start: Any, at: Any, offset: int) -> Any:
    """Code that reads the numbers of an array from a position on."""
    place = builder.gep(start, [builder.add(at, ir.Constant(_COUNT, offset))])
    return builder.load(builder.bitcast(place, _VECTOR.as_pointer()), align=_REAL_BYTES)


if TYPE_CHECKING:

    def multiply_add(a: float, b: float, c: float) -> float:
        """a * b + c, rounded once."""

    def sum_of(values: Reals, n: int) -> float:
        """The sum of the first n numbers of a contiguous array."""

    def sum_of_products(one: Reals, other: Reals, n: int) -> float:
        """The sum of the products of the first n numbers of two contiguous arrays."""

else:
    multiply_add, sum_of = intrinsic(_multiply_add), intrinsic(_sum_of)
    sum_of_products = intrinsic(_sum_of_products)
