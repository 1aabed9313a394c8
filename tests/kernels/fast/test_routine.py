"""Routines: compiled once, and linked to their callers, in later processes too."""

import gc
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("numba")

from numba.core import event
from numba.core.dispatcher import Dispatcher

from framework.kernels import tier
from framework.kernels.fast.jit import kernel
from framework.kernels.fast.routine import Routine, routine
from framework.kernels.fast.tasks import NativeFunction


@routine(cache=False)
def add(x, first, last, y):
    for i in range(first, last):
        x[i] += y[0]
    return last - first


@routine(cache=False, pointers=True)
def swap(x, i, j):
    x[i], x[j] = x[j], x[i]


@routine(cache=False, python=True)
def halve(x):
    x[0] *= np.float32(0.5)


@kernel(cache=False)
def everything(x, y, n):
    done = add(x, 0, 2, y) + add(x, n, x.size, y) + add(x, x.size, 0, x)
    swap(x, 0, n)
    swap(x, 1, 2)
    halve(x)
    return done


def test_kernels_call_routines():
    x, y = np.arange(4, dtype=np.float32), np.full(1, 10, np.float32)
    y.flags.writeable = False
    assert everything(x, y, 3) == 2 + 1 - 4
    np.testing.assert_array_equal(x, [6.5, 2, 11, 10])
    # literal numbers and read-only arrays cause no further compilation
    assert [len(f._kernel.signatures) for f in (add, swap, halve)] == [1, 1, 1]


def test_python_calls_only_routines_compiled_for_it():
    x = np.ones(1, np.float32)
    halve(x)
    assert x[0] == 0.5
    with pytest.raises(TypeError, match="add can be called by kernels only"):
        add(x, 0, 1, x)


@pytest.mark.parametrize("enabled", [True, False])
def test_garbage_collection_resumes_after_a_compilation(enabled):
    during = []

    class Listener(event.Listener):
        def on_start(self, _event):
            during.append(gc.isenabled())

        def on_end(self, _event):
            pass

    for module in ("framework.made", "somebody.elses"):
        add_one = kernel(cache=False)(eval("lambda x: x + 1", {"__name__": module}))
        (gc.enable if enabled else gc.disable)()
        try:
            with event.install_listener("numba:compile", Listener()):
                assert add_one(1) == 2
            assert gc.isenabled() == enabled
        finally:
            gc.enable()
    assert during == [False, enabled]


def compiled_functions():
    """Yield (name, function) of everything that the library compiles."""
    for name in tier.libraries():
        module = import_module(f"framework.kernels.fast.{name}")
        for value in vars(module).values():
            made = value._kernel if type(value) is Routine else value
            function = made.py_func if isinstance(made, (Dispatcher, NativeFunction)) else None
            if function is not None and function.__module__ == module.__name__:
                yield f"{name}.{function.__name__}", function


def test_no_kernel_contains_a_copy_of_another():
    """Numba optimises copies with their callers: in the process that compiles them another one may
    run than in those that load them, with other bits."""
    names = dict(compiled_functions())
    assert {"winograd.multiply", "micro.panel", "products.product"} <= set(names)
    for name, function in names.items():
        for called in map(function.__globals__.get, function.__code__.co_names):
            if isinstance(called, Dispatcher) and called.py_func is not function:
                assert called.targetoptions.get("forceinline"), f"{name} calls {called}"


MODULE = """
from framework.kernels.fast.jit import kernel
from framework.kernels.fast.routine import routine
from framework.kernels.fast.tasks import CompiledTask

@routine
def inner(x, n):
    for i in range(n):
        x[i] += 1

@kernel
def middle(x):
    inner(x, 2)

@kernel
def outer(x):
    middle(x)
    inner(x, x.size)

@CompiledTask
def task(numbers, first, last, memory):
    inner(numbers, last)
"""
CALLS = {
    "middle": "program.middle(x)",
    "outer": "program.outer(x)",
    "task": "ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 4)(program.task.address)"
    "(x.ctypes.data, 0, 3, 0)",
}
PROGRAM = """
import ctypes, sys, numpy as np, program
from numba.core import event
with event.install_recorder("numba:compile") as compiled:
    x = np.zeros(3, np.int64)
    {}
print(*x, len(compiled.buffer))
"""


def run(folder, name):
    """Return what a new process computes, and how many functions it compiles."""
    root = str(Path(__file__).parents[3])
    environment = {
        **os.environ,
        "PYTHONPATH": f"{folder}{os.pathsep}{root}",
        "FRAMEWORK_CACHE_DIR": str(folder),
    }
    program = PROGRAM.format(CALLS[name])
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    *x, compiled = map(int, done.stdout.split())
    return x, compiled


def test_kernels_loaded_from_disk_find_their_routines(tmp_path):
    (tmp_path / "program.py").write_text(MODULE)
    assert run(tmp_path, "middle") == ([1, 1, 0], 2 * 2)  # each begins and ends
    assert run(tmp_path, "outer") == ([2, 2, 1], 1 * 2)  # `middle`, a part of it, comes from disk
    assert run(tmp_path, "outer") == ([2, 2, 1], 0)
    assert run(tmp_path, "task") == ([1, 1, 1], 2 * 2)  # `inner` of a pointer is another
    assert run(tmp_path, "task") == ([1, 1, 1], 0)
