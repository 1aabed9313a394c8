"""Wrappers that follow from declarations are functions like those written by hand."""

import importlib
import inspect
import pickle
import traceback

import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.core import dtypes
from framework.core.errors import FrameworkError
from framework.core.tensor import Tensor
from framework.functions import declared, elementwise, reduction, wrappers
from framework.functions.wrappers import declarations
from framework.keras.ops import declared as keras_declared
from framework.keras.ops import elementwise as keras_elementwise
from framework.keras.ops import numerics as keras_numerics
from framework.keras.ops import reduction as keras_reduction
from framework.keras.ops import wrappers as keras_wrappers
from framework.ops import elementwise as ops
from framework.ops import public

for module in public.MODULES:
    importlib.import_module(f"framework.ops.{module}")
for functions, module in ((public.TENSORFLOW, declared), (public.KERAS, keras_declared)):
    for name in functions:
        getattr(module, name)  # creates the function

MODULES = (
    declared, elementwise, reduction, keras_declared, keras_elementwise, keras_numerics,
    keras_reduction,
)  # fmt: skip
ALIASES = {(elementwise, "mod")}
DECLARED = [(m, n, f) for m in MODULES for n, f in vars(m).items()
            if inspect.isfunction(f) and f in declarations and (m, n) not in ALIASES]  # fmt: skip


def test_most_wrappers_are_declared():
    assert len(DECLARED) > 120
    assert {f for _, _, f in DECLARED} == set(declarations)


@pytest.mark.parametrize(
    ("module", "name", "function"), DECLARED, ids=[f"{m.__name__}.{n}" for m, n, _ in DECLARED]
)
def test_a_wrapper_has_its_own_names(module, name, function):
    assert function.__module__ == module.__name__
    assert function.__name__ == function.__qualname__ == function.__code__.co_name == name
    assert pickle.loads(pickle.dumps(function)) is function
    assert function.__doc__.startswith("Return ")
    assert not {"{", "}"} & set(function.__doc__)


PUBLIC = [
    *((tf, tf.math, declared, name) for name in public.TENSORFLOW),
    *((keras.ops, keras.ops.numpy, keras_declared, name) for name in public.KERAS),
]


@pytest.mark.parametrize(
    ("outer", "inner", "module", "name"), PUBLIC, ids=[f"{p[0].__name__}.{p[3]}" for p in PUBLIC]
)
def test_a_stub_lists_the_function(outer, inner, module, name):
    """Each function that an op declares is in a namespace."""
    function = getattr(module, name)
    homes = [home for home in (outer, inner) if name in dir(home)]
    assert homes, f"add the function {name!r} to the stub of {inner.__name__}"
    assert all(getattr(home, name) is function for home in homes)


def test_declarations_that_are_refused():
    with pytest.raises(FrameworkError, match="expected an op of one or two tensors, got <op clip"):
        public.public(ops.clip, "{x}")
    with pytest.raises(FrameworkError, match="'cos' is already declared"):
        public.public(ops.sin, "the sine of {x}", tf="cos")
    with pytest.raises(AttributeError, match="has no attribute 'zero'"):
        getattr(declared, "zero")  # noqa: B009


def test_the_signatures_are_tensorflows_and_kerass():
    def parameters(function):
        return [(p.name, p.default) for p in inspect.signature(function).parameters.values()]

    empty = inspect.Parameter.empty
    assert parameters(tf.exp) == [("x", empty), ("name", None)]
    assert parameters(tf.add) == [("x", empty), ("y", empty), ("name", None)]
    assert parameters(tf.reduce_sum) == [
        ("input_tensor", empty), ("axis", None), ("keepdims", False), ("name", None),
    ]  # fmt: skip
    assert parameters(keras.ops.exp) == [("x", empty)]
    assert parameters(keras.ops.add) == [("x1", empty), ("x2", empty)]
    assert parameters(keras.ops.sum) == [("x", empty), ("axis", None), ("keepdims", False)]


def test_docstrings_name_the_parameters():
    assert tf.pow.__doc__ == "Return x to the power y."
    assert keras.ops.power.__doc__ == "Return x1 to the power x2."
    assert tf.reduce_sum.__doc__ == "Return the sum over the axes in `axis`, by default over all."


def test_tracebacks_name_the_wrapper():
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tf.reduce_max([1.0], axis=3)
    assert "reduce_max" in [
        frame.name for frame in traceback.extract_tb(caught.value.__traceback__)
    ]


@pytest.mark.parametrize("dtype", [d for d in dtypes.by_array if d.kind in "biufc"], ids=str)
def test_tensors_of_one_dtype_need_no_conversion(dtype):
    """The wrappers' fast path skips the rules for them."""
    x, y = Tensor(np.ones(2, dtype)), Tensor(np.ones(2, dtype))
    for rule in (wrappers.alike_floats, keras_wrappers.alike, keras_wrappers.alike_floats):
        if dtype.kind in rule.kinds:
            one, other = converted(rule, x, y)
            assert one is x
            assert other is y
    for rule in (wrappers.floats, keras_wrappers.floats, reduction.booleans):
        if dtype.kind in rule.kinds:
            assert converted(rule, x) is x


def converted(rule, *operands):
    return rule.convert(*operands, "f") if rule.named else rule.convert(*operands)


def test_namespaces_show_the_declared_functions():
    assert tf.math.lgamma is declared.lgamma
    assert keras.ops.arcsin is keras_declared.arcsin
    assert keras.ops.numpy.sum is keras_reduction.sum
