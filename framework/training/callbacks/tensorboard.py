"""TensorBoard: writes logs, weights and graphs during `fit` to files that TensorBoard reads."""

import contextlib
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from framework.core.errors import InvalidArgumentError
from framework.optimizers.asking import inside, is_several
from framework.training.callbacks.base import Callback
from framework.training.summaries import board_settings, contents, event_file, graphs, writers
from framework.training.summaries.embeddings import label_files, write_embeddings
from framework.training.summaries.weight_images import weight_images

_FOLDERS = ("train", "validation")


class TensorBoard(Callback):
    """Writes what happens in `fit` to files for TensorBoard: `tensorboard --logdir logs`.

    Folders and tags are Keras's. "train" and "validation" have the loss and the metrics of each
    epoch ("epoch_loss", ...) and "train" the learning rate ("epoch_learning_rate"); "validation"
    also has them by the optimizer's iterations ("evaluation_loss_vs_iterations"). A run that is
    resumed by `fit(resume=...)` or `BackupAndRestore` continues where its last state was saved.

    Args:
        log_dir: a folder; each run needs its own, such as "logs/run1".
        histogram_freq: the number of epochs between histograms of the weights; 0 for none.
        write_graph: write the graphs of the layers and of the ops of a forward pass.
        write_images: write the weights as images too, at the epochs of the histograms. The
            smallest weight of each is black, the largest white.
        write_steps_per_second: write "batch_steps_per_second" (unless `update_freq` is "epoch") and
            "epoch_steps_per_second".
        update_freq: "epoch", "batch", or the number of batches between values of single batches
            ("batch_loss", ...), by the number of batches since training began. `tf.summary`
            functions in layers write then too. Reading values takes time; "epoch" costs none.
        profile_batch: the batch, counted from 1 since training began, at which the table of
            `model.profile` is written as a text; a pair (first, last) measures
            last - first + 1 steps. 0 for none.
        embeddings_freq: the number of epochs between copies of the weights of `Embedding` layers
            for the projector; 0 for none. Only the last copy is kept.
        embeddings_metadata: the path of a file with a label in each line, relative to `log_dir`;
            or a dict from names of layers to such paths.
        write_gradients: write histograms of the gradients of the last batch too, at the epochs of
            the weights' histograms. Not in Keras.

    Raises:
        ImportError: the package tensorboard is missing: pip install 'framework[tensorboard]'.

    Example:
        >>> import tempfile
        >>> from framework import keras
        >>> model = keras.Sequential([keras.layers.Dense(1)])
        >>> model.compile("sgd", "mse")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     board = TensorBoard(folder, histogram_freq=1)
        ...     _ = model.fit([[1.0]], [[2.0]], verbose=0, callbacks=[board])
        ...     sorted(path.name for path in Path(folder).iterdir())
        ['train']
    """

    def __init__(
        self, log_dir: Any = "logs", histogram_freq: Any = 0, write_graph: bool = True,
        write_images: bool = False, write_steps_per_second: bool = False,
        update_freq: Any = "epoch", profile_batch: Any = 0, embeddings_freq: Any = 0,
        embeddings_metadata: Any = None, write_gradients: bool = False,
    ):  # fmt: skip
        # raises an error now, before `fit`, if the package tensorboard is missing
        event_file.messages("compat.proto.event_pb2")
        self.log_dir, self.write_graph, self.write_images = str(log_dir), write_graph, write_images
        self.histogram_freq = board_settings.frequency(histogram_freq, "histogram_freq")
        self.embeddings_freq = board_settings.frequency(embeddings_freq, "embeddings_freq")
        self.embeddings_metadata = embeddings_metadata
        self.write_steps_per_second = write_steps_per_second
        self.update_freq = board_settings.updates(update_freq)
        self.write_gradients = write_gradients
        if write_gradients and not self.histogram_freq:
            raise InvalidArgumentError(
                "TensorBoard: write_gradients=True needs histogram_freq: the number of epochs "
                "between histograms."
            )
        record = self._framework
        record.lazy_logs = True  # the logs are computed only when they are written
        record.profiled = board_settings.batches(profile_batch)
        record.needs = frozenset(
            [*(["batch"] if write_graph or record.profiled else []),
             *(["gradients"] if write_gradients else [])]
        )  # fmt: skip
        record.writers, record.contexts, record.resumed = {}, [], None
        record.batch = record.batch_of_epoch = record.tested = 0
        record.graph_due = False
        record.saves = ("_framework.batch", "_framework.tested", "_framework.graph_due")
        record.position, record.resume = partial(_position, self), partial(_resume, self)
        record.release = partial(_close, self)
        if self.update_freq != "epoch" or write_steps_per_second or record.profiled:
            # These hooks are set only if needed, because callbacks with them are called at every
            # batch.
            self.on_train_batch_begin = partial(_before_batch, self)
            self.on_train_batch_end = partial(_after_batch, self)
        if self.update_freq != "epoch":
            self.on_test_batch_begin = partial(_before_test_batch, self)

    def on_train_begin(self, logs: Any = None) -> None:
        record = self._framework
        if self.embeddings_freq:
            record.labels = label_files(self.model, self.log_dir, self.embeddings_metadata)
        known, record.resumed = record.resumed, None
        if known is not None:
            event_file.drop_later(self.log_dir, _FOLDERS, known)
        record.batch, record.tested, record.graph_due = 0, 0, self.write_graph
        _writer(self, "train")
        if self.write_graph and (content := graphs.layers_content(self.model)) is not None:
            writers.put(_writer(self, "train"), "keras", content, 0)
        _make_default(self, "train")

    def on_train_end(self, logs: Any = None) -> None:
        _close(self)

    def on_epoch_begin(self, epoch: Any, logs: Any = None) -> None:
        record = self._framework
        record.batch_of_epoch, record.epoch_began = record.batch, time.perf_counter()

    def on_epoch_end(self, epoch: Any, logs: Any = None) -> None:
        logs, record = _values(logs), self._framework
        train = {name: v for name, v in logs.items() if not name.startswith("val_")}
        train.update(_learning_rates(self.model))
        if self.write_steps_per_second:
            seconds = time.perf_counter() - record.epoch_began
            train["steps_per_second"] = (record.batch - record.batch_of_epoch) / seconds
        _scalars(self, "train", "epoch_{}", train, epoch)
        validation = {n.removeprefix("val_"): v for n, v in logs.items() if n.startswith("val_")}
        _scalars(self, "validation", "epoch_{}", validation, epoch)
        if record.graph_due:
            record.graph_due = False
            _write_ops(self)
        if self.histogram_freq and epoch % self.histogram_freq == 0:
            _write_weights(self, epoch)
        if self.embeddings_freq and epoch % self.embeddings_freq == 0:
            write_embeddings(self.model, Path(self.log_dir, "train"), record.labels)
        for writer in record.writers.values():
            writer.flush()

    def on_test_begin(self, logs: Any = None) -> None:
        _make_default(self, "validation")

    def on_test_end(self, logs: Any = None) -> None:
        _end_default(self)
        optimizer = inside(getattr(self.model, "optimizer", None))
        if optimizer is None:  # the model was not compiled with an optimizer
            return
        step = int(np.asarray(optimizer.iterations))
        _scalars(self, "validation", "evaluation_{}_vs_iterations", _values(logs), step)
        if "train" not in self._framework.writers:  # the user called `evaluate` instead of `fit`
            _close(self)


# ---- batches -------------------------------------------------------------------------------------


def _before_batch(board, batch, logs=None):
    record = board._framework
    record.batch += board.model.steps_per_execution
    record.batch_began = time.perf_counter()


def _before_test_batch(board, batch, logs=None):
    board._framework.tested += board.model.steps_per_execution


def _after_batch(board, batch, logs=None):
    record, group = board._framework, board.model.steps_per_execution
    first, last = record.batch - group + 1, record.batch
    if (
        board.update_freq != "epoch"
        and last // board.update_freq > (first - 1) // board.update_freq
    ):
        values = _values(logs)
        if board.write_steps_per_second:
            seconds = time.perf_counter() - record.batch_began
            values = {"steps_per_second": group / seconds, **values}
        _scalars(board, "train", "batch_{}", values, last)
    if record.profiled and first <= record.profiled[0] <= last:
        _write_profile(board, last)


def _make_default(board, name):
    """Make a writer the default of `tf.summary` calls in layers, unless only epochs are written."""
    record = board._framework
    if board.update_freq == "epoch":
        return
    context = contextlib.ExitStack()
    number = _Number(record, "batch" if name == "train" else "tested")
    context.enter_context(_writer(board, name).as_default(number))
    context.enter_context(writers.record_if(lambda: np.asarray(number) % board.update_freq == 0))
    record.contexts.append(context)


class _Number:
    """A summary's step that reads the current batch number each time a summary is written."""

    def __init__(self, record, name):
        self._record, self._name = record, name

    def __array__(self, dtype=None, copy=None):
        return np.asarray(getattr(self._record, self._name))


def _end_default(board):
    contexts = board._framework.contexts
    if contexts:
        contexts.pop().close()


# ---- content -------------------------------------------------------------------------------------


def _values(logs):
    logs = logs() if callable(logs) else logs
    return {name: v for name, v in (logs or {}).items() if np.ndim(v) == 0}


def _scalars(board, folder, tag, values, step):
    if values:
        writer = _writer(board, folder)
        for name, value in values.items():
            writers.put(writer, tag.format(name), contents.scalar(value), step)


def _learning_rates(model):
    optimizer = inside(getattr(model, "optimizer", None))
    if optimizer is None:
        return {}
    if is_several(optimizer):
        return {f"learning_rate_{o.name}": float(o.learning_rate) for o in optimizer.optimizers}
    return {"learning_rate": float(optimizer.learning_rate)}


def _write_weights(board, epoch):
    writer = _writer(board, "train")
    for variable in board.model.weights:
        path = variable.path.replace(":", "_")
        if variable.array.dtype.kind not in "fiub" and variable.array.dtype.name != "bfloat16":
            continue
        writers.put(writer, f"{path}/histogram", contents.histogram(variable.array), epoch)
        if board.write_images and (images := weight_images(variable.array)) is not None:
            content = contents.image(images, max_outputs=len(images))
            writers.put(writer, f"{path}/image", content, epoch)
    if board.write_gradients:
        for path, gradient in board._framework.step.gradients.items():
            if gradient is not None:
                tag = f"{path.replace(':', '_')}/gradient"
                writers.put(writer, tag, contents.histogram(np.asarray(gradient)), epoch)


def _write_ops(board):
    """Write the graph of the ops of a forward pass on the last batch."""
    try:
        with writers.record_if(False):
            graph = graphs.graph_def_of(board.model, board._framework.step.x)
    except InvalidArgumentError:  # in a custom training loop, there is no recorded batch
        return
    _writer(board, "train")._file.add(graph_def=graph.SerializeToString())


def _write_profile(board, step):
    first, last = board._framework.profiled
    x, y, sample_weight = board._framework.step.batch
    # the profile repeats the step, and layers must not write their summaries again
    with writers.record_if(False):
        profile = board.model.profile(
            x, y, sample_weight=sample_weight, repeats=last - first + 1, print_fn=lambda _: None
        )
    writers.put(_writer(board, "train"), "profile", contents.text(profile.markdown()), step)


# ---- files ---------------------------------------------------------------------------------------


def _writer(board, name):
    """Return the writer of a folder; create it at the first use."""
    made = board._framework.writers
    if name not in made:
        made[name] = writers.create_file_writer(str(Path(board.log_dir, name)))
    return made[name]


def _position(board):
    """Return {event file: size}, where a resumed run continues to write; None outside of `fit`."""
    record = board._framework
    if not record.writers:
        return None
    for writer in record.writers.values():
        writer.flush()
    return event_file.sizes(board.log_dir, _FOLDERS)


def _resume(board, position):
    known = position and {str(name): int(size) for name, size in position.items()}
    board._framework.resumed = known


def _close(board):
    record = board._framework
    while record.contexts:
        _end_default(board)
    made, record.writers = record.writers, {}
    for writer in made.values():
        writer.close()
