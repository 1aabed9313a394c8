"""Layers: the base class and the built-in ones."""

from framework.layers.activation import ELU, LeakyReLU, ReLU, Softmax
from framework.layers.base import Layer
from framework.layers.core import (
    Activation,
    Dense,
    Dropout,
    Identity,
    Input,
    InputLayer,
    Lambda,
)
from framework.layers.merging import (
    Add,
    Average,
    Concatenate,
    Maximum,
    Minimum,
    Multiply,
    Subtract,
    add,
    average,
    concatenate,
    maximum,
    minimum,
    multiply,
    subtract,
)
from framework.layers.preprocessing import Rescaling
from framework.layers.reshaping import Flatten, Permute, RepeatVector, Reshape
from framework.layers.spec import InputSpec

__all__ = [
    "ELU", "Activation", "Add", "Average", "Concatenate", "Dense", "Dropout", "Flatten", "Identity",
    "Input", "InputLayer", "InputSpec", "Lambda", "Layer", "LeakyReLU", "Maximum", "Minimum",
    "Multiply", "Permute", "ReLU", "RepeatVector", "Rescaling", "Reshape", "Softmax", "Subtract",
    "add", "average", "concatenate", "maximum", "minimum", "multiply", "subtract",
]  # fmt: skip
