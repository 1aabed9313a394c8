"""LambdaCallback: a callback whose hooks are functions."""

from typing import Any

from framework.core.errors import suggest
from framework.training.callbacks.base import Callback

_HOOKS = [name for name in vars(Callback) if name.startswith("on_")]


class LambdaCallback(Callback):
    """A callback whose hooks are the functions passed to it.

    Args:
        on_epoch_begin, on_epoch_end: called with (epoch, logs).
        on_train_begin, on_train_end: called with (logs).
        on_train_batch_begin, on_train_batch_end: called with (batch, logs).
        **kwargs: any other hook by its name.

    Example:
        >>> LambdaCallback(on_epoch_end=lambda epoch, logs: print(epoch)).on_epoch_end(3, {})
        3
    """

    def __init__(
        self, on_epoch_begin: Any = None, on_epoch_end: Any = None, on_train_begin: Any = None,
        on_train_end: Any = None, on_train_batch_begin: Any = None, on_train_batch_end: Any = None,
        **kwargs: Any,
    ):  # fmt: skip
        given = {
            "on_epoch_begin": on_epoch_begin, "on_epoch_end": on_epoch_end,
            "on_train_begin": on_train_begin, "on_train_end": on_train_end,
            "on_train_batch_begin": on_train_batch_begin, "on_train_batch_end": on_train_batch_end,
            **kwargs,
        }  # fmt: skip
        for name, function in given.items():
            if name not in _HOOKS:
                raise TypeError(f"LambdaCallback has no hook {name!r}{suggest(name, _HOOKS)}")
            if function is not None:
                setattr(self, name, function)
