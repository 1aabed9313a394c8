"""KerasTensor: a shape and a dtype without values, and symbolic calls of ops.

A symbolic call runs the same Python code on KerasTensors. It changes no state:
assignments, draws and losses are discarded, and reading a value raises an error.
"""

from importlib import import_module
from typing import Any

import numpy as np

from framework.core import dtypes
from framework.core.argument_types import DTypeLike, ShapeLike
from framework.core.errors import ShapeError, SymbolicValueError
from framework.core.op import table
from framework.core.operand import Operand
from framework.core.recorders import thread


class KerasTensor(Operand):
    """A tensor of known dtype and partly known shape (`None` for an unknown size), without values.

    Args:
        shape: a tuple of ints and None.
        dtype: a dtype or its name.
        name: a string; an automatic name if None.
    """

    # `origin` is (operation, args, kwargs, index) of the call that computed the tensor; None for an
    # input. `_stand_ins` caches the shapes of small arrays for shape inference (`standins.py`).
    __slots__ = (
        "__weakref__", "_keras_mask", "_stand_ins", "dtype", "name", "origin", "shape", "sparse",
    )  # fmt: skip
    __hash__ = object.__hash__
    record_history = True
    is_number = False  # True for a SymbolicNumber, a number known only at run time

    def __init__(
        self, shape: ShapeLike, dtype: DTypeLike = "float32", sparse: bool = False,
        ragged: bool = False, record_history: bool = True, name: str | None = None,
    ):  # fmt: skip
        self.shape = tuple([n if n is None or type(n) is int else known_size(n) for n in shape])
        self.dtype = dtypes.as_dtype(dtype)
        self.name = name or "keras_tensor"
        self.sparse = bool(sparse)
        self.origin = None

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def ragged(self):
        return False

    @property
    def ragged_rank(self):
        return None

    @property
    def row_splits_dtype(self):
        return None

    def get_shape(self):
        return dtypes.Shape(self.shape)

    def reshape(self, newshape: ShapeLike):
        """Return the KerasTensor of the same elements in the shape `newshape`."""
        return import_module("framework.functions.movement").reshape(self, newshape)

    def squeeze(self, axis: Any = None):
        """Return the KerasTensor without axes of size 1: all of them, or `axis`."""
        return import_module("framework.functions.movement").squeeze(self, axis)

    def _refuse(self, *_args, **_kwargs):
        where = f" in the symbolic call of {thread.symbolic!r}" if thread.symbolic else ""
        raise SymbolicValueError(
            f"A KerasTensor has a shape and a dtype but no values{where}: <{self!r}>. Python "
            "needed its value here (if, int(), NumPy, printing an item, ...). Use ops on it "
            "instead, put this code into a Layer's call() and give the layer a "
            "compute_output_shape(), or call the model on real data first."
        )

    __bool__ = __int__ = __float__ = __index__ = __array__ = numpy = __complex__ = _refuse
    item = tolist = _refuse

    def _op_call(self, op, args, attrs):
        # Variables stay variables in `args`, because the model reads their values at each call.
        return call(op, args, attrs)

    def __len__(self):
        if not self.shape or self.shape[0] is None:
            self._refuse()
        return self.shape[0]

    def __iter__(self):
        if not self.shape or self.shape[0] is None:
            self._refuse()
        return (self[i] for i in range(self.shape[0]))

    def __repr__(self):
        return f"KerasTensor shape={self.shape}, dtype={self.dtype}, name={self.name}"

    def __format__(self, spec):
        return format(repr(self), spec)


def known_size(n):
    """Return a size as an int; None if it is known only when the model runs."""
    return None if isinstance(n, KerasTensor) else int(n)


class calling:
    """Context of a symbolic call; `thread.symbolic` is the name of the called object."""

    def __init__(self, name):
        self._name = name

    def __enter__(self):
        self._outer, thread.symbolic = thread.symbolic, self._name

    def __exit__(self, *_):
        thread.symbolic = self._outer


class drawn_as_zeros(str):
    """The name of a call that only infers shapes: while it is `thread.symbolic`, draws return 0."""

    __slots__ = ()


# names of op attributes whose value is a size; None stands for an unknown size
_SIZES = ("size", "classes", "depth", "count")


def call(op, args, attrs):
    """Return the KerasTensors that `op(*args, **attrs)` computes."""
    specs = infer(op, args, attrs)
    if thread.symbolic is None and attrs:
        shape = attrs.get("shape")
        if shape and (None in shape or shape.count(-1) > 1):
            return _resized(op, args, attrs)
        if any(attrs.get(name, 0) is None for name in _SIZES) or None in attrs.get("sizes", ()):
            raise SymbolicValueError(f"{op.name}: expected known sizes, got None.")
    single = isinstance(specs, tuple)
    outputs = []
    for i, (shape, dtype) in enumerate([specs] if single else specs):
        output = KerasTensor(shape, dtype, name=op.name)
        output.origin = (op, tuple(args), attrs, None if single else i)
        outputs.append(output)
    return outputs[0] if single else tuple(outputs)


def _resized(op, args, attrs):
    """Return the result of an equivalent op call whose attributes have no unknown sizes."""
    shape = attrs["shape"]
    index = _ones_moved(args[0].shape, shape) if op.name == "reshape" else None
    if index is not None:
        return call(table["getitem"], args, {"index": index})
    if op.name != "reshape" or -1 in shape or shape.count(None) > 1:
        raise SymbolicValueError(f"{op.name}: needs the sizes {shape}, not all of which are known.")
    return call(op, args, {"shape": tuple(-1 if n is None else n for n in shape)})


def _ones_moved(before, after):
    """Return the index that reshapes `x[index]` by adding or removing axes of size 1; None if the
    reshape needs more than that."""
    if [n for n in before if n != 1] != [n for n in after if n != 1]:
        return None
    index, rest = [], list(before)
    for n in after:
        while n != 1 and rest and rest[0] == 1:
            rest.pop(0)
            index.append(0)
        index.append(slice(None) if rest and rest[0] == n else None)
        if index[-1] is not None:
            rest.pop(0)
    return tuple(index + [0] * len(rest))


def infer(op, args, attrs):
    """Return the output's (shape, dtype); a list for several outputs.

    It uses the op's `infer` or the rule for the op's kind. Without either, the forward runs on
    zeros twice, with two small sizes for unknown dimensions; a size that differs is unknown.
    """
    if op.check is not None:
        op.check(*args)
    if op.infer is not None:
        return op.infer(*args, **attrs)
    unknown = any(isinstance(a, KerasTensor) and None in a.shape for a in args)
    if op.kind == "elementwise" and op.plain:
        small = [_zeros(a, 1, rank_only=True) for a in args]
        return broadcast_shapes(op.name, args), _forward(op, small, attrs, args).dtype
    if op.kind == "reduction" and "keepdims" in attrs:
        small = _zeros(args[0], 1, rank_only=True)
        dtype = _forward(op, [small], attrs, args).dtype
        return _reduced(args[0].shape, **attrs), dtype
    if not unknown:
        return _specs(op, [_zeros(a, 2) for a in args], attrs, args)
    try:
        first = _specs(op, [_zeros(a, 2) for a in args], attrs, args)
        second = _specs(op, [_zeros(a, 3) for a in args], attrs, args)
    except ShapeError as error:
        first = second = _fitting(op, args, attrs, error)
    if isinstance(first, tuple):
        return _common(first, second)
    return [_common(a, b) for a, b in zip(first, second, strict=True)]


def _fitting(op, args, attrs, error):
    """Infer specs with a known size instead of None; each occurrence of it becomes None again."""
    for n in known_sizes(args):
        try:
            found = _specs(op, [_zeros(a, n) for a in args], attrs, args)
        except ShapeError:
            continue
        specs = [found] if isinstance(found, tuple) else found
        specs = [(tuple(None if m == n else m for m in s), dtype) for s, dtype in specs]
        return specs[0] if isinstance(found, tuple) else specs
    raise error


def known_sizes(args):
    """Return the known sizes in the shapes of the arguments."""
    shapes = [getattr(a, "shape", ()) for a in args]
    return sorted({n for shape in shapes if isinstance(shape, tuple) for n in shape if n})


def _reduced(shape, axis, keepdims):
    if keepdims:
        return tuple(1 if i in axis else n for i, n in enumerate(shape))
    return tuple(n for i, n in enumerate(shape) if i not in axis)


def _common(a, b):
    return tuple(m if m == n else None for m, n in zip(a[0], b[0], strict=True)), a[1]


def _specs(op, arrays, attrs, args):
    value = _forward(op, arrays, attrs, args)
    if op.saves:
        value = value[0]
    if op.outputs == 1:
        return np.shape(value), np.asarray(value).dtype
    return [(np.shape(v), np.asarray(v).dtype) for v in value]


def _forward(op, arrays, attrs, args):
    try:
        return op.forward(*arrays, **attrs)
    except (ValueError, IndexError) as error:
        shapes = ", ".join(str(getattr(a, "shape", ())) for a in args)
        raise ShapeError(f"{op.name}: the shapes {shapes} do not fit. {error}") from None
    except TypeError as error:
        raise op.misfit(error, arrays) from None


def _zeros(arg, size, rank_only=False):
    """Return an argument as an array for inference; a KerasTensor as zeros that take no memory."""
    if isinstance(arg, KerasTensor):
        if arg.is_number:
            return arg.kind(1)
        shape = [size if n is None or rank_only else n for n in arg.shape]
        return np.broadcast_to(np.zeros((), arg.dtype.np), shape)
    array = getattr(arg, "array", arg)
    if rank_only and np.ndim(array):
        return np.zeros((1,) * array.ndim, array.dtype)
    return array


def broadcast_shapes(name, args):
    """Return the broadcast shape; a size is unknown unless an argument determines it."""
    shapes = [tuple(getattr(a, "shape", ())) for a in args]
    rank = max(map(len, shapes))
    result = []
    for sizes in zip(*((1,) * (rank - len(s)) + s for s in shapes), strict=True):
        known = {n for n in sizes if n is not None and n != 1}
        if len(known) > 1:
            raise ShapeError(f"{name}: the shapes {', '.join(map(str, shapes))} do not broadcast.")
        result.append(known.pop() if known else None if None in sizes else 1)
    return tuple(result)
