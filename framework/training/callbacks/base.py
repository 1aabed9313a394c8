"""The hooks of a callback."""

from framework.core.own import ClassRecord, Owning, Record, Shown


class CallbackRecord(Record):
    """What is internal to a callback."""

    step = None  # the StepRecord of the run
    needs = frozenset()  # beside those that the class declares
    lazy_logs = False  # whether hooks take a function that makes the logs


class Callback(Owning):
    """Base of callbacks: every hook does nothing until a subclass overrides it.

    `self.model` is the model in training, `self.params` a dict with "epochs", "steps" and
    "verbose". `logs` are Python floats: the running means of loss and metrics. A subclass that
    declares `needs`, any of "batch", "outputs", "loss", "gradients", "norms" and "rates", finds
    them in `self.step` at `on_train_batch_end`; an attribute `step` of its own hides that.

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
    step = Shown("step", "The last batch and what training made of it: a `StepRecord`.")
    _model = None

    @property
    def model(self):
        return self._model

    def set_model(self, model):
        self._model = model

    def set_params(self, params):
        self.params = params

    def on_train_begin(self, logs=None):
        """Before the first epoch."""

    def on_train_end(self, logs=None):
        """After the last epoch; `logs` are the last epoch's."""

    def on_epoch_begin(self, epoch, logs=None):
        """Before epoch `epoch`, counted from 0."""

    def on_epoch_end(self, epoch, logs=None):
        """After epoch `epoch`; `logs` include the validation's, named "val_..."."""

    def on_batch_begin(self, batch, logs=None):
        """`on_train_batch_begin` under its older name."""

    def on_batch_end(self, batch, logs=None):
        """`on_train_batch_end` under its older name."""

    def on_train_batch_begin(self, batch, logs=None):
        """Before training batch `batch` of an epoch, counted from 0."""
        self.on_batch_begin(batch, logs=logs)

    def on_train_batch_end(self, batch, logs=None):
        """After training batch `batch`."""
        self.on_batch_end(batch, logs=logs)

    def on_test_begin(self, logs=None):
        """Before an evaluation or validation."""

    def on_test_end(self, logs=None):
        """After an evaluation or validation."""

    def on_test_batch_begin(self, batch, logs=None):
        """Before an evaluated batch."""

    def on_test_batch_end(self, batch, logs=None):
        """After an evaluated batch."""

    def on_predict_begin(self, logs=None):
        """Before a prediction."""

    def on_predict_end(self, logs=None):
        """After a prediction."""

    def on_predict_batch_begin(self, batch, logs=None):
        """Before a predicted batch."""

    def on_predict_batch_end(self, batch, logs=None):
        """After a predicted batch; `logs["outputs"]` are the model's."""


Callback._framework = ClassRecord(Callback, record=CallbackRecord)
