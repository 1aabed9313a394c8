"""Activations, regularizers, constraints and initializers: values, gradients, configs."""

import numpy as np

from parity.families.configs import add_config
from parity.families.ops import as_dtype
from parity.sides import gradients
from parity.values import Values
from tests.surface.symbolic_calls import words

X = np.float32([[-7, -3, -1.2, -0.7, 0.0], [0.3, 0.8, 1.3, 3, 7], [2, -2, 0.1, -0.1, 4]])
EVEN = np.float32(np.sin(np.arange(24)).reshape(2, 3, 4) * 3)

ACTIVATIONS = {
    **dict.fromkeys(words("""
        celu elu exponential gelu hard_shrink hard_sigmoid hard_silu hard_swish hard_tanh
        leaky_relu linear log_sigmoid log_softmax mish relu relu6 selu sigmoid silu soft_shrink
        softmax softplus softsign sparse_plus sparse_sigmoid sparsemax squareplus swish tanh
        tanh_shrink threshold
    """), ({},)),
    "celu": ({}, {"alpha": 0.5}), "elu": ({}, {"alpha": 2.0}), "gelu": ({}, {"approximate": True}),
    "glu": ({}, {"axis": 0}), "leaky_relu": ({}, {"negative_slope": 0.3}),
    "relu": ({}, {"negative_slope": 0.1, "max_value": 2.0, "threshold": 0.5}, {"max_value": 1.0}),
    "hard_shrink": ({}, {"threshold": 1.0}), "soft_shrink": ({}, {"threshold": 1.0}),
    "softmax": ({}, {"axis": 1}, {"axis": (1, 2)}), "log_softmax": ({}, {"axis": 1}),
    "sparsemax": ({}, {"axis": 1}), "squareplus": ({}, {"b": 1.0}),
    "threshold": ({"threshold": 0.5, "default_value": 9.0},),
}  # fmt: skip

WEIGHTS = np.float32(np.sin(np.arange(12) * 1.7).reshape(4, 3) * 2)

REGULARIZERS = [
    ("L1", {}), ("L1", {"l1": 0.3}), ("L2", {}), ("L2", {"l2": 0.3}), ("L1L2", {}),
    ("L1L2", {"l1": 0.1, "l2": 0.2}), ("OrthogonalRegularizer", {}),
    ("OrthogonalRegularizer", {"factor": 0.5, "mode": "columns"}),
]  # fmt: skip

CONSTRAINTS = [
    ("MaxNorm", {}), ("MaxNorm", {"max_value": 1.0, "axis": 1}), ("NonNeg", {}), ("UnitNorm", {}),
    ("UnitNorm", {"axis": 1}), ("MinMaxNorm", {}),
    ("MinMaxNorm", {"min_value": 1.0, "max_value": 1.5, "rate": 0.4, "axis": 1}),
]  # fmt: skip

FIXED = [
    ("Zeros", {}, (2, 3)), ("Ones", {}, (2, 3)), ("Constant", {"value": 2.5}, (2, 3)),
    ("Constant", {"value": [1.0, 2.0, 3.0]}, (2, 3)), ("Identity", {}, (3, 3)),
    ("Identity", {"gain": 0.3}, (2, 4)), ("STFT", {}, (8, 1, 5)),
    ("STFT", {"side": "imag", "window": "hamming", "scaling": "spectrum"}, (8, 1, 5)),
    ("STFT", {"window": None, "scaling": "density", "periodic": True}, (8, 1, 5)),
]  # fmt: skip
RANDOM = [
    ("RandomNormal", {"mean": 1.0, "stddev": 0.2}), ("RandomUniform", {"minval": 0.0}),
    ("TruncatedNormal", {"stddev": 0.2}), ("GlorotUniform", {}), ("GlorotNormal", {}),
    ("HeUniform", {}), ("HeNormal", {}), ("LecunUniform", {}), ("LecunNormal", {}),
    ("Orthogonal", {"gain": 2.0}),
    ("VarianceScaling", {"scale": 2.0, "mode": "fan_avg", "distribution": "uniform"}),
]  # fmt: skip


class Activation:
    """An activation on one array."""

    def __init__(self, name, arguments, dtype):
        self.name, self.arguments = name, arguments
        three = "axis" in arguments or name == "glu"
        self.x = as_dtype(dtype)(EVEN if three else X)

    def __call__(self, keras):
        found = Values()
        function = getattr(keras.activations, self.name)

        def call(tensors):
            return function(tensors[0], **self.arguments)

        x = keras.ops.convert_to_tensor(self.x)
        if found.try_to("value", lambda: call([x])) and self.x.dtype == "float32":
            found.try_to("gradient", lambda: gradients(keras, call, [self.x]))
            found.try_to("name", lambda: keras.activations.serialize(function))
            spec = keras.KerasTensor((None, *self.x.shape[1:]), "float32")
            found.try_to("symbolic", lambda: str(tuple(call([spec]).shape)))
        return found


def _regularizer(name, arguments):
    def run(keras):
        found, regularizer = Values(), getattr(keras.regularizers, name)(**arguments)
        found.try_to("value", lambda: regularizer(keras.ops.convert_to_tensor(WEIGHTS)))
        call = lambda tensors: regularizer(tensors[0])
        found.try_to("gradient", lambda: gradients(keras, call, [WEIGHTS]))
        add_config(found, regularizer, keras.regularizers)
        return found

    return run


def _constraint(name, arguments):
    def run(keras):
        found, constraint = Values(), getattr(keras.constraints, name)(**arguments)
        found.try_to("value", lambda: constraint(keras.ops.convert_to_tensor(WEIGHTS)))
        add_config(found, constraint, keras.constraints)
        return found

    return run


def _initializer(name, arguments, shape=None):
    def run(keras):
        found, initializer = Values(), getattr(keras.initializers, name)(**arguments)
        for dtype in ("float32", "float16", "int32") if shape else ():
            found.try_to(dtype, lambda d=dtype: initializer(shape, dtype=d))
        add_config(found, initializer, keras.initializers)
        return found

    return run


def _named(kind, sort, arguments):
    return " ".join([kind, sort, *(f"{k}={v}" for k, v in arguments.items())])


def comparisons():
    for name, options in ACTIVATIONS.items():
        for arguments in options:
            for dtype in ("float32", "bfloat16", "int32"):
                title = _named("activation", name, arguments)
                yield f"{title} {dtype}", Activation(name, arguments, dtype)
    for name, arguments in REGULARIZERS:
        yield _named("regularizer", name, arguments), _regularizer(name, arguments)
    for name, arguments in CONSTRAINTS:
        yield _named("constraint", name, arguments), _constraint(name, arguments)
    for name, arguments, shape in FIXED:
        title = _named("initializer", name, arguments)
        yield f"{title} {shape}", _initializer(name, arguments, shape)
    for name, arguments in RANDOM:
        yield _named("config of initializer", name, arguments), _initializer(name, arguments)
