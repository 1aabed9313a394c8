"""tf.data.experimental: names of programs that were written for it."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
