"""ModelCheckpoint: saves the model or its weights during training."""

from functools import partial
from pathlib import Path
from typing import Any

from framework.core.errors import InvalidArgumentError
from framework.saving.background import Background
from framework.saving.later import taken
from framework.training.callbacks.monitor import Monitor, is_better, value_in

_MODELS = (".keras",)
_WEIGHTS = (".weights.h5", ".npz", ".safetensors")


class ModelCheckpoint(Monitor):
    """Saves the model, or its weights, after each epoch or after every few batches.

    Files are written atomically: if the process dies during a write, the previous file remains.

    Args:
        filepath: the path, which ends with ".keras"; or for weights with ".weights.h5", ".npz" or
            ".safetensors". Names in braces stand for values: "{epoch:02d}-{val_loss:.2f}.keras".
            The names are `epoch` and `batch`, both counted from 1, and those of the logs. Without
            names, each file replaces the previous file. Missing folders are created.
        monitor: the name of the value that decides which model is the best.
        verbose: 1 prints a line for each file.
        save_best_only: save only if the monitored value is better than all before.
        save_weights_only: save the weights instead of the model.
        mode: "min", "max" or "auto": which direction is better.
        save_freq: "epoch", or the number of batches between files.
        initial_value_threshold: with `save_best_only`, the value that must be improved on before
            the first file is written.
        asynchronous: write the files in a thread while training continues. The next write, the end
            of training and each save of `fit(resume=...)` wait until the file is complete, and
            raise the thread's error if it failed. Not in Keras.

    Raises:
        ValueError: `filepath` has another extension, or names a value that the logs do not have.

    Example:
        >>> import tempfile
        >>> from framework import keras
        >>> model = keras.Sequential([keras.layers.Dense(1)])
        >>> model.compile("sgd", "mse")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     save = ModelCheckpoint(folder + "/model{epoch}.keras")
        ...     _ = model.fit([[1.0]], [[2.0]], epochs=2, verbose=0, callbacks=[save])
        ...     sorted(path.name for path in Path(folder).iterdir())
        ['model1.keras', 'model2.keras']
    """

    def __init__(
        self, filepath: Any, monitor: Any = "val_loss", verbose: Any = 0,
        save_best_only: bool = False, save_weights_only: bool = False, mode: Any = "auto",
        save_freq: Any = "epoch", initial_value_threshold: Any = None, asynchronous: bool = False,
    ):  # fmt: skip
        super().__init__(monitor, mode)
        self.filepath, self.verbose = str(filepath), verbose
        self.save_best_only, self.save_weights_only = save_best_only, save_weights_only
        self.save_freq, self.best = save_freq, initial_value_threshold
        endings = _WEIGHTS if save_weights_only else _MODELS
        if not self.filepath.endswith(endings):
            raise InvalidArgumentError(
                f"ModelCheckpoint: filepath={self.filepath!r} must end with {' or '.join(endings)} "
                f"for save_weights_only={save_weights_only}."
            )
        if save_freq != "epoch":
            if not isinstance(save_freq, int) or isinstance(save_freq, bool) or save_freq < 1:
                raise InvalidArgumentError(
                    'ModelCheckpoint: save_freq must be "epoch" or a number of batches, got '
                    f"{save_freq!r}."
                )
            # This hook is set only if needed, because callbacks with a batch hook are called at
            # every batch.
            self.on_train_batch_end = partial(_after_batch, self)
        self._framework.epoch = self._framework.batches = 0
        self.asynchronous = asynchronous
        if asynchronous:
            own = self._framework
            own.background = Background()
            own.release = own.position = own.background.wait
        self._framework.saves = ("best", "_framework.epoch", "_framework.batches")

    def on_train_begin(self, logs: Any = None) -> None:
        if self.save_best_only:  # only this mode needs the direction of the monitored value
            super().on_train_begin(logs)

    def on_epoch_begin(self, epoch: Any, logs: Any = None) -> None:
        self._framework.epoch = epoch

    def on_epoch_end(self, epoch: Any, logs: Any = None) -> None:
        if self.save_freq == "epoch":
            _save(self, epoch, None, logs or {})


def _after_batch(callback, batch, logs=None):
    own = callback._framework
    own.batches += 1
    if own.batches % callback.save_freq == 0:
        _save(callback, own.epoch, batch, logs or {})


def _save(callback, epoch, batch, logs):
    """Save unless the monitored value is no better than before."""
    if not callback.save_best_only:
        return _write(callback, epoch, batch, logs, "saving")
    current = value_in(callback, logs)
    if current is None:
        return None
    before = callback.best
    if is_better(callback, current, before):
        callback.best = current
        since = "" if before is None else f" from {before:.5g}"
        return _write(
            callback, epoch, batch, logs,
            f"{callback.monitor} improved{since} to {current:.5g}, saving",
        )  # fmt: skip
    if callback.verbose > 0:
        print(f"\nEpoch {epoch + 1}: {callback.monitor} did not improve from {before:.5g}.")
    return None


def _write(callback, epoch, batch, logs, words):
    path = _path(callback, epoch, batch, logs)
    if callback.verbose > 0:
        print(f"\nEpoch {epoch + 1}: {words} the model to {path}.")
    path.parent.mkdir(parents=True, exist_ok=True)
    if callback.asynchronous:
        background = callback._framework.background
        # wait for the previous write, so that only one copy of the weights is in memory
        background.wait()
        background.start(taken(callback.model, path, callback.save_weights_only))
        return
    save = callback.model.save_weights if callback.save_weights_only else callback.model.save
    save(path, overwrite=True)


def _path(callback, epoch, batch, logs):
    values = {**logs, "epoch": epoch + 1}
    if batch is not None:
        values["batch"] = batch + 1
    try:
        return Path(callback.filepath.format(**values))
    except KeyError as error:
        raise InvalidArgumentError(
            f"ModelCheckpoint: filepath={callback.filepath!r} names {error}, which has no value "
            f"at this point. Use one of {', '.join(values)}."
        ) from None
