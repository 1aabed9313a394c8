"""RematScope: layers that recompute their intermediate values in the backward pass.

Chen et al. 2016, "Training deep nets with sublinear memory cost", arXiv:1604.06174.
"""

import functools
import math
from typing import Any

from framework.autodiff.custom_gradients import recomputed_by
from framework.core import nest
from framework.core.errors import InvalidArgumentError
from framework.core.operand import Operand
from framework.core.recorders import thread
from framework.core.stateless import StatelessScope
from framework.core.tensor import Tensor

_MODES = ("full", "activations", "larger_than", "list_of_layers", None)


class RematScope:
    """Context in which new layers recompute their intermediate values in the backward pass.

    That saves memory and costs a second forward pass of these layers. Layers that draw random
    numbers in training, such as Dropout, keep their intermediate values.

    Args:
        mode: "full": all layers; "activations": the activation functions of layers; "larger_than":
            layers whose output has more than `output_size_threshold` elements (an unknown size
            counts as 1); "list_of_layers": the layers named in `layer_names`; None: no layer.
        output_size_threshold: a number of elements.
        layer_names: a list of names.

    Raises:
        ValueError: `mode` is not valid.

    Example:
        >>> from framework import keras
        >>> with RematScope("larger_than", output_size_threshold=2048):
        ...     layer = keras.layers.Conv2D(64, 3)
        >>> layer(keras.ops.ones((1, 16, 16, 3))).shape
        TensorShape([1, 14, 14, 64])
    """

    def __init__(
        self, mode: Any = "full", output_size_threshold: Any = 1024, layer_names: Any = None
    ):
        if mode not in _MODES:
            raise InvalidArgumentError(
                f"RematScope: mode: expected one of {', '.join(map(repr, _MODES))}, got {mode!r}."
            )
        self.mode, self.output_size_threshold = mode, output_size_threshold
        self.layer_names = layer_names or []

    def __enter__(self):
        self._outer, thread.remat = thread.remat, self
        return self

    def __exit__(self, *_: object):
        thread.remat = self._outer


def rematerialized(owner, scope, call, args, kwargs):
    """Return `call`, or a function that computes the same without saving intermediate values.

    Args:
        owner: the layer or operation that is called.
        scope: the RematScope in which the owner was created, or None.
        call: a bound method, such as `owner.call`.
        args, kwargs: the arguments with which the result will be called.
    """
    if scope is None or _draws(owner):
        return call
    if scope.mode == "full":
        return _recomputed(call)
    if scope.mode == "activations" and getattr(owner, "activation", None) is not None:
        return _with_recomputed_activation(owner, call)
    if scope.mode == "list_of_layers" and owner.name in scope.layer_names:
        return _recomputed(call)
    if scope.mode == "larger_than":
        outputs = nest.flatten(owner.compute_output_spec(*args, **kwargs))
        size = sum(math.prod(n or 1 for n in x.shape) for x in outputs if hasattr(x, "shape"))
        if size > scope.output_size_threshold:
            return _recomputed(call)
    return call


def _draws(owner):
    """Return whether a layer or one of its inner layers draws random numbers."""
    layers = getattr(owner, "_flatten_layers", list)()
    return any(layer._framework.seed_generators for layer in layers)


def _recomputed(call):
    """Return `call` with its intermediate values recomputed in the backward pass."""
    link = thread.call

    @functools.wraps(call)
    def run(*args, **kwargs):
        leaves = nest.flatten((args, kwargs))
        places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, (Tensor, Operand))]

        def once(*tensors):
            filled = dict(zip(places, tensors))
            values = [filled.get(i, leaf) for i, leaf in enumerate(leaves)]
            given, named = nest.pack_sequence_as((args, kwargs), values)
            return call(*given, **named)

        def again(*tensors):
            # StatelessScope discards assignments: variables such as moving averages must not be
            # updated twice.
            outer, thread.call = thread.call, link
            try:
                with StatelessScope():
                    return once(*tensors)
            finally:
                thread.call = outer

        return recomputed_by(once, again)(*[leaves[i] for i in places])

    return run


def _with_recomputed_activation(layer, call):
    @functools.wraps(call)
    def run(*args, **kwargs):
        held = vars(layer)
        activation = layer.activation
        held["activation"] = _recomputed(activation)
        try:
            return call(*args, **kwargs)
        finally:
            held["activation"] = activation

    return run
