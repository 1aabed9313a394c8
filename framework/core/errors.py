"""Error classes; each derives from the builtin that users of TensorFlow or Keras catch."""


class FrameworkError(Exception):
    """Base of all errors that this package raises.

    Args:
        node_def, op, message: the arguments of TensorFlow's errors; a single argument
            is the message.
    """

    error_code = 2  # TensorFlow's code for errors of unknown type

    def __init__(self, node_def=None, op=None, message=None, *args):
        if op is None and message is None:
            node_def, message = None, node_def
        super().__init__(*(() if message is None else (message,)), *args)
        self.node_def, self.op = node_def, op

    @property
    def message(self):
        return self.args[0] if self.args else ""


class InvalidArgumentError(FrameworkError, ValueError):
    """An argument has an invalid value."""

    error_code = 3


class ShapeError(InvalidArgumentError):
    """Shapes do not fit together."""


class DTypeError(InvalidArgumentError, TypeError):
    """Dtypes do not fit together, or a type cannot be converted."""


class SignatureError(InvalidArgumentError, TypeError):
    """The arguments of a call do not match the input signature of its function."""


class NotFoundError(FrameworkError, KeyError):
    """A name or a file does not exist."""

    error_code = 5

    def __str__(self):  # KeyError's own `__str__` prints the message in quotes
        return str(self.args[0]) if self.args else ""


class MissingFileError(NotFoundError, FileNotFoundError):
    """A file does not exist."""


class OutOfRangeError(InvalidArgumentError, IndexError):
    """An index or label lies outside its range."""

    error_code = 11


class LoadError(FrameworkError, ValueError):
    """A file cannot be loaded, or does not match the object that loads it."""


class DamagedFileError(LoadError):
    """A file is truncated, modified, or of another format."""


class DataLossError(DamagedFileError):
    """A file of records is truncated or modified."""

    error_code = 15


class UnsafeFileError(LoadError):
    """A file contains objects that loading does not allow, or exceeds the size limits."""


class UnknownObjectError(LoadError, TypeError):
    """A file names a class or function that loading may not use."""


class MissingModelError(LoadError, FileNotFoundError):
    """A file to load does not exist."""


class MissingCheckpointError(MissingModelError, NotFoundError):
    """A checkpoint to restore does not exist."""


class UnmatchedCheckpointError(LoadError, AssertionError):
    """A checkpoint and the objects that it restores do not have the same variables."""


class SaveError(FrameworkError, OSError):
    """A file cannot be written; an existing file is unchanged."""


class ExportError(FrameworkError, ValueError):
    """A model contains something that the export format cannot represent."""


class DownloadError(FrameworkError, OSError):
    """A file cannot be downloaded, or there is no folder for it."""


class WorkerError(FrameworkError, RuntimeError):
    """A worker process of a dataset has ended unexpectedly."""


class TapeError(FrameworkError, RuntimeError):
    """A tape's method was called in the wrong state, such as before the tape was entered."""


class SymbolicValueError(FrameworkError, TypeError, ValueError):
    """Python read the value of a KerasTensor, which has only a shape and a dtype.

    Keras raises a TypeError for `bool` and a ValueError for `float` and NumPy.
    """


class BatchedValueError(FrameworkError, AttributeError):
    """Python read the value of a tensor that represents many rows of a vectorized map."""


def unfit(number, dtype):
    """Return the message about a Python int outside an integer dtype's range; None if it fits."""
    low, high = 0, 2 ** (8 * dtype.itemsize) - 1
    if dtype.kind == "i":
        low, high = -(high // 2) - 1, high // 2
    if low <= number <= high:
        return None
    return (
        f"got the number {number}, expected {low} to {high}, the range of the other operand's "
        f"dtype {dtype}. Cast that first, as by tf.cast(x, tf.int32)."
    )


def refused_booleans(what):
    """Return the error that arithmetic on booleans raises."""
    return DTypeError(
        f"{what}: expected numbers, got bool. Cast first, as tf.cast(x, tf.int32), or use "
        "tf.logical_and, tf.logical_or or tf.where."
    )


def refused_strings(what):
    """Return the error that arithmetic on strings raises."""
    return DTypeError(
        f"{what}: expected numbers, got strings. Convert them first: tf.strings.to_number(x)."
    )


def misfit(name, what, shape, expected):
    """Return the error for a value whose shape differs from the variable's, in TensorFlow's words.

    Args:
        name: the variable's name.
        what: "assign", "assign_add" or "assign_sub".
        shape, expected: the shapes of the value and of the variable.
    """
    got = f"Variable {name!r}: {what} got a value of shape {shape}, expected {expected}"
    if what == "assign":
        return ShapeError(
            f"{got}: Cannot assign value to variable '{name}': Shape mismatch. The variable shape "
            f"{expected}, and the assigned value shape {shape} are incompatible."
        )
    return ShapeError(
        f"{got}: Cannot update variable with shape {list(expected)} using a Tensor with shape "
        f"{list(shape)}, shapes must be equal."
    )


def suggest(name, known):
    """Return `"; did you mean 'adam'?"` for the most similar known name, otherwise all names.

    A name is similar if it differs by a few letters or begins with `name`.
    """
    known = [str(k) for k in known]
    by_spelling = {k.lower(): k for k in reversed(known)}
    typed = str(name).lower()
    # The import takes 1 ms and only errors need it, so it is not at the top of the file.
    import difflib

    near = difflib.get_close_matches(typed, by_spelling, n=1, cutoff=0.7)
    if not near and len(typed) > 2:
        near = sorted((k for k in by_spelling if k.startswith(typed)), key=len)
    if near:
        return f"; did you mean {by_spelling[near[0]]!r}?"
    return f"; known: {', '.join(sorted(known))}." if known else "."
