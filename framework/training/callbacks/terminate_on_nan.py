"""TerminateOnNaN: stops training when the loss becomes nan or infinite."""

from typing import Any

import numpy as np

from framework.core.errors import FrameworkError
from framework.training.callbacks.base import Callback


class TrainingError(FrameworkError, RuntimeError):
    """Raised by `TerminateOnNaN(raise_error=True)` when the loss becomes nan or infinite."""


class TerminateOnNaN(Callback):
    """Stops training when the loss becomes nan or infinite.

    Args:
        raise_error: raise a RuntimeError instead of stopping.

    Example:
        >>> TerminateOnNaN(raise_error=True).raise_error
        True
    """

    def __init__(self, raise_error: bool = False):
        self.raise_error = raise_error

    def on_train_batch_end(self, batch: Any, logs: Any = None) -> None:
        loss = (logs or {}).get("loss")
        if loss is None or np.isfinite(loss):
            return
        if self.raise_error:
            raise TrainingError(f"Batch {batch}: the loss is {loss}; training was stopped.")
        print(f"Batch {batch}: the loss is {loss}, training stops.")
        self.model.stop_training = True
