"""Programs whose plans or loops could not be written once: now they can, with eager's numbers.

That nothing was said on the log is for the fixture `no_failures_of_the_compiler`.
"""

import numpy as np
import pytest

import framework as tf
from framework.core.op import table

pytestmark = pytest.mark.usefixtures("kind")


def same(body, *args, variables=()):
    """The results of five calls are eager's, and the variables' values after them."""
    found = []
    before = [v.numpy() for v in variables]
    for function in (body, compiled := tf.function(body)):
        for v, value in zip(variables, before, strict=True):
            v.assign(value)
        calls = [tf.nest.flatten(function(*args)) for _ in range(5)]
        found.append([np.asarray(t) for call in calls for t in (*call, *variables)])
    for a, b in zip(*found, strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        np.testing.assert_allclose(b, a, rtol=1e-6)
    assert "1 plan" in compiled.explain()


@pytest.mark.parametrize("op", [tf.multiply, tf.minimum, tf.add])
def test_a_variable_computed_from_itself_twice(op):
    v = tf.Variable([[0.5, 1.0]])

    def body(x):
        v.assign(op(v, v))
        return v * x

    same(body, tf.constant(2.0), variables=[v])


WITHOUT_FORM = ["floor_mod", "floor_divide", "angle", "digamma", "erfc", "bessel_i0"]


@pytest.mark.parametrize("name", WITHOUT_FORM)
def test_float64_ops_without_a_form_beside_others(name):
    """float64 is equal to None, by NumPy."""
    op = table[name]
    x = tf.constant(np.linspace(0.3, 4.0, 6).reshape(2, 3))
    args = [x, x[::-1]][: len(op.inputs)]
    same(lambda *xs: tf.abs(op(*xs)) * 2.0 + xs[0], *args)


def test_divisions_of_integers_beside_others():
    x = tf.constant([7, -3, 5], "int32")
    same(lambda x: (x // 2 + x * x, x / 3 * 2.0), x)
