"""Building blocks of generated elementwise loops: memory access, and functions of one element.

`compiler/loop_codegen.py` generates the source of the loops, which may call what `NAMES` lists.
LLVM inlines the functions into the loops and vectorizes the loops, so the functions have no
branches and make no calls.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from framework.kernels.fast import elementwise_double as double
from framework.kernels.fast import entry_point, math
from framework.kernels.fast.entry_point import EntryPoint
from framework.kernels.fast.jit import kernel
from framework.kernels.fast.math import element, kept
from framework.kernels.fast.tasks import CompiledTask, pointer

_zero, _one, _two, _inf = (np.float32(c) for c in (0, 1, 2, np.inf))


# ---- memory access -------------------------------------------------------------------------------
# Indices are unchecked. `place` is an array's index among the loop's arrays. It selects metadata
# that tells LLVM that the arrays do not overlap. Without the metadata LLVM tests for overlap, and
# does not vectorize loops over many arrays.

_PLACES = 40


def _tell_apart(module, access, place):
    def node(*parts):
        return module.add_metadata(list(parts))

    domain = node(ir.MetaDataString(module, "arrays of a loop"))
    scopes = [node(ir.MetaDataString(module, f"array {i}"), domain) for i in range(_PLACES)]
    access.set_metadata("alias.scope", node(scopes[place]))
    access.set_metadata("noalias", node(*(s for i, s in enumerate(scopes) if i != place)))


def _address(context, builder, kind, array, index):
    pointer = isinstance(kind, types.CPointer)
    data = array if pointer else context.make_array(kind)(context, builder, array).data
    return builder.gep(data, [index], inbounds=True)


@intrinsic(prefer_literal=True)
def load(typing, array, index, place):
    """Return the element at a flat index of a contiguous array."""

    def emit(context, builder, signature, args):
        pointer = _address(context, builder, signature.args[0], args[0], args[1])
        raw = builder.load(pointer)
        _tell_apart(builder.module, raw, place.literal_value)
        return context.data_model_manager[array.dtype].from_data(builder, raw)

    return array.dtype(array, types.intp, place), emit


@intrinsic(prefer_literal=True)
def store(typing, array, index, value, place):
    """Set the element at a flat index of a contiguous array."""

    def emit(context, builder, signature, args):
        pointer = _address(context, builder, signature.args[0], args[0], args[1])
        raw = context.data_model_manager[array.dtype].as_data(builder, args[2])
        access = builder.store(raw, pointer)
        _tell_apart(builder.module, access, place.literal_value)
        return context.get_dummy_value()

    return types.void(array, types.intp, array.dtype, place), emit


@kernel(fastmath={"reassoc", "contract", "nsz"}, forceinline=True)
def plus(total, x):
    """Return total + x; LLVM may reorder such a sum into vectorized partial sums."""
    return total + x


# ---- selection -----------------------------------------------------------------------------------


@element
def maximum(a, b):
    return a if a >= b or a != a else b


@element
def minimum(a, b):
    return a if a <= b or a != a else b


# ---- float32 functions that math.py lacks --------------------------------------------------------


_TANH_END = np.float32(9.0106)  # For larger |x|, tanh(x) rounds to 1.
_P3, _P2, _P1, _P0 = map(np.float32, (1.34010927e-8, 2.06478944e-5, 3.49818962e-3, 0.133833036))
_Q3, _Q2, _Q1, _Q0 = map(np.float32, (7.79710888e-7, 3.28971539e-4, 2.58871447e-2, 0.467166245))


# The coefficients of the power series of artanh.
_A1, _A2, _A3, _A4, _A5, _A6, _A7 = (np.float32(1 / c) for c in (3, 5, 7, 9, 11, 13, 15))


@element
def tanh_32(x):
    """Return tanh(x) within 6 units in the last place, in 0.6 times the time of `math.tanh`.

    The formula is x (1 + z P(z)) / (1 + z Q(z)) with z = x², a rational fit with a relative error
    of 2.2e-8.
    """
    # Each comparison compiles to one instruction, and NaN stays NaN.
    v = _TANH_END if x > _TANH_END else x
    v = -_TANH_END if v < -_TANH_END else v
    z = v * v
    p = ((kept(_P3) * z + kept(_P2)) * z + kept(_P1)) * z + kept(_P0)
    q = ((kept(_Q3) * z + kept(_Q2)) * z + kept(_Q1)) * z + kept(_Q0)
    y = (z * v * p + v) / (z * q + _one)
    y = _one if y > _one else y
    return -_one if y < -_one else y


@element
def log1p_32(x):
    """Return log(1 + x) within 4 units in the last place: Goldberg 1991, theorem 4."""
    u = _one + x
    d = u - _one
    exact = d == _zero or u == _inf
    y = math.log(u) * (x / (_one if exact else d))
    return x if exact else y


@element
def log1p_exp_32(x):
    """Return log(1 + exp(x)), x <= 0, within 4 units in the last place: 2 artanh(s), s <= 1/3."""
    e = math.kept_exp(x)
    s = e / (_two + e)
    q = s * s
    p = kept(_A7) * q + kept(_A6)
    p = ((p * q + kept(_A5)) * q + kept(_A4)) * q + kept(_A3)
    p = ((p * q + kept(_A2)) * q + kept(_A1)) * q
    return _two * (s * p + s)


@element
def softplus_32(x):
    """Return log(1 + exp(x)) within 4 units in the last place."""
    return maximum(x, _zero) + log1p_exp_32(-abs(x))


# ---- compiling a loop ----------------------------------------------------------------------------


def native(function, kind, cache):
    """Return a generated loop as machine code.

    Args:
        kind: "entry" for an `EntryPoint`, "task" for a `CompiledTask`.
        cache: as for `kernel`.
    """
    # Without fastmath each operation rounds as in NumPy, so fused and unfused ops give bitwise
    # equal results.
    make = {"entry": EntryPoint, "task": CompiledTask}[kind]
    return make(function, fastmath=False, cache=cache)


def _name(kind):
    return "bool" if kind is types.boolean else kind.name


def warm():
    """Do nothing: loops are compiled when a plan needs them."""


_STORED = (
    types.float32, types.float64, types.int8, types.int16, types.int32, types.int64, types.uint8,
    types.uint16, types.uint32, types.uint64, types.boolean,
)  # fmt: skip
_MATH = (
    "expm1", "log", "sigmoid", "erf", "gelu", "gelu_slope", "gelu_tanh", "gelu_tanh_slope",
)  # fmt: skip
_OF_ENTRIES = (
    "is_array", "size", "release_gil", "take_gil", "done", "wrong_arrays", "wrong_sizes",
)  # fmt: skip
NAMES = {
    "np": np,
    **{f"{_name(kind)}_at": pointer(kind) for kind in _STORED},
    **{f"{_name(kind)}_of": entry_point.data_of(kind) for kind in _STORED},
    **{f"{_name(kind)}_letters": entry_point.letters(np.dtype(_name(kind))) for kind in _STORED},
    **{kind.name: kind for kind in (types.float32, types.float64)},
    **{
        kind.name: kind for kind in (types.int8, types.int16, types.int32, types.int64, types.uint8)
    },
    **{
        f.__name__: f
        for f in (load, store, plus, maximum, minimum, tanh_32, log1p_32, softplus_32, log1p_exp_32)
    },
    **{name: getattr(entry_point, name) for name in _OF_ENTRIES},
    **{f"{name}_32": getattr(math, name) for name in _MATH},
    "exp_32": math.kept_exp,
    **{name: f for name, f in vars(double).items() if name.endswith("_64")},
    "__name__": __name__,  # Numba's cache looks up the globals of a generated loop in this module.
}
"""The names that the source of a loop may use."""
