"""tf.summary.experimental: the default step, and writing of encoded summaries."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
