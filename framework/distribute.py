"""tf.distribute with one replica: programs for several devices run on the only device."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
