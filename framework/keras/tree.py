"""keras.tree: functions for nested lists, tuples, dicts, named tuples and deques."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
