"""Bidirectional: run a recurrent layer forwards and backwards."""

from typing import Any

from framework.core.argument_types import ShapeLike, TensorLike
from framework.core.cast import cast
from framework.core.configurable import serialize_value
from framework.core.errors import InvalidArgumentError
from framework.layers import nested
from framework.layers.base import Layer
from framework.layers.call_signature import signature_of
from framework.ops.movement import concat, flip

__all__ = ["Bidirectional"]

_MODES = ("sum", "mul", "ave", "concat", None)


class Bidirectional(Layer):
    """Run a recurrent layer forwards and a copy backwards, and merge their outputs.

    Args:
        layer: an `RNN`, or another layer with `go_backwards`, `return_sequences`, `return_state`,
            `stateful` and `input_spec`. The inner layers are created from its config.
        merge_mode: "concat", "sum", "mul", "ave", or None for a pair of outputs.
        weights: initial weights of the forward layer, then of the backward layer.
        backward_layer: the backward layer; created from `layer` if None.

    Initial states are those of the forward layer, then those of the backward layer.

    Raises:
        ValueError: the settings of the two layers do not match.

    >>> import numpy as np
    >>> from framework import keras
    >>> Bidirectional(keras.layers.LSTM(4, return_sequences=True))(np.ones((2, 6, 3))).shape
    TensorShape([2, 6, 8])
    """

    supports_masking = True

    def __init__(
        self, layer: Any, merge_mode: Any = "concat", weights: TensorLike = None,
        backward_layer: Any = None, **kwargs: Any,
    ):  # fmt: skip
        layer, backward_layer = nested.as_layer(layer), nested.as_layer(backward_layer)
        for name, value in (("layer", layer), ("backward_layer", backward_layer)):
            if not isinstance(value, Layer) and (value is not None or name == "layer"):
                raise InvalidArgumentError(
                    f"Bidirectional: {name} must be a layer. Received: {value!r}"
                )
        if merge_mode not in _MODES:
            raise InvalidArgumentError(
                f"Bidirectional: merge_mode must be one of {', '.join(map(repr, _MODES))}. "
                f"Received: {merge_mode!r}"
            )
        super().__init__(**kwargs)
        self.forward_layer = nested.copy(layer, name=_prefixed("forward_", layer.name))
        if backward_layer is None:
            name = _prefixed("backward_", layer.name)
            backward_layer = nested.copy(layer, go_backwards=not layer.go_backwards, name=name)
        self.backward_layer = backward_layer
        _check(self)
        for inner in (self.forward_layer, self.backward_layer):
            if hasattr(layer, "use_cudnn"):
                inner.use_cudnn = layer.use_cudnn
            if getattr(inner, "zero_output_for_mask", None) is not None:
                inner.zero_output_for_mask = inner.return_sequences
        self.merge_mode = merge_mode
        self._framework.initial_weights = weights
        self.stateful, self.return_state = layer.stateful, layer.return_state
        self.return_sequences = layer.return_sequences
        self.input_spec = layer.input_spec

    def build(self, sequences_shape: ShapeLike, initial_state_shape: ShapeLike = None) -> None:
        for layer in (self.forward_layer, self.backward_layer):
            if not layer.built:
                layer.build(sequences_shape)
        if self._framework.initial_weights:
            self.set_weights(self._framework.initial_weights)

    def compute_output_shape(
        self, sequences_shape: ShapeLike, initial_state_shape: ShapeLike = None,
    ) -> Any:  # fmt: skip
        shape = self.forward_layer.compute_output_shape(sequences_shape)
        states = ()
        if self.return_state:
            shape, *states = shape
            states = (*states, *states)
        if self.merge_mode == "concat":
            shape = (*shape[:-1], 2 * shape[-1])
        if self.merge_mode is None:
            return (shape, shape, *states)
        return (shape, *states) if self.return_state else shape

    def call(
        self, sequences: Any, initial_state: Any = None, mask: TensorLike = None,
        training: Any = None,
    ) -> Any:  # fmt: skip
        how = {
            name: value for name, value in (("training", training), ("mask", mask))
            if name in signature_of(self.forward_layer).names
        }  # fmt: skip
        given = (None, None)
        if initial_state is not None:
            half = len(initial_state) // 2
            given = initial_state[:half], initial_state[half:]
        outputs, states = [], []
        for layer, state in zip((self.forward_layer, self.backward_layer), given):
            found = layer(sequences, **how) if state is None else \
                layer(sequences, initial_state=state, **how)  # fmt: skip
            if self.return_state:
                found, *last = found
                states += last
            outputs.append(_as(found, self.compute_dtype))
        output = _merged(self, *outputs)
        if not self.return_state:
            return output
        return (*output, *states) if self.merge_mode is None else (output, *states)

    def compute_mask(self, _: Any, mask: TensorLike):
        mask = mask[0] if isinstance(mask, (list, tuple)) else mask
        mask = mask if self.return_sequences else None
        masks = (mask, mask) if self.merge_mode is None else (mask,)
        if self.return_state:
            count = 2 * len(getattr(self.forward_layer, "state_size", ()))
            return (*masks, *[None] * count)
        return masks if self.merge_mode is None else mask

    @property
    def states(self):
        """The states of both layers if they are stateful, else None."""
        both = self.forward_layer.states, self.backward_layer.states
        return (*both[0], *both[1]) if both[0] and both[1] else None

    def reset_state(self):
        """Set the states of both stateful layers to zero."""
        if not self.stateful:
            raise AttributeError(f"Layer must be stateful ({self.name!r}).")
        self.forward_layer.reset_state()
        self.backward_layer.reset_state()

    def reset_states(self):
        """Call `reset_state`, for which this is Keras's older name."""
        self.reset_state()

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "merge_mode": self.merge_mode,
            "layer": serialize_value(self.forward_layer),
            "backward_layer": serialize_value(self.backward_layer),
        }

    @classmethod
    def from_config(cls, config: Any, custom_objects: Any = None):
        config = dict(config)
        for name in ("layer", "backward_layer"):
            config[name] = nested.as_layer(config.get(name), custom_objects)
        return cls(**config)


def _prefixed(prefix, name):
    return prefix + name.removeprefix(prefix)


def _as(x, dtype):
    return x if x.dtype == dtype else cast(x, dtype=dtype.np)


def _check(layer):
    forward, backward = layer.forward_layer, layer.backward_layer
    if forward.go_backwards == backward.go_backwards:
        raise InvalidArgumentError(
            "Forward layer and backward layer should have different `go_backwards` value. "
            f"Received: forward_layer.go_backwards {forward.go_backwards}, "
            f"backward_layer.go_backwards={backward.go_backwards}"
        )
    for name in ("stateful", "return_sequences", "return_state"):
        values = getattr(forward, name), getattr(backward, name)
        if values[0] != values[1]:
            raise InvalidArgumentError(
                "Forward layer and backward layer are expected to have the same value for "
                f'attribute "{name}", got "{values[0]}" for forward layer and "{values[1]}" '
                "for backward layer"
            )


def _merged(layer, y, y_back):
    if layer.return_sequences:
        y_back = flip(y_back, axis=(1,))
    if layer.merge_mode == "concat":
        return concat(y, y_back, axis=len(y.shape) - 1)
    if layer.merge_mode == "sum":
        return y + y_back
    if layer.merge_mode == "ave":
        return (y + y_back) / 2
    return y * y_back if layer.merge_mode == "mul" else (y, y_back)
