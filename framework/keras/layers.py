"""keras.layers: layers."""

from typing import TYPE_CHECKING

from framework.core.lazy import lazy as _lazy, table as _table

_NAMES = _table({
    "framework.layers.activation": "ELU LeakyReLU ReLU Softmax",
    "framework.layers.base": "Layer",
    "framework.layers.core": "Activation Dense Dropout Identity Input InputLayer Lambda",
    "framework.layers.merging": """
        Add Average Concatenate Maximum Minimum Multiply Subtract add average concatenate maximum
        minimum multiply subtract""",
    "framework.layers.preprocessing": "Rescaling",
    "framework.layers.reshaping": "Flatten Permute RepeatVector Reshape",
    "framework.layers.spec": "InputSpec",
})  # fmt: skip

__getattr__, __dir__ = _lazy(__name__, _NAMES)

if TYPE_CHECKING:
    from framework.layers.activation import (
        ELU as ELU, LeakyReLU as LeakyReLU, ReLU as ReLU, Softmax as Softmax,
    )  # fmt: skip
    from framework.layers.base import Layer as Layer
    from framework.layers.core import (
        Activation as Activation, Dense as Dense, Dropout as Dropout, Identity as Identity,
        Input as Input, InputLayer as InputLayer, Lambda as Lambda,
    )  # fmt: skip
    from framework.layers.merging import (
        Add as Add, Average as Average, Concatenate as Concatenate, Maximum as Maximum,
        Minimum as Minimum, Multiply as Multiply, Subtract as Subtract, add as add,
        average as average, concatenate as concatenate, maximum as maximum, minimum as minimum,
        multiply as multiply, subtract as subtract,
    )  # fmt: skip
    from framework.layers.preprocessing import Rescaling as Rescaling
    from framework.layers.reshaping import (
        Flatten as Flatten, Permute as Permute, RepeatVector as RepeatVector, Reshape as Reshape,
    )  # fmt: skip
    from framework.layers.spec import InputSpec as InputSpec
