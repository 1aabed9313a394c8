"""Variables: CoreVariable holds a buffer; Variable and KerasVariable have the public methods.

The tape, optimizers, saving and the compiler know only `CoreVariable`.
"""

import operator
import threading
from importlib import import_module
from typing import Any

import numpy as np

from framework.core import conversion, dtypes, numpy_rule
from framework.core.argument_types import DTypeLike, ShapeLike, TensorLike
from framework.core.buffers import exclusive
from framework.core.cast import cast
from framework.core.change_counters import changes
from framework.core.conversion import array_of, initial_array
from framework.core.dtype_policy import mixed
from framework.core.errors import DTypeError, InvalidArgumentError, ShapeError, misfit
from framework.core.operand import Operand
from framework.core.operator_types import Operators
from framework.core.recorders import replaying, serials, thread
from framework.core.symbolic import KerasTensor
from framework.core.tensor import Ref, Tensor, _numpy_text

# Locks for in-place additions, so that no thread's update is lost. A variable's serial number
# selects its lock; several variables share a lock.
_turns = tuple([threading.RLock() for _ in range(16)])


class CoreVariable(Operators):
    """A mutable buffer of one dtype; reads and assignments notify recorders."""

    __slots__ = ("__dict__", "__weakref__", "_array", "_trainable", "serial")
    _casts = False  # whether `assign` casts values of another dtype instead of raising
    _resizable = False  # whether `assign` accepts other shapes; plans then check the shape

    def __init__(self, array: Any, trainable: bool = True):
        """Use `array` as the buffer, without a copy (internal)."""
        self._array = array
        self._trainable = trainable
        self.serial = next(serials)

    def read(self):
        """Return the value as a new tensor, through which gradients reach the variable."""
        stack = thread.stack
        if stack and thread.stateless is not None:
            return _value_in_scope(self)
        tensor = Tensor(self._array)
        for recorder in stack:
            recorder.variable_read(self, tensor)
        return tensor

    _as_operand = read

    @property
    def array(self):
        """The buffer; tapes do not see this read. Write only if `exclusive(...)` returns True."""
        return self._array

    @property
    def trainable(self):
        """Whether tapes watch the variable when it is read, and training changes it."""
        return self._trainable

    @trainable.setter
    def trainable(self, value: TensorLike):
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
        raise TypeError("Variable is unhashable. Instead, use variable.ref() as the key.")

    def ref(self):
        """Return a hashable handle that is equal only to handles of this variable."""
        return Ref(self)

    # ---- assigning ----

    def assign(
        self, value: TensorLike, use_locking: bool = False, name: str | None = None,
        read_value: bool = True,
    ):  # fmt: skip
        """Set the value to `value`, of the same shape. No gradient reaches `value`."""
        value = self._converted(value, "assign")
        if value is not None:
            self._hold(value)
        return self

    def assign_add(
        self, delta: TensorLike, use_locking: bool = False, name: str | None = None,
        read_value: bool = True,
    ):  # fmt: skip
        """Add `delta`, in place if the buffer has no other reference."""
        return self._combine(np.add, delta, "assign_add")

    def assign_sub(
        self, delta: TensorLike, use_locking: bool = False, name: str | None = None,
        read_value: bool = True,
    ):  # fmt: skip
        """Subtract `delta`, in place if the buffer has no other reference."""
        return self._combine(np.subtract, delta, "assign_sub")

    def _combine(self, ufunc, delta, what):
        delta = self._converted(delta, what)
        if delta is None:
            return self
        with _turns[self.serial % len(_turns)]:
            # The sum is computed by ops, so that a compiled plan computes it again in each run.
            if replaying():
                both = type(self).__add__ if ufunc is np.add else type(self).__sub__
                self._hold(both(self, delta))
                return self
            array = self._array
            if not thread.stack and exclusive(array, holders=2):
                ufunc(array, delta.array, out=array)
            else:
                self._hold(Tensor(np.asarray(ufunc(array, delta.array))))
        return self

    def hold(self, array: Any) -> None:
        """Replace the buffer by `array`, of equal shape and dtype; internal: no copy, no check."""
        array = array if type(array) is np.ndarray else np.asarray(array)
        if thread.stack:
            self._hold(Tensor(array))
        else:
            self._array = array

    def _hold(self, tensor):
        if thread.stateless is not None:
            thread.stateless.add_update((self, tensor))
            return
        for recorder in thread.stack:
            recorder.variable_assigned(self, tensor)
        self._array = tensor.array

    def _converted(self, value, what):
        """Return `value` as a tensor of this shape and dtype; None in a symbolic call."""
        if isinstance(value, CoreVariable):
            value = value.read()
        if thread.symbolic is not None or isinstance(value, KerasTensor):
            return None
        if type(value) is not Tensor:
            value = conversion.tensor(value, dtypes.of_array(self._array), self._casts)
            if isinstance(value, Operand):
                np.asarray(value)  # raises an error: this operand represents many rows
        array = value.array
        spreads = what != "assign" and not array.ndim
        if array.shape != self._array.shape and not (spreads or self._takes(array.shape, what)):
            raise misfit(self.name, what, array.shape, self.shape)
        if array.dtype == self._array.dtype:
            return value
        if self._casts or numpy_rule.settings.mode in ("safe", "all"):
            return cast(value, dtype=self._array.dtype)
        raise DTypeError(
            f"Variable {self.name!r}: {what} got a value of dtype {value.dtype}, expected "
            f"{dtypes.of_array(self._array)}. Cast it with tf.cast."
        )

    def _takes(self, shape, what):
        """Return whether the variable accepts an assigned value of another shape."""
        return False

    # ---- reads and conversions by Python ----

    def numpy(self) -> Any:
        """Return a copy as a NumPy array; a NumPy scalar if 0-d."""
        return self.read().numpy()

    def item(self):
        return self.read().item()

    def __array__(self, dtype=None, copy=None):
        # A copy, because a view would become stale, or change, at the next assignment.
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


def _value_in_scope(variable):
    """Return the variable's value in the open `StatelessScope`; its own if it has none there."""
    tensor = thread.stateless.get_current_value(variable)
    if tensor is None:
        tensor = Tensor(variable._array)
        for recorder in thread.stack:
            recorder.variable_read(variable, tensor)
    return tensor


def _restore(kind, array, trainable, attributes):
    made = object.__new__(kind)
    CoreVariable.__init__(made, np.array(array), trainable)
    made.__dict__.update(attributes)
    return made


class _EveryVariable(type):
    """Makes `isinstance(v, Variable)` true for the variables that layers hold."""

    def __instancecheck__(cls, instance):
        if cls is Variable:
            return isinstance(instance, CoreVariable)
        return super().__instancecheck__(instance)


class Variable(CoreVariable, metaclass=_EveryVariable):
    """TensorFlow's variable, `tf.Variable`.

    Args:
        initial_value: a tensor, number, array, nest of them, or a callable that gives one.
        trainable: whether tapes watch it when it is read.
        name: a string.
        dtype: the element type; that of `initial_value` if None.
        shape: checked against the initial value's. A size of None may differ in later values.

    Example:
        >>> v = Variable(3.0)
        >>> v.assign_add(1.0).numpy()
        np.float32(4.0)
    """

    __slots__ = ()

    def __init__(
        self, initial_value: Any = None, trainable: Any = None, validate_shape: bool = True,
        caching_device: Any = None, name: str | None = None, variable_def: Any = None,
        dtype: DTypeLike = None, import_scope: Any = None, constraint: Any = None,
        synchronization: Any = None, aggregation: Any = None, shape: ShapeLike = None,
    ):  # fmt: skip
        if initial_value is None:
            raise InvalidArgumentError("The `initial_value` arg to `tf.Variable` must be specified")
        if constraint is not None and not callable(constraint):
            raise InvalidArgumentError(f"`constraint` must be None or a callable: {constraint!r}.")
        if callable(initial_value) and not hasattr(initial_value, "dtype"):
            initial_value = initial_value()
        array = array_of(initial_value, dtype)
        if shape is not None and not dtypes.Shape(shape).is_compatible_with(array.shape):
            raise ShapeError(
                f"Variable: initial_value: expected shape {tuple(shape)}, got {array.shape}."
            )
        super().__init__(array, True if trainable is None else bool(trainable))
        self._name = "/".join([*thread.scope, name or "Variable"])
        self._constraint = constraint
        if shape is not None and None in tuple(shape):
            self._sizes = dtypes.Shape(shape)
            self.__class__ = _Resizable

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
        """Return the value as a new tensor."""
        return self.read()

    def read_value(self):
        """Return the value as a new tensor."""
        return self.read()

    def get_shape(self):
        return self.shape

    def set_shape(self, shape: ShapeLike) -> None:
        """Raise ShapeError unless `shape` fits; None in it stands for any size."""
        self.shape.assert_is_compatible_with(shape)

    def __repr__(self):
        return (
            f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype}, "
            f"numpy={_numpy_text(self.read()._read('print'))}>"
        )

    def _repr_html_(self):
        from framework.core.html import array_html

        title = f"Variable {self.name!r}, shape {tuple(self.shape)}, {self.dtype.name}"
        array = self.read()._read("print")
        return array_html(title, array, str(array))


class _Resizable(Variable):
    """A variable with unknown sizes in its shape; its values may differ in these sizes."""

    __slots__ = ()
    _resizable = True

    @property
    def shape(self):
        return self._sizes

    def _takes(self, shape, what):
        return what == "assign" and self._sizes.is_compatible_with(shape)


def _setting(held, doc):
    """Return a property of variables; setting the property invalidates compiled steps."""

    def change(variable, value):
        changes.note(variable, held[1:], getattr(variable, held), value)
        setattr(variable, held, value)

    return property(operator.attrgetter(held), change, doc=doc)


class KerasVariable(CoreVariable):
    """Keras's variable, which layers, optimizers and metrics create.

    Args:
        initializer: a callable `initializer(shape, dtype)`, the name of an initializer ("ones"), or
            an initial value.
        shape: needed with a callable or a name.
        dtype: a string; if None, the dtype of an array or tensor, or floatx for Python floats and
            initializers.
        trainable: whether tapes watch it when it is read.
        autocast: whether a layer's compute dtype applies to it.
        aggregation, synchronization: stored without effect, because there is one process.
        layout: ignored.
        name: a string without "/".

    Raises:
        ValueError: no initializer has the name, `shape` is missing, or `aggregation` or
            `synchronization` is none of Keras's.
    """

    __slots__ = ()
    _casts = True
    name, path, aggregation, synchronization = "variable", "variable", "none", "auto"
    autocast = True
    overwrite_with_gradient = False

    def read(self):
        """Return the value as a new tensor, in the compute dtype of the layer that is called."""
        stack = thread.stack
        if stack and thread.stateless is not None:
            tensor = _value_in_scope(self)
        else:
            tensor = Tensor(self._array)
            for recorder in stack:
                recorder.variable_read(self, tensor)
        if mixed.in_use and self.autocast and thread.call is not None:
            dtype = thread.call[0].compute_dtype
            if self._array.dtype != dtype.np and self._array.dtype.kind == "f":
                return cast(tensor, dtype=dtype.np)
        return tensor

    _as_operand = read

    constraint = _setting("_constraint", "A function that optimizers apply to new values, or None.")
    regularizer = _setting("_regularizer", "A function for a penalty of the values, or None.")

    def __init__(
        self, initializer: Any, shape: ShapeLike = None, dtype: DTypeLike = None,
        trainable: bool = True, autocast: bool = True, aggregation: Any = "none",
        synchronization: Any = "auto", name: str | None = None, layout: Any = None,
    ):  # fmt: skip
        if name is not None and "/" in name:
            raise InvalidArgumentError(f"Variable: name must not contain '/', got {name!r}.")
        for given, known in ((aggregation, _AGGREGATIONS), (synchronization, _SYNCHRONIZATIONS)):
            if given not in known:
                raise InvalidArgumentError(
                    "Variable: aggregation or synchronization: expected one of "
                    f"{', '.join(map(repr, known))}, got {given!r}."
                )
        if isinstance(initializer, str):
            # `framework.initializers` depends on this module: import it only when a name is looked
            # up
            initializer = import_module("framework.initializers").get(initializer)
        if callable(initializer) and not hasattr(initializer, "dtype"):
            if shape is None:
                raise InvalidArgumentError(
                    f"Variable: the initializer {initializer!r} needs shape=...; got shape=None."
                )
            dtype = dtypes.as_dtype(dtype or dtypes.floatx())
            if thread.budget is not None:
                thread.budget.take(shape, dtype.np.itemsize)
            array = initial_array(initializer, tuple(shape), dtype)
        else:
            if dtype is None and not hasattr(initializer, "dtype"):
                dtype = dtypes.floatx() if _holds_floats(initializer) else None
            array = array_of(initializer, dtype, casts=True)
        super().__init__(array, bool(trainable))
        self.name = name or "variable"
        self.path = "/".join([*thread.scope, self.name])
        self.autocast = autocast
        self.aggregation, self.synchronization = aggregation, synchronization
        self._constraint = self._regularizer = None

    def assign_add(self, value: TensorLike):
        """Add `value`."""
        return self._combine(np.add, value, "assign_add")

    def assign_sub(self, value: TensorLike):
        """Subtract `value`."""
        return self._combine(np.subtract, value, "assign_sub")

    @property
    def dtype(self):
        return dtypes.of_array(self._array)

    @property
    def value(self):
        return self.read()

    @property
    def handle(self):
        """A hashable handle, equal only to handles of this variable."""
        return self.ref()

    def __repr__(self):
        return (
            f"<Variable path={self.path}, shape={tuple(self.shape)}, dtype={self.dtype}, "
            f"value={self.read()._read('print')}>"
        )


_AGGREGATIONS = (None, "none", "mean", "sum", "only_first_replica")
_SYNCHRONIZATIONS = (None, "none", "auto", "on_write", "on_read")


def _holds_floats(value):
    return np.asarray(value).dtype.kind == "f"


class name_scope:
    """Context that prefixes the paths of variables created in it with its name."""

    def __init__(self, name: str | None, **_kwargs: Any):
        self._name = name

    @property
    def name(self):
        return self._name

    def __enter__(self):
        thread.scope = (*thread.scope, self._name)
        return self

    def __exit__(self, type_arg, value_arg, traceback_arg):
        thread.scope = thread.scope[:-1]
