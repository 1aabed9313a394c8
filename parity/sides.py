"""Gradients of a function on each side: of `framework`, or of real Keras on JAX or TensorFlow."""

import contextlib

import numpy as np

from parity.values import is_float, leaves, weights_of


def gradients(keras, function, arrays, variables=()):
    """Gradients of the results of a function, weighted by `weights_of`, in one pass.

    Args:
        keras: the side.
        function: takes a list of tensors; the parts of its results that are floats count.
        arrays: the list, as arrays; of the floats among them there are gradients.
        variables: variables that the function reads.

    Returns:
        Gradients of the floats in `arrays`, then of the variables; zeros where there are none.
    """
    backend = keras.backend.backend()
    side = {"jax": _by_jax, "tensorflow": _by_tape}.get(backend, _by_tape)
    if backend == "torch":
        raise NotImplementedError("gradients of single calls are compared with JAX or TensorFlow")
    return side(keras, function, arrays, list(variables))


def _floats(results):
    return [part for part in leaves(results) if hasattr(part, "dtype") and is_float(part)]


def _real_parts(keras, results):
    """The floats among the results; of complex numbers the real and the imaginary part."""
    found = []
    for part in leaves(results):
        if not hasattr(part, "dtype"):
            continue
        if "complex" in str(part.dtype):
            found += [keras.ops.real(part), keras.ops.imag(part)]
        elif is_float(part):
            found.append(part)
    return found


def _by_jax(keras, function, arrays, variables):
    import jax

    places = [i for i, a in enumerate(arrays) if is_float(a)]

    def of_floats(floats, values):
        given = [jax.numpy.asarray(a) for a in arrays]
        for place, value in zip(places, floats, strict=True):
            given[place] = value
        with keras.StatelessScope(state_mapping=list(zip(variables, values, strict=True))):
            return _real_parts(keras, function(given))

    floats = [jax.numpy.asarray(arrays[i]) for i in places]
    outputs, back = jax.vjp(of_floats, floats, [v.value for v in variables])
    return [g for part in back([_like(jax, y) for y in outputs]) for g in part]


def _like(jax, output):
    return jax.numpy.asarray(weights_of(output.shape), output.dtype)


def _by_tape(keras, function, arrays, variables):
    tf = _tensorflow(keras)
    given = [tf.constant(a) for a in arrays]
    sources = [t for t in given if is_float(t)]
    inner = [getattr(v, "value", v) if tf.__name__ == "tensorflow" else v for v in variables]
    with tf.GradientTape() as tape:
        tape.watch(sources)
        outputs = [tf.convert_to_tensor(y) for y in _real_parts(keras, function(given))]
    weights = [tf.cast(tf.constant(weights_of(y.shape)), y.dtype) for y in outputs]
    found = tape.gradient(outputs, [*sources, *inner], output_gradients=weights)
    return [
        np.zeros(np.shape(s), "float32") if g is None else tf.convert_to_tensor(g)
        for g, s in zip(found, [*sources, *variables], strict=True)
    ]


def _tensorflow(keras):
    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf
    else:
        import framework as tf
    return tf


@contextlib.contextmanager
def global_settings(keras, *, policy=None, data_format=None):
    """Set Keras's dtype policy and image data format for a while."""
    before = keras.config.dtype_policy(), keras.config.image_data_format()
    try:
        if policy:
            keras.config.set_dtype_policy(policy)
        if data_format:
            keras.config.set_image_data_format(data_format)
        yield
    finally:
        keras.config.set_dtype_policy(before[0])
        keras.config.set_image_data_format(before[1])
