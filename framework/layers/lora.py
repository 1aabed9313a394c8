"""Low-rank adaptation: a frozen weight plus the product of two small trained matrices.

Hu et al. 2021, arXiv:2106.09685.
"""

from typing import Any

from framework import initializers
from framework.core.cast import cast
from framework.core.errors import InvalidArgumentError
from framework.core.promotion import promote
from framework.layers.building import lock
from framework.ops.contraction import matmul


class Adaptable:
    """A mixin for layers with LoRA on one weight, `_kernel` or `_embeddings`."""

    lora_enabled = False
    _adapted = "kernel"

    def enable_lora(
        self, rank: Any, lora_alpha: Any = None, a_initializer: Any = "he_uniform",
        b_initializer: Any = "zeros",
    ) -> None:  # fmt: skip
        """Freeze the weight and train a low-rank delta instead.

        Args:
            rank: the rank of the delta, a positive integer.
            lora_alpha: the delta is multiplied by `lora_alpha / rank`; `rank` if None.
            a_initializer, b_initializer: the initializers of the two factors.

        Raises:
            InvalidArgumentError: the layer is not built, has a constraint, or has LoRA already.
        """
        weight, name = getattr(self, f"_{self._adapted}", None), self._adapted
        _refuse_lora(self, weight, name)
        regularizer = getattr(self, f"{name}_regularizer")
        *rows, columns = weight.shape
        shapes = (*rows, rank), (rank, columns)
        self._framework.locked = False
        for letter, shape, start in zip("ab", shapes, (a_initializer, b_initializer)):
            factor = self.add_weight(  # float32: small updates vanish in float16
                shape, initializers.get(start), dtype="float32", regularizer=regularizer,
                name=f"lora_{name}_{letter}",
            )  # fmt: skip
            setattr(self, f"lora_{name}_{letter}", factor)
        weight.trainable = False
        lock(self)
        self.lora_enabled = True
        self.lora_rank = rank
        self.lora_alpha = rank if lora_alpha is None else lora_alpha


def _refuse_lora(layer, weight, name):
    reason = None
    if getattr(layer, f"{name}_constraint"):
        reason = f"LoRA does not support a constraint; remove {name}_constraint"
    elif weight is None:
        reason = "LoRA needs a built layer; build or call the layer first"
    elif layer.lora_enabled:
        reason = "LoRA is enabled already; it can be enabled once per layer"
    if reason:
        raise InvalidArgumentError(f"enable_lora: {reason} (layer {layer.name!r}).")


def with_lora(layer, weight):
    """Return the weight plus the LoRA delta, in the compute dtype."""
    name = layer._adapted
    factors = (getattr(layer, f"lora_{name}_{letter}").read() for letter in "ab")
    delta = matmul(*factors) * (layer.lora_alpha / layer.lora_rank)
    weight, delta = promote(weight, delta)
    total = weight + delta
    dtype = layer.compute_dtype
    return total if total.dtype is dtype else cast(total, dtype=dtype.np)


def lora_config(layer, config):
    """Remove the LoRA settings from `config` if LoRA is not enabled, as Keras does."""
    if not config["lora_rank"]:
        del config["lora_rank"], config["lora_alpha"]
    return config
