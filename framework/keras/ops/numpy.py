"""keras.ops.numpy: the functions of keras.ops that NumPy has too."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__, "framework.keras.ops.declared")
