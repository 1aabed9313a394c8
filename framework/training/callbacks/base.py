"""The hooks, and a list of callbacks that is called as one."""


class Callback:
    """Base of callbacks: every hook does nothing until a subclass overrides it.

    `self.model` is the model in training, `self.params` a dict with "epochs", "steps" and
    "verbose". `logs` are Python floats: the running means of loss and metrics.
    """

    model = None
    params = None

    def set_model(self, model):
        self.model = model

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

    def on_train_batch_begin(self, batch, logs=None):
        """Before training batch `batch` of an epoch, counted from 0."""

    def on_train_batch_end(self, batch, logs=None):
        """After training batch `batch`."""

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
        """After a predicted batch."""


class CallbackList:
    """Calls each callback's hook in turn; a hook that nobody overrides costs nothing.

    `logs` may be a function: it is called for the logs only if some callback wants them.
    """

    def __init__(self, callbacks, model, params):
        self.callbacks = list(callbacks)
        for callback in self.callbacks:
            callback.set_params(params)
            callback.set_model(model)
        self._listeners = {}

    def listeners(self, hook):
        """The bound methods of those who override `hook`."""
        if hook not in self._listeners:
            plain = getattr(Callback, hook)
            self._listeners[hook] = [
                getattr(c, hook)
                for c in self.callbacks
                if getattr(type(c), hook, None) is not plain or hook in vars(c)
            ]
        return self._listeners[hook]

    def call(self, hook, *args, logs=None):
        listeners = self.listeners(hook)
        if listeners:
            logs = logs() if callable(logs) else logs
            for listener in listeners:
                listener(*args, logs)
