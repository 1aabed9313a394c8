"""tf.summary: numbers, histograms, images, sounds and texts in files that TensorBoard reads."""

from typing import Any

from framework.core.argument_types import TensorLike
from framework.core.errors import InvalidArgumentError
from framework.training.summaries import contents, writers
from framework.training.summaries.event_file import messages
from framework.training.summaries.graphs import graph_def_of
from framework.training.summaries.writers import current, step_number


def scalar(name: str, data: TensorLike, step: Any = None, description: Any = None) -> bool:
    """Write a number to the default writer; return whether it was written.

    A `tf.function` or training step that writes summaries is not compiled: for speed, write
    summaries outside of it.

    Args:
        name: the tag; name scopes that are open come before it.
        data: a number or scalar tensor, stored as float32.
        step: an int; the default step if None.
        description: a text about the tag, in Markdown.

    Raises:
        ValueError: there is a default writer, but no step; `data` is not a scalar.

    >>> scalar("loss", 0.5, step=1)  # without a writer nothing is written
    False
    """
    return writers.write(name, lambda: contents.scalar(data, description), step)


def histogram(
    name: str, data: TensorLike, step: Any = None, buckets: Any = None, description: Any = None,
) -> bool:  # fmt: skip
    """Write a histogram of a tensor's elements; return whether it was written.

    Args:
        name, step, description: as in `scalar`.
        data: a tensor of numbers. NaN and infinities are not counted; a warning says how many there
            are.
        buckets: the number of buckets of equal width; 30 if None.

    >>> histogram("weights", [1.0, 2.0], step=1)
    False
    """
    return writers.write(name, lambda: contents.histogram(data, buckets, description), step)


def image(
    name: str, data: TensorLike, step: Any = None, max_outputs: Any = 3, description: Any = None,
) -> bool:  # fmt: skip
    """Write images; return whether they were written.

    Args:
        name, step, description: as in `scalar`.
        data: shape (images, height, width, channels) with 1 (gray), 2 (and opacity), 3 (RGB) or 4
            channels; uint8, other integers (scaled), or floats in [0, 1]; other values are clipped.
        max_outputs: the largest number of images to write.

    >>> import numpy as np
    >>> image("digits", np.ones((1, 8, 8, 1)), step=1)
    False
    """
    return writers.write(name, lambda: contents.image(data, max_outputs, description), step)


def audio(
    name: str, data: TensorLike, sample_rate: Any, step: Any = None, max_outputs: Any = 3,
    encoding: Any = None, description: Any = None,
) -> bool:  # fmt: skip
    """Write audio clips as 16-bit WAV files; return whether they were written.

    Args:
        name, step, description: as in `scalar`.
        data: floats in [-1, 1] of shape (sounds, samples, channels).
        sample_rate: samples per second.
        max_outputs: the largest number of sounds to write.
        encoding: None or "wav".

    >>> import numpy as np
    >>> audio("noise", np.zeros((1, 100, 1), np.float32), sample_rate=8000, step=1)
    False
    """
    return writers.write(
        name, lambda: contents.audio(data, sample_rate, max_outputs, encoding, description), step
    )


def text(name: str, data: TensorLike, step: Any = None, description: Any = None) -> bool:
    """Write a string, or a table of strings, shown as Markdown; return whether it was written.

    Args:
        name, step, description: as in `scalar`.
        data: a string, or a tensor or list of strings of at most two axes.

    >>> text("note", "**bold**", step=1)
    False
    """
    return writers.write(name, lambda: contents.text(data, description), step)


def write(
    tag: str, tensor: TensorLike, step: Any = None, metadata: Any = None, name: str | None = None,
) -> bool:  # fmt: skip
    """Write any tensor for a plugin of TensorBoard; return whether it was written.

    Args:
        tag: as the `name` of `scalar`.
        tensor: numbers or strings; or a function that returns them, called if they are written.
        step: as in `scalar`.
        metadata: a `SummaryMetadata` of TensorBoard, which names the plugin, or its bytes.
        name: ignored.

    >>> write("values", [1, 2], step=1)
    False
    """
    return writers.write(
        tag, lambda: contents.tensor(tensor() if callable(tensor) else tensor, metadata), step
    )


def flush(writer: Any = None, name: str | None = None) -> None:
    """Write the buffered summaries of a writer to its file; None means the default writer.

    >>> flush()
    """
    writer = current.writer if writer is None else writer
    if writer is not None:
        writer.flush()


def graph(graph_data: Any) -> bool:
    """Write a graph for TensorBoard's graph page; return whether it was written.

    Args:
        graph_data: a `GraphDef` of TensorBoard, or a built model; the ops of its forward pass are
            shown.

    >>> from framework import keras
    >>> graph(keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)]))
    False
    """
    if not writers.should_record_summaries():
        return False
    found = graph_data if hasattr(graph_data, "SerializeToString") else graph_def_of(graph_data)
    current.writer._file.add(graph_def=found.SerializeToString())
    return True


# ---- tf.summary.experimental --------------------------------------------------------------------


def get_step() -> Any:
    """Return the default step of this thread, None if there is none.

    >>> set_step(3)
    >>> get_step()
    3
    >>> set_step(None)
    """
    return current.step


def set_step(step: Any) -> None:
    """Set the default step of this thread: an int, a variable (read at each summary), or None.

    >>> set_step(None)
    """
    current.step = step


def write_raw_pb(tensor: Any, step: Any = None, name: str | None = None) -> bool:
    """Write the bytes of a `Summary` message; return whether they were written.

    Args:
        tensor: bytes, or a string tensor.
        step: as in `scalar`.
        name: ignored.

    >>> write_raw_pb(b"", step=1)
    False
    """
    if not writers.should_record_summaries():
        return False
    number = step_number(current.step if step is None else step)
    data = tensor.numpy() if hasattr(tensor, "numpy") else tensor
    if not isinstance(data, bytes):
        raise InvalidArgumentError(f"write_raw_pb: tensor: expected bytes, got {data!r}.")
    summary = messages("compat.proto.summary_pb2").Summary.FromString(data)
    current.writer._file.add(step=number, summary=summary)
    return True
