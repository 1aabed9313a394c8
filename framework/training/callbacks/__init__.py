"""Callbacks: objects whose hooks run at the start and end of training, epochs and batches."""

from framework.training.callbacks.base import Callback
from framework.training.callbacks.callback_list import CallbackList
from framework.training.callbacks.history import History

__all__ = ["Callback", "CallbackList", "History"]
