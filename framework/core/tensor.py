"""Tensor: an immutable array with a serial number by which tapes identify it."""

from typing import Any

from framework.core import dtypes
from framework.core.argument_types import ShapeLike
from framework.core.errors import InvalidArgumentError
from framework.core.operator_types import Operators
from framework.core.recorders import thread

_new_tuple = tuple.__new__  # This creates a Shape without running its constructor.


class Tensor(Operators):
    """An immutable array of one dtype, created by `constant`, `convert_to_tensor` or an op.

    Operators, indexing and NumPy's functions work on it. `np.asarray(t)` is a read-only view,
    `t.numpy()` a copy.
    """

    # `serial` identifies the tensor on tapes; it is set when a tape first needs it. Only slices of
    # variables have `assign`, which assigns to the slice.
    __slots__ = ("__weakref__", "_keras_mask", "array", "assign", "serial")

    def __init__(self, array: Any):
        """Use `array` as it is, without a copy or a check; for internal callers."""
        self.array = array
        self.serial = None

    @property
    def dtype(self):
        return dtypes.of_array(self.array)

    @property
    def shape(self):
        return _new_tuple(dtypes.Shape, self.array.shape)

    @property
    def ndim(self):
        return self.array.ndim

    @property
    def size(self):
        return self.array.size

    @property
    def nbytes(self):
        return self.array.nbytes

    @property
    def device(self):
        return "/device:CPU:0"

    @property
    def name(self):
        raise AttributeError(
            "Tensor.name is undefined when eager execution is enabled: only variables and layers "
            "have names."
        )

    def get_shape(self):
        return self.shape

    def set_shape(self, shape: ShapeLike) -> None:
        """Raise ShapeError unless `shape` fits; None in it stands for any size."""
        self.shape.assert_is_compatible_with(shape)

    def __hash__(self) -> int:
        raise TypeError(
            "Tensor is unhashable, as `==` compares its elements. Instead, use tensor.ref() as the "
            "key."
        )

    def ref(self):
        """Return a hashable handle that is equal only to handles of this object."""
        return Ref(self)

    def _as_operand(self):
        """Return this tensor, because a layer may hold a tensor instead of a variable."""
        return self

    # ---- values read by Python: all pass through `_read` ----

    def _read(self, how):
        for recorder in thread.stack:
            recorder.value_read(self, how)
        return self.array

    def numpy(self) -> Any:
        """Return a copy as a NumPy array; a NumPy scalar if the tensor is 0-d."""
        array = self._read("numpy")
        return array.copy() if array.ndim else array[()]

    def item(self):
        return self._read("item").item()

    def tolist(self):
        return self._read("tolist").tolist()

    def __array__(self, dtype=None, copy=None):
        array = self._read("__array__")
        if dtype is not None and array.dtype != dtype:
            return array.astype(dtype)
        if copy:
            return array.copy()
        view = array.view()
        view.flags.writeable = False
        return view

    def __bytes__(self):
        """Return the elements as bytes, in row-major order."""
        return self.__buffer__(0).tobytes()

    def __buffer__(self, flags):
        """Return a read-only memoryview of the elements; Python calls it from 3.12 on."""
        if self.array.dtype.kind == "O":
            raise TypeError("A tensor of strings has no buffer: use t.numpy().")
        view = self.__array__()
        return memoryview(view.view("V2") if view.dtype.kind == "V" else view).toreadonly()

    def __bool__(self):
        array = self._read("bool")
        if array.size != 1:
            raise InvalidArgumentError(
                f"The truth value of a tensor with {array.size} elements is ambiguous "
                f"(shape {array.shape}). Use tf.reduce_any or tf.reduce_all."
            )
        return bool(array.reshape(()))

    def __int__(self):
        return int(self._read_one("int"))

    def __float__(self):
        return float(self._read_one("float"))

    def __complex__(self):
        return complex(self._read_one("complex"))

    def __index__(self):
        if self.array.dtype.kind not in "iu":
            raise TypeError(f"A tensor of dtype {self.dtype} cannot be used as an index.")
        if self.array.ndim:
            raise TypeError(
                "only integer scalar arrays can be converted to a scalar index, got shape "
                f"{self.array.shape}."
            )
        return int(self._read("index"))

    def _read_one(self, how):
        if self.array.size != 1 or self.array.ndim:
            raise TypeError(
                "only 0-dimensional arrays can be converted to Python scalars, got shape "
                f"{self.array.shape}. Index the tensor, or reduce it first."
            )
        return self._read(how)

    def __format__(self, spec):
        return format(self._read("format")[()], spec)

    def __str__(self):
        return f"tf.Tensor({_text(self._read('print'))}, shape={self.shape}, dtype={self.dtype})"

    def __repr__(self):
        return (
            f"<tf.Tensor: shape={self.shape}, dtype={self.dtype}, "
            f"numpy={_numpy_text(self._read('print'))}>"
        )

    def _repr_html_(self):
        from framework.core.html import array_html

        title = f"Tensor, shape {tuple(self.shape)}, {self.dtype.name}"
        return array_html(title, self._read("print"), _text(self._read("print")))

    def __len__(self):
        if not self.array.ndim:
            raise TypeError("Scalar tensor has no `len()`: it has no axes.")
        return self.array.shape[0]

    def __iter__(self):
        if not self.array.ndim:
            raise TypeError("Cannot iterate over a scalar tensor.")
        return (self[i] for i in range(self.array.shape[0]))

    def __contains__(self, value):
        raise TypeError(
            "`value in tensor` is ambiguous. Use tf.reduce_any(tensor == value) instead."
        )

    def __setitem__(self, index, value):
        raise TypeError(
            "Tensor object does not support item assignment: tensors are immutable. Make a new one "
            "with tf.tensor_scatter_nd_update or tf.where, or use a tf.Variable."
        )

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return Tensor(self.array.copy())

    def __reduce__(self):
        return Tensor, (self.array,)


class _Masks:
    """A flag that is cheap to check: whether any tensor has a mask."""

    in_use = False


masks = _Masks()
# Keep the slot's descriptor, because the property below replaces it in the class.
_mask = Tensor._keras_mask


def _set_mask(tensor, mask):
    masks.in_use = masks.in_use or mask is not None
    _mask.__set__(tensor, mask)


Tensor._keras_mask = property(_mask.__get__, _set_mask)


class Ref:
    """A hashable handle of a tensor or variable; `deref()` returns the object."""

    __slots__ = ("_target",)

    def __init__(self, target):
        self._target = target

    def deref(self):
        return self._target

    def __eq__(self, other):
        return isinstance(other, Ref) and self._target is other._target

    def __hash__(self):
        return id(self._target)

    def __repr__(self):
        return f"<Reference wrapping {self._target!r}>"


def _text(array):
    """Return the values as TensorFlow's `str` prints them: a text of several lines starts on a
    new line."""
    text = str(array[()]) if array.dtype.kind != "O" or array.ndim else repr(array[()])
    return f"\n{text}" if "\n" in text else text


def _numpy_text(array):
    """Return the values as TensorFlow's `repr` prints them: a number if 0-d, else `array(...)`."""
    text = repr(array.item() if array.ndim == 0 else array)
    return f"\n{text}" if "\n" in text else text
