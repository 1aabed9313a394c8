"""keras.dtype_policies: what a layer computes in and what its weights are."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
