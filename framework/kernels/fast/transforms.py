"""Winograd's transforms of small patches as LLVM vector code, with one channel per lane.

See `framework.kernels.toom_cook` for the matrices.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from framework.kernels.fast.target import FUSED, LANES
from framework.kernels.toom_cook import A2, A4, B2, B4, G2, G4

_float, _int = ir.FloatType(), ir.IntType(64)
_vector = ir.VectorType(_float, LANES)


def _make(matrix, add=False):
    """Return transform(target, at, row, column, source, at, row, column).

    The transform computes M S Mᵀ for LANES patches S. `at` is an offset, `row` and `column` are
    strides in elements, all unchecked. With `add` the result is added to the target.
    """

    @intrinsic
    def transform(_, target, t_at, t_row, t_column, source, s_at, s_row, s_column):
        place = types.intp
        signature = types.void(
            target, place, place, place, source, place, place, place
        )  # fmt: skip

        def generate(context, builder, signature, arguments):
            target, t_at, t_row, t_column, source, s_at, s_row, s_column = arguments

            def patch(kind, array, at, row, column):
                data = context.make_array(kind)(context, builder, array).data
                start = builder.gep(builder.bitcast(data, _float.as_pointer()), [at])
                return _Patch(builder, start, row, column)

            _generate(
                builder, matrix, patch(signature.args[0], target, t_at, t_row, t_column),
                patch(signature.args[4], source, s_at, s_row, s_column), add,
            )  # fmt: skip
            return context.get_dummy_value()

        return signature, generate

    return transform


class _Patch:
    """A patch of vectors in memory, with row and column strides."""

    def __init__(self, builder, start, row, column):
        self.builder, self.start, self.row, self.column = builder, start, row, column

    def pointer(self, i, j):
        builder = self.builder
        down = builder.mul(ir.Constant(_int, i), self.row)
        across = builder.mul(ir.Constant(_int, j), self.column)
        pointer = builder.gep(self.start, [builder.add(down, across)])
        return builder.bitcast(pointer, _vector.as_pointer())

    def load(self, i, j):
        value = self.builder.load(self.pointer(i, j))
        value.align = 4
        return value

    def store(self, value, i, j):
        self.builder.store(value, self.pointer(i, j)).align = 4


def _generate(builder, matrix, target, source, add):
    size, wide = len(matrix), len(matrix[0])
    columns = []
    for j in range(wide):
        column = [source.load(i, j) for i in range(wide)]
        columns.append([_sum(builder, row, column) for row in matrix])
    for i in range(size):
        row = [columns[j][i] for j in range(wide)]
        for j in range(size):
            value = _sum(builder, matrix[j], row)
            target.store(builder.fadd(target.load(i, j), value) if add else value, i, j)


def _sum(builder, factors, values):
    """Emit Σ factor · value; a term with factor 1 comes first, which saves an instruction."""
    terms = sorted(
        ((f, v) for f, v in zip(factors, values, strict=True) if f), key=lambda term: term[0] != 1
    )
    total = None
    for factor, value in terms:
        if total is None:
            total = value if factor == 1 else builder.fmul(value, _constant(factor))
        elif factor == 1:
            total = builder.fadd(total, value)
        elif factor == -1:
            total = builder.fsub(total, value)
        elif FUSED:
            kind = ir.FunctionType(_vector, [_vector] * 3)
            name = f"llvm.fma.v{LANES}f32"
            fma = cgutils.get_or_insert_function(builder.module, kind, name)
            total = builder.call(fma, [value, _constant(factor), total])
        else:
            total = builder.fadd(total, builder.fmul(value, _constant(factor)))
    return total


def _constant(number):
    return ir.Constant(_vector, [float(number)] * LANES)


def _turned(matrix):
    return tuple(zip(*matrix, strict=True))


# Winograd convolution, forward pass: the transforms of input patches and of weights, and the
# transform of their products into outputs, for 2 × 2 and 4 × 4 outputs per patch.
patch_2, weights_2, outputs_2 = _make(B2), _make(G2), _make(A2)
patch_4, weights_4, outputs_4 = _make(B4), _make(G4), _make(A4)
# Backward pass: the transforms from the output gradient to the gradient of the products, from the
# gradient of the transformed weights to that of the weights, and from the gradient of the
# transformed patches to that of the input, which is summed where patches overlap.
outputs_back_2, weights_back_2 = _make(_turned(A2)), _make(_turned(G2))
outputs_back_4, weights_back_4 = _make(_turned(A4)), _make(_turned(G4))
add_patch_2, add_patch_4 = _make(_turned(B2), add=True), _make(_turned(B4), add=True)
