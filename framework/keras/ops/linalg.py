"""keras.ops.linalg: factorizations, linear systems, determinants and norms."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
