"""Entry points: machine code that Python calls with arrays, without Numba's dispatcher.

The dispatcher looks up the argument types and copies a description of each array. This takes 0.1 to
0.2 µs per array, longer than a loop over a few elements. An entry point is a C function that
CPython calls with the addresses of the arguments. It reads an array's data pointer, sizes and dtype
from the array object (`PyArrayObject_fields`, part of NumPy's ABI), in a few instructions each.
"""

import ctypes
from functools import cached_property

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from framework.core.errors import FrameworkError
from framework.kernels.contiguous import IN_ORDER
from framework.kernels.fast.jit import FASTMATH, kernel
from framework.kernels.fast.routine import routine
from framework.kernels.fast.tasks import NativeFunction, integers

# Indices of 8-byte fields in an array object and in its dtype object. Fields 0 and 1 (reference
# count and type) are those of every Python object.
_TYPE, _DATA, _NDIM, _SHAPE, _DTYPE, _FLAGS = 1, 2, 3, 4, 7, 8
_KIND, _ITEMSIZE = 3, 5
# bit masks for a C int, and for a dtype's kind and byte order
_INT, _LETTERS = 0xFFFFFFFF, 0xFF00FF
_WRITABLE = 0x400  # the flag by which NumPy marks writable arrays

# A METH_FASTCALL function receives (self, argument array, argument count) and returns the address
# of its result.
_SIGNATURE = types.int64(types.int64, types.CPointer(types.int64), types.int64)
_FASTCALL = 0x80

_is_subtype = types.ExternalFunction("PyType_IsSubtype", types.int32(types.int64, types.int64))
_save_thread = types.ExternalFunction("PyEval_SaveThread", types.int64())
_restore_thread = types.ExternalFunction("PyEval_RestoreThread", types.void(types.int64))


def letters(dtype):
    """Return a dtype's kind and byte order in the form that `is_array` compares."""
    return ord(dtype.kind) | ord("|" if dtype.itemsize == 1 else "=") << 16


@routine
def is_array(kind, thing, expected, itemsize, ndim, written):
    """Return whether an object is a contiguous array of this dtype and rank.

    Args:
        kind, thing: addresses of NumPy's array type and of the object.
        expected: the `letters` of the dtype.
        written: whether the array must be writable.
    """
    fields = integers(thing)
    if fields[_TYPE] != kind and not _is_subtype(fields[_TYPE], kind):
        return False
    needed = IN_ORDER | (_WRITABLE if written else 0)
    if fields[_NDIM] & _INT != ndim or fields[_FLAGS] & needed != needed:
        return False
    dtype = integers(fields[_DTYPE])
    return dtype[_KIND] & _LETTERS == expected and dtype[_ITEMSIZE] == itemsize


def data_of(kind):
    """Return an intrinsic that returns the pointer to an array's data, as elements of `kind`."""

    @intrinsic
    def data(_, thing):
        def generate(context, builder, signature, arguments):
            pointer = context.get_value_type(signature.return_type)
            fields = builder.inttoptr(arguments[0], pointer.as_pointer())
            return builder.load(builder.gep(fields, [ir.Constant(ir.IntType(64), _DATA)]))

        return types.CPointer(kind)(types.int64), generate

    return data


@kernel(forceinline=True)
def address(thing):
    """Return the address of an array's data."""
    return integers(thing)[_DATA]


@routine
def size(thing):
    """Return the number of elements of an array."""
    fields = integers(thing)
    shape, elements = integers(fields[_SHAPE]), 1
    for axis in range(fields[_NDIM] & _INT):
        elements *= shape[axis]
    return elements


@kernel(forceinline=True)
def release_gil(elements):
    """Release the GIL if there is enough work; return the state for `take_gil`."""
    return _save_thread() if elements > 8192 else 0


@kernel(forceinline=True)
def take_gil(state):
    """Take the GIL again if `release_gil` released it."""
    if state:
        _restore_thread(state)


def _ending(emit):
    """Return an intrinsic that builds the return value of an entry point by calling `emit`."""

    @intrinsic
    def end(_):
        def generate(context, builder, signature, arguments):
            result = emit(context.get_python_api(builder))
            return builder.ptrtoint(result, context.get_value_type(signature.return_type))

        return types.int64(), generate

    return end


def _raising(error, message):
    def emit(api):
        api.err_set_string(error, message)
        return api.get_null_object()

    return _ending(emit)


done = _ending(lambda api: api.make_none())
wrong_arrays = _raising(
    "PyExc_TypeError", "a loop expects contiguous arrays of the dtypes and ranks in its signature"
)
wrong_sizes = _raising("PyExc_ValueError", "the sizes of the arrays do not match")


class _Method(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )  # fmt: skip


class EntryPoint(NativeFunction):
    """A function compiled to machine code that Python calls with arrays.

    Args:
        function: takes the arguments of METH_FASTCALL.
        fastmath, cache: as for `kernel`.

    Raises:
        FrameworkError: array objects have an unknown memory layout.
    """

    def __init__(self, function, fastmath=FASTMATH, cache=True):
        if not _is_known():
            raise FrameworkError(
                "Numba kernels cannot read NumPy arrays: their memory layout is unknown."
            )
        super().__init__(function, _SIGNATURE, fastmath, cache)

    @cached_property
    def call(self):
        """The entry point as a Python callable."""
        compiled = self.compiled
        method = _Method(b"loop", compiled.address, _FASTCALL, None)
        new = ctypes.pythonapi.PyCFunction_NewEx
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, *[ctypes.py_object] * 2]
        # The last argument becomes the function's `__module__`, which keeps the machine code alive.
        # Two threads that run this at once create one function each, which is harmless.
        return new(ctypes.addressof(method), np.ndarray, (compiled, method))


def _is_known():
    """Return whether array objects have the memory layout that this module assumes."""
    probe = np.zeros((2, 3), np.float32)
    at = lambda address, place: ctypes.c_int64.from_address(address + 8 * place).value
    array, dtype = id(probe), at(id(probe), _DTYPE)
    return object.__basicsize__ == 16 and (
        at(array, _TYPE) == id(np.ndarray)
        and at(array, _DATA) == probe.ctypes.data
        and at(array, _NDIM) & _INT == 2
        and at(at(array, _SHAPE), 1) == 3
        and dtype == id(probe.dtype)
        and at(array, _FLAGS) & _INT == probe.flags.num
        and at(dtype, _KIND) & _LETTERS == letters(probe.dtype)
        and at(dtype, _ITEMSIZE) == 4
    )
