"""Low-rank adaptation: a frozen weight plus the product of two small trained matrices.

Hu et al. 2021, arXiv:2106.09685.
"""

from typing import Annotated, Any

import numpy as np

from framework import initializers
from framework.core.cast import cast
from framework.core.configurable import Resolved
from framework.core.errors import InvalidArgumentError
from framework.core.promotion import promote
from framework.core.stored import load_variables
from framework.ops.contraction import matmul
from framework.ops.elementwise import add


def unquantized(value):
    """Accept only None as `quantization_config`: quantization is not supported."""
    if value is not None:
        raise InvalidArgumentError("quantization is not supported; expected None")


Unquantized = Annotated[None, Resolved("None", unquantized)]


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
        locked, self._framework.locked = self._framework.locked, False
        for letter, shape, start in zip("ab", shapes, (a_initializer, b_initializer)):
            factor = self.add_weight(  # float32, because float16 would round small updates to 0
                shape, initializers.get(start), dtype="float32", regularizer=regularizer,
                name=f"lora_{name}_{letter}",
            )  # fmt: skip
            setattr(self, f"lora_{name}_{letter}", factor)
        weight.trainable = False
        self._framework.locked = locked
        self.lora_enabled = True
        self.lora_rank = rank
        self.lora_alpha = rank if lora_alpha is None else lora_alpha

    def save_own_variables(self, store: Any) -> None:
        """Write the layer's variables to a store; the delta is added to the weight, as in Keras."""
        if not self.lora_enabled:
            super().save_own_variables(store)
            return
        weight = getattr(self, f"_{self._adapted}")
        for number, variable in enumerate(_without_factors(self)):
            value = _merged(self, weight.read()) if variable is weight else variable
            store[str(number)] = value.numpy()

    def load_own_variables(self, store: Any) -> None:
        """Set the layer's variables from a store; the delta becomes zero."""
        if not self.lora_enabled:
            super().load_own_variables(store)
            return
        what = f"Layer {self.name!r} ({type(self).__name__})"
        load_variables(_without_factors(self), store, what)
        for factor in _factors(self):
            factor.assign(np.zeros(factor.shape, factor.dtype.np))


class AdaptableKernel(Adaptable):
    """A mixin for layers with LoRA on their kernel, the variable `_kernel`."""

    _kernel = None

    @property
    def kernel(self):
        """The kernel, plus the LoRA delta if LoRA is enabled."""
        if self._kernel is None:
            raise AttributeError("You must build the layer before accessing `kernel`.")
        return with_lora(self, self._kernel._as_operand()) if self.lora_enabled else self._kernel

    @kernel.setter
    def kernel(self, value: Any):
        self._kernel = value

    def get_config(self) -> dict[str, Any]:
        return lora_config(self, super().get_config())


def _factors(layer):
    return [getattr(layer, f"lora_{layer._adapted}_{letter}") for letter in "ab"]


def _without_factors(layer):
    """Return the layer's own variables without the factors of the delta."""
    record, left_out = layer._framework, {id(factor) for factor in _factors(layer)}
    own = [*record.trainable_variables, *record.non_trainable_variables]
    return [v for v in own if id(v) not in left_out]


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


def _merged(layer, weight):
    """Return the weight plus the LoRA delta, in the weight's dtype."""
    delta = matmul(*(factor.read() for factor in _factors(layer)))
    total = add(*promote(weight, delta * (layer.lora_alpha / layer.lora_rank)))
    return total if total.dtype is weight.dtype else cast(total, dtype=weight.dtype.np)


def with_lora(layer, weight):
    """Return the weight plus the LoRA delta, in the compute dtype."""
    total = _merged(layer, weight)
    dtype = layer.compute_dtype
    return total if total.dtype is dtype else cast(total, dtype=dtype.np)


def enable_as_asked(layer):
    """Enable LoRA if the layer's argument `lora_rank` is set; `build` calls this at its end."""
    if layer.lora_rank:
        layer.enable_lora(layer.lora_rank, layer.lora_alpha)


def lora_config(layer, config):
    """Remove the LoRA settings from `config` if LoRA is not enabled, as Keras does."""
    if not config["lora_rank"]:
        del config["lora_rank"], config["lora_alpha"]
    return config
