"""Low-rank adaptation: a fixed weight plus the product of two small trained ones.

Hu et al. 2021, arXiv:2106.09685.
"""

from framework import initializers
from framework.core.doors import cast, promote
from framework.core.errors import InvalidArgumentError
from framework.layers.building import lock
from framework.ops.contraction import matmul


class Adaptable:
    """What a layer needs for LoRA on the one weight in `_kernel` or `_embeddings`."""

    lora_enabled = False
    _adapted = "kernel"

    def enable_lora(self, rank, lora_alpha=None, a_initializer="he_uniform", b_initializer="zeros"):
        """Fix the weight and train a delta to it of the given rank.

        Args:
            rank: a positive integer.
            lora_alpha: the delta is scaled by `lora_alpha / rank`; `rank` where None.
            a_initializer, b_initializer: of the delta's factors.

        Raises:
            InvalidArgumentError: before the layer is built, beside a constraint, or twice.
        """
        weight, name = getattr(self, f"_{self._adapted}", None), self._adapted
        _refuse_lora(self, weight, name)
        regularizer = getattr(self, f"{name}_regularizer")
        *rows, columns = weight.shape
        shapes = (*rows, rank), (rank, columns)
        self._framework.locked = False
        for letter, shape, start in zip("ab", shapes, (a_initializer, b_initializer)):
            factor = self.add_weight(  # float32, so that small steps are not lost in a half float
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
        reason = f"LoRA does not go with a constraint; remove {name}_constraint"
    elif weight is None:
        reason = "LoRA needs a layer that is built; build it or call it first"
    elif layer.lora_enabled:
        reason = "LoRA is enabled already; that can be done once per layer"
    if reason:
        raise InvalidArgumentError(f"enable_lora: {reason} (layer {layer.name!r}).")


def with_lora(layer, weight):
    """The weight's value plus the delta."""
    name = layer._adapted
    factors = (getattr(layer, f"lora_{name}_{letter}").read() for letter in "ab")
    delta = matmul(*factors) * (layer.lora_alpha / layer.lora_rank)
    weight, delta = promote(weight, delta)
    total = weight + delta
    dtype = layer.compute_dtype
    return total if total.dtype is dtype else cast(total, dtype=dtype.np)


def lora_config(layer, config):
    """`config` with the LoRA settings only where they are used, as Keras writes them."""
    if not config["lora_rank"]:
        del config["lora_rank"], config["lora_alpha"]
    return config
