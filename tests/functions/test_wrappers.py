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
from framework.core.tensor import Tensor
from framework.functions import elementwise, reduction, special
from framework.functions.wrappers import declarations
from framework.keras.ops import elementwise as keras_elementwise
from framework.keras.ops import numerics as keras_numerics
from framework.keras.ops import reduction as keras_reduction
from framework.keras.ops import wrappers as keras_wrappers

MODULES = (
    elementwise, special, reduction, keras_elementwise, keras_numerics, keras_reduction
)  # fmt: skip
ALIASES = {
    (elementwise, "mod"), (keras_elementwise, "bitwise_invert"), (keras_numerics, "isnan"),
}  # fmt: skip
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
    for rule in (elementwise.alike_floats, keras_wrappers.alike, keras_wrappers.alike_floats):
        if dtype.kind in rule.kinds:
            one, other = converted(rule, x, y)
            assert one is x
            assert other is y
    for rule in (elementwise.floats, keras_wrappers.floats, reduction.booleans):
        if dtype.kind in rule.kinds:
            assert converted(rule, x) is x


def converted(rule, *operands):
    return rule.convert(*operands, "f") if rule.named else rule.convert(*operands)


def test_namespaces_show_the_declared_functions():
    assert importlib.import_module("framework.math").lgamma is special.lgamma
    assert keras.ops.arcsin is keras_elementwise.arcsin
    assert keras.ops.numpy.sum is keras_reduction.sum
