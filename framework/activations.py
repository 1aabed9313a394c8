"""Activation functions: Keras's names and formulas, on tensors, arrays and KerasTensors."""

import math
from typing import Annotated, Any

import numpy as np

from framework.core import dtypes
from framework.core.argument_types import Axis, TensorLike
from framework.core.axes import one_axis
from framework.core.cast import cast
from framework.core.configurable import Resolved, serialize_value
from framework.core.conversion import tensor
from framework.core.errors import ShapeError
from framework.core.operations import operation
from framework.core.promotion import promote, real_floating
from framework.core.registry import Registry
from framework.core.shared_fields import Configured
from framework.core.tensor import Tensor
from framework.ops import elementwise as e
from framework.ops import movement, rows, special

activations = Registry("activation")


def _floating(x):
    """Return `x` as a tensor of a floating dtype; integers become floatx."""
    if type(x) is Tensor and x.array.dtype.kind == "f":
        return x
    x = tensor(x)
    return x if x.dtype.is_inexact else cast(x, dtype=dtypes.floatx().np)


@activations.add()
def linear(x: TensorLike) -> Tensor:
    """Return `x` unchanged."""
    return x


@activations.add()
def relu(
    x: TensorLike, negative_slope: Any = 0.0, max_value: Any = None, threshold: TensorLike = 0.0,
) -> Tensor:  # fmt: skip
    """`max(x, 0)`.

    Args:
        negative_slope: the slope below `threshold`.
        max_value: the largest result; by default there is no limit.
        threshold: for smaller x, the result is `negative_slope * (x - threshold)`.

    >>> import framework as tf
    >>> relu(tf.constant([-1.0, 2.0])).numpy()
    array([0., 2.], dtype=float32)
    """
    x = x if type(x) is Tensor else tensor(x)
    if not threshold and not negative_slope:
        if max_value is None:
            return e.relu(x)
        if type(max_value) in (int, float) and max_value == 6:
            return e.relu6(_floating(x))
        x = e.relu(x)
    elif negative_slope:
        x = _floating(x)
        x = e.select(x > threshold, x, (x - threshold) * negative_slope)
    else:
        x = e.select(e.greater(*promote(x, threshold)), x, 0)
    if max_value is None:
        return x
    return e.minimum(x, max_value if x.dtype.is_inexact else tensor(max_value, x.dtype, casts=True))


@activations.add()
def leaky_relu(x: TensorLike, negative_slope: Any = 0.2) -> Tensor:
    """`x` where positive, else `negative_slope * x`."""
    x = _floating(x)
    return e.select(x > 0, x, x * negative_slope)


@activations.add()
def relu6(x: TensorLike) -> Tensor:
    """`min(max(x, 0), 6)`."""
    return e.relu6(_floating(x))


@activations.add()
def elu(x: TensorLike, alpha: TensorLike = 1.0) -> Tensor:
    """`x` where positive, else `alpha * (exp(x) - 1)` (Clevert et al. 2015, arXiv:1511.07289)."""
    x = _floating(x)
    below = e.expm1(e.minimum(x, 0)) * alpha
    # for NaN, the result is NaN and the derivative 1, as in TensorFlow
    return e.select(x <= 0, below, x)


@activations.add()
def selu(x: TensorLike) -> Tensor:
    """The self-normalizing ELU (Klambauer et al. 2017, arXiv:1706.02515)."""
    x = _floating(x)
    below = e.expm1(e.minimum(x, 0)) * 1.6732632423543772
    # at 0, the derivative is that for x > 0, as in Keras
    return e.select(x < 0, below, x) * 1.0507009873554805


@activations.add()
def celu(x: TensorLike, alpha: TensorLike = 1.0) -> Tensor:
    """`max(x, 0) + min(0, alpha * (exp(x / alpha) - 1))` (Barron 2017, arXiv:1704.07483)."""
    x = _floating(x)
    return e.relu(x) + e.expm1(e.minimum(x, 0) / alpha) * alpha


@activations.add()
def softplus(x: TensorLike) -> Tensor:
    """`log(1 + exp(x))`."""
    return e.softplus(_floating(x))


@activations.add()
def softsign(x: TensorLike) -> Tensor:
    """`x / (1 + |x|)`."""
    x = _floating(x)
    return x / (e.absolute(x) + 1)


@activations.add()
def squareplus(x: TensorLike, b: TensorLike = 4) -> Tensor:
    """`(x + sqrt(x**2 + b)) / 2` (Barron 2021, arXiv:2112.11687)."""
    x = _floating(x)
    return (x + e.sqrt(e.square(x) + float(b))) / 2.0


@activations.add()
def soft_shrink(x: TensorLike, threshold: TensorLike = 0.5) -> Tensor:
    """`x` moved towards 0 by `threshold`; 0 where `|x| <= threshold`."""
    x = _floating(x)
    return e.relu(x - threshold) - e.relu(-x - threshold)


@activations.add()
def hard_shrink(x: TensorLike, threshold: TensorLike = 0.5) -> Tensor:
    """`x` where `|x| > threshold`, else 0."""
    x = _floating(x)
    return e.select(e.absolute(x) > threshold, x, 0)


@activations.add()
def tanh_shrink(x: TensorLike) -> Tensor:
    """`x - tanh(x)`."""
    x = _floating(x)
    return x - e.tanh(x)


@activations.add()
def threshold(x: TensorLike, threshold: TensorLike, default_value: Any) -> Tensor:
    """`x` where `x > threshold`, else `default_value`."""
    x = tensor(x)
    return e.select(e.greater(*promote(x, threshold)), *promote(x, default_value))


@activations.add()
def sparse_plus(x: TensorLike) -> Tensor:
    """0 up to -1, `x` from 1 on, `(x + 1)**2 / 4` between."""
    x = _floating(x)
    return e.select(x <= -1, 0, e.select(x < 1, e.square(x + 1) * 0.25, x))


@activations.add()
def sparse_sigmoid(x: TensorLike) -> Tensor:
    """0 up to -1, 1 from 1 on, `(x + 1) / 2` between."""
    return e.clip((_floating(x) + 1) * 0.5, 0, 1)


@activations.add("swish")
def silu(x: TensorLike) -> Tensor:
    """`x * sigmoid(x)`, also called swish (Ramachandran et al. 2017, arXiv:1710.05941)."""
    x = _floating(x)
    return x * e.sigmoid(x)


@activations.add()
def gelu(x: TensorLike, approximate: bool = False) -> Tensor:
    """`x * P(X <= x)` for a normal X (Hendrycks & Gimpel 2016, arXiv:1606.08415).

    Args:
        approximate: use the paper's tanh approximation.
    """
    return rows.gelu(real_floating(_floating(x), "gelu"), approximate=bool(approximate))


@activations.add()
@operation
def glu(x: TensorLike, axis: Axis = -1) -> Tensor:
    """The first half along `axis` times sigmoid(second half) (Dauphin 2016, arXiv:1612.08083)."""
    x = _floating(x)
    axis = one_axis(axis, x.ndim, "glu")
    if x.shape[axis] is None or x.shape[axis] % 2:
        raise ShapeError(f"glu: axis {axis} must have an even size, got shape {tuple(x.shape)}.")
    half = x.shape[axis] // 2
    a, b = movement.split(x, sizes=(half, half), axis=axis)
    return a * e.sigmoid(b)


@activations.add()
def tanh(x: TensorLike) -> Tensor:
    """`tanh(x)`."""
    return e.tanh(_floating(x))


@activations.add()
def sigmoid(x: TensorLike) -> Tensor:
    """`1 / (1 + exp(-x))`."""
    return e.sigmoid(_floating(x))


@activations.add()
def exponential(x: TensorLike) -> Tensor:
    """`exp(x)`."""
    return e.exp(_floating(x))


@activations.add()
def hard_sigmoid(x: TensorLike) -> Tensor:
    """`min(max(x / 6 + 1/2, 0), 1)`."""
    return e.minimum(6, e.relu(_floating(x) + 3)) / 6.0


@activations.add("hard_swish")
def hard_silu(x: TensorLike) -> Tensor:
    """`x * hard_sigmoid(x)`, also called hard_swish (Howard et al. 2019, arXiv:1905.02244)."""
    x = _floating(x)
    return x * hard_sigmoid(x)


@activations.add()
def hard_tanh(x: TensorLike) -> Tensor:
    """`min(max(x, -1), 1)`."""
    x = tensor(x)
    return e.clip(cast(x, dtype=np.int32) if x.dtype.is_bool else x, -1, 1)


@activations.add()
def mish(x: TensorLike) -> Tensor:
    """`x * tanh(softplus(x))` (Misra 2019, arXiv:1908.08681)."""
    x = _floating(x)
    return x * e.tanh(e.softplus(x))


@activations.add()
def log_sigmoid(x: TensorLike) -> Tensor:
    """`log(sigmoid(x))`, exact for large negative `x` too."""
    return -e.softplus(-_floating(x))


@activations.add()
@operation
def softmax(x: TensorLike, axis: Axis = -1) -> Tensor:
    """`exp(x)` divided by its sum over `axis` (an int, or a sequence of axes taken together)."""
    return _along(rows.softmax, x, axis, "softmax")


@activations.add()
@operation
def log_softmax(x: TensorLike, axis: Axis = -1) -> Tensor:
    """`x - log(sum(exp(x)))` over `axis` (an int, or a sequence of axes taken together)."""
    return _along(rows.log_softmax, x, axis, "log_softmax")


@activations.add()
@operation
def sparsemax(x: TensorLike, axis: Axis = -1) -> Tensor:
    """The nearest point of the probability simplex (Martins & Astudillo 2016, arXiv:1602.02068)."""
    return _along(special.sparsemax, x, axis, "sparsemax")


def _along(op, x, axis, what):
    x = _floating(x)
    if not isinstance(axis, (tuple, list)):
        return op(x, axis=one_axis(axis, x.ndim, what))
    axes = tuple(one_axis(a, x.ndim, what) for a in axis)
    if len(axes) == 1:
        return op(x, axis=axes[0])
    # the other axes are merged, so that each row holds the elements of the given axes
    rest = tuple(i for i in range(x.ndim) if i not in axes)
    moved = movement.transpose(x, perm=rest + axes)
    size = math.prod(x.shape[i] for i in axes)
    rows_of = movement.reshape(moved, shape=(*(x.shape[i] for i in rest), size))
    result = movement.reshape(op(rows_of, axis=len(rest)), shape=tuple(moved.shape))
    back = sorted(range(x.ndim), key=(rest + axes).__getitem__)
    return movement.transpose(result, perm=tuple(back))


swish, hard_swish = silu, hard_silu


# ---- names ---------------------------------------------------------------------------------------


def get(identifier: Any) -> Any:
    """Return the activation function for a name, function, layer or config; None is `linear`."""
    return linear if identifier is None else activations.get(identifier)


def serialize(activation: Any) -> Any:
    """Return the name of a function or the config of a layer."""
    return serialize_value(activation)


def deserialize(config: Any, custom_objects: Any = None) -> Any:
    """Return the activation that `serialize` described."""
    return linear if config is None else activations.deserialize(config, custom_objects)


Activation = Annotated[Configured, Resolved("an activation", get)]
