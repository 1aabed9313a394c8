"""Eager calls, NumPy plans and loops give equal results for all ops, layers, losses, optimizers."""

import copy

import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.core import nest
from framework.core.op import first_order_only, table
from tests.layers.test_every_layer import as_tensors, called, made
from tests.samples.layers import SAMPLES as LAYERS
from tests.samples.losses import SAMPLES as LOSSES
from tests.samples.metrics import SAMPLES as METRICS
from tests.samples.ops import samples
from tests.samples.optimizers import SAMPLES as OPTIMIZERS

pytestmark = pytest.mark.usefixtures("kind")


def assert_same(found, expected, rtol=0.0):
    """Compare bit by bit, or within `rtol` where sums can be in another order."""
    pairs = zip(nest.flatten(found), nest.flatten(expected), strict=True)
    for a, b in [(np.asarray(a), np.asarray(b)) for a, b in pairs]:
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        if rtol:
            np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * 0.1)
        else:
            np.testing.assert_array_equal(a, b)


def turned(tensor):
    """Return the same elements in another order, to find values frozen in a plan."""
    axis = 0 if tensor.dtype.is_integer and len(tensor.shape) else None  # positions: reorder rows
    return tf.constant(np.flip(np.asarray(tensor), axis).copy(), tensor.dtype)


def compiled_calls(function, *args):
    """Return the results of three calls, the last by a plan, and of a call with other values."""
    compiled = tf.function(function)
    found = [compiled(*args) for _ in range(3)] + [compiled(*map(turned, args))]
    assert "1 plan;" in compiled.explain(), compiled.explain()
    return found


def plain_calls(function, *args):
    return [function(*args)] * 3 + [function(*map(turned, args))]


@pytest.mark.parametrize("name", table)
def test_ops_and_their_gradients(name, kind):
    op = table[name]
    sample = samples(name)[0]
    is_array = [isinstance(a, np.ndarray) for a in sample.args]
    arrays = [tf.constant(a) for a, is_one in zip(sample.args, is_array) if is_one]

    def run(*tensors):
        rest = iter(tensors)
        args = [next(rest) if is_one else a for a, is_one in zip(sample.args, is_array)]
        with tf.GradientTape() as tape:
            tape.watch(tensors)
            y = op(*args, **sample.attrs)
            y = y if isinstance(y, (list, tuple)) else (y,)
        if not op.derivative or op.backward is first_order_only:
            return list(y), []
        sources = [t for t in tensors if t.dtype.is_floating or t.dtype.is_complex]
        grads = tape.gradient([t for t in y if t.dtype.is_floating], sources)
        return list(y), [tf.convert_to_tensor(g) for g in grads if g is not None]

    with np.errstate(all="ignore"):
        calls = compiled_calls(run, *arrays), plain_calls(run, *arrays)
        for found, expected in zip(*calls, strict=True):
            assert_same(found, expected, 0.0 if kind == "numpy" else 1e-12)


@pytest.mark.parametrize("number", [-1, 256, 1 << 40])
@pytest.mark.parametrize("compare", [tf.less_equal, tf.greater, tf.equal, tf.not_equal])
def test_comparisons_with_an_integer_beyond_the_dtype(number, compare):
    x = tf.constant(np.arange(300 * 301).reshape(300, 301) % 256, tf.uint8)
    run = lambda x: compare(x, number) & (x >= 3)
    for found, expected in zip(compiled_calls(run, x), plain_calls(run, x), strict=True):
        assert_same(found, expected)


LAYER_CASES = [(name, i) for name in LAYERS for i in range(len(LAYERS[name]))]


@pytest.mark.parametrize(("name", "i"), LAYER_CASES)
def test_layers_train_alike(name, i):
    keras.utils.set_random_seed(5)
    layer, inputs = made(name, i)
    inputs = as_tensors(inputs, "float32")
    called(layer, inputs)
    other = copy.deepcopy(layer)
    optimizers = keras.optimizers.SGD(0.01), keras.optimizers.SGD(0.01)

    def step_of(layer, optimizer):
        def step(inputs):
            with tf.GradientTape() as tape:
                y = layer(*inputs) if isinstance(inputs, tuple) else layer(inputs)
                loss = tf.add_n([
                    tf.reduce_mean(tf.square(tf.cast(part, tf.float32)))
                    for part in nest.flatten(y)
                ] + layer.losses)  # fmt: skip
            variables = layer.trainable_variables
            if variables:
                grads = tape.gradient(loss, variables)
                optimizer.apply_gradients(zip(grads, variables))
            return loss

        return step

    eager, compiled = step_of(layer, optimizers[0]), tf.function(step_of(other, optimizers[1]))
    for given in [inputs] * 3 + [nest.map_structure(turned, inputs)] * 2:
        assert_same(compiled(given), eager(given), 1e-5)
    assert_same([v.numpy() for v in other.variables], [v.numpy() for v in layer.variables], 1e-5)
    if name != "Lambda":  # NumPy functions on tensors are ops, too, except in this sample
        assert ": 1 plan" in compiled.explain(), compiled.explain()


@pytest.mark.parametrize("name", LOSSES)
def test_losses(name, kind):
    for sample in LOSSES[name]:
        y_true, y_pred = sample.data
        loss = getattr(keras.losses, name)(**sample.arguments)

        def run(y_true, y_pred, loss=loss):
            with tf.GradientTape() as tape:
                tape.watch(y_pred)
                value = loss(y_true, y_pred)
            return value, tape.gradient(value, y_pred)

        args = tf.constant(y_true), tf.constant(y_pred)
        calls = compiled_calls(run, *args), plain_calls(run, *args)
        for found, expected in zip(*calls, strict=True):
            assert_same(found, expected, 0.0 if kind == "numpy" else 1e-12)


@pytest.mark.parametrize("name", METRICS)
def test_metrics(name):
    for sample in METRICS[name]:
        eager, compiled = (getattr(keras.metrics, name)(**sample.arguments) for _ in range(2))
        tensors = [tf.constant(a) for a in sample.data]
        step = tf.function(lambda *data, m=compiled: m.update_state(*data))
        for given in [tensors] * 3 + [list(map(turned, tensors))]:
            eager.update_state(*given)
            step(*given)
        for v, w in zip(eager.variables, compiled.variables, strict=True):
            np.testing.assert_allclose(v.numpy(), w.numpy(), rtol=1e-6)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers(name, kind):
    rng = np.random.default_rng(3)
    shapes = [(4, 3), (3,), (), (200, 400) if kind == "numpy" else (20, 4)]
    start = [rng.normal(size=s).astype("float32") for s in shapes]
    data = [[rng.normal(size=s).astype("float32") for s in shapes] for _ in range(12)]

    def numbers(compiles):
        variables = [tf.Variable(a, name=f"v{i}") for i, a in enumerate(start)]
        optimizer = OPTIMIZERS[name].create()
        step = lambda grads: optimizer.apply_gradients(zip(grads, variables))
        step = tf.function(step) if compiles else step
        for grads in data:
            step([tf.constant(g) for g in grads])
        if compiles:
            assert "plan" in step.explain()
            assert "in Python" not in step.explain(), step.explain()
        optimizer.finalize_variable_values(variables)
        return [v.numpy() for v in (*variables, *optimizer.variables)]

    for a, b in zip(numbers(True), numbers(False), strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6)
