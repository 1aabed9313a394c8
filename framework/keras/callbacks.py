"""keras.callbacks: what fit calls at the ends of batches and epochs."""

from typing import TYPE_CHECKING

from framework.core.lazy import lazy as _lazy, table as _table

_NAMES = _table({
    "framework.training.callbacks.base": "Callback",
    "framework.training.callbacks.callback_list": "CallbackList",
    "framework.training.callbacks.csv_log": "CSVLogger",
    "framework.training.callbacks.early_stopping": "EarlyStopping",
    "framework.training.callbacks.ema": "SwapEMAWeights",
    "framework.training.callbacks.functions": "LambdaCallback",
    "framework.training.callbacks.history": "History",
    "framework.training.callbacks.learning_rate": "LearningRateScheduler ReduceLROnPlateau",
    "framework.training.callbacks.nan": "TerminateOnNaN",
    "framework.training.callbacks.progbar": "ProgbarLogger",
})  # fmt: skip

__getattr__, __dir__ = _lazy(__name__, _NAMES)

if TYPE_CHECKING:
    from framework.training.callbacks.base import Callback as Callback
    from framework.training.callbacks.callback_list import CallbackList as CallbackList
    from framework.training.callbacks.csv_log import CSVLogger as CSVLogger
    from framework.training.callbacks.early_stopping import EarlyStopping as EarlyStopping
    from framework.training.callbacks.ema import SwapEMAWeights as SwapEMAWeights
    from framework.training.callbacks.functions import LambdaCallback as LambdaCallback
    from framework.training.callbacks.history import History as History
    from framework.training.callbacks.learning_rate import (
        LearningRateScheduler as LearningRateScheduler, ReduceLROnPlateau as ReduceLROnPlateau,
    )  # fmt: skip
    from framework.training.callbacks.nan import TerminateOnNaN as TerminateOnNaN
    from framework.training.callbacks.progbar import ProgbarLogger as ProgbarLogger
