"""Every layer: forward, gradients, training, masks, configs, dtype policies, image orders, shapes.

The calls are those of `tests/samples/layers/` and of the cases beside `tests/layers/`.
"""

import inspect

import numpy as np

from parity.families.configs import add_config
from parity.families.ops import filled, split
from parity.sides import global_settings, gradients
from parity.values import Values, dtype_of, shape_text
from tests.layers import attention_cases, image_cases, recurrent_cases
from tests.samples.layers import SAMPLES

OURS = {"ThresholdedReLU"}
"""Layers that Keras 3 has not."""

DRAWING = {"AlphaDropout", "GaussianDropout", "GaussianNoise", "Dropout", "SpatialDropout1D",
           "SpatialDropout2D", "SpatialDropout3D", "Lambda"}  # fmt: skip
"""Layers whose numbers in training are each side's own; Lambda's sample calls NumPy."""

AUGMENTING = {
    name for name in SAMPLES
    if name.startswith("Random") or name in {
        "MixUp", "CutMix", "RandAugment", "AugMix", "Solarization",
    }
}  # fmt: skip
"""Layers that draw in each call; `image_cases.py` has calls with what they draw."""

ORDERED = {  # layers with images, sequences or volumes in one of two orders
    name for name in SAMPLES
    if any(part in name for part in ("Conv", "Pooling", "Padding", "Cropping", "UpSampling"))
}  # fmt: skip


def layers_of(keras, value):
    """Arguments with layers for their configs."""
    if isinstance(value, dict) and set(value) == {"class_name", "config"}:
        return getattr(keras.layers, value["class_name"])(**layers_of(keras, value["config"]))
    if isinstance(value, dict):
        return {name: layers_of(keras, part) for name, part in value.items()}
    if isinstance(value, list):
        return [layers_of(keras, part) for part in value]
    return value


def weight(variable, number):
    """Fixed values for a variable, positive where it is a variance."""
    shape = tuple(variable.shape)
    size = int(np.prod(shape))
    values = np.sin(np.arange(size) * 1.7 + number).reshape(shape) / 2
    if "variance" in variable.name or "stddev" in variable.name:
        values = np.abs(values) + 0.5
    return values.astype("float32")


def fill(layer):
    """Set the weights to fixed values."""
    for number, variable in enumerate(layer.weights):
        if "float" in dtype_of(variable):
            variable.assign(weight(variable, number))
    if hasattr(layer, "finalize_state"):  # of Normalization, which computes from its weights
        layer.finalize_state()


def narrow(array):
    return array.astype("float32") if array.dtype == "float64" else array


class Case:
    """A layer with a call.

    Args:
        name, arguments: the class and its arguments.
        inputs: an array, a list of arrays, or a tuple of several positional arguments.
        call: keyword arguments of the call.
    """

    def __init__(self, name, arguments, inputs, call=None):
        self.name, self.arguments, self.keywords = name, arguments, call or {}
        self.several = isinstance(inputs, tuple)
        self.arrays = []
        self.inputs = split(inputs, self.arrays, narrow)

    @property
    def trains(self):
        """Whether the layer computes something else in training, and the same on both sides."""
        from framework import layers

        if self.name in DRAWING | AUGMENTING or self.arguments.get("dropout"):
            return False
        return "training" in inspect.signature(getattr(layers, self.name).call).parameters

    def layer(self, keras):
        return getattr(keras.layers, self.name)(**layers_of(keras, dict(self.arguments)))

    def called(self, layer, tensors, **more):
        given = filled(self.inputs, tensors)
        return layer(*(given if self.several else (given,)), **self.keywords, **more)

    def built(self, keras):
        """The layer with its weights set, and the tensors of the call."""
        layer = self.layer(keras)
        tensors = [keras.ops.convert_to_tensor(a) for a in self.arrays]
        self.called(layer, tensors)
        fill(layer)
        return layer, tensors


def forward(case, training):
    def run(keras):
        found = Values()
        layer, tensors = case.built(keras)
        mode = {"training": training} if training or case.name in DRAWING | AUGMENTING else {}
        call = lambda given: case.called(layer, given, **mode)
        before = [np.asarray(v) for v in layer.non_trainable_weights]
        if found.try_to("value", lambda: call(tensors)):
            if training:
                found.try_to("state", lambda: [v.value for v in layer.non_trainable_weights])
                for variable, value in zip(layer.non_trainable_weights, before, strict=True):
                    variable.assign(value)
            if training or not case.trains:
                sources = layer.trainable_variables
                found.try_to("gradient", lambda: gradients(keras, call, case.arrays, sources))
        found.add("weights", "; ".join(f"{w.path} {tuple(w.shape)}" for w in layer.weights))
        return found

    return run


def config(case):
    def run(keras):
        found, layer = Values(), case.layer(keras)
        add_config(found, layer, keras.layers, ignore=("name",))
        found.add("built", f"{layer.built} {layer.supports_masking}")
        return found

    return run


def under_policy(case, policy):
    def run(keras):
        found = Values()
        with global_settings(keras, policy=policy):
            layer, tensors = case.built(keras)
            mode = {"training": False} if case.name in DRAWING | AUGMENTING else {}
            found.try_to("value", lambda: case.called(layer, tensors, **mode))
            dtypes = [f"{w.name} {dtype_of(w)}" for w in layer.weights]
            found.add("dtypes", "; ".join([layer.compute_dtype, layer.variable_dtype, *dtypes]))
        return found

    return run


def in_other_order(case):
    """The layer with the global image format `channels_first`, where it does not say one."""

    def run(keras):
        found = Values()
        with global_settings(keras, data_format="channels_first"):
            layer, tensors = case.built(keras)
            found.try_to("value", lambda: case.called(layer, tensors))
            found.try_to("format", lambda: str(layer.get_config().get("data_format")))
            call = lambda given: case.called(layer, given)
            sources = layer.trainable_variables
            found.try_to("gradient", lambda: gradients(keras, call, case.arrays, sources))
        return found

    return run


def symbolic(case):
    """Shapes and dtypes of the outputs on KerasTensors without a batch size."""

    def run(keras):
        found = Values()
        for title, first in (("known", None), ("unknown", 1)):
            inputs = [
                keras.KerasTensor((None, *a.shape[1:]) if first else a.shape, dtype_of(a))
                for a in case.arrays
            ]
            found.try_to(title, lambda i=inputs: shape_text(case.called(case.layer(keras), i)))
        shapes = filled(case.inputs, [(None, *a.shape[1:]) for a in case.arrays])
        shapes = shapes if case.several else (shapes,)
        found.try_to("shape", lambda: _as_text(case.layer(keras).compute_output_shape(*shapes)))
        return found

    return run


def _as_text(shape):
    """A shape, or a list of shapes, as text; a shape is a tuple or a list."""
    return str(shape).replace("[", "(").replace("]", ")")


def masked(case):
    """What becomes of a mask of the second axis, and the values under it."""

    def run(keras):
        found = Values()
        layer, tensors = case.built(keras)
        for tensor in tensors:
            mask = np.arange(int(np.prod(tensor.shape[:2]))).reshape(tensor.shape[:2]) % 3 != 1
            _set_mask(keras, tensor, mask)
        mode = {"training": False} if case.name in DRAWING | AUGMENTING else {}
        outputs = []

        def call():
            outputs.append(case.called(layer, tensors, **mode))
            return outputs[0]

        if found.try_to("value", call):
            parts = outputs[0] if isinstance(outputs[0], (list, tuple)) else [outputs[0]]
            found.try_to("mask", lambda: [_mask(keras, part) for part in parts])
        return found

    return run


def _set_mask(keras, tensor, mask):
    tensor._keras_mask = keras.ops.convert_to_tensor(mask)


def _mask(keras, tensor):
    return getattr(tensor, "_keras_mask", None)


def of_images(case):
    def run(keras):
        found = Values()
        results = lambda: image_cases.results(
            keras.layers, case, lambda x: x, keras.ops.convert_to_tensor
        )
        found.try_to("value", results)
        return found

    return run


def recurrent(title):
    def run(keras):
        found = Values()
        layer, call = next((la, c) for name, la, c in recurrent_cases.cases(keras) if name == title)
        x = recurrent_cases.inputs(layer)
        layer(x)
        recurrent_cases.fill(layer)
        found.try_to("value", lambda: layer(x, **call))
        function = lambda given: layer(given[0], **call)
        sources = layer.trainable_variables
        found.try_to("gradient", lambda: gradients(keras, function, [x], sources))
        return found

    return run


def _modes(case):
    yield "inference", forward(case, False)
    if case.trains:
        yield "training", forward(case, True)
    yield "config", config(case)
    for policy in ("mixed_float16", "mixed_bfloat16"):
        yield policy, under_policy(case, policy)
    yield "symbolic", symbolic(case)
    if all(a.ndim > 1 for a in case.arrays):
        yield "mask", masked(case)
    if case.name in ORDERED and "data_format" not in case.arguments:
        first = [np.ascontiguousarray(np.moveaxis(a, -1, 1)) for a in case.arrays]
        turned = Case(case.name, case.arguments, filled(case.inputs, first))
        yield "channels first", in_other_order(turned)


def comparisons():
    from framework import keras

    for name, samples in SAMPLES.items():
        if name in OURS:
            continue
        for number, (arguments, inputs) in enumerate(samples):
            case = Case(name, arguments, inputs)
            for mode, run in _modes(case):
                yield f"{name} {number} {mode}", run
    for title, (name, arguments, shapes, call) in attention_cases.CASES.items():
        case = Case(name, arguments, attention_cases.inputs_of(shapes), call)
        yield f"attention {title}", forward(case, False)
        yield f"attention {title} mixed_bfloat16", under_policy(case, "mixed_bfloat16")
    for title, _, _ in recurrent_cases.cases(keras):
        yield f"recurrent {title}", recurrent(title)
    for number, case in enumerate(image_cases.CASES):
        arguments = " ".join(f"{k}={v}" for k, v in case[1].items())
        yield f"image {number} {case[0]} {arguments}", of_images(case)
