"""keras.ops.linalg: factorizations, solutions, determinants and norms of matrices."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
