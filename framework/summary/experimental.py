"""tf.summary.experimental: set the default step, and write encoded `Summary` messages."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
