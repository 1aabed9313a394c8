"""tf.lookup.experimental: mutable lookup tables, which map keys to values."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
