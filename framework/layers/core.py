"""Basic layers: Input, Dense, Activation, Dropout, Lambda, Identity."""

import inspect
from typing import Annotated, Any

from framework.activations import Activation as ActivationField
from framework.activations import linear
from framework.core import dtypes, nest, random
from framework.core.argument_types import DTypeLike, ShapeLike, TensorLike
from framework.core.configs import deserialize
from framework.core.configurable import Resolved
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.promotion import promote
from framework.core.random import SeedGenerator
from framework.core.symbolic import KerasTensor, known_size
from framework.core.tensor import Tensor
from framework.initializers import Seed
from framework.layers import symbolic_calls
from framework.layers.base import Layer, spec_by_call
from framework.layers.input_spec import InputSpec
from framework.layers.lora import AdaptableKernel, Unquantized, enable_as_asked, with_lora
from framework.layers.weights import KernelAndBias, weight
from framework.ops.contraction import matmul
from framework.ops.elementwise import add
from framework.ops.movement import reshape
from framework.ops.random import dropout
from framework.ops.sparse_tensor import SparseTensor
from framework.ops.sparse_tensor import matmul as sparse_matmul

__all__ = ["Activation", "Dense", "Dropout", "Identity", "Input", "InputLayer", "Lambda"]


def positive(value):
    if isinstance(value, bool) or not hasattr(value, "__index__") or value < 1:
        raise InvalidArgumentError("expected a positive integer")
    return int(value)


PositiveInt = Annotated[int, Resolved("a positive integer", positive)]


class Dense(
    KernelAndBias, AdaptableKernel, Layer,
    last=("lora_rank", "lora_alpha", "quantization_config"), takes_sparse=True,
):  # fmt: skip
    """`activation(inputs @ kernel + bias)` over the last axis, which becomes `units` long.

    Args:
        units: the size of the last axis of the outputs.
        use_bias: whether to add a bias.
        lora_rank, lora_alpha: see `enable_lora`.
        quantization_config: must be None; quantization is not supported.

    >>> import numpy as np
    >>> Dense(4, activation="relu")(np.ones((2, 3))).shape
    TensorShape([2, 4])
    """

    units: PositiveInt
    activation: ActivationField = None
    use_bias: bool = True
    lora_rank: int | None = None
    lora_alpha: float | None = None
    quantization_config: Unquantized = None
    supports_masking = True

    def __post_init__(self):
        self.input_spec = InputSpec(min_ndim=2)
        self.lora_alpha = self.lora_rank if self.lora_alpha is None else self.lora_alpha

    def build(self, input_shape: ShapeLike) -> None:
        size = input_shape[-1]
        self._kernel = weight(self, "kernel", (size, self.units))
        self.bias = weight(self, "bias", (self.units,)) if self.use_bias else None
        self.input_spec = InputSpec(min_ndim=2, axes={-1: size})
        enable_as_asked(self)

    def call(self, inputs: TensorLike, training: Any = None) -> Any:
        kernel = self._kernel._as_operand()
        if self.lora_enabled:
            kernel = with_lora(self, kernel)
        if type(inputs) is not Tensor or inputs.array.dtype is not kernel.array.dtype:
            inputs, kernel = _promoted(inputs, kernel)
        outputs = _matrix_product(inputs, kernel)
        if self.bias is not None:
            outputs = add(outputs, self.bias._as_operand())
        return outputs if self.activation is linear else self.activation(outputs)

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        if config["activity_regularizer"] is None:
            # as in Keras, the config of Dense has `activity_regularizer` only if it is set
            del config["activity_regularizer"]
        return config


def _promoted(inputs, kernel):
    """Return the operands promoted to a common dtype."""
    if isinstance(inputs, SparseTensor) and inputs.ndim == 2:
        values, kernel = promote(inputs.values, kernel)
        return inputs.with_values(values), kernel
    return promote(inputs, kernel)


def _matrix_product(inputs, kernel):
    """Return inputs @ kernel, as one matrix product: leading axes are flattened."""
    if (type(inputs) is Tensor and inputs.array.ndim == 2) or isinstance(inputs, KerasTensor):
        return matmul(inputs, kernel)
    if isinstance(inputs, SparseTensor):
        return sparse_matmul(inputs, kernel, what="Dense")
    *leading, size = inputs.array.shape
    rows = reshape(inputs, shape=(-1 if inputs.array.size else 0, size))
    return reshape(matmul(rows, kernel), shape=(*leading, kernel.array.shape[1]))


class Activation(Layer, builds_at_init=True):
    """An activation function as a layer.

    >>> import numpy as np
    >>> Activation("relu")(np.array([-1.0, 2.0])).numpy()
    array([0., 2.], dtype=float32)
    """

    activation: ActivationField
    supports_masking = True

    def call(self, inputs: TensorLike) -> Any:
        return self.activation(inputs)


def _fraction(value):
    if isinstance(value, (str, bool)) or not hasattr(value, "__float__") or not 0 <= value <= 1:
        raise InvalidArgumentError("expected a float between 0 and 1")
    return value


Fraction = Annotated[float, Resolved("a number in [0, 1]", _fraction)]


class Dropout(Layer, builds_at_init=True):
    """Set a random fraction `rate` of the inputs to 0 in training; divide the rest by `1 - rate`.

    Args:
        rate: from 0 to 1.
        noise_shape: the shape of the mask, which broadcasts to the inputs; None stands for the size
            of the inputs.
        seed: an int, or None.

    >>> import numpy as np
    >>> Dropout(0.5)(np.ones((1, 3))).numpy()
    array([[1., 1., 1.]], dtype=float32)
    """

    rate: Fraction
    noise_shape: object = None
    seed: Seed = None
    supports_masking = True

    def __post_init__(self):
        self.noise_shape = checked_noise_shape(self.noise_shape, "Dropout")
        if self.rate > 0:
            is_generator = isinstance(self.seed, SeedGenerator)
            self.seed_generator = self.seed if is_generator else SeedGenerator(self.seed)

    def call(self, inputs: TensorLike, training: bool = False) -> Any:
        if not training or self.rate == 0:
            return inputs
        shape = tuple(inputs.shape)
        if self.noise_shape is not None:
            shape = noise_shape(self.noise_shape, shape, self)
        noise = random.draw(self.seed_generator, "uniform", shape, noise_dtype(inputs))
        return dropout(inputs, noise, rate=self.rate)


def noise_dtype(inputs):
    """Return the dtype of the uniform noise that selects the dropped elements."""
    return "float64" if inputs.dtype == "float64" else "float32"


def checked_noise_shape(shape, cls_name):
    """Check the argument `noise_shape`; return a tuple or None. Errors mention `cls_name`."""
    if shape is None:
        return None
    if not isinstance(shape, (tuple, list)) or any(
        n is not None and (not isinstance(n, int) or n < 1) for n in shape
    ):
        raise InvalidArgumentError(
            f"{cls_name}: noise_shape: expected a tuple of positive ints and None, got {shape!r}."
        )
    return tuple(shape)


def noise_shape(wanted, shape, layer):
    """Return the noise shape `wanted` with None replaced by the sizes of the inputs."""
    if len(wanted) != len(shape):
        raise ShapeError(
            f"{type(layer).__name__} layer {layer.name!r}: noise_shape={wanted} has {len(wanted)} "
            f"axes, but the inputs of shape {shape} have {len(shape)}."
        )
    return tuple(own if n is None else n for n, own in zip(wanted, shape))


class Identity(Layer, builds_at_init=True):
    """A layer that returns its inputs."""

    supports_masking = True

    def call(self, inputs: TensorLike) -> Any:
        return inputs


def _itself(value):
    return value


def _function(value):
    if not callable(value):
        raise InvalidArgumentError("expected a function")
    return value


class Lambda(Layer):
    """A layer that calls a function of tensors.

    The layer does not track weights that the function uses: subclass Layer for those. A model with
    this layer can be saved only if the function is registered under a name.

    Args:
        function: a function of the inputs; it may have parameters `mask` and `training`.
        output_shape: the shape of one sample, a tuple or list, or a nest of shapes for several
            outputs; or a function of the input shape; inferred if None.
        mask: the mask of the outputs, or a function of the inputs and their mask.
        arguments: a dict of additional keyword arguments for the function.

    >>> import numpy as np
    >>> Lambda(lambda x: x * 2)(np.ones((1, 2))).numpy()
    array([[2., 2.]], dtype=float32)
    """

    function: Annotated[Any, Resolved("a function", _function, serialize=_itself)]
    output_shape: Annotated[Any, Resolved("a shape or a function", _itself, serialize=_itself)] = (
        None
    )
    mask: Annotated[Any, Resolved("a mask or a function", _itself, serialize=_itself)] = None
    arguments: object = None

    def __post_init__(self):
        self.arguments = dict(self.arguments or {})
        self.supports_masking = self._framework.makes_masks = self.mask is not None
        try:
            parameters = inspect.signature(self.function).parameters
        except ValueError:  # some built-in functions have no signature to inspect
            parameters = ()
        self._framework.passed_on = [n for n in ("mask", "training") if n in parameters]

    def call(self, inputs: TensorLike, mask: TensorLike = None, training: Any = None) -> Any:
        values = {"mask": mask, "training": training}
        return self.function(
            inputs, **self.arguments, **{n: values[n] for n in self._framework.passed_on}
        )

    @classmethod
    def from_config(cls, config: Any, custom_objects: Any = None, safe_mode: Any = None):
        """Return a layer from a config; its functions are found by name, so no stored code runs."""
        names = ("function", "output_shape", "mask")
        found = {
            n: deserialize(config[n], custom_objects)
            for n in names
            if isinstance(config.get(n), dict)
        }
        return cls(**{**config, **found})

    def compute_mask(self, inputs: TensorLike, mask: Any = None):
        return self.mask(inputs, mask) if callable(self.mask) else self.mask

    def compute_output_spec(
        self, inputs: TensorLike, mask: TensorLike = None, training: Any = None,
    ):  # fmt: skip
        if self.output_shape is None:
            return spec_by_call(self, (inputs,), {"mask": mask, "training": training})
        shape = symbolic_calls.shape_of(inputs)
        if callable(self.output_shape):
            return symbolic_calls.spec_from_shapes(self, self.output_shape(shape))
        batch = nest.flatten(shape)[0] if nest.is_nested(shape) else None
        return symbolic_calls.spec_from_shapes(self, _with_batch(self.output_shape, batch))


def _with_batch(shape, batch):
    """Return a nest of shapes with the batch size in front of each shape."""
    if symbolic_calls.is_shape(shape):
        return (batch, *shape)
    if isinstance(shape, dict):
        return {k: _with_batch(s, batch) for k, s in shape.items()}
    return type(shape)(_with_batch(s, batch) for s in shape)


# ---- inputs --------------------------------------------------------------------------------------


class InputLayer(Layer):
    """The layer that stands for a model input; `Input` creates one and returns its output."""

    def __init__(
        self, shape: ShapeLike = None, batch_size: Any = None, dtype: DTypeLike = None,
        sparse: Any = None, ragged: Any = None, batch_shape: ShapeLike = None,
        input_tensor: TensorLike = None, optional: bool = False, name: str | None = None,
        **kwargs: Any,
    ):  # fmt: skip
        # `input_shape` and `batch_input_shape` are Keras's older names of `shape` and
        # `batch_shape`
        shape = kwargs.pop("input_shape", shape)
        batch_shape = kwargs.pop("batch_input_shape", batch_shape)
        super().__init__(name=name, **kwargs)
        if ragged:
            raise InvalidArgumentError("Input: ragged=True is not supported; use padded inputs.")
        self.sparse = bool(sparse)
        if input_tensor is not None:
            _refuse_other(input_tensor, shape, batch_size, batch_shape, dtype)
            batch_shape, dtype = tuple(input_tensor.shape), input_tensor.dtype
        elif (shape is None) == (batch_shape is None):
            raise InvalidArgumentError(
                f"Input: expected shape (without the batch) or batch_shape, not both; got "
                f"shape={shape}, batch_shape={batch_shape}."
            )
        elif batch_shape is not None and batch_size is not None:
            raise InvalidArgumentError(
                "Input: expected batch_size or batch_shape, not both; got "
                f"batch_size={batch_size}, batch_shape={batch_shape}."
            )
        elif batch_shape is None:
            batch_shape = (batch_size, *_sizes(shape))
        self.batch_shape = _sizes(batch_shape)
        self.dtype_policy = dtypes.as_dtype(dtype or dtypes.floatx())
        self.optional = bool(optional)
        output = input_tensor
        if output is None:
            output = KerasTensor(self.batch_shape, self.dtype, self.sparse, name=self.name)
        if output.origin is None:
            output.origin = (self, (), {}, None)
        self._framework.first_call = ((output,), {}, output)
        self.built = True

    def call(self, *args: Any) -> Any:
        return args[0] if args else None

    def get_config(self) -> dict[str, Any]:
        return {
            "batch_shape": self.batch_shape, "dtype": str(self.dtype), "sparse": self.sparse,
            "ragged": False, "name": self.name, "optional": self.optional,
        }  # fmt: skip


def _sizes(shape):
    if isinstance(shape, int):
        raise ShapeError(f"Input: expected a tuple as shape, got {shape}; write ({shape},).")
    return tuple(None if n is None else known_size(n) for n in shape)


def _refuse_other(tensor, shape, batch_size, batch_shape, dtype):
    """Raise an error if `tensor` is not a KerasTensor, or if other arguments contradict it."""
    if not isinstance(tensor, KerasTensor):
        raise InvalidArgumentError(
            f"Input: tensor: expected a KerasTensor, got {type(tensor).__name__}."
        )
    own = tuple(tensor.shape)
    for name, value, expected in (
        ("shape", shape if shape is None else _sizes(shape), own[1:]),
        ("batch_size", batch_size, own[0] if own else None),
        ("batch_shape", batch_shape if batch_shape is None else _sizes(batch_shape), own),
        ("dtype", dtype if dtype is None else dtypes.as_dtype(dtype), tensor.dtype),
    ):
        if value is not None and value != expected:
            raise InvalidArgumentError(
                f"Input: expected {name}={expected}, to match the given tensor, got {value}."
            )


def Input(
    shape: ShapeLike = None, batch_size: int | None = None, dtype: DTypeLike = None,
    sparse: bool | None = None, ragged: bool | None = None, batch_shape: ShapeLike = None,
    name: str | None = None, tensor: TensorLike = None, optional: bool = False,
) -> Any:  # fmt: skip
    """Return a model input: a KerasTensor to call layers on.

    Args:
        shape: the shape of one sample, without the batch; None stands for a variable size.
        batch_size: the batch size if it is fixed.
        dtype: floatx if None.
        sparse: whether the input is a SparseTensor; a dense tensor is accepted, too.
        batch_shape: the shape with the batch size.
        name: a string.
        tensor: an existing KerasTensor to use as the input.
        optional: whether None may be passed as this input.

    >>> Input((3,)).shape
    (None, 3)
    """
    layer = InputLayer(
        shape=shape, batch_size=batch_size, dtype=dtype, sparse=sparse, ragged=ragged,
        batch_shape=batch_shape, input_tensor=tensor, optional=optional, name=name,
    )  # fmt: skip
    return layer.output
