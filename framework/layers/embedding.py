"""Embedding layers, which look up rows of a trained table."""

import warnings
from typing import TYPE_CHECKING, Any

from framework.constraints import ConstraintField
from framework.core import dtypes
from framework.core.argument_types import ShapeLike, TensorLike
from framework.core.cast import cast
from framework.core.conversion import tensor
from framework.core.promotion import promote
from framework.initializers import InitializerField
from framework.layers.base import Layer, spec_by_call
from framework.layers.core import PositiveInt
from framework.layers.lora import Adaptable, Unquantized, enable_as_asked, lora_config, with_lora
from framework.layers.weights import weight
from framework.ops.contraction import matmul
from framework.ops.elementwise import not_equal, tanh
from framework.ops.movement import transpose, within
from framework.ops.slices import gather_rows
from framework.regularizers import RegularizerField

__all__ = ["Embedding", "ReversibleEmbedding"]


class _TableLayer(Adaptable, Layer):
    """A layer whose constructor argument `weights` sets the initial weights."""

    @property
    def weights(self):
        return Layer.weights.fget(self)

    @weights.setter
    def weights(self, value: TensorLike):
        self.__dict__["_given"] = value


class Embedding(_TableLayer, makes_masks=False):
    """Map integers to rows of a trained table.

    The gradient of the table is IndexedSlices, which hold only the rows in use.

    Args:
        input_dim: the number of rows; inputs are in `range(input_dim)`.
        output_dim: the length of a row.
        mask_zero: whether input 0 means padding, which the output's mask excludes.
        weights: the initial table.
        lora_rank, lora_alpha: see `enable_lora`.
        quantization_config: must be None; quantization is not supported.

    Shapes: `(batch, ...)` gives `(batch, ..., output_dim)`.

    Raises:
        OutOfRangeError: in a call, an input is not in `range(input_dim)`.

    >>> import numpy as np
    >>> Embedding(5, 2)(np.array([[1, 4, 1]])).shape
    TensorShape([1, 3, 2])
    """

    input_dim: PositiveInt
    output_dim: PositiveInt
    embeddings_initializer: InitializerField = "uniform"
    embeddings_regularizer: RegularizerField = None
    embeddings_constraint: ConstraintField = None
    mask_zero: bool = False
    weights: object = None
    lora_rank: int | None = None
    lora_alpha: float | None = None
    quantization_config: Unquantized = None

    _adapted = "embeddings"
    _embeddings = None

    # type checkers must take the constructor's signature from the fields, not from `__init__`
    if not TYPE_CHECKING:

        def __init__(self, *args: Any, input_length: Any = None, **kwargs: Any):
            if input_length is not None:
                warnings.warn(
                    "Argument `input_length` is deprecated. Just remove it.", stacklevel=2
                )
            super().__init__(*args, **kwargs)

        __init__._from_fields = True

    def __post_init__(self):
        self.autocast = False
        self.supports_masking = self._framework.makes_masks = self.mask_zero
        self.lora_alpha = self.lora_rank if self.lora_alpha is None else self.lora_alpha
        weights = self.__dict__.pop("_given")
        if weights is not None:
            self.build()
            is_list = isinstance(weights, list) and len(weights) == 1
            self.set_weights(weights if is_list else [weights])

    def build(self, input_shape: ShapeLike = None) -> None:
        if self._embeddings is not None:
            return
        shape = (self.input_dim, self.output_dim)
        # autocast=False, because only rows in use are cast; a cast of the whole table would make
        # the gradient dense
        self._embeddings = weight(self, "embeddings", shape, autocast=False)
        enable_as_asked(self)

    @property
    def embeddings(self):
        """The table, plus the LoRA delta if LoRA is enabled."""
        if not self.built and not self._framework.building:
            raise AttributeError("You must build the layer before accessing `embeddings`.")
        if self.lora_enabled:
            return with_lora(self, self._embeddings._as_operand())
        return self._embeddings

    def call(self, inputs: TensorLike) -> Any:
        table = self.embeddings
        table = table if self.lora_enabled else table._as_operand()
        if inputs.dtype not in (dtypes.int32, dtypes.int64):
            inputs = cast(inputs, dtype=dtypes.int32.np)
        what = f"Embedding layer {self.name!r} (input_dim={self.input_dim}): inputs"
        rows = gather_rows(table, within(inputs, what=what, size=self.input_dim))
        dtype = self.compute_dtype
        return rows if rows.dtype is dtype else cast(rows, dtype=dtype.np)

    def compute_mask(self, inputs: TensorLike, mask: Any = None):
        """Return a mask that is True where inputs are not 0; None without `mask_zero`."""
        return not_equal(inputs, 0) if self.mask_zero else None

    def get_config(self) -> dict[str, Any]:
        config = lora_config(self, super().get_config())
        del config["weights"]
        return {"activity_regularizer": None, **config}


class ReversibleEmbedding(Embedding):
    """An Embedding that, with `reverse=True`, maps vectors to scores (logits) of all rows.

    Args:
        input_dim: the number of rows.
        output_dim: the length of a row.
        tie_weights: whether the reverse direction uses the same table.
        reverse_dtype: the dtype in which scores are computed.
        logit_soft_cap: the cap in `cap * tanh(x / cap)`, applied to scores x; None: no cap.

    Shapes: `(batch, ...)` gives `(batch, ..., output_dim)`; with `reverse=True`,
    `(batch, ..., output_dim)` gives `(batch, ..., input_dim)`.

    >>> import numpy as np
    >>> layer = ReversibleEmbedding(5, 2)
    >>> layer(layer(np.array([[1, 4]])), reverse=True).shape
    TensorShape([1, 2, 5])
    """

    input_dim: PositiveInt
    output_dim: PositiveInt
    tie_weights: bool = True
    embeddings_initializer: InitializerField = "uniform"
    embeddings_regularizer: RegularizerField = None
    embeddings_constraint: ConstraintField = None
    mask_zero: bool = False
    reverse_dtype: object = None
    logit_soft_cap: float | None = None
    weights: object = None
    lora_rank: int | None = None
    lora_alpha: float | None = None
    quantization_config: Unquantized = None

    def build(self, input_shape: ShapeLike = None) -> None:
        super().build(input_shape)
        if not self.tie_weights:
            self.reverse_embeddings = self.add_weight(
                (self.output_dim, self.input_dim), self.embeddings_initializer,
                name="reverse_embeddings",
            )  # fmt: skip

    def call(self, inputs: TensorLike, reverse: bool = False) -> Any:
        if not reverse:
            rows = super().call(inputs)
            mask = super().compute_mask(inputs)
            if mask is not None:
                rows._keras_mask = mask
            return rows
        if self.tie_weights:
            kernel = transpose(tensor(self.embeddings), perm=(1, 0))
        else:
            kernel = self.reverse_embeddings._as_operand()
        if self.reverse_dtype is not None:
            dtype = dtypes.as_dtype(self.reverse_dtype).np
            inputs, kernel = cast(inputs, dtype=dtype), cast(kernel, dtype=dtype)
        scores = matmul(*promote(inputs, kernel))
        cap = self.logit_soft_cap
        return scores if cap is None else tanh(scores / cap) * cap

    def compute_output_shape(self, input_shape: ShapeLike, reverse: bool = False) -> Any:
        """Return the shape of the rows, or of the scores if `reverse`."""
        if reverse:
            return (*input_shape[:-1], self.input_dim)
        return (*input_shape, self.output_dim)

    def compute_output_spec(self, inputs: TensorLike, reverse: bool = False) -> Any:
        return spec_by_call(self, (inputs,), {"reverse": reverse})

    def compute_mask(self, inputs: TensorLike, mask: Any = None) -> None:
        """Return None, because `call` itself sets the mask of the rows that it returns."""
        return
