"""The two inner loops of depthwise convolution: each holds a vector of channels in registers.

    strip   computes some neighboring outputs: sums over a window
    taps    computes the gradients of some weights: sums over positions

Arrays are flat float32; offsets and strides count elements and *are not checked*.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from framework.kernels.fast.routine import data_of
from framework.kernels.fast.target import FUSED, LANES

TAPS = 9  # One call of `taps` computes the gradients of this many weights, those of a 3 × 3 window.

_float, _int = ir.FloatType(), ir.IntType(64)
_vector = ir.VectorType(_float, LANES)


def _pointer(context, builder, signature, arguments, place):
    """Return the address of arguments[place][arguments[place + 1]]."""
    data = data_of(context, builder, signature.args[place], arguments[place])
    return builder.gep(data, [arguments[place + 1]])


def _load(builder, pointer):
    value = builder.load(builder.bitcast(pointer, _vector.as_pointer()))
    value.align = 4
    return value


def _store(builder, value, pointer):
    builder.store(value, builder.bitcast(pointer, _vector.as_pointer())).align = 4


def _multiply_add(builder, x, y, z):
    """Return x y + z, fused if the CPU can: elsewhere llvm.fma would be a library call."""
    if not FUSED:
        return builder.fadd(builder.fmul(x, y), z)
    kind = ir.FunctionType(_vector, [_vector] * 3)
    fma = cgutils.get_or_insert_function(builder.module, kind, f"llvm.fma.v{LANES}f32")
    return builder.call(fma, [x, y, z])


def _loop(builder, number, values, body):
    """Emit `for i in range(number): values = body(i, values)`, number > 0; return the values."""
    before, head = builder.block, builder.append_basic_block("head")
    after = builder.append_basic_block("after")
    builder.branch(head)
    builder.position_at_end(head)
    nodes = [builder.phi(_int), *(builder.phi(value.type) for value in values)]
    for node, value in zip(nodes, (ir.Constant(_int, 0), *values), strict=True):
        node.add_incoming(value, before)
    results = body(nodes[0], nodes[1:])
    following = builder.add(nodes[0], ir.Constant(_int, 1))
    for node, value in zip(nodes, (following, *results), strict=True):
        node.add_incoming(value, builder.block)
    builder.cbranch(builder.icmp_signed("<", following, number), head, after)
    builder.position_at_end(after)
    return results


def _make_strip(count):
    """Return the function that computes `count` neighboring outputs.

    y[y_at + t y_step] = max(least, b[b_at] + Σ a[a_at + t a_step + r a_row + q a_column]
                                              · w[w_at + r w_row + q w_column])

    summed over r < rows and q < columns, both positive, for t < count and each channel of a vector.
    """

    @intrinsic
    def strip(
        _, y, y_at, y_step, a, a_at, a_step, a_row, a_column, w, w_at, w_row, w_column, b, b_at,
        rows, columns, least,
    ):  # fmt: skip
        def generate(context, builder, signature, arguments):
            given = context, builder, signature, arguments
            y, a, w, b = (_pointer(*given, place) for place in (0, 3, 8, 12))
            y_step, (a_step, a_row, a_column) = arguments[2], arguments[5:8]
            (w_row, w_column), (rows, columns, least) = arguments[10:12], arguments[14:]
            moves = [builder.mul(ir.Constant(_int, t), a_step) for t in range(count)]

            def of_row(r, sums):
                of_a = builder.gep(a, [builder.mul(r, a_row)])
                of_w = builder.gep(w, [builder.mul(r, w_row)])

                def of_cell(q, sums):
                    at = builder.gep(of_a, [builder.mul(q, a_column)])
                    weight = _load(builder, builder.gep(of_w, [builder.mul(q, w_column)]))
                    pixels = [_load(builder, builder.gep(at, [move])) for move in moves]
                    return [
                        _multiply_add(builder, pixel, weight, total)
                        for pixel, total in zip(pixels, sums, strict=True)
                    ]

                return _loop(builder, columns, sums, of_cell)

            floor = ir.Constant(_vector, ir.Undefined)
            for lane in range(LANES):
                floor = builder.insert_element(floor, least, ir.Constant(ir.IntType(32), lane))
            for t, total in enumerate(_loop(builder, rows, [_load(builder, b)] * count, of_row)):
                # An ordered comparison with NaN is false, so a NaN sum remains NaN.
                low = builder.fcmp_ordered("<", total, floor)
                move = builder.mul(ir.Constant(_int, t), y_step)
                _store(builder, builder.select(low, floor, total), builder.gep(y, [move]))
            return context.get_dummy_value()

        p = types.intp
        arrays = (y, p, p, a, p, p, p, p, w, p, p, p, b, p, p, p, types.float32)
        return types.void(*arrays), generate

    return strip


strip_8, strip_4, strip_2, strip_1 = map(_make_strip, (8, 4, 2, 1))


@intrinsic
def taps(
    _, w, w_at, w_step, a, a_at, a_row, a_step, cells, cells_at, g, g_at, g_row, g_step, rows,
    columns,
):  # fmt: skip
    """Add to TAPS vectors of weights, those of the window pixels at the offsets `cells`:

    w[w_at + p w_step] += Σ a[a_at + cells[cells_at + p] + i a_row + j a_step]
                            · g[g_at + i g_row + j g_step]

    summed over i < rows and j < columns, both positive, for p < TAPS.
    """

    def generate(context, builder, signature, arguments):
        given = context, builder, signature, arguments
        w, a, cells, g = (_pointer(*given, place) for place in (0, 3, 7, 9))
        w_step, (a_row, a_step) = arguments[2], arguments[5:7]
        g_row, g_step, rows, columns = arguments[11:]
        distances = [builder.load(builder.gep(cells, [ir.Constant(_int, p)])) for p in range(TAPS)]
        places = [builder.gep(w, [builder.mul(ir.Constant(_int, p), w_step)]) for p in range(TAPS)]

        def of_row(i, sums):
            of_a = builder.gep(a, [builder.mul(i, a_row)])
            of_g = builder.gep(g, [builder.mul(i, g_row)])
            starts = [builder.gep(of_a, [distance]) for distance in distances]

            def of_place(j, sums):
                level = _load(builder, builder.gep(of_g, [builder.mul(j, g_step)]))
                move = builder.mul(j, a_step)
                return [
                    _multiply_add(builder, _load(builder, builder.gep(start, [move])), level, total)
                    for start, total in zip(starts, sums, strict=True)
                ]

            return _loop(builder, columns, sums, of_place)

        sums = _loop(builder, rows, [_load(builder, place) for place in places], of_row)
        for total, place in zip(sums, places, strict=True):
            _store(builder, total, place)
        return context.get_dummy_value()

    p = types.intp
    return types.void(w, p, p, a, p, p, p, cells, p, g, p, p, p, p, p), generate
