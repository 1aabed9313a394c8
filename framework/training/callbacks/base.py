"""Callback: the base class with all hooks."""

from typing import Any

from framework.core.argument_types import TensorLike
from framework.core.internal_state import ClassRecord, Owning, Record, Shown


class CallbackRecord(Record):
    """The internal state of a callback."""

    step = None  # a StepRecord with the values of the last batch of the current `fit`
    needs = frozenset()  # values of the step that this object needs, in addition to its class's
    release = None  # a function that `fit` calls at its end, also after an error
    # whether `fit` saves and restores the training state for this callback (BackupAndRestore)
    backs_up = False
    # whether hooks receive a function that computes the logs, so that unused logs cost no time
    lazy_logs = False
    # functions for callbacks that append to files: position() returns the files' current position,
    # which `fit` saves with its state; resume(position) continues the files there
    position = resume = None
    # names of attributes that `fit(resume=...)` saves; "_framework.x" is the attribute x of this
    # record
    saves = ()


class Callback(Owning):
    """Base class of callbacks; every hook does nothing unless a subclass overrides it.

    `self.model` is the model being trained, `self.params` a dict with "epochs", "steps" and
    "verbose". `logs` are Python floats: the running means of loss and metrics. A subclass may
    declare `needs`, a set of "batch", "outputs", "loss", "gradients", "norms" and "rates":
    `self.step` has these values at `on_train_batch_end`, unless the subclass defines `step`.

    Example:
        >>> from framework import keras
        >>> class Norms(keras.callbacks.Callback):
        ...     needs = {"norms"}
        ...     def on_train_batch_end(self, batch, logs=None):
        ...         print(sorted(self.step.norms))
        >>> model = keras.Sequential([keras.layers.Dense(1, name="dense")], name="net")
        >>> model.compile("sgd", "mse")
        >>> _ = model.fit([[1.0]], [[2.0]], verbose=0, callbacks=[Norms()])
        ['net/dense/bias', 'net/dense/kernel']
    """

    needs = frozenset()
    params = None
    step = Shown("step", "The last batch with its outputs, loss and gradients: a `StepRecord`.")
    _model = None

    @property
    def model(self):
        return self._model

    def set_model(self, model: Any) -> None:
        self._model = model

    def set_params(self, params: TensorLike) -> None:
        self.params = params

    def on_train_begin(self, logs: Any = None) -> None:
        """Called before the first epoch."""

    def on_train_end(self, logs: Any = None) -> None:
        """Called after the last epoch, with the last epoch's logs."""

    def on_epoch_begin(self, epoch: Any, logs: Any = None) -> None:
        """Called before epoch `epoch`, counted from 0."""

    def on_epoch_end(self, epoch: Any, logs: Any = None) -> None:
        """Called after epoch `epoch`; `logs` include the validation results, named "val_..."."""

    def on_batch_begin(self, batch: Any, logs: Any = None) -> None:
        """The older name of `on_train_batch_begin`."""

    def on_batch_end(self, batch: Any, logs: Any = None) -> None:
        """The older name of `on_train_batch_end`."""

    def on_train_batch_begin(self, batch: Any, logs: Any = None) -> None:
        """Called before training batch `batch` of an epoch, counted from 0."""
        self.on_batch_begin(batch, logs=logs)

    def on_train_batch_end(self, batch: Any, logs: Any = None) -> None:
        """Called after training batch `batch`."""
        self.on_batch_end(batch, logs=logs)

    def on_test_begin(self, logs: Any = None) -> None:
        """Called before an evaluation or validation."""

    def on_test_end(self, logs: Any = None) -> None:
        """Called after an evaluation or validation."""

    def on_test_batch_begin(self, batch: Any, logs: Any = None) -> None:
        """Called before each evaluated batch."""

    def on_test_batch_end(self, batch: Any, logs: Any = None) -> None:
        """Called after each evaluated batch."""

    def on_predict_begin(self, logs: Any = None) -> None:
        """Called before `predict` runs its first batch."""

    def on_predict_end(self, logs: Any = None) -> None:
        """Called after `predict` has run its last batch."""

    def on_predict_batch_begin(self, batch: Any, logs: Any = None) -> None:
        """Called before each predicted batch."""

    def on_predict_batch_end(self, batch: Any, logs: Any = None) -> None:
        """Called after each predicted batch; `logs["outputs"]` are the model's outputs."""


Callback._framework = ClassRecord(Callback, record=CallbackRecord)
