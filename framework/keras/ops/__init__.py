"""keras.ops: functions on tensors and KerasTensors, with Keras's dtype promotion."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__, "framework.keras.ops.declared")
