"""Regression tests: programs for which generating a plan or its loops once failed.

The fixture `no_failures_of_the_compiler` checks that nothing is logged.
"""

import numpy as np
import pytest

import framework as tf
from framework.core.op import table
from tests.samples.optimizers import SAMPLES

pytestmark = pytest.mark.usefixtures("kind")


def same(body, *args, variables=()):
    """Check that five calls give the results and variables of eager calls."""
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


@pytest.mark.parametrize("name", ["adam_accumulation_ema", "nadam", "schedule_free"])
@pytest.mark.parametrize("shapes", [[()], [(0,)], [(3,), ()], [(2, 0), (2,)]])
def test_updates_of_scalars_and_empty_arrays(name, shapes):
    def trained(function):
        weights = [tf.Variable(np.full(shape, 0.5, "float32")) for shape in shapes]
        optimizer = SAMPLES[name].create()

        def step(x):
            with tf.GradientTape() as tape:
                loss = sum(tf.reduce_sum(v * v * x) for v in weights)
            optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))

        step = function(step)
        for _ in range(6):
            step(tf.constant(1.5))
        return [v.numpy() for v in weights]

    for a, b in zip(trained(lambda step: step), trained(tf.function), strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-6)


@pytest.mark.parametrize("shape", [(2, 3), (0, 3), (1,), ()])
def test_conditions_with_bool_arrays(shape):
    def body(x):
        y = tf.logical_not(x > 1.0)
        return y if tf.reduce_any(tf.logical_not(y)) else tf.logical_not(y)

    same(body, tf.ones(shape))


def test_arguments_may_have_any_name():
    def body(bool, asarray, make):
        return asarray * make if tf.reduce_all(bool) else asarray

    same(body, tf.constant([False]), tf.constant([2.0]), tf.constant([3.0]))


WITHOUT_FORM = ["floor_mod", "floor_divide", "angle", "digamma", "erfc", "bessel_i0"]


@pytest.mark.parametrize("name", WITHOUT_FORM)
def test_float64_ops_without_a_loop_form(name):
    """For NumPy, np.dtype("float64") == None."""
    op = table[name]
    x = tf.constant(np.linspace(0.3, 4.0, 6).reshape(2, 3))
    args = [x, x[::-1]][: len(op.inputs)]
    same(lambda *xs: tf.abs(op(*xs)) * 2.0 + xs[0], *args)


@pytest.mark.parametrize("axis", [0, 1, None])
def test_sums_of_a_row_combined_with_a_column(axis):
    """No array has full shape."""
    column, row = tf.constant([[1.0], [-2.0], [3.0]]), tf.constant([0.5, 1.5, -1.0, 2.0])
    same(lambda c, r: tf.reduce_sum(tf.where(c > 0.0, r, c) * 2.0, axis=axis), column, row)


def test_divisions_of_integers():
    x = tf.constant([7, -3, 5], "int32")
    same(lambda x: (x // 2 + x * x, x / 3 * 2.0), x)
