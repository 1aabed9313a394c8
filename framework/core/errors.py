"""Error classes: each is also the builtin that TensorFlow's or Keras's users catch."""

import difflib


class FrameworkError(Exception):
    """Base of every error that this package raises on purpose.

    Args:
        node_def, op, message: as TensorFlow's errors are made; the one argument alone is the
            message.
    """

    error_code = 2  # TensorFlow's numbers; this is its UNKNOWN

    def __init__(self, node_def=None, op=None, message=None, *args):
        if op is None and message is None:
            node_def, message = None, node_def
        super().__init__(*(() if message is None else (message,)), *args)
        self.node_def, self.op = node_def, op

    @property
    def message(self):
        return self.args[0] if self.args else ""


class InvalidArgumentError(FrameworkError, ValueError):
    """An argument has a value the function cannot work with."""

    error_code = 3


class ShapeError(InvalidArgumentError):
    """Shapes do not fit together."""


class DTypeError(InvalidArgumentError, TypeError):
    """Dtypes do not fit together, or a type cannot be converted."""


class SignatureError(InvalidArgumentError, TypeError):
    """The arguments of a call do not fit what its function was declared to take."""


class NotFoundError(FrameworkError, KeyError):
    """A name or a file is not there."""

    error_code = 5

    def __str__(self):  # KeyError would print the message quoted
        return str(self.args[0]) if self.args else ""


class MissingFileError(NotFoundError, FileNotFoundError):
    """A file is not there."""


class OutOfRangeError(InvalidArgumentError, IndexError):
    """An index or label lies outside its range."""

    error_code = 11


class LoadError(FrameworkError, ValueError):
    """A file cannot be loaded, or does not fit the object it is loaded into."""


class DamagedFileError(LoadError):
    """A file is not what was written: it is cut off, changed, or of another format."""


class UnsafeFileError(LoadError):
    """A file contains what is not allowed in files, or more than the limits allow."""


class UnknownObjectError(LoadError, TypeError):
    """A file names a class or function that loading may not use."""


class MissingModelError(LoadError, FileNotFoundError):
    """A file to load is not there."""


class SaveError(FrameworkError, OSError):
    """A file cannot be written; what was there before is unchanged."""


class TapeError(FrameworkError, RuntimeError):
    """A tape is used in a way its state does not allow."""


class SymbolicValueError(FrameworkError, TypeError):
    """Python asked for the value of a tensor that has only a shape and a dtype so far."""


class BatchedValueError(FrameworkError, AttributeError):
    """Python asked for the value of a tensor that stands for many rows at once."""


def unfit(number, dtype):
    """What is said of a Python int that a NumPy dtype of integers does not hold; else None."""
    low, high = 0, 2 ** (8 * dtype.itemsize) - 1
    if dtype.kind == "i":
        low, high = -(high // 2) - 1, high // 2
    if low <= number <= high:
        return None
    return (
        f"got the number {number}, expected {low} to {high}, the range of the other operand's "
        f"dtype {dtype}. Cast that first, as by tf.cast(x, tf.int32)."
    )


def suggest(name, known):
    """`"; did you mean 'adam'?"` for the nearest of the known names, else all of them.

    Near is what was mistyped, or what begins so.
    """
    known = [str(k) for k in known]
    by_spelling = {k.lower(): k for k in reversed(known)}
    typed = str(name).lower()
    near = difflib.get_close_matches(typed, by_spelling, n=1, cutoff=0.7)
    if not near and len(typed) > 2:
        near = sorted((k for k in by_spelling if k.startswith(typed)), key=len)
    if near:
        return f"; did you mean {by_spelling[near[0]]!r}?"
    return f"; known: {', '.join(sorted(known))}." if known else "."
