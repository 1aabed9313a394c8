"""Properties of every built-in layer; a new layer needs a row in `tests/samples/layers/`."""

import inspect

import numpy as np
import pytest

import framework as tf
from framework import layers
from framework.core import nest
from framework.core.symbolic import KerasTensor
from framework.layers import Layer
from tests.looped import Properties
from tests.samples.layers import BUILT_BY_CALL, SAMPLES, STOPS_MASKS

CASES = [(name, i) for name in SAMPLES for i in range(len(SAMPLES[name]))]
each_case = Properties()


@pytest.mark.parametrize(("name", "i"), CASES)
def test_a_layer(name, i):
    each_case.hold(name, i)


CELLS = {"SimpleRNNCell", "GRUCell", "LSTMCell", "StackedRNNCells"}


def with_dtype(arguments, dtype):
    """Return the arguments, with `dtype` in the configs of layers unless it is None."""
    if isinstance(arguments, list):
        return [with_dtype(value, dtype) for value in arguments]
    if dtype is None or not isinstance(arguments, dict):
        return arguments
    if "class_name" in arguments:
        return {**arguments, "config": {**arguments["config"], "dtype": dtype}}
    return {name: with_dtype(value, dtype) for name, value in arguments.items()}


def made(name, i, /, **kwargs):
    arguments, inputs = SAMPLES[name][i]
    arguments = with_dtype(arguments, kwargs.get("dtype"))
    return getattr(layers, name)(**arguments, **kwargs), inputs


def as_tensors(inputs, dtype):
    """Return floats cast to `dtype`; integers unchanged."""
    return nest.map_structure(
        lambda x: tf.constant(x, dtype if x.dtype.kind == "f" else None), inputs
    )


def called(function, inputs):
    """Call a layer on a sample: a tuple holds several arguments, any other value is one.

    Image layers draw in every call that does not say `training=False`: each call repeats the draws.
    """
    for variable in getattr(function, "variables", ()):
        if variable.dtype == "uint32":
            variable.assign([variable.numpy()[0], 0])
    return function(*inputs) if isinstance(inputs, tuple) else function(inputs)


def with_batch(inputs, n):
    """Return the shapes with another batch size."""
    if isinstance(inputs, (list, tuple)):
        return type(inputs)(with_batch(x, n) for x in inputs)
    return (n, *inputs.shape[1:])


def without(config, *keys):
    return {k: v for k, v in config.items() if k not in keys}


OF_WORDS = {  # and of classes: see test_lookup.py
    "CategoryEncoding", "Discretization", "HashedCrossing", "Hashing", "IntegerLookup",
    "StringLookup", "TextVectorization",
}  # fmt: skip


def test_every_layer_has_a_sample():
    classes = {
        name for name in layers.__all__
        if inspect.isclass(getattr(layers, name)) and issubclass(getattr(layers, name), Layer)
    }  # fmt: skip
    assert classes - {"Layer", "InputLayer", "Wrapper", *CELLS, *OF_WORDS} == set(SAMPLES)


@each_case
def symbolic_shapes_are_the_real_ones(name, i):
    layer, inputs = made(name, i)
    real = called(layer, as_tensors(inputs, "float32"))
    known = nest.map_structure(lambda x: KerasTensor(x.shape, "float32"), inputs)
    unknown = nest.map_structure(lambda x: KerasTensor((None, *x.shape[1:]), "float32"), inputs)
    assert called(layer, known).shape == real.shape
    symbolic = called(layer, unknown)
    assert symbolic.shape == (None, *real.shape[1:])
    assert symbolic.dtype == real.dtype
    origin, args, kwargs, index = symbolic.origin
    assert origin is layer
    assert args[0] is (unknown[0] if isinstance(unknown, tuple) else unknown)
    assert (kwargs, index) == ({}, None)


@each_case
def compute_output_shape_of_a_new_layer_leaves_it_unbuilt(name, i):
    layer, inputs = made(name, i)
    was_built = layer.built
    expected = called(made(name, i)[0], as_tensors(inputs, "float32")).shape
    shapes = with_batch(inputs, None)
    several = isinstance(inputs, tuple)
    shape = layer.compute_output_shape(*(shapes if several else (shapes,)))
    assert shape == (None, *expected[1:])
    assert layer.built == was_built
    assert len(layer.variables) == len(made(name, i)[0].variables)


@each_case
def config_round_trip(name, i):
    layer, inputs = made(name, i, name="mine", trainable=False, activity_regularizer="l2")
    again = type(layer).from_config(layer.get_config())
    assert again.get_config() == layer.get_config()
    assert set(dir(again)) == set(dir(layer))
    assert (again.name, again.trainable) == ("mine", False)
    assert (again.activity_regularizer or again._framework.activity).l2 == 0.01
    x = as_tensors(inputs, "float32")
    called(layer, x)
    called(again, x)
    again.set_weights(layer.get_weights())
    np.testing.assert_array_equal(called(again, x), called(layer, x))


@each_case
def gradients_are_finite_differences(name, i):
    layer, inputs = made(name, i, dtype="float64")
    flat = as_tensors(nest.flatten(inputs), "float64")
    called(layer, nest.pack_sequence_as(inputs, flat))
    whole = [] if flat[0].dtype.is_floating else flat
    flat = flat[len(whole) :]
    sources = [*flat, *layer.trainable_variables]
    with tf.GradientTape() as tape:
        tape.watch(flat)
        y = called(layer, nest.pack_sequence_as(inputs, [*whole, *flat]))
        weights = np.cos(np.arange(y.size)).reshape(y.shape)
        loss = tf.reduce_sum(y * weights)
    assert y.dtype == "float64"

    def total(k, value):
        """The loss with this value of the k-th source."""
        x = [*whole, *flat]
        if k < len(flat):
            x[len(whole) + k] = tf.constant(value)
        else:
            sources[k].assign(value)
        y = called(layer, nest.pack_sequence_as(inputs, x))
        return np.sum(y.numpy() * weights)

    for k, gradient in enumerate(tape.gradient(loss, sources)):
        at = np.array(sources[k])
        expected = np.zeros(at.shape)
        for index in np.ndindex(*at.shape):
            ends = []
            for sign in (1, -1):
                moved = at.copy()
                moved[index] += sign * 1e-6
                ends.append(total(k, moved))
            expected[index] = (ends[0] - ends[1]) / 2e-6
        if k >= len(flat):
            sources[k].assign(at)
        # no gradient: a step function, whose derivative is 0
        found = 0.0 if gradient is None else tf.convert_to_tensor(gradient).numpy()
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)


@each_case
def floats_of_any_width_become_the_layers(name, i):
    for dtype in ("float16", "float64"):
        layer, inputs = made(name, i, dtype=dtype)
        assert called(layer, as_tensors(inputs, "float32")).dtype == dtype
        assert all(v.dtype == dtype for v in layer.weights if v.dtype.is_floating)
        assert called(layer, inputs).dtype == dtype  # raw NumPy arrays


@pytest.mark.parametrize("name", SAMPLES)
def test_built_and_supports_masking_are_as_in_keras(name):
    layer = made(name, 0)[0]
    assert layer.built == (name not in BUILT_BY_CALL)
    assert layer.supports_masking == (name not in STOPS_MASKS)


SEVERAL_INPUTS = {n for n in SAMPLES if isinstance(SAMPLES[n][0][1], tuple)}


@pytest.mark.parametrize("name", sorted(set(SAMPLES) - SEVERAL_INPUTS))
def test_a_subclass_with_a_build_is_built_by_it(name):
    class Own(getattr(layers, name)):
        def build(self, input_shape):
            super().build(input_shape)
            self.extra = self.add_weight((), "zeros", name="extra")

    arguments, inputs = SAMPLES[name][0]
    layer = Own(**arguments)
    assert not layer.built
    called(layer, as_tensors(inputs, "float32"))
    assert layer.built
    assert layer.extra.path == f"{layer.name}/extra"


ROUNDED = {"Dense", "Dropout", "Resizing", "RandomGrayscale"}  # or need floats


@pytest.mark.parametrize("name", [n for n in SAMPLES if n not in ROUNDED])
def test_integers_pass(name):
    layer, inputs = made(name, 0)
    whole = nest.map_structure(lambda x: np.arange(x.size).reshape(x.shape), inputs)
    floats = nest.map_structure(lambda x: x.astype("float32"), whole)
    found, expected = called(layer, whole), called(layer, floats)
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-6)
