"""CallbackList: calls the hooks of several callbacks."""

from typing import Any

from framework.core.argument_types import TensorLike
from framework.core.errors import InvalidArgumentError
from framework.training.callbacks.base import Callback
from framework.training.callbacks.history import History
from framework.training.callbacks.progbar import ProgbarLogger
from framework.training.callbacks.step_record import StepRecord, needs_of

_OLD_NAMES = {"on_train_batch_begin": "on_batch_begin", "on_train_batch_end": "on_batch_end"}


class CallbackList:
    """Calls each callback's hook in turn; a hook that no callback overrides costs nothing.

    Args:
        callbacks: a list of callbacks, or one callback.
        add_history: add a `History` if the list has none.
        add_progbar: add a `ProgbarLogger` if the list has none.
        model: the `model` of each callback.
        **params: the `params` of each callback.

    Each hook (`on_epoch_end(epoch, logs)`, ...) is a method. `logs` may be a function that
    returns the logs; it is called only if a callback overrides the hook.
    """

    def __init__(
        self, callbacks: Any = None, add_history: bool = False, add_progbar: bool = False,
        model: Any = None, **params: Any,
    ):  # fmt: skip
        self.callbacks = _flat(callbacks)
        for callback in self.callbacks:
            if not hasattr(callback, "set_model") or not hasattr(callback, "on_train_begin"):
                raise InvalidArgumentError(
                    f"callbacks: expected keras.callbacks.Callback objects, got {callback!r}."
                )
        self._add(History, add_history)
        self._add(ProgbarLogger, add_progbar)
        self._listeners = {}
        needs = needs_of(self.callbacks)
        self.record = StepRecord(needs) if needs else None
        self._model = None
        self.set_params(params)
        if model is not None:
            self.set_model(model)

    @property
    def model(self):
        """The model that the callbacks have, or None."""
        return self._model

    def _add(self, cls, wanted):
        if wanted and not any(isinstance(c, cls) for c in self.callbacks):
            self.callbacks.append(cls())

    def append(self, callback: Any) -> None:
        self.callbacks.append(callback)
        self._listeners = {}

    def set_params(self, params: TensorLike) -> None:
        self.params = params
        for callback in self.callbacks:
            callback.set_params(params)

    def set_model(self, model: Any) -> None:
        self._model = model
        for callback in self.callbacks:
            callback.set_model(model)
            if isinstance(callback, Callback):
                callback._framework.step = self.record

    def history(self):
        """Return the first `History` callback of the list."""
        return next(c for c in self.callbacks if isinstance(c, History))

    def listeners(self, hook: Any):
        """Return (method, whether it takes logs as a function) for callbacks with the hook."""
        if hook not in self._listeners:
            self._listeners[hook] = [
                (getattr(c, hook), isinstance(c, Callback) and c._framework.lazy_logs)
                for c in self.callbacks
                if any(_overrides(c, name) for name in (hook, _OLD_NAMES.get(hook)) if name)
            ]
        return self._listeners[hook]

    def call(self, hook: Any, *args: Any, logs: Any = None) -> Any:
        listeners = self.listeners(hook)
        if listeners:
            for listener, lazy in listeners:
                if not lazy and callable(logs):
                    logs = logs()
                listener(*args, logs)


def _overrides(callback, hook):
    plain = getattr(Callback, hook, None)
    return getattr(type(callback), hook, plain) is not plain or hook in vars(callback)


def _flat(callbacks):
    if callbacks is None:
        return []
    if not isinstance(callbacks, (list, tuple)):
        return [callbacks]
    return [callback for part in callbacks for callback in _flat(part)]


def _plain(name):
    def method(self, logs=None):
        self.call(name, logs={} if logs is None else logs)

    return method


def _of_batch(name):
    def method(self, batch, logs=None):
        self.call(name, batch, logs={} if logs is None else logs)

    return method


def _of_epoch(name):
    def method(self, epoch, logs=None):
        self.call(name, epoch, logs={} if logs is None else logs)

    return method


for _name in [name for name in vars(Callback) if name.startswith("on_")]:
    _factory = _of_batch if "_batch_" in _name else _of_epoch if "_epoch_" in _name else _plain
    _method = _factory(_name)
    _method.__name__, _method.__doc__ = _name, getattr(Callback, _name).__doc__
    setattr(CallbackList, _name, _method)
