"""SummaryWriter, and each thread's current writer, step and recording condition."""

import contextlib
import threading
from typing import Any

import numpy as np

from framework.core.errors import InvalidArgumentError, TapeError
from framework.core.recorders import thread
from framework.data.records import as_path
from framework.training.summaries.event_file import EventFile, messages


class _Current(threading.local):
    """A thread's current writer, default step and condition of `record_if`."""

    writer = step = None
    condition: Any = True


current = _Current()


class SummaryWriter:
    """Writes summaries to a file that TensorBoard reads; `tf.summary.create_file_writer` makes it.

    >>> import tempfile
    >>> import framework as tf
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     writer = tf.summary.create_file_writer(folder)
    ...     with writer.as_default(step=1):
    ...         tf.summary.scalar("loss", 0.5)
    ...     writer.close()
    True
    """

    def __init__(self):
        self._file = None
        self._closed = False

    @contextlib.contextmanager
    def as_default(self, step: Any = None) -> Any:
        """Return a context in which this writer, and `step` if given, are the default.

        Raises:
            RuntimeError: the writer is closed.
        """
        _check_open(self)
        before = current.writer, current.step
        current.writer, current.step = self, before[1] if step is None else step
        try:
            yield self
        finally:
            current.writer, current.step = before
            self.flush()

    def set_as_default(self, step: Any = None) -> None:
        """Make this writer, and `step` if given, the default of this thread.

        Raises:
            RuntimeError: the writer is closed.
        """
        _check_open(self)
        current.writer = self
        if step is not None:
            current.step = step

    def init(self) -> None:
        """Do nothing: the file is already open. Programs for TensorFlow 1 call this method."""
        _check_open(self)

    def flush(self) -> None:
        """Write waiting summaries to the file."""
        if self._file is not None and not self._closed:
            self._file.flush()

    def close(self) -> None:
        """Write waiting summaries and close the file."""
        if self._file is not None and not self._closed:
            self._file.close()
        self._closed = True


def _check_open(writer):
    if writer._closed:
        raise TapeError(
            f"{writer!r} is closed. Create a new writer with tf.summary.create_file_writer."
        )


class FileWriter(SummaryWriter):
    """A `SummaryWriter` with an `EventFile`; the arguments are the file's."""

    def __init__(self, folder, **options):
        super().__init__()
        self._file = EventFile(folder, **options)

    def __repr__(self):
        return f"<SummaryWriter of {str(self._file.path)!r}>"


def create_file_writer(
    logdir: Any, max_queue: Any = None, flush_millis: Any = None, filename_suffix: Any = None,
    name: str | None = None, experimental_trackable: bool = False, experimental_mesh: Any = None,
) -> SummaryWriter:  # fmt: skip
    """Return a `SummaryWriter` that writes to a new file in a folder.

    Args:
        logdir: the folder; it is created if missing.
        max_queue: the number of summaries that wait before they are written; 10 if None.
        flush_millis: the longest time between writes in milliseconds, checked at each summary;
            120,000 if None.
        filename_suffix: the end of the file's name; ".v2" if None.
        name, experimental_trackable, experimental_mesh: ignored.

    Raises:
        ImportError: the package tensorboard is missing: pip install 'framework[tensorboard]'.
        OSError: the file cannot be written.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     create_file_writer(folder).close()
    """
    if logdir is None:
        raise InvalidArgumentError("create_file_writer: logdir: expected a path, got None.")
    return FileWriter(
        as_path(logdir),
        suffix=".v2" if filename_suffix is None else str(filename_suffix),
        max_queue=10 if max_queue is None else int(max_queue),
        flush_seconds=120.0 if flush_millis is None else float(flush_millis) / 1000,
    )


def create_noop_writer() -> SummaryWriter:
    """Return a `SummaryWriter` that writes nothing.

    >>> import framework as tf
    >>> with tf.summary.create_noop_writer().as_default():
    ...     tf.summary.scalar("loss", 0.5, step=1)
    False
    """
    return SummaryWriter()


@contextlib.contextmanager
def record_if(condition: Any) -> Any:
    """Return a context in which summaries are written only if a condition holds.

    Args:
        condition: a bool, a tensor, or a function without arguments that returns one; it is
            called at each summary. The innermost `record_if` decides.

    >>> with record_if(False):
    ...     should_record_summaries()
    False
    """
    before, current.condition = current.condition, condition
    try:
        yield
    finally:
        current.condition = before


def should_record_summaries() -> bool:
    """Return whether summaries are written: there is a default writer, and `record_if` holds.

    No summary is written while a model is built on KerasTensors, because they have no values.

    >>> should_record_summaries()
    False
    """
    for recorder in thread.stack:
        recorder.effect("tf.summary")
    if current.writer is None or current.writer._file is None or thread.symbolic is not None:
        return False
    condition = current.condition
    return bool(condition() if callable(condition) else condition)


def write(name, content, step=None):
    """Write a summary to the default writer, unless summaries are off; return whether it did.

    Args:
        name: the tag; the names of the open name scopes are prefixed.
        content: a function without arguments that returns a `Content`, called only if the summary
            is written.
        step: an int; the default step if None.

    Raises:
        ValueError: there is neither a step nor a default one.
    """
    if not should_record_summaries():
        return False
    writer = current.writer
    _check_open(writer)
    if not isinstance(name, str):
        raise InvalidArgumentError(f"tf.summary: name: expected a string, got {name!r}.")
    step = step_number(current.step if step is None else step)
    put(writer, "".join(f"{scope}/" for scope in thread.scope) + name, content(), step)
    return True


def step_number(step):
    """Return a step as an int."""
    if step is None:
        raise InvalidArgumentError(
            "tf.summary: no step. Pass step=..., or set a default by writer.as_default(step=...) "
            "or tf.summary.experimental.set_step(...)."
        )
    array = np.asarray(step)
    if array.shape != () or array.dtype.kind not in "iu":
        raise InvalidArgumentError(f"tf.summary: step: expected an int, got {step!r}.")
    return int(array)


def put(writer, tag, content, step):
    """Write a `Content` as one event of a writer."""
    summary = messages("compat.proto.summary_pb2").Summary
    value = summary.Value(
        tag=tag, metadata=content.metadata,
        tensor=messages("util.tensor_util").make_tensor_proto(content.array),
    )  # fmt: skip
    writer._file.add(step=step, summary=summary(value=[value]))
