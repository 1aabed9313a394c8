"""InputSpec: the rank, shape and dtype that a layer expects, and the check of its inputs."""

from framework.core import dtypes, nest
from framework.core.argument_types import ShapeLike, TensorLike
from framework.core.configurable import Configurable
from framework.core.errors import InvalidArgumentError, ShapeError

_NO_RETURN = " If another layer computed this None, the `call` of that layer lacks a `return`."


class InputSpec(Configurable):
    """The expected rank, shape and dtype of one layer input.

    Args:
        dtype: a dtype; None for any.
        shape: a tuple, in which None stands for any size.
        ndim, max_ndim, min_ndim: the number of axes, including the batch.
        axes: {axis: size}.
        allow_last_axis_squeeze: whether a last axis of size 1 may be missing or added.
        name: the key of the input if inputs are a dict.
        optional: whether the input may be None.
    """

    dtype: object = None
    shape: object = None
    ndim: object = None
    max_ndim: object = None
    min_ndim: object = None
    axes: object = None
    allow_last_axis_squeeze: bool = False
    name: object = None
    optional: bool = False

    def __post_init__(self):
        if self.dtype is not None:
            self.dtype = dtypes.as_dtype(self.dtype)
        if self.shape is not None:
            self.shape = tuple(self.shape)
            self.ndim = len(self.shape)
        try:
            self.axes = {int(axis): size for axis, size in (self.axes or {}).items()}
        except (AttributeError, TypeError, ValueError):
            raise TypeError(
                f"InputSpec: axes must be a dict with integer keys, got {self.axes!r}."
            ) from None
        least = 0 if self.min_ndim is None else self.min_ndim
        most = 99 if self.max_ndim is None else self.max_ndim
        if self.ndim is not None:
            least, most = max(least, self.ndim), min(most, self.ndim)
        self._ranks = range(least, most + 1)
        self._plain = self.shape is None and self.dtype is None
        self._axes = tuple((axis, n) for axis, n in self.axes.items() if n is not None)

    def fits(self, shape: ShapeLike):
        """Return True if a fast check shows that a shape is valid; False means unknown."""
        if not self._plain or len(shape) not in self._ranks:
            return False
        for axis, size in self._axes:  # noqa: SIM110 (a generator takes twice as long)
            if shape[axis] != size:
                return False
        return True

    def complaint(self, x: TensorLike):
        """Return a message that says how `x` differs from the spec, or None if it matches."""
        shape = tuple(x.shape)
        rank = len(shape)
        got = f"found ndim={rank}. Full shape received: {shape}"
        if self.ndim is not None and rank != self.ndim and not self.allow_last_axis_squeeze:
            return f"expected ndim={self.ndim}, {got}"
        if self.max_ndim is not None and rank > self.max_ndim:
            return f"expected max_ndim={self.max_ndim}, {got}"
        if self.min_ndim is not None and rank < self.min_ndim:
            return f"expected min_ndim={self.min_ndim}, {got}"
        if self.dtype is not None and x.dtype != self.dtype:
            return f"expected dtype={self.dtype}, found dtype={x.dtype}"
        for axis, size in self._axes:
            if shape[axis] not in (size, None):
                return (
                    f"expected axis {axis} of input shape to have value {size}, but received input "
                    f"with shape {shape}"
                )
        if self.shape is not None and not self._shape_fits(shape):
            return f"expected shape={self.shape}, found shape={shape}"
        return None

    def _shape_fits(self, shape):
        expected = self.shape
        if self.allow_last_axis_squeeze:
            shape, expected = (s[:-1] if s[-1:] == (1,) else s for s in (shape, expected))
        return all(a is None or b is None or a == b for a, b in zip(expected, shape))

    def __repr__(self):
        parts = ("dtype", "shape", "ndim", "max_ndim", "min_ndim", "axes")
        shown = [f"{p}={getattr(self, p)}" for p in parts if getattr(self, p)]
        return f"InputSpec({', '.join(shown)})"


def check(spec, inputs, layer):
    """Raise ShapeError (a ValueError) unless the inputs match the spec or nest of specs."""
    specs = nest.flatten(spec)
    if isinstance(inputs, dict) and all(s.name for s in specs):
        missing = [s.name for s in specs if s.name not in inputs]
        if missing:
            raise InvalidArgumentError(
                f"Missing data for input {missing[0]!r} of layer {layer!r}. You passed the keys "
                f"{list(inputs)}, expected {[s.name for s in specs]}."
            )
        inputs = [inputs[s.name] for s in specs]
    inputs = nest.flatten(inputs)
    if len(inputs) != len(specs):
        raise InvalidArgumentError(
            f"Layer {layer!r} expects {len(specs)} input(s), but it received {len(inputs)} input "
            f"tensors: {inputs}."
        )
    for i, (x, expected) in enumerate(zip(inputs, specs)):
        if expected is None or (x is None and expected.optional):
            continue
        if not hasattr(x, "shape"):
            raise InvalidArgumentError(
                f"Inputs to a layer should be tensors. Got {x!r} (of type {type(x).__name__}) as "
                f"input for layer {layer!r}.{_NO_RETURN * (x is None)}"
            )
        complaint = expected.complaint(x)
        if complaint:
            named = f" with name {expected.name!r}" if expected.name else ""
            raise ShapeError(
                f"Input {i}{named} of layer {layer!r} is incompatible with the layer: {complaint}"
            )
