"""keras.dtype_policies: the dtypes of a layer's computations and weights."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
