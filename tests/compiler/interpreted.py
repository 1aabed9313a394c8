"""Loops run by Python instead of Numba: the same text, without a second's compilation for each.

What the text means is checked so for any number of programs; that Numba gives the same numbers as
Python is for `test_loop_kernels.py`.
"""

import contextlib
import ctypes
import math

import numpy as np

from framework.compiler import loop_kernels, numba_codegen
from framework.compiler.loop_cache import LoopMachineCode
from framework.compiler.region_kernels import KERNEL_CALLS
from framework.kernels import gelu, threads, tier
from framework.kernels.kernel_task import KernelTask
from tests.changed import changed, without_items


class _At:
    """Elements at an address."""

    def __init__(self, kind, address):
        self.kind = kind
        code = np.ctypeslib.as_ctypes_type(kind)
        self.pointer = ctypes.cast(int(address), ctypes.POINTER(code))


def load(array, i, _place):
    return array.kind(array.pointer[int(i)])


def store(array, i, value, _place):
    array.pointer[int(i)] = array.kind(value).item()  # `not` returns a Python bool


def _is_array(kind, array, dtype, itemsize, ndim, written):
    assert isinstance(array, kind)
    assert array.flags.c_contiguous
    assert array.dtype == dtype
    assert (array.itemsize, array.ndim) == (itemsize, ndim)
    return array.flags.writeable or not written


def _wrong(*_):
    raise AssertionError("The arrays are not those that the loop takes.")


def _maximum(a, b):
    return a if a >= b or a != a else b  # noqa: PLR0124 (NaN)


def _minimum(a, b):
    return a if a <= b or a != a else b  # noqa: PLR0124 (NaN)


def _gelu_slope(x):
    return 0.5 * (1 + math.erf(x * math.sqrt(0.5))) + x * np.exp(-0.5 * x * x) / math.sqrt(
        2 * math.pi
    )


def _inner(x):
    return math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)


def _gelu_tanh_slope(x):
    t = np.tanh(_inner(x))
    steep = math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * x * x)
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * steep


def _of_kind(kind):
    def in_kind(function):
        return lambda *xs: kind(function(*xs))

    functions = {
        "exp": np.exp, "expm1": np.expm1, "log": np.log, "log1p": np.log1p, "tanh": np.tanh,
        "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "erf": math.erf,
        "softplus": lambda x: np.maximum(x, 0) + np.log1p(np.exp(-abs(x))),
        "log1p_exp": lambda x: np.log1p(np.exp(x)),
        "gelu": lambda x: 0.5 * x * (1 + math.erf(x * math.sqrt(0.5))),
        "gelu_tanh": lambda x: 0.5 * x * (1 + np.tanh(_inner(x))),
        "gelu_slope": _gelu_slope, "gelu_tanh_slope": _gelu_tanh_slope,
    }  # fmt: skip
    for ending, approximate in (("", False), ("_tanh", True)):
        for name, function in (("gelu{}", gelu.gelu), ("gelu{}_slope", gelu.slope)):
            one = lambda x, f=function, a=approximate: f(np.array([x]), approximate=a)[0]
            functions[name.format(ending)] = one
    width = 8 * np.dtype(kind).itemsize
    return {f"{name}_{width}": in_kind(f) for name, f in functions.items()}


_KINDS = (
    np.float32, np.float64, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32,
    np.uint64, np.bool_,
)  # fmt: skip
NAMES = {
    **{f"{np.dtype(k).name}_at": lambda address, k=k: _At(k, address) for k in _KINDS},
    **{f"{np.dtype(k).name}_letters": np.dtype(k) for k in _KINDS},
    **{f"{np.dtype(k).name}_of": lambda array, k=k: _At(k, array.ctypes.data) for k in _KINDS},
    "is_array": _is_array, "size": np.size,
    "wrong_arrays": _wrong, "wrong_sizes": _wrong, "done": lambda: None,
    "release_gil": lambda elements: 0, "take_gil": lambda state: None,
    "np": np, "load": load, "store": store, "plus": lambda total, x: total + x,
    "maximum": _maximum, "minimum": _minimum,
    **{kind.__name__: kind for kind in (
        np.float32, np.float64, np.int8, np.int16, np.int32, np.int64, np.uint8
    )},
    **_of_kind(np.float32), **_of_kind(np.float64),
}  # fmt: skip


class Task:
    """A loop as a task, with a number instead of its address."""

    known = []  # noqa: RUF012

    def __init__(self, loop):
        self.address = len(self.known)
        self.known.append(loop)


def _matrix(address, shape, strides):
    size = sum((n - 1) * s for n, s in zip(shape, strides)) + 1
    flat = np.ctypeslib.as_array(_At(np.float32, address).pointer, (size,))
    return np.lib.stride_tricks.as_strided(flat, shape, [4 * s for s in strides])


def _product(numbers, first, last, _memory):
    """Replaces `kernels.fast.products.product`."""
    c_row, a_row, a_step, b_step, b_column, depth, rows, columns, down = numbers[3:12]
    c = _matrix(numbers[0], (rows, columns), (c_row, 1))
    a = _matrix(numbers[1], (rows, depth), (a_row, a_step))
    b = _matrix(numbers[2], (depth, columns), (b_step, b_column))
    if down:
        c[first:last] = a[first:last] @ b
    else:
        c[:, first:last] = a @ b[:, first:last]


def _pairwise(numbers, first, last, _memory):
    """Replaces `kernels.fast.rows.pairwise`."""
    x = _matrix(numbers[0], (numbers[2],), (1,))
    _matrix(numbers[1], (1,), (1,))[0] = np.add.reduce(x) / np.float32(numbers[3])


_TASKS = {("rows", "pairwise"): Task(_pairwise)}  # kernels that plans call besides loops


class Products:
    product = inner_products = Task(_product)


class ThreadTeam:
    """Runs the chunks of a phase in reverse order: no chunk may depend on another."""

    @staticmethod
    def do(tasks, phases, most):
        tasks, phases = tasks.reshape(-1, 4), phases.reshape(-1, 3)
        assert most == max(phases[:, 2])
        for first, last, parts in phases:
            for part in reversed(range(parts)):
                for address, numbers, extent, share in tasks[first:last]:
                    begin, end = part * share, min((part + 1) * share, extent)
                    if begin < end:
                        with np.errstate(all="ignore"):
                            Task.known[address](_At(np.int64, numbers).pointer, begin, end, None)

    MOST = 50  # numbers: of a few tasks

    @classmethod
    def do_phase(cls, numbers, parts, *arrays):
        assert len(numbers) <= cls.MOST
        numbers, count = numbers.copy(), numbers[-2]
        own, tasks = numbers[: -3 - 4 * count].reshape(count, -1), numbers[-3 - 4 * count : -3]
        own[:, : len(arrays) // count] = np.reshape([a.ctypes.data for a in arrays], (count, -1))
        tasks[1::4] = [row.ctypes.data for row in own]
        cls.do(tasks, numbers[-3:], parts)


class EntryPoint:
    """A loop as an entry point."""

    def __init__(self, loop):
        self._loop = loop

    def call(self, *arrays):
        with np.errstate(all="ignore"):
            return self._loop(np.ndarray, arrays, len(arrays))


def compile_in_python(self, _library):
    """Replaces `LoopMachineCode.compile`."""
    namespace = dict(NAMES)
    exec(compile(self.source, "<loop>", "exec"), namespace)
    return {"task": Task, "entry": EntryPoint}[self.kind](namespace["loop"])


@contextlib.contextmanager
def loops():
    """Let plans use loops from the first call on, interpreted by Python."""
    address = KernelTask.address

    def address_of_python(self):
        task = _TASKS.get((self.module, self.name))
        return address(self) if task is None else task.address

    libraries = {"elementwise": "loops", "team": ThreadTeam, "products": Products}
    with (
        changed(LoopMachineCode, compile=compile_in_python, is_compiled=lambda _self: True),
        changed(loop_kernels, _built={}),
        changed(numba_codegen, _FEW=1),
        changed(tier, _tier="numba", without_numba=lambda: False, library=libraries.get),
        changed(threads, _count=3, _LEAST=1e-12),  # cut all tasks into chunks
        changed(KernelTask, address=address_of_python),
        # Numba kernels, which eager code does not call here
        without_items(KERNEL_CALLS, "reduce_sum", "reduce_mean"),
    ):
        yield
