"""InputSpec: what a layer expects of its inputs, and the error where they differ."""

from framework.core import dtypes, nest
from framework.core.configurable import Configurable
from framework.core.errors import InvalidArgumentError, ShapeError


class InputSpec(Configurable):
    """Rank, shape and dtype of one input of a layer.

    Args:
        dtype: a dtype, any where None.
        shape: a tuple, None where any size will do.
        ndim, max_ndim, min_ndim: the number of axes, the batch's included.
        axes: {axis: size}.
        allow_last_axis_squeeze: a last axis of size 1 may be there or not.
        name: the input's name, where inputs come as a dict.
        optional: the input may be None.
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

    def fits(self, shape):
        """Whether a shape certainly does: the quick yes of every call; False may mean either."""
        if not self._plain or len(shape) not in self._ranks:
            return False
        for axis, size in self._axes:  # noqa: SIM110 (a generator takes twice as long)
            if shape[axis] != size:
                return False
        return True

    def complaint(self, x):
        """What is wrong with `x`, in words; None where nothing is."""
        shape = tuple(x.shape)
        rank = len(shape)
        found = f"found ndim={rank}. Full shape received: {shape}"
        if self.ndim is not None and rank != self.ndim and not self.allow_last_axis_squeeze:
            return f"expected ndim={self.ndim}, {found}"
        if self.max_ndim is not None and rank > self.max_ndim:
            return f"expected max_ndim={self.max_ndim}, {found}"
        if self.min_ndim is not None and rank < self.min_ndim:
            return f"expected min_ndim={self.min_ndim}, {found}"
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
        said = [f"{p}={getattr(self, p)}" for p in parts if getattr(self, p)]
        return f"InputSpec({', '.join(said)})"


def check(spec, inputs, layer):
    """ShapeError (a ValueError) unless the inputs are what the spec, or nest of specs, expects."""
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
    for i, (x, one) in enumerate(zip(inputs, specs)):
        if one is None or (x is None and one.optional):
            continue
        if not hasattr(x, "shape"):
            raise InvalidArgumentError(
                f"Inputs to a layer should be tensors. Got {x!r} (of type {type(x).__name__}) as "
                f"input for layer {layer!r}."
            )
        complaint = one.complaint(x)
        if complaint:
            named = f" with name {one.name!r}" if one.name else ""
            raise ShapeError(
                f"Input {i}{named} of layer {layer!r} is incompatible with the layer: {complaint}"
            )
