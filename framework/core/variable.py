"""Variable: a buffer that may change, and its two faces, TensorFlow's and Keras's.

The tape, optimizers, saving and the compiler know only `CoreVariable`.
"""

import numpy as np

from framework.core import dtypes
from framework.core.buffers import exclusive
from framework.core.cast import cast
from framework.core.changes import changes
from framework.core.errors import DTypeError, InvalidArgumentError, ShapeError
from framework.core.operand import WeakNumber
from framework.core.operators import Operators
from framework.core.policy import mixed
from framework.core.recorders import replaying, serials, thread
from framework.core.symbolic import KerasTensor
from framework.core.tensor import Ref, Tensor, _numpy_text


class CoreVariable(Operators):
    """A buffer of fixed shape and dtype with an identity; recorders hear of reads and assigns."""

    __slots__ = ("__dict__", "__weakref__", "_array", "_trainable", "serial")

    def __init__(self, array, trainable=True):
        """Own `array` from here on: internal, no copy."""
        self._array = array
        self._trainable = trainable
        self.serial = next(serials)

    def read(self):
        """The present value as a new tensor; its gradient reaches the variable."""
        tensor = Tensor(self._array)
        for recorder in thread.stack:
            recorder.variable_read(self, tensor)
        return tensor

    _as_operand = read

    @property
    def array(self):
        """The buffer itself, unrecorded. Whoever writes into it asks `exclusive` first."""
        return self._array

    @property
    def trainable(self):
        """Whether tapes watch it when it is read, and training changes it."""
        return self._trainable

    @trainable.setter
    def trainable(self, value):
        self._trainable = value
        changes.trainable += 1

    @property
    def shape(self):
        return tuple.__new__(dtypes.Shape, self._array.shape)

    @property
    def ndim(self):
        return self._array.ndim

    @property
    def size(self):
        return self._array.size

    @property
    def device(self):
        return "/device:CPU:0"

    def __hash__(self) -> int:
        raise TypeError("A Variable is unhashable; use variable.ref() as the key.")

    def ref(self):
        """A hashable handle that is equal only to handles of this very variable."""
        return Ref(self)

    # ---- assigning ----

    def assign(self, value, use_locking=False, name=None, read_value=True):
        """Hold `value` (of the same shape) from now on. Not differentiable in `value`."""
        value = self._converted(value, "assign")
        if value is not None:
            self._hold(value)
        return self

    def assign_add(self, delta, use_locking=False, name=None, read_value=True):
        """Add `delta`, in place where nobody else can see the buffer."""
        return self._combine(np.add, delta, "assign_add")

    def assign_sub(self, delta, use_locking=False, name=None, read_value=True):
        """Subtract `delta`, in place where nobody else can see the buffer."""
        return self._combine(np.subtract, delta, "assign_sub")

    def _combine(self, ufunc, delta, what):
        delta = self._converted(delta, what)
        if delta is None:
            return self
        if replaying():  # as ops, so that a replay computes it from then-present values
            both = type(self).__add__ if ufunc is np.add else type(self).__sub__
            self._hold(both(self, delta))
            return self
        array = self._array
        if not thread.stack and exclusive(array, holders=2):
            ufunc(array, delta.array, out=array)
        else:
            self._hold(Tensor(np.asarray(ufunc(array, delta.array))))
        return self

    def hold(self, array):
        """Own `array`, of the right shape and dtype, from here on: internal, no copy, no check."""
        for recorder in thread.stack:
            recorder.variable_assigned(self, Tensor(array))
        self._array = array if type(array) is np.ndarray else np.asarray(array)

    def _hold(self, tensor):
        for recorder in thread.stack:
            recorder.variable_assigned(self, tensor)
        self._array = tensor.array

    def _converted(self, value, what):
        """`value` as a tensor of this shape and dtype; None in a symbolic call."""
        if isinstance(value, CoreVariable):
            value = value.read()
        if thread.symbolic is not None or isinstance(value, KerasTensor):
            return None
        if type(value) is not Tensor:
            found = None
            if isinstance(value, WeakNumber):
                found = value._adopted(dtypes.of_array(self._array))
            value = Tensor(np.array(value, self._array.dtype)) if found is None else found
        array = value.array
        spreads = what != "assign" and not array.ndim
        if array.shape != self._array.shape and not spreads:
            raise ShapeError(
                f"Variable {self.name!r}: {what} got a value of shape {array.shape}, expected "
                f"{self._array.shape}."
            )
        if array.dtype != self._array.dtype:
            return self._recast(value, what)
        return value

    def _recast(self, value, what):
        raise DTypeError(
            f"Variable {self.name!r}: {what} got a value of dtype {value.dtype}, expected "
            f"{dtypes.of_array(self._array)}. Cast it with tf.cast."
        )

    # ---- what Python sees ----

    def numpy(self):
        """A copy as a NumPy array; a NumPy scalar where 0-d."""
        return self.read().numpy()

    def item(self):
        return self.read().item()

    def __array__(self, dtype=None, copy=None):
        # Always a copy: a view would go stale, or change, when the variable is assigned.
        array = self.read().__array__(dtype, copy)
        return array.copy()

    def __bool__(self):
        return bool(self.read())

    def __int__(self):
        return int(self.read())

    def __float__(self):
        return float(self.read())

    def __complex__(self):
        return complex(self.read())

    def __index__(self):
        return self.read().__index__()

    def __len__(self):
        return len(self.read())

    def __iter__(self):
        return iter(self.read())

    def __format__(self, spec):
        return format(self.read(), spec) if spec else str(self)

    def __copy__(self):
        raise TypeError("A Variable has no shallow copy; use copy.deepcopy or Variable(v).")

    def __deepcopy__(self, memo):
        made = object.__new__(type(self))
        memo[id(self)] = made
        CoreVariable.__init__(made, self._array.copy(), self.trainable)
        made.__dict__.update({k: v for k, v in self.__dict__.items() if k != "_optimizer_slots"})
        return made

    def __reduce_ex__(self, protocol):
        return _restore, (type(self), self._array, self.trainable, self.__dict__)


def _restore(kind, array, trainable, attributes):
    made = object.__new__(kind)
    CoreVariable.__init__(made, np.array(array), trainable)
    made.__dict__.update(attributes)
    return made


class _EveryVariable(type):
    """`isinstance(layer.kernel, Variable)` is true: what layers hold are variables too."""

    def __instancecheck__(cls, instance):
        if cls is Variable:
            return isinstance(instance, CoreVariable)
        return super().__instancecheck__(instance)


class Variable(CoreVariable, metaclass=_EveryVariable):
    """TensorFlow's face of a variable.

    Args:
        initial_value: a tensor, number, array, nest of them, or a callable that gives one.
        trainable: whether tapes watch it when it is read.
        name: a string.
        dtype: the element type; taken from `initial_value` where None.
        shape: checked against the initial value's.

    Example:
        >>> v = Variable(3.0)
        >>> v.assign_add(1.0).numpy()
        np.float32(4.0)
    """

    __slots__ = ()

    def __init__(
        self, initial_value=None, trainable=None, validate_shape=True, caching_device=None,
        name=None, variable_def=None, dtype=None, import_scope=None, constraint=None,
        synchronization=None, aggregation=None, shape=None,
    ):  # fmt: skip
        if initial_value is None:
            raise InvalidArgumentError("Variable: initial_value must be given.")
        if callable(initial_value) and not hasattr(initial_value, "dtype"):
            initial_value = initial_value()
        array = array_of(initial_value, dtype)
        if shape is not None and not dtypes.Shape(shape).is_compatible_with(array.shape):
            raise ShapeError(
                f"Variable: initial_value has shape {array.shape}, not shape={tuple(shape)}."
            )
        super().__init__(array, True if trainable is None else bool(trainable))
        self._name = "/".join([*thread.scope, name or "Variable"])
        self._constraint = constraint

    @property
    def name(self):
        return f"{self._name}:0"

    @property
    def constraint(self):
        return self._constraint

    @property
    def dtype(self):
        return dtypes.of_array(self._array)

    def value(self):
        """The present value as a new tensor."""
        return self.read()

    def read_value(self):
        """The present value as a new tensor."""
        return self.read()

    def get_shape(self):
        return self.shape

    def set_shape(self, shape):
        """Do nothing where `shape`, with None for any size, fits; ShapeError otherwise."""
        self.shape.assert_is_compatible_with(shape)

    def __repr__(self):
        return (
            f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype}, "
            f"numpy={_numpy_text(self.read()._read('print'))}>"
        )


class KerasVariable(CoreVariable):
    """Keras's face of a variable: what layers, optimizers and metrics make.

    Args:
        initializer: a callable `initializer(shape, dtype)`, or an initial value.
        shape: needed with a callable.
        dtype: a string; floatx where None.
        trainable: whether tapes watch it when it is read.
        autocast: whether a layer's compute dtype applies to it.
        aggregation, synchronization, layout: accepted; there is one process.
        name: a string without "/".
    """

    __slots__ = ()

    def read(self):
        """The present value as a new tensor, in the compute dtype of the layer that is running."""
        tensor = Tensor(self._array)
        for recorder in thread.stack:
            recorder.variable_read(self, tensor)
        if mixed.in_use and self.autocast and thread.call is not None:
            dtype = thread.call[0].compute_dtype
            if self._array.dtype != dtype.np and self._array.dtype.kind == "f":
                return cast(tensor, dtype=dtype.np)
        return tensor

    _as_operand = read

    def __init__(self, initializer, shape=None, dtype=None, trainable=True, autocast=True,
                 aggregation="none", synchronization="auto", name=None, layout=None):  # fmt: skip
        if name is not None and "/" in name:
            raise InvalidArgumentError(f"Variable: name must not contain '/', got {name!r}.")
        if callable(initializer) and not hasattr(initializer, "dtype"):
            if shape is None:
                raise InvalidArgumentError(
                    "Variable: a callable initializer needs shape=...; got shape=None."
                )
            dtype = dtypes.as_dtype(dtype or dtypes.floatx())
            value = initializer(tuple(shape), dtype=dtype)
            array = array_of(value, dtype)
        else:
            if dtype is None and not hasattr(initializer, "dtype"):
                dtype = dtypes.floatx() if _holds_floats(initializer) else None
            array = array_of(initializer, dtype)
        super().__init__(array, bool(trainable))
        self.name = name or "variable"
        self.path = "/".join([*thread.scope, self.name])
        self.autocast = autocast
        self.aggregation = aggregation
        self.constraint = self.regularizer = None

    def assign_add(self, value):
        """Add `value`."""
        return self._combine(np.add, value, "assign_add")

    def assign_sub(self, value):
        """Subtract `value`."""
        return self._combine(np.subtract, value, "assign_sub")

    def _recast(self, value, what):
        return cast(value, dtype=self._array.dtype)

    @property
    def dtype(self):
        return dtypes.of_array(self._array)

    @property
    def value(self):
        return self.read()

    def __repr__(self):
        return (
            f"<Variable path={self.path}, shape={tuple(self.shape)}, dtype={self.dtype}, "
            f"value={self.read()._read('print')}>"
        )


def _holds_floats(value):
    return np.asarray(value).dtype.kind == "f"


class name_scope:
    """Context that puts a name in front of the paths of the variables made in it."""

    def __init__(self, name, **_kwargs):
        self._name = name

    @property
    def name(self):
        return self._name

    def __enter__(self):
        thread.scope = (*thread.scope, self._name)
        return self

    def __exit__(self, type_arg, value_arg, traceback_arg):
        thread.scope = thread.scope[:-1]


def array_of(value, dtype=None):
    """A new array with the values of a tensor, variable, array, number or nest of them.

    Python floats give float32, ints int32 (as TensorFlow), arrays keep their dtype.
    """
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    if type(value) is Tensor or isinstance(value, CoreVariable):
        array = value.array
    elif isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value)
    elif isinstance(value, KerasTensor):
        value._refuse()
    else:
        if isinstance(value, WeakNumber):
            value = value._read()
        return _array_of_python(value, wanted)
    if array.dtype.kind in "SU":
        array = _bytes(array)
    if wanted is None:
        dtypes.as_dtype(array.dtype)  # raises for dtypes that tensors cannot have
        return array.copy()
    return np.array(array, wanted.np)


def _array_of_python(value, wanted):
    if hasattr(value, "__array__") and not isinstance(value, (list, tuple)):
        array = np.asarray(value)
        return np.array(array, None if wanted is None else wanted.np)
    try:
        array = np.array(_plain(value))
    except ValueError as error:
        raise InvalidArgumentError(f"Cannot make a tensor of a ragged nest: {error}") from None
    if array.dtype.kind == "O" and not isinstance(value, (bytes, str)):
        raise DTypeError(f"Cannot make a tensor of {value!r} (type {type(value).__name__}).")
    if wanted is not None:
        return _safely_cast(array, wanted, value)
    if array.dtype == np.float64 and _only_python(value):
        return array.astype(dtypes.floatx().np)
    if array.dtype == np.int64 and _only_python(value):
        if array.size and (array.min() < -(2**31) or array.max() >= 2**31):
            raise InvalidArgumentError(f"{value!r} does not fit int32; give dtype=tf.int64.")
        return array.astype(np.int32)
    if array.dtype.kind in "SU":
        return _bytes(array)
    return array


def _bytes(array):
    """Strings as TensorFlow keeps them: bytes, text in UTF-8, in an array of objects."""
    if array.dtype.kind == "U":
        array = np.char.encode(array, "utf-8")
    return array.astype(object)


def _safely_cast(array, wanted, value):
    if array.dtype.kind == "f" and wanted.is_integer:
        raise DTypeError(f"Cannot convert {value!r} to a tensor of dtype {wanted}.")
    if array.dtype.kind in "SU" and wanted is not dtypes.string:
        raise DTypeError(f"Cannot convert {value!r} to a tensor of dtype {wanted}.")
    return _bytes(array) if array.dtype.kind in "SU" else array.astype(wanted.np)


def _plain(value):
    """Tensors and variables inside a list, as arrays."""
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if type(value) is Tensor:
        return value._read("convert")
    return value.array if isinstance(value, CoreVariable) else value


def _only_python(value):
    """No leaf brings a dtype of its own."""
    if isinstance(value, (list, tuple)):
        return all(_only_python(v) for v in value[:1])
    return not hasattr(value, "dtype")
