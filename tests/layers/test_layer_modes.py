"""Every layer of `tests/samples/layers/` in both image orders, policies, models and copies."""

import inspect
import pickle
import warnings

import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.core import nest
from tests.layers.test_every_layer import CASES, SAMPLES, as_tensors, called, made
from tests.looped import Properties, looped

each_case = Properties()


@pytest.mark.parametrize(("name", "i"), CASES)
def test_a_layer(name, i):
    each_case.hold(name, i)


each_layer = pytest.mark.parametrize("name", SAMPLES)

OWN_ORDER = {  # channels are part of another axis; a softmax of the last axis; drawn fillings
    *(("STFTSpectrogram", i) for i in range(5)), ("Conv2D", 2), ("RandomErasing", 1), ("Flatten", 1)
}  # fmt: skip
ORDERED = [
    case for case in CASES
    if case not in OWN_ORDER
    and "data_format" in inspect.signature(getattr(keras.layers, case[0])).parameters
]  # fmt: skip

MISFITS = {("Softmax", 1), ("GlobalAveragePooling1D", 1), ("TimeDistributed", 1)}
"""Samples for which a mask of the second axis does not fit."""

STEEP = {"STFTSpectrogram"}
"""Layers whose logarithms of small magnitudes have slopes beyond float16."""

KNOWN = {
    ("EinsumDense", 1), ("EinsumDense", 3), ("EinsumDense", 4), ("BatchNormalization", 1),
    ("LayerNormalization", 1), ("LayerNormalization", 2), ("GroupNormalization", 1),
    ("RMSNormalization", 1), ("Normalization", 2),
    *(case for case in CASES if case[0].startswith(("Adaptive", "ConvLSTM"))),
}  # fmt: skip
"""Samples whose layer needs to know another size than that of the channels."""


def in_order(x, axis, forward):
    """Move the channels from the last axis to `axis`, or back."""
    return np.ascontiguousarray(np.moveaxis(x, -1, axis) if forward else np.moveaxis(x, axis, -1))


@pytest.mark.parametrize(("name", "i"), ORDERED)
def test_both_image_orders(name, i):
    arguments, x = SAMPLES[name][i]
    x = np.asarray(x, "float32")
    first = arguments.get("data_format") == "channels_first"
    axis = 2 if "ConvLSTM" in name else 1
    other = "channels_last" if first else "channels_first"
    layer = made(name, i)[0]
    turned = getattr(keras.layers, name)(**{**arguments, "data_format": other})
    y = np.asarray(called(layer, x))
    moved = in_order(x, axis, not first)
    if layer.weights:
        called(turned, moved)
        turned.set_weights(layer.get_weights())
    found = np.asarray(called(turned, moved))
    if found.ndim > 2:
        own = axis - (x.ndim - found.ndim)  # ConvLSTM without the axis of steps
        found = in_order(found, own, first)
    np.testing.assert_allclose(found, y, rtol=1e-5, atol=1e-6)


@each_case
@looped("policy", ["mixed_float16", "mixed_bfloat16"])
def mixed_precision(name, i, policy):
    narrow = policy.removeprefix("mixed_")
    if narrow == "bfloat16":
        pytest.importorskip("ml_dtypes")  # NumPy itself has no bfloat16
    layer, inputs = made(name, i, dtype=policy)
    x = as_tensors(inputs, "float32")
    with tf.GradientTape() as tape:
        y = called(layer, x)
        total = tf.reduce_sum(tf.cast(y, "float32"))
    assert y.dtype == narrow
    assert all(v.dtype == "float32" for v in layer.weights if v.dtype.is_floating)
    variables = layer.trainable_variables
    for variable, gradient in zip(variables, tape.gradient(total, variables), strict=True):
        if gradient is not None:
            assert gradient.dtype == variable.dtype
        if gradient is not None and name not in STEEP:
            assert np.isfinite(np.asarray(tf.convert_to_tensor(gradient))).all()


@each_case
def masks_are_those_of_compute_mask(name, i):
    layer, inputs = made(name, i)
    x = as_tensors(inputs, "float32")
    if isinstance(x, tuple) or any(t.ndim < 3 for t in nest.flatten(x)):
        return  # without an axis of steps there is no mask of them
    masks = [tf.constant(np.arange(t.shape[1]) % 3 != 1)[None] for t in nest.flatten(x)]
    masks = [tf.repeat(m, t.shape[0], 0) for m, t in zip(masks, nest.flatten(x), strict=True)]
    for tensor, mask in zip(nest.flatten(x), masks, strict=True):
        tensor._keras_mask = mask
    if (name, i) in MISFITS:
        with pytest.raises(ValueError, match=r"mask|shapes"):
            called(layer, x)
        return
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Layer .* does not support masking")
        y = called(layer, x)
    if y is x:
        return
    found = getattr(y, "_keras_mask", None)
    if not layer.supports_masking:
        assert found is None
        return
    expected = layer.compute_mask(x, masks if isinstance(x, list) else masks[0])
    if expected is None:
        assert found is None
    else:
        np.testing.assert_array_equal(found, expected)
        assert all(m in (1, n) for m, n in zip(found.shape, y.shape))


@each_case
def no_rows(name, i):
    layer, inputs = made(name, i)
    x = as_tensors(inputs, "float32")
    shape = called(layer, x).shape
    none = nest.map_structure(lambda t: t[:0], x)
    with tf.GradientTape() as tape:
        y = called(layer, none)
        total = tf.reduce_sum(y)
    assert tuple(y.shape) == (0, *shape[1:])
    variables = layer.trainable_variables
    for gradient in tape.gradient(total, variables):
        if gradient is not None:
            assert not np.any(np.asarray(tf.convert_to_tensor(gradient)))


@each_case
def unknown_sizes(name, i):
    """A model whose inputs have only the size of the channels gives what the layer gives."""
    layer, inputs = made(name, i)
    data = as_tensors(inputs, "float32")
    flat = nest.flatten(data)
    first = layer.data_format == "channels_first" if hasattr(layer, "data_format") else False
    kept = 1 if first else -1
    shapes = [[None] * t.ndim for t in flat]
    for shape, tensor in zip(shapes, flat, strict=True):
        shape[kept] = tensor.shape[kept]
        shape[0] = None
    symbolic = [keras.Input(batch_shape=s, dtype=t.dtype) for s, t in zip(shapes, flat)]
    if (name, i) in KNOWN:
        with pytest.raises(ValueError, match="known"):
            called(layer, nest.pack_sequence_as(inputs, symbolic))
        return
    outputs = called(layer, nest.pack_sequence_as(inputs, symbolic))
    model = keras.Model(symbolic, outputs)
    y, expected = model(flat), called(layer, data)
    assert all(m in (None, n) for m, n in zip(outputs.shape, expected.shape, strict=True))
    if not any(v.dtype == "uint32" for v in layer.variables):
        np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-6)


@each_case
def pickling(name, i):
    layer, inputs = made(name, i)
    if name == "Lambda":  # of np.tanh, which pickle finds by its name
        assert layer.function is np.tanh
    x = as_tensors(inputs, "float32")
    y = called(layer, x)
    copy = pickle.loads(pickle.dumps(layer))
    assert copy.get_config() == layer.get_config()
    assert [v.path for v in copy.weights] == [v.path for v in layer.weights]
    np.testing.assert_array_equal(called(copy, x), called(layer, x))
    assert called(copy, x).shape == y.shape


def trained(name, run_eagerly):
    """Weights and losses of a model with the layer after three steps."""
    tf.random.set_seed(4)
    layer, inputs = made(name, 0)
    arrays = [np.asarray(t) for t in nest.flatten(as_tensors(inputs, "float32"))]
    symbolic = [keras.Input(a.shape[1:], dtype=a.dtype.name) for a in arrays]
    outputs = called(layer, nest.pack_sequence_as(inputs, symbolic))
    if tuple(outputs.shape[1:]):
        outputs = keras.layers.Dense(1)(keras.layers.Flatten()(outputs))
    model = keras.Model(symbolic, outputs)
    model.compile(keras.optimizers.SGD(0.01), "mse", run_eagerly=run_eagerly)
    y = np.linspace(-1, 1, arrays[0].shape[0]).astype("float32")
    losses = [model.train_on_batch(arrays, y) for _ in range(3)]
    return np.asarray(losses), model.get_weights()


@pytest.mark.filterwarnings("ignore:Layer .* does not support masking")
@each_layer
def test_compiled_training_is_eager_training(name):
    losses, weights = trained(name, run_eagerly=False)
    expected, others = trained(name, run_eagerly=True)
    assert np.isfinite(losses).all()
    np.testing.assert_allclose(losses, expected, rtol=1e-5)
    for found, other in zip(weights, others, strict=True):
        np.testing.assert_allclose(found, other, rtol=1e-5, atol=1e-6)


@each_case
def specs_of_layers_that_are_not_built(name, i):
    layer, inputs = made(name, i, dtype="mixed_float16")
    built = layer.built
    expected = called(made(name, i, dtype="mixed_float16")[0], as_tensors(inputs, "float32"))
    specs = nest.map_structure(
        lambda x: keras.KerasTensor(x.shape, "float32" if x.dtype.kind == "f" else "int32"), inputs
    )
    found = layer.compute_output_spec(*(specs if isinstance(specs, tuple) else (specs,)))
    assert (tuple(found.shape), found.dtype) == (tuple(expected.shape), expected.dtype)
    assert layer.built == built
