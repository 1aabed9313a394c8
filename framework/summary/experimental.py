"""tf.summary.experimental: the default step, and summaries that are encoded already."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
