"""keras.ops: functions on tensors of any kind, with Keras's promotion of dtypes."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__, "framework.keras.ops.declared")
