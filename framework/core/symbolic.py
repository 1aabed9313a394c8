"""KerasTensor: a shape and a dtype without values, and what ops do with it.

A symbolic call runs the same Python code on KerasTensors. Nothing changes while it lasts:
assignments, draws and losses are discarded, and reading a value raises.
"""

import numpy as np

from framework.core import dtypes
from framework.core.errors import ShapeError, SymbolicValueError
from framework.core.operand import Operand
from framework.core.recorders import thread


class KerasTensor(Operand):
    """A tensor of known dtype and partly known shape (`None` where unknown), without values.

    Args:
        shape: a tuple of ints and None.
        dtype: a dtype or its name.
        name: a string, made up where None.
    """

    # `origin` = (operation, args, kwargs, index): the call that gave it; None for an input.
    __slots__ = ("__weakref__", "_keras_mask", "dtype", "name", "origin", "shape")
    __hash__ = object.__hash__
    record_history = True

    def __init__(self, shape, dtype="float32", sparse=False, ragged=False, record_history=True,
                 name=None):  # fmt: skip
        self.shape = tuple(None if n is None else int(n) for n in shape)
        self.dtype = dtypes.as_dtype(dtype)
        self.name = name or "keras_tensor"
        self.origin = None

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def sparse(self):
        return False

    @property
    def ragged(self):
        return False

    def get_shape(self):
        return self.shape

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
        return call(op, args, attrs)  # variables unread: a model reads them anew

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


class calling:
    """Context of a symbolic call: `thread.symbolic` names what is being called."""

    def __init__(self, name):
        self._name = name

    def __enter__(self):
        self._outer, thread.symbolic = thread.symbolic, self._name

    def __exit__(self, *_):
        thread.symbolic = self._outer


def call(op, args, attrs):
    """The KerasTensors that `op(*args, **attrs)` gives."""
    specs = infer(op, args, attrs)
    single = isinstance(specs, tuple)
    outputs = []
    for i, (shape, dtype) in enumerate([specs] if single else specs):
        output = KerasTensor(shape, dtype, name=op.name)
        output.origin = (op, tuple(args), attrs, None if single else i)
        outputs.append(output)
    return outputs[0] if single else tuple(outputs)


def infer(op, args, attrs):
    """(shape, dtype) of the output, a list of them for several outputs.

    By the op's own `infer`, by the kind's rule, else by running the forward on zeros: twice, with
    two different small sizes for unknown dimensions; what differs is unknown.
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
    first = _specs(op, [_zeros(a, 2) for a in args], attrs, args)
    if not unknown:
        return first
    second = _specs(op, [_zeros(a, 3) for a in args], attrs, args)
    if isinstance(first, tuple):
        return _common(first, second)
    return [_common(a, b) for a, b in zip(first, second, strict=True)]


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


def _zeros(arg, size, rank_only=False):
    """Zero-stride zeros in the place of an argument: they cost no memory."""
    if isinstance(arg, KerasTensor):
        shape = [size if n is None or rank_only else n for n in arg.shape]
        return np.broadcast_to(np.zeros((), arg.dtype.np), shape)
    array = getattr(arg, "array", arg)
    if rank_only and np.ndim(array):
        return np.zeros((1,) * array.ndim, array.dtype)
    return array


def broadcast_shapes(name, args):
    """The broadcast of the arguments' shapes; an unknown size stays so unless another fixes it."""
    shapes = [tuple(getattr(a, "shape", ())) for a in args]
    rank = max(map(len, shapes))
    result = []
    for sizes in zip(*((1,) * (rank - len(s)) + s for s in shapes), strict=True):
        known = {n for n in sizes if n is not None and n != 1}
        if len(known) > 1:
            raise ShapeError(f"{name}: the shapes {', '.join(map(str, shapes))} do not broadcast.")
        result.append(known.pop() if known else None if None in sizes else 1)
    return tuple(result)
