"""Which functions a plan calls, and with what: how a test sees what was fused.

    with plan_calls() as calls:
        for _ in range(3):
            calls.clear()
            compiled(x)
    [call] = calls["batch_norm"]
    assert call.keywords["relu"]

Only plans that are made inside the block are watched. Elementwise nodes that NumPy computes are
calls of ufuncs, a loop kernel is a call of "loop", a parallel region of "region".
"""

import contextlib
import re
from typing import NamedTuple

import numpy as np

import framework as tf
from framework.compiler.numpy_codegen import NumpyCodegen
from tests.changed import changed


class Call(NamedTuple):
    """The arguments of one call."""

    arguments: tuple
    keywords: dict


class _Calls(dict):
    def __missing__(self, name):
        return ()


class _Watched:
    """A function that notes its calls; its attributes are those of the function."""

    def __init__(self, function, name, calls):
        self._function, self._name, self._calls = function, name, calls

    def __call__(self, *arguments, **keywords):
        self._calls.setdefault(self._name, []).append(Call(arguments, keywords))
        return self._function(*arguments, **keywords)

    def __getattr__(self, name):
        return getattr(self._function, name)


@contextlib.contextmanager
def plan_calls():
    """Note the calls of plans made in the block: a dict of lists of `Call`, by function name."""
    calls, compiled = _Calls(), NumpyCodegen.compiled

    def watched(name, value):
        if name != "region":
            return _Watched(value, name, calls)
        return lambda *buffers: _Watched(value(*buffers), name, calls)  # called once, to prepare it

    def compiled_and_watched(self):
        for name, value in self.namespace.items():
            is_called = re.search(rf"\b{name}\(", self.source)  # guards compare other functions
            if is_called and callable(value) and not isinstance(value, type):
                self.namespace[name] = watched(re.sub(r"_\d+$", "", name), value)
        return compiled(self)

    with changed(NumpyCodegen, compiled=compiled_and_watched):
        yield calls


def calls_of(function, *inputs):
    """Return the calls of the plan of a function whose plan has the bits of the eager run."""
    expected = tf.nest.flatten(function(*inputs))
    with plan_calls() as calls:
        compiled = tf.function(function)
        for _ in range(4):
            calls.clear()
            for a, b in zip(tf.nest.flatten(compiled(*inputs)), expected, strict=True):
                np.testing.assert_array_equal(a.numpy(), b.numpy(), strict=True)
    return calls
