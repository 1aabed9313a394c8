"""tf.math: arithmetic, comparisons, elementary functions, reductions."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__, "framework.functions.declared")
